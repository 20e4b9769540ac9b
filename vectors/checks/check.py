"""Whether the engines of a layout agree: over golden vectors, what Hypothesis thinks of, and a long random sweep.

What differs is made as small as possible, and shown as an annotated pair with the command that repeats it.
"""

import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import repeat
from typing import Any

import msgspec

from vectors import sampling
from vectors.checks.differential import KINDS, AnyEngine, Difference, Panel, unsteady
from vectors.checks.sweep import Found, Stream, Sweep, drawn, invalid_value, run
from vectors.golden.loader import UnknownVectors
from vectors.golden.loader import frames as golden_frames
from vectors.minimising import SECONDS, NoMoreTries, minimise, minimise_value, spelled, values_of_smaller
from wire.catalogue import layout as find
from wire.dump import TooManyFields, dump, lines
from wire.reference import plain

FRAMES = 1_000_000
EXAMPLES = 300
"""What Hypothesis is asked for: so many values, and as many frames."""

MOST = 10
FINAL = ("unsteady", "crash", "hang")
"""Kinds that are not made small: to try them again is no use, or does harm."""

LONGEST = 3000
"""Characters of an argument in a command that is shown; what is longer is named by its number."""

CheckProgress = Callable[[int, int | None, int], None]
"""Is told how many frames of how many are done, and how many findings there are."""


class EngineFinding(msgspec.Struct, frozen=True):
    """A difference on the smallest frame, or the plainest value, on which it still shows; and as it was ``found``."""

    difference: Difference
    found: Found
    data: bytes | None = None
    value: Any = None


class CheckReport(msgspec.Struct):
    """What came of a check so far."""

    layout: str
    engines: tuple[str, ...]
    seed: int
    vectors: int = 0
    examples: int = 0
    frames: int = 0
    accepted: int = 0
    spoiled: int = 0
    differing: int = 0
    seconds: float = 0.0
    findings: list[EngineFinding] = msgspec.field(default_factory=list)
    full: bool = False
    interrupted: bool = False

    @property
    def compared(self) -> int:
        """How many frames and values were compared."""
        return self.vectors + self.examples + self.frames

    @property
    def agrees(self) -> bool:
        """Tell whether something was compared and nothing differs."""
        return self.compared > 0 and not self.findings


def stream(layout: str, seed: int) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Give frames of a layout without end: valid ones, and mutated ones with the names of the mutations."""
    for data, names in sampling.stream(find(layout), seed):
        yield data, tuple(names)


class Check:
    """One run: what is compared, and the report that grows."""

    def __init__(self, layout: str, engines: Sequence[AnyEngine], *, seed: int = 0, most: int = MOST) -> None:
        self.panel = Panel(layout, engines)
        self.report = CheckReport(layout, self.panel.names, seed)
        self.most = most
        self.seen: set[Any] = set()

    def vectors(self) -> None:
        """Compare the frames of the golden vectors, if there are any."""
        try:
            # First, as they are few, and each was chosen for a branch: what is badly broken is found in the first
            # second.
            vectors = golden_frames(self.report.layout)
        except UnknownVectors:
            return
        for number, (vector, data) in enumerate(vectors.items()):
            if self.report.full:
                return
            self.frame(data, f"vector {vector}", number)
            self.report.vectors += 1

    def hypothesis(self, examples: int = EXAMPLES) -> None:
        """Compare what Hypothesis makes of the layout: values, valid frames and mutated ones."""
        # Hypothesis takes as long to load as all else; who asks for help does not wait for it.
        from hypothesis import HealthCheck, Phase, given, seed, settings
        from hypothesis import strategies as st

        from vectors import strategies

        layout = find(self.report.layout)
        frames = strategies.frames(layout, overlong=True).map(lambda data: (data, ()))
        asked = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],  # what is found is minimised here, as everything else
            # A slow reference engine, or a layout with few valid frames, is no reason to stop comparing.
            suppress_health_check=list(HealthCheck),
        )

        @seed(self.report.seed)
        @asked
        @given(strategies.values(layout))
        def write(value: Any) -> None:
            self._example(lambda number: self.value(value, "hypothesis", number))

        @seed(self.report.seed)
        @asked
        @given(st.one_of(frames, strategies.named_mutated(layout)))
        def read(frame: tuple[bytes, tuple[str, ...]]) -> None:
            data, names = frame
            self._example(lambda number: self.frame(data, "hypothesis", number, tuple(names)))

        write()
        read()

    def _example(self, compare: Callable[[int], None]) -> None:
        if not self.report.full:
            compare(self.report.examples)
            self.report.examples += 1

    def sweep(self, sweep: Sweep, jobs: int, progress: CheckProgress | None = None) -> None:
        """Compare random frames; ``jobs`` processes, or none but this one if 0."""
        with closing(run(sweep, self.panel.engines, jobs)) as swept:
            for chunk in swept:
                self.report.frames += chunk.frames
                self.report.accepted += chunk.accepted
                self.report.spoiled += chunk.spoiled
                self.report.differing += chunk.differing
                for found in chunk.found:
                    self.keep(found)
                if progress is not None:
                    progress(self.report.frames, sweep.frames, len(self.report.findings))
                if self.report.full:
                    return

    def frame(self, data: bytes, origin: str, number: int = 0, names: tuple[str, ...] = ()) -> None:
        """Compare one frame."""
        values = self.panel.agrees(data)
        if values is None:
            self.report.differing += 1
            difference = self.panel.difference(data) or unsteady(self.panel.names)
            self.keep(Found(difference, origin, number, names, data))

    def value(self, value: Any, origin: str, number: int = 0, names: tuple[str, ...] = ()) -> None:
        """Compare what is written for one value."""
        if not self.panel.agrees_on(value):
            self.report.differing += 1
            difference = self.panel.difference_on(value) or unsteady(self.panel.names)
            self.keep(Found(difference, origin, number, names, value=value))

    def keep(self, found: Found) -> None:
        """Minimise what was found, and keep it if nothing like it is there."""
        # Seen by what it was before it is made small, so that the thousandth of one kind costs nothing.
        if self.report.full or found.difference.signature in self.seen:
            return
        self.seen.add(found.difference.signature)
        finding = smallest(self.panel, found)
        # Two that were different at first may become the same when they are made small.
        if finding.difference.signature in {each.difference.signature for each in self.report.findings}:
            return
        self.seen.add(finding.difference.signature)
        self.report.findings.append(finding)
        self.report.full = len(self.report.findings) >= self.most


def smallest(panel: Panel, found: Found, seconds: float = SECONDS, tries: int | None = None) -> EngineFinding:
    """Return a finding with the smallest frame, or plainest value, that differs in the same way.

    The search ends after ``seconds``, or so many ``tries``: with ``math.inf`` for the former it is always the same.
    """
    if found.difference.kind in FINAL:
        return EngineFinding(found.difference, found, found.data, found.value)
    # Not its place: a smaller frame may show it in the same field of another message, which is as good.
    wanted = found.difference.kind, found.difference.trait, found.difference.refuse
    left = repeat(True) if tries is None else repeat(True, tries)

    def alike(differing: Callable[[Any], Difference | None], what: Any) -> bool:
        if not next(left, False):
            raise NoMoreTries
        difference = differing(what)
        return difference is not None and (difference.kind, difference.trait, difference.refuse) == wanted

    if found.data is not None:
        data = minimise(panel.layout, found.data, partial(alike, panel.difference), seconds)
        return EngineFinding(panel.difference(data) or found.difference, found, data)
    # A value of a language has parts that only make sense together; smaller texts of it are read anew.
    also = values_of_smaller(panel.layout) if find(panel.layout).is_text else None
    differs = partial(alike, panel.difference_on)
    value = minimise_value(found.value, differs, seconds, dropping=panel.text, also=also)
    return EngineFinding(panel.difference_on(value) or found.difference, found, value=value)


def check(
    layout: str,
    engines: Sequence[AnyEngine],
    *,
    frames: int | None = FRAMES,
    seed: int = 0,
    seconds: float | None = None,
    jobs: int = 0,
    most: int = MOST,
    share: float = 1.0,
    examples: int = EXAMPLES,
    stream: Stream = stream,
    progress: CheckProgress | None = None,
) -> CheckReport:
    """Compare engines, the first being what the others are held to; return what came of it, also when interrupted.

    ``frames`` random frames from ``seed``, or as many as fit in ``seconds``; the first engine sees ``share`` of them
    if there are more than two. ``jobs`` processes, 0 for none but this one; at most ``most`` findings.
    """
    begun = time.monotonic()
    deadline = None if seconds is None else begun + seconds
    work = Check(layout, engines, seed=seed, most=most)
    try:
        work.vectors()
        # From the cheapest to the longest: the later searches need not run when the earlier ones have found enough.
        if not work.report.full and examples:
            work.hypothesis(examples)
        if not work.report.full and frames != 0:
            work.sweep(Sweep(layout, stream, seed, frames, deadline, share, most), jobs, progress)
    except KeyboardInterrupt:
        work.report.interrupted = True
    work.report.seconds = time.monotonic() - begun
    return work.report


def check_only(
    layout: str,
    engines: Sequence[AnyEngine],
    *,
    frames: Sequence[bytes] = (),
    values: Sequence[Any] = (),
    numbers: Sequence[int] = (),
    seed: int = 0,
    most: int = MOST,
    stream: Stream = stream,
) -> CheckReport:
    """Compare engines on given frames and values, and on frames of the sweep from ``seed`` by their numbers."""
    begun = time.monotonic()
    work = Check(layout, engines, seed=seed, most=most)
    for number, data in enumerate(frames):
        work.frame(data, "given", number)
        work.report.examples += 1
    for number, value in enumerate(values):
        work.value(value, "given", number)
        work.report.examples += 1
    sweep = Sweep(layout, stream, seed, None, None)
    for number in numbers:
        data, names = drawn(sweep, number)
        work.frame(data, "sweep", number, names)
        # The frame's number names what was spoiled too: either may be what ``--at`` is about.
        for value in (work.panel.agrees(data) or [])[:1]:
            spoiled, what = invalid_value(sweep, number, value)
            work.value(spoiled, "sweep", number, (*names, what))
        work.report.frames += 1
    work.report.seconds = time.monotonic() - begun
    return work.report


def render(report: CheckReport) -> Iterator[str]:
    """Write a report: a page for every finding, then one line that says what was compared."""
    for number, finding in enumerate(report.findings, 1):
        yield from page(report, number, finding)
        yield ""
    verdict = (
        "FAIL" if report.findings else "INTERRUPTED" if report.interrupted else "PASS" if report.agrees else "FAIL"
    )
    parts = [
        f"{report.vectors} vectors" if report.vectors else "",
        f"{report.examples} examples" if report.examples else "",
        f"{report.frames} random frames ({report.accepted} accepted, {report.spoiled} spoiled values)"
        if report.frames
        else "",
    ]
    compared = ", ".join(part for part in parts if part) or "nothing was compared"
    differ = "no difference"
    if report.findings:
        count = len(report.findings)
        differ = f"{count} difference{'s'[: count != 1]}, seen {report.differing} times"
    stopped = "; stopped at --most" if report.full else "; interrupted" if report.interrupted else ""
    engines = ", ".join(report.engines)
    ending = f"seed {report.seed}, {report.seconds:.1f} s{stopped}"
    yield f"{verdict} {report.layout}: {engines}: {differ} in {compared}; {ending}"


def page(report: CheckReport, number: int, finding: EngineFinding) -> Iterator[str]:
    """Write one finding: what differs, the frame field by field, who says what, and how to see it again."""
    difference = finding.difference
    place = "" if difference.place in ("(frame)", "(value)") else f" at {difference.place}"
    yield f"{number}. {difference.kind}{place}: {KINDS[difference.kind]}"
    if finding.data is not None:
        mode = f", overlong integers {'refused' if difference.refuse else 'accepted'}"
        tree = find(report.layout)
        mode = "" if tree.is_json or tree.is_text else mode
        yield f"   {report.layout}, {len(finding.data)} bytes{mode}, as the reference reads it:"
        try:
            for line in lines(dump(report.layout, finding.data, overlong="refuse" if difference.refuse else "accept")):
                yield f"   | {line}"
        except TooManyFields as error:
            yield f"   | {error}"
    else:
        yield f"   {report.layout}, a value to encode:"
        yield f"   | {_short(_spelled_or_shown(finding.value))}"
    width = max((len(who) for who, _ in difference.says), default=0)
    for who, words in difference.says:
        for index, line in enumerate(words):
            yield f"   {who if index == 0 else '':{width}}  {line}"
    yield f"   found: {_origin(report, finding)}"
    yield f"   repeat: {command(report, finding)}"


def _origin(report: CheckReport, finding: EngineFinding) -> str:
    found = finding.found
    where = found.origin
    if found.origin == "sweep":
        where = f"seed {report.seed}, frame {found.number}"
    elif found.origin == "hypothesis":
        where = f"Hypothesis, seed {report.seed}, example {found.number}"
    size = "" if found.data is None else f", {len(found.data)} bytes there"
    names = f" ({', '.join(found.names)})" if found.names else ""
    return f"{where}{names}{size}"


def _spelled_or_shown(value: Any) -> str:
    return spelled(value) or repr(plain(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def command(report: CheckReport, finding: EngineFinding) -> str:
    """Return the command line that shows a finding again."""
    words = ["goldwire", "codec", "check", report.layout]
    others = [name for name in report.engines if name != "reference"]
    # With several engines the command names none: it compares all that run, as this check did.
    if len(others) == 1:
        words += ["--engine", others[0]]
    text = finding.data.hex() if finding.data is not None else spelled(finding.value)
    # What is too long for a command line is drawn again by its number.
    if text is not None and len(text) <= LONGEST:
        words += ["--frame" if finding.data is not None else "--value", text]
    else:
        words += ["--seed", str(report.seed), "--at", str(finding.found.number)]
    return shlex.join(words)


def parsed(text: str) -> Any:
    """Read a value that ``spelled`` wrote; ``ValueError`` when it is no JSON."""

    def bytes_again(part: dict[str, Any]) -> Any:
        return bytes.fromhex(part["hex"]) if part.keys() == {"hex"} else part

    return json.loads(text, object_hook=bytes_again)
