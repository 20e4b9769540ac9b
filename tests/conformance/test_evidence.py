"""The messages of a trace that show what a judgement says."""

import msgspec

from conformance.evidence import Evidence, with_messages
from conformance.gate.failure_page import message_lines
from conformance.verdicts import Judgement, Outcome
from harness.protocol import load
from harness.trace import Direction, EntryKind, Trace

ZENOH, PATHFINDER = load("zenoh"), load("pathfinder")


def trace_of(*frames: tuple[str, str, str]) -> Trace:
    trace = Trace("zenoh")
    for link, way, data in frames:
        trace.record(link, EntryKind.FRAME, Direction(way), bytes.fromhex(data))
    return trace


TRACE = trace_of(
    ("a", "sent", "2500 590108"),  # INTEREST Future 1, tokens
    ("a", "sent", "2501 790208"),  # INTEREST CurrentFuture 2, tokens
    ("a", "received", "2500 3e021a"),  # D_FINAL for 2
    ("b", "sent", "2500 1e66010003612f31"),  # D_TOKEN a/1
    ("a", "received", "2501 1e66020003612f32 3e0166010003612f31"),  # D_TOKEN a/2; D_TOKEN a/1, under interest 1
    ("a", "sent", "2502 39c1843d08"),  # a barrier
    ("a", "received", "2503 3ec1843d1a"),
)


def test_a_question_and_the_message_that_is_wrong_are_shown() -> None:
    asked, wrong = Evidence(TRACE, ZENOH).of(4, nth=1, field="interest_id")
    assert (asked.entry, asked.way, asked.text) == (0, "sent", "INTEREST Future id=1 options=T")
    assert (wrong.entry, wrong.link, wrong.way) == (4, "a", "received")
    assert dict(wrong.pieces) == {"3e": False, "01": True, "66 01 00 03 61 2f 31": False}
    assert "3e [01] 66 01" in "\n".join(message_lines((asked, wrong)))


def test_an_update_is_shown_with_what_brought_it_about() -> None:
    update = trace_of(
        ("a", "sent", "2500 1901"),
        ("b", "sent", "2500 1e66010003612f31"),
        ("a", "received", "25001e66010003612f31"),
    )
    assert [each.entry for each in Evidence(update, ZENOH).of(2)] == [0, 1, 2]


def test_routine_is_left_out_and_silence_is_said() -> None:
    silent = trace_of(
        ("a", "sent", "2500 790208"), ("a", "sent", "2501 39c1843d08"), ("a", "received", "2500 3ec1843d1a")
    )
    asked, nothing = Evidence(silent, ZENOH).of(None)
    assert asked.entry == 0
    assert (nothing.way, nothing.text) == ("told", "nothing that answers it came before the case ended")


def test_a_long_message_is_shown_around_what_is_wrong() -> None:
    trace = Trace("pathfinder")
    data = b'{"ta-cmd":"ping","ta-id":7,"msg-type":"request","x":"' + b"y" * 5000 + b'","detail":1}'
    trace.record("a", EntryKind.FRAME, Direction.RECEIVED, data)
    (shown,) = Evidence(trace, PATHFINDER).of(0, field="detail")
    texts = [text for text, _ in shown.pieces]
    assert ('"detail":1', True) in shown.pieces
    assert texts[-1] == f"({len(data)} bytes in all)"
    assert sum(map(len, texts)) < 700


def test_a_monitor_that_knows_the_message_tells_where_a_case_does_not() -> None:
    case = Judgement("ZI-020", Outcome.VIOLATION, "a case", "case", "an update is marked")
    monitor = msgspec.structs.replace(case, by="monitor", entry=4, nth=1, field="interest_id")
    passed = Judgement("ZI-021", Outcome.PASS, "a case")
    missed = Judgement("ZI-022", Outcome.INCONCLUSIVE, "a case", "case", "not reached")
    one, two, *others = with_messages((case, monitor, passed, missed), TRACE, ZENOH)
    assert one.messages == two.messages != ()
    assert [each.messages for each in others] == [(), ()]
