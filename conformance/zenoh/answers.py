"""What several cases read in what a node has said."""

from harness.zenoh.tester.driver import Driver
from wire.zenoh.values import DeclareKeyExpr, UndeclareKeyExpr


def given_twice(session: Driver) -> list[int]:
    """Return the ExprIds that the node gave to one key while they belonged to another."""
    table: dict[int, str | None] = {}
    twice = []
    for event in session.received():
        match event.body:
            case DeclareKeyExpr(expr_id=number):
                if table.get(number, event.key) != event.key:
                    twice.append(number)
                table[number] = event.key
            case UndeclareKeyExpr(expr_id=number):
                table.pop(number, None)
            case _:
                pass
    return twice
