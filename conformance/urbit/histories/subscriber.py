"""Histories with a subscriber: its application changes its mind, and its publisher tells, dies, and is silent."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conformance.histories.drawing import Chooser
from conformance.urbit.histories.abilities import UNCERTAIN, Abilities
from conformance.urbit.histories.moves import (
    Drops,
    FallsSilent,
    Nacks,
    Promises,
    SubscriberMove,
    Tells,
    Waits,
    Wants,
)
from conformance.urbit.histories.subscriber_playing import SubscriberPlay
from harness.errors import HarnessError
from harness.urbit.tester.node_under_test import NodeUnderTest

NAMES = tuple(f"path/{letter}" for letter in "abcdefgh")

THEMES = {
    "values": "want want want tell tell again drop forge promise wait",
    "nacks": "want want nack tell drop wait silent speak strange promise",
}
"""How often what happens in the histories of each theme."""


class SubscriberMoveGenerator:
    """Draws moves; which of them can be made, shows when they are played."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self._chooser = chooser
        self._kinds = THEMES[theme].split()

    def opening(self) -> Sequence[SubscriberMove]:
        """Return what each history begins with: something is promised."""
        return [Wants((NAMES[0], NAMES[1]))]

    def move(self) -> SubscriberMove | None:
        """Return the next move."""
        choice = self._chooser.choice
        make: dict[str, Callable[[], SubscriberMove]] = {
            "want": lambda: Wants(tuple(dict.fromkeys(choice(NAMES) for _ in range(choice((1, 1, 2, 4)))))),
            "tell": lambda: Tells(choice(NAMES)),
            "again": lambda: Tells(choice(NAMES), times=choice((2, 3))),
            "drop": lambda: Drops(choice(NAMES)),
            "forge": lambda: Tells(choice(NAMES), forged=True),
            "promise": lambda: Promises(choice(NAMES), forged=choice((True, False))),
            "nack": Nacks,
            "strange": lambda: Nacks(strange=True),
            "silent": lambda: FallsSilent(silent=True),
            "speak": lambda: FallsSilent(silent=False),
            "wait": lambda: Waits(float(choice((10, 26, 26, 80)))),
        }
        return make[choice(self._kinds)]()

    def closing(self) -> Sequence[SubscriberMove]:
        """Return what each history ends with: what is left is told."""
        return [Waits(30.0), *(Tells(name) for name in NAMES[:3])]


class SubscriberHistories:
    """What Urbit brings to histories of subscribers."""

    tried: frozenset[str] = frozenset()

    def generator(self, chooser: Chooser, theme: str) -> SubscriberMoveGenerator:
        """Return a generator of histories about a theme."""
        return SubscriberMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return why no history can be played with a subscriber, if that is so; what it lacks, basic cases tell."""
        if node.instance.loses or node.instance.repeats:
            return UNCERTAIN
        with node.scene() as scene:
            try:
                scene.want("ability")
                publisher = scene.publisher
                for done, what in (
                    (publisher.requested("ability") is not None, "nothing that is wanted is asked for"),
                    (
                        publisher.beat_of(seconds=node.timing.within(2 * 25.0)) is not None,
                        "no heartbeat comes of what is promised",
                    ),
                ):
                    if not done:
                        return Abilities(blocked=what)
                publisher.tell("ability")
                if publisher.cancelled("ability") is None:
                    return Abilities(blocked="nothing that has come is cancelled")
            except HarnessError as error:
                return Abilities(blocked=str(error))
        return Abilities()

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[SubscriberPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield SubscriberPlay(scene)

    def simpler(self, move: SubscriberMove) -> Sequence[SubscriberMove]:
        """Return a move with less in it."""
        match move:
            case Wants(names=names) if len(names) > 1:
                return tuple(Wants((name,)) for name in names)
            case Tells(name=name, times=times) if times > 1:
                return (Tells(name),)
            case _:
                return ()


SUBSCRIBER_HISTORIES = SubscriberHistories()
