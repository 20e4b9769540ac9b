"""What a task of the job ``sweep`` does: compare the frames of some chunks, and count what came of it.

What comes of a chunk depends on its number and the seed alone, and tallies of chunks can be added in any order.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial, reduce
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from fuzz.driving import Limits
from fuzz.findings import Kept, Origin, make, signature
from vectors import check
from vectors.differential import Panel
from vectors.sweep import CHUNK, Found, Sweep, Swept, run, uninterrupted
from wire.engines import engine

ENGINE = "sweep"
"""What searches, in the origin of a finding."""

TRIES = 1_000
"""Frames or values that are tried to make a finding small: a time would not find the same everywhere."""

PATIENCE = 600.0
"""Seconds after which a finding is kept as it was found: an engine hangs, as the tries take a few."""

MOST_IN_A_CHUNK = 10
FOREVER = 1 << 62
"""Processes that may be lost: what is swept does not depend on how many chunks a task has."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared: ``engines`` by name, the first being what the others are held to.

    ``share`` of the frames are shown to the first engine if there are more than two. With a ``command``, a program
    behind the pipe is held to the reference engine, as the second of two; it has ``deadline`` seconds for an answer.
    ``most`` findings of a batch are kept.
    """

    layout: str
    engines: tuple[str, ...]
    seed: int = 0
    command: tuple[str, ...] = ()
    share: float = 1.0
    deadline: float = 10.0
    most: int = check.MOST

    @property
    def protocol(self) -> str:
        """The protocol of the layout."""
        return self.layout.partition("/")[0]


class Tally(msgspec.Struct, frozen=True):
    """What came of some chunks: counts of frames, and by signature the first that was ``found``.

    Of ``judged`` frames something was compared: not of those of which a program skips all.
    """

    frames: int = 0
    judged: int = 0
    accepted: int = 0
    spoiled: int = 0
    differing: int = 0
    skipped: int = 0
    found: dict[str, Found] = {}

    def __add__(self, other: "Tally") -> "Tally":
        found = dict(self.found)
        for name, each in other.found.items():
            if name not in found or place(each) < place(found[name]):
                found[name] = each
        return Tally(
            self.frames + other.frames,
            self.judged + other.judged,
            self.accepted + other.accepted,
            self.spoiled + other.spoiled,
            self.differing + other.differing,
            self.skipped + other.skipped,
            found,
        )


class Small(msgspec.Struct, frozen=True):
    """A finding that was made small, with the page that shows it, and the command that repeats it."""

    kept: Kept
    repeat: str

    @property
    def page(self) -> str:
        """What a person is shown, with the command, without a number before it."""
        text = self.kept.report.rstrip().removeprefix("1. ")
        return text if text.endswith(self.repeat) else f"{text}\n   repeat: {self.repeat}"


def place(found: Found) -> tuple[int, bool]:
    """Return what findings are ordered by: the number of the frame, what was read before what was written."""
    return found.number, found.data is None


def tallied(plan: Plan, first: int, end: int, notice: Callable[[int], None] | None = None) -> Tally:
    """Compare the frames of the chunks ``first`` up to, not with, ``end``; ``notice`` is told of each chunk."""
    tally = Tally()
    with closing(_swept(plan, first, end)) as parts:
        for part in parts:
            tally += part
            if notice is not None:
                notice(1)
    return tally


def total(tallies: Iterable[Tally]) -> Tally:
    """Add tallies."""
    return reduce(Tally.__add__, tallies, Tally())


def _swept(plan: Plan, first: int, end: int) -> Any:
    if plan.command:
        from reports.lake.programs import sweep_chunk

        return (sweep_chunk(plan, chunk) for chunk in range(first, end))
    sweep = Sweep(plan.layout, check.stream, plan.seed, end * CHUNK, None, plan.share, MOST_IN_A_CHUNK)
    # In a process of its own, as an engine may end it.
    return _counted(plan.layout, run(sweep, _engines(plan), 1, first=first, replaced=FOREVER))


def _counted(layout: str, chunks: Any) -> Iterator[Tally]:
    with closing(chunks):
        for each in chunks:
            yield as_tally(layout, each)


def as_tally(layout: str, swept: Swept, judged: int | None = None, skipped: int = 0) -> Tally:
    """Return what came of a chunk as a tally; every frame was ``judged`` unless it is said."""
    found = total(Tally(found={signature(layout, each.difference): each}) for each in swept.found).found
    judged = swept.frames if judged is None else judged
    return Tally(swept.frames, judged, swept.accepted, swept.spoiled, swept.differing, skipped, found)


def _engines(plan: Plan) -> Sequence[Any]:
    return [engine(name) for name in plan.engines]


def smallest(plan: Plan, tally: Tally) -> list[Small]:
    """Make small what was found, in its order, and keep at most ``plan.most`` that differ in different ways."""
    if not tally.found:
        return []
    if plan.command:
        from reports.lake import programs

        return list(_different(plan, tally, partial(programs.smallest, plan)))
    report = check.Report(plan.layout, plan.engines, plan.seed)

    def small(found: Found) -> Small:
        finding = _guarded(plan, found)
        origin = Origin(ENGINE, plan.seed, "", number=found.number, mutations=found.names)
        return Small(make(finding, report, origin, Limits(), 1), check.command(report, finding))

    return list(_different(plan, tally, small))


def _guarded(plan: Plan, found: Found) -> check.Finding:
    """Make a finding small in a process of its own, as an engine may end it; then it stays as it was found."""
    as_found = check.Finding(found.difference, found, found.data, found.value)
    if found.difference.kind in check.FINAL:
        return as_found
    context = get_context("spawn")
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(target=_make_small, args=(plan, found, sends), daemon=True)
    with uninterrupted():
        process.start()
    try:
        sends.close()
        with suppress(EOFError):
            if receives.poll(PATIENCE):
                smaller: check.Finding = receives.recv()
                return smaller
    finally:
        process.kill()
        process.join()
        receives.close()
    return as_found


def _make_small(plan: Plan, found: Found, sends: Connection) -> None:
    sends.send(check.smallest(Panel(plan.layout, _engines(plan)), found, math.inf, TRIES))


def _different(plan: Plan, tally: Tally, small: Callable[[Found], Small]) -> Iterator[Small]:
    seen: set[str] = set()
    known: set[str] = set()
    for found in sorted(tally.found.values(), key=place):
        name = signature(plan.layout, found.difference)
        if len(known) == plan.most:
            return
        if name in seen:
            continue
        each = small(found)
        seen |= {name, each.kept.finding.signature}
        if each.kept.finding.signature not in known:
            known.add(each.kept.finding.signature)
            yield each
