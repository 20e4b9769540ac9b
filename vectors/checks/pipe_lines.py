"""Requests and answers of the pipe as lines of JSON (``pipe.md``, ``pipe.schema.json``), read strictly.

The schema is written out here in code, and not applied by a validator: an answer is read a hundred thousand times in a
check, and what is wrong with it has to be said in words that help who writes the program.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from vectors.checks.answers import (
    Answer,
    CodecDescription,
    Decoded,
    Encoded,
    Inexpressible,
    RefusedFrame,
    Skipped,
    shortened,
)
from vectors.checks.codec_program import PipeError, ProgramNotStarted
from vectors.json_objects import object_without_duplicates

VERSION = "goldwire-pipe-1"

_HEX = re.compile(r"([0-9a-f]{2})*")


class Malformed(PipeError):
    """A line that is not of the schema; it becomes ``Garbage``."""


def as_json(value: Any) -> str:
    """Write a value as the pipe does: bytes are ``{"hex": …}``."""
    return json.dumps(value, default=lambda data: {"hex": data.hex()})


def parse(line: bytes) -> dict[str, Any]:
    """Read an answer: one object, strict JSON; ``Malformed`` otherwise."""
    try:
        # Python's reader takes NaN and duplicate names, which other readers of JSON do not, or each in its own way: a
        # program that writes them works with goldwire by luck.
        answer = json.loads(line.decode(), parse_constant=_no_constant, object_pairs_hook=object_without_duplicates)
    except UnicodeDecodeError:
        raise Malformed("writes something that is not UTF-8") from None
    # RecursionError: brackets a thousand deep are one line of a program gone wild, and no reason for goldwire to end.
    except (ValueError, RecursionError) as error:
        raise Malformed(f"writes something that is not JSON ({error})") from None
    if not isinstance(answer, dict):
        raise Malformed("writes JSON that is not an object")
    return answer


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def read_description(answer: dict[str, Any]) -> CodecDescription:
    """Read the answer to ``describe``; ``ProgramNotStarted`` when it is not one of this version."""
    # Before anything else of the answer is read: of another version the rest may look right and mean something else.
    if answer.get("pipe") != VERSION:
        says = f"speaks {answer['pipe']!r}" if "pipe" in answer else "does not say which version of the pipe it speaks"
        raise ProgramNotStarted(f"the program {says}, goldwire speaks {VERSION!r} (vectors/pipe.md)")
    try:
        return msgspec.convert(answer, CodecDescription)
    except msgspec.ValidationError as error:
        raise ProgramNotStarted(f"the answer to 'describe' is not of the schema: {error}") from None


def read_results(answer: dict[str, Any], count: int, read: Callable[[Any], Answer]) -> list[Answer]:
    """Read the results of an answer; ``Malformed`` when they are not as many as were asked, or not results."""
    results = answer.get("results")
    if not isinstance(results, list):
        raise Malformed("the answer has no list of results")
    # Answers are matched by their place, so with one too few it is not known which.
    if len(results) != count:
        raise Malformed(f"{len(results)} results where {count} were asked")
    answers = []
    for index, result in enumerate(results):
        try:
            answers.append(read(result))
        except Malformed as error:
            raise Malformed(f"results[{index}] {error}") from None
    return answers


def read_decoded(result: Any) -> Answer:
    """Read one result of ``decode``."""
    kind = kind_of(result, "value")
    if kind == "value":
        return Decoded(with_bytes(result["value"]))
    if kind == "skip":
        return Skipped(shortened(text(result["skip"], "skip")))
    error = result["error"]
    if not isinstance(error, dict):
        raise Malformed("has an error that is not an object")
    offset = error.get("offset")
    # ``type``, as ``true`` is an int to ``isinstance``.
    if offset is not None and (type(offset) is not int or offset < 0):
        raise Malformed("has an offset that is not a number of bytes")
    return RefusedFrame(text(error.get("reason"), "reason"), offset)


def read_encoded(result: Any) -> Answer:
    """Read one result of ``encode``."""
    kind = kind_of(result, "bytes")
    if kind == "bytes":
        data = text(result["bytes"], "bytes")
        if not _HEX.fullmatch(data):
            raise Malformed("has bytes that are not lower-case hex")
        return Encoded(bytes.fromhex(data))
    if kind == "skip":
        return Skipped(shortened(text(result["skip"], "skip")))
    error = result["error"]
    if not isinstance(error, dict):
        raise Malformed("has an error that is not an object")
    return Inexpressible(shortened(text(error.get("detail"), "detail")))


def kind_of(result: Any, success: str) -> str:
    """Return which of the three kinds of result it is."""
    kinds = (success, "error", "skip")
    found = [kind for kind in kinds if isinstance(result, dict) and kind in result]
    # One that is both a value and an error would be judged by whichever is looked at first.
    if len(found) != 1:
        raise Malformed(f"has to have one of {', '.join(kinds)}")
    return found[0]


def text(value: Any, name: str) -> str:
    """Return text; ``Malformed`` for anything else."""
    if not isinstance(value, str):
        raise Malformed(f"has a {name} that is not text")
    return value


def with_bytes(value: Any) -> Any:
    """Turn ``{"hex": …}`` into bytes, at any depth; hex that is none stays, and shows as a difference."""
    if isinstance(value, dict):
        data = value.get("hex")
        # A message may have a field ``hex`` of its own; a table with nothing else is bytes, as pipe.md says.
        if len(value) == 1 and isinstance(data, str) and _HEX.fullmatch(data):
            return bytes.fromhex(data)
        return {name: with_bytes(part) for name, part in value.items()}
    return [with_bytes(part) for part in value] if isinstance(value, list) else value
