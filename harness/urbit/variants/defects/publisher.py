"""Defects of publishers. None shows in a case of the suite: each wants something that the document does not speak of.

Each calls what it overrides, so that one publisher can have all of them.
"""

import os
import time
from fnmatch import fnmatchcase

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.variants.registry import defect
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
)

LONG = 60.0
"""Seconds for which a publisher that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of a heartbeat that was relayed, and comes from nowhere")
class DiesOfNowhere(Publisher):
    def follow(self, session: Session, packet: Packet, link: int) -> None:
        if packet.origin is not None and not packet.origin.address and not packet.origin.port:
            raise OSError("nobody can be told anything there")
        super().follow(session, packet, link)


@defect("parser", does="dies of a scry response of no fragments")
class DiesOfNoFragments(Publisher):
    def is_valid(self, body: Body) -> bool:
        if isinstance(body, ScryResponse):
            # How much of it has come, in percent: as it is told to whoever waits.
            100 * body.fragment // body.total
        return super().is_valid(body)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies of a cancellation from an address that its session has left")
class DiesOfALeftAddress(Publisher):
    def follow(self, session: Session, packet: Packet, link: int) -> None:
        if link != session.link:
            vars(self).setdefault("left_links", {}).setdefault(session.id, set()).add(session.link)
        super().follow(session, packet, link)

    def take(self, packet: Packet, link: int, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if isinstance(packet.body, Cancellation) and session is not None and link != session.link:
            gone: set[int] = vars(self).get("left_links", {}).get(session.id, set())
            if link in gone:
                raise ReferenceError("the address is gone")
        super().take(packet, link, now)


@defect("state", does="dies of a heartbeat behind the one with the highest number")
class DiesBehindTheLastNumber(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        session = self.recognised(packet, heartbeat, now)
        if session is not None:
            (session.number + 1).to_bytes(8, "little")
        super().on_heartbeat(packet, heartbeat, link, now)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a cancelled path that it takes for a format")
class DiesOfAFormat(Publisher):
    def may_cancel(self, packet: Packet, cancellation: Cancellation) -> bool:
        # What it writes into its log, as a C program would.
        if b"%n" in cancellation.path:
            raise BufferError("%n writes to where there is nothing")
        return super().may_cancel(packet, cancellation)


@defect("text", does="dies of a path of more than 128 segments")
class DiesOfManySegments(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        segments: list[bytes] = [b""] * 129
        for place, segment in enumerate(request.path.split(b"/")):
            segments[place] = segment
        super().on_request_of_none(packet, request, link, now)


@defect("text", does="dies of a path that fills its buffer to the last byte")
class DiesOfTheLongestPath(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        buffer = bytearray(384)
        buffer[: len(cancellation.path)] = cancellation.path
        # The zero at the end of a C string.
        buffer[len(cancellation.path)] = 0
        super().on_cancellation(packet, cancellation, now)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each request that is signed wrongly")
class LeaksDescriptors(Publisher):
    def has_signed(self, packet: Packet, request: ScryRequest) -> bool:
        right = super().has_signed(packet, request)
        if not right:
            vars(self).setdefault("opened", []).append(os.dup(2))
        return right


@defect("resource", does="keeps what it has read of a cancellation of somebody without a session")
class KeepsWhatItHasRead(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        if packet.sender not in self.sessions.of_ship:
            vars(self).setdefault("read", []).append(b"\1" * (2 << 20))
        super().on_cancellation(packet, cancellation, now)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs of a path in which a segment is a dot")
class HangsOfADot(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        if b"." in request.path.split(b"/"):
            time.sleep(LONG)  # takes them out, until there are none
        super().on_request_of_none(packet, request, link, now)


@defect("hang", does="hangs of a request for a far fragment of a value that has some")
class HangsOfAFarFragment(Publisher):
    def response(self, path: bytes, fragment: int) -> ScryResponse | None:
        if fragment >= 1 << 31 and len(self.values[path]) > FRAGMENT:
            time.sleep(LONG)  # reads on to it, fragment by fragment
        return super().response(path, fragment)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="takes away what others were promised when somebody without a session cancels a later fragment")
class CancelsForOthers(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        if packet.sender not in self.sessions.of_ship and cancellation.fragment > 2:
            for interest in list(self.sessions.waiting.get(cancellation.path, ())):
                self.sessions.release(interest)
        super().on_cancellation(packet, cancellation, now)


@defect("harm", does="takes a cancelled path for a pattern, and takes away from all what it matches")
class CancelsByPattern(Publisher):
    def on_cancellation(self, packet: Packet, cancellation: Cancellation, now: float) -> None:
        # Not as other defects have it: who died of theirs here would with none of them alone.
        if b"*" in cancellation.path and Publisher.may_cancel(self, packet, cancellation):
            pattern = cancellation.path.decode()
            for path in [each for each in self.sessions.waiting if fnmatchcase(each.decode(), pattern)]:
                for interest in list(self.sessions.waiting.get(path, ())):
                    self.sessions.release(interest)
        super().on_cancellation(packet, cancellation, now)


@defect("harm", does="ends the session of another ship whose number ends like that of one that comes")
class KnowsShipsByTheirEnds(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        for other in list(self.sessions.of_ship.values()):
            if other is not session and self.end_of(other.ship) == self.end_of(session.ship):
                self.sessions.kill(other)
        return session

    def end_of(self, ship: Ship) -> tuple[int, int]:
        """Return by what it knows a ship: its rank, and the star under which it is."""
        return ship.rank, ship.number & 0xFFFF


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="tells nobody of anything any more once a value has more fragments than it has places for")
class TellsNobody(Publisher):
    def grow(self, path: bytes, value: bytes, now: float) -> None:
        waiting = self.sessions.waiting.get(path)
        if waiting and len(value) > 32 * FRAGMENT:
            vars(self)["is_stuck"] = True
        super().grow(path, value, now)

    def keep(self, interest: PromisedDatum, now: float) -> None:
        if not vars(self).get("is_stuck"):
            super().keep(interest, now)


@defect("service", does="believes a heartbeat that says that its keys are newer, and drops what knows the older ones")
class BelievesInNewerKeys(Publisher):
    def is_for_me(self, packet: Packet) -> bool:
        life: int = vars(self).get("life", 0)
        return super().is_for_me(packet) and packet.receiver_tick >= life

    def follow(self, session: Session, packet: Packet, link: int) -> None:
        if packet.receiver_tick == 15:
            vars(self)["life"] = 15
        super().follow(session, packet, link)


@defect("service", does="promises nothing any more once it was sent a promise, in a session, of what it has itself")
class PromisesNothing(Publisher):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, Promise) and packet.body.path in self.values:
            session = self.sessions.of_id.get(packet.body.session)
            if session is not None and session.ship == packet.sender:
                vars(self)["subscribes"] = True
        super().take(packet, link, now)

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        if not vars(self).get("subscribes"):
            super().on_request_of_none(packet, request, link, now)
