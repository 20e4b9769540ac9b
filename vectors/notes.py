"""What the tree of a layout does not say about its frames: the notes of a protocol, ``vectors/PROTOCOL/notes.toml``.

They say which accepted frames a decoder may refuse as well and the other way round (flags), which rules of the
catalogue a frame exercises, and what a plain message looks like. ``README.md`` beside the vectors explains the flags to
users; the head of each notes file explains its tables.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from vectors.binary.coverage import BranchTrace, ReadPart, trace
from vectors.binary.paths import LayoutPlace, join, place_tree_of
from wire.kinds import Json, JsonPart, Language, Part
from wire.kinds.branches import BEYOND, COUNT_CUT, COUNT_MISSING, CUT, END_MISSING, MISSING
from wire.layout import lay_out
from wire.primitives import vle

IN_JSON = {"negative", "real", "whole", "digits", "size"}
"""What conditions can ask of what was read in JSON, beside its value; over one that is not there none holds."""

ENDS = frozenset((MISSING, CUT, COUNT_MISSING, COUNT_CUT, BEYOND, END_MISSING))


TEXTS = Json, JsonPart, Language
"""What stands in a text: those kinds are no parts of a binary layout, and answer to tables and not to questions."""


class BadNotes(ValueError):
    """Notes that cannot be read; the message names the file, the table and what is wrong."""


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why something that was read ``at`` a place may be taken either way.

    ``when`` is a condition over the fields of a record, the bits of a byte of flags, or ``value``; ``refused`` is the
    class of a refusal that other decoders do not make. In JSON ``when`` is also for refusals, which have an ``aspect``
    and types that were ``expected``, and may be ``otherwise_encoded``; numbers may be ``negative``, ``real`` and
    ``whole`` and have ``digits``, and the whole frame has a ``size``. ``unless`` is a function, ``module:name``, that
    tells whether what was read is as it should be, where that is more than a condition can say.
    """

    flag: str
    at: str
    when: str | None = None
    refused: str | None = None
    unless: str | None = None


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Messages around those of the documents, which no rule is about; ``words`` say whose their bounds are."""

    messages: tuple[str, ...]
    words: str


class ExercisedRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rules that a vector exercises which looks at a place: ``at``, in one of these ``aspects``, or by its flag.

    Where places of several ``layouts`` are called alike, it says which are meant, by their names within the protocol.
    The aspect ``ends`` stands for all in which a frame ends too early, ``wrong type`` for each ``wrong type: …``.
    """

    rules: tuple[str, ...]
    at: str = "*"
    aspects: tuple[str, ...] = ()
    flag: str | None = None
    layouts: tuple[str, ...] = ()


class PayloadGrammar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The grammar of an item's bytes, as ``module:name``, and another that fits where the first does not."""

    grammar: str
    other: str | None = None
    flag: str | None = None


class Shapes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the chains of a protocol.

    ``named`` has the bits of the items that have a name, ``knows`` the names that each message knows, ``requires``
    those it needs, ``payloads`` what is in their bytes. An item is the same as another if all bits agree; ``key`` is
    the group of bits by which another shape is recognised, ``mandatory`` the bit that an unknown item must not have.
    """

    key: str
    mandatory: str
    unknown_flag: str
    shape_flag: str
    twice_flag: str
    missing_flag: str
    payload_flag: str
    named: dict[str, dict[str, int]]
    knows: dict[str, tuple[str, ...]]
    requires: dict[str, str] = {}
    payloads: dict[str, PayloadGrammar] = {}


class WholeFrames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be known of the frames of a layout as a whole, by functions (``module:name``) of a frame's bytes.

    ``intact`` tells whether what follows from all bytes, such as a checksum, is right; the layout reads it as it is,
    and ``flag`` is for an accepted frame in which it is wrong. ``sent`` returns a frame in which all is as a sender has
    it: so vectors are made, and those that look ``at`` what it changes both ways; ``words`` are for the changed one.
    """

    intact: str
    flag: str
    sent: str
    at: tuple[str, ...]
    words: str

    def is_intact(self, data: bytes) -> bool:
        """Tell whether what follows from all bytes of a frame is right."""
        return bool(_imported(self.intact)(data))

    def as_sent(self, data: bytes) -> bytes:
        """Return a frame as a sender would have made it."""
        sent: bytes = _imported(self.sent)(data)
        return sent


class ProtocolNotes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The notes of one protocol, as its file has them; ``texts`` are plain texts in JSON, by where they stand.

    A flag for overlong numbers, and for bits without a name, is needed where frames have such; one for numbers of nine
    bytes is not, as only some documents make an exception of those. ``briefly`` are the layouts whose parts others of
    the protocol have as well: frames that reach nothing new in them are left out.
    """

    flags: dict[str, str]
    overlong_flag: str = ""
    nine_bytes_flag: str = ""
    spare_flag: str = ""
    notes: tuple[Note, ...] = ()
    shapes: Shapes | None = None
    rules: tuple[ExercisedRules, ...] = ()
    plain: dict[str, tuple[str, ...]] = {}
    briefly: tuple[str, ...] = ()
    texts: dict[str, str] = {}
    exceptions: dict[str, str] = {}
    contexts: dict[str, Context] = {}
    frames: dict[str, WholeFrames] = {}

    def explained(self) -> Iterator[str]:
        """Give every flag that the notes can set."""
        yield from (flag for flag in (self.overlong_flag, self.nine_bytes_flag, self.spare_flag) if flag)
        yield from (note.flag for note in self.notes)
        yield from (whole.flag for whole in self.frames.values())
        if self.shapes is not None:
            shapes = self.shapes
            yield from (shapes.unknown_flag, shapes.shape_flag, shapes.twice_flag)
            yield from (shapes.missing_flag, shapes.payload_flag)
            yield from (reading.flag for reading in shapes.payloads.values() if reading.flag)


@cache
def notes(protocol: str) -> ProtocolNotes:
    """Return the notes of a protocol; ``BadNotes`` when they are missing or wrong."""
    name = f"vectors/{protocol}/notes.toml"
    try:
        found = msgspec.toml.decode(files("vectors").joinpath(protocol, "notes.toml").read_bytes(), type=ProtocolNotes)
    except (OSError, msgspec.DecodeError) as error:
        raise BadNotes(f"{name}: {error}") from error
    # A flag without words would reach users who can only guess.
    unexplained = sorted(set(found.explained()) - set(found.flags))
    if unexplained:
        raise BadNotes(f"{name}: no words for the flag {', '.join(unexplained)}; add them to [flags]")
    return found


def judge(about: ProtocolNotes, found: BranchTrace) -> frozenset[str]:
    """Return the flags of a frame: why it may be refused although it was read, or read although it was refused.

    ``BadNotes`` names the flag that the notes lack for it.
    """
    if found.reason is not None:
        path = general(found.where)
        refusal = found.reason.value
        return found.flags.union(
            note.flag
            for note in about.notes
            if note.refused == refusal
            and matches(note.at, path)
            and (note.when is None or condition(note.when)(found.refused))
        )
    return found.flags.union(_flags(about, found, ""))


def context_of(about: ProtocolNotes, found: BranchTrace) -> str:
    """Return the context that all messages of a frame belong to; empty where one of them is the documents' matter."""
    messages = set(found.members.values())
    return next((name for name, each in about.contexts.items() if messages and messages <= set(each.messages)), "")


def rules_for(about: ProtocolNotes, layout: str, path: str, aspect: str, flags: frozenset[str]) -> frozenset[str]:
    """Return the rules that a vector of a layout exercises which looks at a path in some way."""
    return frozenset(
        name
        for rule in about.rules
        if matches(rule.at, path)
        and (not rule.layouts or layout.partition("/")[2] in rule.layouts)
        and (not rule.aspects or {aspect, aspect.partition(":")[0]} & set(rule.aspects) or _ends(rule, aspect))
        and (rule.flag is None or rule.flag in flags)
        for name in rule.rules
    )


def _ends(rule: ExercisedRules, aspect: str) -> bool:
    return "ends" in rule.aspects and aspect in ENDS


def _flags(about: ProtocolNotes, found: BranchTrace, prefix: str) -> Iterator[str]:
    for event in found.events:
        # What stands at one place only is at the path that the place has.
        path = join(prefix, general(event.where) if event.place.nested else event.place.path)
        part = event.place.part
        if not isinstance(part, TEXTS):
            yield from _spelling(about, part, event)
        for note in _notes_at(about.notes, path, event.place):
            if _applies(note, part, event):
                yield note.flag
        if about.shapes is not None and not isinstance(part, TEXTS) and part.record_fields is not None:
            for chain, items in chains(event.place, event.value):
                yield from _items(about, about.shapes, part.message_name, chain, items, join(path, chain.name))


def _applies(note: Note, part: Any, event: ReadPart) -> bool:
    if note.when is not None and not condition(note.when)(_names(part, event)):
        return False
    return note.unless is None or not _imported(note.unless)(event.value)


def _spelling(about: ProtocolNotes, part: Part, event: ReadPart) -> Iterator[str]:
    if part.nameless(event.value):
        yield _needed(about.spare_flag, "spare_flag", "a bit is set that has no name")
    spelled = part.spelled_number(event.value, event.end - event.start)
    if spelled is None:
        return
    number, size = spelled
    if size > len(vle(number)):
        yield _needed(about.overlong_flag, "overlong_flag", "a number takes more bytes than it needs")
    elif size == 9 and about.nine_bytes_flag:
        yield about.nine_bytes_flag


def _needed(flag: str, key: str, why: str) -> str:
    """Return a flag that frames need; ``BadNotes`` names its key when the notes leave it out."""
    if not flag:
        raise BadNotes(f"{key} is missing, and {why}: name a flag for that, with its words in [flags]")
    return flag


def _names(part: Part, event: ReadPart) -> Mapping[str, Any]:
    if has_names(part):
        found: Mapping[str, Any] = event.value
        return found
    return {"value": event.value, **(event.names or {})}


def has_names(part: Any) -> bool:
    """Tell whether conditions look at what is in a value by name: fields of a record, or named bits."""
    return not isinstance(part, TEXTS) and (part.record_fields is not None or bool(part.value_names))


class ChainField(NamedTuple):
    """A chain of a record: the ``name`` of its field, the ``first`` field of its items, and the bit that goes on."""

    name: str
    first: str
    more: str


def chains(place: LayoutPlace, value: Mapping[str, Any]) -> Iterator[tuple[ChainField, list[dict[str, Any]]]]:
    """Give the chains of a record with their items, those that are absent as empty ones."""
    for label, inner in zip(place.labels, place.inner, strict=True):
        while inner.part.guard is not None:
            inner = inner.inner[0]
        if inner.part.more_name:
            yield ChainField(label, inner.inner[0].labels[0], inner.part.more_name), value[label] or []


def _items(
    about: ProtocolNotes, shapes: Shapes, owner: str, chain: ChainField, items: list[dict[str, Any]], path: str
) -> Iterator[str]:
    known = [(name, shapes.named[name]) for name in shapes.knows.get(owner, ())]
    seen: list[dict[str, int]] = []
    names: set[str] = set()
    for item in items:
        # Whether one more follows says where an item stands, not what it is.
        header = {name: value for name, value in item[chain.first].items() if name != chain.more}
        # A chain may have tens of thousands of items: a search among all before each would take minutes.
        if len(seen) < len(known) + 64 and header in seen:  # what stands twice among the first ones is enough
            yield shapes.twice_flag
        elif len(seen) < len(known) + 64:
            seen.append(header)
        name = next((name for name, shape in known if shape == header), None)
        if name is None:
            if header[shapes.mandatory]:
                yield shapes.unknown_flag
            if any(shape[shapes.key] == header[shapes.key] for _, shape in known):
                yield shapes.shape_flag
            continue
        names.add(name)
        if name in shapes.payloads:
            yield from _payload(about, shapes, shapes.payloads[name], item["value"], join(path, name))
    if owner in shapes.requires and shapes.requires[owner] not in names:
        yield shapes.missing_flag


def _payload(about: ProtocolNotes, shapes: Shapes, reading: PayloadGrammar, payload: bytes, path: str) -> Iterator[str]:
    found = trace(payload_place(reading.grammar), payload)
    if found.reason is None:
        yield from _flags(about, found, path)
        return
    yield shapes.payload_flag
    where = join(path, found.where)
    yield from (n.flag for n in about.notes if n.refused == found.reason.value and matches(n.at, where))
    if reading.other and reading.flag and trace(payload_place(reading.other), payload).reason is None:
        yield reading.flag


@cache
def payload_place(name: str) -> LayoutPlace:
    """Return the outermost place of a grammar that is given as ``module:name``."""
    return place_tree_of(lay_out(_imported(name), name), {})


def _imported(name: str) -> Any:
    """Return what is given as ``module:name``."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


@lru_cache(maxsize=2048)  # as many as the largest layouts have; grammars that are made on the spot are without end
def _notes_at(notes: tuple[Note, ...], path: str, place: LayoutPlace) -> tuple[Note, ...]:
    """Return the notes about what there is at a place."""
    part = place.part
    there = {"type", *place.labels, *(part.value_names if has_names(part) else {"value"})}
    there |= IN_JSON if isinstance(part, TEXTS) else set()
    return tuple(
        note
        for note in notes
        if note.refused is None
        and (note.when or note.unless)
        and matches(note.at, path)
        and (note.when is None or fields(note.when) <= there)
    )


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*") + r"\Z")


def matches(pattern: str, path: str) -> bool:
    """Tell whether a path is of a pattern, in which ``*`` stands for any characters."""
    return _pattern(pattern).match(path) is not None


def general(where: str) -> str:
    """Take the indices out of a path: ``extensions[2].value`` becomes ``extensions[].value``."""
    return INDEX.sub("[]", where)


INDEX = re.compile(r"\[\d+\]")

Condition = Callable[[Mapping[str, Any]], bool]


@cache
def condition(text: str) -> Condition:
    """Make a function of a condition such as ``key_scope == 0 and not key_suffix``.

    Names are fields, ``header.Z`` is a field of a field. A condition over fields that are not there does not hold.
    Raises ``BadNotes`` for anything but names, constants, comparisons, ``and``, ``or`` and ``not``.
    """
    # Interpreted here and not by eval: notes are data, and nothing in them is ever run.
    tree = ast.parse(text, mode="eval").body
    _check(tree, text)

    def holds(names: Mapping[str, Any]) -> bool:
        try:
            return bool(_value(tree, names))
        # Where a field is not there, or is of another type, the condition does not hold; notes need not ask first.
        except (KeyError, TypeError):
            return False

    return holds


def fields(text: str) -> set[str]:
    """Return the fields that a condition looks at."""
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}


COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda one, two: one == two,
    ast.NotEq: lambda one, two: one != two,
    ast.Lt: lambda one, two: one < two,
    ast.LtE: lambda one, two: one <= two,
    ast.Gt: lambda one, two: one > two,
    ast.GtE: lambda one, two: one >= two,
    ast.In: lambda one, two: one in two,
}


def _check(tree: ast.AST, text: str) -> None:
    allowed = (ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Compare, ast.Name, ast.Constant, ast.Tuple)
    for node in ast.walk(tree):
        if not isinstance(node, (*allowed, ast.Attribute, ast.Load, *COMPARISONS)):
            raise BadNotes(f"{text!r}: {type(node).__name__} is not for conditions")


def _value(tree: ast.AST, names: Mapping[str, Any]) -> Any:
    match tree:
        case ast.Constant():
            return tree.value
        case ast.Name():
            return names[tree.id]
        case ast.Attribute():
            return _value(tree.value, names)[tree.attr]
        case ast.Tuple():
            return tuple(_value(each, names) for each in tree.elts)
        case ast.UnaryOp():
            return not _value(tree.operand, names)
        case ast.BoolOp(op=ast.And()):
            return all(_value(each, names) for each in tree.values)
        case ast.BoolOp():
            return any(_value(each, names) for each in tree.values)
        case ast.Compare():
            values = [_value(each, names) for each in (tree.left, *tree.comparators)]
            return all(
                COMPARISONS[type(how)](one, two) for how, one, two in zip(tree.ops, values, values[1:], strict=False)
            )
    raise AssertionError(tree)
