"""Histories with a router-cache: several subscribe by name and by wildcard what its source changes, loses and ends."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.histories.drawing import Chooser
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.router_moves import (
    Begins,
    BeginsWild,
    Changes,
    Disturbs,
    Finishes,
    LooksAt,
    Quits,
    QuitsWild,
    Restores,
    Rests,
    RouterMove,
)
from conformance.rai.histories.router_playing import SUBSCRIBERS, RouterPlay
from harness.errors import HarnessError
from harness.rai.tester.node_under_test import NodeUnderTest

NAMES = ("a", "w.a", "w.x.a", "w.x.b", "v.a")
WILDCARDS = ("w.>", "w.x.>", "*.a")

THEMES = {
    "routes": "begin leave leave wild wild wild endwild endwild endwild change change change look pause",
    "caches": "begin begin leave wild endwild change change look look disturb restore finish",
}
"""How often what happens in the histories of each theme."""


class RouterMoveGenerator:
    """Draws moves; which of them can be made, shows when they are played."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self._chooser = chooser
        self._kinds = THEMES[theme].split()

    def opening(self) -> Sequence[RouterMove]:
        """Return what each history begins with: there are values, and some are subscribed."""
        return [*(Changes(name) for name in NAMES[:3]), Begins(0, NAMES[0]), BeginsWild(1, WILDCARDS[0])]

    def move(self) -> RouterMove | None:
        """Return the next move."""
        choice, who = self._chooser.choice, self._chooser.choice(range(SUBSCRIBERS))
        make: dict[str, Callable[[], RouterMove]] = {
            "begin": lambda: Begins(who, choice(NAMES), choice((True, True, False))),
            "leave": lambda: Quits(who, choice(NAMES)),
            "wild": lambda: BeginsWild(who, choice(WILDCARDS)),
            "endwild": lambda: QuitsWild(who, choice(WILDCARDS)),
            "change": lambda: Changes(choice(NAMES)),
            "look": lambda: LooksAt(who, choice(NAMES)),
            "disturb": lambda: Disturbs(choice(NAMES), choice((True, False))),
            "restore": lambda: Restores(choice(NAMES)),
            "finish": lambda: Finishes(choice(NAMES)),
            "pause": lambda: Rests(float(choice((1, 5, 12)))),
        }
        return make[choice(self._kinds)]()

    def closing(self) -> Sequence[RouterMove]:
        """Return what each history ends with: all is changed, and looked at."""
        return [*(Changes(name) for name in NAMES), *(LooksAt(2, name) for name in NAMES)]


class RouterHistories:
    """What Rai brings to histories of router-caches."""

    tried: frozenset[str] = frozenset()

    def generator(self, chooser: Chooser, theme: str) -> RouterMoveGenerator:
        """Return a generator of histories about a theme."""
        return RouterMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return why no history can be played with a router-cache, if that is so; what it lacks, basic cases tell."""
        with node.scene() as scene:
            try:
                subject = scene.given("ability", BID=1)
                if scene.main.image(subject) is None:
                    return Abilities(blocked="no image is shown")
                since = scene.broker.place
                scene.publisher.update(subject, BID=2)
                if scene.main.told(subject, since=since) is None:
                    return Abilities(blocked="no update is passed on")
            except HarnessError as error:
                return Abilities(blocked=str(error))
        return Abilities()

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[RouterPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield RouterPlay(scene)

    def simpler(self, move: RouterMove) -> Sequence[RouterMove]:
        """Return a move with less in it."""
        match move:
            case Begins(who=who, name=name, with_image=False):
                return (Begins(who, name),)
            case Disturbs(name=name, with_data=True):
                return (Disturbs(name),)
            case _:
                return ()


ROUTER_HISTORIES = RouterHistories()
