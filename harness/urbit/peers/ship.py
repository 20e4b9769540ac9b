"""What both peers are: a ship that takes packets which are meant for it, signs, and speaks to addresses.

A link is an address, and as datagrams can be sent from any, one is forgotten at once by which nobody is known: whoever
floods a ship from forged addresses leaves nothing behind.
"""

from abc import abstractmethod
from collections.abc import Iterator

from harness.peers.peer import HANG_UP, Peer
from harness.urbit.ships import key_of, public_key_of
from wire.errors import DecodeError
from wire.urbit.signatures import verifies
from wire.urbit.values import Body, Packet, Ship, path_is_valid, read, write

VERSION = 0
"""Of the protocol of packets, of which the document's are a kind."""

FRAGMENT = 1024
"""Bytes of a value that one response holds."""


class ShipPeer(Peer):
    """A peer that is a ship: it takes packets, and puts out others."""

    def __init__(self, me: Ship, *, profile: str = "document") -> None:
        self.me = me
        self.profile = profile
        self._out: list[tuple[int, bytes | None]] = []
        self._met: dict[int, None] = {}
        """Links that have spoken or been left since ``drain``: those that are not needed are forgotten there."""

    # --- links --------------------------------------------------------------------------------------------

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of nothing: who has an address has said nothing yet."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        self._met[link] = None
        packet = self.admit(frame)
        if packet is not None:
            self.take(packet, link, now)

    def disconnected(self, link: int, now: float) -> None:
        """Take note of nothing: an address is none that could leave."""

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        out, self._out = self._out, []
        yield from out
        met, self._met = self._met, {}
        yield from ((link, HANG_UP) for link in met if not self.needs(link))

    def left(self, link: int) -> None:
        """Take note that nobody is at a link any more."""
        self._met[link] = None

    def needs(self, link: int) -> bool:
        """Tell whether something may still have to be said at an address."""
        return True

    # --- packets ------------------------------------------------------------------------------------------

    def admit(self, frame: bytes) -> Packet | None:
        """Return the packet of a frame if it is whole, valid and for this ship; whatever else comes is dropped."""
        try:
            packet = read(frame)
        except DecodeError:
            return None
        return packet if self.is_intact(packet) and self.is_for_me(packet) and self.is_valid(packet.body) else None

    def is_intact(self, packet: Packet) -> bool:
        """Tell whether a packet has the checksum that belongs there."""
        return packet.checksum is None

    def is_for_me(self, packet: Packet) -> bool:
        """Tell whether a packet is of this protocol, from somebody, and addressed to this ship."""
        return packet.version == VERSION and packet.sender.fits and packet.receiver == self.me

    def is_valid(self, body: Body) -> bool:
        """Tell whether what a body names can exist: paths have a grammar, and fragments count from 1."""
        path, fragment = getattr(body, "path", None), getattr(body, "fragment", 1)
        return fragment > 0 and (path is None or path_is_valid(path))

    @abstractmethod
    def take(self, packet: Packet, link: int, now: float) -> None:
        """Act on a packet that is meant for this ship."""

    def put(self, link: int, body: Body, to: Ship, *, sender_tick: int = 1, receiver_tick: int = 1) -> None:
        """Send a packet to a ship, at an address."""
        packet = Packet(body, self.me, to, sender_tick=sender_tick, receiver_tick=receiver_tick)
        self._out.append((link, self.spell(packet)))

    def spell(self, packet: Packet) -> bytes:
        """Return the bytes of a packet."""
        return write(packet)

    # --- signatures ---------------------------------------------------------------------------------------

    def sign(self, data: bytes) -> bytes:
        """Sign as this ship."""
        return key_of(self.me).sign(data)

    def is_signed_by(self, ship: Ship, signature: bytes, data: bytes) -> bool:
        """Tell whether a ship has signed something."""
        return verifies(public_key_of(ship), signature, data)
