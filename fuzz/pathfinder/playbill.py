"""The playbill: which scenario a client plays that is fuzzed, for how long, and what shows that it does.

A client is told its scenario when it is started, and by nothing else (docs/pathfinder-client.md). A test says which one
it is for; the client is started anew only where it plays another, so that many tests meet the same one.
"""

from weakref import WeakKeyDictionary

import msgspec

from harness.errors import HarnessError
from harness.iuts.instance import Instance

FUZZED = 2
"""Servers whose sessions are those of tests."""

STAYING = FUZZED
"""The number of the server that does nothing wrong, and whose session stays."""

SERVERS = FUZZED + 1


class PlayedScenario(msgspec.Struct, frozen=True):
    """A scenario, and what a client does on a new connection that plays it: a command, so many times.

    Where it is played ``once`` by each client that is started, nothing shows of it on the connections after that.
    ``manner`` is that of the servers which are of most use to it.
    """

    name: str
    command: str = ""
    times: int = 0
    once: bool = False
    manner: str = ""

    @property
    def subscribes(self) -> bool:
        """Whether services are told that the application then hears of."""
        return self.command == "subscribe"


OBLIGING, GREETING, SILENT = "obliging", "greeting", "silent"
MANNERS = (OBLIGING, GREETING, SILENT)
"""Of servers: one answers all that is asked, one the hello alone, one nothing. What else is said, the test says."""

SCENARIOS = {
    each.name: each
    for each in (
        PlayedScenario("subscribe-all", "subscribe", 1, manner=OBLIGING),
        PlayedScenario("publish", "publish", 2, manner=GREETING),
        PlayedScenario("subscribe", "subscribe", 1, manner=GREETING),
        PlayedScenario("list", once=True, manner=GREETING),
        PlayedScenario("modify", once=True, manner=GREETING),
        PlayedScenario("unsubscribe", once=True, manner=GREETING),
        PlayedScenario("unpublish", once=True, manner=GREETING),
        PlayedScenario("idle", manner=OBLIGING),
    )
}
"""Those that are played here. Not those that leave by themselves, or are one of these in large."""

LONG, BRIEF = 600, 60
"""Tests that follow each other and are for one scenario: for the first of them, for the others."""


def scenario_of_test(number: int) -> PlayedScenario:
    """Return the scenario that a test is for: of one in two stretches it is the first, of which most can be told."""
    first, *others = SCENARIOS.values()
    stretch, place = divmod(number, LONG + BRIEF)
    return first if place < LONG else others[stretch % len(others)]


class Playbill:
    """What one client plays now."""

    def __init__(self, instance: Instance) -> None:
        offered = [each for each in SCENARIOS.values() if each.name not in instance.not_offered]
        self.first = offered[0] if offered else SCENARIOS["idle"]
        """What it plays where nobody says what."""
        self.playing: PlayedScenario | None = None
        self.starts = 0
        """How often it was started for another scenario."""

    def play(self, instance: Instance, name: str, transport: str) -> PlayedScenario:
        """Have the client play a scenario, with ``SERVERS`` servers; ``StartFailed`` when it does not come up."""
        wanted = SCENARIOS.get(name, self.first)
        if wanted.name in instance.not_offered:
            wanted = self.first
        if wanted is not self.playing or wanted.once:
            if self.playing is not None and not instance.alive():
                # Nobody would learn that it has died.
                raise HarnessError("it has died")
            self.playing = wanted
            self.starts += 1
            instance.begin(wanted.name, SERVERS, transport)
        return wanted


_bills: WeakKeyDictionary[Instance, Playbill] = WeakKeyDictionary()


def playbill_of(instance: Instance) -> Playbill:
    """Return the playbill of an instance."""
    if instance not in _bills:
        _bills[instance] = Playbill(instance)
    return _bills[instance]
