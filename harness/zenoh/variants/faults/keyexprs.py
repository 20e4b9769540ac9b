"""Faults against zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR"."""

import msgspec

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.faults.declare import Mending
from harness.zenoh.variants.registry import fault
from wire.zenoh.keys import Table, resolve
from wire.zenoh.values import (
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    UndeclareKeyExpr,
    WireExpr,
)


@fault("ZD-027", does="takes the scope of a key for the whole of it")
class ForgetsSuffix(Router):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = body.key if body.key.scope == 0 else WireExpr(None, body.key.scope, body.key.sender)
        return resolve(key, session.theirs, session.mine)


@fault("ZD-031", does="cuts numbers to 16 bits")
class NumbersWrapAround(Mending):
    # The numbers of the case: 65541 behind a header, 65536 behind an id.
    def mend(self, frame: bytes) -> bytes:
        return frame.replace(b"\x20\x85\x80\x04", b"\x20\x05").replace(b"\x09\x80\x80\x04", b"\x09\x00")


@fault("ZD-032", does="gives the number 0 to a key, and resolves scope 0 with it")
class ZeroIsAnAlias(Router):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        super().on_declare_keyexpr(session, body)
        if body.expr_id == 0 and body.key.suffix:
            session.theirs[0] = body.key.suffix

    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = super().key_of_entity(session, body)
        return key if body.key.scope or key is None else session.theirs.get(0, "") + key


@fault("ZD-033", does="puts what the first alias stands for in front of every other")
class ContinuesTheFirst(Router):
    def key_of_keyexpr(self, session: Session, body: DeclareKeyExpr) -> str | None:
        key = super().key_of_keyexpr(session, body)
        first = next(iter(session.theirs.values()), None)
        return key if first is None or key is None else f"{first}/{key}"


@fault("ZD-034", does="looks the scope of a D_KEYEXPR up in either side's table by turns")
class TablesByTurns(Router):
    turn = False

    def key_of_keyexpr(self, session: Session, body: DeclareKeyExpr) -> str | None:
        if body.key.scope:
            self.turn = not self.turn
        return resolve(body.key, session.mine if self.turn else session.theirs, session.mine)


@fault("ZD-035", does="keeps one table of aliases for all sessions")
class OneTableForAll(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.shared: Table = {}

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        super().connected(link, now, dialled=dialled, address=address)
        self.sessions[link].theirs = self.shared


@fault("ZD-036", does="gives the number 1 to every key")
class OneNumberForAll(Client):
    def take_alias(self) -> int:
        return 1


# Four are fewer than the case asks for.
@fault("ZD-036", does="counts the numbers of keys up to four and begins anew, without taking one back")
class NumbersComeAround(Router):
    def alias(self, session: Session, key: str, interest_id: int | None) -> int:
        if session.next_expr_id > 4:
            session.next_expr_id = 1
            session.mine.clear()
        return super().alias(session, key, interest_id)


@fault("ZD-037", does="joins both keys of a number that is given twice")
class JoinsKeys(Router):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        before = session.theirs.get(body.expr_id)
        super().on_declare_keyexpr(session, body)
        if before is not None and body.key.suffix:
            session.theirs[body.expr_id] = f"{before}/{body.key.suffix}"


@fault("ZD-038", "ZD-040", does="never takes a number back")
class NeverReleases(Router):
    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        """Say yes and do nothing."""


@fault("ZD-040", does="forgets all numbers when one is taken back that was never given")
class ForgetsAllNumbers(Router):
    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        if body.expr_id not in session.theirs:
            session.theirs.clear()
        super().on_undeclare_keyexpr(session, body)


@fault("ZD-041", does="reads the key of a declaration anew whenever its number is given to another")
class KeysFollowNumbers(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.spelled: dict[tuple[int, EntityKind, int], WireExpr] = {}

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        self.spelled[session.link, body.kind, body.id] = body.key
        super().on_declare_entity(session, body)

    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        super().on_declare_keyexpr(session, body)
        for entity in list(session.entities.values()):
            key = self.spelled[session.link, entity.kind, entity.id]
            if key.scope == body.expr_id:
                self.move(session, entity, resolve(key, session.theirs, session.mine) or entity.key)

    def move(self, session: Session, entity: Entity, key: str) -> None:
        """Give an entity another key."""
        session.entities[entity.kind, entity.id] = msgspec.structs.replace(entity, key=key)
