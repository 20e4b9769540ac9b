"""Faults of a subscriber: what it makes of other spellings, of what lacks members, and of what is no message."""

import json
from collections.abc import Callable

import msgspec

from harness.rai.peers.subscriber import Subscriber
from harness.rai.variants.registry import fault
from wire import envelope
from wire.errors import DecodeError
from wire.rai.relaxed import Members, parse, plain_of


class Particular(Subscriber):
    """A subscriber that looks at payloads before they are read."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        said = envelope.read(frame)
        for payload in self.seen(said.subject, said.payload):
            super().received(link, envelope.data(said.subject, payload), now)

    def seen(self, subject: str, payload: bytes) -> list[bytes]:
        """Return the payloads that are read in the place of one."""
        return [payload] if self.takes(payload) else []

    def takes(self, payload: bytes) -> bool:
        """Tell whether a payload is taken."""
        return True

    def members(self, payload: bytes) -> dict[str, object]:
        """Return the members of a payload; none where it is no object."""
        try:
            found = parse(payload)
        except DecodeError:
            return {}
        plain = plain_of(found) if isinstance(found, Members) else {}
        return plain if isinstance(plain, dict) else {}


@fault("RAI-091", does="reads strict JSON alone")
class ReadsStrictly(Particular):
    def takes(self, payload: bytes) -> bool:
        try:
            json.loads(payload)
        except ValueError:
            return False
        return True


@fault("RAI-091", does="takes no comma behind the last member")
class TakesNoLastComma(Particular):
    def takes(self, payload: bytes) -> bool:
        return b",}" not in payload.replace(b" ", b"")


@fault("RAI-091", does="takes no comma behind the last field of data")
class TakesNoLastCommaWithin(Particular):
    def takes(self, payload: bytes) -> bool:
        return b",}}" not in payload.replace(b" ", b"")


@fault("RAI-091", does="takes names without quotes, but no values")
class TakesNoBareValues(Particular):
    def takes(self, payload: bytes) -> bool:
        return b":conflated" not in payload.replace(b" ", b"") and b":word" not in payload.replace(b" ", b"")


@fault("RAI-091", does="takes no name without quotes")
class TakesNoBareNames(Particular):
    def takes(self, payload: bytes) -> bool:
        return not payload.lstrip()[1:].lstrip().startswith(b"session")


@fault("RAI-091", does="reads relaxed texts alone: words must not have quotes")
class ReadsLoosely(Particular):
    def takes(self, payload: bytes) -> bool:
        return b'"conflated"' not in payload


@fault("RAI-185", does="takes no white space between members")
class TakesNoWhiteSpace(Particular):
    def takes(self, payload: bytes) -> bool:
        return b"\n" not in payload


@fault("RAI-185", does="takes no escapes")
class TakesNoEscapes(Particular):
    def takes(self, payload: bytes) -> bool:
        return b"\\u00" not in payload


@fault("RAI-185", does="wants the header first")
class WantsTheHeaderFirst(Particular):
    def takes(self, payload: bytes) -> bool:
        names = list(self.members(payload))
        return names[:3] == ["session", "seqno", "digest"]


@fault("RAI-184", does="passes over what has a member that it does not know")
class WantsNoMore(Particular):
    def takes(self, payload: bytes) -> bool:
        return "extra" not in self.members(payload)


@fault("RAI-184", does="passes over what has an object beside its data")
class WantsNoObjects(Particular):
    def takes(self, payload: bytes) -> bool:
        members = self.members(payload)
        return not any(isinstance(value, dict) for name, value in members.items() if name != "data")


@fault("RAI-184", does="passes over what has a null in it")
class WantsNoNull(Particular):
    def takes(self, payload: bytes) -> bool:
        return None not in self.members(payload).values()


class Completes(Particular):
    """A subscriber that puts into a message what it lacks."""

    lacking: str

    def seen(self, subject: str, payload: bytes) -> list[bytes]:
        members = self.members(payload)
        if not members or members.get(self.lacking) is not None:
            return [payload]
        return [msgspec.json.encode(members | {self.lacking: value}) for value in self.guesses(subject, members)]

    def guesses(self, subject: str, members: dict[str, object]) -> list[object]:
        """Return what the missing member may be."""
        return []


@fault("RAI-172", does="takes a message without session for the last publisher's")
class GuessesTheSession(Completes):
    lacking = "session"

    def guesses(self, subject: str, members: dict[str, object]) -> list[object]:
        return list(self.others)


@fault("RAI-172", does="takes a message without seqno for number 0")
class GuessesZero(Completes):
    lacking = "seqno"

    def guesses(self, subject: str, members: dict[str, object]) -> list[object]:
        return [0]


@fault("RAI-172", does="takes a message without seqno for the next")
class GuessesTheNext(Completes):
    lacking = "seqno"

    def guesses(self, subject: str, members: dict[str, object]) -> list[object]:
        return [max(other.seqnos.values(), default=0) + 1 for other in self.others.values()]


@fault("RAI-172", does="takes messages without a digest")
class GuessesTheDigest(Completes):
    lacking = "digest"

    def guesses(self, subject: str, members: dict[str, object]) -> list[object]:
        other = self.others.get(str(members.get("session")))
        rest = {name: value for name, value in members.items() if name not in ("session", "seqno", "digest")}
        seqno = members.get("seqno")
        if other is None or not isinstance(seqno, int):
            return []
        return [self.signing.digest(other.key, seqno, subject, msgspec.json.encode(rest))]


class Brittle(Particular):
    """A subscriber that is deaf from then on when something comes that ``breaks`` it."""

    is_deaf = False
    breaks: Callable[[bytes], bool]

    def seen(self, subject: str, payload: bytes) -> list[bytes]:
        self.is_deaf = self.is_deaf or (self.is_looked_at(subject) and type(self).breaks(payload))
        return [] if self.is_deaf else [payload]

    def is_looked_at(self, subject: str) -> bool:
        """Tell whether payloads under a subject are looked at."""
        return True


@fault("RAI-173", does="is deaf after an empty message")
class DeafenedByNothing(Brittle):
    @staticmethod
    def breaks(payload: bytes) -> bool:
        return not payload


@fault("RAI-173", does="is deaf after a list")
class DeafenedByLists(Brittle):
    @staticmethod
    def breaks(payload: bytes) -> bool:
        return payload == b"[]"


@fault("RAI-173", does="dies of what nests too deep")
class DiesOfDepth(Particular):
    def seen(self, subject: str, payload: bytes) -> list[bytes]:
        if payload.startswith(b"[[[["):
            raise RecursionError
        return [payload]


@fault("RAI-173", does="is deaf after what is no UTF-8 in its inbox")
class DeafenedInTheInbox(Brittle):
    @staticmethod
    def breaks(payload: bytes) -> bool:
        return b"\xff" in payload

    def is_looked_at(self, subject: str) -> bool:
        return subject.startswith("_INBOX.")


@fault("RAI-173", does="is deaf after a HELLO whose seqno is none")
class DeafenedByGreetings(Brittle):
    @staticmethod
    def breaks(payload: bytes) -> bool:
        return b'"seqno":{}' in payload

    def is_looked_at(self, subject: str) -> bool:
        return subject == "_SESSION.HELLO"


@fault("RAI-173", does="is deaf after a message that was cut short")
class DeafenedByHalves(Brittle):
    @staticmethod
    def breaks(payload: bytes) -> bool:
        return payload.startswith(b'{"session"') and not payload.endswith(b"}")


@fault("RAI-215", does="takes nothing that is longer than 32 KiB")
class TakesNothingLong(Particular):
    def takes(self, payload: bytes) -> bool:
        return len(payload) < 32768


@fault("RAI-215", does="takes nothing that has letters beyond ASCII")
class TakesAsciiAlone(Particular):
    def takes(self, payload: bytes) -> bool:
        return payload.isascii()


@fault("RAI-215", does="loses what comes when fifty messages come at once")
class LosesInABurst(Particular):
    count, since = 0, -1.0

    def received(self, link: int, frame: bytes, now: float) -> None:
        self.count = self.count + 1 if now == self.since else 0
        self.since = now
        if self.count < 50:
            super().received(link, frame, now)
