"""Values with one thing wrong: what an encoder has to refuse, or has to be lenient about like every other one."""

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

MANY = 0x10000
"""Items, bytes or characters: one more than any batch has room for."""

ContainerKey = tuple[Any, Any]
"""A container that may be changed, and the name or index of a part of it."""


def make_invalid(value: Any, rng: random.Random) -> tuple[Any, str]:
    """Return a copy of a value in which one part is replaced, taken away or added, and what was done."""
    root = [copied(value)]
    container, key = rng.choice([*parts_within(root)])
    part = container[key]
    # Rarely, as a missing name is refused before anything else of the value is looked at.
    if isinstance(container, dict) and rng.random() < 0.1:
        del container[key]
        return root[0], f"without {key}"
    kind, new = rng.choice([*invalid_parts(part, rng)])
    container[key] = new
    return root[0], f"{kind} for {key}" if container is not root else f"{kind} for everything"


def copied(value: Any) -> Any:
    """Copy a value to dicts and lists that may be changed."""
    if isinstance(value, Mapping):
        return {name: copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


def parts_within(container: Any) -> Iterator[ContainerKey]:
    """Give every part of a container, at any depth."""
    for key in container if isinstance(container, dict) else range(len(container)):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from parts_within(container[key])


def invalid_parts(part: Any, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Give what may stand in place of a part, by name."""
    yield "nothing", None
    match part:
        case bool() | int():
            yield "a negative number", -1 - part
            yield "a large number", 1 << rng.choice((1, 2, 3, 4, 5, 7, 8, 14, 16, 24, 32, 56, 63, 64, 65, 200))
            yield "a largest number", (1 << rng.choice((1, 2, 4, 7, 8, 14, 16, 32, 56, 64))) - 1
            yield "a truth", bool(part)
            yield "a fraction", float(part) if part < 1 << 64 else 0.5
            yield "text", str(part)
            yield "bytes", b"\x00"
        case str():
            yield "bytes", part.encode("utf-8", "surrogatepass")
            yield "a surrogate", part + "\ud800"
            yield "an unknown name", "NOTHING"
            yield "long text", "a" * rng.choice((0x80, 0x100, 0x4000, MANY))
            yield "a number", 0
            yield "a list", [part]
            yield "a NUL", part + "\0"
        case float():
            yield "a negative number", -1.0 - abs(part)
            yield "no number", math.nan
            yield "no end", rng.choice((math.inf, -math.inf))
            yield "an integer", 1 << rng.choice((1, 31, 53, 62, 63, 64, 1100))
            yield "a number beyond any", 10**400
            yield "text", str(part)
            yield "a truth", True
        case bytes():
            yield "text", part.decode("latin-1")
            yield "a bytearray", bytearray(part)
            yield "long bytes", bytes(rng.choice((0x80, 0x100, 0x4000, MANY)))
            yield "more bytes", part + b"\x00"
            yield "fewer bytes", part[:-1]
            yield "numbers", [*part[:8]]
        case list():
            yield "an empty list", []
            yield "a shorter list", part[:-1]
            yield "a longer list", part + part[-1:]
            yield "a tuple", tuple(part)
            yield "a table", {}
            yield "a number", 0
            # Rare, as such a value takes as long as a thousand others.
            if part and rng.random() < 0.02:
                yield "a long list", part[:1] * MANY
        case dict():
            yield "an empty table", {}
            yield "an added name", {**part, "surplus": 0}
            yield "an odd name", {**part, rng.choice(("", "a\0", "\ud800", "\udc00\ud800", "\U0001f600")): 0}
            yield "an unknown type", {**part, "type": "NOTHING"}
            yield "no text as type", {**part, "type": ["NOTHING"]}
            yield "odd bits", {**part, "X": rng.choice((0, 1, 0x80, 0xFF, 0x100, -1, None))}
            yield "a list", [part]
            yield "text", "table"
        case _:
            yield "a number", 0
            yield "text", ""
            yield "bytes", b""
            yield "a list", []
            yield "a table", {}
