"""Unusual choices: what is listed, in which order, to whom, where the documents leave it open."""

from harness.zenoh.face import Asked, Entity, Face
from harness.zenoh.oddities.registry import oddity
from harness.zenoh.router import LIVE, Router
from wire.zenoh.extensions import QUERYABLE_INFO
from wire.zenoh.keys import queryable_info
from wire.zenoh.messages import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Kind,
    Options,
    UndeclareEntity,
    UndeclareKeyExpr,
)


@oddity("ZI-010", does="lists a snapshot in the reverse order")
class ReversedSnapshot(Router):
    def snapshot(self, face: Face, asked: Asked) -> list[Entity]:
        return super().snapshot(face, asked)[::-1]


@oddity("ZD-097", does="tells a session of its own declarations too")
class Echo(Router):
    def is_listed(self, face: Face, asked: Asked, entity: Entity) -> bool:
        return entity.kind in asked.kinds and self.matches(asked, entity)

    def audience(self, entity: Entity) -> list[Face]:
        return [face for face in self.faces.values() if face.opened]


@oddity("ZD-072", does="adds five hops to a distance")
class LongHops(Router):
    def info(self, entity: Entity) -> Extensions:
        if entity.kind is not Kind.QUERYABLE:
            return ()
        value = queryable_info(entity.complete, min(entity.distance + 5, 0xFFFF), deployed=self.deployed)
        return (Extension(QUERYABLE_INFO.id, value),)


@oddity("ZI-076", does="leaves what a session knows already out of later snapshots")
class ShortSnapshots(Router):
    def is_listed(self, face: Face, asked: Asked, entity: Entity) -> bool:
        return entity not in face.advertised and super().is_listed(face, asked, entity)


@oddity("ZD-094", does="announces subscribers of one key as one")
class Merging(Router):
    def twin(self, face: Face, entity: Entity) -> Entity | None:
        """Return another entity of the same kind and key that the session knows."""
        return next(
            (
                known
                for known in face.advertised
                if known.kind is entity.kind and known.key == entity.key and known != entity
            ),
            None,
        )

    def snapshot(self, face: Face, asked: Asked) -> list[Entity]:
        return list({(entity.kind, entity.key): entity for entity in super().snapshot(face, asked)}.values())

    def give_same_id(self, face: Face, entity: Entity) -> None:
        """Let an entity go under the id of its twin."""
        twin = self.twin(face, entity)
        if twin is not None:
            face.advertised.setdefault(entity, face.advertised[twin])

    def advertise(self, face: Face, entity: Entity, interest_id: int | None) -> None:
        self.give_same_id(face, entity)
        super().advertise(face, entity, interest_id)

    def is_news(self, face: Face, entity: Entity) -> bool:
        return super().is_news(face, entity) and self.twin(face, entity) is None

    def withdraw(self, entity: Entity) -> None:
        heir = next((e for e in self.entities() if e.kind is entity.kind and e.key == entity.key), None)
        if heir is None:
            super().withdraw(entity)
            return
        for face in self.faces.values():
            number = face.advertised.pop(entity, None)
            if number is not None and heir.owner != face.link:
                face.advertised.setdefault(heir, number)
            elif number is not None:
                face.advertised[entity] = number
                if any(self.matches(asked, entity) for asked in face.wants(entity, LIVE)):
                    self.retract(face, entity)
                del face.advertised[entity]


@oddity("ZD-040", "ZD-056", "ZI-064", does="ends a session that undeclares or ends what does not exist")
class Strict(Router):
    def close(self, face: Face) -> None:
        """End a session for good."""
        face.transport.close()
        self.hang_ups.append(face.link)

    def on_undeclare_keyexpr(self, face: Face, body: UndeclareKeyExpr) -> None:
        if body.expr_id not in face.theirs:
            self.close(face)
        super().on_undeclare_keyexpr(face, body)

    def on_undeclare_entity(self, face: Face, body: UndeclareEntity) -> None:
        if (body.kind, body.id) not in face.entities:
            self.close(face)
        super().on_undeclare_entity(face, body)

    def on_interest_final(self, face: Face, message: InterestFinal) -> None:
        if message.id not in face.interests:
            self.close(face)
        super().on_interest_final(face, message)

    def on_declare(self, face: Face, message: Declare) -> None:
        if isinstance(message.body, DeclareFinal):
            self.close(face)
        super().on_declare(face, message)

    def on_declare_keyexpr(self, face: Face, body: DeclareKeyExpr) -> None:
        if body.expr_id in face.theirs or body.expr_id == 0:
            self.close(face)
        super().on_declare_keyexpr(face, body)


@oddity("ZI-049", "ZI-052", does="ends a session whose interest asks for nothing, or names a key without R")
class StrictOptions(Strict):
    def on_interest(self, face: Face, interest: Interest) -> None:
        odd = not interest.options & Options.R and interest.options & (Options.N | Options.M)
        if odd or not interest.options & (Options.K | Options.S | Options.Q | Options.T):
            self.close(face)
        else:
            super().on_interest(face, interest)
