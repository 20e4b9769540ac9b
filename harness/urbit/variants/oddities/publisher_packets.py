"""Unusual, legal ways to read packets, and to write them."""

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.variants.registry import oddity
from wire.errors import DecodeError
from wire.urbit.values import Body, Packet, is_intact, read, with_checksum

LONGEST_EXTRA = 512


@oddity("URB-023", does="ignores what stands behind the end of a body")
class IgnoresExtras(Publisher):
    def admit(self, frame: bytes) -> Packet | None:
        if not is_intact(frame):
            return None
        for extra in range(min(LONGEST_EXTRA, len(frame))):
            try:
                read(with_checksum(frame[: len(frame) - extra]))
            except DecodeError:
                continue
            return super().admit(with_checksum(frame[: len(frame) - extra]))
        return None


@oddity("URB-136", does="takes any printable bytes for a path, and none as well")
class AnyPath(Publisher):
    def is_valid(self, body: Body) -> bool:
        path: bytes | None = getattr(body, "path", None)
        return super().is_valid(body) or (path is not None and all(byte < 128 for byte in path))


@oddity("URB-002", does="clears the bit that says that a packet is none of ames")
class SaysAmes(Publisher):
    def spell(self, packet: Packet) -> bytes:
        return super().spell(replace(packet, not_ames=False))
