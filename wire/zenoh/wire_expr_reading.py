"""Reading the payload of a WireExpr extension, in the document's spelling or in that of deployed nodes.

Apart from ``keys``: an undeclaration goes by its id, so our peers write the extension, and only testers read it.
"""

from functools import lru_cache

from wire.errors import DecodeError
from wire.reference import decode
from wire.zenoh.grammar_extensions import wire_expr_payload, wire_expr_payload_deployed
from wire.zenoh.values import WireExpr


def read_wire_expr_extension(payload: bytes) -> tuple[WireExpr, bool]:
    """Read the payload of a WireExpr extension: the key, and whether it is spelled as deployed nodes do.

    The document's spelling is tried first. Raises ``DecodeError`` when neither fits.
    """
    try:
        return read_wire_expr(payload), False
    except DecodeError:
        return read_wire_expr(payload, deployed=True), True


@lru_cache(maxsize=1024)  # a conversation reads it, and then the monitors of several rules
def read_wire_expr(payload: bytes, *, deployed: bool = False) -> WireExpr:
    """Read the payload of a WireExpr extension by the document's layout or the deployed one, and no other."""
    plain = _read_plainly(payload, deployed)
    if plain is not None:
        return plain
    value = decode(wire_expr_payload_deployed if deployed else wire_expr_payload, payload)
    return WireExpr(value["key_suffix"], value["key_scope"], bool(value["flags"]["M"]))


def _read_plainly(payload: bytes, deployed: bool) -> WireExpr | None:
    """Read a payload of one byte for each number and an ASCII suffix, as nearly all are; ``None`` for any other.

    The reference, which reads whatever there can be, takes a hundred times as long, and every undeclaration has one.
    """
    if len(payload) < 2 or payload[0] > 3 or payload[1] > 0x7F:
        return None
    flags, scope, rest = payload[0], payload[1], payload[2:]
    if not flags & 1:
        return None if rest else WireExpr(None, scope, bool(flags & 2))
    if not deployed:
        if not rest or rest[0] > 0x7F or rest[0] != len(rest) - 1:
            return None
        rest = rest[1:]
    return WireExpr(rest.decode("ascii"), scope, bool(flags & 2)) if rest.isascii() else None
