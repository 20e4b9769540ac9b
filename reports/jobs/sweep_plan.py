"""What a sweep compares, and what comes of its chunks: values that add up.

What comes of a chunk depends on its number and the seed alone, and tallies of chunks can be added in any order.
"""

from collections.abc import Iterable
from functools import reduce

import msgspec

from fuzz.findings import KeptFinding, signature
from vectors.checks import check
from vectors.checks.sweep import Found, SweptChunk

ENGINE = "sweep"
"""What searches, in the origin of a finding."""

TRIES = 1_000
"""Frames or values that are tried to make a finding small: a time would not find the same everywhere."""

MOST_IN_A_CHUNK = 10
"""Findings of a chunk that are kept: an engine that is wrong everywhere would fill the memory with one difference."""


class SweepPlan(msgspec.Struct, frozen=True, kw_only=True):
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
        # Not changed in place: a tally is a value, and Spark may add one twice.
        found = dict(self.found)
        for name, each in other.found.items():
            if name not in found or first_found(each) < first_found(found[name]):
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


class SmallFinding(msgspec.Struct, frozen=True):
    """A finding that was made small, with the page that shows it, and the command that repeats it."""

    kept: KeptFinding
    repeat: str

    @property
    def page(self) -> str:
        """What a person is shown, with the command, without a number before it."""
        # The report of a single finding is numbered, and says how to repeat it, as one of many in a check.
        text = self.kept.report.rstrip().removeprefix("1. ")
        return text if text.endswith(self.repeat) else f"{text}\n   repeat: {self.repeat}"


def first_found(found: Found) -> tuple[int, bool]:
    """Return what findings are ordered by: the number of the frame, what was read before what was written."""
    # A frame may differ when it is read and when its value, spoiled, is written: reading comes first.
    return found.number, found.data is None


def total(tallies: Iterable[Tally]) -> Tally:
    """Add tallies."""
    return reduce(Tally.__add__, tallies, Tally())


def as_tally(layout: str, swept: SweptChunk, judged: int | None = None, skipped: int = 0) -> Tally:
    """Return what came of a chunk as a tally; every frame was ``judged`` unless it is said."""
    # Through addition, so that of two with one signature the first is kept, as everywhere.
    found = total(Tally(found={signature(layout, each.difference): each}) for each in swept.found).found
    judged = swept.frames if judged is None else judged
    return Tally(swept.frames, judged, swept.accepted, swept.spoiled, swept.differing, skipped, found)
