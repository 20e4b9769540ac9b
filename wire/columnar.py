"""Batches of frames as Arrow columns: what a data pipeline reads, a row per frame.

::

    frames (Arrow binary, or a list of bytes) ──► decode_batch ──► Columns ──► pyarrow.record_batch(columns)

The columns are those of ``wire.columns``, after ``refused`` (the class of the refusal) and ``refused_at`` (its offset
in bytes), both null where a frame is accepted; all others are null where it is refused. A frame that is null itself
gives a row of nulls. Names of messages and classes of refusal are dictionaries: cast them to text for a consumer that
knows none (``column.dictionary_decode()``). Names have dots in them, so SQL wants them in quotes.

A layout of JSON has ``type`` beside these, the name of the message that a frame is, and no other columns.

The native engine needs no Arrow library, and lets other threads run. Where the extension is not built, the Python
engine makes the same columns, slowly, and with ``pyarrow``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from wire.catalogue import layout as find
from wire.columns import REFUSED, REFUSED_AT, Column, Table, columns_of
from wire.engines import BUILD, MissingEngine, engine
from wire.errors import DecodeError, Reason
from wire.kinds import Json, JsonObject, JsonUnion, Part
from wire.kinds.contexts import Cell, Kind
from wire.layout import Layout

Row = dict[tuple[str, Kind], Any]
"""The cells of one row that are not null, by path and kind."""


class Columns:
    """A decoded batch, for everything that speaks Arrow's PyCapsule interface; ``engine`` says who made it."""

    def __init__(self, layout: str, engine: str, batch: Any) -> None:
        self.layout = layout
        self.engine = engine
        self._batch = batch

    def __len__(self) -> int:
        return len(self._batch)

    def __arrow_c_schema__(self) -> Any:
        return self._batch.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_stream__(requested_schema)

    def schema_text(self) -> str:
        """Return the columns, a line each."""
        return schema_text(self.layout)


def decode_batch(layout: str, frames: Any, *, overlong: str = "accept", engine: str | None = None) -> Columns:
    """Decode every frame of a batch into a row of columns.

    ``frames`` are bytes or None in any iterable, or an Arrow array or stream of type binary or large_binary, of at
    most 2 GiB together. ``engine`` is ``"native"`` or ``"python"``; without it, native is taken if it is built.
    Refused frames are rows, not errors. Raises ``UnknownLayout``, ``MissingEngine`` when no engine runs here,
    ``TypeError`` for frames of another type, ``ValueError`` for too many bytes.
    """
    tree = _with_columns(layout)
    if not any(hasattr(frames, f"__arrow_c_{what}__") for what in ("array", "stream")):
        if isinstance(frames, bytes | bytearray | memoryview | str):
            raise TypeError(f"frames are a list of bytes, not one {type(frames).__name__}")
        frames = frames if isinstance(frames, list) else list(frames)
    try:
        made = None if engine == "python" else _extension(layout)
    except MissingEngine as missing:
        if engine == "native":
            raise
        made, why = None, f"{missing}; "
    else:
        why = ""
    if made is not None:
        return Columns(layout, "native", made.decode(layout, frames, overlong == "refuse"))
    return Columns(layout, "python", _fallback(tree, frames, overlong == "refuse", why))


def is_built(layout: str) -> bool:
    """Tell whether C makes the columns of a layout here; ``MissingEngine`` for a layout that has none."""
    _with_columns(layout)
    try:
        _extension(layout)
    except MissingEngine:
        return False
    return True


def _with_columns(layout: str) -> Layout:
    """Return the tree of a layout whose values have columns."""
    tree = find(layout)
    if tree.is_text:
        raise MissingEngine(f"{layout} is text, which has no columns; decode its frames one by one")
    return tree


Naming = Callable[[Any], str | None]
"""Which message a decoded value is; ``None`` if it is not one of several."""


def naming(layout: Layout) -> Naming:
    """Return what names the decoded values of a layout of JSON."""
    return _naming(layout.frame.node) if isinstance(layout.frame, Json) else lambda value: None


def _naming(part: Part) -> Naming:
    match part:
        case JsonUnion(by=by):
            known = {message: _naming(message) for message in part.messages}
            table = {key: known[message] for key, message in part.table()}
            return lambda value: table[tuple([value[name] for name in by])](value)
        case JsonObject(name=name):
            return lambda value: name or None
        case _:
            return lambda value: None


def schema_text(layout: str) -> str:
    """Return the columns of a layout, a line each: name and type, the columns of a list below it.

    Raises ``UnknownLayout``, and ``MissingEngine`` for a layout of texts.
    """
    lines = [f"{REFUSED}: dictionary of {', '.join(reason.value for reason in Reason)}", f"{REFUSED_AT}: int64"]
    return "\n".join([*lines, *_described(columns_of(_with_columns(layout)), "")])


def gather(layout: Layout, decode: Callable[[bytes], Any], frames: Iterable[bytes | None]) -> Any:
    """Return the columns of what ``decode`` gives or refuses (``DecodeError``), as a ``pyarrow.RecordBatch``."""
    pa = import_module("pyarrow")
    cells = _of_message(layout) if layout.is_json else lambda value: layout.root.cells(value, "", None)
    rows: list[Row] = []
    refusals: list[tuple[int, int] | None] = []
    reasons = list(Reason)
    for frame in frames:
        row: Row = {}
        refusal = None
        try:
            if frame is not None:
                row = dict(cells(decode(frame)))
        except DecodeError as error:
            refusal = reasons.index(error.reason), error.offset
        rows.append(row)
        refusals.append(refusal)
    table = columns_of(layout)
    kinds = _dictionary(pa, [refusal and refusal[0] for refusal in refusals], 1, [each.value for each in reasons])
    offsets = pa.array([refusal and refusal[1] for refusal in refusals], pa.int64())
    names = [REFUSED, REFUSED_AT, *(column.name for column in table.columns)]
    return pa.RecordBatch.from_arrays([kinds, offsets, *(_array(pa, each, rows) for each in table.columns)], names)


def _extension(layout: str) -> ModuleType:
    """Return the extension that has a layout, if it was built from the grammars of today."""
    package = f"wire.{layout.partition('/')[0]}.generated"
    try:
        module = import_module(f"{package}.columnar")
    except ImportError as error:
        raise MissingEngine(f"the columns of {layout} are not built: {error}; {BUILD}") from error
    if getattr(import_module(package), "COLUMNAR", module.STAMP) != module.STAMP:
        raise MissingEngine(f"the columns of {layout} were built from another grammar; {BUILD}")
    return module


def _fallback(layout: Layout, frames: Any, refuse: bool, why: str) -> Any:
    decode = engine("python").codec(layout.name).decode
    try:
        pa = import_module("pyarrow")
    except ImportError as error:
        raise MissingEngine(f"{why}the engine 'python' makes columns with pyarrow: {error}") from error
    return gather(layout, lambda frame: decode(frame, refuse), _frames(pa, frames))


def _frames(pa: Any, frames: Any) -> Sequence[bytes | None]:
    """Return frames as a list, whatever they came in."""
    if isinstance(frames, list):
        wrong = next((index for index, frame in enumerate(frames) if not isinstance(frame, bytes | None)), None)
        if wrong is not None:
            raise TypeError(f"frame {wrong} is not bytes, nor None")
        return frames
    array = pa.array(frames) if hasattr(frames, "__arrow_c_array__") else pa.chunked_array(frames)
    if array.type not in (pa.binary(), pa.large_binary()):
        raise TypeError(f"frames are of the Arrow type binary or large_binary, not {array.type}")
    values: list[bytes | None] = array.to_pylist()
    return values


def _of_message(layout: Layout) -> Callable[[Any], Iterator[Cell]]:
    """Return what gives the only cell that a text of JSON fills."""
    name_of = naming(layout)

    def cells(value: Any) -> Iterator[Cell]:
        name = name_of(value)
        if name is not None:
            yield ("type", Kind.CHOICE), name

    return cells


def _array(pa: Any, column: Column, rows: Sequence[Row]) -> Any:
    values = [row.get((column.path, column.kind)) for row in rows]
    match column.kind:
        case Kind.NUMBER:
            return pa.array(values, getattr(pa, f"uint{8 * column.size}")())
        case Kind.SIGNED:
            return pa.array(values, getattr(pa, f"int{8 * column.size}")())
        case Kind.FLOAT | Kind.DOUBLE:  # values are bits, and stay what they are: a NaN has many
            bits = pa.array(values, getattr(pa, f"uint{8 * column.size}")())
            return bits.view(getattr(pa, f"float{8 * column.size}")())
        case Kind.CHOICE:
            choices = list(column.choices)
            indices = [None if value is None else choices.index(value) for value in values]
            return _dictionary(pa, indices, column.size, choices)
        case Kind.TEXT:
            return pa.array(values, pa.string())
        case Kind.BYTES:
            return pa.array(values, pa.binary())
        case Kind.ITEMS:
            assert column.items is not None
            return _list(pa, column.items, values)


def _dictionary(pa: Any, indices: Sequence[int | None], size: int, choices: Sequence[str]) -> Any:
    kind = pa.int8() if size == 1 else pa.int16()
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), pa.array(choices, pa.string()))


def _list(pa: Any, table: Table, values: Sequence[list[Row] | None]) -> Any:
    offsets, rows = [0], list[Row]()
    for value in values:
        rows += value or []
        offsets.append(len(rows))
    arrays = [_array(pa, column, rows) for column in table.columns]
    if arrays:
        items = pa.StructArray.from_arrays(arrays, [column.name for column in table.columns])
    else:  # of structs without fields nothing but their number is known
        items = pa.array([{}] * len(rows), pa.struct([]))
    missing = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, mask=missing)


def _described(table: Table, indent: str) -> Iterator[str]:
    for column in table.columns:
        match column.kind:
            case Kind.NUMBER:
                kind = f"uint{8 * column.size}"
            case Kind.SIGNED:
                kind = f"int{8 * column.size}"
            case Kind.FLOAT | Kind.DOUBLE:
                kind = f"float{8 * column.size}"
            case Kind.CHOICE:
                kind = f"dictionary of {', '.join(column.choices)}"
            case Kind.TEXT:
                kind = "utf8"
            case Kind.BYTES:
                kind = "binary"
            case Kind.ITEMS:
                kind = "list of"
        yield f"{indent}{column.name}: {kind}"
        if column.items is not None:
            yield from _described(column.items, f"{indent}    ")
