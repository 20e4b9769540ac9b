"""Monitors of zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR"."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.zenoh.conversation import Conversation
from wire.zenoh.messages import DeclareKeyExpr, UndeclareKeyExpr


@monitor("ZD-032")
def zero_is_global(conversation: Conversation) -> Iterator[Finding]:
    """The number 0 is not given to a key, unless the implementation takes that for allowed."""
    for event in received(conversation):
        if isinstance(event.body, DeclareKeyExpr):
            yield kept(event.entry) if event.body.expr_id else follows(event.entry, "R11", "B")


@monitor("ZD-036")
def numbers_belong_to_one_key(conversation: Conversation) -> Iterator[Finding]:
    """A number is given to a second key only after it was taken from the first."""
    table: dict[int, str | None] = {}
    for event in received(conversation):
        match event.body:
            case DeclareKeyExpr(expr_id=number):
                if number not in table:
                    yield kept(event.entry)
                elif table[number] == event.key:
                    yield follows(event.entry, "R12", "B")
                else:
                    yield broken(event.entry, "a number is given to a second key while the first has it")
                table[number] = event.key
            case UndeclareKeyExpr(expr_id=number):
                table.pop(number, None)
            case _:
                pass
