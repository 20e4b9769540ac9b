"""The golden vectors as values."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

import msgspec

Result = Literal["valid", "invalid", "acceptable"]

SCHEMA = "goldwire-vectors-2"


class Vector(msgspec.Struct, frozen=True):
    """One frame of a layout, and what a decoder makes of it.

    ``result`` is ``valid`` (gives ``value``), ``invalid`` (refused with the class ``reason``) or
    ``acceptable``: ``flags`` say why the documents leave it open, ``value`` is what those give who accept
    (``None`` when this project's layouts cannot express it), ``reason`` the class of those who refuse.
    ``canonical`` is what an accepted frame is written back as, when that is not ``data``. ``meaning``
    explains an extension's payload in both readings. ``rules`` are the ids that the vector exercises. ``context`` is
    not empty where the messages are none of the documents': the file says under this name where their bounds come from.
    """

    layout: str
    group: str
    id: str
    comment: str
    data: bytes
    result: Result
    reason: str | None = None
    flags: tuple[str, ...] = ()
    canonical: bytes | None = None
    value: Any = None
    meaning: dict[str, Any] | None = None
    rules: tuple[str, ...] = ()
    context: str = ""


class Repetition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same bytes, so many times in a row."""

    hex: str
    times: int


Hex = str | tuple[str | Repetition, ...]
"""Bytes in hex: in one, or as pieces and runs."""


def joined(spelled: Hex) -> bytes:
    """Return the bytes that a file spells in hex."""
    pieces = (spelled,) if isinstance(spelled, str) else spelled
    return b"".join(
        bytes.fromhex(piece) if isinstance(piece, str) else bytes.fromhex(piece.hex) * piece.times for piece in pieces
    )


class VectorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A vector as a file has it: bytes in hex, long ones as a list of pieces and runs."""

    id: str
    comment: str
    hex: Hex = msgspec.field(name="bytes")
    result: Result
    rules: tuple[str, ...]
    reason: str | None = None
    flags: tuple[str, ...] = ()
    canonical: str | None = None
    value: Any = None
    meaning: dict[str, Any] | None = None
    context: str = ""

    @property
    def data(self) -> bytes:
        """The frame."""
        return joined(self.hex)


class VectorGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Vectors that belong together, under a name."""

    name: str
    vectors: tuple[VectorEntry, ...]


class VectorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of vectors."""

    schema: Literal["goldwire-vectors-2"]
    layout: str
    flags: dict[str, str]
    groups: tuple[VectorGroup, ...]
    contexts: dict[str, str] = {}


class UnknownVectors(LookupError):
    """A layout without vectors; the message lists those that have some."""


def layouts() -> list[str]:
    """Return the layouts that have vectors, by name, such as ``zenoh/network-message``."""
    return sorted(
        f"{folder.name}/{file.name.removesuffix('.json')}"
        for folder in files("vectors").iterdir()
        if folder.is_dir() and folder.joinpath("notes.toml").is_file()
        for file in folder.iterdir()
        if file.name.endswith(".json")
    )


def load(layout: str) -> list[Vector]:
    """Return the vectors of a layout, in the order of the file; ``UnknownVectors`` when there are none.

    Raises ``msgspec.ValidationError`` when the file is not of this version's shape.
    """
    file = read(_source(layout))
    return [vector(file.layout, group.name, entry) for group in file.groups for entry in group.vectors]


class _FrameEntry(msgspec.Struct, frozen=True):
    id: str
    hex: Hex = msgspec.field(name="bytes")


class _FrameGroup(msgspec.Struct, frozen=True):
    vectors: tuple[_FrameEntry, ...]


class _FrameFile(msgspec.Struct, frozen=True):
    groups: tuple[_FrameGroup, ...]


def frames(layout: str) -> dict[str, bytes]:
    """Return the frames of a layout's vectors by id, in the order of the file; ``UnknownVectors`` when there are none.

    What else a vector says is passed over: values take four times as long, and megabytes.
    """
    file = msgspec.json.decode(_source(layout).read_bytes(), type=_FrameFile)
    return {entry.id: joined(entry.hex) for group in file.groups for entry in group.vectors}


def _source(layout: str) -> Traversable:
    if layout not in layouts():
        raise UnknownVectors(f"there are no vectors for {layout!r}, only for {', '.join(layouts())}")
    return files("vectors").joinpath(f"{layout}.json")


def read(source: Traversable) -> VectorFile:
    """Read a file of vectors; ``msgspec.ValidationError`` when it is not of this version's shape."""
    return msgspec.json.decode(source.read_bytes(), type=VectorFile)


def vector(layout: str, group: str, entry: VectorEntry) -> Vector:
    """Turn an entry of a file into a vector: hex becomes bytes."""
    return Vector(
        layout=layout,
        group=group,
        id=entry.id,
        comment=entry.comment,
        data=entry.data,
        result=entry.result,
        reason=entry.reason,
        flags=entry.flags,
        canonical=None if entry.canonical is None else bytes.fromhex(entry.canonical),
        value=revive(entry.value),
        meaning=entry.meaning,
        rules=entry.rules,
        context=entry.context,
    )


HEX, HEX_RUN, TEXT_RUN, ITEM_RUN = {"hex"}, {"hex", "times"}, {"text", "times"}, {"item", "times"}


def revive(value: Any) -> Any:
    """Turn ``{"hex": …}`` back into bytes, and runs into what they stand for, at any depth."""
    if isinstance(value, dict):
        # By all its names: a message may have a field that is called so among others.
        if value.keys() == HEX:
            return bytes.fromhex(value["hex"])
        if value.keys() == HEX_RUN:
            return bytes.fromhex(value["hex"]) * value["times"]
        if value.keys() == TEXT_RUN:
            return value["text"] * value["times"]
        return {name: revive(part) for name, part in value.items()}
    if isinstance(value, list):
        return [part for each in value for part in revived(each)]
    return value


def revived(item: Any) -> list[Any]:
    """Return the items of a list that one of its elements stands for: itself, or so many of a run."""
    if isinstance(item, dict) and item.keys() == ITEM_RUN:
        return [revive(item["item"])] * int(item["times"])
    return [revive(item)]
