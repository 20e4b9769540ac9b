"""The reference router: keeps both Zenoh documents to the letter, without sockets or threads.

Every decision that a document speaks of is a method of its own, so that a fault is one override beside it.
"""

from collections.abc import Iterable, Iterator

from harness.errors import ControlFailed
from harness.nodes import HANG_UP
from harness.zenoh.face import Asked, Entity, Face
from harness.zenoh.routing import Routing
from harness.zenoh.transport import Ended, Event, Opened, Settings, Transport
from wire.zenoh.extensions import QUERYABLE_INFO
from wire.zenoh.frames import WhatAmI
from wire.zenoh.keys import (
    intersects,
    queryable_info,
    read_queryable_info,
    resolve,
    well_formed,
    wire_expr_extension,
)
from wire.zenoh.messages import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Kind,
    Mode,
    NetworkMessage,
    Oam,
    Options,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
    unknown_mandatory,
)

LIVE = (Mode.FUTURE, Mode.CURRENT_FUTURE)


class Router(Routing):
    """A Zenoh router; ``profile`` picks the spelling where the document and the field differ."""

    role = "router"
    whatami = WhatAmI.ROUTER
    verbs: tuple[str, ...] = ()

    def __init__(self, *, zid: bytes = b"goldwire-router\x01", profile: str = "document", lease: int = 10_000) -> None:
        super().__init__()
        self.deployed = profile == "deployed"
        self.settings = Settings(zid, self.whatami, lease)
        self.faces: dict[int, Face] = {}
        self.hang_ups: list[int] = []

    # --- the runner's side -------------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False) -> None:
        """Take note of a new link."""
        self.faces[link] = Face(link, Transport(self.settings, opener=dialled))
        if dialled:
            self.faces[link].transport.start(now)

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one batch."""
        if link in self.faces:
            self.handle(self.faces[link], self.faces[link].transport.receive(frame, now))

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone: what its session declared is withdrawn."""
        face = self.faces.pop(link, None)
        if face is not None:
            self.on_end(face)

    def tick(self, now: float) -> None:
        """Let time pass on every session."""
        for face in list(self.faces.values()):
            self.handle(face, face.transport.tick(now))

    def next_tick(self) -> float | None:
        """Return when the next session needs attention."""
        times = [at for face in self.faces.values() if (at := face.transport.next_tick()) is not None]
        return min(times, default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, by link, in order; the last that follows from a hang-up included."""
        yield from self.batches(now)
        while self.hang_ups:
            link = self.hang_ups.pop(0)
            yield link, HANG_UP
            self.disconnected(link, now)
            yield from self.batches(now)

    def batches(self, now: float) -> Iterator[tuple[int, bytes]]:
        """Return the batches that wait to be sent, by link."""
        for link, face in list(self.faces.items()):
            for batch in face.transport.drain(now):
                yield link, batch

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Refuse: a router only answers."""
        raise ControlFailed(f"a router has no verb {verb!r}")

    # --- events ------------------------------------------------------------------------------------------

    def handle(self, face: Face, events: Iterable[Event]) -> None:
        """Act on what a session's transport brings up."""
        for event in events:
            match event:
                case Opened():
                    face.opened = True
                    self.on_open(face)
                case Ended():
                    self.hang_ups.append(face.link)
                    return
                case _:
                    if self.alien(event):
                        face.transport.refuse("unknown mandatory extension")
                        self.hang_ups.append(face.link)
                        return
                    self.on_message(face, event)

    def alien(self, message: NetworkMessage) -> Extension | None:
        """Return a mandatory extension that makes a message unintelligible, if it carries one."""
        found = unknown_mandatory(NAMES[type(message)], message.extensions)
        if found is None and isinstance(message, Declare):
            found = unknown_mandatory(body_name(message.body), message.body.extensions)
        return found

    def on_open(self, face: Face) -> None:
        """Begin a session: nothing is pushed unasked."""

    def on_message(self, face: Face, message: NetworkMessage) -> None:
        """Act on one network message."""
        match message:
            case Interest():
                self.on_interest(face, message)
            case InterestFinal():
                self.on_interest_final(face, message)
            case Declare():
                self.on_declare(face, message)
            case Push() | Request() | Response() | ResponseFinal():
                self.on_data(face, message)
            case _:
                pass

    def on_declare(self, face: Face, message: Declare) -> None:
        """Act on one declaration."""
        match message.body:
            case DeclareKeyExpr() as body:
                self.on_declare_keyexpr(face, body)
            case UndeclareKeyExpr() as body:
                self.on_undeclare_keyexpr(face, body)
            case DeclareEntity() as body:
                self.on_declare_entity(face, body)
            case UndeclareEntity() as body:
                self.on_undeclare_entity(face, body)
            case DeclareFinal():
                pass  # it answers an interest, and a router has none

    def on_end(self, face: Face) -> None:
        """End a session: everything that it declared is withdrawn."""
        for entity in list(face.entities.values()):
            del face.entities[entity.kind, entity.id]
            self.withdraw(entity)
        self.forget(face)

    # --- interests ---------------------------------------------------------------------------------------

    def on_interest(self, face: Face, interest: Interest) -> None:
        """Answer an interest: the snapshot if one is asked for, then what comes later."""
        asked = self.asked(face, interest)
        if asked is not None:
            face.interests[asked.id] = asked
        if interest.mode in (Mode.CURRENT, Mode.CURRENT_FUTURE):
            for entity in self.snapshot(face, asked) if asked is not None else ():
                self.advertise(face, entity, interest.id)
            self.finish(face, interest.id)
        if asked is not None and asked.mode is Mode.CURRENT:
            del face.interests[asked.id]

    def asked(self, face: Face, interest: Interest) -> Asked | None:
        """Resolve what an interest asks for; ``None`` when its key stands for nothing."""
        key = None
        if self.is_restricted(interest):
            key = self.key_of_interest(face, interest)
            if key is None or not well_formed(key):
                return None
        return Asked(interest.id, interest.mode, interest.options, self.kinds(interest), key)

    def is_restricted(self, interest: Interest) -> bool:
        """Tell whether an interest is limited to a key expression."""
        return interest.key is not None

    def key_of_interest(self, face: Face, interest: Interest) -> str | None:
        """Resolve an interest's key expression."""
        return None if interest.key is None else resolve(interest.key, face.theirs, face.mine)

    def kinds(self, interest: Interest) -> frozenset[Kind]:
        """Return the kinds of declaration that an interest is about."""
        return interest.kinds

    def on_interest_final(self, face: Face, message: InterestFinal) -> None:
        """End an interest."""
        face.interests.pop(message.id, None)

    def snapshot(self, face: Face, asked: Asked) -> list[Entity]:
        """Return the entities that a snapshot lists."""
        found = [entity for entity in self.entities() if self.is_listed(face, asked, entity)]
        if asked.options & Options.A and asked.mode is Mode.CURRENT:
            return self.aggregate(found)
        return found

    def is_listed(self, face: Face, asked: Asked, entity: Entity) -> bool:
        """Tell whether a snapshot for a session lists an entity: never the session's own."""
        return entity.owner != face.link and entity.kind in asked.kinds and self.matches(asked, entity)

    def aggregate(self, entities: list[Entity]) -> list[Entity]:
        """Reduce a snapshot to one representative of each kind."""
        return list({entity.kind: entity for entity in reversed(entities)}.values())[::-1]

    def matches(self, asked: Asked, entity: Entity) -> bool:
        """Tell whether an entity's key falls under an interest's."""
        return asked.key is None or intersects(asked.key, entity.key)

    def entities(self) -> list[Entity]:
        """Return all entities of all sessions."""
        return [entity for face in self.faces.values() for entity in face.entities.values()]

    # --- declarations that come in -----------------------------------------------------------------------

    def on_declare_keyexpr(self, face: Face, body: DeclareKeyExpr) -> None:
        """Note what an ExprId stands for; 0 is the global scope and a live id is not given twice."""
        key = self.key_of_keyexpr(face, body)
        if body.expr_id != 0 and body.expr_id not in face.theirs and key is not None:
            face.theirs[body.expr_id] = key

    def key_of_keyexpr(self, face: Face, body: DeclareKeyExpr) -> str | None:
        """Resolve the key expression that an ExprId is to stand for: its scope is the declarer's own."""
        return resolve(body.key, face.theirs, face.mine)

    def on_undeclare_keyexpr(self, face: Face, body: UndeclareKeyExpr) -> None:
        """Free an ExprId."""
        face.theirs.pop(body.expr_id, None)

    def on_declare_entity(self, face: Face, body: DeclareEntity) -> None:
        """Note an entity and tell whom it concerns; a repetition changes nothing."""
        key = self.key_of_entity(face, body)
        if key is None or not well_formed(key) or (body.kind, body.id) in face.entities:
            return
        complete, distance = read_queryable_info(body.info or 0, deployed=self.deployed)
        entity = Entity(face.link, body.kind, body.id, key, complete, distance)
        face.entities[body.kind, body.id] = entity
        self.announce(entity)

    def key_of_entity(self, face: Face, body: DeclareEntity) -> str | None:
        """Resolve the key expression of a declaration."""
        return resolve(body.key, face.theirs, face.mine)

    def on_undeclare_entity(self, face: Face, body: UndeclareEntity) -> None:
        """Forget an entity, by its id, and tell whom it concerns."""
        entity = face.entities.pop((body.kind, body.id), None)
        if entity is not None:
            self.withdraw(entity)

    # --- declarations that go out ------------------------------------------------------------------------

    def announce(self, entity: Entity) -> None:
        """Forward a declaration to every other session that is interested and does not know it yet."""
        for face in self.audience(entity):
            if self.is_wanted(face, entity) and self.is_news(face, entity):
                self.advertise(face, entity, None)

    def audience(self, entity: Entity) -> list[Face]:
        """Return the sessions that a declaration may be forwarded to: all but its origin."""
        return [face for face in self.faces.values() if face.opened and face.link != entity.owner]

    def is_wanted(self, face: Face, entity: Entity) -> bool:
        """Tell whether a session has a live interest in what becomes of an entity."""
        return any(self.matches(asked, entity) for asked in face.wants(entity, LIVE))

    def is_news(self, face: Face, entity: Entity) -> bool:
        """Tell whether a session does not know an entity yet."""
        return entity not in face.advertised

    def withdraw(self, entity: Entity) -> None:
        """Forward an undeclaration to every session that was told of the entity and still listens."""
        for face in self.faces.values():
            if entity in face.advertised:
                if self.is_wanted(face, entity):
                    self.retract(face, entity)
                del face.advertised[entity]

    def advertise(self, face: Face, entity: Entity, interest_id: int | None) -> None:
        """Declare an entity to a session; ``interest_id`` when it is part of a snapshot."""
        key = self.spell(face, entity, interest_id)
        body = DeclareEntity(entity.kind, face.give_id(entity), key, self.info(entity))
        self.declare(face, body, interest_id)

    def spell(self, face: Face, entity: Entity, interest_id: int | None) -> WireExpr:
        """Spell an entity's key: through an alias of ours if the session asked for key expressions."""
        if not any(asked.options & Options.K for asked in face.interests.values()):
            return WireExpr(entity.key)
        return WireExpr(None, self.alias(face, entity.key, interest_id))

    def alias(self, face: Face, key: str, interest_id: int | None) -> int:
        """Return our ExprId for a key, declaring it first if it is new to the session."""
        for expr_id, known in face.mine.items():
            if known == key:
                return expr_id
        expr_id, face.next_expr_id = face.next_expr_id, face.next_expr_id + 1
        face.mine[expr_id] = key
        self.declare(face, DeclareKeyExpr(expr_id, WireExpr(key)), interest_id)
        return expr_id

    def info(self, entity: Entity) -> Extensions:
        """Return a queryable's metadata as it is forwarded: one hop further away."""
        if entity.kind is not Kind.QUERYABLE:
            return ()
        distance = min(entity.distance + 1, 0xFFFF)
        value = queryable_info(entity.complete, distance, deployed=self.deployed)
        return (Extension(QUERYABLE_INFO.id, value),)

    def retract(self, face: Face, entity: Entity) -> None:
        """Undeclare an entity to a session."""
        extensions = self.wire_expr(face, entity)
        self.declare(face, UndeclareEntity(entity.kind, face.advertised[entity], extensions), None)

    def wire_expr(self, face: Face, entity: Entity) -> Extensions:
        """Return the extensions of an undeclaration: the key of what is undeclared."""
        return (wire_expr_extension(WireExpr(entity.key), deployed=self.deployed),)

    def finish(self, face: Face, interest_id: int) -> None:
        """Say that a snapshot is complete."""
        self.declare(face, DeclareFinal(), interest_id)

    def declare(self, face: Face, body: Declaration, interest_id: int | None) -> None:
        """Send one declaration to a session."""
        self.send(face, Declare(body, interest_id))

    def send(self, face: Face, message: NetworkMessage) -> None:
        """Send one network message to a session."""
        if face.opened:
            face.transport.send([message])


NAMES: dict[type, str] = {
    Interest: "INTEREST",
    InterestFinal: "INTEREST_FINAL",
    Declare: "DECLARE",
    Push: "PUSH",
    Request: "REQUEST",
    Response: "RESPONSE",
    ResponseFinal: "RESPONSE_FINAL",
    Oam: "OAM",
}


def body_name(body: Declaration) -> str:
    """Return the document's name of a declaration."""
    match body:
        case DeclareKeyExpr():
            return "D_KEYEXPR"
        case UndeclareKeyExpr():
            return "U_KEYEXPR"
        case DeclareEntity():
            return f"D_{body.kind.name}"
        case UndeclareEntity():
            return f"U_{body.kind.name}"
        case DeclareFinal():
            return "D_FINAL"
