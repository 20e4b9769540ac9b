"""Control lines, from both sides."""

import io

import pytest

from harness.errors import ControlFailed, Unsupported
from harness.iuts.control import Control, ControlAnswer, ControlRequest, answer, parse, parse_answer, serve, write
from harness.trace import Trace


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("1 verbs\n", ControlRequest(1, "verbs")),
        ("12 declare subscriber s lab/a\r\n", ControlRequest(12, "declare", ("subscriber", "s", "lab/a"))),
        ("3 put lab/a two  words ", ControlRequest(3, "put", ("lab/a", "two", "", "words", ""))),
        ("4", ControlRequest(4, "")),
        ("", None),
        ("hello there", None),
        ("-1 verbs", None),
        ("5verbs", None),
    ],
)
def test_requests_are_read(line, request_):
    assert parse(line) == request_


def test_a_text_with_spaces_is_put_together_again():
    assert parse("3 put lab/a two  words ").rest(1) == "two  words "


@pytest.mark.parametrize(
    ("line", "answer_"),
    [
        ("1 ok", ControlAnswer(1, ok=True)),
        ("1 ok a b\n", ControlAnswer(1, ok=True, text="a b")),
        ("2 error no such thing", ControlAnswer(2, ok=False, text="no such thing")),
        ("2 okay", None),
        ("ok", None),
        ("2026-01-01 error in the log", None),
    ],
)
def test_answers_are_read_and_everything_else_is_log(line, answer_):
    assert parse_answer(line) == answer_


def test_an_answer_is_one_line():
    assert write(ControlAnswer(7, ok=False, text="two\nlines\r\n")) == "7 error two lines"
    assert write(ControlAnswer(8, ok=True)) == "8 ok"


def refuse(request):
    raise KeyError(request.args[0])


def cannot(request):
    raise Unsupported(f"kind {request.args[0]!r}")


HANDLERS = {
    "say": lambda request: request.rest(0),
    "refuse": refuse,
    "cannot": cannot,
    "hush": lambda _: None,
}


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        ("1 verbs", "1 ok say refuse cannot hush"),
        ("2 say a  b", "2 ok a  b"),
        ("3 hush", "3 ok"),
        ("4 refuse x", "4 error KeyError: 'x'"),
        ("5 cannot x", "5 error unsupported kind 'x'"),
        ("6 fly", "6 error unsupported verb 'fly'"),
    ],
)
def test_handlers_answer(line, answered):
    assert write(answer(parse(line), HANDLERS)) == answered


def test_a_node_serves_until_its_input_ends():
    output = io.StringIO()
    serve(HANDLERS, ["1 say hi\n", "noise\n", "2 hush\n"], output)
    assert output.getvalue() == "1 ok hi\n2 ok\n"


@pytest.fixture
def control():
    """A tester's side whose node answers at once, and says some other things too."""

    def send(line):
        made.feed("log line")
        made.feed("999 ok an answer that nobody waits for")
        if not line.endswith("silence\n"):
            made.feed(write(answer(parse(line), HANDLERS)))

    made = Control(send)
    return made


def test_a_request_returns_the_text_of_its_answer(control):
    assert control.request("say", "a", "b c") == "a b c"
    assert control.request("hush") == ""
    assert control.verbs() == set(HANDLERS)


def test_a_refusal_is_raised_with_the_question_and_the_answer(control):
    with pytest.raises(ControlFailed, match="'refuse x' failed: KeyError: 'x'") as refusal:
        control.request("refuse", "x")
    assert not isinstance(refusal.value, Unsupported)


def test_what_the_node_does_not_know_is_told_apart_from_a_failure(control):
    for words in (("fly",), ("cannot", "x")):
        with pytest.raises(Unsupported, match="unsupported"):
            control.request(*words)


def test_no_answer_in_time(control):
    with pytest.raises(ControlFailed, match=r"not answered within 0\.01 s"):
        control.request("silence", timeout=0.01)
    assert control.request("say", "still there") == "still there"


def test_a_node_that_ended(control):
    control.end()
    for _ in range(2):
        with pytest.raises(ControlFailed, match="the node has ended"):
            control.request("silence")


def test_a_closed_input():
    def send(_):
        raise BrokenPipeError

    with pytest.raises(ControlFailed, match="input is closed"):
        Control(send).request("verbs")


@pytest.mark.parametrize("words", [("",), ("say", ""), ("say", "a\nb")])
def test_what_cannot_stand_on_a_line_is_not_sent(control, words):
    with pytest.raises(ValueError, match="control line"):
        control.request(*words)


def test_requests_and_answers_are_noted_in_the_trace(control):
    control.trace = Trace("zenoh")
    control.request("say", "hi")
    assert [(entry.direction.value, entry.note) for entry in control.trace] == [
        ("sent", "say hi"),
        ("received", "ok hi"),
    ]
