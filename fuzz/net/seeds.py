"""Seeds: the tests that a campaign begins with, made of what was said already.

The cases' own traffic (played with our own peer in memory), the golden vectors, and recorded captures: each session in
them becomes a session of a test, and says what was said in it, in the same order.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from conformance.engine.play import play
from conformance.suite import Suite
from fuzz.net.drawing import LONGEST, NAMES
from fuzz.net.moves import EndsSession, FuzzMove, NetworkTest, Opens, Says
from fuzz.net.targets import FuzzTarget
from harness.captures.recordings import Recording
from harness.trace import Direction, Entry, EntryKind
from vectors.golden.loader import UnknownVectors
from vectors.golden.loader import load as load_vectors

FEW = 6
"""Vectors that are said in one test."""


def from_cases(suite: Suite, role: str, target: FuzzTarget) -> list[NetworkTest]:
    """Return what the cases say to a role, as tests: one for each case that sends anything that a session could say."""
    if role not in suite.harness.roles:
        return []  # it is no role of the document, and is fuzzed alone
    transport = suite.harness.usual_transport
    world = suite.harness.world(suite.harness.roles[role].of, role)
    found: dict[NetworkTest, None] = {}
    # Property cases and histories draw what they say, and a fuzzer draws for itself.
    cases = [case for case in suite.cases if case.fits(role, transport) and not case.marks.is_seeded]
    for number, case in enumerate(cases, 1):
        if not world.alive():
            world.restart()
        result = play(case, world, suite, profile="document", transport=transport, number=number)
        if test := test_of(result.trace, target):
            found[test] = None
    return list(found)


def from_vectors(target: FuzzTarget, random: Random) -> list[NetworkTest]:
    """Return tests that say the golden vectors of what a session says, several in each.

    What is to be refused is said in sessions of its own, as it may end them: what is said behind it is not heard then.
    """
    try:
        vectors = load_vectors(target.layout)
    except UnknownVectors:
        return []
    random.shuffle(vectors)
    heard = [each.data for each in vectors if each.result == "valid"]
    refused = [each.data for each in vectors if each.result != "valid"]
    return [
        *((Opens(NAMES[0]), Says(NAMES[0], some)) for some in _in_pieces(heard)),
        *(
            tuple(move for who, each in zip(NAMES, some, strict=False) for move in (Opens(who), Says(who, (each,))))
            for some in _in_pieces(refused)
        ),
    ]


def _in_pieces(said: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
    return (tuple(said[at : at + FEW]) for at in range(0, len(said), FEW))


def from_capture(path: Path, protocol: str, target: FuzzTarget) -> Iterator[NetworkTest]:
    """Yield the sessions in a recording as tests; what the other side said than the one that would be judged.

    Raises what ``harness.captures`` raises where the file is no recording.
    """
    for session in Recording(path, protocol):
        if test := test_of(session.trace, target):
            yield test


def test_of(entries: Iterable[Entry], target: FuzzTarget) -> NetworkTest:
    """Return what the tester's side said in a trace as a test; none where it said nothing that a session could say."""
    moves: list[FuzzMove] = []
    names: dict[str, str] = {}
    for entry in entries:
        if entry.direction is not Direction.SENT:
            continue
        if entry.what is EntryKind.CLOSED and entry.link in names:
            moves.append(EndsSession(names.pop(entry.link), "drop"))
        elif entry.what is EntryKind.FRAME and (said := tuple(target.messages_of(entry.data))):
            if entry.link not in names:
                free = [name for name in NAMES if name not in names.values()]
                if not free:
                    continue
                names[entry.link] = free[0]
                moves.append(Opens(free[0]))
            moves.append(Says(names[entry.link], said))
    says_something = any(isinstance(move, Says) for move in moves)
    return tuple(moves[:LONGEST]) if says_something else ()
