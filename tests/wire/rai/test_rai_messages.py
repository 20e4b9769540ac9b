"""The messages of Rai as layouts, held to the values that our own nodes write and read."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vectors.golden.loader import load
from wire.engines import engine
from wire.errors import DecodeError
from wire.rai import LAYOUTS, values
from wire.rai.values import Body, Message, Raw, of, read, write

SUBJECTS = {
    "hello": "_SESSION.HELLO",
    "bye": "_SESSION.BYE",
    "auth": "_INBOX.sam.NONCE.auth",
    "sub-start": "_SUB.START.A",
    "sub-stop": "_SUB.STOP.A",
    "psub": "_PSUB.START.A._",
    "get-subs": "_INBOX.sam.NONCE.get_subs",
    "subs": "_INBOX.paul.NONCE.sam.subs",
    "snap": "_SNAP.A",
    "reply": "_INBOX.sam.NONCE.1",
    "publish": "A",
    "dict-request": "_INBOX.paul.NONCE.dict",
    "dict": "_INBOX.sam.NONCE.1",
}
"""A subject under which each layout's message is published."""

DATA = Raw(b'{"BID":17.75,"a":[null,{"b":true}]}')

WRITTEN: list[Body] = [
    values.Hello(time=1, interval=10, cnonce="c"),
    values.Hello(time=1, interval=10, cnonce="c", ucast_url="pgm://host:1"),
    values.Heartbeat(time=1, interval=10, cnonce="c"),
    values.Bye(),
    values.Auth(auth_time=1, time=2, cnonce="c"),
    values.SubStart(),
    values.SubStart(return_=1, initial=True, ack=True, format="json", expires=5),
    values.SubStart(return_="a.b"),
    values.SubStop(return_=1, ack=True),
    values.WildStart(subject="A.>", pattern="(?s)\\AA\\.", expires=5),
    values.WildStop(subject="A.>", pattern="(?s)\\AA\\."),
    values.GetSubs(return_="sam.subs", last_seen=0),
    values.GetSubs(return_=5, last_seen=0, wildcard="A.>"),
    values.Subs(last_seen=0, subs=[]),
    values.Subs(last_seen=0, initial=True, ack=True, subs=["A", "B"], subs_return=[1, "x.2"]),
    values.SnapRequest(return_=1, format="json"),
    values.Reply(type="start", subject="A", status="ack"),
    values.Reply(type="snap", subject="A", format="json", dictionary="d", dict_csum=5, data=DATA),
    values.Published(data=DATA),
    values.Published(type="drop", status="relocate", text="B"),
    values.DictRequest(dictionary="d", dict_csum="0x12345678", return_=1),
    values.Dict(dictionary="d", dict_csum=5, data=DATA),
]


def bodies() -> Iterator[type[Body]]:
    ahead: list[type[Body]] = [Body]
    while ahead:
        found = ahead.pop()
        ahead += found.__subclasses__()
        if hasattr(found, "layout"):
            yield found


def test_every_body_has_a_layout() -> None:
    named = {body.layout.partition("/")[2] for body in bodies()}
    assert named == set(SUBJECTS) == set(LAYOUTS) - {"envelope", "text"}


@pytest.mark.parametrize("body", WRITTEN, ids=lambda body: type(body).__name__)
def test_what_is_written_is_of_its_layout(body: Body) -> None:
    payload = write(of(SUBJECTS[body.layout.partition("/")[2]], "sam.NONCE", 7, body, "d"))
    for each in (engine("reference"), engine("python")):
        value = each.decode(body.layout, payload)
        assert each.encode(body.layout, value) == payload
    assert value["seqno"] == 7
    assert {name for name in value if name not in ("session", "seqno", "digest")} == set(
        msgspec.json.decode(values.encoded(body))
    )


@pytest.mark.parametrize("layout", SUBJECTS)
def test_what_a_layout_takes_is_read(layout: str) -> None:
    """Every vector of it but those whose header is none."""
    for vector in load(f"rai/{layout}"):
        if vector.result == "valid":
            message = read(SUBJECTS[layout], vector.data)
            assert message.seqno == vector.value["seqno"]
            assert message.body.layout in (f"rai/{layout}", "rai/reply", "rai/dict", "rai/publish")


def taken(subject: str, payload: bytes) -> Message | None:
    try:
        return read(subject, payload)
    except DecodeError:
        return None


PIECES = st.sampled_from(
    (
        b"",
        b" ",
        b",",
        b"}",
        b"{",
        b'"',
        b"\\",
        b"\\u0041",
        b"1.50",
        b"-0",
        b"01",
        b"x",
        b"\xff",
        "é".encode(),
        b"\n",
        b'"data":{"A":1,"A":2},',
        b'"type":"drop",',
        b'"other":1,',
        b'"seqno":1,',
        b"{}",
        b"[1,]",
        b"null",
        b"'a'",
    )
)


@given(body=st.sampled_from(WRITTEN), at=st.integers(0, 300), gone=st.integers(0, 12), piece=PIECES)
@example(values.Dict(dictionary="d", dict_csum=5, data=DATA), 77, 0, b'"seqno":1,')  # a header's member once more
@example(values.Bye(), 31, 0, b"01")  # a number that begins with 0
def test_what_is_read_in_a_moment_is_what_is_read_with_care(body: Body, at: int, gone: int, piece: bytes) -> None:
    """A space at its beginning makes a text one that nobody here writes, and changes nothing of what it says."""
    subject = SUBJECTS[body.layout.partition("/")[2]]
    text = write(of(subject, "sam.NONCE", 7, body, "d"))
    for each in (text, text[:at] + piece + text[at + gone :]):
        assert taken(subject, each) == taken(subject, b" " + each)


@pytest.mark.parametrize("layout", SUBJECTS)
def test_the_header_is_needed(layout: str) -> None:
    with pytest.raises(DecodeError):
        engine("python").decode(f"rai/{layout}", b"{}")


# Section "Subscription Notification" and others: each drawing of the document as strict JSON, with numbers for words.
@pytest.mark.parametrize(
    ("layout", "body"),
    [
        ("hello", '"ucast_url":"pgm://host:port","time":1,"interval":2,"cnonce":"CNONCE"'),
        ("auth", '"auth_time":1,"time":2,"cnonce":"CNONCE"'),
        ("sub-start", '"return":1,"initial":true,"ack":true,"format":"json","expires":3'),
        ("sub-stop", '"return":1,"ack":true'),
        ("psub", '"expires":3,"subject":"prefix.>","pattern":"(?s)\\\\Aprefix."'),
        ("get-subs", '"return":"sam.subs","last_seen":1,"wildcard":">"'),
        (
            "subs",
            '"last_seen":1,"wildcard":">","initial":true,"ack":true,"subs":["subject1","subject2"],"subs_return":[1,2]',
        ),
        ("snap", '"return":1,"format":"json"'),
        ("reply", '"type":"start","subject":"subject","status":"ack"'),
        (
            "reply",
            '"type":"start","subject":"subject","format":"json","dictionary":"json","dict_csum":305419896,"data":{}',
        ),
        ("reply", '"type":"snap","subject":"subject","status":"not_found"'),
        ("publish", '"data":{}'),
        ("publish", '"type":"drop","status":"nosubscribers"'),
        ("publish", '"status":"conflated","data":{}'),
        ("publish", '"type":"recap","status":"feed_switch","data":{}'),
        ("dict-request", '"dictionary":"json","dict_csum":305419896,"return":1'),
        ("dict", '"dictionary":"json","dict_csum":305419896,"data":{}'),
    ],
)
def test_members_are_written_in_the_order_of_the_document(layout: str, body: str) -> None:
    payload = f'{{"session":"sam.NONCE","seqno":1,"digest":"digest_bits",{body}}}'.encode()
    value = engine("reference").decode(f"rai/{layout}", payload)
    backwards = dict(reversed(value.items()))
    assert engine("reference").encode(f"rai/{layout}", backwards) == payload
    assert engine("python").encode(f"rai/{layout}", backwards) == payload
