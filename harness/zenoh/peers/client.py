"""The reference client: one session with a router; told by control verbs what to declare and what to ask for.

It answers interests in what it has declared itself, as lazily as a router does, and sends interests of its own.
"""

from harness.errors import ControlFailed
from harness.zenoh.peers.control import VERBS, ControlLines
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.peers.transport import SessionTransport
from wire.zenoh.values import (
    OPTION,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    Options,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import WhatAmI

LOCAL = 0
"""The link number under which the client's own entities are kept."""


class Client(Router):
    """A Zenoh client; ``command`` takes the verbs of docs/control.md."""

    role = "client"
    whatami = WhatAmI.CLIENT
    verbs = VERBS

    def __init__(self, *, zid: bytes = b"goldwire-client\x01", profile: str = "document", lease: int = 10_000) -> None:
        super().__init__(zid=zid, profile=profile, lease=lease)
        # The client's own entities are kept as those of a session without a link, so that interests in them are
        # answered by the same code as a router's.
        self.sessions[LOCAL] = Session(LOCAL, SessionTransport(self.settings, opener=False))
        self.control = ControlLines(self)
        # Ids in use begin at 1; for ExprIds 0 is the global scope.
        self.next_entity = 1
        self.next_interest = 1
        self.next_alias = 1

    @property
    def local(self) -> Session:
        """The client's own entities."""
        return self.sessions[LOCAL]

    @property
    def remote(self) -> Session:
        """The open session with the router; ``ControlFailed`` when there is none."""
        # That of the client's own entities never opens.
        for session in self.sessions.values():
            if session.opened:
                return session
        raise ControlFailed("there is no open session")

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Do what a control line asks."""
        self.control.obey(verb, arguments)
        return ""

    def declare_keyexpr(self, key: str) -> int:
        """Declare an alias to the router and return its ExprId."""
        expr_id = self.take_alias()
        self.remote.mine[expr_id] = key
        self.declare(self.remote, DeclareKeyExpr(expr_id, WireExpr(key)), None)
        return expr_id

    def take_alias(self) -> int:
        """Return an ExprId that is free."""
        self.next_alias += 1
        return self.next_alias - 1

    def declare_entity(self, kind: EntityKind, key: str) -> tuple[EntityKind, int]:
        """Declare an entity of the client's own."""
        entity = self.next_entity
        self.next_entity += 1
        self.on_declare_entity(self.local, DeclareEntity(kind, entity, WireExpr(key)))
        return kind, entity

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None:
        """Undeclare an entity or an alias."""
        if isinstance(what, int):
            self.remote.mine.pop(what, None)
            self.declare(self.remote, UndeclareKeyExpr(what), None)
        else:
            self.on_undeclare_entity(self.local, UndeclareEntity(*what))

    def ask(self, mode: Mode, kind: EntityKind, key: str) -> int:
        """Send an interest and return its id."""
        interest = self.take_interest()
        options = OPTION[kind] | Options.R | Options.N | Options.M
        self.send(self.remote, Interest(interest, mode, options, WireExpr(key)))
        return interest

    def take_interest(self) -> int:
        """Return an interest id that is not in use."""
        self.next_interest += 1
        return self.next_interest - 1

    def end(self, interest: int) -> None:
        """End an interest."""
        self.send(self.remote, InterestFinal(interest))

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        """Spell an entity's key: through an alias that was declared for it."""
        for expr_id, key in session.mine.items():
            if key == entity.key:
                return WireExpr(None, expr_id)
        return WireExpr(entity.key)
