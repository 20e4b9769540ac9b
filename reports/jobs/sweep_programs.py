"""Chunks of a sweep before a program behind the pipe, which is held to the reference engine.

Every chunk has a program that is started for it, so that what it finds does not depend on the chunks before it.
"""

import math
import platform
import shlex
from collections.abc import Generator, Iterator, Sequence
from importlib.metadata import version
from itertools import islice, repeat
from typing import NamedTuple

from fuzz.findings import CodecFinding, FindingOrigin, KeptFinding, signature
from reports.jobs.sweep_plan import ENGINE, MOST_IN_A_CHUNK, TRIES, SmallFinding, SweepPlan, Tally, as_tally
from vectors.checks import check, foreign
from vectors.checks.answers import CodecDescription, UnsupportedLayout
from vectors.checks.codec_program import ProgramNotStarted
from vectors.checks.differential import Difference, plain_path
from vectors.checks.foreign import ForeignFinding, Subject, WrongAnswer
from vectors.checks.foreign_report import dump_lines
from vectors.checks.pipe import Pipe, PipeLimits
from vectors.checks.sweep import CHUNK, Found, SweptChunk, chunk_seed
from vectors.minimising import NoMoreTries, minimise

TROUBLE = "trouble"
LONGEST = 3_000
"""Bytes of a frame that fit on a command line."""

LASTING = {WrongAnswer.HANG.value, WrongAnswer.DECLINED.value, TROUBLE}
"""Kinds that are not made small: to try them again takes long, or they do not depend on the frame."""


def described(plan: SweepPlan) -> CodecDescription:
    """Return what the program says of itself; ProgramNotStarted when it does not run, or does not speak the layout."""
    with _pipe(plan) as pipe:
        program = pipe.describe()
    if plan.layout not in program.layouts:
        raise ProgramNotStarted(str(UnsupportedLayout(plan.layout, program.layouts)))
    return program


class FrameResult(NamedTuple):
    """What came of one frame: the findings, and how many answers were ``judged``, or not (``skipped``)."""

    findings: list[ForeignFinding]
    judged: int
    skipped: int


def tallies(plan: SweepPlan, first: int, end: int) -> Generator[Tally, None, None]:
    """Compare the frames of the chunks ``first`` up to, not with, ``end``; yield what comes of each."""
    return (sweep_chunk(plan, chunk) for chunk in range(first, end))


def sweep_chunk(plan: SweepPlan, chunk: int) -> Tally:
    """Compare the frames of one chunk: what the program reads, and what it writes for the values of the reference.

    A program that fails at no frame of its own may have been killed from outside: the chunk is swept once more before
    that is believed.
    """
    tally = _swept(plan, chunk)
    return _swept(plan, chunk) if TROUBLE in {each.difference.kind for each in tally.found.values()} else tally


def _swept(plan: SweepPlan, chunk: int) -> Tally:
    start = chunk * CHUNK
    # All of a chunk at once: its frames and answers are kept for its findings, and take a few megabytes.
    frames = list(islice(check.stream(plan.layout, chunk_seed(plan.seed, chunk)), CHUNK))
    subjects = [foreign.of_frame(plan.layout, data) for data, _ in frames]
    judged = skipped = differing = 0
    found: dict[tuple[str, ...], Found] = {}
    with _pipe(plan) as pipe:
        for at, outcome in enumerate(_judged(pipe, plan, subjects)):
            # By frames, not by answers: of one frame reading may be judged, and writing be skipped.
            judged += outcome.judged > 0
            skipped += outcome.skipped > 0
            differing += bool(outcome.findings)
            for finding in outcome.findings:
                data, names = frames[at]
                each = Found(_difference(plan, finding), ENGINE, start + at, names, data)
                if len(found) < MOST_IN_A_CHUNK:
                    found.setdefault(each.difference.signature, each)
    # A failure of no single frame is a finding of the chunk, at its first frame.
    for trouble in pipe.troubles:
        says = ((plan.engines[1], (str(trouble), *trouble.failure.stderr)),)
        trait = (f"{plan.engines[1]} {type(trouble.failure).__name__}",)
        difference = Difference(TROUBLE, False, trait, "(program)", says)
        differing += 1
        found.setdefault(difference.signature, Found(difference, ENGINE, start, ()))
    accepted = sum(each.may_accept for each in subjects)
    swept = SweptChunk(chunk, CHUNK, accepted, 0, differing, tuple(found.values()))
    return as_tally(plan.layout, swept, judged, skipped)


def smallest(plan: SweepPlan, found: Found) -> SmallFinding:
    """Return a finding with the smallest frame on which the program is wrong in the same way."""
    wanted = found.difference.signature
    data, finding = found.data, None
    if data is not None:
        # Every try may end the program, and each of those is asked once more by the pipe.
        with _pipe(plan, restarts=2 * TRIES) as pipe:

            def wrong(data: bytes) -> ForeignFinding | None:
                (outcome,) = _judged(pipe, plan, [foreign.of_frame(plan.layout, data)])
                return next((each for each in outcome.findings if _difference(plan, each).signature == wanted), None)

            if found.difference.kind not in LASTING:
                left = repeat(True, TRIES)

                def keeps(data: bytes) -> bool:
                    # Tries are counted, not seconds, so that the same small frame is found everywhere.
                    if not next(left, False):
                        raise NoMoreTries
                    return wrong(data) is not None

                data = minimise(plan.layout, data, keeps, math.inf)
            finding = wrong(data)
    difference = found.difference if finding is None else _difference(plan, finding)
    again = ["goldwire", "codec", "check", plan.layout, "--frame", (data or b"").hex()]
    # The chunk alone: the fault may need the frames before it, or does not fit on a command line.
    if data is None or len(data) > LONGEST:
        chunks = f"{found.number // CHUNK}:{found.number // CHUNK + 1}"
        again = ["goldwire", "pipeline", "sweep", plan.layout, "--lake", "again", "--master", "none"]
        again += ["--seed", str(plan.seed), "--chunks", chunks]
    if plan.deadline != PipeLimits().deadline:
        again += ["--deadline", str(plan.deadline)]
    command = shlex.join([*again, "--", *plan.command])
    record = CodecFinding(
        signature=signature(plan.layout, difference),
        layout=plan.layout,
        engines=plan.engines,
        difference=difference,
        origin=FindingOrigin(ENGINE, plan.seed, "", number=found.number, mutations=found.names),
        goldwire=version("goldwire"),
        python=platform.python_version(),
        seconds=plan.deadline,
    )
    return SmallFinding(
        KeptFinding(record, found.data, data, "\n".join(_page(plan, found, data, difference, command))), command
    )


def _pipe(plan: SweepPlan, restarts: int = PipeLimits().restarts) -> Pipe:
    # Whoever gives a program more time for an answer has a slow one, which starts slowly too.
    start = max(plan.deadline, PipeLimits().start)
    return Pipe(plan.command, PipeLimits(deadline=plan.deadline, start=start, restarts=restarts))


def _judged(pipe: Pipe, plan: SweepPlan, subjects: Sequence[Subject]) -> Iterator[FrameResult]:
    """Give what came of each frame."""
    readings = pipe.decode(plan.layout, [each.data for each in subjects])
    writable = [each for each in subjects if each.written is not None]
    # Only those values that the reference could write; in order, so that they can be taken one by one below.
    writings = iter(pipe.encode(plan.layout, [each.value for each in writable]))
    for subject, reading in zip(subjects, readings, strict=True):
        outcomes = [foreign.judge_decoding(subject, reading)]
        if subject.written is not None:
            outcomes.append(foreign.judge_encoding(plan.layout, subject, next(writings)))
        judged = [each for each in outcomes if not _is_skipped(each)]
        yield FrameResult(
            [each for each in judged if isinstance(each, ForeignFinding)], len(judged), len(outcomes) - len(judged)
        )


def _is_skipped(outcome: ForeignFinding | str | None) -> bool:
    """Tell whether the program implements no such thing, or was not asked as it had failed too often before."""
    return isinstance(outcome, str) or (outcome is not None and outcome.kind is WrongAnswer.LOST)


def _difference(plan: SweepPlan, finding: ForeignFinding) -> Difference:
    """Return what is wrong in the terms of our own engines."""
    trait = (f"{plan.engines[1]} {finding.act}s wrongly", *finding.likeness)
    place = next((each.path for each in finding.differences), "(frame)" if finding.act == "decode" else "(value)")
    says = (plan.engines[0], (finding.expected,)), (plan.engines[1], (finding.came, *finding.stderr))
    return Difference(finding.kind.value, False, trait, plain_path(place), says)


def _page(plan: SweepPlan, found: Found, data: bytes | None, difference: Difference, command: str) -> Iterator[str]:
    place = "" if difference.place in ("(frame)", "(value)", "(program)") else f" at {difference.place}"
    yield f"{difference.kind}{place}"
    if data is not None:
        yield f"   {plan.layout}, {len(data)} bytes, as the reference reads it:"
        yield from (f"   | {line}" for line in dump_lines(plan.layout, data))
    for who, words in difference.says:
        yield from (f"   {who}: {line}" for line in words)
    names = f" ({', '.join(found.names)})" if found.names else ""
    yield f"   found: seed {plan.seed}, frame {found.number}{names}"
    yield f"   repeat: {command}"
