"""The reference client: one session with a router; told by control verbs what to declare and what to ask for.

It answers interests in what it has declared itself, as lazily as a router does, and sends interests of its own.
"""

import msgspec

from harness.errors import ControlFailed, Unsupported
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.peers.transport import SessionTransport
from wire.zenoh.values import (
    OPTION,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import WhatAmI

LOCAL = 0
"""The link number under which the client's own entities are kept."""

# As docs/control.md spells them.
MODES = {"current": Mode.CURRENT, "future": Mode.FUTURE, "currentfuture": Mode.CURRENT_FUTURE}


class OwnInterest(msgspec.Struct, frozen=True):
    """An interest of the client's own."""

    id: int
    mode: Mode


class Client(Router):
    """A Zenoh client; ``command`` takes the verbs of docs/control.md."""

    role = "client"
    whatami = WhatAmI.CLIENT
    verbs = ("declare", "undeclare", "ask", "end", "put", "get", "close")

    def __init__(self, *, zid: bytes = b"goldwire-client\x01", profile: str = "document", lease: int = 10_000) -> None:
        super().__init__(zid=zid, profile=profile, lease=lease)
        # The client's own entities are kept as those of a session without a link, so that interests in them are
        # answered by the same code as a router's.
        self.sessions[LOCAL] = Session(LOCAL, SessionTransport(self.settings, opener=False))
        self.names: dict[str, tuple[EntityKind, int] | int] = {}
        self.asking: dict[str, OwnInterest] = {}
        self.held: list[NetworkMessage] = []
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
        """The session with the router, open or about to be; ``ControlFailed`` when there is none."""
        for session in self.sessions.values():
            if session.link != LOCAL:
                return session
        raise ControlFailed("there is no session")

    def send(self, session: Session, message: NetworkMessage) -> None:
        """Send one network message; what is said before the session is open waits for that."""
        if session.link != LOCAL and not session.opened:
            self.held.append(message)
        else:
            super().send(session, message)

    def on_open(self, session: Session) -> None:
        """Begin the session with what was held back."""
        held, self.held = self.held, []
        for message in held:
            self.send(session, message)

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Do what a control line asks."""
        match verb, arguments:
            case "declare", ["keyexpr", name, key]:
                self.names[name] = self.declare_keyexpr(key)
            case "declare", [kind, name, key]:
                self.names[name] = self.declare_entity(EntityKind(kind), key)
            case "undeclare", [name] if name in self.names:
                self.undeclare(self.names.pop(name))
            case "ask", [name, mode, kind, key] if mode in MODES:
                self.ask(name, MODES[mode], EntityKind(kind), key)
            case "end", [name] if name in self.asking:
                self.end(self.asking.pop(name))
            case "put", [key, *text]:
                self.send(self.remote, Push(WireExpr(key), " ".join(text).encode()))
            case "get", [key]:
                self.send(self.remote, Request(self.take_interest(), WireExpr(key)))
            case "close", []:
                session = self.remote
                session.transport.close()
                self.hang_ups.append(session.link)
            case _:
                raise Unsupported(f"{verb} {' '.join(arguments)}".strip())
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

    def ask(self, name: str, mode: Mode, kind: EntityKind, key: str) -> None:
        """Send an interest."""
        interest = self.take_interest()
        # A Current interest ends with its snapshot; only the others are there to be ended.
        if mode is not Mode.CURRENT:
            self.asking[name] = OwnInterest(interest, mode)
        options = OPTION[kind] | Options.R | Options.N | Options.M
        self.send(self.remote, Interest(interest, mode, options, WireExpr(key)))

    def take_interest(self) -> int:
        """Return an interest id that is not in use."""
        self.next_interest += 1
        return self.next_interest - 1

    def end(self, asking: OwnInterest) -> None:
        """End an interest."""
        self.send(self.remote, InterestFinal(asking.id))

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        """Spell an entity's key: through an alias that was declared for it."""
        for expr_id, key in session.mine.items():
            if key == entity.key:
                return WireExpr(None, expr_id)
        return WireExpr(entity.key)

    def on_declare(self, session: Session, message: Declare) -> None:
        """Act on what the router declares; a D_FINAL completes a snapshot."""
        if not isinstance(message.body, DeclareFinal):
            super().on_declare(session, message)
