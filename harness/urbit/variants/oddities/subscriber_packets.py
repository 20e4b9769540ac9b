"""Unusual subscribers: how they spell packets, which ones they take, and how often they cancel."""

from msgspec.structs import replace

from harness.urbit.peers.subscriber import Subscriber
from harness.urbit.variants.registry import oddity
from wire.errors import DecodeError
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryResponse,
    is_intact,
    read,
    write,
)

THERE = Origin(0x7F000001, 20000)


@oddity("URB-001", "URB-006", does="leaves bit 3 of the header clear in all packets")
class MarksNothing(Subscriber):
    def spell(self, packet: Packet) -> bytes:
        return write(replace(packet, not_ames=False))


@oddity("URB-010", does="sends packets with an origin, as if a relay had done so")
class SendsOrigins(Subscriber):
    def spell(self, packet: Packet) -> bytes:
        return write(replace(packet, origin=THERE))


@oddity("URB-011", does="has other ticks than 1")
class HasOtherTicks(Subscriber):
    def put(self, link: int, body: Body, to: object, **ticks: int) -> None:
        super().put(link, body, to, sender_tick=7, receiver_tick=12)  # type: ignore[arg-type]


@oddity("URB-023", does="ignores bytes behind the end of a body")
class IgnoresTrailingBytes(Subscriber):
    def admit(self, frame: bytes) -> Packet | None:
        found = super().admit(frame)
        if found is not None:
            return found
        for end in range(len(frame) - 1, 24, -1):
            try:
                packet = read(frame[:end])
            except DecodeError:
                continue
            if isinstance(packet.body, Promise | HeartbeatResponse) and self.is_sound(packet, frame):
                return packet
        return None

    def is_sound(self, packet: Packet, frame: bytes) -> bool:
        """Tell whether a packet is for this subscriber, and its checksum that of all that was sent."""
        return self.is_for_me(packet) and is_intact(frame)


@oddity("URB-024", does="drops responses without data whose number of fragments is short")
class DropsShortResponses(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.total_width == 4:
            super().on_response(response, now)


class CancelsAgain(Subscriber):
    """A subscriber that says more often than it has to that a value has come."""

    def cancel(self, path: bytes, fragment: int) -> None:
        super().cancel(path, fragment)
        super().cancel(path, fragment)


@oddity("URB-100", "URB-101", does="cancels each response twice")
class CancelsTwice(CancelsAgain):
    """It sends both at once."""


@oddity("URB-103", does="says nothing when it loses interest")
class DropsInSilence(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        out = list(self._out)
        super().drop(path, now)
        self._out = out


@oddity("URB-100", "URB-101", does="cancels a second after a response came")
class CancelsLater(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.later: list[tuple[float, bytes, int]] = []

    def on_response(self, response: ScryResponse, now: float) -> None:
        before = len(self._out)
        super().on_response(response, now)
        if len(self._out) > before:
            del self._out[before:]
            self.later.append((now + 1.0, response.path, response.fragment))

    def tick(self, now: float) -> None:
        due, self.later = (
            [each for each in self.later if each[0] <= now],
            [each for each in self.later if each[0] > now],
        )
        for _, path, fragment in due:
            self.cancel(path, fragment)
        super().tick(now)

    def next_tick(self) -> float | None:
        times = [each[0] for each in self.later]
        at = super().next_tick()
        return min(times if at is None else [at, *times], default=None)


@oddity("URB-111", does="cancels by the same bytes whenever it cancels a path")
class KeepsCancellations(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.kept: dict[tuple[bytes, int], Cancellation] = {}

    def cancel(self, path: bytes, fragment: int) -> None:
        kept = self.kept.get((path, fragment))
        if kept is None:
            super().cancel(path, fragment)
            body = read(self._out[-1][1] or b"").body
            assert isinstance(body, Cancellation)
            self.kept[path, fragment] = body
        else:
            self.say(kept)


@oddity("URB-101", "URB-144", does="means one cancellation for both of two responses that come at once")
class CancelsBothAtOnce(Subscriber):
    latest: tuple[bytes, float] | None = None

    def on_response(self, response: ScryResponse, now: float) -> None:
        if self.latest != (response.path, now):
            self.latest = response.path, now
            super().on_response(response, now)
