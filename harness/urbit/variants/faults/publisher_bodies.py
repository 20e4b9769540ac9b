"""Faults of publishers against the rules of bodies: cut, too long, with odd paths, badly signed, or doubled."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import Datum, PromisedDatum
from harness.urbit.variants.registry import fault
from wire.errors import DecodeError
from wire.urbit.signatures import request_input
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    Packet,
    ScryRequest,
    Ship,
    is_intact,
    read,
    with_checksum,
)

LONGEST_EXTRA = 512


class Mending(Publisher):
    """What takes packets that are none is made of this."""

    @abstractmethod
    def mended(self, frame: bytes) -> Packet | None:
        """Return what an intact datagram is taken for that is no packet."""

    def first(self, frame: bytes, change: Callable[[bytes, int], bytes]) -> Packet | None:
        """Return the first packet that comes of changing a datagram more and more."""
        for count in range(1, LONGEST_EXTRA):
            try:
                return read(with_checksum(change(frame, count)))
            except DecodeError:
                continue
        return None

    def admit(self, frame: bytes) -> Packet | None:
        try:
            read(frame)
        except DecodeError:
            packet = self.mended(frame) if is_intact(frame) else None
            return packet if packet is not None and self.is_for_me(packet) and self.is_valid(packet.body) else None
        return super().admit(frame)


@fault("URB-023", does="takes what stands behind a path for a part of it")
class LongerPaths(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        packet = self.first(frame, lambda frame, count: frame[:-count])
        if packet is None or not isinstance(packet.body, ScryRequest):
            return None
        path = frame[frame.rfind(packet.body.path) :]
        return replace(packet, body=replace(packet.body, path=path))

    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        return True


@fault("URB-023", does="ends a session at a heartbeat with bytes behind it")
class EndsAtExtras(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        packet = self.first(frame, lambda frame, count: frame[:-count])
        if packet is not None and isinstance(packet.body, HeartbeatRequest):
            session = self.sessions.of_id.get(packet.body.session)
            if session is not None:
                self.sessions.kill(session)
        return None


@fault("URB-023", does="dies of more than it expects")
class DiesOfExtras(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        if self.first(frame, lambda frame, count: frame[:-count]) is not None:
            raise ValueError(len(frame))
        return None


@fault("URB-024", does="reads zeros where a body has ended")
class FillsUpWithZeros(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        return self.first(frame, lambda frame, count: frame + bytes(count))


@fault("URB-024", does="takes a path for what is there of it")
class TakesHalfAPath(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        packet = self.first(frame, lambda frame, count: frame + b"~" * count)
        if packet is None or not isinstance(packet.body, ScryRequest | Cancellation):
            return None
        return replace(packet, body=replace(packet.body, path=packet.body.path.rstrip(b"~")))

    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        return True


@fault("URB-024", does="looks at nothing but the type, the ships and the beginning of a cancellation")
class CancelsByHalves(Mending):
    def mended(self, frame: bytes) -> Packet | None:
        packet = self.first(frame, lambda frame, count: frame + b"~" * count)
        if packet is not None and isinstance(packet.body, Cancellation):
            session = self.sessions.of_ship.get(packet.sender)
            for interest in [] if session is None else [*session.interests.values()]:
                self.sessions.release(interest)
        return None


@fault("URB-135", does="takes any bytes for a path")
class AnyBytes(Publisher):
    def is_valid(self, body: Body) -> bool:
        path: bytes | None = getattr(body, "path", None)
        return super().is_valid(body) or (path is not None and any(byte > 127 for byte in path))


@fault("URB-136", does="dies of an empty path")
class DiesOfNoPath(Publisher):
    def is_valid(self, body: Body) -> bool:
        path: bytes | None = getattr(body, "path", None)
        return super().is_valid(body) and (path is None or path[0] == ord("/"))

    def admit(self, frame: bytes) -> Packet | None:
        if len(frame) > 15 and frame.endswith(b"\1\0\0\0\0\0"):
            raise IndexError(len(frame))
        return super().admit(frame)


class Formless(Publisher):
    """What makes something of paths without form is made of this."""

    def is_valid(self, body: Body) -> bool:
        is_valid = super().is_valid(body)
        if isinstance(body, ScryRequest) and not is_valid and all(byte < 128 for byte in body.path):
            self.on_formless(body)
        return is_valid

    @abstractmethod
    def on_formless(self, request: ScryRequest) -> None:
        """Act on a request for one."""


@fault("URB-136", does="ends all sessions at a path that is longer than it can be")
class EndsAtLongPaths(Formless):
    def on_formless(self, request: ScryRequest) -> None:
        if len(request.path) > 384:
            for session in [*self.sessions.of_ship.values()]:
                self.sessions.kill(session)


@fault("URB-136", does="says nothing more to anybody who has asked for control characters")
class SulksAtControls(Formless):
    is_sulking = False

    def on_formless(self, request: ScryRequest) -> None:
        self.is_sulking = self.is_sulking or b"\1" in request.path

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        if not self.is_sulking:
            super().on_request_of_none(packet, request, link, now)


@fault("URB-144", does="counts requests, and wants as many cancellations")
class CountsRequests(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.counts: dict[PromisedDatum, int] = {}

    def promise(self, interest: PromisedDatum) -> Any:
        self.counts[interest] = self.counts.get(interest, 0) + 1
        return super().promise(interest)

    def release(self, interest: PromisedDatum) -> None:
        self.counts[interest] = self.counts.get(interest, 0) - 1
        if interest.gap or not self.counts[interest]:
            super().release(interest)


@fault("URB-144", does="opens another session for a request that comes twice")
class AnotherIdForTwice(Publisher):
    last: tuple[Ship, Datum] | None = None

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        this = packet.sender, (request.path, request.fragment)
        session = self.sessions.of_ship.get(packet.sender)
        if this == self.last and session is not None:
            self.sessions.kill(session)
        self.last = this
        super().on_request_of_none(packet, request, link, now)


@fault("URB-144", does="takes a heartbeat that comes twice for an attack, and ends the session")
class EndsAtTwice(Publisher):
    def is_new(self, session: Any, heartbeat: HeartbeatRequest) -> bool:
        if heartbeat.number == session.number:
            self.sessions.kill(session)
            return False
        return super().is_new(session, heartbeat)


@fault("URB-144", does="keeps a second cancellation for the next promise")
class KeepsSecondCancellations(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: set[tuple[Ship, Datum]] = set()
        self.cancelled: set[tuple[Ship, Datum]] = set()

    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        this = packet.sender, (cancellation.path, cancellation.fragment)
        (self.kept if this in self.cancelled else self.cancelled).add(this)
        super().on_cancellation(packet, cancellation, now)

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if (interest.session.ship, interest.datum) not in self.kept:
            super().keep(interest, now)


class Badly(Publisher):
    """What makes something of requests with wrong signatures is made of this."""

    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        signed = request_input(request.path, request.fragment)
        is_genuine = self.is_signed_by(packet.sender, request.signature, signed)
        if not is_genuine:
            self.on_forged(packet, request)
        return is_genuine

    @abstractmethod
    def on_forged(self, packet: Packet, request: ScryRequest) -> None:
        """Act on a request that its sender has not signed."""


@fault("URB-148", does="forgets a promise when it is asked for again with a wrong signature")
class ForgetsForForgeries(Badly):
    def on_forged(self, packet: Packet, request: ScryRequest) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        interest = None if session is None else session.interests.get((request.path, request.fragment))
        if interest is not None:
            self.sessions.release(interest)


@fault("URB-148", does="ends the session of a ship in whose name something is forged")
class EndsAtForgeries(Badly):
    def on_forged(self, packet: Packet, request: ScryRequest) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None:
            self.sessions.kill(session)
