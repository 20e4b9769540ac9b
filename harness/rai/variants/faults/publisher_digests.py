"""Faults of publishers in how they sign and number what they say."""

import json

from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Bye, Heartbeat, Message, Published, Reply, of


class Signs(Publisher):
    """What signs in another way is made of this: ``covers`` says what its digest is about."""

    def sign(self, message: Message, key: bytes) -> Message:
        key, seqno, subject, signed = self.covers(message, key)
        digest = self.signing.digest(key, seqno, subject, signed)
        return of(message.subject, message.session, message.seqno, message.body, digest)

    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        """Return key, seqno, subject and members that it signs with."""
        return key, message.seqno, message.subject, message.signed

    def rightly(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        """Return those that it should sign with."""
        return key, message.seqno, message.subject, message.signed


@fault("RAI-071", does="leaves the subject out of its digests")
class SignsNoSubjects(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, message.seqno, "", message.signed


@fault("RAI-071", does="leaves the seqno out of its digests")
class SignsNoNumbers(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, 0, message.subject, message.signed


@fault("RAI-071", does="has one byte for the seqno in its digests")
class SignsOneByte(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, message.seqno & 0xFF, message.subject, message.signed


@fault("RAI-071", does="signs the data of a message alone")
class SignsDataAlone(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        body = message.body
        if isinstance(body, Published | Reply) and body.has_data:
            return key, message.seqno, message.subject, bytes(body.data)
        return self.rightly(message, key)


@fault("RAI-071", does="signs members in the order of the alphabet")
class SignsSorted(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        text = json.dumps(json.loads(message.signed), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return key, message.seqno, message.subject, text.encode()


@fault("RAI-071", does="signs what has another alphabet as escapes")
class SignsEscapes(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        text = message.signed.decode()
        ascii_only = "".join(each if ord(each) < 128 else json.dumps(each)[1:-1] for each in text)
        return key, message.seqno, message.subject, ascii_only.encode()


@fault("RAI-071", does="signs numbers as they are computed with")
class SignsFloats(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        text = json.dumps(json.loads(message.signed), separators=(",", ":"), ensure_ascii=False)
        return key, message.seqno, message.subject, text.encode()


@fault("RAI-071", does="signs slashes with a backslash before them")
class SignsSlashes(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, message.seqno, message.subject, message.signed.replace(b"/", b"\\/")


@fault("RAI-071", does="signs the delete character as an escape")
class SignsDeletes(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, message.seqno, message.subject, message.signed.replace(b"\x7f", b"\\u007f")


@fault("RAI-071", does="pads wrongly what ends just where a block does")
class PadsWrongly(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        length = len(message.subject.encode()) + len(message.signed)
        return key, message.seqno, message.subject, message.signed + b"\0" * (length % 16 == 7)


@fault("RAI-071", does="signs the first 4096 bytes of a message")
class SignsFourThousand(Signs):
    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        return key, message.seqno, message.subject, message.signed[:4096]


class SignsSome(Signs):
    """What signs some kinds of messages with nothing is made of this."""

    form: type = object

    def covers(self, message: Message, key: bytes) -> tuple[bytes, int, str, bytes]:
        key = bytes(32) if self.is_such(message) else key
        return key, message.seqno, message.subject, message.signed

    def is_such(self, message: Message) -> bool:
        """Tell whether a message is signed with nothing."""
        return isinstance(message.body, self.form)


@fault("RAI-071", does="signs heartbeats with a key of zeros")
class SignsNoHeartbeats(SignsSome):
    form = Heartbeat


@fault("RAI-071", does="signs its BYE with a key of zeros")
class SignsNoByes(SignsSome):
    form = Bye


@fault("RAI-071", does="signs answers with a key of zeros")
class SignsNoAnswers(SignsSome):
    form = Reply


@fault("RAI-071", does="signs drops with a key of zeros")
class SignsNoDrops(SignsSome):
    def is_such(self, message: Message) -> bool:
        return isinstance(message.body, Published) and message.body.kind == "drop"


class LeavesOut(Publisher):
    """What leaves something out of a message's header is made of this."""

    form: type = object
    name = ""

    def spell(self, message: Message) -> bytes:
        payload = super().spell(message)
        if not isinstance(message.body, self.form):
            return payload
        begin = payload.index(b'"%b":' % self.name.encode())
        end = payload.find(b",", begin)
        return payload[:begin] + payload[end + 1 :] if end >= 0 else payload[: begin - 1] + b"}"


@fault("RAI-072", does="has no digest in its heartbeats")
class BeatsUnsigned(LeavesOut):
    form, name = Heartbeat, "digest"


@fault("RAI-072", does="has no digest in its BYE")
class EndsUnsigned(LeavesOut):
    form, name = Bye, "digest"


@fault("RAI-072", does="has no seqno in its answers")
class AnswersUnnumbered(LeavesOut):
    form, name = Reply, "seqno"


@fault("RAI-072", does="does not say in which session it publishes")
class PublishesNameless(LeavesOut):
    form, name = Published, "session"


@fault("RAI-072", does="has an empty digest in its updates")
class PublishesUnsigned(Publisher):
    def sign(self, message: Message, key: bytes) -> Message:
        if isinstance(message.body, Published):
            return of(message.subject, message.session, message.seqno, message.body)
        return super().sign(message, key)


@fault("RAI-074", does="has the same number twice now and then")
class RepeatsNumbers(Publisher):
    def next_seqno(self) -> int:
        number = super().next_seqno()
        return number - 1 if number % 40 == 0 else number


@fault("RAI-074", does="begins to count anew with each heartbeat")
class CountsAnew(Publisher):
    def greet(self, subject: str, now: float) -> None:
        self._seqno = 0
        super().greet(subject, now)


@fault("RAI-074", does="begins to count anew after 255")
class CountsInAByte(Publisher):
    def next_seqno(self) -> int:
        return super().next_seqno() & 0xFF


@fault("RAI-074", does="counts down")
class CountsDown(Publisher):
    def next_seqno(self) -> int:
        return 2**40 - super().next_seqno()


@fault("RAI-074", does="has one number for all")
class HasOneNumber(Publisher):
    def next_seqno(self) -> int:
        return 1
