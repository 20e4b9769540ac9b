"""What a case works with: the node under test, ships that speak with it, and its application."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import TypeVar

from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.timing import ROUNDING
from harness.trace import Trace
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from harness.urbit.tester.conversation import Conversation
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.publisher import TestPublisher
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.values import Ship

SLACK = 0.1
"""Seconds of the clock by which what a node does in time may be seen early or late: machines stand still for moments.
"""

COPIES = 5
"""How often what nobody answers is sent over a path that loses datagrams."""

# Ships of their own in each play: a publisher knows those of an earlier one for a minute, and how far they counted.
_FIRST_PLANET, _FIRST_GALAXY = 0x0001_0000 + 0x1234, 0x0100
_planets = itertools.count(_FIRST_PLANET)
_galaxies = itertools.count(_FIRST_GALAXY)


def count_ships_anew() -> None:
    """Have the next play be of the ships of the first one, with a node that is new as well."""
    global _planets, _galaxies
    _planets, _galaxies = itertools.count(_FIRST_PLANET), itertools.count(_FIRST_GALAXY)


D = TypeVar("D", bound=Driver)


class NodeUnderTest:
    """The implementation in one play; ``readings`` collects what it was seen to follow."""

    def __init__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "udp"
    ) -> None:
        self.instance = instance
        self.timing = instance.timing.of_a_play()
        self.trace = trace
        self.profile = profile
        # A path begins with a slash and has none at its end.
        self.namespace = f"/{namespace}".encode()
        self.transport = transport
        self.readings: list[tuple[str, str, str]] = []
        self.drivers: list[Driver] = []
        self._labels = Labels()
        self._scenes = 0
        self._main: TestSubscriber | None = None
        self._other: TestSubscriber | None = None
        self._publisher: TestPublisher | None = None
        if instance.dials:
            instance.restart()

    @property
    def role(self) -> str:
        """The role that the implementation plays."""
        return self.instance.role

    @contextmanager
    def scene(self) -> Iterator["NodeUnderTest"]:
        """Play a scene of its own within this play: other ships, and paths below this one's."""
        self._scenes += 1
        if self.instance.dials:
            self.instance.restart()
        scene = copy(self)
        scene.namespace = b"%s%d/" % (self.namespace, self._scenes)
        # `drivers` stays shared: monitors read what all of them heard.
        scene._main, scene._other, scene._publisher = None, None, None
        before = len(self.drivers)
        try:
            yield scene
        finally:
            for driver in self.drivers[before:]:
                with suppress(HarnessError):
                    driver.close()

    # --- a publisher under test -------------------------------------------------------------------------------

    def subscriber(self, ship: Ship | None = None, *, source: str = "") -> TestSubscriber:
        """Return another subscriber at an address of its own: a planet that nobody has met, or some ship."""
        link = self.instance.link(self.trace, self._labels.next(), self.transport, source=source)
        its = ship or Ship.of(next(_planets))
        made = TestSubscriber(link, self.trace, its, PUBLISHER, namespace=self.namespace, timing=self.timing)
        return self._met(made)

    def galaxy(self) -> TestSubscriber:
        """Return another subscriber that is a galaxy or a star, one of those that are not in other plays of late."""
        return self.subscriber(Ship.of(next(_galaxies) % 0x10000))

    def of_all_ranks(self) -> list[TestSubscriber]:
        """Return another galaxy, planet, moon and comet."""
        # A moon's number ends with its planet's; a comet's may be any, as long as it is.
        planet = next(_planets)
        return [self.galaxy(), *(self.subscriber(Ship.of(planet << above | planet)) for above in (0, 32, 96))]

    def neighbour(self, subscriber: TestSubscriber) -> TestSubscriber:
        """Return another ship at the same address; both read whatever comes there."""
        subscriber.has_company = True
        other = copy(subscriber)
        other.me, other.session, other.number = Ship.of(next(_planets)), None, 0
        return other

    def elsewhere(self, subscriber: TestSubscriber) -> TestSubscriber:
        """Return the same subscriber at another address, with the same session."""
        moved = self.subscriber(subscriber.me)
        moved.session, moved.number, moved.renewed = subscriber.session, subscriber.number, subscriber.renewed
        return moved

    @property
    def main(self) -> TestSubscriber:
        """The subscriber that asks."""
        if self._main is None:
            self._main = self.subscriber()
        return self._main

    @property
    def other(self) -> TestSubscriber:
        """A second one."""
        if self._other is None:
            self._other = self.subscriber()
        return self._other

    def grow(self, name: str, text: str = "a value") -> None:
        """Have the publisher's application grow a value at a path of this play; also one without any text."""
        self.instance.command("grow", (self.namespace + name.encode()).decode(), *([text] if text else []))

    # --- a subscriber under test ------------------------------------------------------------------------------

    def want(self, name: str) -> None:
        """Have the subscriber's application want a path of this play."""
        self.instance.command("want", (self.namespace + name.encode()).decode())

    def drop(self, name: str) -> None:
        """Have the subscriber's application lose interest in a path."""
        self.instance.command("drop", (self.namespace + name.encode()).decode())

    def got(self, name: str) -> list[str]:
        """Return what the subscriber's application was given of a path, so far."""
        begin = f"got {(self.namespace + name.encode()).decode()} "
        return [event[len(begin) :] for event in self.instance.events() if f"{event} ".startswith(begin)]

    @property
    def publisher(self) -> TestPublisher:
        """The publisher with which the subscriber speaks; there once it has said something, as it has to dial."""
        if self._publisher is None:
            link = self.instance.link(self.trace, self._labels.next(), self.transport)
            self._publisher = self._met(
                TestPublisher(link, self.trace, PUBLISHER, SUBSCRIBER, namespace=self.namespace, timing=self.timing)
            )
        return self._publisher

    def stranger(self, ship: Ship = PUBLISHER) -> TestPublisher:
        """Return somebody who says to be a publisher, at an address from which the subscriber has heard nothing."""
        link = self.instance.strange_link(self.trace, self._labels.next(), self.publisher.link)
        return self._met(
            TestPublisher(link, self.trace, ship, SUBSCRIBER, namespace=self.namespace, timing=self.timing)
        )

    def _met(self, driver: D) -> D:
        driver.copies = COPIES if self.instance.loses else 1
        self.drivers.append(driver)
        return driver

    # --- time -------------------------------------------------------------------------------------------------

    @property
    def tempo(self) -> float:
        """Seconds of the protocol that pass in one of the clock."""
        return self.instance.tempo

    @property
    def slack(self) -> float:
        """Seconds of the protocol by which what is done in time may be seen early or late."""
        return (ROUNDING if self.timing.is_virtual else SLACK * self.tempo) + 2 * self.timing.round_trip * self.tempo

    def elapsed(self, since: float, until: float | None = None) -> float:
        """Return the seconds of the protocol between two times of the trace, or until now."""
        return ((self.trace.now() if until is None else until) - since) * self.tempo

    # --- what plays need ----------------------------------------------------------------------------------

    def shows(self, rule: str, reading: str, option: str) -> None:
        """Note which option of a reading the node was seen to follow; the profile decides what that means."""
        self.readings.append((rule, reading, option))

    @property
    def conversations(self) -> Iterator[Conversation]:
        """The conversations of all ships, as far as they were read."""
        return (driver.conversation for driver in self.drivers)

    @property
    def evidence(self) -> int:
        """How much the node said: packets that came."""
        return sum(len(driver.received()) for driver in self.drivers) + len(self.instance.events())

    def probe(self) -> None:
        """Make sure that a publisher still answers: it says of a session that there is none. Raises what goes wrong."""
        asking = self.subscriber()
        try:
            if asking.beat(unknown_session(), number=1) is None:
                raise NotAnswered("a heartbeat of a session that there is not is not answered")
        finally:
            asking.close()

    def measure(self) -> None:
        """Measure nothing beside how long answers take: nothing orders what is told unasked."""

    def close(self) -> None:
        """End all links."""
        # One that dials is started anew for the next play, and has nothing to take back.
        for driver in self.drivers:
            with suppress(HarnessError):
                driver.close()
