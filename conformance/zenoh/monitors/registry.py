"""Where the Zenoh monitors are collected, and how they say which messages they look at."""

from collections.abc import Hashable

from conformance.monitors import Monitors, Selector
from conformance.zenoh.monitors.state import SessionState
from harness.trace import Direction
from wire.zenoh.values import DeclareEntity, DeclareFinal, DeclareKeyExpr, UndeclareEntity, UndeclareKeyExpr

MONITORS = Monitors(SessionState)
monitor = MONITORS

ENTITIES = (DeclareEntity, UndeclareEntity)
DECLARATIONS = (*ENTITIES, DeclareKeyExpr, UndeclareKeyExpr, DeclareFinal)
"""What a DECLARE can hold."""


def received(*forms: type, role: int | None = None) -> Selector:
    """Select what the implementation said, by the classes of messages or of declarations; ``role``: if it is that."""

    def selects(its: Hashable, direction: Direction, form: type) -> bool:
        return direction is Direction.RECEIVED and form in forms and role in (None, its)

    return selects
