"""Faults of both roles in how packets are spelled: header, prelude and layout of bodies, which any record shows."""

from abc import abstractmethod

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.ship import ShipPeer
from harness.urbit.peers.subscriber import Subscriber
from harness.urbit.variants.registry import fault
from wire.urbit.checksums import MASK, checksum
from wire.urbit.signatures import cancellation_input
from wire.urbit.values import (
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    covered,
    with_checksum,
    write,
)

PRELUDE = 4 + 1 + 2
"""Bytes before the number of a receiver that a galaxy sends something."""


class Misspells(ShipPeer):
    """A peer that spells packets of one kind in another way."""

    form: type = object

    def spell(self, packet: Packet) -> bytes:
        return self.misspelt(packet) if isinstance(packet.body, self.form) else super().spell(packet)

    @abstractmethod
    def misspelt(self, packet: Packet) -> bytes:
        """Return the bytes of a packet of that kind."""


def body_of(packet: Packet) -> int:
    """Return where the body of a packet without an origin begins."""
    return 4 + 1 + (2 << packet.sender.rank) + (2 << packet.receiver.rank)


def with_body(packet: Packet, body: bytes) -> bytes:
    """Return a packet with other bytes in the place of its body."""
    frame = write(packet)
    return with_checksum(frame[: body_of(packet)] + body)


def spelt_body(packet: Packet) -> bytes:
    """Return the bytes of a packet's body."""
    frame = write(packet)
    return frame[body_of(packet) :]


# --- header and prelude -----------------------------------------------------------------------------------


@fault("URB-001", does="sends heartbeats in the name of another ship")
class BeatsForAnother(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, sender=Ship.of(packet.sender.number + 1)))


@fault("URB-001", does="leaves the prelude out of heartbeat responses")
class LeavesThePreludeOut(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        return with_checksum(write(packet)[:PRELUDE])


@fault("URB-002", does="has the type of heartbeats in bits 1 to 3")
class PlacesTypesHigher(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        frame = write(packet)
        return bytes((frame[0] & ~0xF | 0b100 << 1,)) + frame[1:]


@fault("URB-006", does="sends cancellations of version 1")
class CancelsInVersion1(Misspells, Subscriber):
    form = Cancellation

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, version=1))


@fault("URB-006", does="writes the numbers of galaxies in four bytes")
class WritesWideNumbers(Misspells, Subscriber):
    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, sender=Ship(packet.sender.number, 1), receiver=Ship(packet.receiver.number, 1)))


@fault("URB-006", does="sends promises of version 1")
class PromisesInVersion1(Misspells, Publisher):
    form = Promise

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, version=1))


@fault("URB-011", does="leaves the ticks of answers as they were in the request")
class SwapsNoTicks(Publisher):
    def spell(self, packet: Packet) -> bytes:
        mine, others = packet.sender_tick, packet.receiver_tick
        return super().spell(replace(packet, sender_tick=others, receiver_tick=mine))


@fault("URB-011", does="has 1 for both ticks of heartbeat responses")
class HasOneForTicks(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, sender_tick=1, receiver_tick=1))


@fault("URB-150", does="leaves zero bytes at the end out of its checksums")
class TrimsForChecksums(Misspells, Subscriber):
    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, checksum=checksum(covered(write(packet)).rstrip(b"\0"))))


@fault("URB-150", does="has the checksum of cancellations cover the header")
class CoversTheHeader(Misspells, Subscriber):
    form = Cancellation

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, checksum=checksum(write(replace(packet, checksum=0)))))


@fault("URB-150", does="sends scry responses without a checksum")
class SendsNoChecksum(Misspells, Publisher):
    form = ScryResponse

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, checksum=0))


@fault("URB-150", does="adds bytes up for a checksum")
class AddsBytesUp(Misspells, Publisher):
    form = Promise

    def misspelt(self, packet: Packet) -> bytes:
        return write(replace(packet, checksum=sum(covered(write(packet))) & MASK))


# --- bodies -----------------------------------------------------------------------------------------------


@fault("URB-013", does="signs heartbeats")
class SignsHeartbeats(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body + self.sign(body))


@fault("URB-013", does="writes numbers of heartbeats in four bytes")
class WritesShortNumbers(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        return with_body(packet, spelt_body(packet)[:12])


@fault("URB-014", does="signs heartbeat responses")
class SignsAnswers(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body + self.sign(body))


@fault("URB-014", does="writes live in eight bytes")
class WritesLiveAsANumber(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        return with_body(packet, spelt_body(packet) + bytes(7))


@fault("URB-015", does="sets all bits of live in nacks")
class SetsThePadding(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        body = packet.body
        assert isinstance(body, HeartbeatResponse)
        return write(replace(packet, body=replace(body, padding=0 if body.live else 0x7F)))


@fault("URB-015", does="has the highest bit of live say what the lowest does")
class SaysLiveTwice(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        body = packet.body
        assert isinstance(body, HeartbeatResponse)
        return write(replace(packet, body=replace(body, padding=0x40 * (not body.live))))


@fault("URB-016", does="leaves the fragment out of cancellations")
class CancelsNoFragment(Misspells, Subscriber):
    form = Cancellation

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:64] + body[68:])


@fault("URB-017", does="leaves the signature out of promises")
class PromisesWithoutSignatures(Misspells, Publisher):
    form = Promise

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:8] + body[72:])


@fault("URB-018", does="counts a zero at the end of a cancelled path that is not there")
class CountsOneMore(Misspells, Subscriber):
    form = Cancellation

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        length = int.from_bytes(body[68:70], "little") + 1
        return with_body(packet, body[:68] + length.to_bytes(2, "little") + body[70:])


@fault("URB-018", does="ends a promised path with a zero that it does not count")
class EndsPathsWithZero(Misspells, Publisher):
    form = Promise

    def misspelt(self, packet: Packet) -> bytes:
        return with_body(packet, spelt_body(packet) + b"\0")


class SetsHighBits(Misspells):
    """A peer that sets the highest bit of a path's last byte."""

    def misspelt(self, packet: Packet) -> bytes:
        body = packet.body
        assert isinstance(body, Cancellation | ScryResponse)
        path = body.path[:-1] + bytes((body.path[-1] | 0x80,))
        return write(replace(packet, body=replace(body, path=path)))


@fault("URB-019", does="sets the highest bit of the last byte of a path that it cancels")
class CancelsHighBits(SetsHighBits, Subscriber):
    form = Cancellation


@fault("URB-019", does="sets the highest bit of the last byte of a path that it tells")
class TellsHighBits(SetsHighBits, Publisher):
    form = ScryResponse


@fault("URB-020", does="lays requests out as remote scry does of late: a tag instead of the signature")
class AsksWithTags(Misspells, Subscriber):
    form = ScryRequest

    def misspelt(self, packet: Packet) -> bytes:
        return with_body(packet, b"\0" + spelt_body(packet)[64:])


@fault("URB-021", does="lays responses out as requests are: the signature first")
class TellsSignaturesFirst(Misspells, Publisher):
    form = ScryResponse

    def misspelt(self, packet: Packet) -> bytes:
        body, length = spelt_body(packet), len(packet.body.path) if isinstance(packet.body, ScryResponse) else 0
        begin, signature, content = body[: 6 + length], body[6 + length : 70 + length], body[70 + length :]
        return with_body(packet, signature + begin + content)


@fault("URB-022", does="sends numbers of heartbeats most significant byte first")
class NumbersFromTheOtherEnd(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:8] + body[8:][::-1])


@fault("URB-022", does="sends ids of sessions most significant byte first")
class IdsFromTheOtherEnd(Misspells, Subscriber):
    form = HeartbeatRequest

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:8][::-1] + body[8:])


@fault("URB-022", does="sends the fragments of promises most significant byte first")
class FragmentsFromTheOtherEnd(Misspells, Publisher):
    form = Promise

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:72] + body[72:76][::-1] + body[76:])


@fault("URB-022", does="sends the numbers of heartbeat responses most significant byte first")
class AnswersFromTheOtherEnd(Misspells, Publisher):
    form = HeartbeatResponse

    def misspelt(self, packet: Packet) -> bytes:
        body = spelt_body(packet)
        return with_body(packet, body[:8] + body[8:16][::-1] + body[16:])


@fault("URB-151", does="signs requests as cancellations")
class SignsRequestsAsCancellations(Misspells, Subscriber):
    form = ScryRequest

    def misspelt(self, packet: Packet) -> bytes:
        body = packet.body
        assert isinstance(body, ScryRequest)
        signature = self.sign(cancellation_input(body.path, body.fragment))
        return write(replace(packet, body=replace(body, signature=signature)))


@fault("URB-151", does="signs requests by what is no signature")
class MakesSignaturesUp(Misspells, Subscriber):
    form = ScryRequest

    def misspelt(self, packet: Packet) -> bytes:
        body = packet.body
        assert isinstance(body, ScryRequest)
        return write(replace(packet, body=replace(body, signature=bytes(range(64)))))
