"""What may differ from one session of Zenoh to the next: ids, keys, ZIDs, cookies, sequence numbers, timestamps."""

from functools import partial
from typing import Any

from reports.traffic.variation import SessionDraw, VariableFields
from wire.engines import engine
from wire.errors import DecodeError, EncodeError
from wire.zenoh.grammar_extensions import TIMESTAMP, WIRE_EXPR
from wire.zenoh.values import WireExpr
from wire.zenoh.wire_expr_reading import read_wire_expr

LAYOUT = "zenoh/batch"

BITS_32, BITS_16, BITS_28 = (1 << 32) - 1, (1 << 16) - 1, (1 << 28) - 1

SPACES = {
    "interest_id": ("interest", BITS_32),
    "subs_id": ("subscriber", BITS_32),
    "qbls_id": ("queryable", BITS_32),
    "token_id": ("token", BITS_32),
    "expr_id": ("expression", BITS_16),
    "key_scope": ("expression", BITS_16),
}
"""The fields with ids by name: what they are ids of, and the largest."""

INTERESTS = ("INTEREST", "INTEREST_FINAL")
QUERIES = ("REQUEST", "RESPONSE", "RESPONSE_FINAL")

SETTINGS: dict[str, Any] = {}
"""With what the peers are made, so that a play is the same each time."""

# Plain mappings can be changed; the native engine's records cannot.
_CODEC = engine("python").codec(LAYOUT)


def begin() -> None:
    """Nothing that a play draws at random is left when it is varied."""


def read(frame: bytes) -> Any:
    """Return a batch as a list of messages; ValueError when it is none."""
    try:
        return _CODEC.decode(frame)
    except DecodeError as error:
        raise ValueError(str(error)) from error


def write(value: Any) -> bytes:
    """Return the batch of messages; ValueError when they do not fit."""
    try:
        return _CODEC.encode(value)
    except EncodeError as error:
        raise ValueError(str(error)) from error


def places(value: Any, by_dialler: bool, found: VariableFields) -> None:
    """Name the places in a message and in all that is in it."""
    if isinstance(value, list):
        for each in value:
            places(each, by_dialler, found)
        return
    if not isinstance(value, dict):
        return
    kind = value.get("type")
    for name, part in value.items():
        if name in SPACES:
            found.number(value, name, *SPACES[name])
        elif name == "id" and kind in INTERESTS:
            found.number(value, name, "interest", BITS_32)
        elif name == "id" and kind in QUERIES:
            found.number(value, name, "query", BITS_32)
        # Each side counts its own, so each has a space of its own.
        elif name in ("sn", "initial_sn"):
            _sequence(value, name, f"{name[-2:]} {by_dialler}", found)
        elif name == "key_suffix":
            found.text(value, name)
        elif name in ("zid", "cookie"):
            found.blob(value, name)
        elif name == "extensions":
            for extension in part or ():
                _extension(extension, str(kind), found)
        else:
            places(part, by_dialler, found)


def _sequence(holder: Any, key: str, space: str, found: VariableFields) -> None:
    """Name a sequence number, which begins at 0."""
    value = holder[key]
    # Sequence numbers wrap round at 28 bits by default: shifted beyond that, a session would run over where it did not.
    found.reserve(space, value, BITS_28)
    found.built(holder, key, (), lambda draw: value + draw.shift[space])


def _extension(extension: Any, kind: str, found: VariableFields) -> None:
    value, header = extension["value"], extension["header"]
    if not isinstance(value, bytes):
        return
    if header["id"] == WIRE_EXPR.id and kind.startswith("U_"):
        # Both spellings of the extension are in the world (reading R04): the one that gives the bytes back is the one
        # used.
        for deployed in (False, True):
            try:
                key = read_wire_expr(value, deployed=deployed)
            except DecodeError:
                continue
            if _spelled(key, deployed) == value:
                found.reserve("expression", key.scope, BITS_16)
                texts = (key.suffix,) if key.suffix else ()
                found.built(extension, "value", texts, partial(_spelled, key, deployed))
            return
    elif header["id"] == TIMESTAMP.id:
        found.blob(extension, "value")


def _spelled(key: WireExpr, deployed: bool, draw: SessionDraw | None = None) -> bytes:
    """Return the payload of a WireExpr extension."""
    scope, suffix = key.scope, key.suffix
    if draw is not None:
        scope = draw.number("expression", scope)
        suffix = draw.text(suffix) if suffix else suffix
    spelled = bytes([key.sender << 1 | (suffix is not None)]) + _vle(scope)
    if suffix is None:
        return spelled
    text = suffix.encode()
    return spelled + text if deployed else spelled + _vle(len(text)) + text


def _vle(value: int) -> bytes:
    """Write an integer as Zenoh does: seven bits at a time, the least first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
