"""Guests: they send what the document forbids or leaves open, and leave; what they may be told, and may not."""

from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.actions import HistoryNames
from conformance.pathfinder.histories.unspecified import GuestGreets, GuestMove, GuestsCrowd, GuestSends, GuestsMeet
from conformance.pathfinder.stimuli import Offence
from harness.pathfinder.tester.driver import Driver
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.pathfinder.values import VERSION

EXCUSED = (None, "permission-denied", "insufficient-resources")


class Guests:
    """Has guests come, and looks at what they are told."""

    def __init__(self, node: NodeUnderTest, names: HistoryNames) -> None:
        self.node = node
        self.names = names

    def come(self, move: GuestMove) -> None:
        """Let guests come, send what they have to send, and leave; raises ``Mismatch``."""
        if isinstance(move, GuestsMeet | GuestsCrowd):
            self.come_together(move)
            return
        guest = self.node.connect()
        match move:
            case GuestSends():
                self.send(guest, move)
            case GuestGreets():
                self.greet(guest, move)
        # Not before the server is known to have acted: a connection that has ended says so, and a silent one was read.
        guest.close()

    def come_together(self, move: GuestsMeet | GuestsCrowd) -> None:
        """Let several guests come, and look at whether the first is served, and is to be."""
        first = self.node.session()
        if isinstance(move, GuestsMeet):
            others = [self.node.connect()]
            self.meet(first, others[0])
        else:
            others = [self.node.connect() for _ in range(move.count)]
            if not first.is_served():
                raise Mismatch(move.rule, f"a guest is not served while {move.count} others say nothing")
        for guest in (first, *others):
            guest.close()

    def meet(self, first: Driver, second: Driver) -> None:
        """Say hello under an identifier that is in use."""
        hello = second.hello(client_id=first.client_id)
        if hello.completed:
            # R35: the newcomer may take the other's place, which takes a moment.
            first.wait_until(lambda: bool(first.ended))
            if first.is_served():
                raise Mismatch("PF-063", "two connections stand with one client-id")
        elif hello.reason == "unsupported-protocol-version":
            raise Mismatch("PF-119", "a version is refused that others are given, where the client-id is in use")
        elif not first.is_served():
            raise Mismatch("PF-063", "both connections with one client-id are ended")

    def send(self, guest: Driver, move: GuestSends) -> None:
        """Send what is no request, and look at what comes."""
        if move.greets:
            guest.open()
        for first in move.before:
            guest.answered(guest.begin_with(self.resolved(first)))
        message: Any = move.message.encode() if isinstance(move.message, str) else self.resolved(move.message)
        offence = Offence(message, guest, len(guest.received()))
        guest.offend(message)
        if offence.was_done and not move.may:
            raise Mismatch(move.rule, f"what a guest sends is carried out: {offence.said[-1].fields}")
        if move.is_answered and not (offence.said or guest.ended):
            raise Mismatch(move.rule, "what a guest sends is passed over")
        for event in offence.said:
            reason = event.fields.get("fail-reason")
            if move.reasons and reason is not None and reason not in move.reasons:
                raise Mismatch(move.reason_rule, f"what a guest sends is refused as {reason!r}")

    def greet(self, guest: Driver, move: GuestGreets) -> None:
        """Say hello with a range of versions, and look at what comes."""
        hello = guest.hello(minimum=move.minimum, maximum=move.maximum)
        if move.completes:
            if hello.reason in EXCUSED[1:]:
                return
            version = hello.ending.fields.get("protocol-version") if hello.completed and hello.ending else None
            # A server may speak later versions as well; none before this document's.
            if version is None or not max(move.minimum, VERSION) <= version <= move.maximum:
                raise Mismatch("PF-116" if hello.completed else move.rule, f"a guest offers version 2: {hello}")
            return
        if hello.completed and hello.ending:
            version = hello.ending.fields.get("protocol-version")
            if version is None or not move.minimum <= version <= move.maximum:
                raise Mismatch(move.rule, f"a guest offers {move.minimum} to {move.maximum}, and is to speak {version}")
            return
        if not hello.refused:
            raise Mismatch(move.rule, f"a guest does not offer version 2, and is not answered: {hello}")
        if hello.reason not in (*EXCUSED, "unsupported-protocol-version"):
            raise Mismatch("PF-119", f"a guest does not offer version 2: {hello}")
        # R36: the connection may have ended with the refusal.
        if not guest.ended and not (again := guest.hello()).completed and not guest.ended:
            raise Mismatch("PF-111", f"a guest was refused for its versions, and offers version 2 now: {again}")

    def resolved(self, value: Any) -> Any:
        """Return a message in which what stands for identifiers is these."""
        if isinstance(value, dict):
            return {name: self.resolved(each) for name, each in value.items()}
        if isinstance(value, str) and value.startswith("#"):
            return str(self.names.service(int(value[1:])))
        if isinstance(value, str) and value.startswith("@"):
            return self.names.service(int(value[1:]))
        return value
