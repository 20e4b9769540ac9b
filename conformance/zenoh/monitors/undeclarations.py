"""Monitors of zenoh-declarations, "WireExpr Extension (ZBuf, ID=0x0F, M=true)", for all kinds."""

from collections.abc import Iterator
from functools import lru_cache

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event
from wire.errors import DecodeError
from wire.zenoh.extensions import WIRE_EXPR
from wire.zenoh.keys import Table, read_wire_expr, resolve
from wire.zenoh.messages import (
    Declare,
    DeclareKeyExpr,
    Extension,
    Kind,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)

EMPTY = WireExpr(None, 0)


def carried(body: UndeclareEntity) -> Extension | None:
    """Return the WireExpr extension of an undeclaration, well formed or not."""
    return next((each for each in body.extensions if each.id == WIRE_EXPR.id), None)


def undeclarations(conversation: Conversation) -> Iterator[tuple[Event, UndeclareEntity]]:
    """Return the undeclarations of entities that the implementation sent."""
    for event in received(conversation):
        if isinstance(event.body, UndeclareEntity):
            yield event, event.body


@lru_cache(maxsize=1024)  # each payload is read by several monitors, some of which read it several times
def read(payload: bytes, *, deployed: bool) -> WireExpr | None:
    """Read the payload of a WireExpr extension by one layout; ``None`` when it does not fit."""
    try:
        return read_wire_expr(payload, deployed=deployed)
    except DecodeError:
        return None


def is_empty(payload: bytes) -> bool:
    """Tell whether the payload of a WireExpr extension names no key: scope 0 and no suffix."""
    key = read(payload, deployed=False) or read(payload, deployed=True)
    return key is not None and key.scope == 0 and not key.suffix


def presence(conversation: Conversation, kind: Kind) -> Iterator[Finding]:
    """Judge whether undeclarations of one kind carry WireExpr."""
    for event, body in undeclarations(conversation):
        if body.kind is not kind:
            continue
        extension = carried(body)
        if extension is not None and isinstance(extension.value, bytes) and is_empty(extension.value):
            yield follows(event.entry, "R05", "C")
        elif extension is not None:
            yield follows(event.entry, "R05", "A")
        elif body.extensions:
            yield broken(event.entry, "the undeclaration has extensions, but not WireExpr among them")
        else:
            yield follows(event.entry, "R05", "B")


@monitor("ZD-055")
def subscribers_are_undeclared_with_wire_expr(conversation: Conversation) -> Iterator[Finding]:
    """Each U_SUBSCRIBER carries WireExpr."""
    yield from presence(conversation, Kind.SUBSCRIBER)


@monitor("ZD-076")
def queryables_are_undeclared_with_wire_expr(conversation: Conversation) -> Iterator[Finding]:
    """Each U_QUERYABLE carries WireExpr."""
    yield from presence(conversation, Kind.QUERYABLE)


@monitor("ZD-085")
def tokens_are_undeclared_with_wire_expr(conversation: Conversation) -> Iterator[Finding]:
    """Each U_TOKEN carries WireExpr."""
    yield from presence(conversation, Kind.TOKEN)


@monitor("ZD-057")
def wire_expr_is_a_mandatory_buffer(conversation: Conversation) -> Iterator[Finding]:
    """The extension 0x0F of an undeclaration is a ZBuf and marked mandatory."""
    for event, body in undeclarations(conversation):
        extension = carried(body)
        if extension is None:
            continue
        if not isinstance(extension.value, bytes):
            yield broken(event.entry, "the WireExpr extension is not a buffer")
        elif not extension.mandatory:
            yield broken(event.entry, "the WireExpr extension is not marked mandatory")
        else:
            yield kept(event.entry)


def spelled(conversation: Conversation) -> Iterator[tuple[Event, bytes, str | None, str | None]]:
    """Return each WireExpr payload, and its key by the document's spelling and by the deployed one."""
    tables: dict[Direction, Table] = {Direction.SENT: {}, Direction.RECEIVED: {}}
    for event in conversation.events:
        table = tables[event.direction]
        match event.message:
            case Declare(body=DeclareKeyExpr(expr_id=number)) if event.key is not None:
                table[number] = event.key
            case Declare(body=UndeclareKeyExpr(expr_id=number)):
                table.pop(number, None)
            case Declare(body=UndeclareEntity() as body) if event.direction is Direction.RECEIVED:
                extension = carried(body)
                if extension is None or not isinstance(extension.value, bytes) or is_empty(extension.value):
                    continue
                ours = tables[Direction.SENT]
                literal, deployed = (read(extension.value, deployed=way) for way in (False, True))
                yield (
                    event,
                    extension.value,
                    None if literal is None else resolve(literal, table, ours),
                    None if deployed is None else resolve(deployed, table, ours),
                )


@monitor("ZD-058")
def wire_expr_names_what_was_declared(conversation: Conversation) -> Iterator[Finding]:
    """WireExpr resolves to the key under which the entity was declared, in either spelling of it."""
    for event, payload, literal, deployed in spelled(conversation):
        if event.known is None or not any(read(payload, deployed=way) for way in (False, True)):
            continue
        if event.known in (literal, deployed):
            yield kept(event.entry)
        else:
            yield broken(event.entry, "WireExpr names another key than the entity was declared with")


@monitor("ZD-062")
def suffix_of_wire_expr_has_its_length(conversation: Conversation) -> Iterator[Finding]:
    """The suffix in WireExpr is there if and only if N is set, with its length in front."""
    for event, payload, _, _ in spelled(conversation):
        if read(payload, deployed=False) is not None:
            yield follows(event.entry, "R04", "A")
        elif read(payload, deployed=True) is not None:
            yield follows(event.entry, "R04", "B")
        else:
            yield broken(event.entry, "the payload of WireExpr does not read as flags, scope and suffix")
