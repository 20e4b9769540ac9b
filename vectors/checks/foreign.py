"""Checks a foreign codec, a program behind the pipe, against the golden vectors and the reference engine."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import Any, Literal

import msgspec

from vectors.checks.answers import (
    Answer,
    CodecDescription,
    Crashed,
    Declined,
    Decoded,
    Encoded,
    Failure,
    Garbage,
    Hung,
    Inexpressible,
    LostAnswer,
    PartialLine,
    RefusedFrame,
    Skipped,
    UnsupportedLayout,
    shortened,
)
from vectors.checks.pipe import OnLine, Pipe, PipeLimits
from vectors.golden.build import identify
from vectors.golden.loader import Vector
from wire.engines import live
from wire.errors import DecodeError
from wire.reference import decode, encode

MOST_DIFFERENCES = 10
"""Fields of one value that are named: where a list is shifted by one, all of the others differ for the same reason."""

_SLICE = 256
"""Frames between two reports of progress: as many as one request of the pipe has at most, so that none is cut short."""

_INDEX = re.compile(r"\[\d+\]")

ForeignProgress = Callable[[int, int], None]
"""Receives how many frames are judged, and of how many."""


class Subject(msgspec.Struct, frozen=True):
    """One frame and what a codec may do with it.

    ``value`` is what those give who accept (``None``: whatever they like), ``written`` what they write it
    back as. ``reason`` and ``offset`` are those of a refusal (``None``: any). ``vector`` tells a golden
    vector from a frame that was brought along.
    """

    id: str
    comment: str
    data: bytes
    may_accept: bool
    may_refuse: bool
    value: Any = None
    written: bytes | None = None
    reason: str | None = None
    offset: int | None = None
    rules: tuple[str, ...] = ()
    vector: bool = True
    context: str = ""


class WrongAnswer(Enum):
    """What is wrong, in two words."""

    VALUE = "wrong value"
    ACCEPTED = "wrongly accepted"
    REFUSED = "wrongly refused"
    REASON = "wrong reason"
    OFFSET = "wrong offset"
    BYTES = "wrong bytes"
    INEXPRESSIBLE = "not encoded"
    MISPLACED = "wrong result"
    CRASH = "crash"
    HANG = "hang"
    GARBAGE = "garbage"
    PARTIAL_LINE = "partial line"
    DECLINED = "declined"
    LOST = "not asked"


FAILURES: Mapping[type[Failure], WrongAnswer] = {
    Crashed: WrongAnswer.CRASH,
    Hung: WrongAnswer.HANG,
    Garbage: WrongAnswer.GARBAGE,
    PartialLine: WrongAnswer.PARTIAL_LINE,
    Declined: WrongAnswer.DECLINED,
    LostAnswer: WrongAnswer.LOST,
}


class ForeignDifference(msgspec.Struct, frozen=True):
    """A field that is not what it should be; both sides as text."""

    path: str
    expected: str
    came: str


class ForeignFinding(msgspec.Struct, frozen=True):
    """One frame of which the program is wrong; findings of one ``likeness`` look equal."""

    kind: WrongAnswer
    act: Literal["decode", "encode"]
    subject: Subject
    expected: str
    came: str
    differences: tuple[ForeignDifference, ...] = ()
    stderr: tuple[str, ...] = ()
    likeness: tuple[str, ...] = ()


class ForeignReport(msgspec.Struct, frozen=True):
    """The result of a check.

    ``judged`` counts frames and values that were judged, ``skipped`` those that the program does not
    implement, by its reason. ``troubles`` are failures of no single frame. ``context`` is how many of the judged are
    about messages that no rule speaks of.
    """

    command: tuple[str, ...]
    layout: str
    program: CodecDescription
    frames: int
    judged: int
    skipped: Mapping[str, int]
    findings: tuple[ForeignFinding, ...]
    troubles: tuple[str, ...]
    restarts: int
    context: int = 0

    @property
    def agrees(self) -> bool:
        """Whether something was judged and nothing is wrong."""
        return self.judged > 0 and not self.findings and not self.troubles


def check(
    command: Sequence[str],
    layout: str,
    vectors: Iterable[Vector] = (),
    frames: Iterable[bytes] = (),
    *,
    limits: PipeLimits | None = None,
    progress: ForeignProgress | None = None,
    on_line: OnLine | None = None,
) -> ForeignReport:
    """Hold a program to the golden vectors, and to the reference engine for each of ``frames``.

    A vector that is ``acceptable`` may go either way; frames that are brought along may not: they are held
    to the reference engine in everything. Raises ``vectors.checks.codec_program.ProgramNotStarted``.
    """
    subjects = [*map(of_vector, vectors), *(of_frame(layout, data) for data in frames)]
    findings: list[ForeignFinding] = []
    skipped: Counter[str] = Counter()
    judged = context = 0

    def settle(subject: Subject, finding: ForeignFinding | str | None) -> None:
        nonlocal judged, context
        if isinstance(finding, str):
            skipped[finding] += 1
            return
        # An answer that was lost says nothing of the codec, so it cannot make up for having judged nothing
        # (``agrees``).
        if finding is None or finding.kind is not WrongAnswer.LOST:
            judged += 1
            context += bool(subject.context)
        if finding is not None:
            findings.append(finding)

    # One program for all of the check: what is left of one frame, and spoils the next, is a fault that only a program
    # with a past can show.
    with Pipe(command, limits, on_line=on_line) as pipe:
        program = pipe.describe()
        if layout not in program.layouts:
            trouble = str(UnsupportedLayout(layout, program.layouts))
            return ForeignReport(tuple(command), layout, program, len(subjects), 0, {}, (), (trouble,), 0)
        # Decoded and encoded slice by slice, not all of one before all of the other: a program that alternates is
        # nearer to what it does in the field, and shows state that leaks from one into the other.
        for start in range(0, len(subjects), _SLICE):
            some = subjects[start : start + _SLICE]
            for subject, answer in zip(some, pipe.decode(layout, [each.data for each in some]), strict=True):
                settle(subject, judge_decoding(subject, answer))
            written = [each for each in some if each.written is not None]
            for subject, answer in zip(written, pipe.encode(layout, [each.value for each in written]), strict=True):
                settle(subject, judge_encoding(layout, subject, answer))
            if progress is not None:
                progress(start + len(some), len(subjects))
    return ForeignReport(
        tuple(command),
        layout,
        program,
        len(subjects),
        judged,
        skipped,
        tuple(findings),
        tuple("; ".join([str(trouble), *trouble.failure.stderr]) for trouble in pipe.troubles),
        pipe.restarts,
        context,
    )


def of_vector(vector: Vector) -> Subject:
    """Say what a codec may do with a golden vector; the offset is the reference engine's."""
    accepts = vector.result != "invalid"
    # Where the document leaves the value open, there is nothing that the program could be asked to write.
    known = accepts and vector.value is not None
    reason, offset = vector.reason, None
    # The vectors have no offsets, as documents say why a frame is bad and not where. The reference engine's is asked
    # for, and only as long as it refuses for the reason of the vector: for another reason its place means nothing.
    if reason is not None:
        offset = _refusal_offset(vector, reason)
    return Subject(
        id=vector.id,
        comment=vector.comment,
        data=vector.data,
        may_accept=accepts,
        may_refuse=vector.result != "valid",
        value=vector.value,
        written=(vector.data if vector.canonical is None else vector.canonical) if known else None,
        reason=reason,
        offset=offset,
        rules=vector.rules,
        context=vector.context,
    )


def _refusal_offset(vector: Vector, reason: str) -> int | None:
    try:
        # By the fastest engine: all of them give the reference engine's offset, which takes two seconds for a golden
        # file.
        live(vector.layout).decode(vector.layout, vector.data)
    except DecodeError as error:
        if error.reason.value == reason:
            return error.offset
    return None


def of_frame(layout: str, data: bytes) -> Subject:
    """Say what the reference engine does with a frame."""
    # Named as vectors are, by content, so that a frame keeps its name from one run to the next.
    name = identify(layout, data)
    comment = f"a frame of {len(data)} bytes, held to the reference engine"
    try:
        value = decode(layout, data)
    except DecodeError as error:
        return Subject(name, comment, data, False, True, reason=error.reason.value, offset=error.offset, vector=False)
    return Subject(name, comment, data, True, False, value, encode(layout, value), vector=False)


def judge_decoding(subject: Subject, answer: Answer) -> ForeignFinding | str | None:
    """Judge what became of a frame: ``None`` is agreement, text the reason of a skip."""
    if isinstance(answer, Skipped):
        return answer.why
    if isinstance(answer, Failure):
        return failed(subject, "decode", answer)
    if isinstance(answer, Decoded):
        return _judge_value(subject, answer)
    if isinstance(answer, RefusedFrame):
        return _judge_refusal(subject, answer)
    return ForeignFinding(
        WrongAnswer.MISPLACED, "decode", subject, expectation(subject), f"a result of encode: {answer}"
    )


def _judge_value(subject: Subject, answer: Decoded) -> ForeignFinding | None:
    # Before values are compared: of a frame that is to be refused there is none to compare with.
    if not subject.may_accept:
        value = f"accepted as {named(answer.value)}"
        return ForeignFinding(
            WrongAnswer.ACCEPTED, "decode", subject, expectation(subject), value, likeness=(subject.reason or "",)
        )
    if subject.value is None:
        return None
    different = tuple(islice(differences(subject.value, answer.value), MOST_DIFFERENCES))
    if not different:
        return None
    came = f"accepted; {_fields(different)}"
    return ForeignFinding(
        WrongAnswer.VALUE, "decode", subject, expectation(subject), came, different, likeness=alike(different)
    )


def _judge_refusal(subject: Subject, answer: RefusedFrame) -> ForeignFinding | None:
    place = "" if answer.offset is None else f" at byte {answer.offset}"
    came = f"refused as {answer.reason!r}{place}"
    expected = expectation(subject)
    # The gravest first: to refuse what is valid breaks an exchange, a wrong reason only misleads who reads the log.
    if not subject.may_refuse:
        return ForeignFinding(WrongAnswer.REFUSED, "decode", subject, expected, came, likeness=(answer.reason,))
    if subject.reason is not None and answer.reason != subject.reason:
        return ForeignFinding(
            WrongAnswer.REASON, "decode", subject, expected, came, likeness=(subject.reason, answer.reason)
        )
    # An offset is compared only where both give one: pipe.md leaves it to the program, as many decoders do not know it.
    if None not in (subject.offset, answer.offset) and answer.offset != subject.offset:
        return ForeignFinding(WrongAnswer.OFFSET, "decode", subject, expected, came, likeness=(answer.reason,))
    return None


def judge_encoding(layout: str, subject: Subject, answer: Answer) -> ForeignFinding | str | None:
    """Judge what became of the value of a frame: ``None`` is agreement, text the reason of a skip."""
    assert subject.written is not None
    if isinstance(answer, Skipped):
        return answer.why
    if isinstance(answer, Failure):
        return failed(subject, "encode", answer)
    expected = f"the value is written as {hexed(subject.written)}"
    if isinstance(answer, Inexpressible):
        if subject.may_refuse:
            return None
        return ForeignFinding(
            WrongAnswer.INEXPRESSIBLE,
            "encode",
            subject,
            expected,
            f"refused: {answer.detail}",
            likeness=(answer.detail,),
        )
    if not isinstance(answer, Encoded):
        return ForeignFinding(WrongAnswer.MISPLACED, "encode", subject, expected, f"a result of decode: {answer}")
    if answer.data == subject.written:
        return None
    return _wrong_bytes(layout, subject, answer.data, expected)


def _wrong_bytes(layout: str, subject: Subject, data: bytes, expected: str) -> ForeignFinding:
    assert subject.written is not None
    # The first byte that differs, or, where one is the beginning of the other, where the shorter one ends.
    at = next((i for i, pair in enumerate(zip(subject.written, data, strict=False)) if pair[0] != pair[1]), None)
    place = min(len(subject.written), len(data)) if at is None else at
    came = f"{hexed(data, place)}, which differs from byte {place} on"
    different: tuple[ForeignDifference, ...] = ()
    try:
        # Read back by the reference engine: bytes that differ are hard to compare, the fields that they mean are not.
        different = tuple(islice(differences(subject.value, decode(layout, data)), MOST_DIFFERENCES))
        came += " and reads as the same value" if not different else f"; read back, {_fields(different)}"
        likeness = alike(different)
    except DecodeError as error:
        came += f"; read back, it is refused: {error}"
        likeness = ("refused", error.reason.value)
    return ForeignFinding(WrongAnswer.BYTES, "encode", subject, expected, came, different, likeness=likeness)


def failed(subject: Subject, act: Literal["decode", "encode"], failure: Failure) -> ForeignFinding:
    """Make a finding of a failure of the program."""
    what = expectation(subject) if act == "decode" else f"the value is written as {hexed(subject.written or b'')}"
    kind = FAILURES.get(type(failure), WrongAnswer.LOST)
    return ForeignFinding(kind, act, subject, what, str(failure), stderr=failure.stderr, likeness=(symptom(failure),))


def symptom(failure: Failure) -> str:
    """Return what failures of one cause have in common."""
    if isinstance(failure, Crashed | PartialLine):
        return str(failure.status)
    # Without numbers, which are those of the request: the same garbage for each of a thousand frames is one group.
    return re.sub(r"\d+", "", failure.what) if isinstance(failure, Garbage) else ""


def expectation(subject: Subject) -> str:
    """Say what a decoder may do with a frame."""
    accepted = "accepted" if subject.value is None else f"accepted as {named(subject.value)}"
    refused = "refused" if subject.reason is None else f"refused as {subject.reason!r}"
    if subject.offset is not None:
        refused += f" at byte {subject.offset}"
    if subject.may_accept and subject.may_refuse:
        return f"{accepted}, or {refused}"
    return accepted if subject.may_accept else refused


def named(value: Any) -> str:
    """Name a value by its type, and by that of what it holds."""
    if not isinstance(value, dict):
        return f"a value of {type(value).__name__}"
    inner = value.get("declaration", value.get("body"))
    names = [each["type"] for each in (value, inner) if isinstance(each, dict) and isinstance(each.get("type"), str)]
    words = [f"{name} {each!r:.40}" for name, each in value.items() if isinstance(each, str)]
    without = f"a message with {shortened(', '.join(words[:3]))}" if words else "a value without a type"
    return " with ".join(map(shortened, names)) or without


def differences(expected: Any, came: Any, path: str = "") -> Iterator[ForeignDifference]:
    """Yield the fields that differ: paths such as ``declaration.extensions[0].value``; 1, 1.0 and true differ."""
    if isinstance(expected, dict) and isinstance(came, dict):
        # In the layout's order, and what is too much behind it: a set's order would change from run to run.
        for name in [*expected, *(name for name in came if name not in expected)]:
            where = f"{path}.{name}" if path else str(name)
            if name not in came:
                yield ForeignDifference(where, shown(expected[name]), "missing")
            elif name not in expected:
                yield ForeignDifference(where, "no such field", shown(came[name]))
            else:
                yield from differences(expected[name], came[name], where)
    elif isinstance(expected, list) and isinstance(came, list):
        if len(expected) != len(came):
            yield ForeignDifference(path, f"{len(expected)} items", f"{len(came)} items")
        for index, (one, other) in enumerate(zip(expected, came, strict=False)):
            yield from differences(one, other, f"{path}[{index}]")
    # Types as well: Python says that 1, 1.0 and True are equal, and a program in another language that confuses them
    # does not speak the protocol.
    elif isinstance(expected, dict | list) or type(expected) is not type(came) or expected != came:
        yield ForeignDifference(path or "(value)", shown(expected), shown(came))


def alike(different: Iterable[ForeignDifference]) -> tuple[str, ...]:
    """Return what groups differences: the paths, whatever the index."""
    return tuple(dict.fromkeys(_INDEX.sub("[]", each.path) for each in different))


def _fields(different: Sequence[ForeignDifference]) -> str:
    many = f"{len(different)} or more" if len(different) == MOST_DIFFERENCES else str(len(different))
    return "1 field differs" if len(different) == 1 else f"{many} fields differ"


def shown(value: Any) -> str:
    """Spell a value in a few characters."""
    if isinstance(value, bytes):
        return hexed(value)
    if isinstance(value, dict):
        return f"{{{', '.join(islice(map(ascii, value), 6))}{', …' if len(value) > 6 else ''}}}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    spelled = ascii(value) if isinstance(value, str) else repr(value)
    return spelled if len(spelled) <= 64 else f"{spelled[:64]}… ({len(spelled)} characters)"


def hexed(data: bytes, around: int = 0) -> str:
    """Spell bytes in hex; of many only those around a place."""
    start = max(0, around - 16) if len(data) > 40 else 0
    window = data[start : start + 40]
    before, after = "…" if start else "", "…" if start + 40 < len(data) else ""
    count = f" ({len(data)} bytes)" if before or after else ""
    return f"{before}{window.hex() or '(nothing)'}{after}{count}"
