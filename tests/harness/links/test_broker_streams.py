"""What clients of brokers and their servers say, as bytes, cut into envelopes: each side by itself, piece by piece."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import Oversized
from harness.links.broker_framings import BROKER_FRAMINGS
from harness.links.framing import TwoSided
from harness.links.globs import glob_of, matcher, wildcard_of
from wire.envelope import LARGEST, cancel, data, listen
from wire.subjects import matches

FRAMINGS = list(BROKER_FRAMINGS.values())
NATS, RESP, WEBSOCKET = (BROKER_FRAMINGS[name] for name in ("nats", "redis", "websocket"))
names = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n"), min_size=1, max_size=8)
subjects = st.lists(names, min_size=1, max_size=3).map(".".join)
messages = st.builds(data, subjects, st.binary(max_size=300))
said = st.one_of(messages, st.builds(listen, subjects), st.builds(cancel, subjects))


def read(framing, stream, size=1):
    reader = framing.reader()
    frames = [frame for at in range(0, len(stream), size) for frame in reader.feed(stream[at : at + size])]
    assert reader.rest == b""
    return frames


def request(key=b"\1\2\3\4"):
    """A client's message of WebSocket: a text, masked."""

    def masked(text, opcode=0x81):
        size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + len(text).to_bytes(2, "big")
        return bytes([opcode]) + size + key + bytes(each ^ key[at % 4] for at, each in enumerate(text))

    return masked


def reply(*values, opcode=0x81):
    text = b"".join(json.dumps(each).encode() for each in values) + b"\r\n"
    size = bytes([len(text)]) if len(text) < 126 else b"\x7e" + len(text).to_bytes(2, "big")
    return bytes([opcode]) + size + text


@pytest.mark.parametrize("framing", FRAMINGS, ids=BROKER_FRAMINGS)
@pytest.mark.parametrize("size", [1, 7, 100_000])
@given(frames=st.lists(messages, max_size=5))
def test_what_either_side_publishes_comes_back(framing, size, frames):
    assert isinstance(framing, TwoSided)
    assert read(framing, b"".join(map(framing.encode, frames)), size) == frames
    assert read(framing, b"".join(map(framing.encode_answer, frames)), size) == frames


def test_what_a_client_of_nats_says():
    stream = (
        b'CONNECT {"verbose":false}\r\nPING\r\nSUB A.> 1\r\nsub\tA.*  workers\t2\r\nPUB A.B 5\r\nhello\r\n'
        b"PUB A.C reply.to 0\r\n\r\nHPUB A.D 12 17\r\nNATS/1.0\r\n\r\nworld\r\nUNSUB 2\r\n"
        b"UNSUB 1 5\r\nUNSUB 7\r\nPONG\r\n"
    )
    frames = [listen("A.>"), listen("A.*"), data("A.B", b"hello"), data("A.C", b""), data("A.D", b"world")]
    for size in (1, 3, 1000):
        assert read(NATS, stream, size) == [*frames, cancel("A.*")]


def test_what_a_server_of_nats_says():
    stream = (
        b'INFO {"max_payload":1048576}\r\nPONG\r\nMSG A.B 1 5\r\nhello\r\nMSG A.B 2 _INBOX.1 3\r\n\r\n\0\r\n'
        b"HMSG A.C 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n+OK\r\n-ERR 'Slow Consumer'\r\nMSG \xff 1 1\r\nx\r\nPING\r\n"
    )
    frames = [data("A.B", b"hello"), data("A.B", b"\r\n\0"), data("A.C", b"hi")]
    for size in (1, 3, 1000):
        assert read(NATS, stream, size) == frames


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        (b"GET / HTTP/1.1\r\nPUB A 1\r\nx\r\n", [b"GET / HTTP/1.1", data("A", b"x")]),
        (b"PUB A\r\nPUB A -1\r\nPUB A 1\r\nx\r\n", [b"PUB A", b"PUB A -1", data("A", b"x")]),
        (b"PUB A 1\r\nxyz\r\nPUB B 1\r\nx\r\n", [b"PUB A 1", b"xyz", data("B", b"x")]),
        (b"\r\nSUB A\r\nSUB A 1\r\n", [b"", b"SUB A", listen("A")]),
    ],
)
def test_what_is_no_operation_of_nats_is_a_frame_and_the_next_line_is_read(stream, frames):
    assert read(NATS, stream) == read(NATS, stream, 1000) == frames


def test_what_a_client_of_redis_says():
    def command(*words):
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(each), each) for each in words)

    stream = (
        command(b"HELLO", b"3")
        + command(b"SUBSCRIBE", b"A.B", b"A.C")
        + command(b"psubscribe", b"A.*", b"*")
        + command(b"PSUBSCRIBE", b"A.*.C", b"A.?")
        + b"PUBLISH A.B typed\r\n"
        + command(b"PUBLISH", b"A.B", b"\r\n\0")
        + command(b"UNSUBSCRIBE")
        + command(b"PUNSUBSCRIBE", b"A.*")
        + command(b"SET", b"A", b"1")
    )
    frames = [listen(each) for each in ("A.B", "A.C", "A.>", ">", "A.*.C", "A.?")]
    frames += [data("A.B", b"typed"), data("A.B", b"\r\n\0"), cancel("A.B"), cancel("A.C"), cancel("A.>")]
    for size in (1, 3, 1000):
        assert read(RESP, stream, size) == frames


def test_what_a_server_of_redis_says_in_both_versions():
    stream = (
        b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n>3\r\n$9\r\nsubscribe\r\n$3\r\nA.B\r\n:1\r\n"
        b">3\r\n$7\r\nmessage\r\n$3\r\nA.B\r\n$2\r\nhi\r\n:3\r\n|1\r\n$3\r\nttl\r\n:1\r\n"
        b">4\r\n$8\r\npmessage\r\n$3\r\nA.*\r\n$3\r\nA.C\r\n$0\r\n\r\n-ERR no\r\n+OK\r\n$-1\r\n_\r\n"
        b",1.5\r\n#t\r\n(12\r\n"
        b"*3\r\n$7\r\nmessage\r\n$3\r\nA.D\r\n$1\r\nx\r\n*-1\r\n*0\r\n!5\r\nERR x\r\n=7\r\ntxt:abc\r\n~1\r\n:1\r\n"
    )
    for size in (1, 3, 1000):
        assert read(RESP, stream, size) == [data("A.B", b"hi"), data("A.C", b""), data("A.D", b"x")]


@pytest.mark.parametrize(
    "stream", [b"$x\r\n", b"$-2\r\n", b"*1\r\n$1\r\nxyz\r\n", b"#x\r\n", b":\r\n", b",y\r\n", b"\0\r\n", b"?\r\n"]
)
def test_what_is_no_resp_is_a_frame_and_all_behind_it(stream):
    published = RESP.encode(data("A", b"x"))
    reader = RESP.reader()
    [frame, wrong] = reader.feed(published + stream)
    assert frame == data("A", b"x")
    assert wrong
    assert stream.endswith(wrong)
    assert reader.feed(published) == [published]
    assert reader.rest == b""


def test_what_is_said_over_websocket():
    handshake = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
    masked = request()
    stream = (
        handshake
        + masked(b"*2\r\n$10\r\nPSUBSCRIBE\r\n$3\r\nA.*\r\n")
        + masked(b"", 0x89)
        + masked(b"*3\r\n$7\r\nPUBLISH\r\n", 0x01)
        + masked(b"", 0x8A)
        + masked(b"$1\r\nA\r\n$200\r\n" + b"x" * 200 + b"\r\n", 0x80)
        + masked(b"*1\r\n$4\r\nPING\r\n")
        + masked(b"", 0x88)
    )
    answers = (
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
        + reply(["psubscribe", "A.*", 1])
        + reply(["pmessage", "A.*", "A.B", "ž\udcff\0"])
        + reply(1)
        + reply(None)
        + reply("-ERR no")
        + reply(["message", "A", "x" * 200])
        + b"\x88\x00"
    )
    for size in (1, 3, 1000):
        assert read(WEBSOCKET, stream, size) == [listen("A.>"), data("A", b"x" * 200)]
        assert read(WEBSOCKET, stream.removeprefix(handshake), size) == [listen("A.>"), data("A", b"x" * 200)]
        assert read(WEBSOCKET, answers, size) == [data("A.B", "ž".encode() + b"\xff\0"), data("A", b"x" * 200)]


def test_what_is_no_websocket_is_a_frame_and_all_behind_it():
    reader = WEBSOCKET.reader()
    assert reader.feed(reply(1) + b"\xff\xff??") == [b"\xff\xff??"]
    assert reader.feed(reply(1)) == [reply(1)]
    masked = request()
    deep = b"[" * 100_000
    long = b"\x81\x7f" + len(deep).to_bytes(8, "big") + deep
    assert read(WEBSOCKET, masked(b"PING") + masked(b"*1\r\n$4\r\nPING\r\nx") + long, 1000) == [
        b"PING",
        b"*1\r\n$4\r\nPING\r\nx",
        deep,
    ]


@pytest.mark.parametrize(
    ("framing", "beginning"),
    [
        (NATS, b"PUB A 99999999\r\n"),
        (NATS, b"x" * (1 << 18)),
        (RESP, b"*3\r\n$7\r\nPUBLISH\r\n$1\r\nA\r\n$99999999\r\n"),
        (RESP, b"*99999999\r\n"),
        (RESP, b"*1\r\n" * 100),
        (RESP, b"+" + b"x" * (1 << 17)),
        (RESP, b"*5\r\n" + (b"$1048576\r\n" + bytes(LARGEST) + b"\r\n") * 5),
        (WEBSOCKET, b"\x81\x7f" + (1 << 40).to_bytes(8, "big")),
    ],
)
def test_what_is_too_long_ends_the_reading(framing, beginning):
    before = framing.encode(data("A", b"x"))
    with pytest.raises(Oversized) as end:
        framing.reader().feed(before + beginning)
    assert end.value.frames == [data("A", b"x")]


@pytest.mark.parametrize("framing", FRAMINGS, ids=BROKER_FRAMINGS)
def test_a_long_message_that_comes_in_small_pieces_takes_no_long_time(framing):
    frame = data("A", b"\xffx" * (LARGEST // 2))
    assert read(framing, framing.encode(frame), 64) == [frame]


@pytest.mark.parametrize("framing", FRAMINGS, ids=BROKER_FRAMINGS)
@given(data=st.binary(max_size=200), at=st.integers(0, 200))
def test_any_bytes_are_read_the_same_in_pieces(framing, data, at):
    def tried(*pieces):
        reader = framing.reader()
        frames = []
        for each in pieces:
            try:
                frames += reader.feed(each)
            except Oversized as error:
                return b"".join([*frames, *error.frames])
        return b"".join([*frames, reader.rest])

    assert tried(data) == tried(data[:at], data[at:])


@pytest.mark.parametrize("framing", FRAMINGS, ids=BROKER_FRAMINGS)
def test_what_is_no_envelope_cannot_be_said(framing):
    for frame in (b"", b"X\0\0", b"D\0\5A"):
        with pytest.raises(ValueError, match="no envelope"):
            framing.encode(frame)
        with pytest.raises(ValueError, match="no envelope"):
            framing.encode_answer(frame)
    with pytest.raises(ValueError, match="messages only"):
        framing.encode_answer(listen("A"))


@given(
    wildcard=st.lists(st.sampled_from(["*", ">", "A", "a*b", "[x]", "\\", "?"]), min_size=1, max_size=4),
    subject=subjects,
)
def test_a_glob_matches_what_its_wildcard_does(wildcard, subject):
    wildcard = ".".join(wildcard)
    if matches(wildcard, subject):
        assert matcher(glob_of(wildcard)).fullmatch(subject.encode())


@pytest.mark.parametrize(
    ("wildcard", "glob"),
    [("A.>", b"A.*"), (">", b"*"), ("A.*.C", b"A.*.C"), ("A.b*.>", rb"A.b\*.*"), ("A.[x].?.*.\\", rb"A.\[x].\?.*.\\")],
)
def test_globs_are_spelt_and_read(wildcard, glob):
    assert glob_of(wildcard) == glob
    assert wildcard_of(glob).decode() == wildcard


@pytest.mark.parametrize("glob", [b"A*", b"A.?", b"A.[xy]", b"A.b*.C"])
def test_a_glob_that_is_no_wildcard_stays_as_it_is(glob):
    assert wildcard_of(glob) == glob
