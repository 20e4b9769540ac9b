"""Faults of a subscriber: which packets it takes."""

from abc import abstractmethod
from collections.abc import Iterator

from msgspec.structs import replace

from harness.urbit.peers.ship import VERSION
from harness.urbit.peers.subscriber import Subscriber
from harness.urbit.variants.registry import fault
from wire.errors import DecodeError
from wire.urbit.values import (
    Ames,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Ship,
    read,
    with_checksum,
)

TYPES = range(8)
RESPONSE = 0b001
PROTOCOLS = 0b110


@fault("URB-007", does="looks at no checksum")
class TakesAnyChecksum(Subscriber):
    def is_intact(self, packet: Packet) -> bool:
        return True


@fault("URB-007", does="takes the checksum 0 for none")
class TakesNoChecksum(Subscriber):
    def is_intact(self, packet: Packet) -> bool:
        return packet.checksum == 0 or super().is_intact(packet)


@fault("URB-008", does="looks at no version")
class TakesAnyVersion(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, version=VERSION))


@fault("URB-008", does="looks at the lowest bit of a version")
class TakesEvenVersions(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, version=packet.version & 1))


@fault("URB-010", does="drops what is relayed")
class DropsWhatIsRelayed(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        return packet.origin is None and super().is_for_me(packet)


class Rereads(Subscriber):
    """A subscriber that also reads frames in other ways than as they are."""

    @abstractmethod
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        """Yield the frames that it takes one for, if the one is no good."""

    def admit(self, frame: bytes) -> Packet | None:
        found = super().admit(frame)
        for other in () if found is not None and self.is_mine(found) else self.rereads(frame):
            again = super().admit(other)
            if again is not None and self.is_mine(again):
                return again
        return found

    def is_mine(self, packet: Packet) -> bool:
        """Tell whether a packet is one that a subscriber acts upon."""
        return not isinstance(packet.body, Ames | HeartbeatRequest | Cancellation)


@fault("URB-010", does="has the checksum cover the origin")
class CoversTheOrigin(Subscriber):
    def admit(self, frame: bytes) -> Packet | None:
        if len(frame) > 4 and not frame[3] & 0x80:
            return None
        return super().admit(frame)


@fault("URB-002", does="looks at no direction")
class LooksAtNoDirection(Rereads):
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        if frame:
            yield bytes((frame[0] | RESPONSE,)) + frame[1:]


@fault("URB-002", does="tells heartbeats and promises apart by their length")
class TellsTypesByLength(Rereads):
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        if frame:
            for other in (0b101, 0b111):
                yield bytes((frame[0] & ~PROTOCOLS | other,)) + frame[1:]


@fault("URB-023", does="drops its session when bytes stand behind a body")
class EndsAtTrailingBytes(Subscriber):
    def admit(self, frame: bytes) -> Packet | None:
        try:
            read(frame)
        except DecodeError as error:
            if error.reason.value == "trailing":
                self.session = None
        return super().admit(frame)


@fault("URB-024", does="fills a packet up that is too short")
class FillsUpShortPackets(Rereads):
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        if len(frame) > 9:
            for count in (1, 2, 3, 9):
                yield with_checksum(frame + count * b"\1")


@fault("URB-024", does="takes an answer to a heartbeat that ends before live for a nack")
class TakesCutAnswersForNacks(Rereads):
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        if len(frame) == 9 + 16 and frame[0] & 7 == 0b101:
            yield with_checksum(frame + b"\1")


@fault("URB-142", does="drops its session when a packet ends within its prelude")
class EndsAtShortPackets(Subscriber):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if 4 < len(frame) < 9:
            self.session = None
        super().received(link, frame, now)


@fault("URB-142", does="dies of a packet that ends within its header")
class DiesOfShortPackets(Subscriber):
    def received(self, link: int, frame: bytes, now: float) -> None:
        if len(frame) < 4:
            raise ValueError(f"{len(frame)} bytes are no header")
        super().received(link, frame, now)


@fault("URB-132", does="takes packets for whichever ship")
class TakesPacketsForAll(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        return super().is_for_me(replace(packet, receiver=self.me))


@fault("URB-132", does="looks at the low 16 bits of who a packet is for")
class ComparesShortNumbers(Subscriber):
    def is_for_me(self, packet: Packet) -> bool:
        low = Ship(packet.receiver.number & 0xFFFF, 0)
        return super().is_for_me(replace(packet, receiver=low))


@fault("URB-130", does="reads packets of ames as packets of heartbeats")
class ReadsAmesAsHeartbeats(Rereads):
    def rereads(self, frame: bytes) -> Iterator[bytes]:
        if frame and frame[0] & PROTOCOLS == 0b010:
            yield bytes((frame[0] & ~PROTOCOLS | 0b100,)) + frame[1:]


@fault("URB-130", does="drops its session when a packet of ames comes")
class EndsAtAmes(Subscriber):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, Ames):
            self.session = None
        super().take(packet, link, now)


@fault("URB-131", does="wants nothing any more that somebody cancels")
class TakesCancellations(Subscriber):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, Cancellation):
            self.wants.pop(packet.body.path, None)
        super().take(packet, link, now)


@fault("URB-131", does="takes heartbeat requests for answers that say no")
class TakesHeartbeatRequests(Subscriber):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, HeartbeatRequest):
            self.on_answer(HeartbeatResponse(packet.body.session, packet.body.number, live=False), now)
        super().take(packet, link, now)


@fault("URB-131", does="goes on behind the number of a heartbeat that it is sent")
class TakesNumbersOfRequests(Subscriber):
    def take(self, packet: Packet, link: int, now: float) -> None:
        if isinstance(packet.body, HeartbeatRequest) and self.session is not None:
            self.session.number = 0
        super().take(packet, link, now)
