"""What is played: each line of the table in docs/histories.md happens in the kinds that it names, in every run."""

import re
from collections.abc import Hashable, Iterator
from functools import cache
from pathlib import Path

import pytest

from conformance.cases import SEEDS
from conformance.histories.drawing import generate
from conformance.histories.history import LENGTH
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.suite import Suite
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    Queries,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.client import CLIENT
from conformance.zenoh.histories.client_drawing import COMMANDS
from conformance.zenoh.histories.drawing import DISTANCES, LIKE_THE_OTHERS, TARGETS, TWINS
from conformance.zenoh.histories.moves import Move, Sends, Unspecified
from conformance.zenoh.histories.router import ROUTER
from conformance.zenoh.stimuli import UNKNOWN_EXTENSIONS
from wire.zenoh.keys import intersects
from wire.zenoh.values import EntityKind, Mode, WireExpr

PAGE = Path(__file__).parents[4] / "docs" / "histories.md"
TOP = 2**32 - 1
LONG = 127
S, Q, T = EntityKind
ONCE, LATER = "at once", "later"
AGAIN = {ONCE, LATER}
TWO_NODES = ("node", "router")

LINES: dict[str, set[Hashable]] = {
    "several messages in one batch, declarations before and behind undeclarations": {
        ("batch", Declares, Undeclares),
        ("batch", Undeclares, Declares),
    },
    "messages in fragments of one byte, of seven and of forty": {("fragments", size) for size in (1, 7, 40)},
    "more messages in one answer than a node would count": {"crowd"},
    "several sessions send at once": {"together"},
    "the same key declared by several sessions": {"shared"},
    "one of several on a key withdrawn by word": {"shared and withdrawn"},
    "one of several on a key withdrawn by the end of a session": {"shared and left"},
    "sessions that end and others that open, with CLOSE and without": {"opens", ("ends", "close"), ("ends", "drop")},
    "ids of entities used again, at once and later": {("again", Declares, when) for when in AGAIN},
    "ids of interests used again, at once and later": {("again", SendsInterest, when) for when in AGAIN},
    "numbers of keys used again, at once and later": {("again", DeclaresAlias, when) for when in AGAIN},
    "entities and interests at the ends of the range of ids": {
        *(("id", Declares, id) for id in (1, TOP)),
        *(("id", SendsInterest, id) for id in (0, TOP)),
    },
    "numbers of keys that continue other keys with numbers": {"continued"},
    "ids that agree in their last bits": {("id", each, id) for each in (Declares, SendsInterest) for id in (1, *TWINS)},
    "numbers of keys that the other side uses too": {("id", DeclaresAlias, id) for id in LIKE_THE_OTHERS},
    "ids of queryables used again on the same key with other metadata": {"other metadata"},
    "numbers released through which an interest asks": {"released below an interest"},
    "numbers of keys at both ends of their range": {("id", DeclaresAlias, id) for id in (1, 65535)},
    "distances at both ends of their range": {("distance", DISTANCES[0]), ("distance", DISTANCES[-1])},
    "interests of every mode": {("mode", mode) for mode in (Mode.CURRENT, Mode.FUTURE, Mode.CURRENT_FUTURE)},
    "interests in every set of kinds, in none but key expressions too": {
        ("kinds", frozenset(kinds)) for kinds in ((), (S,), (Q,), (T,), (S, Q), (S, T), (Q, T), (S, Q, T))
    },
    "interests with A, with K and with both, with a key and without": {
        *(("flags", *flags) for flags in ((True, False), (False, True), (True, True))),
        *(("key", has) for has in (True, False)),
    },
    "interests that overlap": {"overlap"},
    "interests ended and asked again": {"asked again"},
    "declared keys with wildcards": {"wild"},
    "long keys": {"long"},
    "keys that match, and keys that just do not": {"match", "miss"},
    "every spelling of a key: in full, by the sender's number with and without a suffix, by the receiver's": {
        ("spelled", way) for way in ("in full", "number", "number and suffix", "receiver's")
    },
    "known and unknown extensions of messages, two at once too": {("extensions", n) for n in ("known", "unknown", 2)},
    "unknown extensions in bodies, before and behind the known ones": {("inner", True), ("inner", False)},
    "declarations that are repeated": {"repeated"},
    "data and queries, for all and for complete queryables": {Publishes, *(("target", each) for each in TARGETS)},
    "what nobody has to understand": {Unspecified},
    "a client asks and ends": {("node", SendsInterest), ("node", EndsInterest)},
    "a client gives numbers to keys, and takes them back": {("node", DeclaresAlias), ("node", ReleasesAlias)},
    "a client's router declares and undeclares what the client asks for": {
        ("router", Declares),
        ("router", Undeclares),
    },
}
"""What has to be among the happenings, for each line of the table."""


class Course:
    """A history in its course: who has what, and what happens because of that."""

    def __init__(self) -> None:
        self.keys: dict[str, dict[Hashable, str]] = {}
        """What each session has declared: keys by kind and id, and by number."""
        self.asked: dict[str, dict[int, SendsInterest]] = {}
        self.ended: dict[Hashable, int] = {}
        """In which move an id was used last."""
        self.metadata: dict[Hashable, tuple[bool, int] | None] = {}
        """What a queryable of each id on each key was first declared with."""
        self.step = 0

    def happenings(self, moves: tuple[Move, ...]) -> Iterator[Hashable]:
        """Yield what happens."""
        for self.step, move in enumerate(moves):
            match move:
                case SessionOpens():
                    yield "opens" if self.step > len(self.keys) else "begins"
                case SessionEnds(who, verb):
                    yield "ends", verb
                    if any(self.others_with(who, what) for what in self.keys.pop(who, {}).items()):
                        yield "shared and left"
                    self.asked.pop(who, None)
                case Together(sends):
                    yield "together"
                    for each in sends:
                        yield from self.sent(each)
                case Sends():
                    yield from self.sent(move)
                case Unspecified():
                    yield Unspecified

    def sent(self, move: Sends) -> Iterator[Hashable]:
        """Yield what happens when somebody sends something."""
        if move.fragments:
            yield "fragments", move.fragments
        if len(move.actions) > 100:
            yield "crowd"
        for place, action in enumerate(move.actions):
            yield from (("batch", type(before), type(action)) for before in move.actions[:place] if not move.fragments)
            yield type(action)
            yield move.who, type(action)
            yield from decorations(action)
            yield from self.done(move.who, action)

    def done(self, who: str, action: Action) -> Iterator[Hashable]:
        """Yield what one message brings about."""
        keys, asked = self.keys.setdefault(who, {}), self.asked.setdefault(who, {})
        number = getattr(action, "id", None)
        match action:
            case Declares(kind=kind, key=key):
                yield from self.used(who, action, (kind, number))
                if (kind, number) in keys:
                    yield "repeated"
                keys[kind, number] = full = self.full(who, key)
                yield from ["shared"] * bool(self.others_with(who, ((kind, number), full)))
                yield from ["wild"] * ("*" in full) + ["long"] * (len(full) > LONG)
                wanted = [each.key for asks in self.asked.values() for each in asks.values() if each.key is not None]
                yield from ("match" if intersects(self.full(who, one), full) else "miss" for one in wanted)
                yield "distance", action.info[1] if action.info else None
                if self.metadata.setdefault((who, kind, number, full), action.info) != action.info:
                    yield "other metadata"
            case Undeclares(kind=kind):
                self.ended[who, Declares, (kind, number)] = self.step
                if self.others_with(who, ((kind, number), keys.pop((kind, number), "?"))):
                    yield "shared and withdrawn"
            case DeclaresAlias():
                yield from self.used(who, action, number)
                yield from ["continued"] * bool(action.key.scope and action.key.suffix)
                keys[number] = self.full(who, action.key)
            case ReleasesAlias():
                self.ended[who, DeclaresAlias, number] = self.step
                through = [each.key.scope for each in asked.values() if each.key is not None and each.key.sender]
                yield from ["released below an interest"] * (number in through)
                keys.pop(number, None)
            case SendsInterest(mode=mode, kinds=kinds, key=key):
                yield from self.used(who, action, number)
                yield from (("mode", mode), ("kinds", kinds), ("key", key is not None))
                yield "flags", action.aggregate, action.keyexprs
                yield from ["overlap"] * any(each.kinds & kinds for each in asked.values())
                if mode is not Mode.CURRENT:
                    asked[action.id] = action
            case EndsInterest():
                self.ended[who, SendsInterest, number] = self.step
                asked.pop(action.id, None)
            case Queries(target=target):
                yield "target", target

    def used(self, who: str, action: Action, number: Hashable) -> Iterator[Hashable]:
        """Yield what the use of an id is."""
        yield "id", type(action), number[1] if isinstance(number, tuple) else number
        ended = self.ended.get((who, type(action), number))
        if ended is not None:
            yield "again", type(action), ONCE if ended == self.step else LATER
            yield from ["asked again"] * isinstance(action, SendsInterest)

    def others_with(self, who: str, what: tuple[Hashable, str]) -> bool:
        """Tell whether another session has an entity of the kind on the key."""
        named, key = what
        others = [each for other, held in self.keys.items() if other != who for each in held.items()]
        return isinstance(named, tuple) and any(
            isinstance(n, tuple) and n[0] == named[0] and k == key for n, k in others
        )

    def full(self, who: str, key: WireExpr) -> str:
        """Return what a key stands for."""
        return f"{self.keys.get(who, {}).get(key.scope, '')}{key.suffix or ''}"


def decorations(action: Action) -> Iterator[Hashable]:
    """Yield how a message is spelled."""
    key = getattr(action, "key", None)
    if isinstance(key, WireExpr):
        by_number = "number and suffix" if key.suffix else "number"
        yield "spelled", by_number if key.scope else "in full" if key.sender else "receiver's"
    extensions, inner = getattr(action, "extensions", ()), getattr(action, "inner", ())
    yield from (("extensions", "unknown" if each in UNKNOWN_EXTENSIONS else "known") for each in extensions)
    yield "extensions", len(extensions)
    if inner and (getattr(action, "info", None) is not None or isinstance(action, Undeclares)):
        yield "inner", getattr(action, "first", False)


@cache
def happenings(theme: str) -> frozenset[Hashable]:
    """Return what happens in the histories that every run plays of a kind."""
    brings = CLIENT if theme in COMMANDS else ROUTER
    played = [generate(brings.generator, theme, seed, LENGTH) for seed in range(1, SEEDS + 1)]
    return frozenset(each for moves in played for each in Course().happenings(moves))


def table() -> list[tuple[str, str]]:
    """Return the lines of the page's table, each with one of the kinds that it names."""
    rows = re.findall(r"^\| (.+?) \| (`[^|]+`) \|$", PAGE.read_text().partition("### What is played")[2], re.MULTILINE)
    return [(line, kind) for line, kinds in rows for kind in re.findall(r"`(\w+)`", kinds) if not line.startswith("`")]


def test_the_table_has_all_that_is_looked_up_and_nothing_else() -> None:
    assert {line for line, _ in table()} == LINES.keys()
    named = {case.name.partition("[")[0] for case in Suite("zenoh").cases if case.marks.is_history}
    assert {f"test_histories.test_{kind}" for _, kind in table()} <= named


@pytest.mark.parametrize("line", LINES)
def test_it_happens_in_every_run(line: str) -> None:
    for kind in [kind for named, kind in table() if named == line]:
        assert LINES[line] <= happenings(kind), f"not in {kind}: {LINES[line] - happenings(kind)}"
