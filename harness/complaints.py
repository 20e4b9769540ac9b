"""What is wrong with a file that people write, in the words of who writes TOML and not in those of a library."""

import re
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

_KINDS = {
    "array": "a list", "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "object": "a table", "date": "a day, such as 2027-01-31", "datetime": "a day and a time", "null": "nothing",
}  # fmt: skip


def complaint(error: msgspec.ValidationError, whole: type) -> str:
    """Say what is wrong with a value that should have been a ``whole`` (a Struct): the key, and what belongs there."""
    key, what = place_and_complaint(error, whole)
    return f"{key}: {what}" if key else what


def place_and_complaint(error: msgspec.ValidationError, whole: type) -> tuple[str, str]:
    """Return the key that is wrong, with dots between tables (empty: none in particular), and what is wrong with it."""
    what, _, at = str(error).partition(" - at ")
    steps = re.findall(r"\w+|\[\.\.\.\]", at.strip("`").removeprefix("$"))
    key = ".".join(step for step in steps if step != "[...]")
    hint = _hint(whole, steps)
    if match := re.fullmatch(r"Object missing required field `(.+)`", what):
        return "", f"{_joined(key, match[1])} is missing{_known(hint)}"
    if match := re.fullmatch(r"Object contains unknown field `(.+)`", what):
        return "", f"unknown key {_joined(key, match[1])}{_known(hint)}"
    if match := re.fullmatch(r"Expected `(.+)`, got `(.+)`", what):
        what = f"{_kinds(match[1])} belongs here, not {_kinds(match[2])}"
    elif (match := re.fullmatch(r"Invalid enum value (.+)", what)) and (allowed := _allowed(hint)):
        what = f"{match[1]} is none of {', '.join(allowed)}"
    elif "RFC3339" in what:
        what = f"this is not {_KINDS['date']}"
    return key, what


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _kinds(text: str) -> str:
    return " or ".join(_KINDS.get(each, each) for each in text.split(" | "))


def _known(hint: Any) -> str:
    if not (isinstance(hint, type) and issubclass(hint, msgspec.Struct)):
        return ""
    return f"; known keys: {', '.join(field.encode_name for field in msgspec.structs.fields(hint))}"


def _allowed(hint: Any) -> list[str]:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [str(each.value) for each in hint]
    return [str(each) for each in get_args(hint)] if get_origin(hint) is Literal else []


def _hint(hint: Any, steps: list[str]) -> Any:
    """Return the type of what stands at a place: ``process``, ``ready``; of a list ``[...]`` any item."""
    for step in steps:
        if step == "[...]":
            hint = next(iter(get_args(hint)), None)
        elif isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            hint = _present(get_type_hints(hint).get(step))
        else:
            return None
    return hint


def _present(hint: Any) -> Any:
    """Return what an optional type is when it is there."""
    if get_origin(hint) in (Union, UnionType):
        return next((each for each in get_args(hint) if each is not NoneType), None)
    return hint
