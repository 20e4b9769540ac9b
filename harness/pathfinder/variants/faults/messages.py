"""Faults against Pathfinder, "Message Format" to "Message Types": what a message is, and what is none."""

from typing import Any

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.lenient import Fields, Lenient
from harness.pathfinder.variants.registry import fault
from wire.errors import DecodeError, Reason
from wire.pathfinder.values import COMMANDS, Message, read

_INTEGERS = (
    "ta-id",
    "client-id",
    "protocol-minimum-version",
    "protocol-maximum-version",
    "subscription-id",
    "service-id",
    "generation",
    "ttl",
)


@fault("PF-077", does="refuses line breaks between tokens")
class OneLine(Server):
    def understand(self, frame: bytes) -> Message | None:
        return None if b"\n" in frame else super().understand(frame)


@fault("PF-077", does="does not know escaped letters")
class Unescaping(Server):
    def understand(self, frame: bytes) -> Message | None:
        # 006x is how the cases escape the letters of ping.
        return None if b"\\u006" in frame else super().understand(frame)


@fault("PF-077", does="writes a comma too many in the fail of unpublish")
class CommaTooMany(Server):
    def encode_message(self, message: Message) -> bytes:
        frame = super().encode_message(message)
        # In one answer only: a server that never writes JSON could not be played with.
        is_it = (message["ta-cmd"], message["msg-type"]) == ("unpublish", "fail")
        return frame[:-1] + b",}" if is_it else frame


@fault("PF-078", does="gives the time of a client as a text")
class TextualTime(Lenient):
    def describe_client(self, session: Session) -> Message:
        fields = super().describe_client(session)
        return {**fields, "time": str(fields["time"])}


@fault("PF-079", does="writes ta-id twice in each accept")
class SaidTwice(Server):
    def encode_message(self, message: Message) -> bytes:
        frame = super().encode_message(message)
        return frame[:-1] + b',"ta-id":%d}' % message["ta-id"] if message["msg-type"] == "accept" else frame


@fault("PF-079", does="answers a request that names its ta-id twice under both")
class AnsweringBoth(Lenient):
    def take(self, session: Session, frame: bytes) -> None:
        super().take(session, frame)
        # A ping with two, which only that case sends.
        if b"ping" in frame and frame.count(b'"ta-id":') == 2:
            before, first, rest = frame.partition(b'"ta-id":')
            super().take(session, before + first + rest.replace(b'"ta-id":', b'"was":'))

    def mend(self, fields: Fields) -> Fields | None:
        mended = {name: value for name, value in fields.items() if name != "was"}
        # For ping alone: the mended message is what is read the second time.
        return mended if fields.get("ta-cmd") == "ping" and isinstance(fields.get("ta-id"), int) else None


@fault("PF-080", does="sends an empty array before it lists subscriptions")
class ArrayFirst(Server):
    def on_subscriptions(self, session: Session, request: Message) -> None:
        self.outbox.append((session.link, b"[]"))
        super().on_subscriptions(session, request)


@fault("PF-081", does="tells its time in each answer to ping")
class TellingTheTime(Lenient):
    def on_ping(self, session: Session, request: Message) -> None:
        self.complete(session, request, {"server-time": int(self.wall())})


@fault("PF-081", does="sends a field back that it does not know")
class Echoing(Lenient):
    odd: Fields | None = None

    def mend(self, fields: Fields) -> Fields | None:
        if fields.get("ta-cmd") != "ping" or not isinstance(fields.get("ta-id"), int):
            return None
        known: Fields = {name: fields[name] for name in ("ta-cmd", "ta-id", "msg-type") if name in fields}
        self.odd = {name: value for name, value in fields.items() if name not in known}
        return known

    def on_ping(self, session: Session, request: Message) -> None:
        odd, self.odd = self.odd, None
        self.complete(session, request, odd)


@fault("PF-082", does="leaves the command out of its fails")
class NamelessFails(Lenient):
    def encode_message(self, message: Message) -> bytes:
        kept = {name: value for name, value in message.items() if name != "ta-cmd" or message["msg-type"] != "fail"}
        return super().encode_message(kept)


@fault("PF-083", does="answers a ping that is a notification")
class AnsweringNotifications(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        return {**fields, "msg-type": "request"} if fields.get("msg-type") == "notify" else None


@fault("PF-102", does="tells of each client in an update as well")
class Updates(Lenient):
    def notify(self, session: Session, request: Message, fields: Message) -> None:
        super().notify(session, request, fields)
        if request["ta-cmd"] == "clients":
            super().notify(session, request, {**fields, "msg-type": "update"})


@fault("PF-103", does="notifies subscribers without generation")
class NotifyingWithoutGeneration(Lenient):
    def notify(self, session: Session, request: Message, fields: Message) -> None:
        if request["ta-cmd"] == "subscribe":
            fields = {name: value for name, value in fields.items() if name != "generation"}
        super().notify(session, request, fields)


@fault("PF-104", does="refuses to list services without a filter")
class FilterNeeded(Server):
    def on_services(self, session: Session, request: Message) -> None:
        if "filter" not in request:
            raise RequestRefused(INVALID_FILTER_SYNTAX)
        super().on_services(session, request)


@fault("PF-105", does="explains its fails in another field")
class Explaining(Lenient):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        fields = {"fail-reason": reason, "detail": "see the manual"}
        self.send(session, {**self.answer(request, "fail"), **fields})


@fault("PF-105", does="gives the reasons for refusing an unsubscribe as numbers")
class NumberedReasons(Lenient):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        fields = {"fail-reason": 404 if request["ta-cmd"] == "unsubscribe" else reason}
        self.send(session, {**self.answer(request, "fail"), **fields})


@fault("PF-192", does="completes commands that it does not know")
class AnyCommand(Lenient):
    unknown: Any = None

    def mend(self, fields: Fields) -> Fields | None:
        if fields.get("ta-cmd") in COMMANDS or not isinstance(fields.get("ta-cmd"), str):
            return None
        self.unknown = fields["ta-cmd"]
        return {**fields, "ta-cmd": "ping"}

    def on_ping(self, session: Session, request: Message) -> None:
        unknown, self.unknown = self.unknown, None
        super().on_ping(session, request if unknown is None else {**request, "ta-cmd": unknown})


@fault("PF-194", does="takes 0 for a number that is missing")
class ZeroForNothing(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        return {"ttl": 0, "generation": 0, **fields} if fields.get("ta-cmd") == "publish" else None


@fault("PF-194", does="reads numbers from texts")
class ReadingNumbers(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        return {
            name: int(value) if name in _INTEGERS and isinstance(value, str) and value.isdecimal() else value
            for name, value in fields.items()
        }


@fault("PF-194", does="reads a message from the beginning of a frame, whatever stands behind it")
class FirstObject(Lenient):
    def understand(self, frame: bytes) -> Message | None:
        return super().understand(frame[: frame.rfind(b"}") + 1])


@fault("PF-194", does="unpublishes without an answer where the service-id is a text")
class SilentlyDone(Lenient):
    quiet = False

    def mend(self, fields: Fields) -> Fields | None:
        id = fields.get("service-id")
        # Only there: a quiet server elsewhere would be seen by its silence.
        self.quiet = fields.get("ta-cmd") == "unpublish" and isinstance(id, str) and id.isdecimal()
        return {**fields, "service-id": int(id or 0)} if self.quiet else None

    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        quiet, self.quiet = self.quiet, False
        if not quiet:
            super().complete(session, request, fields)


@fault("PF-215", does="ends all connections at a malformed message")
class EndingAll(Server):
    def take(self, session: Session, frame: bytes) -> None:
        if self.understand(frame) is None:
            for each in list(self.sessions.values()):
                self.close(each)
        else:
            super().take(session, frame)


@fault("PF-215", does="forgets everybody's subscriptions at a field that is there twice")
class Forgetful(Server):
    def understand(self, frame: bytes) -> Message | None:
        try:
            read(frame, deployed=self.deployed)
        except DecodeError as error:
            if error.reason is Reason.DUPLICATE_NAME:
                self.forget_all()
        return super().understand(frame)

    def forget_all(self) -> None:
        """Forget all subscriptions."""
        for subscription in list(self.subscriptions.values()):
            self.forget(subscription)

    def notify_match(self, subscription: Subscription, what: str, service: Any) -> None:
        if subscription.id in self.subscriptions:
            super().notify_match(subscription, what, service)
