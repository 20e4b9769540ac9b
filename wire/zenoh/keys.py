"""Keys: what a WireExpr stands for, which expressions are well formed, and which intersect.

The documents use key expressions without defining them; the language is the field's: chunks between ``/``,
where ``*`` stands for one chunk, ``**`` for any number of chunks, and ``$*`` for any characters within a
chunk. A chunk that begins with ``@`` is matched only by itself.
"""

from functools import lru_cache
from itertools import pairwise

from wire.errors import DecodeError
from wire.reference import decode, encode
from wire.zenoh.grammar_extensions import WIRE_EXPR, wire_expr_payload, wire_expr_payload_deployed
from wire.zenoh.values import Extension, WireExpr

Table = dict[int, str]
"""The ExprIds that one side has declared, with the key expressions they stand for."""


def resolve(key: WireExpr, sender: Table, receiver: Table) -> str | None:
    """Return the key expression that a WireExpr stands for; ``None`` when its scope was never declared."""
    if key.scope == 0:
        return key.suffix or ""
    base = (sender if key.sender else receiver).get(key.scope)
    return None if base is None else base + (key.suffix or "")


def well_formed(key: str) -> bool:
    """Tell whether a key expression is canonical: no empty chunk, no stray ``*``, ``$``, ``#`` or ``?``."""
    chunks = key.split("/")
    if any(one == "**" and two in ("*", "**") for one, two in pairwise(chunks)):
        return False
    return all(_well_formed_chunk(chunk) for chunk in chunks)


def _well_formed_chunk(chunk: str) -> bool:
    if chunk in ("*", "**"):
        return True
    if chunk in ("", "$*") or "$*$*" in chunk or any(mark in chunk for mark in "#?"):
        return False
    return not any(mark in chunk.replace("$*", "") for mark in "*$")


@lru_cache(maxsize=4096)
def intersects(one: str, two: str) -> bool:
    """Tell whether some key matches both expressions; the time goes with the product of their chunks."""
    return one == two or _chunks_intersect(one.split("/"), two.split("/"))


def _chunks_intersect(one: list[str], two: list[str]) -> bool:
    # row[j]: some sequence of chunks matches both one[:i] and two[:j].
    row = [True]
    for other in two:
        row.append(row[-1] and other == "**")
    for chunk in one:
        following = [row[0] and chunk == "**"]
        for j, other in enumerate(two, 1):
            if chunk == "**":
                hit = row[j] or (following[-1] and not other.startswith("@"))
            elif other == "**":
                hit = following[-1] or (row[j] and not chunk.startswith("@"))
            else:
                hit = row[j - 1] and _chunk_intersects(chunk, other)
            following.append(hit)
        if True not in following:
            return False
        row = following
    return row[-1]


def includes(one: str, two: str) -> bool:
    """Tell whether every key that matches the second expression surely matches the first.

    Two chunks with ``$*`` in them count only when they are equal: whoever asks wants to be sure, not to be complete.
    """
    return one == two or _chunks_include(one.split("/"), two.split("/"))


def _chunks_include(one: list[str], two: list[str]) -> bool:
    if not one:
        return not two
    if one[0] == "**":
        return _chunks_include(one[1:], two) or bool(two and two[0][0] != "@" and _chunks_include(one, two[1:]))
    if not two or two[0] == "**":
        return False
    is_plain = "*" not in two[0]
    fits = one[0] == two[0] or (one[0] == "*" and two[0][0] != "@") or (is_plain and _chunk_intersects(one[0], two[0]))
    return fits and _chunks_include(one[1:], two[1:])


def _chunk_intersects(one: str, two: str) -> bool:
    if one == two:
        return True
    if one.startswith("@") or two.startswith("@"):
        return False
    first, second = _literals(one), _literals(two)
    if len(first) > 1 and len(second) > 1:
        # Each has room for all of the other's middle: only the two ends have to agree.
        heads = first[0].startswith(second[0]) or second[0].startswith(first[0])
        return heads and (first[-1].endswith(second[-1]) or second[-1].endswith(first[-1]))
    return _text_matches(one, second) if len(first) == 1 else _text_matches(two, first)


def _literals(chunk: str) -> list[str]:
    """Split a chunk at its wildcards."""
    return ["", ""] if chunk == "*" else chunk.split("$*")


def _text_matches(text: str, literals: list[str]) -> bool:
    """Tell whether text is these literals, in order, with anything between them."""
    if len(literals) == 1:
        return text == literals[0]
    first, *middle, last = literals
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for literal in middle:
        found = text.find(literal, at, end)
        if found < 0:
            return False
        at = found + len(literal)
    return True


def wire_expr_extension(key: WireExpr, *, deployed: bool = False) -> Extension:
    """Make the WireExpr extension of an undeclaration; ``deployed`` leaves out the suffix's count."""
    payload = {
        "flags": {"M": int(key.sender), "N": int(key.suffix is not None)},
        "key_scope": key.scope,
        "key_suffix": key.suffix,
    }
    layout = wire_expr_payload_deployed if deployed else wire_expr_payload
    return Extension(WIRE_EXPR.id, encode(layout, payload), mandatory=True)


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


def queryable_info(complete: bool, distance: int, *, deployed: bool = False) -> int:
    """Return the Z64 value of QueryableInfo: the document's ``distance << 1``, or ``<< 8`` as deployed."""
    return distance << (8 if deployed else 1) | int(complete)


def read_queryable_info(value: int, *, deployed: bool = False) -> tuple[bool, int]:
    """Return complete and distance of a QueryableInfo value, by the document's layout or the deployed one."""
    return bool(value & 1), (value >> (8 if deployed else 1)) & 0xFFFF


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
