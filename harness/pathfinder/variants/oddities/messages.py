"""Unusual, legal ways to read and write messages."""

import json

from harness.pathfinder.peers.answering import PERMISSION_DENIED
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.lenient import Fields, Lenient, salvaged, with_points
from harness.pathfinder.variants.registry import oddity
from wire.json.strict import MOST
from wire.pathfinder.values import COMMANDS, Message, read_loosely

KNOWN = {
    "hello": ("client-id", "protocol-minimum-version", "protocol-maximum-version"),
    "publish": ("service-id", "generation", "service-props", "ttl"),
    "unpublish": ("service-id",),
    "subscribe": ("subscription-id", "filter"),
    "unsubscribe": ("subscription-id",),
    "services": ("filter",),
}


@oddity("PF-077", does="writes white space wherever it may stand")
class Spacious(Server):
    def encode_message(self, message: Message) -> bytes:
        fields = json.loads(super().encode_message(message))
        return b"\n\t " + json.dumps(fields, indent=1).replace("\n", "\r\n").encode() + b"\r\n"


@oddity("PF-077", does="writes fields in the reverse order, and escapes what it can")
class Backwards(Server):
    def encode_message(self, message: Message) -> bytes:
        fields = json.loads(super().encode_message(message))
        return json.dumps(dict(list(fields.items())[::-1])).replace("/", "\\/").encode()


@oddity("PF-081", "PF-215", does="ignores fields that it does not know")
class IgnoringFields(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        command = fields.get("ta-cmd")
        if command not in COMMANDS:
            return None
        # What is null counts as not there: no field of the document may be null.
        known = ("ta-cmd", "ta-id", "msg-type", *KNOWN.get(str(command), ()))
        return {name: value for name, value in fields.items() if name in known and value is not None}


@oddity("PF-079", "PF-215", does="takes the last value of a field that is there twice")
class LastOneCounts(Lenient):
    def mend(self, fields: Fields) -> Fields | None:
        return fields


@oddity("PF-083", "PF-192", "PF-194", "PF-215", does="passes over what it does not understand, and goes on")
class Unmoved(Server):
    def take(self, session: Session, frame: bytes) -> None:
        if self.understand(frame) is not None:
            super().take(session, frame)


@oddity(
    "PF-083", "PF-192", "PF-194", "PF-215", does="fails what it does not understand, where it can tell the transaction"
)
class Failing(Lenient):
    reasons = True

    def take(self, session: Session, frame: bytes) -> None:
        if self.understand(frame) is not None:
            super().take(session, frame)
            return
        fields = read_loosely(frame) or salvaged(frame) or {}
        command, ta = fields.get("ta-cmd"), fields.get("ta-id")
        # type() and not isinstance(): True is an int.
        if isinstance(command, str) and type(ta) is int and 0 <= ta <= MOST:
            answer = {"ta-cmd": command, "ta-id": ta, "msg-type": "fail"}
            self.send(session, {**answer, "fail-reason": PERMISSION_DENIED} if self.reasons else answer)
        else:
            self.close(session)


@oddity("PF-194", "PF-215", does="fails what it does not understand, and says not why")
class FailingWithoutReason(Failing):
    reasons = False


@oddity("PF-102", does="calls notifications by the name that the text has for them, where the profile lets it")
class InProse(Lenient):
    def notify(self, session: Session, request: Message, fields: Message) -> None:
        changed = {} if self.deployed else {"msg-type": "notification"}
        super().notify(session, request, {**fields, **changed})


@oddity("PF-194", does="says why it cannot read a message only to clients that it knows, and then ends the connection")
class FailingAndEnding(Failing):
    def take(self, session: Session, frame: bytes) -> None:
        readable = self.understand(frame) is not None
        if readable or session.client_id is not None:
            super().take(session, frame)
        if not readable:
            self.close(session)


@oddity("PF-003", "PF-006", "PF-115", does="writes whole numbers with a point, as long as they stay what they are")
class Pointed(Server):
    def encode_message(self, message: Message) -> bytes:
        return json.dumps(with_points(json.loads(super().encode_message(message)))).encode()
