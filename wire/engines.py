"""The engines: three ways to run the same layouts, with the same values, bytes and refusals.

``reference`` interprets the grammars; ``python`` runs code that was generated from them, or for a language with a
grammar of its own was written by hand; ``native`` runs C that was generated from them, where a compiler was at hand
when goldwire was installed.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

from wire import reference
from wire.catalogue import grammar
from wire.catalogue import layout as find
from wire.errors import WireError
from wire.languages import by_hand
from wire.runtime import Codec

BUILD = "where a C compiler is at hand, installing goldwire anew builds it"

NAMES = ("reference", "python", "native")


class MissingEngine(WireError):
    """An engine that does not run here; the message says why, and what to do."""


class Engine:
    """One engine: a codec for every layout."""

    def __init__(self, name: str, find: Callable[[str], Codec]) -> None:
        self.name = name
        self._find = cache(find)

    def codec(self, layout: str) -> Codec:
        """Return the bare functions of a layout, for loops that count nanoseconds.

        Raises ``UnknownLayout``, and ``MissingEngine`` when the protocol's codecs are not there.
        """
        return self._find(layout)

    def decode(self, layout: str, data: bytes, *, overlong: str = "accept") -> Any:
        """Decode one whole frame; ``overlong`` integers are accepted or refused. Raises ``DecodeError``.

        A message is a mapping with the names of the layout's fields; compare values with ``==``.
        """
        return self.codec(layout).decode(data, overlong == "refuse")

    def encode(self, layout: str, value: Any) -> bytes:
        """Encode a value canonically. Raises ``EncodeError``."""
        return self.codec(layout).encode(value)


def _reference(layout: str) -> Codec:
    grammar(layout)

    def decode(data: bytes, refuse: bool = False) -> Any:
        return reference.decode(layout, data, overlong="refuse" if refuse else "accept")

    return Codec(decode, partial(reference.encode, layout))


def _generated(engine: str, layout: str) -> Codec:
    if find(layout).is_text:
        if engine == "native":
            raise MissingEngine(f"{layout} is a language, which no C reads here: the fastest that it has is 'python'")
        return by_hand(grammar(layout), layout)
    if find(layout).is_json and engine == "native":
        raise MissingEngine(f"{layout} is JSON, which no C reads here but for columns: the fastest is 'python'")
    protocol, _, name = layout.partition("/")
    package = f"wire.{protocol}.generated"
    try:
        module = import_module(f"{package}.{engine}")
    except ImportError as error:
        raise MissingEngine(f"the engine {engine!r} of {layout} is not built: {error}; {BUILD}") from error
    # A grammar that was changed after the build is the usual case in a working copy: old C would decode another layout.
    if engine == "native" and module.STAMP != import_module(package).NATIVE:
        raise MissingEngine(f"the engine {engine!r} of {layout} was built from another grammar; {BUILD}")
    codecs: dict[str, Codec] = module.CODECS
    return codecs[name]


_ENGINES = {
    "reference": Engine("reference", _reference),
    "python": Engine("python", partial(_generated, "python")),
    "native": Engine("native", partial(_generated, "native")),
}


def engine(name: str) -> Engine:
    """Return an engine by its name, one of ``NAMES``."""
    return _ENGINES[name]


def present(layout: str) -> Iterator[Engine]:
    """Give the engines that run here for a layout, slowest first."""
    for each in _ENGINES.values():
        try:
            each.codec(layout)
        except MissingEngine:
            continue
        yield each


@cache
def live(layout: str) -> Engine:
    """Return the fastest engine that runs here for a layout, or the one that ``GOLDWIRE_ENGINE`` names.

    Raises ``MissingEngine`` when that one does not run here.
    """
    wanted = os.environ.get("GOLDWIRE_ENGINE")
    if wanted is None:
        # `present` gives the slowest first, so this is the fastest.
        return list(present(layout))[-1]
    if wanted not in NAMES:
        raise MissingEngine(f"GOLDWIRE_ENGINE is {wanted!r}; there are {', '.join(NAMES)}")
    _ENGINES[wanted].codec(layout)
    return _ENGINES[wanted]
