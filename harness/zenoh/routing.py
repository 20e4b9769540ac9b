"""Where data goes: the part of the reference router that subscriber and queryable declarations are made for."""

from harness.zenoh.face import Entity, Face
from wire.zenoh.extensions import TARGET
from wire.zenoh.keys import intersects, resolve
from wire.zenoh.messages import Kind, NetworkMessage, Push, Request, Response, ResponseFinal, WireExpr

ALL_COMPLETE = 2
"""The value of the Target extension that asks complete queryables only."""


class Routing:
    """The forwarding tables of a router; ``faces`` are its sessions."""

    faces: dict[int, Face]

    def __init__(self) -> None:
        self.next_request = 1
        self.pending: dict[tuple[int, int], tuple[int, int]] = {}
        self.waiting: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def send(self, face: Face, message: NetworkMessage) -> None:
        """Send one network message to a session."""

    def on_data(self, face: Face, message: Push | Request | Response | ResponseFinal) -> None:
        """Forward a data message."""
        match message:
            case Push():
                self.on_push(face, message)
            case Request():
                self.on_request(face, message)
            case Response():
                self.on_response(face, message)
            case ResponseFinal():
                self.on_response_final(face, message.id)

    def on_push(self, face: Face, message: Push) -> None:
        """Forward data to every other session with a matching subscriber, once each."""
        key = resolve(message.key, face.theirs, face.mine)
        if key is None:
            return
        for other in self.faces.values():
            if other is not face and any(self.subscribes(entity, key) for entity in other.entities.values()):
                self.send(other, Push(WireExpr(key), message.payload))

    def subscribes(self, entity: Entity, key: str) -> bool:
        """Tell whether an entity is a subscriber that data on a key is for."""
        return entity.kind is Kind.SUBSCRIBER and intersects(entity.key, key)

    def on_request(self, face: Face, message: Request) -> None:
        """Forward a query to the sessions that can answer it; none can: say so at once."""
        key = resolve(message.key, face.theirs, face.mine)
        targets = [other for other in self.faces.values() if other is not face and self.answers(other, key, message)]
        origin = (face.link, message.id)
        self.waiting[origin] = set()
        for other in targets:
            forwarded = (other.link, self.next_request)
            self.next_request += 1
            self.pending[forwarded] = origin
            self.waiting[origin].add(forwarded)
            self.send(other, Request(forwarded[1], WireExpr(key), message.parameters, message.extensions))
        if not targets:
            self.finish_request(origin)

    def answers(self, face: Face, key: str | None, message: Request) -> bool:
        """Tell whether a session has a queryable for a query."""
        target = next((extension.value for extension in message.extensions if extension.is_(TARGET)), 0)
        return key is not None and any(
            entity.kind is Kind.QUERYABLE and intersects(entity.key, key) and self.is_target(entity, target)
            for entity in face.entities.values()
        )

    def is_target(self, entity: Entity, target: object) -> bool:
        """Tell whether a queryable is among those that a query's target asks."""
        return target != ALL_COMPLETE or entity.complete

    def on_response(self, face: Face, message: Response) -> None:
        """Bring an answer back to who asked."""
        origin = self.pending.get((face.link, message.id))
        key = resolve(message.key, face.theirs, face.mine)
        if origin is not None and origin[0] in self.faces and key is not None:
            answer = Response(origin[1], WireExpr(key), message.payload, message.error)
            self.send(self.faces[origin[0]], answer)

    def on_response_final(self, face: Face, request: int) -> None:
        """Note that a session has answered; the last one ends the query."""
        origin = self.pending.pop((face.link, request), None)
        if origin is not None and origin in self.waiting:
            self.waiting[origin].discard((face.link, request))
            if not self.waiting[origin]:
                self.finish_request(origin)

    def finish_request(self, origin: tuple[int, int]) -> None:
        """Tell who asked that no more answers come."""
        self.waiting.pop(origin, None)
        if origin[0] in self.faces:
            self.send(self.faces[origin[0]], ResponseFinal(origin[1]))

    def forget(self, face: Face) -> None:
        """Give up the queries of a session that is gone."""
        for origin in [origin for origin in self.waiting if origin[0] == face.link]:
            del self.waiting[origin]
        for _link, request in [pending for pending in self.pending if pending[0] == face.link]:
            self.on_response_final(face, request)
