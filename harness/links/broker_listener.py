"""Where nodes meet at a broker, both sides dial: to listen is to have a broker, to accept is to dial it."""

import select
from collections.abc import Callable

from harness.clock import Clock
from harness.errors import Deadline, HarnessError, Unreachable, Unsupported
from harness.links.addresses import Address
from harness.links.broker import Broker
from harness.links.link import Link, wait
from harness.links.listener import Listener
from harness.trace import Trace

Dial = Callable[[float, str, Trace | None], Link]
"""Dials a broker within some seconds, with a label and a trace; OSError or Unreachable when nobody is there."""


# Seconds to dial a broker, at least: who asks whether there is one without waiting shall be answered all the same.
_LEAST = 1.0


class RunningBroker(Listener):
    """A broker that somebody else runs."""

    def __init__(self, where: Address, clock: Clock, dial: Dial) -> None:
        super().__init__(where, clock)
        self._dial = dial

    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> Link:
        """Return a link to the broker; Unreachable when it is not there."""
        try:
            return self._dial(max(deadline - self._clock.now(), _LEAST), label, trace)
        except OSError as error:
            raise Unreachable(f"{self.address}: {error}") from error

    def open(self) -> None:
        """Do nothing: it is never shut."""

    def shut(self) -> None:
        raise Unsupported(f"the broker at {self.address} is not ours to end")

    def forget(self) -> None:
        """Do nothing: who left has left."""

    def close(self) -> None:
        """Do nothing: it runs on."""


class BrokerListener(RunningBroker):
    """A broker of our own; to shut it is to kill it, and to open it to start it again at the same address."""

    def __init__(self, where: Address, clock: Clock, dial: Dial, broker: Broker) -> None:
        super().__init__(where, clock, dial)
        self._broker = broker
        self.open()

    def accept(self, deadline: float, label: str = "a", trace: Trace | None = None) -> Link:
        """Return a link to the broker; Deadline while it is shut, HarnessError when it has ended by itself."""
        if not self._broker.is_running:
            wait(None, select.POLLIN, deadline - self._clock.now())
            raise Deadline(f"there is no broker at {self.address} now")
        try:
            return super().accept(deadline, label, trace)
        except Unreachable as error:
            if complaint := self._broker.complaint():
                raise HarnessError(complaint) from error
            raise

    def open(self) -> None:
        if not self._broker.is_running:
            self._broker.start(lambda: self._dial(_LEAST, "a", None).close())

    def shut(self) -> None:
        self._broker.kill()

    def close(self) -> None:
        self._broker.kill()
