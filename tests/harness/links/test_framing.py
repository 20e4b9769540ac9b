"""Framings: the frames of a stream, however it is cut into pieces."""

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import Oversized
from harness.links.framing import JsonStream, LengthPrefixed
from vectors.strategies import LETTERS

PREFIXED = LengthPrefixed(4, "big", 1000)
STREAM = JsonStream(1000)
TRICKY = [
    b"{}",
    b'{"a": "}"}',
    b'{"a": "{{{\\""}',
    b'{"\\\\": {"b": [{}, {"c": "\\\\"}]}}',
    '{"ä€😀": "\\u007b"}'.encode(),
]

# Short and few: braces within braces, and texts with both, need no more, and most of the time goes into making it.
texts = st.text(LETTERS, max_size=6)
values = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=3)


def fed(framing, stream, *cuts):
    """The frames of a stream that comes in pieces."""
    reader = framing.reader()
    borders = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    frames = []
    for start, end in itertools.pairwise(borders):
        frames += reader.feed(stream[start:end])
    return frames, reader.rest


@given(st.lists(st.binary(max_size=300), max_size=8), st.lists(st.integers(0, 2000)))
def test_prefixed_frames_come_out_however_they_are_cut(frames, cuts):
    stream = b"".join(map(PREFIXED.encode, frames))
    assert fed(PREFIXED, stream, *cuts) == (frames, b"")


@given(st.lists(objects, max_size=5), st.sampled_from(["", " ", "\r\n\t"]), st.lists(st.integers(0, 2000)))
def test_objects_come_out_however_they_are_cut(objects, space, cuts):
    framing = JsonStream()
    frames = [json.dumps(each, ensure_ascii=False).encode() for each in objects]
    stream = space.encode().join([b"", *frames, b""])
    assert fed(framing, stream, *cuts) == (frames, b"")


def test_braces_in_strings_are_no_braces():
    stream = b"".join(TRICKY)
    assert fed(STREAM, stream) == (TRICKY, b"")
    assert fed(STREAM, stream, *range(len(stream))) == (TRICKY, b"")


def test_what_is_not_whole_is_the_rest():
    assert fed(PREFIXED, PREFIXED.encode(b"abc") + b"\0\0\0") == ([b"abc"], b"\0\0\0")
    assert fed(PREFIXED, PREFIXED.encode(b"abc")[:-1]) == ([], b"\0\0\0\3ab")
    assert fed(STREAM, b'{} {"a": "}') == ([b"{}"], b'{"a": "}')
    assert fed(STREAM, b"{}  ") == ([b"{}"], b"")


@pytest.mark.parametrize("garbage", [b"[1, 2]", b"}", b"hello {", b"\xef\xbb\xbf{}", b"\0", b",{}"])
def test_what_cannot_be_an_object_is_a_frame_of_its_own_at_once(garbage):
    assert fed(STREAM, b"{} " + garbage) == ([b"{}", garbage], b"")
    reader = STREAM.reader()
    assert reader.feed(b" " + garbage) == [garbage]
    # A border that was lost is not found again: this may be the inside of something.
    assert reader.feed(b'{"a": 1}{}') == [b'{"a": 1}{}']


@pytest.mark.parametrize("length", [1001, 1 << 31, (1 << 32) - 1])
def test_a_prefix_beyond_the_most_is_refused_before_anything_follows(length):
    reader = PREFIXED.reader()
    with pytest.raises(Oversized, match=f"{length} bytes is announced: 1000 is the most") as refusal:
        reader.feed(PREFIXED.encode(b"before") + length.to_bytes(4, "big"))
    assert refusal.value.frames == [b"before"]
    assert reader.rest == length.to_bytes(4, "big")


def test_the_most_itself_is_taken():
    assert fed(PREFIXED, PREFIXED.encode(b"x" * 1000)) == ([b"x" * 1000], b"")
    whole = b'{"a": "' + b"x" * 991 + b'"}'
    assert fed(STREAM, b" " + whole) == ([whole], b"")


@pytest.mark.parametrize("ending", [b"", b'"}'])
def test_an_object_that_is_too_long_is_refused(ending):
    reader = STREAM.reader()
    with pytest.raises(Oversized, match="1000 bytes") as refusal:
        reader.feed(b'{}{"a": "' + b"x" * 994 + ending)
    assert refusal.value.frames == [b"{}"]
    assert reader.rest.startswith(b'{"a": "xxx')


@pytest.mark.parametrize("framing", [PREFIXED, STREAM])
def test_a_frame_that_is_too_long_is_not_sent(framing):
    with pytest.raises(ValueError, match="1001 bytes does not fit"):
        framing.encode(b"x" * 1001)


def test_a_prefix_bounds_what_it_can_say():
    framing = LengthPrefixed()
    assert len(framing.encode(b"x" * 65535)) == 65537
    with pytest.raises(ValueError, match="65536 bytes does not fit"):
        framing.encode(b"x" * 65536)


LONG = b'{"a": "' + b"{" * 262_100 + b'"}'
DEEP = b'{"a":' * 40_000 + b"1" + b"}" * 40_000


@pytest.mark.parametrize("framing", [LengthPrefixed(4, "big", 1 << 18), JsonStream()])
@pytest.mark.parametrize("frame", [LONG, DEEP], ids=["long", "deep"])
def test_bytes_that_come_one_by_one_cost_no_more_than_bytes_that_come_at_once(framing, frame):
    stream = framing.encode(frame)

    def seconds(size):
        reader = framing.reader()
        began = time.process_time()
        frames = [one for place in range(size) for one in reader.feed(stream[place : place + 1])]
        return time.process_time() - began, frames

    # Four times as many bytes would cost sixteen times as much if each were weighed against all before it. One of
    # three goes is enough: whatever else the machine does can only add to the time.
    quarter = min(seconds(len(stream) // 4)[0] for _ in range(3))
    taken = []
    for _ in range(3):
        spent, frames = seconds(len(stream))
        assert frames == [frame]
        if spent < 10 * quarter:
            return
        taken.append(spent)
    raise AssertionError(f"{taken} seconds, of a quarter {quarter}")
