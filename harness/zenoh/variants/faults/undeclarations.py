"""Faults against zenoh-declarations, "WireExpr Extension", and against what an undeclaration may end."""

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import fault
from wire.zenoh.grammar_extensions import WIRE_EXPR
from wire.zenoh.keys import resolve, wire_expr_extension
from wire.zenoh.values import EntityKind, Extension, Extensions, UndeclareEntity, WireExpr
from wire.zenoh.wire_expr_reading import read_wire_expr


class Keyless(Router):
    """A router that leaves WireExpr out of the undeclarations of one kind, and puts something else there."""

    kind: EntityKind

    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        if entity.kind is self.kind:
            # Some extension, so that it is not its absence that is seen (reading R05 allows that).
            return (Extension(0x2, 0),)
        return super().wire_expr(session, entity)


@fault("ZD-055", does="undeclares subscribers without WireExpr, but with another extension")
class KeylessSubscribers(Keyless):
    kind = EntityKind.SUBSCRIBER


@fault("ZD-076", does="undeclares queryables without WireExpr, but with another extension")
class KeylessQueryables(Keyless):
    kind = EntityKind.QUERYABLE


@fault("ZD-085", does="undeclares tokens without WireExpr, but with another extension")
class KeylessTokens(Keyless):
    kind = EntityKind.TOKEN


@fault("ZD-057", does="does not mark WireExpr as mandatory")
class SkippableWireExpr(Router):
    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        return tuple(Extension(each.id, each.value) for each in super().wire_expr(session, entity))


@fault("ZD-057", does="puts a number where WireExpr should be a buffer")
class NumericWireExpr(Router):
    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        return (Extension(WIRE_EXPR.id, 0, mandatory=True),)


@fault("ZD-058", does="names another key in WireExpr")
class ForeignWireExpr(Router):
    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        return (wire_expr_extension(WireExpr(f"{entity.key}/foreign"), deployed=self.deployed),)


@fault("ZD-062", does="puts a suffix into WireExpr and leaves N clear")
class UnmarkedSuffix(Router):
    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        (extension,) = super().wire_expr(session, entity)
        assert isinstance(extension.value, bytes)
        # Bit 0 is N.
        flags = extension.value[0] & 0xFE
        return (Extension(extension.id, bytes([flags]) + extension.value[1:], mandatory=True),)


@fault("ZD-056", does="ends all of a session's subscribers when an undeclaration does not say which key")
class KeylessEndsAll(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        super().on_undeclare_entity(session, body)
        if body.kind is EntityKind.SUBSCRIBER and not body.extensions:
            for kind, number in [entity for entity in session.entities if entity[0] is EntityKind.SUBSCRIBER]:
                super().on_undeclare_entity(session, UndeclareEntity(kind, number))


@fault("ZD-056", does="ends somebody's subscriber when an undeclaration has an id that nobody declared")
class StrayUndeclaration(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        victims = [each for each in self.entities() if each.kind is body.kind is EntityKind.SUBSCRIBER]
        if (body.kind, body.id) not in session.entities and victims:
            session, body = self.sessions[victims[0].owner], UndeclareEntity(body.kind, victims[0].id)
        super().on_undeclare_entity(session, body)


@fault("ZD-063", does="ends both subscribers when the id of an undeclaration and its WireExpr disagree")
class EndsBoth(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        super().on_undeclare_entity(session, body)
        for extension in body.extensions if body.kind is EntityKind.SUBSCRIBER else ():
            assert isinstance(extension.value, bytes)
            key = resolve(read_wire_expr(extension.value, deployed=self.deployed), session.theirs, session.mine)
            self.end_all(session, key)

    def end_all(self, session: Session, key: str | None) -> None:
        """End what the session has subscribed to on a key, unless that is several."""
        # Of several subscribers on the key it is not said which is meant.
        named = [each for each in session.entities.values() if each.kind is EntityKind.SUBSCRIBER and each.key == key]
        for entity in named if len(self.known(session, key)) == 1 else ():
            super().on_undeclare_entity(session, UndeclareEntity(entity.kind, entity.id))

    def known(self, session: Session, key: str | None) -> list[Entity]:
        """Return the session's subscribers on a key."""
        return [each for each in session.entities.values() if each.kind is EntityKind.SUBSCRIBER and each.key == key]


@fault("ZD-075", does="ends whatever has the number of a queryable that is undeclared")
class NumberEndsAll(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        super().on_undeclare_entity(session, body)
        for kind in (EntityKind.SUBSCRIBER, EntityKind.TOKEN) if body.kind is EntityKind.QUERYABLE else ():
            super().on_undeclare_entity(session, UndeclareEntity(kind, body.id))


@fault("ZD-083", does="ends all tokens of a session with the first that is undeclared")
class FirstTokenEndsAll(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        super().on_undeclare_entity(session, body)
        for kind, number in list(session.entities) if body.kind is EntityKind.TOKEN else ():
            if kind is EntityKind.TOKEN:
                super().on_undeclare_entity(session, UndeclareEntity(kind, number))
