"""The constructs that declare messages in JSON: what ``Struct`` and the leaves are for binary grammars.

::

    "publish-request" / JsonObjectOf(
        "ta-id" / JsonInt(0, MOST),
        "filter" / JsonOptional(JsonString()),
    )

A frame is one text of JSON. It is read whole first (``wire/json/strict.py``), then held against the declaration, member
after member as they stand in the text. Values are what JSON has: dicts, lists, text, numbers, booleans; a member that
is absent has no key. Nothing beyond what is declared is accepted.

Written is the canonical form: no white space, declared members in their order and those of a ``JsonMapOf`` as given,
escapes only where JSON demands them. An optional member that is ``None`` counts as absent.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import IO, Any, NoReturn

from construct import Renamed

from wire.constructs import Context, Leaf, Message, Span
from wire.errors import DecodeError, EncodeError, Reason
from wire.json.strict import (
    DEEPEST,
    LEAST,
    MOST,
    Member,
    ParsedValue,
    item_path,
    member_path,
    parse,
    quoted,
    spell,
    spell_number,
)

KINDS = {str: "text", bool: "a boolean", int: "an integer", float: "a real number", dict: "an object", list: "an array"}
"""What JSON tells apart, by the types of Python."""

LONGEST = 64
"""Characters of a spelling that a dump still shows in a remark, which stands behind the value on the same line."""


class JsonConstruct(Leaf):
    """What stands in a text of JSON; as a grammar, it is the whole of a frame. ``kinds`` are the types it takes."""

    kinds: frozenset[type] = frozenset()

    def _parse(self, stream: IO[bytes], context: Context, path: str) -> Any:
        spans: list[Span] | None = context._params.get("spans")

        def see(start: int, end: int, where: str, value: Any) -> None:
            if spans is not None:
                spans.append(Span(start, end, where or "(frame)", value, self))

        node = parse(stream.read(), see)
        try:
            return self.take(node, "")
        except DecodeError as error:
            if spans is not None:  # what was understood is what stands before
                spans[:] = [span for span in spans if span.start < error.offset]
            raise

    def _build(self, obj: Any, stream: IO[bytes], context: Context, path: str) -> Any:
        text = self.text(obj, "").encode()
        # What is declared has few levels; what may stand anywhere within it has as many as it likes.
        if text.count(b"{") + text.count(b"[") > DEEPEST:
            try:
                parse(text)
            except DecodeError as error:
                raise EncodeError(f"{error.path}: {error.detail}") from None
        stream.write(text)
        return obj

    def take(self, node: ParsedValue, path: str) -> Any:
        """Return the value of a node that was read; ``DecodeError`` if it is none of these."""
        if type(node.value) not in self.kinds:
            there = KINDS.get(type(node.value), "null")
            refuse(Reason.WRONG_TYPE, node.start, path, f"{self.expected()} belongs here, not {there}")
        return self.taken(node, path)

    def taken(self, node: ParsedValue, path: str) -> Any:
        """Return the value of a node of the right type."""
        return node.value

    def text(self, value: Any, path: str) -> str:
        """Spell a value; ``EncodeError`` if it is none of these."""
        raise EncodeError(f"{path or '(frame)'}: nothing can be written here")

    def remarks(self, span: Span, data: bytes) -> Iterator[str]:
        if isinstance(span.value, str | int | float) and not isinstance(span.value, bool):
            usual = spell(span.value) if isinstance(span.value, str) else spell_number(span.value)
            if usual.encode() != data[span.start : span.end]:
                yield f"spelled otherwise than {usual}" if len(usual) <= LONGEST else "not spelled in the usual way"

    def expected(self) -> str:
        """Say what belongs here."""
        return " or ".join(name for kind, name in KINDS.items() if kind in self.kinds)

    def unfit(self, value: Any, path: str) -> NoReturn:
        """Raise ``EncodeError`` for a value of another type."""
        raise EncodeError(f"{path or '(frame)'}: {value!r:.80} is not {self.expected()}")


def refuse(reason: Reason, offset: int, path: str, detail: str) -> NoReturn:
    """Raise ``DecodeError``."""
    raise DecodeError(reason, offset, path or "(frame)", detail)


class JsonString(JsonConstruct):
    """A string, without NUL."""

    kinds = frozenset({str})

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, str):
            self.unfit(value, path)
        if "\0" in value:
            raise EncodeError(f"{path or '(frame)'}: NUL has no place in a text")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise EncodeError(f"{path or '(frame)'}: {error.reason}") from None
        return spell(str.__str__(value))  # also of an Enum, whose own str() says something else


class JsonEnum(JsonString):
    """One of some strings."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        if not names or len(set(names)) < len(names):
            raise ValueError(f"a JsonEnum of {names!r}: one name or more, each once")
        self.names = names

    def taken(self, node: ParsedValue, path: str) -> str:
        if node.value not in self.names:
            known = ", ".join(self.names)
            refuse(Reason.UNKNOWN_ID, node.start, path, f"{quoted(node.value)} is unknown; there is {known}")
        return str(node.value)

    def text(self, value: Any, path: str) -> str:
        if value not in self.names:
            raise EncodeError(f"{path or '(frame)'}: {value!r:.80} is not one of {', '.join(self.names)}")
        return super().text(value, path)


class JsonInt(JsonConstruct):
    """A number without fraction and exponent, from ``least`` to ``most``."""

    kinds = frozenset({int})

    def __init__(self, least: int = LEAST, most: int = MOST) -> None:
        super().__init__()
        if not LEAST <= least <= most <= MOST:
            raise ValueError(f"a JsonInt from {least} to {most}: at most 64 bits")
        self.least = least
        self.most = most

    def taken(self, node: ParsedValue, path: str) -> int:
        if not self.least <= node.value <= self.most:
            said = f"{node.value} is not from {self.least} to {self.most}"
            refuse(Reason.OUT_OF_RANGE, node.start, path, said)
        return int(node.value)

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            self.unfit(value, path)
        if not self.least <= value <= self.most:
            raise EncodeError(f"{path or '(frame)'}: {value:#x} is not from {self.least} to {self.most}")
        return spell_number(value)


class JsonNumeric(JsonConstruct):
    """A number, integer or not, of at least ``least`` if that is given; which of both it is, is kept."""

    kinds = frozenset({int, float})

    def __init__(self, least: int | None = None) -> None:
        super().__init__()
        self.least = least

    def fits(self, value: int | float) -> bool:
        """Tell whether a number is not too small."""
        return self.least is None or value >= self.least

    def taken(self, node: ParsedValue, path: str) -> int | float:
        value: int | float = node.value
        if not self.fits(value):
            refuse(Reason.OUT_OF_RANGE, node.start, path, f"{value} is less than {self.least}")
        return value

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.unfit(value, path)
        if not (math.isfinite(value) if isinstance(value, float) else LEAST <= value <= MOST):
            raise EncodeError(f"{path or '(frame)'}: neither an integer of 64 bits nor a finite number")
        if not self.fits(value):
            raise EncodeError(f"{path or '(frame)'}: {value} is less than {self.least}")
        return spell_number(value)


class JsonBoolean(JsonConstruct):
    """``true`` or ``false``."""

    kinds = frozenset({bool})

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, bool):
            self.unfit(value, path)
        return "true" if value else "false"


class JsonAnyOf(JsonConstruct):
    """One of some values that JSON tells apart by their type: ``JsonAnyOf(JsonString(), JsonInt())``."""

    def __init__(self, *options: JsonConstruct) -> None:
        super().__init__()
        self.options = options
        self.kinds = frozenset().union(*(option.kinds for option in options))
        if type(None) in self.kinds or sum(len(option.kinds) for option in options) != len(self.kinds):
            raise ValueError("the options of a JsonAnyOf have different types of JSON")

    def option(self, kind: type) -> JsonConstruct | None:
        """Return the option for a type of Python."""
        return next((option for option in self.options if kind in option.kinds), None)

    def taken(self, node: ParsedValue, path: str) -> Any:
        option = self.option(type(node.value))
        assert option is not None
        return option.taken(node, path)

    def text(self, value: Any, path: str) -> str:
        kinds: dict[type, type] = {bool: bool, str: str, int: int, float: float, Mapping: dict}
        # In this order: a boolean of Python is an integer as well.
        option = self.option(next((kinds[each] for each in kinds if isinstance(value, each)), list))
        if option is None:
            self.unfit(value, path)
        return option.text(value, path)


class JsonArrayOf(JsonConstruct):
    """Any number of items, all of one kind."""

    kinds = frozenset({list})

    def __init__(self, item: JsonConstruct) -> None:
        super().__init__()
        self.item = item

    def taken(self, node: ParsedValue, path: str) -> list[Any]:
        return [self.item.take(inner, item_path(path, index)) for index, inner in enumerate(node.value)]

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, list | tuple):
            self.unfit(value, path)
        return f"[{','.join(self.item.text(inner, item_path(path, index)) for index, inner in enumerate(value))}]"


any_name = JsonString()


class JsonMapOf(JsonConstruct):
    """An object whose members have any names, and values that are all of one kind."""

    kinds = frozenset({dict})

    def __init__(self, item: JsonConstruct) -> None:
        super().__init__()
        self.item = item

    def taken(self, node: ParsedValue, path: str) -> dict[str, Any]:
        members: dict[str, Member] = node.value
        return {name: self.item.take(member.node, member_path(path, name)) for name, member in members.items()}

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, Mapping):
            self.unfit(value, path)
        members = (
            f"{any_name.text(name, path)}:{self.item.text(inner, member_path(path, name))}"
            for name, inner in value.items()
        )
        return f"{{{','.join(members)}}}"


class JsonOptional(JsonConstruct):
    """A member that may be absent: ``"filter" / JsonOptional(JsonString())``."""

    def __init__(self, content: JsonConstruct) -> None:
        super().__init__()
        if type(None) in content.kinds:
            raise ValueError("a JsonOptional of a JsonAnything: None would be an absent member, and null")
        self.content = content
        self.kinds = content.kinds

    def taken(self, node: ParsedValue, path: str) -> Any:
        return self.content.taken(node, path)

    def text(self, value: Any, path: str) -> str:
        return self.content.text(value, path)

    def expected(self) -> str:
        return self.content.expected()


class JsonObjectOf(JsonConstruct):
    """An object of exactly these members: ``JsonObjectOf("ta-id" / JsonInt(0, MOST), …)``."""

    kinds = frozenset({dict})

    def __init__(self, *members: Message) -> None:
        super().__init__()
        self.members: dict[str, JsonConstruct] = {}
        for member in members:
            content = getattr(member, "subcon", None)
            if not member.name or not isinstance(content, JsonConstruct):
                raise ValueError(f'a member of a JsonObjectOf is "name" / Json…(…), not {member!r}')
            if member.name in self.members:
                raise ValueError(f"a JsonObjectOf has the member {member.name!r} twice")
            self.members[str(member.name)] = content

    def required(self) -> Iterator[str]:
        """Give the names of the members that have to be there."""
        return (name for name, member in self.members.items() if not isinstance(member, JsonOptional))

    def taken(self, node: ParsedValue, path: str) -> dict[str, Any]:
        value = {}
        for name, there in node.value.items():
            member = self.members.get(name)
            if member is None:
                said = f"no member is called {quoted(name)}; there are {', '.join(self.members)}"
                refuse(Reason.UNKNOWN_FIELD, there.start, member_path(path, name), said)
            value[name] = member.take(there.node, member_path(path, name))
        for name in self.required():
            if name not in value:
                missing(node, path, name)
        return value

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, Mapping):
            self.unfit(value, path)
        unknown = next((name for name in value if name not in self.members), None)
        if unknown is not None:
            raise EncodeError(f"{path or '(frame)'}: no member is called {unknown!r:.80}")
        pieces = []
        for name, member in self.members.items():
            inner = value.get(name)
            if inner is None and isinstance(member, JsonOptional):
                continue
            if name not in value:
                raise EncodeError(f"{member_path(path, name)}: it is missing")
            pieces.append(f"{spell(name)}:{member.text(inner, member_path(path, name))}")
        return f"{{{','.join(pieces)}}}"


def missing(node: ParsedValue, path: str, name: str) -> NoReturn:
    """Raise ``DecodeError`` at the bracket that ends an object without a member that it needs."""
    refuse(Reason.MISSING_FIELD, node.end - 1, member_path(path, name), f"the member {quoted(name)} is missing")


class JsonOneOf(JsonConstruct):
    """One of several objects, told apart by what their members ``by``, each a ``JsonEnum``, have as values.

    The messages are named, ``"ping-request" / JsonObjectOf(…)``, or again unions by other members.
    """

    kinds = frozenset({dict})

    def __init__(self, *messages: Any, by: tuple[str, ...]) -> None:
        super().__init__()
        self.by = by
        self.messages = messages
        self.keys: dict[tuple[str, ...], JsonConstruct] = {}
        for message in messages:
            for key in keys_of(message, by):
                if key in self.keys:
                    raise ValueError(f"two messages of a JsonOneOf have {', '.join(key)} as {', '.join(by)}")
                self.keys[key] = unnamed(message)
        self.prefixes = {key[:length] for key in self.keys for length in range(1, len(by) + 1)}

    def following(self, known: tuple[str, ...]) -> list[str]:
        """Return what the next deciding member can be, after the values of those before."""
        found = (prefix[-1] for prefix in self.prefixes if prefix[:-1] == known)
        return sorted(found)

    def taken(self, node: ParsedValue, path: str) -> Any:
        members: dict[str, Member] = node.value
        key: tuple[str, ...] = ()
        for name in self.by:
            if name not in members:
                missing(node, path, name)
            inner = members[name].node
            where = member_path(path, name)
            if not isinstance(inner.value, str):
                there = KINDS.get(type(inner.value), "null")
                refuse(Reason.WRONG_TYPE, inner.start, where, f"text belongs here, not {there}")
            if (*key, inner.value) not in self.prefixes:
                known = ", ".join(self.following(key))
                after = f" with {', '.join(key)}" if key else ""
                said = f"no message has {quoted(inner.value)} here{after}; there is {known}"
                refuse(Reason.UNKNOWN_ID, inner.start, where, said)
            key = (*key, inner.value)
        return self.keys[key].taken(node, path)

    def text(self, value: Any, path: str) -> str:
        if not isinstance(value, Mapping):
            self.unfit(value, path)
        key = tuple(value.get(name) for name in self.by)
        if not all(isinstance(part, str) for part in key) or key not in self.keys:
            said = ", ".join(f"{name} {part!r:.80}" for name, part in zip(self.by, key, strict=True))
            raise EncodeError(f"{path or '(frame)'}: no message has {said}")
        return self.keys[key].text(value, path)


def unnamed(message: Any) -> Any:
    """Return what a message of a union is, without its name."""
    return message.subcon if isinstance(message, Renamed) else message


def keys_of(message: Any, by: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return which values the members ``by`` of a message can have; ``TypeError`` if it does not decide by them."""
    inner = unnamed(message)
    if isinstance(inner, JsonOneOf):
        return list(dict.fromkeys(key for each in inner.messages for key in keys_of(each, by)))
    if not isinstance(inner, JsonObjectOf) or not isinstance(message, Renamed):
        raise TypeError(f'a message of a JsonOneOf is "name" / JsonObjectOf(…) or a JsonOneOf, not {message!r}')
    members = [inner.members.get(name) for name in by]
    for name, member in zip(by, members, strict=True):
        if not isinstance(member, JsonEnum):
            raise TypeError(f"{message.name}: {name} decides, so it has to be there, a JsonEnum, and not optional")
    return list(product(*(member.names for member in members if isinstance(member, JsonEnum))))
