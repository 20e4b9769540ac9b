"""The model of a history: the reference router without links, which notes what each session must and may be told.

It receives the messages of all sessions in their order. What it would send itself does not count: the documents leave
a node free in how and how often it announces a thing. What counts is what it knows: who has declared what, who asks for
what, and so, at each change, whom it concerns.
"""

from collections import Counter

import msgspec

from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.peers.transport import SessionTransport
from wire.zenoh.grammar_extensions import TARGET
from wire.zenoh.inclusion import includes
from wire.zenoh.keys import intersects, resolve
from wire.zenoh.values import (
    DeclareEntity,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
)

FAR = 1000
"""Hops that no network has: whoever is so far away need not be the one who is asked, where one is enough."""

Thing = tuple[str, str]
"""What a session can be told of: a kind of entity and a key. Two entities of one kind on one key are one thing, as a
router may announce them as one (reading R34)."""


KINDS = {kind: kind.value for kind in EntityKind}
"""What kinds are called: an attribute of an enumeration is slow, and this is asked for each entity at each step."""


def thing(entity: Entity) -> Thing:
    """Return what an entity is to those who are told of it."""
    return KINDS[entity.kind], entity.key


class Answer(msgspec.Struct):
    """What the snapshot for one interest must and may list; ``any_of``: one thing of each group at least (with A)."""

    interest: Interest
    must: set[Thing]
    may: Counter[Thing]
    any_of: list[set[Thing]]
    key: str | None = None


class Concerns:
    """What one step means for one session."""

    def __init__(self) -> None:
        self.answers: dict[int, Answer] = {}
        self.futures: set[int] = set()
        self.declared: Counter[Thing] = Counter()
        """How often each thing may be declared to it, for entities of its own as well (reading R36)."""
        self.some: list[set[Thing]] = []
        """Groups of which it has to be told of one: what is the first to fall under an interest with A."""
        self.undeclared: Counter[Thing] = Counter()
        """How often each thing may be undeclared to it."""
        self.lost: set[Thing] = set()
        """What it has to learn the end of, unless there is another of the kind on the key."""
        self.gone: set[Thing] = set()
        """What went unnoticed by its interests: it need not be told, and may hold otherwise."""
        self.data: set[str] = set()
        self.data_may: set[str] = set()
        self.queries: set[str] = set()
        self.queries_may: set[str] = set()


class Model(Router):
    """The reference router as it is asked what it knows."""

    def __init__(self, *, exact: bool = True) -> None:
        super().__init__()
        self.exact = exact
        """Whether whatever intersects an interest's key falls under it, or only what it includes (reading R26)."""
        self.names: dict[str, int] = {}
        self.used: dict[str, set[int]] = {}
        self.asked_before: dict[str, list[LiveInterest]] = {}
        self.tracked: dict[int, set[Entity]] = {}
        self.concerns: dict[int, Concerns] = {}
        self.appeared: list[Entity] = []
        self.vanished: list[Entity] = []
        self.asked_queries: list[tuple[str, set[int]]] = []
        self.count = 0

    # --- sessions -----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a step."""
        self.concerns = {link: Concerns() for link in self.sessions}
        self.appeared, self.vanished, self.asked_queries = [], [], []

    def session(self, who: str) -> Session:
        """Return what is known of a session."""
        return self.sessions[self.names[who]]

    def joins(self, who: str) -> None:
        """Open a session."""
        self.count += 1
        self.names[who] = self.count
        session = self.sessions[self.count] = Session(self.count, SessionTransport(self.settings, opener=False))
        session.opened = True
        self.tracked[self.count] = set()
        self.concerns[self.count] = Concerns()
        self.used[who] = set()
        self.asked_before[who] = []

    def leaves(self, who: str) -> None:
        """End a session."""
        link = self.names.pop(who)
        self.on_end(self.sessions.pop(link))
        del self.tracked[link]
        self.concerns.pop(link, None)

    def receives(self, who: str, message: NetworkMessage) -> None:
        """Take one message of a session."""
        if isinstance(message, Interest):
            self.used[who].add(message.id)
        self.on_message(self.session(who), message)
        if isinstance(message, Interest) and (asked := self.asked(self.session(who), message)) is not None:
            self.asked_before[who].append(asked)

    def shuffle(self) -> None:
        """Allow for any order of what several sessions sent in this step, each of which keeps its own."""
        changed = (*self.appeared, *self.vanished)
        for session in self.sessions.values():
            concerns = self.concerns[session.link]
            concerns.lost -= {thing(each) for each in self.vanished}
            concerns.some = []
            if concerns.futures:  # it may have been asked too late for what came in this step
                self.tracked[session.link] -= set(self.appeared)
            for answer in concerns.answers.values():
                answer.must -= {thing(each) for each in changed}
                answer.any_of = [group for group in answer.any_of if not group & {thing(each) for each in changed}]
                for each in changed:
                    if each.kind in answer.interest.kinds and (answer.key is None or intersects(answer.key, each.key)):
                        answer.may[thing(each)] += 1
                        if aggregates(answer.interest) and answer.key is not None:
                            # It may be what one stands for that has the key of the interest itself (reading R39).
                            stand_in = each.kind.value, answer.key
                            answer.may[stand_in] = max(answer.may[stand_in], 1)
            for each in self.appeared:
                if any(self.matches(asked, each) for asked in session.wants(each, LIVE)):
                    for told in (thing(each), *self.stand_ins(session, each)):
                        concerns.declared[told] = max(concerns.declared[told], 1)
            for each in self.vanished:
                concerns.undeclared[thing(each)] += 1

    def send(self, session: Session, message: NetworkMessage) -> None:
        """Send nothing."""

    # --- what changes -------------------------------------------------------------------------------------

    def announce(self, entity: Entity) -> None:
        """Note whom a new entity concerns."""
        self.appeared.append(entity)
        for session in self.sessions.values():
            if not self.is_wanted(session, entity):
                continue
            self.concerns[session.link].declared.update([thing(entity), *self.stand_ins(session, entity)])
            self.revise(session, entity)
            if session.link == entity.owner:
                continue
            if self.is_due(session, entity):
                self.tracked[session.link].add(entity)
            elif self.is_first(session, entity):
                self.concerns[session.link].some.append({thing(entity), *self.stand_ins(session, entity)})

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        """Note an entity; its repetition may be news to who asks for what is to come and came behind the first one.

        Also if a Current interest of that session has listed it: that is over (reading R32), and need not be known.
        """
        known = session.entities.get((body.kind, body.id))
        super().on_declare_entity(session, body)
        if known is None:
            return
        for other in self.sessions.values():
            if known not in self.tracked[other.link] and self.is_wanted(other, known):
                self.concerns[other.link].declared.update([thing(known), *self.stand_ins(other, known)])

    def withdraw(self, entity: Entity) -> None:
        """Note whom the end of an entity concerns."""
        self.vanished.append(entity)
        for session in self.sessions.values():
            concerns = self.concerns[session.link]
            if self.is_wanted(session, entity):
                concerns.undeclared.update([thing(entity), *self.stand_ins(session, entity)])
                self.revise(session, entity)
            else:
                concerns.gone.add(thing(entity))
            if entity in self.tracked[session.link]:
                self.tracked[session.link].remove(entity)
                concerns.lost.add(thing(entity))

    def stand_ins(self, session: Session, entity: Entity) -> list[Thing]:
        """Return what may be told in place of an entity: with A, one on the interest's own key (reading R39)."""
        wanting = [asked for asked in session.wants(entity, LIVE) if aggregates(asked) and self.matches(asked, entity)]
        return [(entity.kind.value, asked.key) for asked in wanting if asked.key is not None]

    def is_stand_in(self, who: str, what: Thing) -> bool:
        """Tell whether something may have stood for others, in an interest of a session that may be over."""
        return any(aggregates(asked) and asked.key == what[1] for asked in self.asked_before[who])

    def stands_for_others(self, who: str, what: Thing) -> bool:
        """Tell whether something may stand for others that live: in this step too, should all have ended before."""
        link = self.names[who]
        others = [each for each in self.entities() if each.kind.value == what[0] and each.owner != link]
        return self.is_stand_in(who, what) and any(intersects(what[1], each.key) for each in others)

    def is_own(self, who: str, what: Thing) -> bool:
        """Tell whether a thing is a session's own and nobody else's: it may be told of that or not (reading R36)."""
        owners = {each.owner for each in self.entities() if thing(each) == what}
        return owners == {self.names[who]}

    def was_own(self, who: str, what: Thing) -> bool:
        """Tell whether that was so before this step: it may have been taken back before another's appeared."""
        before = (each for each in (*self.entities(), *self.vanished) if each not in self.appeared)
        return {each.owner for each in before if thing(each) == what} == {self.names[who]}

    def may_end_untouched(self, who: str, what: Thing) -> bool:
        """Tell whether a session may be told the end of what lives: of what stands for others, or is its own."""
        return self.is_stand_in(who, what) or self.is_own(who, what) or self.was_own(who, what)

    def revise(self, session: Session, entity: Entity) -> None:
        """Allow for another announcement of a queryable that is one of several: what they are together has changed."""
        if entity.kind is not EntityKind.QUERYABLE:
            return
        if any(thing(each) == thing(entity) and each != entity for each in self.entities()):
            self.concerns[session.link].declared[thing(entity)] += 1

    def is_due(self, session: Session, entity: Entity) -> bool:
        """Tell whether a session has to be told of an entity: not where it asks for no more than a representative."""
        return any(self.falls_under(asked, entity) for asked in session.wants(entity, LIVE) if not aggregates(asked))

    def is_first(self, session: Session, entity: Entity) -> bool:
        """Tell whether nothing else of its kind falls under the interests of a session that an entity falls under."""
        wanting = [asked for asked in session.wants(entity, LIVE) if self.falls_under(asked, entity)]
        others = [e for e in self.entities() if e != entity and e.kind is entity.kind and e.owner != session.link]
        return bool(wanting) and not any(self.matches(asked, other) for asked in wanting for other in others)

    def unrepresented(self, who: str, known: set[Thing]) -> Thing | None:
        """Return what lives, and nothing that a session knows of stands for it, where it asks with A.

        One may stand for several, but not in their place when it has ended: A is about snapshots, so updates go on.
        """
        session = self.session(who)
        for asked in session.interests.values():
            if asked.mode is not Mode.CURRENT_FUTURE or not aggregates(asked):
                continue
            for kind in {each.kind for each in self.vanished if self.matches(asked, each)} & asked.kinds:
                alike = [e for e in self.entities() if e.kind is kind and e.owner != session.link]
                living = [thing(each) for each in alike if self.falls_under(asked, each)]
                if living and not any(what[0] == kind.value and self.covers(asked, what) for what in known):
                    return living[0]
        return None

    def falls_under(self, asked: LiveInterest, entity: Entity) -> bool:
        """Tell whether an entity must be told of to whoever asked for a key."""
        if asked.key is None or not self.matches(asked, entity):
            return asked.key is None
        return self.exact or includes(asked.key, entity.key)

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Note what the answer must and may hold."""
        asked = self.asked(session, interest)
        concerns = self.concerns[session.link]
        if interest.mode is Mode.FUTURE:
            concerns.futures.add(interest.id)
        else:
            concerns.answers[interest.id] = self.answer(session, interest, asked)
        if asked is not None and interest.mode is not Mode.CURRENT:
            session.interests[asked.id] = asked
            if interest.mode is Mode.CURRENT_FUTURE and not aggregates(asked):
                listed = [each for each in self.entities() if each.owner != session.link and each.kind in asked.kinds]
                self.tracked[session.link] |= {each for each in listed if self.falls_under(asked, each)}

    def answer(self, session: Session, interest: Interest, asked: LiveInterest | None) -> Answer:
        """Return what the snapshot for an interest must and may list."""
        if asked is None:
            return Answer(interest, set(), Counter(), [])
        matching = [each for each in self.entities() if each.kind in asked.kinds and self.matches(asked, each)]
        may = Counter(thing(each) for each in matching)
        due = [each for each in matching if each.owner != session.link and self.falls_under(asked, each)]
        if not aggregates(asked):
            return Answer(interest, {thing(each) for each in due}, may, [], asked.key)
        if asked.key is not None:
            # One that stands for several may have the key of the interest itself (reading R39).
            may += Counter({(each.kind.value, asked.key): 1 for each in due})
        groups = [{each for each in may if each[0] == kind.value} for kind in {each.kind for each in due}]
        return Answer(interest, set(), may, groups, asked.key)

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        """End an interest: what it alone covered need not be told of any more."""
        super().on_interest_final(session, message)
        self.tracked[session.link] = {each for each in self.tracked[session.link] if self.is_due(session, each)}

    # --- data ---------------------------------------------------------------------------------------------

    def on_data(self, session: Session, message: object) -> None:
        """Note whom data or a query concerns."""
        if isinstance(message, Push) and (key := resolve(message.key, session.theirs, session.mine)) is not None:
            self.on_publication(session, key, (message.payload or b"").decode())
        if isinstance(message, Request) and (key := resolve(message.key, session.theirs, session.mine)) is not None:
            self.on_query(session, key, message)

    def on_publication(self, session: Session, key: str, payload: str) -> None:
        """Note who must be sent data."""
        for other in self.sessions.values():
            if any(self.subscribes(each, key) for each in other.entities.values()):
                concerns = self.concerns[other.link]
                (concerns.data_may if other is session else concerns.data).add(payload)

    def on_query(self, session: Session, key: str, message: Request) -> None:
        """Note who must be asked: all that can answer, where the query says all; else one of them at least."""
        target = next((each.value for each in message.extensions if each.is_(TARGET)), 0)
        able: set[int] = set()
        is_far = False
        for other in self.sessions.values():
            if not self.answers(other, key, message):
                continue
            is_far = is_far or any(each.distance >= FAR for each in other.entities.values())
            concerns = self.concerns[other.link]
            if other is session or not target:
                concerns.queries_may.add(message.parameters)
            else:
                concerns.queries.add(message.parameters)
            able |= {other.link} - {session.link}
        if able and not is_far:
            self.asked_queries.append((message.parameters, able))

    # --- what is so ---------------------------------------------------------------------------------------

    def things(self) -> set[Thing]:
        """Return all that exists."""
        return {thing(each) for each in self.entities()}

    def due(self, who: str) -> set[Thing]:
        """Return what a session must know to exist."""
        return {thing(each) for each in self.tracked[self.names[who]]}

    def covers(self, asked: LiveInterest, what: Thing) -> bool:
        """Tell whether an interest is about a thing."""
        kind, key = what
        return EntityKind(kind) in asked.kinds and (asked.key is None or intersects(asked.key, key))


def aggregates(asked: LiveInterest | Interest) -> bool:
    """Tell whether an interest has A set."""
    return bool(asked.options & Options.A)
