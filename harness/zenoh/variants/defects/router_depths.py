"""Defects of routers that show in a state to which several steps lead: to come by them is what feedback is for.

Each is what comes of a table that is too small for what a session can have at once.
"""

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import defect
from wire.zenoh.values import DeclareKeyExpr, EntityKind, UndeclareEntity


@defect("depth", does="dies when something is taken back by who has two interests and was told of three things")
class DiesOfATakenBackEntity(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        is_there = (body.kind, body.id) in session.entities
        if is_there and len(session.interests) > 1 and len(session.advertised) > 2:
            raise BufferError("whom to tell")
        super().on_undeclare_entity(session, body)


@defect("depth", does="dies of the third alias of a session that has two interests and was told of two things")
class DiesOfAThirdAlias(Router):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if len(session.theirs) > 1 and len(session.interests) > 1 and len(session.advertised) > 1:
            raise BufferError("aliases and what they stand for")
        super().on_declare_keyexpr(session, body)


@defect("depth", does="tells nobody any more once who has an interest and a thing of each kind ends, two of them told")
class TellsNobodyBehindAnEnd(Router):
    def on_end(self, session: Session) -> None:
        kinds = {kind for kind, _ in session.entities}
        told = [sum(each.owner == session.link for each in other.advertised) for other in self.sessions.values()]
        if session.interests and kinds == set(EntityKind) and max(told, default=0) > 1:
            vars(self)["has_lost_its_place"] = True
        super().on_end(session)

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return not vars(self).get("has_lost_its_place") and super().is_wanted(session, entity)
