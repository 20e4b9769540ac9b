"""What a case has at hand: the server under test, and connections to it."""

from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.toy.tester.conversation import Conversation
from harness.toy.tester.driver import Driver
from harness.trace import Trace


class NodeUnderTest:
    """The server in one play; ``readings`` collects what it was seen to follow."""

    def __init__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "tcp"
    ) -> None:
        self.instance = instance
        self.timing = instance.timing.of_a_play()
        self.trace = trace
        self.namespace = namespace
        self.transport = transport
        self.readings: list[tuple[str, str, str]] = []
        self._labels = Labels()
        self._drivers: list[Driver] = []

    @property
    def main(self) -> Driver:
        """The connection that most plays use; made when it is first needed."""
        return self._drivers[0] if self._drivers else self.connect()

    def connect(self) -> Driver:
        """Make another connection."""
        link = self.instance.link(self.trace, self._labels.next(), self.transport)
        self._drivers.append(Driver(link, namespace=self.namespace, timing=self.timing))
        return self._drivers[-1]

    def shows(self, rule: str, reading: str, option: str) -> None:
        """Note which option of a reading the server was seen to follow; the profile decides what that means."""
        self.readings.append((rule, reading, option))

    @property
    def conversations(self) -> list[Conversation]:
        """What was said on every connection: the monitors read it after the play."""
        return [driver.conversation for driver in self._drivers]

    @property
    def evidence(self) -> int:
        """How much the server said: a play without evidence proves nothing."""
        return sum(len(each.answers) for each in self.conversations)

    def probe(self) -> None:
        """Make sure that the server still answers, on a fresh connection; raises what goes wrong."""
        driver = self.connect()
        driver.load("probe")
        driver.close()

    def measure(self) -> None:
        """Measure nothing more than answers do: this server says nothing unasked."""

    def close(self) -> None:
        """End all connections."""
        for driver in self._drivers:
            driver.close()
