"""Annotated dumps."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectors.golden.loader import layouts, load
from wire.dump import TooManyFields, dump, render
from wire.errors import Reason, UnknownLayout

NETWORK, BATCH = "zenoh/network-message", "zenoh/batch"
UNKNOWN = "unknown mandatory extension: a receiver cannot act on this"


def table(layout, data, **options):
    return render(dump(layout, bytes.fromhex(data), **options))


def test_a_table():
    assert table(NETWORK, "3e ac 02 62 02 05 02 2f 62") == (
        "0000  3e        DECLARE.header                               Z=0 I=1 id=0x1e      DECLARE\n"
        "0001  ac 02     DECLARE.interest_id                          300\n"
        "0003  62        DECLARE.declaration.D_SUBSCRIBER.header      Z=0 M=1 N=1 id=0x02  D_SUBSCRIBER\n"
        "0004  02        DECLARE.declaration.D_SUBSCRIBER.subs_id     2\n"
        "0005  05        DECLARE.declaration.D_SUBSCRIBER.key_scope   5\n"
        '0006  02 2f 62  DECLARE.declaration.D_SUBSCRIBER.key_suffix  "/b"\n'
    )


def test_a_refused_frame():
    assert table(NETWORK, "39 05 12 80 80 04 00") == (
        "0000  39  INTEREST.header   Z=0 Mod=1 id=0x19                INTEREST, Current\n"
        "0001  05  INTEREST.id       5\n"
        "0002  12  INTEREST.options  A=0 M=0 N=0 R=1 T=0 Q=0 S=1 K=0\n"
        "0003  80 80 04 00 (end)\n"
        "      ^\n"
        "refused: out-of-range at byte 3 (0x3), INTEREST.key_scope: 65536 does not fit in 16 bits\n"
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("", "0000  (end)"),
        ("39 80", "0001  80 (end)"),
        ("19 05 02", "0002  02 (end)"),
        ("19 05" + "00" * 20, "0002" + "  00" + " 00" * 15 + " …"),
    ],
)
def test_the_place_of_a_refusal(data, line):
    text = table(NETWORK, data).splitlines()
    assert text[-3] == line
    dumped = dump(NETWORK, bytes.fromhex(data))
    assert dumped.error is not None
    shown = int(text[-3][:4], 16)
    assert text[-2] == " " * (6 + 3 * (dumped.error.offset - shown)) + "^"


def test_both_readings_of_a_wire_expr():
    rows = dump(NETWORK, bytes.fromhex("1e83055f06010003612f62")).rows
    assert rows[-2].remarks == ("extension WireExpr",)
    assert rows[-1].remarks == (
        'document: M=0 N=1 key_scope=0 key_suffix="a/b"',
        'deployed: M=0 N=1 key_scope=0 key_suffix="\\u0003a/b"',
    )
    assert dump(NETWORK, bytes.fromhex("1e83055f020205")).rows[-1].remarks == ("M=1 N=0 key_scope=5",)
    refused, read = dump(NETWORK, bytes.fromhex("1e83055f050100612f62")).rows[-1].remarks
    assert refused.startswith("document: truncated at byte 2 (key_suffix)")
    assert read == 'deployed: M=0 N=1 key_scope=0 key_suffix="a/b"'


def test_both_readings_of_a_queryable_info():
    rows = dump(NETWORK, bytes.fromhex("1ee4010001612187 06".replace(" ", ""))).rows
    assert rows[-2].remarks == ("extension QueryableInfo",)
    assert rows[-1].remarks == ("document: complete=1 distance=387", "deployed: complete=1 distance=3")


@pytest.mark.parametrize(
    ("data", "path", "remark"),
    [
        ("b901022105", "INTEREST.extensions[0].header", "extension QoS"),
        ("b901023301", "INTEREST.extensions[0].header", "extension NodeId"),
        ("b901020a", "INTEREST.extensions[0].header", "unknown extension, skipped"),
        ("b901021a", "INTEREST.extensions[0].header", f"{UNKNOWN} INTEREST"),
        ("be01311a1a", "DECLARE.extensions[0].header", f"{UNKNOWN} DECLARE"),
        ("5905 01".replace(" ", ""), "INTEREST.header", "INTEREST, Future"),
        ("1905", "INTEREST_FINAL.header", "INTEREST_FINAL"),
        ("3e013a", "DECLARE.declaration.D_FINAL.header", "reserved bits 0x20 are set"),
        ("39810002", "INTEREST.id", "overlong: 2 bytes where 1 are enough"),
        ("390132008100 61".replace(" ", ""), "INTEREST.key_suffix", "overlong: 3 bytes where 2 are enough"),
        ("b9010242030101aa", "INTEREST.extensions[0].value", "time=1 (0.000000 s since 1970) clock_id=aa"),
        ("b90102420102", "INTEREST.extensions[0].value", "truncated at byte 1 (clock_id)"),
    ],
)
def test_remarks(data, path, remark):
    rows = {row.path: row.remarks for row in dump(NETWORK, bytes.fromhex(data)).rows}
    assert any(each.startswith(remark) for each in rows[path])


def test_long_fields_are_cut():
    text = table(NETWORK, "5d00" + "01" + "e807" + "61" * 1000)
    assert "… 1002 bytes" in text
    assert "(1000 bytes)" in text
    assert max(len(line) for line in text.splitlines()) < 200
    assert len(text.splitlines()) == 7


def test_text_cannot_play_with_the_terminal():
    text = table(NETWORK, "39013200" + "08" + "1b5b326a0a0d007f")
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(text.splitlines()) == 6


def test_overlong_can_be_refused():
    dumped = dump(NETWORK, bytes.fromhex("39810002"), overlong="refuse")
    assert dumped.error is not None
    assert dumped.error.reason is Reason.OVERLONG


def test_a_frame_of_too_many_fields():
    with pytest.raises(TooManyFields, match="more than 10 fields"):
        dump(BATCH, b"\x04" * 11, most=10)
    assert len(dump(BATCH, b"\x04" * 10, most=10).rows) == 10


def test_an_unknown_layout():
    with pytest.raises(UnknownLayout, match="zenoh/batch"):
        dump("zenoh/nothing", b"")


LONG = 20_000
"""Bytes of vectors that are left to the slow test: a row for each of 65,000 items takes 40 MB."""


@pytest.mark.parametrize("every", [pytest.param(10, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("layout", layouts())
def test_rows_cover_every_accepted_vector(layout, every):
    for vector in load(layout)[::every]:
        if every > 1 and len(vector.data) > LONG:
            continue
        dumped = dump(layout, vector.data)
        if dumped.error is None and not dumped.text:
            assert b"".join(row.data for row in dumped.rows) == vector.data
        elif dumped.error is None:  # between the values of JSON stand names, punctuation and white space
            at = 0
            for row in dumped.rows:
                assert re.fullmatch(
                    rb'(?:[ \t-\r{}\[\]:,]|"(?:[^"\\]|\\.)*" *[ \t\n\r]*:)*', vector.data[at : row.offset]
                )
                at = row.offset + len(row.data)
                assert vector.data[row.offset : at] == row.data
            assert not vector.data[at:].strip(b" \t\n\v\f\r{}[]:,")
        assert render(dumped)[-1:] in ("\n", "")


@given(st.sampled_from(layouts()), st.binary(max_size=40))
def test_any_bytes_can_be_shown(layout, data):
    dumped = dump(layout, data)
    if not dumped.text:
        assert data.startswith(b"".join(row.data for row in dumped.rows))
    lines = render(dumped).splitlines()
    assert (dumped.error is not None) == any(line.startswith("refused: ") for line in lines)
    if dumped.error is not None:
        assert set(lines[-2]) == {" ", "^"}


def text(frame):
    return render(dump("pathfinder/message", frame)).splitlines()


def test_a_text_cannot_play_with_the_terminal():
    lines = text('{"ta-cmd":"ping","ta-id":1,"msg-type":"fail","fail-reason":"\u202e\x7f\\u001b[31m\u00e9"}'.encode())
    assert all(line.isprintable() for line in lines)
    assert any(line.startswith('003b  "····\\u001b[31m··"') for line in lines), lines
    assert text(b"\x1b[31m")[0] == "0000  ·[31m (end)"


def test_the_message_is_named_where_that_is_decided():
    notify = b'{"match-type":"%b","ta-cmd":"subscribe","msg-type":"notify","ta-id":1,"service-id":2'
    assert text(notify % b"disappeared" + b"}")[0].endswith('"disappeared"  subscribe-notify-disappeared')
    assert text(notify % b"appeared" + b"}")[0].endswith('"appeared"   subscribe-notify')
    assert "subscribe" not in text(b'{"ta-cmd":"ping","msg-type":"request","ta-id":null}')[1]


def test_a_refused_text_is_shown_around_the_place():
    lines = text(b'{"ta-cmd":"ping","msg-type":"fail","fail-reason":"%b","ta-id":null,"x":0}' % (b"a" * 300))
    assert lines[-2].index("^") == lines[-3].index("null")
    assert lines[-3].endswith('"x":0} (end)')
    assert max(map(len, lines)) < 140
    assert text(b"")[-3:-1] == ["0000  (end)", "      ^"]
