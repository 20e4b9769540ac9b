"""The report on a foreign codec as a person reads it: a page for each group of findings that look alike; counts."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import islice

from vectors.checks.answers import shortened
from vectors.checks.foreign import ForeignFinding, ForeignReport, Subject, hexed
from wire.dump import TooManyFields, dump, lines

_LABEL = 10
"""Columns for the names of a page's lines: the longest, ``expected``, and two blanks."""

_DUMP_LINES = 12
"""Lines of a long dump at its beginning and at its end: where a length, and what is behind it, mostly stand."""

_ALIKE = 12
"""Ids of findings that look like the one that is shown: enough to see whether they have something in common."""

_LONGEST_FRAME = 4096
"""Bytes, which are twice as many hex digits on a command line: what any shell and terminal takes in one paste."""


def render(report: ForeignReport, most: int) -> Iterator[str]:
    """Give a report line by line: a page for each of at most ``most`` groups of equal-looking findings, counts."""
    groups: dict[tuple[str, ...], list[ForeignFinding]] = {}
    for finding in report.findings:
        # Thousands of frames may show one fault: each kind of it gets one page, in the order in which they were found.
        groups.setdefault((finding.act, finding.kind.value, *finding.likeness), []).append(finding)
    for group in islice(groups.values(), most):
        yield from page(report, group)
        yield ""
    if len(groups) > most:
        hidden = sum(map(len, islice(groups.values(), most, None)))
        yield f"… and {hidden} more in {counted(len(groups) - most, 'group')}: --most {len(groups)} shows all"
        yield ""
    for trouble in report.troubles:
        yield from labelled("trouble", trouble)
    for why, count in report.skipped.items():
        yield from labelled("skipped", f"{count}: {shortened(why)}")
    yield from labelled("program", program_line(report))
    yield conclusion(report)


def page(report: ForeignReport, group: Sequence[ForeignFinding]) -> Iterator[str]:
    """Give what a person needs to act on a finding, and the ids of those that look alike."""
    first = group[0]
    subject = first.subject
    name = f"vector {subject.id}" if subject.vector else f"frame {subject.id}"
    yield f"{first.kind.value} ({first.act})  {name}: {subject.comment}"
    yield from labelled("rules", ", ".join(subject.rules))
    yield from labelled("context", subject.context and f"{subject.context}: no rule speaks of these messages")
    yield from labelled("frame", *dump_lines(report.layout, subject.data))
    yield from labelled("expected", first.expected)
    yield from labelled("came", first.came)
    yield from labelled(
        "differs", *(f"{each.path}: expected {each.expected}, came {each.came}" for each in first.differences)
    )
    yield from labelled("stderr", *first.stderr)
    yield from labelled("alike", also(group[1:]))
    yield from labelled("repeat", repeat(report, subject))


def labelled(name: str, *texts: str) -> Iterator[str]:
    """Give texts behind a label, one below the other; nothing when there is nothing to say."""
    for index, text in enumerate(text for text in texts if text):
        yield f"  {(name if index == 0 else '').ljust(_LABEL)}{text}"


def dump_lines(layout: str, data: bytes) -> list[str]:
    """Return the annotated dump of a frame; of a long one its beginning and its end."""
    if not data:
        return ["(no bytes)"]
    try:
        every = list(lines(dump(layout, data)))
    except TooManyFields as error:
        return [hexed(data), str(error)]
    if len(every) <= 2 * _DUMP_LINES:
        return every
    return [*every[:_DUMP_LINES], f"… {len(every) - 2 * _DUMP_LINES} lines", *every[-_DUMP_LINES:]]


def also(others: Sequence[ForeignFinding]) -> str:
    """Name the findings that look like the one that is shown."""
    ids = " ".join(finding.subject.id for finding in others[:_ALIKE])
    return f"{len(others)} more: {ids}{' …' if len(others) > _ALIKE else ''}" if others else ""


def repeat(report: ForeignReport, subject: Subject) -> str:
    """Return the command that checks one frame again."""
    # A vector has a name, however long it is; a frame that was brought along has only its bytes.
    if not subject.vector and len(subject.data) > _LONGEST_FRAME:
        return f"(a frame of {len(subject.data)} bytes does not fit on a command line)"
    which = ["--vector", subject.id] if subject.vector else ["--frame", subject.data.hex()]
    return shlex.join(["goldwire", "codec", "check", report.layout, *which, "--", *report.command])


def program_line(report: ForeignReport) -> str:
    """Say what was checked."""
    program = report.program
    who = " ".join(filter(None, (shortened(program.name), shortened(program.version))))
    language = f", {shortened(program.language)}" if program.language else ""
    restarts = f", started anew {counted(report.restarts, 'time')}" if report.restarts else ""
    return f"{who}{language}{restarts}"


def conclusion(report: ForeignReport) -> str:
    """Say in one line how the check ended."""
    scope = f"{counted(report.frames, 'frame')} of {report.layout}, {counted(report.judged, 'answer')} judged"
    if report.context:
        scope += f" ({report.context} about messages that no rule speaks of)"
    if report.findings or report.troubles:
        wrong = [counted(len(report.findings), "finding")] if report.findings else []
        if around := sum(bool(finding.subject.context) for finding in report.findings):
            wrong[0] += f" ({around} about messages that no rule speaks of)"
        wrong += [f"{len(report.troubles)} of the program itself"] if report.troubles else []
        return f"FAIL  {scope}: {', '.join(wrong)}"
    if not report.judged:
        return f"FAIL  {scope}: nothing was checked"
    skipped = f", {sum(report.skipped.values())} skipped" if report.skipped else ""
    return f"PASS  {scope}{skipped}: all agree"


def counted(count: int, noun: str) -> str:
    """Say how many."""
    return f"{count} {noun}{'s'[: count != 1]}"
