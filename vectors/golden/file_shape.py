"""The shape of files of vectors: by their JSON Schema, and where in a file something is wrong."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple


class Problem(NamedTuple):
    """Something that is wrong in a file of vectors: where, and what."""

    file: str
    place: str
    words: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the files."""
    found: dict[str, Any] = json.loads(files("vectors").joinpath("schema.json").read_text("utf-8"))
    return found


def schema_problems(plain: Any, name: str) -> Iterator[Problem]:
    """Give what the JSON Schema has against a file, where ``jsonschema`` is installed; nothing elsewhere."""
    try:
        import jsonschema
    except ImportError:
        return
    for error in jsonschema.Draft202012Validator(schema()).iter_errors(plain):
        yield Problem(name, path_words(plain, list(error.absolute_path)), error.message[:400])


def located(plain: Any, message: str) -> tuple[str, str]:
    """Turn a message of msgspec with a JSON path into words and a place."""
    words, _, path = message.partition(" - at ")
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path.strip("`$"))]
    return path_words(plain, steps), words


def path_words(plain: Any, steps: list[Any]) -> str:
    """Name a place in a file of vectors that may be wrong in any way."""
    words: list[str] = []
    for step in steps:
        plain = plain[step] if isinstance(plain, list | dict) and step in range_or_keys(plain) else None
        if isinstance(step, int) and isinstance(plain, dict) and ("name" in plain or "id" in plain):
            words.append(f"group {plain['name']}" if "name" in plain else f"vector {plain['id']}")
        elif step not in ("groups", "vectors"):
            words.append(str(step))
    return ", ".join(words)


def range_or_keys(plain: Any) -> Any:
    """Return what an array or object can be asked for."""
    return range(len(plain)) if isinstance(plain, list) else plain
