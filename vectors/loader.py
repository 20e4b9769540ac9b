"""The golden vectors as values."""

from importlib.resources import files
from typing import Any, Literal

import msgspec

Result = Literal["valid", "invalid", "acceptable"]


class Vector(msgspec.Struct, frozen=True):
    """One frame of a layout, and what a decoder makes of it.

    ``result`` is ``valid`` (gives ``value``), ``invalid`` (refused with the class ``reason``) or
    ``acceptable``: ``flags`` say why the documents leave it open, ``value`` is what those give who accept
    (``None`` when this project's layouts cannot express it), ``reason`` the class of those who refuse.
    ``canonical`` is what an accepted frame is written back as, when that is not ``data``. ``meaning``
    explains an extension's payload in both readings. ``rules`` are the ids that the vector exercises.
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


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    comment: str
    hex: str = msgspec.field(name="bytes")
    result: Result
    rules: tuple[str, ...]
    reason: str | None = None
    flags: tuple[str, ...] = ()
    canonical: str | None = None
    value: Any = None
    meaning: dict[str, Any] | None = None


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    vectors: tuple[_Entry, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal["goldwire-vectors-1"]
    layout: str
    flags: dict[str, str]
    groups: tuple[_Group, ...]


class UnknownVectors(LookupError):
    """A layout without vectors; the message lists those that have some."""


def layouts() -> list[str]:
    """Return the layouts that have vectors, by name, such as ``zenoh/network-message``."""
    return sorted(
        f"{folder.name}/{file.name.removesuffix('.json')}"
        for folder in files("vectors").iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".json")
    )


def load(layout: str) -> list[Vector]:
    """Return the vectors of a layout, in the order of the file; ``UnknownVectors`` when there are none.

    Raises ``msgspec.ValidationError`` when the file is not of this version's shape.
    """
    if layout not in layouts():
        raise UnknownVectors(f"there are no vectors for {layout!r}, only for {', '.join(layouts())}")
    file = msgspec.json.decode(files("vectors").joinpath(f"{layout}.json").read_bytes(), type=_File)
    return [vector(file.layout, group.name, entry) for group in file.groups for entry in group.vectors]


def vector(layout: str, group: str, entry: _Entry) -> Vector:
    """Turn an entry of a file into a vector: hex becomes bytes."""
    return Vector(
        layout=layout,
        group=group,
        id=entry.id,
        comment=entry.comment,
        data=bytes.fromhex(entry.hex),
        result=entry.result,
        reason=entry.reason,
        flags=entry.flags,
        canonical=None if entry.canonical is None else bytes.fromhex(entry.canonical),
        value=revive(entry.value),
        meaning=entry.meaning,
        rules=entry.rules,
    )


def revive(value: Any) -> Any:
    """Turn ``{"hex": …}`` back into bytes, at any depth."""
    if isinstance(value, dict):
        if value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {name: revive(part) for name, part in value.items()}
    return [revive(part) for part in value] if isinstance(value, list) else value
