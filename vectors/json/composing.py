"""Texts of JSON made to order: changes say what stands at some places, everything else is plain.

Changes map paths of places to the bytes that stand there, or to ``None`` where the plain value is wanted although the
member is optional. What leads to a place is written by itself: its message, and the members around it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vectors.binary.paths import LayoutPlace
from vectors.json.paths import messages
from vectors.json.reader import canonical
from vectors.notes import matches
from wire.kinds import (
    Json,
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonNumber,
    JsonObject,
    JsonText,
    JsonUnion,
    Limited,
)
from wire.kinds.boundaries import PLAIN

Changes = Mapping[str, bytes | None]

HOLE = b"\xff\xfe\xfd"
"""Bytes that stand in no text, to find a place again."""


class MemberText(NamedTuple):
    """A member of an object as it is spelled."""

    name: bytes
    value: bytes


class Composer:
    """Writes frames of one layout; ``texts`` are plain ones by the pattern of their path."""

    def __init__(self, root: LayoutPlace, texts: Mapping[str, str]) -> None:
        self.root = root
        self.texts = texts

    def frame(self, changes: Changes, last: str = "") -> bytes:
        """Write a frame; the members that lead to the path ``last`` come last."""
        return self.spell(self.root, changes, last)

    def until(self, path: str, end: bytes) -> bytes:
        """Write the beginning of a frame up to a place, and then its ``end``; all other members stand before."""
        data = self.frame({path: HOLE}, path)
        # Found again by bytes that are no UTF-8, so that nothing else in the frame can be taken for them.
        return data[: data.index(HOLE)] + end

    def spell(self, place: LayoutPlace, changes: Changes, last: str = "") -> bytes:
        """Write what stands at a place."""
        wanted = changes.get(place.path)
        if wanted is not None and not isinstance(place.part, Limited | Json | JsonUnion):
            return wanted
        match place.part:
            case Limited() | Json():
                return self.spell(place.inner[0], changes, last)
            case JsonUnion():
                if wanted is not None and not place.owner:
                    return wanted
                able = list(messages(place))
                led = [message for message in able if leads(message.path, changes)]
                return self.spell((led or able)[0], changes, last)
            case JsonObject():
                return joined(self.members(place, changes, last))
            case JsonArray():
                return b"[" + self.spell(place.inner[0], changes, last) + b"]"
            case JsonMap():
                name, value = (self.spell(inner, changes, last) for inner in place.inner)
                return b"{" + name + b":" + value + b"}"
            case JsonEither():
                on_the_way = (each for each in place.inner if any(leads(part.path, changes) for part in each.inner))
                return self.spell(next(on_the_way, place.inner[0]), changes, last)
            case _:
                return self.plain(place)

    def members(self, place: LayoutPlace, changes: Changes, last: str = "") -> list[MemberText]:
        """Write the members of an object, those that are required or that a change leads to."""
        part = place.part
        assert isinstance(part, JsonObject)
        found: list[MemberText] = []
        behind: list[MemberText] = []
        for member, inner in zip(part.members, place.inner, strict=True):
            if member.optional and not leads(inner.path, changes):
                continue
            spelled = MemberText(canonical(member.name).encode(), self.spell(inner, changes, last))
            # What the frame is to end in comes last, so that everything else is complete when it is cut there.
            (behind if last and leads(inner.path, {last: None}) else found).append(spelled)
        return found + behind

    def plain(self, place: LayoutPlace) -> bytes:
        """Write the plain form of a scalar."""
        match place.part:
            case JsonText(names=()):
                text = next((text for pattern, text in self.texts.items() if matches(pattern, place.path)), "a")
                return canonical(text).encode()
            case JsonText(names=names):
                return canonical(names[0]).encode()
            case JsonInteger(least=least, most=most):
                return str(PLAIN if least <= PLAIN <= most else least).encode()
            case JsonNumber(least=least):
                return str(PLAIN if least is None or least <= PLAIN else least).encode()
            case JsonBool():
                return b"true"
            case JsonAnyValue():
                return str(PLAIN).encode()
        raise AssertionError(place)


def leads(path: str, changes: Iterable[str]) -> bool:
    """Tell whether one of some paths lies at or under a path."""
    return any(each == path or each.startswith((f"{path}.", f"{path}[", f"{path}{{")) for each in changes)


def joined(members: Iterable[MemberText], blank: bytes = b"") -> bytes:
    """Write an object, with white space wherever it may stand."""
    pieces = (blank.join((b"", name, b":", value, b"")) for name, value in members)
    return b"{" + b",".join(pieces) + b"}"


def escaped(spelled: bytes) -> bytes:
    """Spell a plain text again with an escape in place of its first character."""
    text = spelled.decode()
    return f'"\\u{ord(text[1]):04x}{text[2:]}'.encode() if text[1] not in '"\\' else spelled
