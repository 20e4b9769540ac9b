"""Evidence: the two or three messages of a trace that show what a judgement says, in words.

What is wrong stands in a message that a monitor cites, or that a case's requirement was about, or in what came last
before the requirement failed. What it answers is looked for before it: the question that it belongs to, or else the
last thing that was said to the node. Where nothing came, that is said.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from conformance.verdicts import EvidenceMessage, Judgement, Outcome
from harness.protocol import FrameTopic, WireProtocol
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.catalogue import layout as find_layout
from wire.message_lines import MessageLine, message_lines

ANSWERS = 2
"""Messages that are shown of what came after a stimulus: the last, and the one before it, which often explains it."""

MAX_BYTES = 32
"""Bytes of a message that are shown: those around the marked ones if there are more. The trace has all of them."""

MAX_TEXT = 600
"""Characters of a message in text that are shown, in the same way."""


FINE = (Outcome.PASS, Outcome.ODD)


def with_messages(
    judgements: Sequence[Judgement], trace: Trace, protocol: WireProtocol, until: int | None = None
) -> tuple[Judgement, ...]:
    """Return judgements with the messages that show those which are no pass."""
    found = Evidence(trace, protocol, until)
    accusing = [each for each in judgements if each.outcome.accuses]

    def shown(judgement: Judgement) -> Judgement:
        # Where somebody is accused, what could not be judged besides is a consequence of it.
        if judgement.outcome in FINE or (accusing and not judgement.outcome.accuses):
            return judgement
        # A monitor knows the very message, and even its field, where a case only knows that something is wrong.
        exact = [each for each in accusing if each.rule == judgement.rule and each.by == "monitor"]
        place = exact[0] if exact and judgement.by == "case" else judgement
        if judgement.outcome is Outcome.CRASH and judgement.entry is not None:
            return replace(judgement, messages=found.before_death(judgement.entry))
        return replace(judgement, messages=found.of(place.entry, place.nth, place.field))

    return tuple(map(shown, judgements))


class Evidence:
    """Looks for the messages that matter in a trace; ``until`` is how many entries it had when the case ended."""

    def __init__(self, trace: Trace, protocol: WireProtocol, until: int | None = None) -> None:
        self._trace = trace
        self._protocol = protocol
        self._until = len(trace) if until is None else until
        layout = find_layout(protocol.layout)
        self._is_text = layout.is_json or layout.is_text
        self._topics: dict[int, FrameTopic] = {}

    def of(self, entry: int | None, nth: int = 0, field: str = "") -> tuple[EvidenceMessage, ...]:
        """Return the messages that show what is wrong: at an entry, or at the end of the case."""
        if entry is None or not 0 <= entry < len(self._trace):
            return self._at_the_end
        cited = self._trace.entries[entry]
        if cited.direction is Direction.SENT:
            return self._answered(cited, nth, field)
        before = [*self._context(cited), self._asked_before(cited)]
        lines = {each.index: tuple(self._messages_of(each)) for each in before if each is not None}
        return (*(each for index in sorted(lines) for each in lines[index]), *self._messages_of(cited, nth, field))

    def before_death(self, entry: int) -> tuple[EvidenceMessage, ...]:
        """Return what was sent since a node was last heard of: the first of it, which stands at an entry, and the last.

        Empty if there is no such entry.
        """
        since = self._trace.entries[entry : self._until]
        if not since:
            return ()
        first, *behind = since
        sent = [each for each in behind if _is_stimulus(each) and self._matters(each)]
        shown = [message for each in (first, *sent[-ANSWERS:]) for message in self._messages_of(each)]
        end = self._trace.entries[self._until - 1]
        shown.append(EvidenceMessage(entry, end.time, first.link, "told", "nothing was heard of the node any more"))
        return tuple(shown)

    @cached_property
    def _at_the_end(self) -> tuple[EvidenceMessage, ...]:
        entries = [each for each in self._trace.entries[: self._until] if self._matters(each)]
        asked = next((each for each in reversed(entries) if _is_stimulus(each)), None)
        if asked is None:
            # A play of routine alone is about that: a second handshake, a hello that is not answered.
            frames = [each for each in self._trace.entries[: self._until] if each.what is EntryKind.FRAME]
            came = (entries or frames)[-ANSWERS - 1 :]
            return tuple(message for each in came for message in self._messages_of(each))
        return self._answered(asked)

    def _answered(self, asked: Entry, nth: int = 0, field: str = "") -> tuple[EvidenceMessage, ...]:
        """Return a stimulus and what came after it; where nothing did, that it did not."""
        questions = self._topic(asked).questions
        came = [
            each
            for each in self._trace.entries[asked.index + 1 : self._until]
            if self._matters(each) and not _is_stimulus(each)
        ]
        own = [each for each in came if each.link == asked.link and self._topic(each).questions & questions]
        answers = (own or came)[-ANSWERS:]
        before = self._context(answers[-1]) if answers and answers[-1].link != asked.link else []
        shown = [message for each in before if each.index < asked.index for message in self._messages_of(each)]
        shown += self._messages_of(asked, nth, field)
        shown += [message for each in answers[len(before) :] for message in self._messages_of(each)]
        if not came:
            end = self._trace.entries[max(self._until - 1, asked.index)]
            text = "nothing that answers it came before the case ended"
            shown.append(EvidenceMessage(asked.index, end.time, asked.link, "told", text))
        return tuple(shown)

    def _context(self, cited: Entry) -> list[Entry]:
        """Return what was last said on the link of something that nobody asked for there, as an update of an interest.

        What brought it about was then said on another link.
        """
        if self._topic(cited).questions:
            return []
        earlier = reversed(self._trace.entries[: cited.index])
        said = (each for each in earlier if each.link == cited.link and each.direction is not cited.direction)
        return [each for each in said if self._matters(each)][:1]

    def _asked_before(self, cited: Entry) -> Entry | None:
        """Return what a message answers: the question on its link, or the last that was said to the node at all."""
        earlier = [each for each in self._trace.entries[: cited.index] if each.direction is not cited.direction]
        questions = self._topic(cited).questions
        for each in reversed(earlier if questions else []):
            if each.link == cited.link and each.what is EntryKind.FRAME and self._topic(each).questions & questions:
                return each
        return next((each for each in reversed(earlier) if self._matters(each)), None)

    def _matters(self, entry: Entry) -> bool:
        if entry.what is EntryKind.FRAME:
            return not self._topic(entry).is_routine
        return entry.what in (EntryKind.RAW, EntryKind.NOTE) or (
            entry.what is EntryKind.CLOSED and entry.direction is Direction.RECEIVED
        )

    def _topic(self, entry: Entry) -> FrameTopic:
        if entry.what is not EntryKind.FRAME:
            return FrameTopic()
        if entry.index not in self._topics:
            self._topics[entry.index] = self._protocol.topic(entry.data)
        return self._topics[entry.index]

    def _messages_of(self, entry: Entry, nth: int = 0, field: str = "") -> Iterator[EvidenceMessage]:
        if entry.what is not EntryKind.FRAME:
            way = "told" if entry.what is EntryKind.NOTE else entry.direction.value
            said = f"{entry.data.hex(' ')} {entry.note}".strip()
            text = f"{'' if entry.what is EntryKind.NOTE else entry.what.value} {said}".strip()
            yield EvidenceMessage(entry.index, entry.time, entry.link, way, text)
            return
        decoded = message_lines(self._protocol.layout, entry.data)
        message = decoded[min(nth, len(decoded) - 1)] if decoded else MessageLine("an empty frame", 0, 0)
        marks = message.place_of(field) if field else None
        if marks is None and message.refused_at is not None:
            marks = message.refused_at, message.refused_at + 1
        text = message.text
        if len(decoded) > 1:
            text += f" ({min(nth, len(decoded) - 1) + 1} of {len(decoded)} in its frame)"
        yield EvidenceMessage(
            entry.index,
            entry.time,
            entry.link,
            entry.direction.value,
            text,
            pieces(entry.data, message, marks, is_text=self._is_text),
            self._is_text,
        )


def pieces(
    frame: bytes, message: MessageLine, marks: tuple[int, int] | None, *, is_text: bool
) -> tuple[tuple[str, bool], ...]:
    """Return the bytes of a message as text or in hex, those between ``marks`` as pieces of their own."""
    start, end = message.start, message.end
    most = MAX_TEXT if is_text else MAX_BYTES
    first, last = marks or (start, start)
    if marks is not None:
        start, end = min(start, first), max(end, min(last, len(frame)))
    if end - start > most:
        # A little of what stands before the place that is wrong, and the rest behind it.
        start = max(start, min(first - most // 4, end - most))
        end_shown = start + most
    else:
        end_shown = end
    found: list[tuple[str, bool]] = []
    for one, two, marked in ((start, first, False), (first, last, True), (last, end_shown, False)):
        part = frame[max(one, start) : min(two, end_shown)]
        if part:
            found.append((_spelled(part, is_text=is_text), marked))
    if marks is not None and first >= len(frame):
        found.append(("end", True))
    if end_shown < end or start > message.start:
        found.append((f"({len(frame)} bytes in all)", False))
    return tuple(found)


def _spelled(part: bytes, *, is_text: bool) -> str:
    if not is_text:
        return part.hex(" ")
    text = part.decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


def _is_stimulus(entry: Entry) -> bool:
    return entry.direction is Direction.SENT or entry.what is EntryKind.NOTE
