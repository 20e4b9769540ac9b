"""What a language with a grammar in ABNF brings to make frames of it: samples, mutations, parts, specimens."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

import msgspec

from wire.abnf import Grammar as Abnf
from wire.catalogue import protocols
from wire.errors import UnknownLayout


class TextSpecimen(msgspec.Struct, frozen=True):
    """A frame worth keeping, by name, and what it is ``about``: a text of the language or not, the reading decides."""

    name: str
    frame: bytes
    about: str = ""


Below = Callable[[int], int]
"""A choice: ``below(n)`` is from 0 to n - 1."""

Mutation = Callable[[bytes, Below], bytes | None]
"""Changes a frame; ``None`` where it has not what would be changed."""


class Samples(msgspec.Struct, frozen=True):
    """What makes frames of a language. A protocol's folder exports these as ``LANGUAGES``, by the names of its layouts.

    ``sample`` makes a value that has a frame, ``mutations`` change a frame, by name; ``parts`` finds where the parts of
    a frame begin and end that could stand alone, as far as it is a text of the language. Who reads a document otherwise
    reads by the grammar ``widest``, in which all that is ``disputed`` about this layout is a rule of its own: what has
    such a rule may be taken or refused. ``respells``: a value has several texts.
    """

    sample: Callable[[Random], Any]
    mutations: tuple[tuple[str, Mutation], ...]
    parts: Callable[[bytes], list[tuple[int, int]]]
    specimens: Callable[[], Iterable[TextSpecimen]]
    widest: Abnf
    disputed: frozenset[str]
    respells: bool = False


@cache
def samples(name: str) -> Samples:
    """Return what makes frames of a layout that is a language; ``UnknownLayout`` when its protocol exports nothing."""
    protocol, _, inner = name.partition("/")
    found: Samples | None = None
    if protocol in protocols():
        found = getattr(import_module(f"vectors.{protocol}"), "LANGUAGES", {}).get(inner)
    if found is None:
        raise UnknownLayout(f"{name}: no samples of the language; vectors/{protocol} exports them as LANGUAGES")
    return found
