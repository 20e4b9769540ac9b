"""Golden vectors for other programs: Parquet tables, and requests of the pipe."""

import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from vectors.golden.build import shorten, write
from vectors.golden.loader import Vector, load

FRAMES = 100
"""Frames of one request."""

Row = dict[str, Any]


class MissingArrow(RuntimeError):
    """Parquet is wanted, and pyarrow is not installed; the message says how to get it."""


def export(layouts: Iterable[str], form: str, folder: Path) -> list[Path]:
    """Write the vectors of layouts into a folder, a file each, and return the files.

    ``form`` is one of ``FORMS``. Raises ``MissingArrow``, ``UnknownVectors``.
    """
    suffix, make = FORMS[form]
    # All are made before any is written: a layout that cannot be exported leaves no half of an export.
    made = [(folder / f"{layout}{suffix}", make(layout, load(layout))) for layout in layouts]
    for path, content in made:
        write(path, content)
    return [path for path, _ in made]


def parquet(layout: str, vectors: list[Vector]) -> bytes:
    """Return a Parquet file with a row for each vector; values and meanings are columns of JSON."""
    try:
        pyarrow, files = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingArrow("Parquet needs pyarrow: pip install 'goldwire[arrow]'") from None
    text, names = pyarrow.string(), pyarrow.list_(pyarrow.string())
    columns = {
        "layout": (text, False),
        "group": (text, False),
        "id": (text, False),
        "comment": (text, False),
        "bytes": (pyarrow.binary(), False),
        "result": (text, False),
        "reason": (text, True),
        "flags": (names, False),
        "rules": (names, False),
        "canonical": (pyarrow.binary(), True),
        "value": (text, True),
        "meaning": (text, True),
        "context": (text, True),
    }
    fields = [pyarrow.field(name, kind, nullable=nullable) for name, (kind, nullable) in columns.items()]
    schema = pyarrow.schema(fields, metadata={"goldwire.layout": layout})
    table = pyarrow.Table.from_pylist([as_row(vector) for vector in vectors], schema=schema)
    out = BytesIO()
    files.write_table(
        table, out, compression="zstd", version="2.6", use_dictionary=["layout", "group", "result", "reason"]
    )
    return out.getvalue()


def as_row(vector: Vector) -> Row:
    """Return the columns of a vector; a value is JSON as in the files, with runs for what repeats itself."""
    accepted = vector.result != "invalid" and vector.reason is None
    return {
        "layout": vector.layout,
        "group": vector.group,
        "id": vector.id,
        "comment": vector.comment,
        "bytes": vector.data,
        "result": vector.result,
        "reason": vector.reason,
        "flags": list(vector.flags),
        "rules": list(vector.rules),
        "canonical": vector.canonical,
        "value": json.dumps(shorten(vector.value), ensure_ascii=False) if accepted else None,
        "meaning": None if vector.meaning is None else json.dumps(vector.meaning, ensure_ascii=False),
        "context": vector.context or None,
    }


def pipe(layout: str, vectors: list[Vector]) -> bytes:
    """Return the requests of the pipe that let a program decode every frame, and encode every value.

    The frames are in the order of the vectors; the values are those of the vectors that have one.
    """
    # Refused frames have no value, and where the documents leave it open none that every codec has to write.
    valued = [vector for vector in vectors if vector.result != "invalid" and vector.reason is None]
    lines = [{"do": "describe"}]
    lines += _requests("decode", layout, "frames", [vector.data.hex() for vector in vectors])
    lines += _requests("encode", layout, "values", [vector.value for vector in valued])
    # ASCII: whoever pipes them through a shell loses nothing to a locale.
    numbered = (json.dumps({"id": number, **line}, default=as_hex) + "\n" for number, line in enumerate(lines, start=1))
    return "".join(numbered).encode("ascii")


def _requests(do: str, layout: str, name: str, items: list[Any]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(items), FRAMES):
        yield {"do": do, "layout": layout, name: items[start : start + FRAMES]}


def as_hex(data: bytes) -> dict[str, str]:
    """Write bytes as the pipe does."""
    return {"hex": data.hex()}


FORMS: dict[str, tuple[str, Callable[[str, list[Vector]], bytes]]] = {
    "parquet": (".parquet", parquet),
    "pipe": (".requests.jsonl", pipe),
}
"""The forms of an export: the end of a file's name, and what makes its content."""
