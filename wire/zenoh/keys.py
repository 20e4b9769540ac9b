"""Keys: what a WireExpr stands for, which expressions are well formed, and which intersect.

The documents use key expressions without defining them; the language is the field's: chunks between ``/``,
where ``*`` stands for one chunk, ``**`` for any number of chunks, and ``$*`` for any characters within a
chunk. A chunk that begins with ``@`` is matched only by itself.
"""

from functools import lru_cache
from itertools import pairwise

from wire.reference import encode
from wire.zenoh.grammar_extensions import WIRE_EXPR, wire_expr_payload, wire_expr_payload_deployed
from wire.zenoh.values import Extension, WireExpr

Table = dict[int, str]
"""The ExprIds that one side has declared, with the key expressions they stand for."""


class HeardTable(Table):
    """A table as somebody knows it who listens to what that side says.

    A number that is given to a second key before it was released names one of the two from then on, and the documents
    do not say which: it stands for nothing that is known.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unknown: set[int] = set()

    def give(self, number: int, key: str | None, *, is_sure: bool = True) -> None:
        """Enter that a number is given to a key, or to one that cannot be resolved (``None``).

        ``is_sure`` unless nobody knows whether the other side has taken that.
        """
        if not is_sure or number in self._unknown or self.get(number, key) != key:
            self._unknown.add(number)
            self.pop(number, None)
        elif key is not None:
            self[number] = key

    def release(self, number: int, *, is_sure: bool = True) -> str | None:
        """Enter that a number is released; return the key that it stood for, if that is known."""
        if is_sure:
            self._unknown.discard(number)
        else:
            self._unknown.add(number)
        return self.pop(number, None)


def resolve(key: WireExpr, sender: Table, receiver: Table) -> str | None:
    """Return the key expression that a WireExpr stands for; ``None`` when what its scope stands for is not known."""
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


# A case compares a hundred keys with a hundred others, and is played against hundreds of peers in one process.
@lru_cache(maxsize=32768)
def intersects(one: str, two: str) -> bool:
    """Tell whether some key matches both expressions; the time goes with the product of their chunks."""
    return one == two or _chunks_intersect(one.split("/"), two.split("/"))


@lru_cache(maxsize=32768)
def may_intersect(one: str, two: str) -> bool:
    """Tell whether both may match some key, as far as one can know: what is no key expression may match anything."""
    return intersects(one, two) or not (well_formed(one) and well_formed(two))


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
                hit = row[j - 1] and chunk_intersects(chunk, other)
            following.append(hit)
        if True not in following:
            return False
        row = following
    return row[-1]


def chunk_intersects(one: str, two: str) -> bool:
    """Tell whether some chunk matches both, neither of which is ``**``."""
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


def queryable_info(complete: bool, distance: int, *, deployed: bool = False) -> int:
    """Return the Z64 value of QueryableInfo: the document's ``distance << 1``, or ``<< 8`` as deployed."""
    return distance << (8 if deployed else 1) | int(complete)


def read_queryable_info(value: int, *, deployed: bool = False) -> tuple[bool, int]:
    """Return complete and distance of a QueryableInfo value, by the document's layout or the deployed one."""
    return bool(value & 1), (value >> (8 if deployed else 1)) & 0xFFFF
