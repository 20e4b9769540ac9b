"""The forms of messages as the grammar has them, and how a message that came differs from its form.

Everything is read from the layout: which fields a form has, which of them may be missing, and what each can hold.
"""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeGuard

from conformance.monitors import KEPT, Observation, broken
from harness.pathfinder.tester.events import DISAPPEARED, NOTIFY, Event, Form
from wire.catalogue import layout
from wire.json.strict import LEAST, MOST
from wire.kinds import (
    Json,
    JsonArray,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonMember,
    JsonNumber,
    JsonObject,
    JsonText,
    JsonUnion,
    Limited,
)
from wire.pathfinder.values import layout_name

MANDATORY = ("ta-cmd", "ta-id", "msg-type")

ADDRESSES = ("client-addr", "client-address")
"""The names that the field with a client's address has: the document's, and that of deployed servers."""

Fault = Literal["missing", "beyond", "type", "range", "value"]
"""What is wrong with a field: not there, not of the form, of another type, out of range, no word that is known."""


class Flaw(NamedTuple):
    """One difference between a message and its form: in which field, what, and whether it is within its value."""

    field: str
    fault: Fault
    what: str
    inner: bool = False


Members = Mapping[str, JsonMember]


@cache
def forms() -> dict[tuple[str, str, str], Members]:
    """Return the fields of every form by command, message type and match type (empty where a form has none)."""
    found: dict[tuple[str, str, str], Members] = {}
    for form in _objects(layout(layout_name()).root):
        members = {member.name: member for member in form.members}
        matches = _words(members["match-type"]) if "match-type" in members else ("",)
        for command in _words(members["ta-cmd"]):
            for type in _words(members["msg-type"]):
                found |= {(command, type, match): members for match in matches}
    return found


@cache
def fields_of(form: Form) -> tuple[frozenset[str], frozenset[str]]:
    """Return the fields that every sound message of a form has, and those that one can have, in whichever spelling."""
    command, type, match, _ = form
    found = [
        {member.name: member for member in each.members}
        for deployed in (False, True)
        for each in _objects(layout(layout_name(deployed=deployed)).root)
    ]
    same = [each for each in found if _is_of(each, command, type, match)]
    needed = [{name for name, member in each.items() if not member.optional} for each in same]
    return frozenset(set.intersection(*needed) if needed else ()), frozenset().union(*same)


def _is_of(members: Members, command: str, type: str, match: str) -> bool:
    """Tell whether these are the fields of a form; its words are the document's, in the spelling that is used here."""
    types = NOTIFY if type == "notify" else (type,)
    matches = DISAPPEARED if match == "disappeared" else (match,)
    if command not in _words(members["ta-cmd"]) or not {*types} & {*_words(members["msg-type"])}:
        return False
    return not match or "match-type" not in members or bool({*matches} & {*_words(members["match-type"])})


def _objects(part: Any) -> Iterator[JsonObject]:
    match part:
        case Limited() | Json():
            yield from _objects(part.node)
        case JsonUnion():
            for message in part.messages:
                yield from _objects(message)
        case JsonObject():
            yield part


def _words(member: JsonMember) -> tuple[str, ...]:
    return member.node.names if isinstance(member.node, JsonText) else ()


def match_type(event: Event) -> str:
    """Return the match type of a notification, ``disappeared`` in either spelling; empty if there is none."""
    said = event.fields.get("match-type")
    if said in DISAPPEARED:
        return "disappeared"
    return said if isinstance(said, str) else ""


def form_of(event: Event) -> Members:
    """Return the fields of the form that a message claims to have; empty if there is no such form.

    Of a subscription's notification without a match type that is known only that remains which all have.
    """
    every = forms()
    found = every.get((event.command, event.type, ""))
    if found is not None:
        return found
    matches = [members for known, members in every.items() if known[:2] == (event.command, event.type)]
    exact = every.get((event.command, event.type, match_type(event)))
    if exact is not None or not matches:
        return exact or {}
    return {name: member for name, member in matches[0].items() if all(name in each for each in matches)}


def plain(event: Event) -> dict[str, Any]:
    """Return the fields of a message, each reading's other spelling turned into the document's."""
    fields = dict(event.fields)
    if "msg-type" in fields and event.type:
        fields["msg-type"] = event.type
    if match_type(event):
        fields["match-type"] = match_type(event)
    if (event.command, event.type) == ("clients", "notify") and not set(ADDRESSES) <= fields.keys():
        fields = {ADDRESSES[0] if name in ADDRESSES else name: value for name, value in fields.items()}
    return fields


def flaws(event: Event) -> list[Flaw]:
    """Return how a message differs from its form; what has no form is only looked at for the fields of all."""
    if event.error is None:
        return []
    fields, members = plain(event), form_of(event)
    nodes = {name: member.node for name, member in members.items()} or _anywhere()
    needed = [name for name, member in members.items() if not member.optional] or MANDATORY
    found = [Flaw(name, "missing", f"{name} is missing") for name in needed if name not in fields]
    for name, node in nodes.items():
        if name in fields:
            found += misfits(fields[name], node, name, name)
    if members and ("match-type" not in members or match_is_known(event)):
        found += [Flaw(name, "beyond", f"{name} has no place in it") for name in fields if name not in members]
    return found


@cache
def whole_numbers() -> frozenset[str]:
    """Return the names of the fields of the type Int>=0."""
    return frozenset(
        name
        for members in forms().values()
        for name, member in members.items()
        if isinstance(member.node, JsonInteger) and member.node.least == 0
    )


def match_is_known(event: Event) -> bool:
    """Tell whether a notification's match type is one of the document's."""
    return (event.command, event.type, match_type(event)) in forms()


@cache
def _anywhere() -> dict[str, Any]:
    commands = tuple(dict.fromkeys(known[0] for known in forms()))
    types = tuple(dict.fromkeys(known[1] for known in forms()))
    return {"ta-cmd": JsonText(commands), "ta-id": JsonInteger(0, MOST), "msg-type": JsonText(types)}


def misfits(value: Any, node: Any, field: str, path: str) -> Iterator[Flaw]:
    """Return what keeps a value from being what a field, or a place within it, can hold."""

    def flaw(fault: Fault, what: str = "") -> Flaw:
        return Flaw(field, fault, f"{path} is {shown(value)}{what}", path != field)

    match node:
        case JsonText() if not isinstance(value, str):
            yield flaw("type", ", not a string")
        case JsonText(names=names) if names and value not in names:
            yield flaw("value")
        case JsonInteger() if not isinstance(value, int | float) or isinstance(value, bool):
            yield flaw("type", ", not a number")
        case JsonInteger(least=least, most=most) if not least <= value <= most or not float(value).is_integer():
            yield flaw("range")
        case JsonNumber() if not isinstance(value, int | float) or isinstance(value, bool):
            yield flaw("type", ", not a number")
        case JsonNumber(least=least) if not isfinite(value) or value < (LEAST if least is None else least):
            yield flaw("range")
        case JsonEither(options=options):
            tried = [list(misfits(value, option, field, path)) for option in options]
            if all(tried):
                near = [each for each in tried if all(flaw.fault != "type" for flaw in each)]
                fits = bool(near) and not isinstance(value, float)
                yield from near[0] if fits else [flaw("type", ", neither a string nor an integer")]
        case JsonArray() if not isinstance(value, list):
            yield flaw("type", ", not an array")
        case JsonArray(item=item):
            for index, each in enumerate(value):
                yield from misfits(each, item, field, f"{path}[{index}]")
        case JsonMap() if not isinstance(value, Mapping):
            yield flaw("type", ", not an object")
        case JsonMap(item=item):
            for name, each in value.items():
                yield from misfits(each, item, field, f"{path}.{name}")
        case _:
            pass


def is_whole(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is an Int>=0, however it is spelled: 60.0 is a whole number too."""
    if type(value) is int:  # as nearly always
        return 0 <= value <= MOST
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and not any(misfits(value, JsonInteger(0, MOST), "", ""))


def shown(value: Any) -> str:
    """Return a value for a person, cut if it is long or deep: what a peer says may be as large as a frame."""
    text = value if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def judged(event: Event, found: Iterable[Flaw]) -> Observation:
    """Judge a message by those of its flaws that bear on a rule."""
    flawed = list(found)
    what = "; ".join(flaw.what for flaw in flawed)
    return broken(event.entry, f"{name_of(event)}: {what}", flawed[0].field) if flawed else KEPT


def name_of(event: Event) -> str:
    """Return what a message calls itself."""
    return f"{event.command or 'no command'} {event.type or 'without type'}"


def scalars(value: Any) -> Iterator[Any]:
    """Return every string and number in a value, names of members too, however deep they are."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
        else:
            yield each
