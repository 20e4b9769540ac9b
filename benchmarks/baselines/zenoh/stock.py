"""A part of zenoh/network-message in Construct's own classes alone: DECLARE with a declaration of an entity.

goldwire's grammars have leaves of their own, which are bounded, say where they refuse, and happen to be quicker than
``BitStruct``, ``VarInt`` and ``PascalString``. This is what somebody would write who has only Construct at hand.
"""

from typing import Any

from construct import (
    BitsInteger,
    BitStruct,
    Const,
    Flag,
    GreedyBytes,
    If,
    Padding,
    PascalString,
    Pass,
    Prefixed,
    RepeatUntil,
    Struct,
    Switch,
    Terminated,
    VarInt,
    obj_,
    this,
)

from vectors.bench.throughput import Baseline

extension = Struct(
    "header" / BitStruct("Z" / Flag, "encoding" / BitsInteger(2), "M" / Flag, "id" / BitsInteger(4)),
    "value" / Switch(this.header.encoding, {0: Pass, 1: VarInt, 2: Prefixed(VarInt, GreedyBytes)}),
)

declaration = Struct(
    "header" / BitStruct("Z" / Flag, "M" / Flag, "N" / Flag, "id" / BitsInteger(5)),
    "entity_id" / VarInt,
    "key_scope" / VarInt,
    "key_suffix" / If(this.header.N, PascalString(VarInt, "utf8")),
    "extensions" / If(this.header.Z, RepeatUntil(obj_.header.Z == False, extension)),  # noqa: E712 (an expression)
)

declare = Struct(
    "header" / BitStruct("Z" / Flag, Padding(1), "I" / Flag, "id" / Const(0x1E, BitsInteger(5))),
    "interest_id" / If(this.header.I, VarInt),
    "extensions" / If(this.header.Z, RepeatUntil(obj_.header.Z == False, extension)),  # noqa: E712
    "declaration" / declaration,
    Terminated,
)


def read(decode: Any, frames: Any) -> None:
    """Decode frames and read every field."""
    for data in frames:
        message = decode(data)
        header, inner = message["header"], message["declaration"]
        header["Z"], header["I"], header["id"], message["interest_id"]
        below = inner["header"]
        below["Z"], below["M"], below["N"], below["id"]
        inner["entity_id"], inner["key_scope"], inner["key_suffix"]
        for chain in (message["extensions"], inner["extensions"]):
            for each in chain or ():
                top = each["header"]
                top["Z"], top["encoding"], top["M"], top["id"], each["value"]


def covers(value: dict[str, Any]) -> bool:
    """Tell whether a message is among those that are written down here.

    A ninth byte of an integer has eight bits on this wire, which ``VarInt`` does not know.
    """
    if value["type"] != "DECLARE" or value["declaration"]["type"] not in ("D_SUBSCRIBER", "D_QUERYABLE", "D_TOKEN"):
        return False
    chains = (value["extensions"] or []) + (value["declaration"]["extensions"] or [])
    return all(not isinstance(each["value"], int) or each["value"] < 1 << 56 for each in chains)


BASELINES = {
    "network-message": Baseline("stock", declare.parse, declare.build, read, covers),
}
"""By the name of a layout of zenoh."""
