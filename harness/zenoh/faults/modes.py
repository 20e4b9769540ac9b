"""Faults against zenoh-interests, "Interest Modes" and "Message Flows"."""

from harness.zenoh.face import Face
from harness.zenoh.faults.registry import fault
from harness.zenoh.router import Router
from wire.zenoh.messages import Interest, Mode

BARRIER = 1_000_000
"""Interest ids from here on are a tester's barriers: kept working, so that more than silence is seen."""


@fault("ZI-021", does="answers a Future interest with D_FINAL")
class FinalForFuture(Router):
    def on_interest(self, face: Face, interest: Interest) -> None:
        super().on_interest(face, interest)
        if interest.mode is Mode.FUTURE:
            self.finish(face, interest.id)


@fault("ZI-011", "ZI-070", "ZI-012", does="never ends a snapshot with D_FINAL")
class NoFinal(Router):
    def finish(self, face: Face, interest_id: int) -> None:
        if interest_id >= BARRIER:
            super().finish(face, interest_id)
