"""The job ``decode``: which messages each recorded frame holds, or why it is refused, by the columnar codec.

What has no columns here (text; JSON where no compiler was at hand) is decoded frame by frame. Either way a frame
becomes a row of the table ``decoded``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from harness.trace import EntryKind
from reports.lake.schemas import DECODED
from wire.catalogue import layout as find
from wire.columnar import decode_batch, naming
from wire.columns import REFUSED, REFUSED_AT, Column, Table, columns_of
from wire.engines import MissingEngine, live
from wire.errors import DecodeError
from wire.kinds.contexts import Kind
from wire.layout import Layout

READ = ("session", "seq", "data")
"""The columns of frames that decoding takes."""

FRAME = EntryKind.FRAME.value

OUT = pa.schema([field for field in DECODED.schema if field.name not in DECODED.partitions])

MOST_NAMES = 63
"""Names of messages that a mask has room for."""


def decoded(layout: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of ``decoded`` (the columns ``OUT``) for rows of frames (the columns ``READ``)."""
    # Once for all batches: making it lays out the columns.
    decode = decoder(layout)
    for batch in batches:
        refused, at, types = decode(batch.column("data"))
        yield pa.RecordBatch.from_arrays([batch.column("session"), batch.column("seq"), refused, at, types], schema=OUT)


Decoder = Callable[[Any], tuple[Any, Any, Any]]
"""From an Arrow array of frames to three: classes of refusal, their offsets, names of messages."""


@cache
def decoder(layout: str) -> Decoder:
    """Return the fastest way there is to decode a batch of frames of a layout."""
    tree = find(layout)
    # Compiled columns first, for JSON without numpy: they have the name of the message already.
    if tree.is_json and _is_built(layout):
        return partial(_named, layout)
    # Without numpy rows would be put together in Python, which is no faster than decoding frame by frame.
    if tree.is_json or tree.is_text or find_spec("numpy") is None:
        return _ByOne(tree)
    # The order of the alphabet, as everywhere in the table ``decoded``: rows of any engine are equal.
    names = sorted(set(_names(columns_of(tree))))
    # A mask is an int64, whose highest bit is its sign.
    return _Columnar(tree, names) if len(names) <= MOST_NAMES else _ByOne(tree)


def _is_built(layout: str) -> bool:
    try:
        decode_batch(layout, [], engine="native")
    except MissingEngine:
        return False
    return True


def _names(table: Table) -> Iterator[str]:
    for column in table.columns:
        yield from column.choices
        if column.items is not None:
            yield from _names(column.items)


def _named(layout: str, frames: Any) -> tuple[Any, Any, Any]:
    """Decode texts of JSON: a frame is one message, which has one name."""
    columns = pa.record_batch(decode_batch(layout, frames))
    # A layout of one kind of message has no field that says which it is.
    there = "type" in columns.schema.names
    types = columns.column("type").cast(pa.string()) if there else pa.nulls(len(columns), pa.string())
    return columns.column(REFUSED).cast(pa.string()), columns.column(REFUSED_AT), types.fill_null("")


class _Columnar:
    """By columns: a frame's messages are a mask of bits, and each mask that occurs is spelled once."""

    def __init__(self, layout: Layout, names: list[str]) -> None:
        self._np = import_module("numpy")
        self._layout = layout.name
        self._table = columns_of(layout)
        self._names = names
        self._bits = {name: 1 << place for place, name in enumerate(names)}

    def __call__(self, frames: Any) -> tuple[Any, Any, Any]:
        columns = pa.record_batch(decode_batch(self._layout, frames))
        masks = self._masks(self._table, columns.column, columns.schema.names, len(columns))
        # A million frames have a few hundred combinations of messages: texts are made for those, and taken by index.
        known, places = self._np.unique(masks, return_inverse=True)
        texts = pa.array([self._spelled(int(mask)) for mask in known], pa.string())
        types = texts.take(pa.array(places))
        return columns.column(REFUSED).cast(pa.string()), columns.column(REFUSED_AT), types

    def _spelled(self, mask: int) -> str:
        return " ".join(name for name in self._names if mask & self._bits[name])

    def _masks(self, table: Table, column: Callable[[int], Any], names: list[str], size: int) -> Any:
        """Return for each row the bits of the names in it."""
        np = self._np
        masks = np.zeros(size, np.int64)
        for each in table.columns:
            if each.kind is Kind.CHOICE:
                masks |= self._chosen(each, column(names.index(each.name)))
            elif each.items is not None and any(_names(each.items)):
                array = column(names.index(each.name))
                items = array.values
                inner = self._masks(each.items, items.field, [field.name for field in items.type], len(items))
                offsets = array.offsets.to_numpy()
                filled = np.flatnonzero(offsets[1:] > offsets[:-1])
                if len(filled):
                    # Lists are flat arrays with offsets; reduceat gives the next item's value for an empty list, so
                    # those are left out.
                    masks[filled] |= np.bitwise_or.reduceat(inner[: offsets[-1]], offsets[:-1][filled])
        return masks

    def _chosen(self, column: Column, array: Any) -> Any:
        # One more entry, 0, for rows without a choice: looked up like the others, so the loop stays in numpy.
        bits = self._np.array([self._bits[name] for name in column.choices] + [0], self._np.int64)
        return bits[array.indices.fill_null(len(column.choices)).to_numpy(zero_copy_only=False)]


class _ByOne:
    """Frame by frame, by the fastest engine there is."""

    def __init__(self, layout: Layout) -> None:
        self._decode = live(layout.name).codec(layout.name).decode
        self._named = naming(layout) if layout.is_json else _types_in

    def __call__(self, frames: Any) -> tuple[Any, Any, Any]:
        refused: list[str | None] = []
        at: list[int | None] = []
        types: list[str | None] = []
        for frame in frames.to_pylist():
            try:
                value = self._decode(frame)
            except DecodeError as error:
                refused.append(error.reason.value)
                at.append(error.offset)
                types.append("")
            else:
                refused.append(None)
                at.append(None)
                types.append(self._named(value) or "")
        return pa.array(refused, pa.string()), pa.array(at, pa.int64()), pa.array(types, pa.string())


def _types_in(value: Any) -> str:
    """Return the names of all messages in a value, each once, in the order of the alphabet."""
    return " ".join(sorted(set(_types(value))))


def _types(value: Any) -> Iterator[str]:
    """Give the names of all messages in a value."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name == "type" and isinstance(part, str):
                yield part
            else:
                yield from _types(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _types(part)
