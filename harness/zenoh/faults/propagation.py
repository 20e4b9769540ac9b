"""Faults against zenoh-declarations, "D_FINAL (0x1A)" and "Declaration Propagation"."""

from harness.zenoh.face import Asked, Entity, Face
from harness.zenoh.faults.registry import fault
from harness.zenoh.router import LIVE, Router
from wire.zenoh.messages import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    Interest,
    Mode,
    UndeclareEntity,
)

BARRIER = 1_000_000
"""Interest ids from here on are a tester's barriers: kept working, so that more than silence is seen."""

ENOUGH = 50


@fault("ZD-086", does="lists no more than fifty entities in a snapshot")
class ShortSnapshot(Router):
    def snapshot(self, face: Face, asked: Asked) -> list[Entity]:
        return super().snapshot(face, asked)[:ENOUGH]


@fault("ZD-086", does="ends a snapshot of current declarations before its last one")
class EarlyFinal(Router):
    def on_interest(self, face: Face, interest: Interest) -> None:
        asked = self.asked(face, interest)
        if interest.mode is not Mode.CURRENT or asked is None or interest.id >= BARRIER:
            super().on_interest(face, interest)
            return
        self.finish(face, interest.id)
        for entity in self.snapshot(face, asked):
            self.advertise(face, entity, interest.id)


@fault("ZD-087", does="ends snapshots with a D_FINAL that has no interest_id")
class AnonymousFinal(Router):
    def finish(self, face: Face, interest_id: int) -> None:
        if interest_id >= BARRIER:
            super().finish(face, interest_id)
        else:
            self.send(face, Declare(DeclareFinal()))


@fault("ZD-087", does="ends snapshots under another interest's id as well")
class FinalForOthers(Router):
    def finish(self, face: Face, interest_id: int) -> None:
        super().finish(face, interest_id)
        if interest_id < BARRIER:
            super().finish(face, interest_id + 500)


@fault("ZD-088", does="takes a D_FINAL that answers nothing for the end of all interests")
class FinalEndsInterests(Router):
    def on_declare(self, face: Face, message: Declare) -> None:
        super().on_declare(face, message)
        if isinstance(message.body, DeclareFinal):
            face.interests.clear()


@fault("ZD-090", does="sends updates under the id of the CurrentFuture interest that they are for")
class FlaggedUpdates(Router):
    def declare(self, face: Face, body: Declaration, interest_id: int | None) -> None:
        if interest_id is None and isinstance(body, DeclareEntity | UndeclareEntity):
            modes = [each for each in face.interests.values() if each.mode is Mode.CURRENT_FUTURE]
            interest_id = modes[0].id if modes else None
        super().declare(face, body, interest_id)


@fault("ZD-091", does="forwards a declaration to one interested session only")
class OneIsEnough(Router):
    def announce(self, entity: Entity) -> None:
        for face in self.audience(entity):
            if self.is_wanted(face, entity) and self.is_news(face, entity):
                self.advertise(face, entity, None)
                return


@fault("ZD-092", does="forwards an undeclaration to one session only")
class OneUndeclaration(Router):
    def withdraw(self, entity: Entity) -> None:
        told = [face for face in self.faces.values() if entity in face.advertised]
        for face in told[1:]:
            del face.advertised[entity]
        super().withdraw(entity)


@fault("ZD-093", does="forwards a declaration to all who asked for anything")
class WhoeverAsked(Router):
    def is_wanted(self, face: Face, entity: Entity) -> bool:
        return any(asked.mode in LIVE for asked in face.interests.values())


@fault("ZD-094", does="forwards a declaration again when it is repeated, as if it were another")
class RepeatedAsNew(Router):
    def on_declare_entity(self, face: Face, body: DeclareEntity) -> None:
        known = face.entities.pop((body.kind, body.id), None)
        super().on_declare_entity(face, body)
        again = face.entities.get((body.kind, body.id))
        for other in self.faces.values():
            if known is not None and again == known and known in other.advertised:
                del other.advertised[known]
                self.advertise(other, again, None)


@fault("ZD-095", does="forwards a declaration once for each interest that it matches")
class OncePerInterest(Router):
    def advertise(self, face: Face, entity: Entity, interest_id: int | None) -> None:
        super().advertise(face, entity, interest_id)
        wanting = [asked for asked in face.wants(entity, LIVE) if self.matches(asked, entity)]
        for _ in wanting[1:] if interest_id is None else ():
            super().advertise(face, entity, None)


@fault("ZD-096", does="never forwards again what it has forwarded once")
class NeverAgain(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.told: set[tuple[int, Entity]] = set()

    def is_news(self, face: Face, entity: Entity) -> bool:
        told = (face.link, entity) in self.told
        self.told.add((face.link, entity))
        return not told and super().is_news(face, entity)


@fault("ZD-097", does="forgets the interests of a session that declares what it asked for")
class OwnDeclarationEndsInterest(Router):
    def on_declare_entity(self, face: Face, body: DeclareEntity) -> None:
        super().on_declare_entity(face, body)
        entity = face.entities.get((body.kind, body.id))
        if entity is not None and self.is_wanted(face, entity):
            face.interests.clear()
