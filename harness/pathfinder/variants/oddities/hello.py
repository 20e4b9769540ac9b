"""Unusual, legal ways to shake hands."""

from functools import partial

from harness.pathfinder.peers.answering import NO_HELLO, PERMISSION_DENIED
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.delaying import Later
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message

# Shorter than the case waits for the first connection to end.
MOMENT = 0.2
"""Seconds."""


@oddity("PF-106", "PF-217", "PF-147", does="ends a connection on which something is asked before hello")
class NoTalkBeforeHello(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        if session.client_id is None and request["ta-cmd"] != "hello":
            self.close(session)
        else:
            super().fail(session, request, reason)


@oddity("PF-111", "PF-119", does="ends a connection whose hello it refuses, behind the fail")
class OneChance(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        super().fail(session, request, reason)
        if session.client_id is None and request["ta-cmd"] == "hello":
            self.close(session)


@oddity("PF-063", does="ends the first connection when a second one says hello with its client-id")
class TheLastOneStands(Server):
    def greet(self, session: Session, request: Message) -> None:
        first = self.clients.get(request["client-id"])
        if first is not None and first is not session:
            self.close(first)
            self.settle()
        super().greet(session, request)


@oddity("PF-110", does="refuses a second hello with another range")
class SameRangeOnly(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        # The cases say hello with 2, and once with another upper end.
        if request["protocol-maximum-version"] != 2:
            self.fail(session, request, "unsupported-protocol-version")
        else:
            super().greet_again(session, request)


@oddity("PF-110", does="ends the connection of who says hello with another client-id or range")
class EndsImpostors(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        if not self.is_same_client(session, request) or request["protocol-maximum-version"] != 2:
            self.close(session)
        else:
            super().greet_again(session, request)


@oddity("PF-108", does="waits for hello for ever")
class Patient(Server):
    def next_tick(self) -> float | None:
        # Nothing is due for who has not said hello.
        self.awaiting_hello.clear()
        return super().next_tick()

    def give_up(self, session: Session) -> None:
        self.awaiting_hello.pop(session.link, None)


@oddity("PF-108", does="waits for hello for a second")
class Impatient(Server):
    def await_hello(self, session: Session) -> None:
        super().await_hello(session)
        # Less than the case stays silent, more than any handshake takes.
        self.awaiting_hello[session.link] = self.now + 1.0


@oddity("PF-114", "PF-116", does="speaks version 3 too, and prefers it")
class NextVersion(Server):
    versions = (2, 3)


@oddity("PF-063", does="lets a second connection in with the client-id of the first, and ends that a moment later")
class TheLastOneStandsAlone(Later):
    def greet(self, session: Session, request: Message) -> None:
        first = self.clients.pop(request["client-id"], None)
        if first is not None:
            # Later, so that both connections stand for a moment (reading R35).
            self.postpone(MOMENT, partial(self.close, first))
        super().greet(session, request)

    def forget_client(self, session: Session) -> None:
        if session.client_id is not None and self.clients.get(session.client_id) is session:
            super().forget_client(session)


@oddity("PF-106", "PF-147", does="denies the permission for what is asked before hello")
class DeniesBeforeHello(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        super().fail(session, request, PERMISSION_DENIED if reason == NO_HELLO else reason)


@oddity("PF-119", does="passes over a hello whose minimum version is above its maximum")
class OverlooksEmptyRanges(Server):
    def greet(self, session: Session, request: Message) -> None:
        if request["protocol-minimum-version"] <= request["protocol-maximum-version"]:
            super().greet(session, request)
