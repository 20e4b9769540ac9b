"""Moves: what a test does in one step, as values that a file keeps and a person reads.

What is said is kept as bytes, so that a test says the same whoever plays it. How a message stands in what goes over the
link (numbers, signatures, the header of a batch) is its session's matter, and made anew each time.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

Level = Literal["message", "frame", "raw"]
"""Where bytes enter: as a message that the session wraps, as a frame on its link, or as bytes of the stream."""

EndVerb = Literal["close", "drop", "abort"]
"""How a session ends: it says so, its link is cut, or its link is reset."""


class Opens(msgspec.Struct, frozen=True, tag="opens"):
    """A session is opened; ``how`` is one of the ways that the protocol knows, the first where it is empty."""

    who: str
    how: str = ""


class Says(msgspec.Struct, frozen=True, tag="says"):
    """A session says something, all of it at once; in pieces of ``cut`` bytes, where that is more than 0."""

    who: str
    data: tuple[bytes, ...]
    level: Level = "message"
    cut: int = 0


class Listens(msgspec.Struct, frozen=True, tag="listens"):
    """Nothing more is done before a session has been answered what it has said so far, or has ended."""

    who: str


class WaitsAWhile(msgspec.Struct, frozen=True, tag="pauses"):
    """So many seconds pass."""

    seconds: float


class EndsSession(msgspec.Struct, frozen=True, tag="ends"):
    """A session ends."""

    who: str
    verb: EndVerb = "close"


class GivesCommand(msgspec.Struct, frozen=True, tag="commands"):
    """The implementation is told to act, by a control line."""

    verb: str
    arguments: tuple[str, ...] = ()


FuzzMove = Opens | Says | Listens | WaitsAWhile | EndsSession | GivesCommand

NetworkTest = tuple[FuzzMove, ...]
"""A test: moves of one session or of several, one after the other."""


def sessions_of(test: NetworkTest) -> list[str]:
    """Return the sessions that a test opens, in order."""
    return [move.who for move in test if isinstance(move, Opens)]


def spelled_out(test: NetworkTest) -> NetworkTest:
    """Return a test that is played just so, in which each session is opened before it does anything.

    What a session would do that nobody has opened is left out, as nobody does it; and one that is opened while it is
    still there is said to be cut off first, as it is.
    """
    moves: list[FuzzMove] = []
    opened, there = set[str](), set[str]()
    for move in test:
        match move:
            case Opens(who):
                if who in there:
                    moves.append(EndsSession(who, "drop"))
                opened.add(who)
                there.add(who)
            case EndsSession(who):
                there.discard(who)
        if not isinstance(move, Says | Listens | EndsSession) or move.who in opened:
            moves.append(move)
    return tuple(moves)


def renamed(test: NetworkTest, names: dict[str, str]) -> NetworkTest:
    """Return a test whose sessions have other names."""
    return tuple(_renamed(move, names) for move in test)


def _renamed(move: FuzzMove, names: dict[str, str]) -> FuzzMove:
    if isinstance(move, WaitsAWhile | GivesCommand):
        return move
    return msgspec.structs.replace(move, who=names.get(move.who, move.who))


def joined(tests: Sequence[NetworkTest]) -> NetworkTest:
    """Return several tests as one: their sessions keep apart, and end where each test ends."""
    moves: list[FuzzMove] = []
    for number, test in enumerate(tests):
        names = {who: f"{who}{number}" for who in sessions_of(test)} if len(tests) > 1 else {}
        mine = renamed(test, names)
        moves += mine
        if number < len(tests) - 1:
            moves += [EndsSession(who, "drop") for who in sessions_of(mine)]
    return tuple(moves)


VERBS: dict[Level, str] = {"message": "say", "frame": "send_frame", "raw": "send_raw"}
"""What a session does that says something, by where its bytes enter."""


def in_words(move: FuzzMove, *, whole: bool = False) -> str:
    """Return a move as a person would write it, in the verbs of a session; ``whole`` with all of the bytes, as code."""
    match move:
        case Opens(who, how):
            return f"{who} = node.session({repr(how) if how else ''})"
        case Says(who, data, level, cut):
            said = [_spelt(each, whole=whole) for each in data] + ([f"cut={cut}"] if cut else [])
            return f"{who}.{VERBS[level]}({', '.join(said)})"
        case Listens(who):
            return f"{who}.listen()"
        case WaitsAWhile(seconds):
            return f"node.pause({seconds:g})"
        case EndsSession(who, verb):
            return f"{who}.{verb}()"
        case GivesCommand(verb, arguments):
            return f"node.command({', '.join(map(repr, (verb, *arguments)))})"


SHOWN = 48
"""Bytes that are shown whole in hex; of more the first half of that, and the number."""

READ = 160
"""Bytes of text that are shown whole; of more the first half of that, and the number."""

ODD = 0.1
"""How much of a text may be none: what is broken on purpose in one that is read by people."""

_PRINTED = frozenset(b"\t\r\n" + bytes(range(0x20, 0x7F)))


def _spelt(data: bytes, *, whole: bool) -> str:
    is_text = len(data) > 1 and sum(each not in _PRINTED for each in data) <= ODD * len(data)
    most = READ if is_text else SHOWN
    shown = data if whole or len(data) <= most else data[: most // 2]
    spelt = repr(shown) if is_text else repr(shown.hex())
    return spelt if shown is data else f"{spelt}… {len(data)} bytes"
