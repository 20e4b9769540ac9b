"""Decoding for the lake: frame by frame, and in batches of columns, a frame gives the same row."""

import sys
from itertools import islice

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra that stores tables")

from reports.jobs import decode as decoding  # noqa: E402
from vectors.sampling import stream  # noqa: E402
from wire.catalogue import layout  # noqa: E402

LAYOUTS = ("pathfinder/message", "pathfinder/deployed-message")


@pytest.fixture(autouse=True)
def anew():
    """No decoder is kept from or for other tests."""
    decoding.decoder.cache_clear()
    yield
    decoding.decoder.cache_clear()


@pytest.mark.parametrize("name", LAYOUTS)
def test_json_in_batches_and_frame_by_frame_is_the_same(name):
    if not decoding._is_built(name):
        pytest.skip("the extension of columns is not built")
    frames = pa.array([frame for frame, _ in islice(stream(layout(name), 21), 1500)], pa.binary())
    decode, by_one = decoding.decoder(name), decoding._ByOne(layout(name))
    assert not isinstance(decode, decoding._ByOne)
    for one, other in zip(decode(frames[10:]), by_one(frames[10:]), strict=True):
        assert one.type == other.type
        assert one.to_pylist() == other.to_pylist()
    refused, at, types = decode(frames)
    assert {"truncated", "bad-syntax", None} < set(refused.to_pylist())
    assert [reason is None for reason in refused.to_pylist()] == [where is None for where in at.to_pylist()]
    assert {"", "ping-request", "subscribe-notify-disappeared"} < set(types.to_pylist())


def test_json_without_the_extension(monkeypatch):
    monkeypatch.setitem(sys.modules, "wire.pathfinder.generated.columnar", None)
    decode = decoding.decoder(LAYOUTS[0])
    assert isinstance(decode, decoding._ByOne)
    frame = b'{"ta-cmd":"ping","ta-id":7,"msg-type":"request"}'
    assert [column.to_pylist() for column in decode(pa.array([frame, frame[:-1]]))] == [
        [None, "truncated"],
        [None, len(frame) - 1],
        ["ping-request", ""],
    ]
