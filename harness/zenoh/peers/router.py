"""The reference router: keeps both Zenoh documents to the letter, without sockets or threads.

Every decision that a document speaks of is a method of its own, so that a fault is one override beside it.
"""

from collections.abc import Iterable, Iterator

from harness.peers.peer import HANG_UP, Peer
from harness.zenoh.batches import DecodedBatch, read
from harness.zenoh.peers.routing import Routing
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.peers.transport import Ended, Event, Opened, SessionTransport, Settings
from wire.errors import DecodeError
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import (
    intersects,
    queryable_info,
    read_queryable_info,
    resolve,
    well_formed,
    wire_expr_extension,
)
from wire.zenoh.unknown_extensions import unintelligible
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import Fragment, WhatAmI

LIVE = (Mode.FUTURE, Mode.CURRENT_FUTURE)


class Router(Routing, Peer):
    """A Zenoh router; ``profile`` picks the spelling where the document and the field differ."""

    role = "router"
    whatami = WhatAmI.ROUTER

    def __init__(self, *, zid: bytes = b"goldwire-router\x01", profile: str = "document", lease: int = 10_000) -> None:
        super().__init__()
        self.deployed = profile == "deployed"
        self.settings = Settings(zid, self.whatami, lease)
        self.sessions: dict[int, Session] = {}
        self.hang_ups: list[int] = []

    # --- the runner's side -------------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of a new link."""
        self.sessions[link] = Session(link, SessionTransport(self.settings, opener=dialled))
        if dialled:
            # Whoever dials opens the session.
            self.sessions[link].transport.start(now)

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one batch."""
        # What was on its way when the link was ended still comes.
        if link in self.sessions:
            self.on_batch(self.sessions[link], read(frame), now)

    def on_batch(self, session: Session, batch: DecodedBatch, now: float) -> None:
        """Act on one batch, whether it can be decoded or not."""
        self.handle(session, session.transport.receive(batch, now))

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone: what its session declared is withdrawn."""
        session = self.sessions.pop(link, None)
        if session is not None:
            self.on_end(session)

    def tick(self, now: float) -> None:
        """Let time pass on every session."""
        for session in list(self.sessions.values()):
            self.handle(session, session.transport.tick(now))

    def next_tick(self) -> float | None:
        """Return when the next session needs attention."""
        times = [at for session in self.sessions.values() if (at := session.transport.next_tick()) is not None]
        return min(times, default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, by link, in order; the last that follows from a hang-up included."""
        yield from self.batches(now)
        # One at a time, each with what it sets off: the end of a session withdraws its declarations from the others.
        while self.hang_ups:
            link = self.hang_ups.pop(0)
            yield link, HANG_UP
            self.disconnected(link, now)
            yield from self.batches(now)

    def batches(self, now: float) -> Iterator[tuple[int, bytes]]:
        """Return the batches that wait to be sent, by link."""
        for link, session in list(self.sessions.items()):
            for batch in session.transport.drain(now):
                yield link, batch

    # --- events ------------------------------------------------------------------------------------------

    def handle(self, session: Session, events: Iterable[Event]) -> None:
        """Act on what a session's transport brings up."""
        for event in events:
            match event:
                case Opened():
                    session.opened = True
                    self.on_open(session)
                case Ended():
                    self.hang_ups.append(session.link)
                    # What came behind it on the same link is of no session.
                    return
                case Fragment():
                    try:
                        messages = session.fragments.take(event, marked=session.transport.patch)
                    except DecodeError as error:
                        self.refuse(session, f"fragments: {error}")
                        return
                    if not all(self.take(session, message) for message in messages):
                        return
                case _:
                    if not self.take(session, event):
                        return

    def take(self, session: Session, message: NetworkMessage) -> bool:
        """Act on a network message, if it can be understood; else end the session and return ``False``."""
        if self.unknown_extension(message):
            self.refuse(session, "unknown mandatory extension")
            return False
        if not self.can_be_spelled(session, message):
            self.refuse(session, "aliases join to a key that is longer than any message can spell")
            return False
        self.on_message(session, message)
        return True

    def refuse(self, session: Session, detail: str) -> None:
        """End a session because of what the other side sent."""
        session.transport.refuse(detail)
        self.hang_ups.append(session.link)

    def unknown_extension(self, message: NetworkMessage) -> Extension | None:
        """Return a mandatory extension that makes a message unintelligible, if it carries one."""
        return unintelligible(message)

    def can_be_spelled(self, session: Session, message: NetworkMessage) -> bool:
        """Tell whether a message's key can be told to others: on aliases, keys grow beyond what 16 bits can count."""
        asked = message.body if isinstance(message, Declare) else message
        match asked:
            case DeclareKeyExpr() | DeclareEntity() | Push() | Request() | Response() if asked.key.scope:
                key = resolve(asked.key, session.theirs, session.mine)
                return key is None or len(key.encode()) <= 0xFFFF
        return True

    def on_open(self, session: Session) -> None:
        """Begin a session: nothing is pushed unasked."""

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        """Act on one network message."""
        match message:
            case Interest():
                self.on_interest(session, message)
            case InterestFinal():
                self.on_interest_final(session, message)
            case Declare():
                self.on_declare(session, message)
            case Push() | Request() | Response() | ResponseFinal():
                self.on_data(session, message)
            case _:
                pass

    def on_declare(self, session: Session, message: Declare) -> None:
        """Act on one declaration."""
        match message.body:
            case DeclareKeyExpr() as body:
                self.on_declare_keyexpr(session, body)
            case UndeclareKeyExpr() as body:
                self.on_undeclare_keyexpr(session, body)
            case DeclareEntity() as body:
                self.on_declare_entity(session, body)
            case UndeclareEntity() as body:
                self.on_undeclare_entity(session, body)
            case DeclareFinal():
                pass  # it answers an interest, and a router has none

    def on_end(self, session: Session) -> None:
        """End a session: everything that it declared is withdrawn."""
        for entity in list(session.entities.values()):
            del session.entities[entity.kind, entity.id]
            self.withdraw(entity)
        self.forget(session)

    # --- interests ---------------------------------------------------------------------------------------

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Answer an interest: the snapshot if one is asked for, then what comes later."""
        asked = self.asked(session, interest)
        if asked is not None:
            # Before the snapshot: `wire_expr_of` asks whether a live interest wants aliases.
            session.interests[asked.id] = asked
        if interest.mode in (Mode.CURRENT, Mode.CURRENT_FUTURE):
            # Without entities when the key stands for nothing: who asked still waits for the end of the snapshot.
            for entity in self.snapshot(session, asked) if asked is not None else ():
                self.advertise(session, entity, interest.id)
            self.finish(session, interest.id)
        # A Current interest is over with its snapshot.
        if asked is not None and asked.mode is Mode.CURRENT:
            del session.interests[asked.id]

    def asked(self, session: Session, interest: Interest) -> LiveInterest | None:
        """Resolve what an interest asks for; ``None`` when its key stands for nothing."""
        key = None
        if self.is_restricted(interest):
            key = self.key_of_interest(session, interest)
            if key is None or not well_formed(key):
                return None
        return LiveInterest(interest.id, interest.mode, interest.options, self.kinds(interest), key)

    def is_restricted(self, interest: Interest) -> bool:
        """Tell whether an interest is limited to a key expression."""
        return interest.key is not None

    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        """Resolve an interest's key expression."""
        return None if interest.key is None else resolve(interest.key, session.theirs, session.mine)

    def kinds(self, interest: Interest) -> frozenset[EntityKind]:
        """Return the kinds of declaration that an interest is about."""
        return interest.kinds

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        """End an interest."""
        session.interests.pop(message.id, None)

    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        """Return the entities that a snapshot lists."""
        found = [entity for entity in self.entities() if self.is_listed(session, asked, entity)]
        if asked.options & Options.A and asked.mode is Mode.CURRENT:
            return self.aggregate(found)
        return found

    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        """Tell whether a snapshot for a session lists an entity: never the session's own."""
        return entity.owner != session.link and entity.kind in asked.kinds and self.matches(asked, entity)

    def aggregate(self, entities: list[Entity]) -> list[Entity]:
        """Reduce a snapshot to one representative of each kind."""
        # Reversed twice, so that the first of each kind stays, in the order of all.
        return list({entity.kind: entity for entity in reversed(entities)}.values())[::-1]

    def matches(self, asked: LiveInterest, entity: Entity) -> bool:
        """Tell whether an entity's key falls under an interest's."""
        return asked.key is None or intersects(asked.key, entity.key)

    def entities(self) -> list[Entity]:
        """Return all entities of all sessions."""
        return [entity for session in self.sessions.values() for entity in session.entities.values()]

    # --- declarations that come in -----------------------------------------------------------------------

    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        """Note what an ExprId stands for; 0 is the global scope and a live id is not given twice."""
        key = self.key_of_keyexpr(session, body)
        if body.expr_id != 0 and body.expr_id not in session.theirs and key is not None:
            session.theirs[body.expr_id] = key

    def key_of_keyexpr(self, session: Session, body: DeclareKeyExpr) -> str | None:
        """Resolve the key expression that an ExprId is to stand for: its scope is the declarer's own."""
        return resolve(body.key, session.theirs, session.mine)

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        """Free an ExprId."""
        session.theirs.pop(body.expr_id, None)

    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        """Note an entity and tell whom it concerns; a repetition changes nothing."""
        key = self.key_of_entity(session, body)
        if key is None or not well_formed(key) or (body.kind, body.id) in session.entities:
            return
        complete, distance = read_queryable_info(body.info or 0, deployed=self.deployed)
        entity = Entity(session.link, body.kind, body.id, key, complete, distance)
        session.entities[body.kind, body.id] = entity
        self.announce(entity)

    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        """Resolve the key expression of a declaration."""
        return resolve(body.key, session.theirs, session.mine)

    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        """Forget an entity, by its id, and tell whom it concerns."""
        entity = session.entities.pop((body.kind, body.id), None)
        if entity is not None:
            self.withdraw(entity)

    # --- declarations that go out ------------------------------------------------------------------------

    def announce(self, entity: Entity) -> None:
        """Forward a declaration to every other session that is interested and does not know it yet."""
        for session in self.forwarding_targets(entity):
            if self.is_wanted(session, entity) and self.is_news(session, entity):
                self.advertise(session, entity, None)

    def forwarding_targets(self, entity: Entity) -> list[Session]:
        """Return the sessions that a declaration may be forwarded to: all but its origin."""
        return [session for session in self.sessions.values() if session.opened and session.link != entity.owner]

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        """Tell whether a session has a live interest in what becomes of an entity."""
        return any(self.matches(asked, entity) for asked in session.wants(entity, LIVE))

    def is_news(self, session: Session, entity: Entity) -> bool:
        """Tell whether a session does not know an entity yet."""
        return entity not in session.advertised

    def withdraw(self, entity: Entity) -> None:
        """Forward an undeclaration to every session that the entity was forwarded to and that still listens."""
        for session in self.sessions.values():
            if entity in session.advertised:
                if self.is_wanted(session, entity):
                    self.retract(session, entity)
                # Also where nobody listens any more: should it come back, it is news.
                del session.advertised[entity]

    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        """Declare an entity to a session; ``interest_id`` when it is part of a snapshot."""
        key = self.wire_expr_of(session, entity, interest_id)
        body = DeclareEntity(entity.kind, session.id_for(entity), key, self.info(entity))
        self.declare(session, body, interest_id)

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        """Spell an entity's key: through an alias of ours if the session asked for key expressions."""
        if not any(asked.options & Options.K for asked in session.interests.values()):
            return WireExpr(entity.key)
        return WireExpr(None, self.alias(session, entity.key, interest_id))

    def alias(self, session: Session, key: str, interest_id: int | None) -> int:
        """Return our ExprId for a key, declaring it first if it is new to the session."""
        for expr_id, known in session.mine.items():
            if known == key:
                return expr_id
        expr_id, session.next_expr_id = session.next_expr_id, session.next_expr_id + 1
        session.mine[expr_id] = key
        self.declare(session, DeclareKeyExpr(expr_id, WireExpr(key)), interest_id)
        return expr_id

    def info(self, entity: Entity) -> Extensions:
        """Return a queryable's metadata as it is forwarded: one hop further away."""
        if entity.kind is not EntityKind.QUERYABLE:
            return ()
        # The field has 16 bits (Queryable Info).
        distance = min(entity.distance + 1, 0xFFFF)
        value = queryable_info(entity.complete, distance, deployed=self.deployed)
        return (Extension(QUERYABLE_INFO.id, value),)

    def retract(self, session: Session, entity: Entity) -> None:
        """Undeclare an entity to a session."""
        extensions = self.wire_expr(session, entity)
        self.declare(session, UndeclareEntity(entity.kind, session.advertised[entity], extensions), None)

    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        """Return the extensions of an undeclaration: the key of what is undeclared."""
        return (wire_expr_extension(WireExpr(entity.key), deployed=self.deployed),)

    def finish(self, session: Session, interest_id: int) -> None:
        """Say that a snapshot is complete."""
        self.declare(session, DeclareFinal(), interest_id)

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        """Send one declaration to a session."""
        self.send(session, Declare(body, interest_id))

    def send(self, session: Session, message: NetworkMessage) -> None:
        """Send one network message to a session."""
        if session.opened:
            session.transport.send([message])
