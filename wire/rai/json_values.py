"""What a text of relaxed JSON stands for: values that keep the order of members, names that stand there twice, digits.

::

    Value = None | bool | str | Number | list[Value] | Members
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Self, TypeVar

import msgspec

from wire.errors import EncodeError

MOST_DIGITS = 64
"""Digits of the longest integer that is computed: no count and no time has as many, and a hostile one has millions."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_STRICT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_RELAXED = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?([eE].*)?")

Default = TypeVar("Default")


class Number(msgspec.Struct, frozen=True, gc=False):
    """A number as it is spelled: 17.50 keeps its zero. Equal are those that are spelled alike."""

    spelling: str

    @property
    def integer(self) -> int | None:
        """The integer that it stands for; ``None`` if it has a fraction or an exponent, or ``MOST_DIGITS`` and more."""
        if len(self.spelling) > MOST_DIGITS or not _INTEGER.fullmatch(self.spelling):
            return None
        return int(self.spelling)

    @property
    def decimal(self) -> Decimal:
        """What it stands for, with all digits; not a number where its exponent is beyond any decimal."""
        integer = self.integer
        try:
            return Decimal(self.spelling if integer is None else integer)
        except InvalidOperation:
            return Decimal("nan")

    @property
    def strictly(self) -> str:
        """How strict JSON spells it: without plus sign, leading zeros, a point that nothing follows."""
        if _STRICT.fullmatch(self.spelling):
            return self.spelling
        relaxed = _RELAXED.fullmatch(self.spelling)
        if relaxed is None:
            raise EncodeError(f"{self.spelling!r} is no number")
        sign, whole, fraction, exponent = relaxed.groups("")
        point = f".{fraction}" if fraction else ""
        return f"{sign.replace('+', '')}{whole.lstrip('0') or '0'}{point}{exponent}"


class Members(tuple[tuple[str, "Value"], ...]):
    """The members of an object: names and values, in the order of the text; a name may stand there twice."""

    __slots__ = ()

    def get(self, name: str, default: Default | None = None) -> "Value | Default":
        """Return the value of a member; of the first, as the field's parser does, where there are more."""
        for each, value in self:
            if each == name:
                return value
        return default

    def has(self, name: str) -> bool:
        """Tell whether there is a member of that name."""
        return any(each == name for each, _ in self)

    def names(self) -> list[str]:
        """Return the names, in their order."""
        return [name for name, _ in self]

    def without(self, *names: str) -> Self:
        """Return the members but for some."""
        return type(self)(member for member in self if member[0] not in names)

    def __repr__(self) -> str:
        return f"Members({', '.join(f'{name}={value!r}' for name, value in self)})"


Value = None | bool | str | Number | list["Value"] | Members


def value_of(plain: Any) -> "Value":
    """Return plain data as a value: mappings, sequences, numbers (decimals too), texts. Raises ``EncodeError``."""
    match plain:
        case None | bool() | str() | Number() | Members():
            return plain
        case int() | float() | Decimal():
            if not _STRICT.fullmatch(str(plain)):
                raise EncodeError(f"{plain!r} is no number of JSON")
            return Number(str(plain))
        case Mapping():
            return Members((str(name), value_of(each)) for name, each in plain.items())
        case list() | tuple():
            return [value_of(each) for each in plain]
    raise EncodeError(f"{plain!r:.80} has no place in a text of JSON")


def plain_of(value: "Value") -> Any:
    """Return a value as plain data: dictionaries (the first of a name), lists, ``int`` and ``Decimal``."""
    match value:
        case Members():
            found: dict[str, Any] = {}
            for name, each in value:
                if name not in found:
                    found[name] = plain_of(each)
            return found
        case list():
            return [plain_of(each) for each in value]
        case Number():
            integer = value.integer
            return value.decimal if integer is None else integer
    return value
