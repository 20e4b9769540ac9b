"""Frames to values and back, and the golden vectors: what ``import goldwire`` offers of codecs."""

from typing import Any, Literal

from vectors.golden.loader import Vector, load
from wire.catalogue import grammar, grammars
from wire.engines import NAMES, Engine, MissingEngine, live
from wire.engines import engine as find_engine


def layouts() -> list[str]:
    """Return the names of the layouts, such as ``zenoh/network-message``."""
    return sorted(grammars())


def decode(
    layout: str, data: bytes, *, engine: str | None = None, overlong: Literal["accept", "refuse"] = "accept"
) -> Any:
    """Decode one whole frame of a layout.

    A message is a mapping with the names of the layout's fields; which of several messages it is, stands in it.
    ``engine`` is ``reference``, ``python`` or ``native``; the fastest that runs here by default. ``overlong`` says
    whether integers may be spelled with more bytes than they need.

    Raises ``DecodeError`` for a frame that the layout refuses, ``UnknownLayout``, and ``MissingEngine`` for an engine
    that does not run here.
    """
    return _engine(layout, engine).decode(layout, data, overlong=overlong)


def encode(layout: str, value: Any, *, engine: str | None = None) -> bytes:
    """Encode a value, which has the shape that ``decode`` returns, in the layout's canonical form.

    Raises ``EncodeError`` for a value that the layout cannot express, ``UnknownLayout``, and ``MissingEngine``.
    """
    return _engine(layout, engine).encode(layout, value)


def vectors(layout: str) -> list[Vector]:
    """Return the golden vectors of a layout, in the order of their file; ``UnknownLayout`` when there is none."""
    grammar(layout)
    return load(layout)


def _engine(layout: str, name: str | None) -> Engine:
    if name is None:
        return live(layout)
    if name not in NAMES:
        raise MissingEngine(f"no engine is called {name!r}; there are {', '.join(NAMES)}")
    return find_engine(name)
