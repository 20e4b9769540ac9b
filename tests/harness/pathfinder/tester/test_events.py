"""Events: what was decoded in a batch already is read without checks, and is read the same."""

from itertools import islice

import pytest

from harness.pathfinder.tester.conversation import conversations
from harness.pathfinder.tester.events import event_in
from harness.trace import Direction, Entry, EntryKind, Trace
from vectors.golden.loader import load
from vectors.sampling import stream
from wire.catalogue import layout
from wire.columnar import naming
from wire.errors import DecodeError
from wire.reference import decode

NAME = "pathfinder/message"


def named(frame: bytes) -> str | None:
    """Return what a batch decoder says of a frame: the message's name, None for what is refused."""
    try:
        return naming(layout(NAME))(decode(NAME, frame))
    except DecodeError:
        return None


@pytest.fixture(scope="module")
def frames() -> list[tuple[bytes, str | None]]:
    """Frames, and what a batch decoder says of them; the reference engine takes its time to say it."""
    found = [vector.data for vector in load(NAME)] + [frame for frame, _ in islice(stream(layout(NAME), 21), 400)]
    return [(frame, named(frame)) for frame in found]


def said(frame: bytes, index: int = 0) -> Entry:
    return Entry(1.5, "a", EntryKind.FRAME, Direction.RECEIVED, frame, index=index)


def test_what_is_known_to_be_accepted_is_read_the_same(frames: list[tuple[bytes, str | None]]) -> None:
    accepted = 0
    for frame, name in frames:
        if name is not None:
            accepted += 1
            # By what is printed: 1, 1.0 and True are equal, and are not the same.
            assert repr(event_in(said(frame), name)) == repr(event_in(said(frame), None))
    assert accepted > 300


def test_a_trace_with_names_holds_the_same_conversation(frames: list[tuple[bytes, str | None]]) -> None:
    known, unknown = Trace("pathfinder"), Trace("pathfinder")
    for trace in (known, unknown):
        trace.entries = [said(frame, index) for index, (frame, _) in enumerate(frames)]
    known.names = [name for _, name in frames]
    assert None in known.names
    (one,), (two,) = (conversations(trace).values() for trace in (known, unknown))
    assert [event.form for event in one.events] == [event.form for event in two.events]
    assert [event.ta for event in one.events] == [event.ta for event in two.events]
    assert (one.is_clean, one.client) == (two.is_clean, two.client)
