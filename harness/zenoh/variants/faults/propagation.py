"""Faults against zenoh-declarations, "D_FINAL (0x1A)" and "Declaration Propagation"."""

from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import fault
from wire.zenoh.values import (
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

# Less than the case declares, which is a hundred.
ENOUGH = 50


@fault("ZD-086", does="lists no more than fifty entities in a snapshot")
class ShortSnapshot(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        return super().snapshot(session, asked)[:ENOUGH]


@fault("ZD-086", does="ends a snapshot of current declarations before its last one")
class EarlyFinal(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        asked = self.asked(session, interest)
        if interest.mode is not Mode.CURRENT or asked is None or interest.id >= BARRIER:
            super().on_interest(session, interest)
            return
        self.finish(session, interest.id)
        for entity in self.snapshot(session, asked):
            self.advertise(session, entity, interest.id)


@fault("ZD-087", does="ends snapshots with a D_FINAL that has no interest_id")
class AnonymousFinal(Router):
    def finish(self, session: Session, interest_id: int) -> None:
        if interest_id >= BARRIER:
            super().finish(session, interest_id)
        else:
            self.send(session, Declare(DeclareFinal()))


@fault("ZD-087", does="ends snapshots under another interest's id as well")
class FinalForOthers(Router):
    def finish(self, session: Session, interest_id: int) -> None:
        super().finish(session, interest_id)
        if interest_id < BARRIER:
            # An id that no play asks with.
            super().finish(session, interest_id + 500)


@fault("ZD-088", does="takes a D_FINAL that answers nothing for the end of all interests")
class FinalEndsInterests(Router):
    def on_declare(self, session: Session, message: Declare) -> None:
        super().on_declare(session, message)
        if isinstance(message.body, DeclareFinal):
            session.interests.clear()


@fault("ZD-090", does="sends updates under the id of the CurrentFuture interest that they are for")
class FlaggedUpdates(Router):
    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        if interest_id is None and isinstance(body, DeclareEntity | UndeclareEntity):
            modes = [each for each in session.interests.values() if each.mode is Mode.CURRENT_FUTURE]
            interest_id = modes[0].id if modes else None
        super().declare(session, body, interest_id)


@fault("ZD-091", does="forwards a declaration to one interested session only")
class OneIsEnough(Router):
    def announce(self, entity: Entity) -> None:
        for session in self.forwarding_targets(entity):
            if self.is_wanted(session, entity) and self.is_news(session, entity):
                self.advertise(session, entity, None)
                return


@fault("ZD-092", does="forwards an undeclaration to one session only")
class OneUndeclaration(Router):
    def withdraw(self, entity: Entity) -> None:
        told = [session for session in self.sessions.values() if entity in session.advertised]
        # Forgotten for the others, so that nothing is undeclared to them later.
        for session in told[1:]:
            del session.advertised[entity]
        super().withdraw(entity)


@fault("ZD-093", does="forwards a declaration to all who asked for anything")
class WhoeverAsked(Router):
    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return any(asked.mode in LIVE for asked in session.interests.values())


@fault("ZD-094", does="forwards a declaration again when it is repeated, as if it were another")
class RepeatedAsNew(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        # As if it had never been declared: the reference then takes it for new.
        known = session.entities.pop((body.kind, body.id), None)
        super().on_declare_entity(session, body)
        again = session.entities.get((body.kind, body.id))
        for other in self.sessions.values():
            if known is not None and again == known and known in other.advertised:
                del other.advertised[known]
                self.advertise(other, again, None)


@fault("ZD-095", does="forwards a declaration once for each interest that it matches")
class OncePerInterest(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        super().advertise(session, entity, interest_id)
        wanting = [asked for asked in session.wants(entity, LIVE) if self.matches(asked, entity)]
        for _ in wanting[1:] if interest_id is None else ():
            super().advertise(session, entity, None)


@fault("ZD-096", does="never forwards again what it has forwarded once")
class NeverAgain(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.told: set[tuple[int, Entity]] = set()

    def is_news(self, session: Session, entity: Entity) -> bool:
        told = (session.link, entity) in self.told
        self.told.add((session.link, entity))
        return not told and super().is_news(session, entity)


@fault("ZD-097", does="forgets the interests of a session that declares what it asked for")
class OwnDeclarationEndsInterest(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        entity = session.entities.get((body.kind, body.id))
        if entity is not None and self.is_wanted(session, entity):
            session.interests.clear()
