"""Zenoh's messages as frozen values, and their way to and from what the grammars decode.

A value says what a message means: presence flags follow from the fields that are there (a suffix sets N,
extensions set Z), so only the bits that mean something of their own are kept. ``reserved`` holds the X bits,
in place. INTEREST alone keeps R, N and M with its options, as they are bits of the options byte.
"""

from collections.abc import Callable, Iterable
from enum import Enum, IntEnum, IntFlag
from functools import cache
from typing import Any

import msgspec

from wire.zenoh.grammar_extensions import BY_MESSAGE, QUERYABLE_INFO, Known

Wire = dict[str, Any]
"""A message as the grammars decode it."""


class EntityKind(Enum):
    """What an entity is."""

    SUBSCRIBER = "subscriber"
    QUERYABLE = "queryable"
    TOKEN = "token"

    # Each member exists once. The hash that Enum has is a function in Python, and is called for every declaration.
    __hash__ = object.__hash__


class Mode(IntEnum):
    """zenoh-interests, "Interest Modes"."""

    FINAL = 0
    CURRENT = 1
    FUTURE = 2
    CURRENT_FUTURE = 3


class Options(IntFlag):
    """zenoh-interests, "Options Byte"."""

    K = 0x01
    S = 0x02
    Q = 0x04
    T = 0x08
    R = 0x10
    N = 0x20
    M = 0x40
    A = 0x80


# To call an Enum costs several times as much as to look its members up, and every INTEREST of a capture is read.
_MODES = tuple(Mode)
_OPTIONS = tuple(Options(bits) for bits in range(1 << 8))
_OPTION_BIT = {option.name: int(option) for option in Options}

OPTION = {EntityKind.SUBSCRIBER: Options.S, EntityKind.QUERYABLE: Options.Q, EntityKind.TOKEN: Options.T}


@cache
def _kinds(options: int) -> frozenset[EntityKind]:
    return frozenset(kind for kind, bit in OPTION.items() if options & bit)


class Value(msgspec.Struct, frozen=True):
    """Base of all values here."""


class WireExpr(Value, frozen=True):
    """A key expression on the wire: the scope's ExprId (0 = global) plus a suffix.

    ``sender`` says whose table the scope is looked up in: that of the message's sender (M==1) or of its
    receiver (M==0).
    """

    suffix: str | None = None
    scope: int = 0
    sender: bool = True


class Extension(Value, frozen=True):
    """One extension: ``value`` is ``None`` (Unit), an integer (Z64) or bytes (ZBuf)."""

    id: int
    value: int | bytes | None = None
    mandatory: bool = False

    @property
    def encoding(self) -> int:
        """0 Unit, 1 Z64, 2 ZBuf."""
        return 0 if self.value is None else 1 if isinstance(self.value, int) else 2

    def is_(self, known: Known) -> bool:
        """Tell whether this is the named extension, by id, encoding and M together."""
        return (self.id, self.encoding, self.mandatory) == (known.id, known.encoding, known.mandatory)


Extensions = tuple[Extension, ...]


class Interest(Value, frozen=True):
    """INTEREST in the modes Current, Future and CurrentFuture."""

    id: int
    mode: Mode
    options: Options
    key: WireExpr | None = None
    extensions: Extensions = ()

    @property
    def kinds(self) -> frozenset[EntityKind]:
        """The kinds of entity that are asked for."""
        return _kinds(int(self.options))


class InterestFinal(Value, frozen=True):
    """INTEREST in mode Final: ends an interest."""

    id: int
    extensions: Extensions = ()


class DeclareKeyExpr(Value, frozen=True):
    """D_KEYEXPR: an ExprId stands for a key expression."""

    expr_id: int
    key: WireExpr
    extensions: Extensions = ()
    reserved: int = 0


class UndeclareKeyExpr(Value, frozen=True):
    """U_KEYEXPR: an ExprId is free again."""

    expr_id: int
    extensions: Extensions = ()
    reserved: int = 0


class DeclareEntity(Value, frozen=True):
    """D_SUBSCRIBER, D_QUERYABLE or D_TOKEN."""

    kind: EntityKind
    id: int
    key: WireExpr
    extensions: Extensions = ()

    @property
    def info(self) -> int | None:
        """The value of the QueryableInfo extension, if there is one."""
        return next((int(e.value) for e in self.extensions if e.is_(QUERYABLE_INFO) and e.value is not None), None)


class UndeclareEntity(Value, frozen=True):
    """U_SUBSCRIBER, U_QUERYABLE or U_TOKEN."""

    kind: EntityKind
    id: int
    extensions: Extensions = ()
    reserved: int = 0


class DeclareFinal(Value, frozen=True):
    """D_FINAL: the snapshot is complete."""

    extensions: Extensions = ()
    reserved: int = 0


Declaration = DeclareKeyExpr | UndeclareKeyExpr | DeclareEntity | UndeclareEntity | DeclareFinal


class Declare(Value, frozen=True):
    """DECLARE: one declaration; ``interest_id`` is there when it answers an INTEREST (I==1)."""

    body: Declaration
    interest_id: int | None = None
    extensions: Extensions = ()
    reserved: int = 0


class Push(Value, frozen=True):
    """PUSH: data for subscribers; ``payload`` is ``None`` for a deletion."""

    key: WireExpr
    payload: bytes | None
    extensions: Extensions = ()


class Request(Value, frozen=True):
    """REQUEST with a QUERY."""

    id: int
    key: WireExpr
    parameters: str = ""
    extensions: Extensions = ()


class Response(Value, frozen=True):
    """RESPONSE with a REPLY (``error`` False) or an ERR."""

    id: int
    key: WireExpr
    payload: bytes | None
    error: bool = False
    extensions: Extensions = ()


class ResponseFinal(Value, frozen=True):
    """RESPONSE_FINAL: no more responses to a request."""

    id: int
    extensions: Extensions = ()


class Oam(Value, frozen=True):
    """OAM: operation and maintenance; passed over by a tester."""

    id: int
    body: int | bytes | None = None
    extensions: Extensions = ()


NetworkMessage = Interest | InterestFinal | Declare | Push | Request | Response | ResponseFinal | Oam

ENTITY_ID = {EntityKind.SUBSCRIBER: "subs_id", EntityKind.QUERYABLE: "qbls_id", EntityKind.TOKEN: "token_id"}
DECLARED = {"D_SUBSCRIBER": EntityKind.SUBSCRIBER, "D_QUERYABLE": EntityKind.QUERYABLE, "D_TOKEN": EntityKind.TOKEN}
UNDECLARED = {"U_SUBSCRIBER": EntityKind.SUBSCRIBER, "U_QUERYABLE": EntityKind.QUERYABLE, "U_TOKEN": EntityKind.TOKEN}
DECLARE_TYPE = {kind: name for name, kind in DECLARED.items()}
UNDECLARE_TYPE = {kind: name for name, kind in UNDECLARED.items()}


def unknown_mandatory(kind: str, extensions: Iterable[Extension]) -> Extension | None:
    """Return the first mandatory extension that a message of type ``kind`` does not know, if any."""
    known = BY_MESSAGE.get(kind, ())
    return next((e for e in extensions if e.mandatory and not any(e.is_(k) for k in known)), None)


def extensions_of(value: Wire) -> Extensions:
    """Read a decoded extension chain."""
    found = value["extensions"]
    if not found:  # as most messages
        return ()
    return tuple(Extension(each["header"]["id"], each["value"], bool(each["header"]["M"])) for each in found)


def chain(extensions: Extensions) -> list[Wire] | None:
    """Write an extension chain."""
    return [
        {"header": {"encoding": e.encoding, "M": int(e.mandatory), "id": e.id}, "value": e.value} for e in extensions
    ] or None


def key_of(value: Wire) -> WireExpr:
    """Read the key of a message whose header has M and N."""
    return WireExpr(value["key_suffix"], value["key_scope"], bool(value["header"].get("M", 1)))


def keyed(key: WireExpr) -> tuple[Wire, Wire]:
    """Write a key: the flags M and N, and the fields."""
    flags = {"M": int(key.sender), "N": int(key.suffix is not None)}
    return flags, {"key_scope": key.scope, "key_suffix": key.suffix}


def from_wire(value: Wire) -> NetworkMessage:
    """Turn a decoded network message into its value."""
    return _READ[value["type"]](value)


def to_wire(message: NetworkMessage) -> Wire:
    """Turn a value into what the grammar of network messages encodes."""
    return _WRITE[type(message)](message)


def _read_interest(value: Wire) -> Interest:
    bits = value["options"]
    options = _OPTIONS[sum([_OPTION_BIT[name] for name, bit in bits.items() if bit])]
    key = WireExpr(value["key_suffix"], value["key_scope"], bool(bits["M"])) if bits["R"] else None
    return Interest(value["id"], _MODES[value["header"]["Mod"]], options, key, extensions_of(value))


def _write_interest(message: Interest) -> Wire:
    key = message.key or WireExpr()
    return {
        "type": "INTEREST",
        "header": {"Z": int(bool(message.extensions)), "Mod": int(message.mode)},
        "id": message.id,
        "options": {option.name: int(bool(message.options & option)) for option in Options},
        "key_scope": key.scope,
        "key_suffix": key.suffix,
        "extensions": chain(message.extensions),
    }


def _read_declare(value: Wire) -> Declare:
    body = read_declaration(value["declaration"])
    return Declare(body, value["interest_id"], extensions_of(value), value["header"]["X"])


def read_declaration(value: Wire) -> Declaration:
    """Turn a decoded declaration into its value."""
    name, extensions, reserved = value["type"], extensions_of(value), value["header"].get("X", 0)
    if name == "D_KEYEXPR":
        return DeclareKeyExpr(value["expr_id"], key_of(value), extensions, reserved)
    if name == "U_KEYEXPR":
        return UndeclareKeyExpr(value["expr_id"], extensions, reserved)
    if name == "D_FINAL":
        return DeclareFinal(extensions, reserved)
    if name in DECLARED:
        kind = DECLARED[name]
        return DeclareEntity(kind, value[ENTITY_ID[kind]], key_of(value), extensions)
    kind = UNDECLARED[name]
    return UndeclareEntity(kind, value[ENTITY_ID[kind]], extensions, reserved)


def _write_declare(message: Declare) -> Wire:
    return {
        "type": "DECLARE",
        "header": {
            "Z": int(bool(message.extensions)),
            "I": int(message.interest_id is not None),
            "X": message.reserved,
        },
        "interest_id": message.interest_id,
        "extensions": chain(message.extensions),
        "declaration": write_declaration(message.body),
    }


def write_declaration(body: Declaration) -> Wire:
    """Turn a declaration into what its grammar encodes."""
    header: Wire = {"Z": int(bool(body.extensions)), "X": getattr(body, "reserved", 0)}
    rest: Wire = {"extensions": chain(body.extensions)}
    match body:
        case DeclareKeyExpr():
            flags, fields = keyed(body.key)
            header |= {"N": flags["N"]}
            return {"type": "D_KEYEXPR", "header": header, "expr_id": body.expr_id, **fields, **rest}
        case UndeclareKeyExpr():
            return {"type": "U_KEYEXPR", "header": header, "expr_id": body.expr_id, **rest}
        case DeclareEntity():
            flags, fields = keyed(body.key)
            name = DECLARE_TYPE[body.kind]
            return {"type": name, "header": header | flags, ENTITY_ID[body.kind]: body.id, **fields, **rest}
        case UndeclareEntity():
            return {
                "type": UNDECLARE_TYPE[body.kind],
                "header": header,
                ENTITY_ID[body.kind]: body.id,
                **rest,
            }
        case DeclareFinal():
            return {"type": "D_FINAL", "header": header, **rest}


def _write_put(payload: bytes | None) -> Wire:
    if payload is None:
        return {"type": "DEL", "header": {}, "timestamp": None, "extensions": None}
    value: Wire = {"type": "PUT", "header": {}, "timestamp": None, "encoding": None, "schema": None}
    return value | {"extensions": None, "payload": payload}


def _addressed(name: str, message: Push | Request | Response, body: Wire) -> Wire:
    flags, fields = keyed(message.key)
    value: Wire = {
        "type": name,
        "header": {"Z": int(bool(message.extensions)), **flags},
        **fields,
        "body": body,
    }
    if not isinstance(message, Push):
        value["id"] = message.id
    return value | {"extensions": chain(message.extensions)}


def _write_request(message: Request) -> Wire:
    header = {"P": int(bool(message.parameters))}
    return _addressed(
        "REQUEST",
        message,
        {
            "type": "QUERY",
            "header": header,
            "consolidation": None,
            "parameters": message.parameters,
            "extensions": None,
        },
    )


def _read_response(value: Wire) -> Response:
    body = value["body"]
    error = body["type"] == "ERR"
    payload = body["payload"] if error else body["body"].get("payload")
    return Response(value["id"], key_of(value), payload, error, extensions_of(value))


def _write_response(message: Response) -> Wire:
    if message.error:
        body: Wire = _write_put(message.payload) | {"type": "ERR"}
    else:
        inner = _write_put(message.payload)
        body = {"type": "REPLY", "header": {}, "consolidation": None, "extensions": None, "body": inner}
    return _addressed("RESPONSE", message, body)


def _write_oam(message: Oam) -> Wire:
    encoding = 0 if message.body is None else 1 if isinstance(message.body, int) else 2
    header = {"Z": int(bool(message.extensions)), "encoding": encoding}
    return {
        "type": "OAM",
        "header": header,
        "id": message.id,
        "extensions": chain(message.extensions),
        "body": {} if message.body is None else message.body,
    }


def _read_oam(value: Wire) -> Oam:
    body = value["body"]
    return Oam(value["id"], None if isinstance(body, dict) else body, extensions_of(value))


def _simple(name: str, message: InterestFinal | ResponseFinal) -> Wire:
    header = {"Z": int(bool(message.extensions))}
    return {"type": name, "header": header, "id": message.id, "extensions": chain(message.extensions)}


_READ: dict[str, Callable[[Wire], NetworkMessage]] = {
    "INTEREST": _read_interest,
    "INTEREST_FINAL": lambda value: InterestFinal(value["id"], extensions_of(value)),
    "DECLARE": _read_declare,
    "PUSH": lambda value: Push(key_of(value), value["body"].get("payload"), extensions_of(value)),
    "REQUEST": lambda value: Request(
        value["id"], key_of(value), value["body"]["parameters"] or "", extensions_of(value)
    ),
    "RESPONSE": _read_response,
    "RESPONSE_FINAL": lambda value: ResponseFinal(value["id"], extensions_of(value)),
    "OAM": _read_oam,
}

_WRITE: dict[type, Callable[[Any], Wire]] = {
    Interest: _write_interest,
    InterestFinal: lambda message: _simple("INTEREST_FINAL", message),
    Declare: _write_declare,
    Push: lambda message: _addressed("PUSH", message, _write_put(message.payload)),
    Request: _write_request,
    Response: _write_response,
    ResponseFinal: lambda message: _simple("RESPONSE_FINAL", message),
    Oam: _write_oam,
}
