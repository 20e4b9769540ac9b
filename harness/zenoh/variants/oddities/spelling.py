"""Unusual spellings: ids, aliases, mappings and extensions that the documents allow."""

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import oddity
from wire.zenoh.grammar_extensions import NODE_ID, QOS, TIMESTAMP
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    Extension,
    Extensions,
    UndeclareKeyExpr,
    WireExpr,
)

# From the largest id of 32 bits downward.
TOP = 0xFFFF_FFFF


class Decorated(Router):
    """Adds extensions to every DECLARE."""

    extensions: Extensions = ()

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        """Send one declaration, decorated."""
        self.send(session, Declare(body, interest_id, self.extensions))


@oddity("ZD-012", does="sends the QoS extension with every DECLARE")
class QosOnDeclare(Decorated):
    extensions = (Extension(QOS.id, 0x08),)


@oddity("ZD-013", does="sends a Timestamp with every DECLARE")
class TimestampOnDeclare(Decorated):
    # A time of nine bytes, and an id of 16.
    extensions = (Extension(TIMESTAMP.id, bytes.fromhex("81808080808080800110") + b"t" * 16),)


@oddity("ZD-014", does="sends NodeId 0 with every DECLARE")
class NodeIdOnDeclare(Decorated):
    extensions = (Extension(NODE_ID.id, 0, mandatory=True),)


@oddity("ZD-015", does="sends extensions that nobody knows and nobody has to")
class UnknownExtensions(Decorated):
    # One of each encoding; the number takes nine bytes.
    extensions = (Extension(0xA), Extension(0xB, 2**64 - 1), Extension(0xC, b"?"))


@oddity("ZD-089", does="puts an extension into every declaration, D_FINAL too")
class ExtensionsInBody(Router):
    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        extra = (*body.extensions, Extension(0xA, 7))
        if isinstance(body, DeclareFinal):
            body = DeclareFinal(extra)
        elif isinstance(body, DeclareEntity):
            body = DeclareEntity(body.kind, body.id, body.key, extra)
        super().declare(session, body, interest_id)


@oddity("ZD-048", "ZD-049", does="numbers entities from the top down")
class HighIds(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if entity not in session.advertised:
            session.advertised[entity] = TOP - session.next_id[entity.kind]
            session.next_id[entity.kind] += 1
        super().advertise(session, entity, interest_id)


@oddity("ZI-074", does="declares an alias for every key, whether it was asked for key expressions or not")
class AliasAlways(Router):
    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        return WireExpr(None, self.alias(session, entity.key, interest_id))


@oddity("ZI-074", does="sends the D_KEYEXPR of an alias without the interest id, also within a snapshot")
class AliasWithoutInterest(AliasAlways):
    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        super().declare(session, body, None if isinstance(body, DeclareKeyExpr) else interest_id)


@oddity("ZD-027", "ZD-033", does="spells keys as an alias of their first half plus a suffix")
class HalfAlias(Router):
    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        half = entity.key.rfind("/")
        if half <= 0:
            return WireExpr(entity.key)
        return WireExpr(entity.key[half:], self.alias(session, entity.key[:half], interest_id))


@oddity("ZD-045", "ZD-066", "ZD-081", does="uses the other side's ExprId (M==0) where it has one for the key")
class ReceiverMapping(Router):
    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        for expr_id, key in session.theirs.items():
            if key == entity.key:
                return WireExpr(None, expr_id, sender=False)
        return super().wire_expr_of(session, entity, interest_id)


@oddity("ZD-050", does="clears M where the scope is global")
class NoMapping(Router):
    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        key = super().wire_expr_of(session, entity, interest_id)
        return WireExpr(key.suffix, 0, sender=False) if key.scope == 0 else key


@oddity("ZD-058", "ZD-055", does="names the key of an undeclaration through an alias")
class UndeclareByAlias(Router):
    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        alias = self.alias(session, entity.key, None)
        return (wire_expr_extension(WireExpr(None, alias), deployed=self.deployed),)


@oddity("ZD-036", does="frees an alias and gives its number to another key")
class RecycledAlias(AliasAlways):
    def alias(self, session: Session, key: str, interest_id: int | None) -> int:
        # One number for all: with each key it goes to another.
        if session.mine.get(1) == key:
            return 1
        if session.mine:
            session.mine.clear()
            self.declare(session, UndeclareKeyExpr(1), None)
        session.next_expr_id = 1
        return super().alias(session, key, interest_id)
