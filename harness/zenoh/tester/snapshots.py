"""What a session brought up: entities, updates, snapshots, in terms that a case can compare."""

from collections.abc import Iterable, Iterator

import msgspec

from harness.errors import HarnessError
from harness.zenoh.tester.events import Event, inner_key
from harness.zenoh.tester.session import TesterSession
from wire.zenoh.values import DeclareEntity, EntityKind, Interest, UndeclareEntity


class EntityName(msgspec.Struct, frozen=True, order=True):
    """An entity as a requester sees it: its kind and its key (``None``: an ExprId that nobody declared)."""

    kind: str
    key: str | None

    def __repr__(self) -> str:
        return f"{self.kind} {self.key}"


def subscriber(key: str) -> EntityName:
    """Name a subscriber."""
    return EntityName("subscriber", key)


def queryable(key: str) -> EntityName:
    """Name a queryable."""
    return EntityName("queryable", key)


def token(key: str) -> EntityName:
    """Name a token."""
    return EntityName("token", key)


class EntitySet(frozenset[EntityName]):
    """A set of entities that always prints in the same order."""

    def __repr__(self) -> str:
        return "{" + ", ".join(sorted(repr(each) for each in self)) + "}"


def set_of(*entities: EntityName) -> EntitySet:
    """Make a set of entities."""
    return EntitySet(entities)


class Update(msgspec.Struct, frozen=True, order=True):
    """A declaration or undeclaration that came; ``interest_id`` is there when I==1."""

    verb: str
    entity: EntityName
    interest_id: int | None = None

    def __repr__(self) -> str:
        part = "" if self.interest_id is None else f" (interest {self.interest_id})"
        return f"{self.verb} {self.entity}{part}"


def declared(entity: EntityName, interest_id: int | None = None) -> Update:
    """Say that an entity was declared."""
    return Update("declared", entity, interest_id)


def undeclared(entity: EntityName, interest_id: int | None = None) -> Update:
    """Say that an entity was undeclared."""
    return Update("undeclared", entity, interest_id)


class ReceivedUpdates(msgspec.Struct, frozen=True):
    """Whether some updates came, and what came."""

    wanted: tuple[Update, ...]
    came: tuple[Update, ...]
    ended: str = ""

    def __bool__(self) -> bool:
        return all(update in self.came for update in self.wanted)

    def __repr__(self) -> str:
        missing = ", ".join(repr(update) for update in self.wanted if update not in self.came)
        heard = ", ".join(map(repr, self.came)) or "nothing"
        end = f"; the link ended ({self.ended})" if self.ended else ""
        return f"never heard: {missing}; heard: {heard}{end}" if missing else f"heard: {heard}"


def entity_of(session: TesterSession, event: Event) -> EntityName | None:
    """Return the entity that an event declares or undeclares, if it lies within the session's namespace."""
    return entity_within(session.namespace, event)


def entity_within(namespace: str, event: Event) -> EntityName | None:
    """Return the entity that an event declares or undeclares, if it lies within a namespace."""
    body = event.body
    if not isinstance(body, DeclareEntity | UndeclareEntity):
        return None
    key = event.key if isinstance(body, DeclareEntity) else event.known or event.key
    if key is None:
        return EntityName(body.kind.value, None)
    inner = inner_key(namespace, key)
    return None if inner is None else EntityName(body.kind.value, inner)


def updates(session: TesterSession, since: int) -> list[Update]:
    """Return the updates among the events received from a place on."""
    found = []
    for event in session.received(since):
        entity = entity_of(session, event)
        if entity is not None:
            verb = "declared" if isinstance(event.body, DeclareEntity) else "undeclared"
            found.append(Update(verb, entity, event.interest_id))
    return found


def live_entities(session: TesterSession) -> EntitySet:
    """Return the entities that were declared on a session, by whatever DECLARE, and not undeclared since.

    A node may give one id to all that a Current snapshot lists: an id alone does not tell two of them apart.
    """
    alive: set[tuple[EntityKind, int, EntityName]] = set()
    for event in session.received():
        entity = entity_of(session, event)
        match event.body:
            case DeclareEntity(kind=kind, id=id) if entity is not None:
                alive.add((kind, id, entity))
            case UndeclareEntity(kind=kind, id=id):
                alive = {each for each in alive if each[:2] != (kind, id)}
            case _:
                pass
    return EntitySet(entity for _, _, entity in alive if entity.key is not None)


class Incomplete(HarnessError):
    """A snapshot never came to its end, or an update that others judge never came."""


class Snapshot(msgspec.Struct, frozen=True):
    """The answer to an interest: what came up to its D_FINAL, the entities under its id, and the D_FINAL if it came."""

    interest_id: int
    events: tuple[Event, ...]
    entities: tuple[EntityName, ...]
    final: Event | None
    ended: str = ""
    namespace: str = ""

    @property
    def declared(self) -> EntitySet:
        """The entities that were listed under the interest's id."""
        return EntitySet(self.entities)

    @property
    def stray(self) -> tuple[EntityName, ...]:
        """The entities that came meanwhile, and not under the interest's id."""
        # Read only when somebody asks: where a hundred interests run at once, nearly all is another one's.
        others = (event for event in self.events if event.interest_id != self.interest_id)
        return tuple(_declared_in(self.namespace, others))


def _declared_in(namespace: str, events: Iterable[Event]) -> Iterator[EntityName]:
    for event in events:
        entity = entity_within(namespace, event) if isinstance(event.body, DeclareEntity) else None
        if entity is not None:
            yield entity


class InterestHandle:
    """An interest that was sent, and how to get at its answer."""

    def __init__(self, session: TesterSession, message: Interest) -> None:
        self.session = session
        self.message = message
        self.id = message.id
        # Before it is sent: everything that comes after may be the answer.
        self.since = session.place

    def reply(self, until: float | None = None) -> Snapshot:
        """Read up to the interest's D_FINAL, or until patience or the link ends; ``until`` as for ``wait_for``."""
        session = self.session
        place = self._place_of_final() if until is None else session.place_of_final(self.id, self.since, until)
        # What comes behind D_FINAL is no part of the snapshot.
        events = session.received(self.since, None if place is None else place + 1)
        mine = _declared_in(session.namespace, (event for event in events if event.interest_id == self.id))
        final = None if place is None else events[-1]
        return Snapshot(self.id, tuple(events), tuple(mine), final, session.ended, session.namespace)

    def _place_of_final(self) -> int | None:
        """Read up to D_FINAL; for a window alone where nothing is listed and such a node is known never to say so."""
        session, silences = self.session, self.session.timing.silences
        thing = f"the D_FINAL of a snapshot of nothing, {self.message.mode.name}"
        place = session.place_of_final(self.id, self.since, session.end_of_patience(thing))
        if silences.has_come(thing):
            return place
        before = session.received(self.since, place)
        if not any(event.interest_id == self.id for event in before):
            session.was_awaited(thing, place is not None)
        elif place is None and silences.is_known(thing):
            # Something is listed, so this is another snapshot than those that never end.
            return session.place_of_final(self.id, self.since)
        return place

    def snapshot(self) -> Snapshot:
        """Read the whole snapshot; ``Incomplete`` when it does not end, which is for other cases to judge."""
        reply = self.reply()
        if reply.final is None:
            raise Incomplete(f"interest {self.id} was not answered up to D_FINAL: {reply.ended or 'silence'}")
        self.session.mark = self.session.place
        return reply
