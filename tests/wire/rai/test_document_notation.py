"""The document's examples as it prints them: what no parser takes is read in the lenient dialect."""

import os
import re
from pathlib import Path

import pytest

from wire.errors import DecodeError, Reason
from wire.rai.document_notation import rewritten
from wire.rai.relaxed import Dialect, Members, canonical, parse

DRAWING = re.compile(r"^( *)(_?[\w.]+) : (\{\n.*?^\1\})", re.MULTILINE | re.DOTALL)

MODERN = 725
"""The line from which on the document speaks of the protocol for today's brokers."""


def read(text: str) -> str:
    return canonical(parse(text.encode(), Dialect.LENIENT)).decode()


def test_every_drawing_of_the_document_is_read() -> None:
    folder = os.environ.get("GOLDWIRE_DOCUMENTS")
    if folder is None:
        pytest.skip("GOLDWIRE_DOCUMENTS names no folder with the documents")
    lines = Path(folder, "003_feb5155b8fa1c358.txt").read_text().splitlines()
    found = [drawing.group(2, 3) for drawing in DRAWING.finditer("\n".join(lines[MODERN - 1 :]))]
    assert len(found) == 29
    for subject, text in found:
        value = parse(text.encode(), Dialect.LENIENT)
        assert isinstance(value, Members)
        if subject != "route":  # of a node's database
            assert value.names()[:3] == ["session", "seqno", "digest"], subject
        assert parse(canonical(value), Dialect.STRICT) == value


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{ url : pgm://host:port, a : 1 }", '{"url":"pgm://host:port","a":1}'),
        ("{ wildcard : >, a : > }", '{"wildcard":">","a":">"}'),
        ("{\n subject : prefix.>\n pattern : (?s)\\Aprefix.\n}", '{"subject":"prefix.>","pattern":"(?s)\\\\Aprefix."}'),
        ("{\n type : drop\n status : nosubscribers\n}", '{"type":"drop","status":"nosubscribers"}'),
        ("{ a : 0x12345678 }", '{"a":305419896}'),
        ("{ data {\n message-data\n } }", '{"data":{}}'),
        ("{ data : {\n <msg data>\n } }", '{"data":{}}'),
        (
            "{ subs : [\n subject1, subject2, ...\n ], r : [\n 1, 2\n ] }",
            '{"subs":["subject1","subject2","..."],"r":[1,2]}',
        ),
        ("[ { user : user1, hash : HA0 },\n { user : user2 } ]", '[{"user":"user1","hash":"HA0"},{"user":"user2"}]'),
        ("[ { a : 1 }\n { b : 2 } ]", '[{"a":1},{"b":2}]'),
        ("{ a : 'it''s' }", None),
        ("{ a : 'x\"y', 'b c' : \"d\\'e\" }", '{"a":"x\\"y","b c":"d\'e"}'),
        ("{ a : true, b : null, c : -1.50, d : +5, }", '{"a":true,"b":null,"c":-1.50,"d":+5}'),
        ("{}", "{}"),
        ("[]", "[]"),
        ("abc def", '"abc def"'),
    ],
)
def test_what_the_document_prints(text: str, meant: str | None) -> None:
    if meant is None:
        with pytest.raises(DecodeError):
            read(text)
    else:
        assert read(text) == meant


@pytest.mark.parametrize("text", ['{"a":17.50,"b":[{"c":"\\n"},[]],"d":null}', '"x"', " [1,\n2] ", '{"a":{}}'])
def test_strict_json_stays_as_it_is(text: str) -> None:
    assert parse(text.encode(), Dialect.LENIENT) == parse(text.encode(), Dialect.STRICT)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("{ a : 1, : 2 }", Reason.BAD_SYNTAX, 9),
        ("{ a : 1 ] }", Reason.BAD_SYNTAX, 8),
        ("{ a : prefix.>", Reason.TRUNCATED, 14),
        ("{ url : pgm://host:port, ] }", Reason.BAD_SYNTAX, 25),
        ("", Reason.TRUNCATED, 0),
    ],
)
def test_a_refusal_is_where_it_is_in_the_example(text: str, reason: Reason, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        parse(text.encode(), Dialect.LENIENT)
    assert (caught.value.reason, caught.value.offset) == (reason, offset)


def test_places_are_told_of_both_texts() -> None:
    text, origin = rewritten("{ a : b.>\n c : 0x10 }")
    assert text == '{a:"b.>",c:16}'
    assert [origin(at) for at in (0, 1, 3, 8, 9, 11, 13, 99)] == [0, 2, 6, 11, 11, 15, 20, 21]
