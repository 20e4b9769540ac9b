"""Histories with a publisher: several subscribers ask, cancel, send heartbeats and die, while values appear."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from conformance.histories.drawing import Chooser
from conformance.urbit.histories.abilities import UNCERTAIN, Abilities
from conformance.urbit.histories.moves import (
    Beats,
    BeatsAgain,
    Borrows,
    Cancels,
    Grows,
    PublisherMove,
    Readdresses,
    Requests,
    Waits,
)
from conformance.urbit.histories.publisher_playing import WHO, PublisherPlay
from harness.errors import Unsupported
from harness.urbit.tester.node_under_test import NodeUnderTest

NAMES = tuple(f"path/{letter}" for letter in "abcdefgh")
"""Paths of a history: few enough that subscribers ask for the same."""

FORGERIES = ("the request's", "another ship's", "flipped")

THEMES = {
    "promises": "request request request cancel cancel forge grow grow beat fragments idle",
    "sessions": "request request beat wait grow cancel silence silence idle second",
    "addresses": "request request beat beat readdress again again borrow grow wait silence",
}
"""How often what happens in the histories of each theme."""

HALF = 40.0
"""Seconds: twice as many without a heartbeat end a session, once does not."""


class PublisherMoveGenerator:
    """Draws moves, some of them in rows that belong together; which can be made, shows when they are played."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self._chooser = chooser
        self._kinds = THEMES[theme].split()
        self._left = list(NAMES)
        self._asked: dict[str, dict[str, None]] = {who: {} for who in WHO}
        self._to_come = deque[PublisherMove]()
        self._signs = chooser.dealt(("request", "cancel", "again", "zero", "borrow"))

    def opening(self) -> Sequence[PublisherMove]:
        """Return what each history begins with: two have a session."""
        shared, other = self._name(), self._name()
        return [self._request("a", (shared,)), self._request("b", (shared, other)), Beats("a"), Beats("b")]

    def move(self) -> PublisherMove | None:
        """Return the next move."""
        if self._to_come:
            return self._to_come.popleft()
        who, choice = self._chooser.choice(WHO), self._chooser.choice
        make: dict[str, Callable[[], PublisherMove | None]] = {
            "request": lambda: self._request(who, tuple(self._name() for _ in range(choice((1, 1, 2, 5))))),
            "cancel": lambda: Cancels(who, (self._name(),), fragment=choice((1, 1, 1, 2))),
            "forge": lambda: Cancels(who, (self._name(),), forged=choice(FORGERIES)),
            "beat": lambda: Beats(who, choice((1, 1, 1, 2, 1000))),
            "again": lambda: BeatsAgain(who, zero=choice((False, False, True))),
            "borrow": lambda: Borrows(self._other(who), who),
            "readdress": lambda: Readdresses(who),
            "grow": self._grow,
            "wait": lambda: Waits(float(choice((5, 20, 25, 35)))),
            "silence": lambda: self._row(*self._silence(who)),
            "second": lambda: self._row(*self._second(who)),
            "fragments": lambda: self._row(*self._fragments(who)),
            # All that it may be waiting for: the session is to live on.
            "idle": lambda: self._row(Cancels(who, tuple(self._asked[who])), Beats(who)) if self._asked[who] else None,
        }
        return make[choice(self._kinds)]()

    def closing(self) -> Sequence[PublisherMove]:
        """Return what each history ends with: what is promised shows, and who lives."""
        return [*self._to_come, *(Grows(name) for name in self._left[:3]), *(Beats(who) for who in WHO), Waits(10.0)]

    def _row(self, first: PublisherMove, *others: PublisherMove) -> PublisherMove:
        self._to_come.extend(others)
        return first

    def _silence(self, who: str) -> Iterator[PublisherMove]:
        """Yield a minute without heartbeats, in the middle of which something else is heard of a subscriber."""
        sign = self._signs[0]
        self._signs.append(self._signs.pop(0))
        signs: dict[str, PublisherMove] = {
            "request": self._request(who, (self._name(),)),
            "cancel": Cancels(who, (self._name(),)),
            "again": BeatsAgain(who),
            "zero": BeatsAgain(who, zero=True),
            "borrow": Borrows(self._other(who), who),
        }
        yield from (self._request(who, (self._name(),)), Beats(who), Waits(HALF), signs[sign], Waits(HALF), Beats(who))

    def _second(self, who: str) -> Iterator[PublisherMove]:
        """Yield the end of a session, and another one that lives on for more than a minute."""
        yield from (Beats(who), Waits(2 * HALF), Beats(who), self._request(who, (self._name(),)), Beats(who))
        for _ in range(2):
            yield from (Waits(35.0), Beats(who))

    def _fragments(self, who: str) -> Iterator[PublisherMove]:
        """Yield an interest in several fragments of a path, one of which is cancelled before they are there."""
        name, further = self._name(), self._chooser.choice((2, 3, 0xFFFF_FFFF))
        gone = self._chooser.choice((1, further))
        yield from (self._request(who, (name,)), Requests(who, (name,), further), Cancels(who, (name,), gone))
        if name in self._left:
            self._left.remove(name)
            yield Grows(name, 3)

    def _request(self, who: str, names: tuple[str, ...]) -> Requests:
        self._asked[who] |= dict.fromkeys(names)
        return Requests(who, names)

    def _other(self, who: str) -> str:
        return self._chooser.choice([each for each in WHO if each != who])

    def _name(self) -> str:
        return self._chooser.choice(NAMES)

    def _grow(self) -> PublisherMove | None:
        if not self._left:
            return None
        name = self._chooser.choice(self._left)
        self._left.remove(name)
        return Grows(name, self._chooser.choice((1, 1, 2, 3)))


class PublisherHistories:
    """What Urbit brings to histories of publishers."""

    tried: frozenset[str] = frozenset()

    def generator(self, chooser: Chooser, theme: str) -> PublisherMoveGenerator:
        """Return a generator of histories about a theme."""
        return PublisherMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return why no history can be played with a publisher, if that is so; what it lacks, basic cases tell."""
        if node.instance.loses or node.instance.repeats:
            return UNCERTAIN
        with node.scene() as scene:
            try:
                scene.grow("ability")
            except Unsupported as error:
                return Abilities(blocked=str(error))
            if scene.main.request("ability") is None:
                return Abilities(blocked="no request is answered")
            answer = scene.main.request("ability/none")
            if answer is None:
                return Abilities(blocked="no request for a path without a value is promised")
            before = scene.main.session
            moved = scene.elsewhere(scene.main)
            moved.request("ability/elsewhere")
            return Abilities(knows_addresses=moved.session != before)

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[PublisherPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield PublisherPlay(scene, can)

    def simpler(self, move: PublisherMove) -> Sequence[PublisherMove]:
        """Return a move with less in it."""
        match move:
            case Requests(names=names) | Cancels(names=names) if len(names) > 1:
                return tuple(msgspec.structs.replace(move, names=(name,)) for name in names)
            case Beats(step=step) if step > 1:
                return (Beats(move.who),)
            case Grows(fragments=fragments) if fragments > 1:
                return (Grows(move.name),)
            case _:
                return ()


PUBLISHER_HISTORIES = PublisherHistories()
