"""Where data goes: the part of the reference router that subscriber and queryable declarations are made for."""

from harness.zenoh.peers.session import Entity, Session
from wire.zenoh.grammar_extensions import TARGET
from wire.zenoh.keys import intersects, resolve
from wire.zenoh.values import EntityKind, NetworkMessage, Push, Request, Response, ResponseFinal, WireExpr

ALL_COMPLETE = 2
"""The value of the Target extension that asks complete queryables only."""


class Routing:
    """The forwarding tables of a router; ``sessions`` are its sessions."""

    sessions: dict[int, Session]

    def __init__(self) -> None:
        self.next_request = 1
        # Where a query that was forwarded came from: link and id, by the link and id that it was given there.
        self.pending: dict[tuple[int, int], tuple[int, int]] = {}
        # Of a query that came in, those forwarded for it that are not answered up to the end.
        self.waiting: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def send(self, session: Session, message: NetworkMessage) -> None:
        """Send one network message to a session."""

    def on_data(self, session: Session, message: Push | Request | Response | ResponseFinal) -> None:
        """Forward a data message."""
        match message:
            case Push():
                self.on_push(session, message)
            case Request():
                self.on_request(session, message)
            case Response():
                self.on_response(session, message)
            case ResponseFinal():
                self.on_response_final(session, message.id)

    def on_push(self, session: Session, message: Push) -> None:
        """Forward data to every other session with a matching subscriber, once each."""
        key = resolve(message.key, session.theirs, session.mine)
        # Data on an ExprId that was never declared is for nobody.
        if key is None:
            return
        for other in self.sessions.values():
            if other is not session and any(self.subscribes(entity, key) for entity in other.entities.values()):
                self.send(other, Push(WireExpr(key), message.payload))

    def subscribes(self, entity: Entity, key: str) -> bool:
        """Tell whether an entity is a subscriber that data on a key is for."""
        return entity.kind is EntityKind.SUBSCRIBER and intersects(entity.key, key)

    def on_request(self, session: Session, message: Request) -> None:
        """Forward a query to the sessions that can answer it; none can: say so at once."""
        key = resolve(message.key, session.theirs, session.mine)
        targets = [
            other for other in self.sessions.values() if other is not session and self.answers(other, key, message)
        ]
        origin = (session.link, message.id)
        self.waiting[origin] = set()
        for other in targets:
            # With ids of the router's own: two sessions may choose the same one for their queries.
            forwarded = (other.link, self.next_request)
            self.next_request += 1
            self.pending[forwarded] = origin
            self.waiting[origin].add(forwarded)
            self.send(other, Request(forwarded[1], WireExpr(key), message.parameters, message.extensions))
        if not targets:
            self.finish_request(origin)

    def answers(self, session: Session, key: str | None, message: Request) -> bool:
        """Tell whether a session has a queryable for a query."""
        # Without the extension the target is BestMatching (0): whoever matches.
        target = next((extension.value for extension in message.extensions if extension.is_(TARGET)), 0)
        return key is not None and any(
            entity.kind is EntityKind.QUERYABLE and intersects(entity.key, key) and self.is_target(entity, target)
            for entity in session.entities.values()
        )

    def is_target(self, entity: Entity, target: object) -> bool:
        """Tell whether a queryable is among those that a query's target asks."""
        return target != ALL_COMPLETE or entity.complete

    def on_response(self, session: Session, message: Response) -> None:
        """Forward an answer to the session that asked."""
        origin = self.pending.get((session.link, message.id))
        key = resolve(message.key, session.theirs, session.mine)
        if origin is not None and origin[0] in self.sessions and key is not None:
            answer = Response(origin[1], WireExpr(key), message.payload, message.error)
            self.send(self.sessions[origin[0]], answer)

    def on_response_final(self, session: Session, request: int) -> None:
        """Note that a session has answered; the last one ends the query."""
        origin = self.pending.pop((session.link, request), None)
        if origin is not None and origin in self.waiting:
            self.waiting[origin].discard((session.link, request))
            if not self.waiting[origin]:
                self.finish_request(origin)

    def finish_request(self, origin: tuple[int, int]) -> None:
        """Send the session that asked the end of the answers."""
        self.waiting.pop(origin, None)
        if origin[0] in self.sessions:
            self.send(self.sessions[origin[0]], ResponseFinal(origin[1]))

    def forget(self, session: Session) -> None:
        """Give up the queries of a session that is gone."""
        for origin in [origin for origin in self.waiting if origin[0] == session.link]:
            del self.waiting[origin]
        # It answers no more, and who asked must not wait for it.
        for _link, request in [pending for pending in self.pending if pending[0] == session.link]:
            self.on_response_final(session, request)
