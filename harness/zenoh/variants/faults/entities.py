"""Faults against zenoh-declarations, "D_SUBSCRIBER (0x02)" and "D_TOKEN (0x06)": who declared what, and where."""

import re

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import fault
from wire.zenoh.keys import resolve
from wire.zenoh.values import DeclareEntity, EntityKind, Interest, Mode, Push, UndeclareEntity

BARRIER = 1_000_000
"""Interest ids from here on are a tester's barriers: kept working, so that more than silence is seen."""

LONG_ID = re.compile(rb"(\x1e[\x03\x62\x64\x66])([\x80-\xff]{4})([\x10-\x7f])")
"""An entity id of more than 32 bits, in five bytes."""


@fault("ZD-042", does="sends data to every session that has any subscriber")
class DataForAll(Router):
    def subscribes(self, entity: Entity, key: str) -> bool:
        return entity.kind is EntityKind.SUBSCRIBER


@fault("ZD-043", does="keeps the last data and sends it to a subscriber that is declared later")
class OldData(Router):
    retained: Push | None = None

    def on_push(self, session: Session, message: Push) -> None:
        super().on_push(session, message)
        self.retained = message

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        if self.retained is not None and body.kind is EntityKind.SUBSCRIBER:
            self.send(session, self.retained)


@fault("ZD-043", does="goes on sending data to the sessions that once had a matching subscriber")
class DataForEver(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.gone: list[Entity] = []

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        entity = session.entities.get((body.kind, body.id))
        if entity is not None:
            self.gone.append(entity)
        super().on_undeclare_entity(session, body)

    def on_push(self, session: Session, message: Push) -> None:
        super().on_push(session, message)
        for entity in self.gone:
            if entity.owner in self.sessions and self.subscribes(entity, message.key.suffix or ""):
                self.send(self.sessions[entity.owner], message)


class Swapped(Router):
    """A router that looks the scopes of one kind of declaration up in the wrong table."""

    kind: EntityKind

    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        if body.kind is self.kind:
            return resolve(body.key, session.mine, session.theirs)
        return super().key_of_entity(session, body)


@fault("ZD-045", does="looks the scope of D_SUBSCRIBER up in the wrong table")
class SwappedSubscribers(Swapped):
    kind = EntityKind.SUBSCRIBER


@fault("ZD-081", does="looks the scope of D_TOKEN up in the wrong table")
class SwappedTokens(Swapped):
    kind = EntityKind.TOKEN


@fault("ZD-045", does="takes the scope of D_SUBSCRIBER to be the sender's, whatever M says")
class DeafToMappingOfSubscribers(Router):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        if body.kind is EntityKind.SUBSCRIBER:
            return resolve(body.key, session.theirs, session.theirs)
        return super().key_of_entity(session, body)


@fault("ZD-048", does="cuts entity ids down to 32 bits")
class ShortenedIds(Router):
    def received(self, link: int, frame: bytes, now: float) -> None:
        # Only the lowest four bits of the fifth byte belong to 32 bits.
        cut = LONG_ID.sub(lambda found: found[1] + found[2] + bytes([found[3][0] & 0x0F]), frame)
        super().received(link, cut, now)


@fault("ZD-049", does="gives all subscribers the id 1")
class OneSubscriberId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if entity.kind is EntityKind.SUBSCRIBER:
            session.advertised[entity] = 1
        super().advertise(session, entity, interest_id)


@fault("ZD-050", does="with M clear, takes scope 0 for the alias that was declared last")
class ScopeZeroIsAnAlias(Router):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = super().key_of_entity(session, body)
        if key is not None and body.key.scope == 0 and not body.key.sender and session.theirs:
            return list(session.theirs.values())[-1] + key
        return key


@fault("ZD-051", does="takes an alias that was never declared for the global scope")
class UnknownScopeIsGlobal(Router):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = super().key_of_entity(session, body)
        return (body.key.suffix or "") if key is None else key


@fault("ZD-051", does="announces a subscriber that was declared on no key")
class NamelessSubscriber(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        # The router itself forwards no empty key, so the fault announces it.
        if body.kind is EntityKind.SUBSCRIBER and self.key_of_entity(session, body) == "":
            self.announce(Entity(session.link, body.kind, body.id, ""))

    def matches(self, asked: LiveInterest, entity: Entity) -> bool:
        return asked.key is None if entity.key == "" else super().matches(asked, entity)


@fault("ZD-052", does="ends all of a session's subscribers on a key with the first of them")
class UndeclaredByKey(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        gone = session.entities.get((body.kind, body.id))
        super().on_undeclare_entity(session, body)
        for entity in list(session.entities.values()):
            if body.kind is EntityKind.SUBSCRIBER and gone is not None and entity.key == gone.key:
                super().on_undeclare_entity(session, UndeclareEntity(entity.kind, entity.id))


@fault("ZD-052", does="undeclares a subscriber to others under an id that it never gave it")
class UndeclaredUnderAnotherId(Router):
    def retract(self, session: Session, entity: Entity) -> None:
        if entity.kind is EntityKind.SUBSCRIBER:
            # Far from the ids that were given.
            session.advertised[entity] += 1000
        super().retract(session, entity)


@fault("ZD-053", does="tells of a subscriber's end, and goes on listing it")
class ListedAfterItsEnd(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.gone: list[Entity] = []

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        entity = session.entities.get((body.kind, body.id))
        if entity is not None and entity.kind is EntityKind.SUBSCRIBER:
            self.gone.append(entity)
        super().on_undeclare_entity(session, body)

    def entities(self) -> list[Entity]:
        return super().entities() + [entity for entity in self.gone if entity.owner in self.sessions]


@fault("ZD-053", does="passes over U_SUBSCRIBER")
class DeafToUndeclaredSubscribers(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        if body.kind is not EntityKind.SUBSCRIBER:
            super().on_undeclare_entity(session, body)


@fault("ZD-077", does="keeps a token that is declared to itself")
class SilentTokens(Router):
    def announce(self, entity: Entity) -> None:
        if entity.kind is not EntityKind.TOKEN:
            super().announce(entity)


@fault("ZD-077", does="leaves tokens out of a snapshot for current and future ones")
class UnlistedTokens(Router):
    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        hidden = entity.kind is EntityKind.TOKEN and asked.mode is Mode.CURRENT_FUTURE
        return not hidden and super().is_listed(session, asked, entity)


@fault("ZD-078", does="keeps the tokens of a session that has ended")
class ImmortalTokens(Router):
    def on_end(self, session: Session) -> None:
        for entity in [entity for entity in session.entities.values() if entity.kind is EntityKind.TOKEN]:
            del session.entities[entity.kind, entity.id]
        super().on_end(session)


@fault("ZD-079", does="tells of all tokens whoever asked for some")
class AllTokens(Router):
    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        every = interest.kinds == {EntityKind.TOKEN} and interest.id < BARRIER
        return "**" if every else super().key_of_interest(session, interest)
