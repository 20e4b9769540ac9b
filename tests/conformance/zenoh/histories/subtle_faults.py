"""Routers with subtle faults, written to be missed: each is right about every sentence alone, and wrong about two.

They were planted when histories were built, to see what cases and histories notice of faults that were not written for
either: of these, the cases notice five.
"""

from collections.abc import Iterable

import msgspec

from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.peers.transport import Event
from wire.zenoh.grammar_extensions import WIRE_EXPR
from wire.zenoh.keys import resolve
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    Options,
    Push,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)

S, Q, T = EntityKind
TOP = 2**32 - 1
SHORT = 127


class Remembering(Router):
    """A router that keeps something of its own, by session."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.numbers: dict[int, set[int]] = {}
        self.old: dict[tuple[int, int], str] = {}
        self.ghosts: list[Entity] = []
        self.complete: dict[str, bool] = {}
        self.muted: set[tuple[int, str]] = set()
        self.through: dict[tuple[int, int], set[tuple[EntityKind, int]]] = {}
        self.first: dict[tuple[int, int, str | None], Extensions] = {}
        self.asked_through: dict[tuple[int, int], set[int]] = {}


class EndsAnEarlierSessionsInterest(Router):
    """Ends an interest of the same id on sessions that opened before."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        super().on_interest_final(session, message)
        for other in self.sessions.values():
            if other.link < session.link:
                super().on_interest_final(other, message)


class OldKeyOfANewAlias(Remembering):
    """Gives a number that was released its old key again, if an entity is on that key."""

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        key = session.theirs.get(body.expr_id)
        super().on_undeclare_keyexpr(session, body)
        if key is not None and any(entity.key == key for entity in session.entities.values()):
            self.old[session.link, body.expr_id] = key

    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        super().on_declare_keyexpr(session, body)
        if (session.link, body.expr_id) in self.old:
            session.theirs[body.expr_id] = self.old.pop((session.link, body.expr_id))


class QueryablesOutliveSessions(Remembering):
    """Goes on listing the queryables of a session that has ended, though it has told their end."""

    def on_end(self, session: Session) -> None:
        self.ghosts += [entity for entity in session.entities.values() if entity.kind is Q]
        super().on_end(session)

    def entities(self) -> list[Entity]:
        return super().entities() + self.ghosts


class SubscribersEndForOne(Router):
    """Tells one session only of the subscribers that end with a session."""

    is_ending = False

    def on_end(self, session: Session) -> None:
        self.is_ending = True
        super().on_end(session)
        self.is_ending = False

    def withdraw(self, entity: Entity) -> None:
        told = [session for session in self.sessions.values() if entity in session.advertised]
        for session in told[1:] if self.is_ending and entity.kind is S else ():
            del session.advertised[entity]
        super().withdraw(entity)


class BlindToDeclaredWildcards(Router):
    """Takes a declared ** to be no match of an asked *."""

    def matches(self, asked: LiveInterest, entity: Entity) -> bool:
        if asked.key and "**" in entity.key and "*" in asked.key.replace("**", ""):
            return asked.key == entity.key
        return super().matches(asked, entity)


class LargestIdStays(Router):
    """Does not end the entity with the largest id."""

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        if body.id != TOP:
            super().on_undeclare_entity(session, body)


class OneOfAKey(Router):
    """Passes over a second entity of a session on one key."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        key = self.key_of_entity(session, body)
        if not any(entity.kind is body.kind and entity.key == key for entity in session.entities.values()):
            super().on_declare_entity(session, body)


class EndsTheTwin(Router):
    """Tells the end of what another session has on the key as well."""

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        gone = session.entities.get((body.kind, body.id))
        super().on_undeclare_entity(session, body)
        for other in self.sessions.values() if gone is not None else ():
            for entity in list(other.advertised):
                if gone and entity.kind is gone.kind and entity.key == gone.key and entity.owner != gone.owner:
                    if self.is_wanted(other, entity):
                        self.retract(other, entity)
                    del other.advertised[entity]


class ForgetsWhatOverlaps(Router):
    """Forgets what it has told under an interest that ends, also where another one runs."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        asked = session.interests.get(message.id)
        super().on_interest_final(session, message)
        for entity in list(session.advertised) if asked is not None else ():
            if asked and entity.kind in asked.kinds and self.matches(asked, entity):
                del session.advertised[entity]


class AliasesNarrowKinds(Router):
    """Serves subscribers only where aliases and subscribers are asked for."""

    def kinds(self, interest: Interest) -> frozenset[EntityKind]:
        kinds = super().kinds(interest)
        return frozenset({S}) if interest.options & Options.K and S in kinds else kinds


class CurrentIdsHaveNoFuture(Remembering):
    """Brings nothing under a Future interest whose id a Current one had."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        used = self.numbers.setdefault(session.link, set())
        if interest.mode is Mode.FUTURE and interest.id in used:
            return
        if interest.mode is Mode.CURRENT:
            used.add(interest.id)
        super().on_interest(session, interest)


class LosesOneOfABatch(Router):
    """Loses an undeclaration right behind a declaration of another kind."""

    def handle(self, session: Session, events: Iterable[Event]) -> None:
        left: list[Event] = []
        for event in events:
            now, before = declaration(event), declaration(left[-1]) if left else None
            is_end = (
                isinstance(now, UndeclareEntity) and isinstance(before, DeclareEntity) and now.kind is not before.kind
            )
            if not is_end:
                left.append(event)
        super().handle(session, left)


def declaration(event: Event) -> Declaration | None:
    """Return what a DECLARE holds."""
    return event.body if isinstance(event, Declare) else None


class DistancesComeAround(Router):
    """Begins anew behind the largest distance."""

    def info(self, entity: Entity) -> Extensions:
        return super().info(msgspec.structs.replace(entity, distance=0) if entity.distance >= 0xFFFE else entity)


class LastIsComplete(Remembering):
    """Announces all queryables of a key as complete as the last one."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        entity = session.entities.get((body.kind, body.id))
        if entity is not None and entity.kind is Q:
            self.complete[entity.key] = entity.complete

    def info(self, entity: Entity) -> Extensions:
        return super().info(msgspec.structs.replace(entity, complete=self.complete.get(entity.key, entity.complete)))


class CutsLongKeys(Router):
    """Takes the first 127 characters of a subscriber's or queryable's key."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        key = self.key_of_entity(session, body)
        if key and len(key) > SHORT and body.kind is not T:
            body = msgspec.structs.replace(body, key=WireExpr(key[:SHORT].rstrip("/")))
        super().on_declare_entity(session, body)


class DataForTheFirst(Router):
    """Sends data to the first of several sessions with a subscriber on one key."""

    def on_push(self, session: Session, message: Push) -> None:
        key, served = resolve(message.key, session.theirs, session.mine) or "", set[str]()
        for other in self.sessions.values():
            subscribers = [entity.key for entity in other.entities.values() if self.subscribes(entity, key)]
            if other is not session and set(subscribers) - served:
                self.send(other, Push(WireExpr(key), message.payload))
            served.update(subscribers)


class DataEndsWithOne(Remembering):
    """Sends no more data for a key when one of a session's subscribers on it ends."""

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        gone = session.entities.get((body.kind, body.id))
        super().on_undeclare_entity(session, body)
        if gone is not None:
            self.muted.add((session.link, gone.key))

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        self.muted.discard((session.link, self.key_of_entity(session, body) or ""))

    def subscribes(self, entity: Entity, key: str) -> bool:
        return (entity.owner, entity.key) not in self.muted and super().subscribes(entity, key)


class ReleaseEndsTokens(Remembering):
    """Ends the tokens that were declared through an alias when that is released."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        self.through.setdefault((session.link, body.key.scope), set()).add((body.kind, body.id))

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        super().on_undeclare_keyexpr(session, body)
        for kind, number in self.through.pop((session.link, body.expr_id), ()):
            if kind is T:
                super().on_undeclare_entity(session, UndeclareEntity(kind, number))


class OneNumberForAllKinds(Router):
    """Forgets having told of whatever has the number of an entity that ends."""

    def withdraw(self, entity: Entity) -> None:
        super().withdraw(entity)
        for session in self.sessions.values():
            for known in list(session.advertised):
                if known.owner == entity.owner and known.id == entity.id:
                    del session.advertised[known]


class RepeatsForTwoInterests(Router):
    """Announces what is declared once more again, to whoever has two interests."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        known = session.entities.get((body.kind, body.id))
        super().on_declare_entity(session, body)
        for other in self.forwarding_targets(known) if known is not None else ():
            if known and self.is_wanted(other, known) and len(other.interests) > 1:
                self.advertise(other, known, None)


class WidensUnmappedInterests(Router):
    """Takes an interest with M clear for one in all that is beside its key."""

    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        key = super().key_of_interest(session, interest)
        if key and interest.key and not interest.key.sender and not interest.key.scope:
            return key.rpartition("/")[0] + "/**"
        return key


class NoUpdatesWithAggregate(Router):
    """Sends no updates to an interest with A."""

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        wanting = [asked for asked in session.wants(entity, LIVE) if self.matches(asked, entity)]
        return any(not asked.options & Options.A for asked in wanting)


class CurrentEndsTheSame(Router):
    """Ends the running interest in the same key and kinds when a Current one asks for them."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        asked = self.asked(session, interest) if interest.mode is Mode.CURRENT else None
        for running in list(session.interests.values()) if asked is not None else ():
            if asked and (running.key, running.kinds) == (asked.key, asked.kinds):
                del session.interests[running.id]


class ReadsTheFirstExtension(Router):
    """Reads QueryableInfo only where it is the first extension."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, msgspec.structs.replace(body, extensions=body.extensions[:1]))


class UndeclaresByTheFirstExtension(Router):
    """Passes over an undeclaration whose WireExpr stands behind another extension."""

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        if not body.extensions or body.extensions[0].is_(WIRE_EXPR):
            super().on_undeclare_entity(session, body)


class SomethingBetween(Router):
    """Takes ** between two slashes for one chunk at least."""

    def matches(self, asked: LiveInterest, entity: Entity) -> bool:
        pair = {asked.key, entity.key}
        return super().matches(asked, entity) and not any(
            key and key.replace("/**/", "/") in pair - {key} for key in pair
        )


class KeepsFewerBits(Router):
    """Keeps 31 bits of a subscriber's, queryable's or token's id."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, msgspec.structs.replace(body, id=body.id & 0x7FFF_FFFF))

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        super().on_undeclare_entity(session, msgspec.structs.replace(body, id=body.id & 0x7FFF_FFFF))


class EndsByTheLastBits(Router):
    """Ends all interests whose ids agree in their last 16 bits."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        for number in [number for number in session.interests if (number ^ message.id) & 0xFFFF == 0]:
            super().on_interest_final(session, InterestFinal(number))


class FreesItsOwnNumber(Router):
    """Takes the release of a number for the release of its own of that number, too."""

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        super().on_undeclare_keyexpr(session, body)
        session.mine.pop(body.expr_id, None)


class RemembersMetadata(Remembering):
    """Announces a queryable as the first of its id on that key was."""

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        key = self.key_of_entity(session, body)
        first = self.first.setdefault((session.link, body.id, key), body.extensions)
        super().on_declare_entity(session, msgspec.structs.replace(body, extensions=first))


class ReleaseEndsInterests(Remembering):
    """Ends the interests that were asked through a number when that is released."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        if interest.key is not None and interest.key.scope and interest.key.sender:
            self.asked_through.setdefault((session.link, interest.key.scope), set()).add(interest.id)

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        super().on_undeclare_keyexpr(session, body)
        for number in self.asked_through.pop((session.link, body.expr_id), ()):
            session.interests.pop(number, None)


class OneForAll(Router):
    """Announces nothing to who asks with A and knows of something that matches, and not what is left when that ends."""

    def is_news(self, session: Session, entity: Entity) -> bool:
        wanting = [asked for asked in session.wants(entity, LIVE) if self.matches(asked, entity)]
        if not wanting or not all(asked.options & Options.A for asked in wanting):
            return super().is_news(session, entity)
        alike = [known for known in session.advertised if known.kind is entity.kind]
        return not any(self.matches(asked, known) for asked in wanting for known in alike)


SUBTLE: tuple[type[Router], ...] = (
    EndsAnEarlierSessionsInterest,
    OldKeyOfANewAlias,
    QueryablesOutliveSessions,
    SubscribersEndForOne,
    BlindToDeclaredWildcards,
    LargestIdStays,
    OneOfAKey,
    EndsTheTwin,
    ForgetsWhatOverlaps,
    AliasesNarrowKinds,
    CurrentIdsHaveNoFuture,
    LosesOneOfABatch,
    DistancesComeAround,
    LastIsComplete,
    CutsLongKeys,
    DataForTheFirst,
    DataEndsWithOne,
    ReleaseEndsTokens,
    OneNumberForAllKinds,
    RepeatsForTwoInterests,
    WidensUnmappedInterests,
    NoUpdatesWithAggregate,
    CurrentEndsTheSame,
    ReadsTheFirstExtension,
    UndeclaresByTheFirstExtension,
    SomethingBetween,
    KeepsFewerBits,
    EndsByTheLastBits,
    FreesItsOwnNumber,
    RemembersMetadata,
)
