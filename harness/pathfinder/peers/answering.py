"""How the server speaks: every message goes through ``send``, every refusal through ``fail``, every end through
``close``.
"""

from typing import Any

from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.session import Session
from harness.peers.peer import HANG_UP
from wire.pathfinder.values import Message, write

# Section "Common Reason Codes"
NO_HELLO = "no-hello"
INSUFFICIENT_RESOURCES = "insufficient-resources"
PERMISSION_DENIED = "permission-denied"
# Section "Hello Fail Reason Codes"
CLIENT_ID_EXISTS = "client-id-exists"
UNSUPPORTED_PROTOCOL_VERSION = "unsupported-protocol-version"
# Sections "Subscribe Fail Reason Codes" and "Unsubscribe Fail Reason Codes"
SUBSCRIPTION_ID_EXISTS = "subscription-id-exists"
INVALID_FILTER_SYNTAX = "invalid-filter-syntax"
NON_EXISTENT_SUBSCRIPTION_ID = "non-existent-subscription-id"
# Sections "Publish Fail Reason Codes" and "Unpublish Fail Reason Codes"
OLD_GENERATION = "old-generation"
SAME_GENERATION_BUT_DIFFERENT = "same-generation-but-different"
NON_EXISTENT_SERVICE_ID = "non-existent-service-id"


NO_REASON = "(none)"
"""What stands for a refusal that does not say why; it never goes out, and is no code that could be empty by mistake."""


class RequestRefused(Exception):
    """A request that the server does not carry out; ``reason`` is the document's code, or ``NO_REASON``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Answering:
    """What goes out, in order; ``now`` is the time of the act that the server is at, on the runner's clock."""

    def __init__(self, *, deployed: bool, limits: Limits) -> None:
        self.deployed = deployed
        self.limits = limits
        self.now = 0.0
        self.outbox: list[tuple[int, bytes | None]] = []
        self.backlog: dict[int, int] = {}
        self.leaving: list[Session] = []

    def accept(self, session: Session, request: Message) -> None:
        """Say that a request is being carried out."""
        self.send(session, self.answer(request, "accept"))

    def notify(self, session: Session, request: Message, fields: Message) -> None:
        """Tell something within a request's transaction."""
        self.send(session, {**self.answer(request, "notify"), **fields})

    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        """Say that a request has been carried out."""
        self.send(session, {**self.answer(request, "complete"), **(fields or {})})

    def fail(self, session: Session, request: Message, reason: str) -> None:
        """Say that a request is not carried out, and why, if there is a word for that."""
        why = {} if reason == NO_REASON else {"fail-reason": reason}
        self.send(session, {**self.answer(request, "fail"), **why})

    def answer(self, request: Message, message_type: str) -> dict[str, Any]:
        """Return the fields that a message in a request's transaction must have."""
        return {"ta-cmd": request["ta-cmd"], "ta-id": request["ta-id"], "msg-type": message_type}

    def send(self, session: Session, message: Message) -> None:
        """Send one message; a connection for which too much waits is ended."""
        # It would come behind the end of the connection.
        if session.closing:
            return
        frame = self.encode_message(message)
        waiting = self.backlog.get(session.link, 0) + len(frame)
        self.backlog[session.link] = waiting
        self.outbox.append((session.link, frame))
        if waiting > self.limits.backlog:
            self.close(session)

    def encode_message(self, message: Message) -> bytes:
        """Write a message."""
        return write(message, deployed=self.deployed)

    def close(self, session: Session) -> None:
        """End a connection behind what was sent on it; what follows from that comes when the act is done."""
        if not session.closing:
            session.closing = True
            self.outbox.append((session.link, HANG_UP))
            self.leaving.append(session)
