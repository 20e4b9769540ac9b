"""Faults against zenoh-interests, "Interests", "Interest Modes" and "Message Flows"."""

import msgspec

from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import fault
from wire.zenoh.values import EntityKind, Interest, InterestFinal, Mode, UndeclareEntity

# The driver's number, written once more: peers know nothing of the tester's side.
BARRIER = 1_000_000
"""Interest ids from here on are a tester's barriers: kept working, so that more than silence is seen."""


def with_mode(interest: Interest, mode: Mode) -> Interest:
    """Return an interest as if it had been sent in another mode."""
    return msgspec.structs.replace(interest, mode=mode)


@fault("ZI-001", "ZI-016", "ZI-017", "ZI-018", does="serves a CurrentFuture interest like a Current one")
class ForgetsFuture(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        mode = Mode.CURRENT if interest.mode is Mode.CURRENT_FUTURE else interest.mode
        super().on_interest(session, with_mode(interest, mode))


@fault("ZI-002", does="pushes every declaration to every session, asked or not")
class PushesEverything(Router):
    def on_open(self, session: Session) -> None:
        for entity in self.entities():
            if entity.owner != session.link:
                self.advertise(session, entity, None)

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return True


@fault("ZI-004", does="lists in a snapshot only what was declared after the session opened")
class IgnoresTheEarlier(Router):
    def __init__(self, *, zid: bytes = b"goldwire-router\x01", profile: str = "document", lease: int = 10_000) -> None:
        super().__init__(zid=zid, profile=profile, lease=lease)
        self.before: dict[int, list[Entity]] = {}

    def on_open(self, session: Session) -> None:
        self.before[session.link] = self.entities()

    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        return entity not in self.before[session.link] and super().is_listed(session, asked, entity)


@fault("ZI-010", does="leaves one entity out of the answer to a Current interest")
class LeavesOneOut(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        found = super().snapshot(session, asked)
        return found[:-1] if asked.mode is Mode.CURRENT else found


@fault("ZI-010", does="lists queryables in the answer to a Current interest in anything")
class ListsQueryablesToo(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        if asked.mode is Mode.CURRENT and asked.id < BARRIER:
            # A node that lists too much to a barrier too would be found out by that alone.
            asked = msgspec.structs.replace(asked, kinds=asked.kinds | {EntityKind.QUERYABLE})
        return super().snapshot(session, asked)


@fault("ZI-011", "ZI-070", "ZI-012", does="never ends a snapshot with D_FINAL")
class NoFinal(Router):
    def finish(self, session: Session, interest_id: int) -> None:
        # A node that ends no barrier either would only be inconclusive.
        if interest_id >= BARRIER:
            super().finish(session, interest_id)


@fault("ZI-011", does="puts the D_FINAL of a Current interest before the declarations")
class FinalFirst(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        asked = self.asked(session, interest)
        if interest.mode is not Mode.CURRENT or asked is None:
            super().on_interest(session, interest)
            return
        self.finish(session, interest.id)
        for entity in self.snapshot(session, asked):
            self.advertise(session, entity, interest.id)


@fault("ZI-012", does="does not answer a Current interest that nothing matches")
class SilentAboutNothing(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        asked = self.asked(session, interest)
        nothing = asked is not None and not self.snapshot(session, asked)
        # The rest is answered, so that plays go on and the one missing D_FINAL is what shows.
        if interest.mode is not Mode.CURRENT or interest.id >= BARRIER or not nothing:
            super().on_interest(session, interest)


@fault("ZI-013", does="keeps a Current interest alive after its D_FINAL")
class CurrentLivesOn(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        lives = interest.mode is Mode.CURRENT and interest.id < BARRIER
        super().on_interest(session, with_mode(interest, Mode.CURRENT_FUTURE) if lives else interest)


@fault("ZI-014", does="leaves out the snapshot of a CurrentFuture interest")
class NoSnapshotBeforeFuture(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        return [] if asked.mode is Mode.CURRENT_FUTURE else super().snapshot(session, asked)


@fault("ZI-014", does="lists what a CurrentFuture interest finds without its id")
class SnapshotWithoutId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        asked = None if interest_id is None else session.interests.get(interest_id)
        plain = asked is not None and asked.mode is Mode.CURRENT_FUTURE
        super().advertise(session, entity, None if plain else interest_id)


@fault("ZI-015", does="sends two D_FINALs for a CurrentFuture interest")
class TwoFinals(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        if interest.mode is Mode.CURRENT_FUTURE:
            self.finish(session, interest.id)


@fault("ZI-015", does="sends no D_FINAL for a CurrentFuture interest")
class NoFinalBeforeFuture(Router):
    def finish(self, session: Session, interest_id: int) -> None:
        asked = session.interests.get(interest_id)
        if asked is None or asked.mode is not Mode.CURRENT_FUTURE:
            super().finish(session, interest_id)


@fault("ZI-016", does="announces under a CurrentFuture interest with the interest's id")
class UpdatesWithId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if interest_id is None:
            # Under the first interest that it is for: one update, as by the truth, but for its id.
            asked = [each for each in session.wants(entity, (Mode.CURRENT_FUTURE,)) if self.matches(each, entity)]
            interest_id = asked[0].id if asked else None
        super().advertise(session, entity, interest_id)


@fault("ZI-017", does="does not report undeclarations to a CurrentFuture interest")
class NoUndeclarations(Router):
    def retract(self, session: Session, entity: Entity) -> None:
        if not session.wants(entity, (Mode.CURRENT_FUTURE,)):
            super().retract(session, entity)


@fault("ZI-017", does="reports undeclarations with the id of the CurrentFuture interest")
class UndeclarationsWithId(Router):
    def retract(self, session: Session, entity: Entity) -> None:
        asked = session.wants(entity, (Mode.CURRENT_FUTURE,))
        body = UndeclareEntity(entity.kind, session.advertised[entity], self.wire_expr(session, entity))
        self.declare(session, body, asked[0].id if asked else None)


@fault("ZI-018", does="does not end a CurrentFuture interest at its Final")
class DeafToFinalOfCurrentFuture(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        asked = session.interests.get(message.id)
        if asked is None or asked.mode is not Mode.CURRENT_FUTURE:
            super().on_interest_final(session, message)


@fault("ZI-018", "ZI-022", does="ends all interests of a session at any Final")
class FinalEndsAll(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        session.interests.clear()


@fault("ZI-019", does="declares what exists already to a Future interest, without an id")
class FutureListsWhatExists(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        asked = session.interests.get(interest.id)
        if asked is not None and interest.mode is Mode.FUTURE:
            for entity in self.snapshot(session, asked):
                self.advertise(session, entity, None)


@fault("ZI-019", does="gives the Future interest a snapshot under its id")
class SnapshotForFuture(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        asked = session.interests.get(interest.id)
        if asked is not None and interest.mode is Mode.FUTURE:
            for entity in self.snapshot(session, asked):
                self.advertise(session, entity, interest.id)


@fault("ZI-020", does="never reports anything to a Future interest")
class DeafToFuture(Router):
    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return any(
            asked.mode is not Mode.FUTURE for asked in session.wants(entity, LIVE) if self.matches(asked, entity)
        )


@fault("ZI-020", does="announces under a Future interest with the interest's id")
class FutureWithId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if interest_id is None:
            asked = [each for each in session.wants(entity, (Mode.FUTURE,)) if self.matches(each, entity)]
            interest_id = asked[0].id if asked else None
        super().advertise(session, entity, interest_id)


@fault("ZI-021", does="answers a Future interest with D_FINAL")
class FinalForFuture(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        if interest.mode is Mode.FUTURE:
            self.finish(session, interest.id)


@fault("ZI-022", does="does not end a Future interest at its Final")
class DeafToFinalOfFuture(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        asked = session.interests.get(message.id)
        if asked is None or asked.mode is not Mode.FUTURE:
            super().on_interest_final(session, message)
