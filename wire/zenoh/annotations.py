"""What a dump says about Zenoh's fields: messages, modes and extensions by name, and payloads."""

import json
from collections.abc import Callable, Sequence

from wire.errors import DecodeError
from wire.primitives import Span
from wire.reference import decode
from wire.zenoh.grammar_extensions import (
    BY_MESSAGE,
    NODE_ID,
    QUERYABLE_INFO,
    TIMESTAMP,
    WIRE_EXPR,
    Known,
    timestamp_payload,
)
from wire.zenoh.keys import read_queryable_info
from wire.zenoh.values import Mode
from wire.zenoh.wire_expr_reading import read_wire_expr

MODES = {Mode.CURRENT: "Current", Mode.FUTURE: "Future", Mode.CURRENT_FUTURE: "CurrentFuture"}


def annotate(spans: Sequence[Span], frame: bytes, keys: object) -> dict[int, tuple[str, ...]]:
    """Return remarks by the index of the span that they belong to; nothing here is signed."""
    remarks: dict[int, tuple[str, ...]] = {}
    known: Known | None = None
    for index, span in enumerate(spans):
        *parents, field = span.path.split(".")
        if not parents:
            continue
        if parents[-1].startswith("extensions["):
            message = parents[-2] if len(parents) > 1 else ""
            if field == "header":
                known = find(message, span.value)
                remarks[index] = (extension_remark(message, span.value, known),)
            elif known in CONTENTS:
                remarks[index] = CONTENTS[known](span.value)
        elif field == "header":
            mode = f", {MODES[span.value['Mod']]}" if parents[-1] == "INTEREST" else ""
            remarks[index] = (parents[-1] + mode,)
    return remarks


def find(message: str, header: dict[str, int]) -> Known | None:
    """Return the extension of a message that a header byte begins, by id, encoding and M together."""
    shape = header["id"], header["encoding"], bool(header["M"])
    return next((known for known in BY_MESSAGE.get(message, ()) if known[:3] == shape), None)


def extension_remark(message: str, header: dict[str, int], known: Known | None) -> str:
    """Name an extension, or say what an unknown one asks of a receiver."""
    if known is not None:
        return f"extension {known.name}"
    if header["M"]:
        return f"unknown mandatory extension: a receiver cannot act on this {message}"
    return "unknown extension, skipped"


def both(read: Callable[[bool], str]) -> tuple[str, ...]:
    """Give what the document's layout says and what the deployed one says; one remark when they agree."""
    document, deployed = read(False), read(True)
    if document == deployed:
        return (document,)
    return f"document: {document}", f"deployed: {deployed}"


def wire_expr(payload: bytes) -> tuple[str, ...]:
    """Explain the payload of a WireExpr extension in both readings."""

    def read(deployed: bool) -> str:
        try:
            key = read_wire_expr(payload, deployed=deployed)
        except DecodeError as error:
            return str(error)
        suffix = "" if key.suffix is None else f" key_suffix={json.dumps(key.suffix, ensure_ascii=False)}"
        return f"M={int(key.sender)} N={int(key.suffix is not None)} key_scope={key.scope}{suffix}"

    return both(read)


def queryable_info(value: int) -> tuple[str, ...]:
    """Explain the value of QueryableInfo in both readings."""

    def read(deployed: bool) -> str:
        complete, distance = read_queryable_info(value, deployed=deployed)
        return f"complete={int(complete)} distance={distance}"

    return both(read)


def timestamp(payload: bytes) -> tuple[str, ...]:
    """Explain the payload of a Timestamp extension."""
    try:
        value = decode(timestamp_payload, payload)
    except DecodeError as error:
        return (str(error),)
    seconds = value["time"] / 2**32
    return (f"time={value['time']} ({seconds:.6f} s since 1970) clock_id={value['clock_id'].hex()}",)


def node_id(value: int) -> tuple[str, ...]:
    """Explain the value of NodeId."""
    return (f"node {value & 0xFFFF}",)


CONTENTS: dict[Known | None, Callable[..., tuple[str, ...]]] = {
    WIRE_EXPR: wire_expr,
    QUERYABLE_INFO: queryable_info,
    TIMESTAMP: timestamp,
    NODE_ID: node_id,
}
