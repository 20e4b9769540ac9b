"""Histories with a publisher: sessions subscribe, stop, fall silent and come back, while its source does all it can."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from conformance.histories.drawing import Chooser
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.publisher_moves import (
    BeatsOn,
    Ends,
    FallsMute,
    Forges,
    Intrudes,
    Joins,
    Leaps,
    Leaves,
    Lists,
    Pauses,
    PublisherMove,
    Reclaims,
    Replays,
    Snaps,
    SourceActs,
    Starts,
    StartsWild,
    Stops,
    StopsWild,
)
from conformance.rai.histories.publisher_playing import LONGEST, WHO, PublisherPlay
from conformance.rai.telling import change, fields
from harness.errors import NotAnswered, Unsupported
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import GetSubs

NAMES = ("a.x", "a.y", "b.x", "b.y", "a.x.deep")
"""Subjects of a history: few enough that all has to do with each other."""

WILDCARDS = ("a.>", "*.x", "*.y", "a.*.deep", "b.>")

ALONE = "alone"
"""A subject that no wildcard of a history brings."""

FIELDS = ("BID", "ASK", "VOLUME")

DENIED = WHO["c"]

INTRUSIONS = ("unheard of", "answers no auth message", "a heartbeat of long ago", "a HELLO of long ago")
FORGERIES = ("another's key", "a used digest", "another digest")

ROWS = ("disturb", "block", "outage", "evict", "warm", *("hold", "switch", "dictionary", "rename"), "hold stale",
        "switch stale", "dictionary stale", "rename stale")  # fmt: skip
QUIET = ("silence", "expiry", "list", "beats", "down", "shared")
STRANGE = ("intrude", "forge", "replay", "leap")

THEMES = {
    "values": "start wild set snap stop row row row row row expire wait",
    "subscriptions": "start start start second wild wild stop stop set set snap snap shared replay leave join row",
    "times": "start set quiet quiet quiet wild stop wait snap",
    "sessions": "start start set stop leave join strange strange strange snap wild deny reclaim silence",
}
"""How often what happens in the histories of each theme."""

Made = PublisherMove | None


class PublisherMoveGenerator:
    """Draws moves, some of them in rows that belong together; which can be made, shows when they are played."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self._chooser = chooser
        self._theme = theme
        self._kinds = THEMES[theme].split()
        self._to_come = deque[PublisherMove]()
        self._number = 0
        self._started: list[tuple[str, str]] = []
        self._wild: list[tuple[str, str]] = []
        self._rows = chooser.dealt(ROWS)
        self._quiet = chooser.dealt(QUIET)
        self._strange = chooser.dealt((*((each, "") for each in STRANGE), *(("intrude", how) for how in INTRUSIONS)))

    def opening(self) -> Sequence[PublisherMove]:
        """Return what each history begins with: there are values, and who has subscribed them."""
        first, second, third = (self._name() for _ in range(3))
        values: list[PublisherMove] = [self._set(name) for name in dict.fromkeys((first, second, third))]
        return [
            *values,
            self._start("a", first),
            self._start("b", first),
            self._start("b", second),
            self._wildcard("c"),
        ]

    def move(self) -> PublisherMove | None:
        """Return the next move."""
        if self._to_come:
            return self._to_come.popleft()
        who, choice, name = self._who(), self._chooser.choice, self._name()
        make: dict[str, Callable[[], Made]] = {
            "start": lambda: self._start(who, name),
            "second": self._second,
            "stop": self._stop,
            "wild": lambda: choice((self._wildcard, self._wildcard, self._stop_wild))(who),
            "set": lambda: self._set(name),
            "snap": lambda: Snaps(who, name),
            "expire": lambda: SourceActs("expire", (name,)) if choice((False, False, True)) else None,
            "wait": lambda: Pauses(float(choice((1, 3, 12)))),
            "leave": lambda: self._row(iter([Leaves(who), self._set(name), Joins(who)])),
            "join": lambda: Joins(who),
            "silence": lambda: FallsMute(who) if choice((False, True)) else BeatsOn(who),
            "shared": lambda: self._row(self._shared(name)),
            "replay": lambda: self._row(self._replayed(who, name)),
            "deny": lambda: SourceActs("deny", more=DENIED) if choice((False, True)) else None,
            "reclaim": lambda: Reclaims("c", name),
            "row": lambda: self._row(self._disturbance(self._next(self._rows), name)),
            "quiet": lambda: self._row(self._silence(self._next(self._quiet), who, name)),
            "strange": lambda: self._row(self._strangeness(self._next(self._strange), who, name)),
        }
        return make[choice(self._kinds)]()

    def closing(self) -> Sequence[PublisherMove]:
        """Return what each history ends with: what is shown of everything, and who is told."""
        subjects: list[PublisherMove] = [*(Snaps("b", name) for name in NAMES), *(self._set(name) for name in NAMES)]
        waits = [Pauses(float(LONGEST))] if self._theme == "times" else []
        return [*self._to_come, SourceActs("release"), *subjects, *waits, Snaps("a", self._name()), Ends()]

    def _row(self, moves: Iterator[PublisherMove]) -> PublisherMove | None:
        self._to_come.extend(moves)
        return self._to_come.popleft() if self._to_come else None

    def _next(self, dealt: list[Any]) -> Any:
        dealt.append(dealt.pop(0))
        return dealt[-1]

    def _who(self) -> str:
        return self._chooser.choice(tuple(WHO))

    def _name(self) -> str:
        return self._chooser.choice(NAMES)

    # --- single moves ---------------------------------------------------------------------------------------

    def _fields(self, count: int) -> tuple[tuple[str, Any], ...]:
        self._number += 1
        first = self._chooser.randint(0, len(FIELDS) - 1)
        names = [FIELDS[(first + place) % len(FIELDS)] for place in range(count)]
        return tuple((name, self._number if name != "ASK" else f"ask {self._number}") for name in names)

    def _set(self, name: str, count: int = 0) -> SourceActs:
        return SourceActs("set", (name,), self._fields(count or self._chooser.choice((1, 1, 2, 3))))

    def _start(self, who: str, name: str, expires: int | None = None) -> Starts:
        choice = self._chooser.choice
        self._started.append((who, name))
        expires = choice((None, None, 25, 60, 600)) if expires is None else expires
        return Starts(
            who, name, choice((True, True, False)), choice((True, False)), expires, choice((False, False, True))
        )

    def _second(self) -> Starts | None:
        return self._start(*self._chooser.choice(self._started))

    def _stop(self) -> Stops:
        who, name = self._chooser.choice(self._started)
        if len(self._started) > 4:
            self._started.remove((who, name))
        return Stops(who, name, self._chooser.choice((True, False)))

    def _wildcard(self, who: str) -> StartsWild:
        wildcard = self._chooser.choice(WILDCARDS)
        self._wild.append((who, wildcard))
        return StartsWild(who, wildcard, self._chooser.choice((None, 60, 600)))

    def _stop_wild(self, who: str) -> StopsWild | None:
        if not self._wild:
            return None
        return StopsWild(*self._wild.pop(self._chooser.randint(0, len(self._wild) - 1)))

    # --- rows -----------------------------------------------------------------------------------------------

    def _warm(self, name: str) -> Iterator[PublisherMove]:
        zeroed = tuple((field, 0) for field in FIELDS)
        yield from (SourceActs("warm", (name,), zeroed), Starts("a", name, True, True), Starts("b", name, False, True))
        yield from (Starts("a", name, False, True), self._set(name, len(FIELDS)), Snaps("b", name))

    def _shared(self, name: str) -> Iterator[PublisherMove]:
        """Yield a subject that two have, by name and by a wildcard, and that both leave."""
        one, two = self._chooser.choice((("a", "b"), ("b", "a"), ("a", "d"), ("d", "c")))
        yield from (self._start(one, name), self._start(two, name), Stops(one, name, True), self._set(name))
        yield from (StartsWild(one, "a.>"), Stops(two, name, True), self._set(name), StopsWild(one, "a.>"))
        yield from (self._start(one, name), Stops(one, name))

    def _replayed(self, who: str, name: str) -> Iterator[PublisherMove]:
        yield from (self._start(who, name), Stops(who, name, True), Replays(who, name, "start"), self._set(name))
        yield from (self._start(who, name), Replays(who, name), self._set(name), Stops(who, name))

    def _disturbance(self, kind: str, name: str) -> Iterator[PublisherMove]:
        """Yield something that the source does, with what shows that it was done."""
        who, other = self._who(), self._chooser.choice([each for each in NAMES if each != name])
        whole = SourceActs("restore", (name,), self._fields(self._chooser.choice((1, 2))))
        hold, release, switch = SourceActs("hold"), SourceActs("release"), SourceActs("switch")
        snap, other_snap = Snaps(who, name), Snaps(who, other)
        kind, _, stale = kind.partition(" ")
        is_stale = [SourceActs("stale", (name,))] if stale else []
        shown, other_shown = Starts(who, name, True, True), Starts("b", other, True, True)
        rows: dict[str, list[PublisherMove]] = {
            "warm": [SourceActs("evict", (name,)), *self._warm(name)],
            "disturb": [SourceActs("stale", (name,)), self._set(name, 3), snap, shown, whole, snap],
            "hold": [*is_stale, hold, *self._sets(name, 2), self._set(other), snap, release, snap, self._set(name),
                     hold, release, snap],
            "switch": [*is_stale, switch, Pauses(1.0), switch, snap, Pauses(15.0), self._set(name), switch],
            "block": [SourceActs("block", (name,)), SourceActs("block", (other,)), snap, shown,
                      SourceActs("unblock", (name,)), other_snap, snap, SourceActs("unblock", (other,)), other_snap],
            "dictionary": [*is_stale, *self._dictionaries(snap)],
            "outage": [SourceActs("down"), snap, self._set(other), other_snap, other_shown, SourceActs("up"), snap,
                       other_snap],
            "rename": [*is_stale, SourceActs("rename", (name, other)), other_snap, snap, self._set(name), other_snap,
                       snap, self._set(other), snap],
            "evict": [self._set(name, 3), SourceActs("evict", (name,)), snap, self._set(name, 1), snap],
        }  # fmt: skip
        yield from (self._set(name), self._start(who, name))
        if kind == "rename":
            # What stands there already would be in the way.
            yield SourceActs("evict", (other,))
        yield from rows[kind]

    def _sets(self, name: str, count: int) -> list[PublisherMove]:
        return [self._set(name) for _ in range(count)]

    def _dictionaries(self, snap: Snaps) -> Iterator[PublisherMove]:
        name = self._chooser.choice(("fields", "other"))
        for each in ("fields", name):
            yield SourceActs("dictionary", fields=self._fields(1), more=each)
            yield snap

    def _silence(self, kind: str, who: str, name: str) -> Iterator[PublisherMove]:
        """Yield a minute or two in which something is not heard."""
        first, second = self._chooser.choice((("a", "b"), ("b", "d"), ("d", "a")))
        name = self._chooser.choice((name, ALONE))
        other = self._chooser.choice([each for each in NAMES if each != name])
        back: list[PublisherMove] = [BeatsOn(first), self._set(name), Snaps(first, name)]
        rows: dict[str, list[PublisherMove]] = {
            "silence": [self._start(first, name, 60), FallsMute(first), Pauses(30.0), self._set(name), *back],
            "expiry": [self._start(first, name, 25), self._start(first, other, 600), FallsMute(first), Pauses(50.0),
                       self._set(other), *back],
            "list": [self._start(first, name, 60), Pauses(5.0), Lists(first), self._set(name), Pauses(12.0),
                     self._start(first, other, 600), Lists(first, newest=True), self._set(name), self._set(other)],
            "beats": [self._start(first, name, 40), FallsMute(first), Pauses(22.0), *back, Pauses(35.0), Pauses(35.0),
                      self._set(name)],
            "down": [SourceActs("down"), Pauses(35.0), self._start(first, name, 60), SourceActs("up"), self._set(name)],
            "shared": [self._start(first, name, 25), self._start(second, name, 25), FallsMute(first), Pauses(50.0),
                       self._set(name), *back, Stops(second, name, True)],
        }  # fmt: skip
        yield self._set(name)
        yield from rows[kind]

    def _strangeness(self, what: tuple[str, str], who: str, name: str) -> Iterator[PublisherMove]:
        """Yield what must come to nothing, with what would show it."""
        kind, how = what
        yield from (self._set(name), self._start(who, name))
        match kind:
            case "intrude":
                yield Intrudes(how or self._chooser.choice(INTRUSIONS), name)
            case "forge":
                for each in FORGERIES:
                    yield from (Forges(who, name, each), Snaps(who, name))
            case "replay":
                yield from self._replayed(who, name)
            case "leap":
                yield Leaps(who)
        yield from (self._set(name), Stops(who, name, True))


class PublisherHistories:
    """What Rai brings to histories of publishers."""

    tried: frozenset[str] = frozenset()

    def generator(self, chooser: Chooser, theme: str) -> PublisherMoveGenerator:
        """Return a generator of histories about a theme."""
        return PublisherMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return why no history can be played with a publisher, if that is so; what it lacks, basic cases tell."""
        with node.scene() as scene:
            try:
                return _abilities(scene)
            except (Unsupported, NotAnswered) as error:
                return Abilities(blocked=str(error))

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[PublisherPlay]:
        """Begin to play."""
        with node.scene() as scene:
            yield PublisherPlay(scene, can)

    def simpler(self, move: PublisherMove) -> Sequence[PublisherMove]:
        """Return a move with less in it."""
        match move:
            case SourceActs(fields=given) if len(given) > 1:
                return (replace(move, fields=given[:1]), replace(move, fields=given[1:]))
            case Starts() if move.expires is not None or move.long:
                return (replace(move, expires=None, long=False), replace(move, long=False))
            case Pauses(seconds=seconds) if seconds > 15:
                return (Pauses(seconds / 2),)
            case _:
                return ()


PUBLISHER_HISTORIES = PublisherHistories()


def _abilities(node: NodeUnderTest) -> Abilities:
    main, lacks = node.main, set[str]()
    subject = node.set("ability", BID=1)
    if main.snapshot(subject) is None:
        return Abilities(blocked="no request for a snapshot is answered")
    if main.subscribe(subject) is None:
        return Abilities(blocked="no start is acked")
    if not change(node, "ability", BID=2):
        return Abilities(blocked="no update is published")
    main.start_wild("LAB.wild.>")
    if main.snapshot(subject) is None or not change(node, "wild.ability", BID=1):
        lacks.add("wildcards")
    try:
        since = node.broker.place
        node.command("switch")
        notice = main.told(subject, lambda body: body.kind == "recap", since=since)
        if notice is None or fields(notice) != {"BID": 2}:
            lacks.add("recaps")
    except Unsupported:
        lacks.add("recaps")
    main.beats = False
    main.beat()
    asked = node.broker.wait_for(lambda event: event.form is GetSubs, seconds=node.timing.within(LONGEST))
    if asked is None:
        lacks.add("questions")
    return Abilities(lacks=frozenset(lacks))
