"""Faults against zenoh-declarations, "D_QUERYABLE (0x04)" and "QueryableInfo Extension"."""

import msgspec

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.faults.entities import Swapped
from harness.zenoh.variants.registry import fault
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import queryable_info
from wire.zenoh.values import DeclareEntity, EntityKind, Extension, Extensions, Request


@fault("ZD-064", does="sends queries to every session that has any queryable")
class QueriesForAll(Router):
    def answers(self, session: Session, key: str | None, message: Request) -> bool:
        return any(entity.kind is EntityKind.QUERYABLE for entity in session.entities.values())


@fault("ZD-066", does="looks the scope of D_QUERYABLE up in the wrong table")
class SwappedQueryables(Swapped):
    kind = EntityKind.QUERYABLE


@fault("ZD-068", does="marks QueryableInfo as mandatory")
class MandatoryInfo(Router):
    def info(self, entity: Entity) -> Extensions:
        return tuple(Extension(each.id, each.value, mandatory=True) for each in super().info(entity))


@fault("ZD-070", does="sets a bit above the distance, and one that no layout has")
class BitsAboveTheDistance(Router):
    def info(self, entity: Entity) -> Extensions:
        found = super().info(entity)
        # Above the distance's 16 bits and the flags, in both layouts of the value (reading R21).
        return tuple(Extension(each.id, each.value | 1 << 25) for each in found if isinstance(each.value, int))


@fault("ZD-071", does="announces every queryable as complete")
class AllComplete(Router):
    def info(self, entity: Entity) -> Extensions:
        return super().info(msgspec.structs.replace(entity, complete=True))


@fault("ZD-071", does="announces no queryable as complete")
class NoneComplete(Router):
    def info(self, entity: Entity) -> Extensions:
        return super().info(msgspec.structs.replace(entity, complete=False))


@fault("ZD-071", does="asks queryables that are not complete, whatever the query's target")
class DeafToTarget(Router):
    def is_target(self, entity: Entity, target: object) -> bool:
        return True


@fault("ZD-072", does="announces every queryable as if it were in its own process")
class NoDistance(Router):
    def info(self, entity: Entity) -> Extensions:
        if entity.kind is not EntityKind.QUERYABLE:
            return ()
        return (Extension(QUERYABLE_INFO.id, queryable_info(entity.complete, 0, deployed=self.deployed)),)


@fault("ZD-073", does="passes over a queryable that comes without QueryableInfo")
class InfoWanted(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        if body.kind is not EntityKind.QUERYABLE or body.info is not None:
            super().on_declare_entity(session, body)


@fault("ZD-073", does="takes a queryable without QueryableInfo for a complete one")
class CompleteByDefault(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        if body.kind is EntityKind.QUERYABLE and body.info is None:
            body = msgspec.structs.replace(body, extensions=(Extension(QUERYABLE_INFO.id, 1),))
        super().on_declare_entity(session, body)
