"""The state of a session of Urbit, as the two ships have said it so far.

The monitors read it; the walk has it see each packet after they were called (``conformance/monitors.py``).

A conversation is what two addresses say, and a ship may have several: what is asked from one may be told at another.
And datagrams get lost on their way to the node, which are in the record, and on their way from it, which are not. So a
monitor takes for missing only what the node itself must have heard here.
"""

from collections.abc import Iterator

from conformance.monitors import SessionEnd
from harness.trace import Direction
from harness.urbit.tester.conversation import Conversation
from harness.urbit.tester.events import Event, RefusedPacket
from wire.urbit.values import (
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
)

OF_SUBSCRIBERS = (ScryRequest, HeartbeatRequest, Cancellation)
"""What only subscribers send."""

OF_PUBLISHERS = (ScryResponse, HeartbeatResponse, Promise)
"""What only publishers send."""

Route = tuple[Ship, Ship]
"""Who sends and who is sent something."""

Ticks = tuple[int, int]
"""The sender's, and the receiver's."""


class SessionState:
    """What was asked, promised and told between two addresses, up to a packet.

    ``asked``, ``beats`` and ``told`` are of the tester's side: what the node was asked, by whom and with which ticks.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        said = {event.form for event in conversation.events if event.direction is Direction.RECEIVED}
        self.role = ""
        """Whether the implementation is the ``subscriber`` or the ``publisher``; empty where it is both, or neither."""
        if said.isdisjoint(OF_PUBLISHERS) and not said.isdisjoint(OF_SUBSCRIBERS):
            self.role = "subscriber"
        elif said.isdisjoint(OF_SUBSCRIBERS) and not said.isdisjoint(OF_PUBLISHERS):
            self.role = "publisher"

        self.asked: dict[tuple[bytes, int], dict[Route, set[Ticks]]] = {}
        """Requests, by path and fragment."""
        self.asked_at: dict[tuple[bytes, int, Route], float] = {}
        """When each was asked first, by path, fragment and who has asked whom."""
        self.asked_paths: set[bytes] = set()
        self.beats: dict[tuple[int, int], dict[Route, set[Ticks]]] = {}
        """Heartbeats, by session and number."""
        self.beat_times: dict[tuple[int, int], list[float]] = {}
        self.ticks: dict[Route, set[Ticks]] = {}
        """With which ticks each ship has said anything."""
        self.told: dict[int, Event] = {}
        """The first promise that the node was sent in each session."""

        self.promised: dict[int, Event] = {}
        """The first promise that the node has sent in each session."""
        self.sessions: dict[Ship, list[Event]] = {}
        """The promises that the node has sent to each ship."""
        self.heartbeats: dict[int, list[Event]] = {}
        """The heartbeats of each session that the node has sent."""
        self.answers: dict[tuple[int, int], list[Event]] = {}
        """The answers to heartbeats that the node has sent, by session and number."""

    @property
    def is_keyed(self) -> bool:
        """Whether the keys are known by which ships sign."""
        return self.conversation.is_keyed

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""
        if event.direction is Direction.SENT:
            self._see_sent(event)
        else:
            self._see_received(event)

    def _see_sent(self, event: Event) -> None:
        packet = event.packet
        route, ticks = route_of(packet), (packet.sender_tick, packet.receiver_tick)
        self.ticks.setdefault(route, set()).add(ticks)
        match packet.body:
            case ScryRequest(path=path, fragment=fragment):
                self.asked.setdefault((path, fragment), {}).setdefault(route, set()).add(ticks)
                self.asked_at.setdefault((path, fragment, route), event.time)
                self.asked_paths.add(path)
            case HeartbeatRequest(session=session, number=number):
                self.beats.setdefault((session, number), {}).setdefault(route, set()).add(ticks)
                self.beat_times.setdefault((session, number), []).append(event.time)
            case Promise(session=session):
                self.told.setdefault(session, event)

    def _see_received(self, event: Event) -> None:
        match event.packet.body:
            case Promise(session=session):
                self.promised.setdefault(session, event)
                self.sessions.setdefault(event.packet.receiver, []).append(event)
            case HeartbeatRequest(session=session):
                self.heartbeats.setdefault(session, []).append(event)
            case HeartbeatResponse(session=session, number=number):
                self.answers.setdefault((session, number), []).append(event)

    def asked_for(self, promise: Event) -> float | None:
        """Return when a ship first asked here for what it is promised; ``None`` where it did elsewhere."""
        body = promise.packet.body
        assert isinstance(body, Promise)
        return self.asked_at.get((body.path, body.fragment, answered_route(promise.packet)))

    def ending(self) -> Iterator[RefusedPacket | SessionEnd]:
        """Yield the datagrams that are no packets, and the end of the session."""
        yield from self.conversation.refusals
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)


def route_of(packet: Packet) -> Route:
    """Return who sends a packet, and to whom."""
    return packet.sender, packet.receiver


def answered_route(packet: Packet) -> Route:
    """Return who must have asked, and whom, for a packet to be an answer."""
    return packet.receiver, packet.sender


def answered_ticks(packet: Packet) -> Ticks:
    """Return the ticks of what a packet answers."""
    return packet.receiver_tick, packet.sender_tick
