"""Faults of publishers against the rules of headers and preludes: what they take, and how they answer it."""

from typing import Any

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.ship import VERSION
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import cancellation_input
from wire.urbit.values import (
    Ames,
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    Ship,
    write,
)

HEADER_AND_ORIGIN = 10


@fault("URB-002", does="sends nacks as heartbeat requests")
class NacksByRequests(Publisher):
    def spell(self, packet: Packet) -> bytes:
        body = packet.body
        if isinstance(body, HeartbeatResponse) and not body.live:
            return write(replace(packet, body=HeartbeatRequest(body.session, body.number)))
        return super().spell(packet)


@fault("URB-002", does="answers cancellations of what is pending by cancellations")
class CancelsBack(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None and (cancellation.path, cancellation.fragment) in session.interests:
            self.put(session.link, cancellation, packet.sender)
        super().on_cancellation(packet, cancellation, now)


@fault("URB-002", does="takes a cancellation of what was never asked for as a request for it")
class TakesCancellationsForRequests(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        path, fragment = cancellation.path, cancellation.fragment
        if session is None or (path, fragment) in session.interests:
            super().on_cancellation(packet, cancellation, now)
        else:
            request = ScryRequest(path, fragment, cancellation.signature)
            self.on_request_of_none(packet, request, session.link, now)


@fault("URB-007", does="looks at no checksums")
class AnyChecksum(Publisher):
    def is_intact(self, packet: Packet) -> bool:
        return True


@fault("URB-007", does="looks at the low 16 bits of checksums")
class ShortChecksums(Publisher):
    def is_intact(self, packet: Packet) -> bool:
        right = int.from_bytes(write(replace(packet, checksum=None))[:4], "little") >> 11
        return packet.checksum is None or not (packet.checksum ^ right) & 0xFFFF


@fault("URB-007", does="takes a checksum of 0 for none")
class ZeroIsNoChecksum(Publisher):
    def is_intact(self, packet: Packet) -> bool:
        return not packet.checksum


@fault("URB-007", does="looks at the checksums of requests only")
class HeartbeatsUnchecked(Publisher):
    def is_intact(self, packet: Packet) -> bool:
        return isinstance(packet.body, HeartbeatRequest) or super().is_intact(packet)


@fault("URB-007", does="looks at no checksums of cancellations")
class CancellationsUnchecked(Publisher):
    def is_intact(self, packet: Packet) -> bool:
        return isinstance(packet.body, Cancellation) or super().is_intact(packet)


@fault("URB-008", does="takes packets of any version")
class AnyVersion(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, version=VERSION))


@fault("URB-008", does="takes packets of version 4")
class TwoBitsOfVersion(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, version=packet.version & 3))


@fault("URB-009", does="serves no comets")
class NoComets(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return packet.sender.rank < 3 and super().is_for_me(packet)


@fault("URB-009", does="serves no moons")
class NoMoons(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return packet.sender.rank != 2 and super().is_for_me(packet)


@fault("URB-009", does="serves no galaxies and stars")
class NoGalaxies(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return packet.sender.rank > 0 and super().is_for_me(packet)


@fault("URB-010", does="drops packets with an origin")
class NoOrigins(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return packet.origin is None and super().is_for_me(packet)


@fault("URB-010", does="drops heartbeats with an origin")
class NoRelayedHeartbeats(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        if packet.origin is None:
            super().on_heartbeat(packet, heartbeat, link, now)


@fault("URB-010", does="nacks heartbeats with an origin")
class NacksRelayedHeartbeats(Publisher):
    def recognised(self, packet: Packet, heartbeat: HeartbeatRequest, now: float) -> Any:
        return None if packet.origin is not None else super().recognised(packet, heartbeat, now)


@fault("URB-010", does="ignores cancellations with an origin")
class NoRelayedCancellations(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        return packet.origin is None and super().may_cancel(packet, cancellation)


@fault("URB-012", does="writes the numbers of galaxies as wide as those of planets")
class WideGalaxies(Publisher):
    def put(self, link: int, body: Body, to: Ship, **ticks: int) -> None:
        super().put(link, body, Ship(to.number, max(to.rank, 1)), **ticks)


@fault("URB-012", does="has the publisher's own number for both ships in nacks")
class NacksItself(Publisher):
    def put(self, link: int, body: Body, to: Ship, **ticks: int) -> None:
        is_nack = isinstance(body, HeartbeatResponse) and not body.live
        super().put(link, body, self.me if is_nack else to, **ticks)


@fault("URB-130", does="ends sessions at packets of ames")
class AmesEnds(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        super().take(packet, link, now)
        session = self.sessions.of_ship.get(packet.sender)
        if isinstance(packet.body, Ames) and session is not None:
            self.sessions.kill(session)


@fault("URB-130", does="follows packets of ames")
class FollowsAmes(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        super().take(packet, link, now)
        session = self.sessions.of_ship.get(packet.sender)
        if isinstance(packet.body, Ames) and session is not None:
            self.follow(session, packet, link)


@fault("URB-130", does="dies of a packet of ames without data")
class DiesOfEmptyAmes(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        super().take(packet, link, now)
        if isinstance(packet.body, Ames) and not packet.body.data:
            raise IndexError(link)


@fault("URB-131", does="ends a session at a nack")
class EndsAtNacks(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        super().take(packet, link, now)
        match packet.body:
            case HeartbeatResponse(session=id, live=False) if id in self.sessions.of_id:
                self.sessions.kill(self.sessions.of_id[id])


@fault("URB-131", does="takes heartbeat responses for requests")
class TakesResponsesForRequests(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        body = packet.body
        if isinstance(body, HeartbeatResponse):
            self.on_heartbeat(packet, HeartbeatRequest(body.session, body.number), link, now)
        else:
            super().take(packet, link, now)


@fault("URB-131", does="opens sessions for promises that it is sent")
class TakesPromises(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        body = packet.body
        if isinstance(body, Promise) and body.session not in self.sessions.of_id:
            self.sessions.of_id[body.session] = self.session_for(packet, link, now)
        else:
            super().take(packet, link, now)


@fault("URB-131", does="forgets promises of what others promise")
class YieldsToPromises(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        body, session = packet.body, self.sessions.of_ship.get(packet.sender)
        if isinstance(body, Promise) and session is not None and (body.path, body.fragment) in session.interests:
            self.sessions.release(session.interests[body.path, body.fragment])
        else:
            super().take(packet, link, now)


@fault("URB-132", does="takes packets for any ship")
class AnyReceiver(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, receiver=self.me))


@fault("URB-132", does="compares the low 16 bits of ships' numbers")
class ShortReceivers(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        is_mine = packet.receiver.number & 0xFFFF == self.me.number
        return super().is_for_me(replace(packet, receiver=self.me) if is_mine else packet)


@fault("URB-132", does="lets cancellations count that are for other ships")
class AnybodysCancellations(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        body = packet.body
        if isinstance(body, Cancellation):
            signed = cancellation_input(body.path, body.fragment)
            return self.is_signed_by(packet.sender, body.signature, signed)
        return super().is_for_me(packet)


@fault("URB-142", does="dies of datagrams that are shorter than a header")
class DiesOfLittle(Publisher):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if int.from_bytes(frame, "little") >> 8 == 0 and frame[2] > 0:
            return
        super().received(link, frame, now)


@fault("URB-142", does="dies of an origin that is cut")
class DiesOfHalfAnOrigin(Publisher):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if 4 <= len(frame) < HEADER_AND_ORIGIN and not frame[3] & 0x80:
            raise IndexError(len(frame))
        super().received(link, frame, now)


@fault("URB-142", does="tells of a cut prelude by a nack")
class NacksHalves(Publisher):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if len(frame) in range(5, 11) and frame[3] & 0x80:
            self.put(link, HeartbeatResponse(0, len(frame), live=False), self.me)
        super().received(link, frame, now)
