"""Messages of Urbit at random: about few paths, sessions and numbers, so that they have to do with each other.

A message is a packet in which placeholders stand for what is another in each play: who sends it, what is signed by him,
the ids of sessions, and the first segment of paths. ``fuzz/urbit/spelling.py`` puts in what they stand for.
"""

from random import Random

from fuzz.net.moves import GivesCommand
from fuzz.net.texts import NUMEROUS, TextLanguage
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.ships import OTHER, PUBLISHER, SUBSCRIBER, key_of
from wire.urbit.signatures import cancellation_input, request_input
from wire.urbit.values import (
    LONGEST_PATH,
    Ames,
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Origin,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    with_checksum,
    write,
)

ROOT = b"/0000000"
"""The first segment of a test's paths: each play has one of its own, as a value that is there once never changes."""

HELD = "held"
"""A path below it that those who stay are promised: tests talk of it too, and are not to take it away from them."""

ME = SUBSCRIBER
"""The sender of a message: the ship of whoever says it."""

GENUINE, AS_REQUEST, BY_ANOTHER = bytes(64), b"\x01" * 64, b"\x02" * 64
"""Signatures: the right one, that of a request for the same, that of another ship."""

MINE, OTHERS, LAST = 1, 2, 3
"""Sessions: that of whoever says it, that of another ship of the test, the one before."""

NEXT = 0x7E787E
"""The number of a heartbeat: the one behind the last of its ship."""

MARKS = (
    *(".", "..", "/.", "/..", "//", "*", "?", "%", "%n", "{}", "$", "\\", "[", "(", "'", "|", "&"),
    *("~", "~zod", "#", "+", ":", "=", "@"),
)
"""What means something to shells, formats, patterns and URLs, or to Urbit's own paths, and nothing here."""

PATHS = TextLanguage(
    "/",
    (),
    MARKS,
    (HELD, "a", "b", "c", "ab", "1", "x", "*"),
    foreign=tuple(each for each in MARKS if "/" not in each),
    longest=LONGEST_PATH - len(ROOT) - len("/"),
)

FEW, OFTEN = 3, 0.4
"""How many names a large share of all paths is one of, and that share."""

BORDERS = {
    32: (0, 4, 8, 9, 16, 255, 256, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF),
    64: (0, 0xFF, 0x100, 0xFFFFFFFF, 1 << 32, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1),
}
"""Numbers at which a type may end, by the bits that a field has."""

PLACES = (0x7F000001, 0, 0xFFFFFFFF, 0xE0000001, 0x08080808)
PORTS = (0, 1, 53, 31337, 65535)
"""Where a relayed packet may say to come from: this machine, nowhere, everywhere, a group, somebody else."""

VALUES = (0, 0, 1, 12, 12, FRAGMENT - 1, FRAGMENT, FRAGMENT + 1, 2 * FRAGMENT, 5000, 9000, 16 * FRAGMENT + 1, 40_000)
"""Bytes of values: of no fragment to many."""

PACKET = 2048
"""Bytes that runtimes have for a datagram."""

BROKEN = 1800
"""Bytes of a path at most, for its packet to be one."""


class Speech:
    """What a ship may say, at random."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def packet(self, body: Body) -> Packet:
        """Return a packet: mostly in the usual way, else with other ticks, or as one that was relayed."""
        random = self.random
        ticks = (1, 1)
        if random.random() < 0.03:
            ticks = random.choice((0, 1, 2, 14, 15)), random.choice((0, 1, 2, 14, 15))
        origin = Origin(random.choice(PLACES), random.choice(PORTS)) if random.random() < 0.05 else None
        return Packet(body, ME, PUBLISHER, sender_tick=ticks[0], receiver_tick=ticks[1], origin=origin)

    def body(self) -> Body:
        """Return the body of a packet as somebody might send it who speaks the protocol well."""
        random = self.random
        match random.choices(range(7), (16, 12, 9, 1, 1, 1, 1))[0]:
            case 0:
                return ScryRequest(self.path(), self.fragment(), self.signature())
            case 1:
                return HeartbeatRequest(self.session(), self.number())
            case 2:
                return Cancellation(self.path(), self.fragment(), self.signature())
            case 3:
                return Promise(self.session(), self.path(), self.fragment(), self.signature())
            case 4:
                data = random.choice((b"", b"x", b"a value", bytes(FRAGMENT)))
                total = random.choice((1, 1, 2, 3)) if random.random() < 0.7 else random.choice(BORDERS[32])
                return ScryResponse(self.path(), self.fragment(), self.signature(), total, data)
            case 5:
                return HeartbeatResponse(self.session(), self.number(), random.random() < 0.5)
            case _:
                return Ames(random.choice((b"", b"\0", b"hello", bytes(FRAGMENT))), random.random() < 0.5)

    def path(self) -> bytes:
        """Return a path: often one of few, since what is promised is to be told, and told again, and cancelled."""
        random = self.random
        text = random.choice(PATHS.names[:FEW]) if random.random() < OFTEN else PATHS.text(random)
        return ROOT + b"/" + text.encode()

    def fragment(self) -> int:
        """Return the number of a fragment: mostly that of the first."""
        random = self.random
        return random.choice((1, 1, 1, 1, 1, 1, 2, 2, 3)) if random.random() < 0.93 else random.choice(BORDERS[32])

    def signature(self) -> bytes:
        """Return a signature: mostly the right one."""
        random = self.random
        if random.random() < 0.92:
            return GENUINE
        return random.choice((AS_REQUEST, BY_ANOTHER, random.randbytes(64), b"\xff" * 64))

    def session(self) -> int:
        """Return the id of a session: mostly one's own."""
        random = self.random
        if random.random() < 0.92:
            return random.choice((MINE, MINE, MINE, MINE, MINE, MINE, OTHERS, LAST))
        return random.choice((*BORDERS[64], random.getrandbits(64)))

    def number(self) -> int:
        """Return the number of a heartbeat: mostly the next one."""
        random = self.random
        if random.random() < 0.95:
            return random.choice((NEXT, NEXT, NEXT, NEXT, 1, 2, 3))
        return random.choice(BORDERS[64])

    def broken_path(self) -> bytes:
        """Return a path that is broken, or as long as it may just be."""
        random = self.random
        kind = random.random()
        if kind < 0.85:
            return (ROOT + b"/" + PATHS.broken(random))[:BROKEN]
        if kind < 0.93:
            return PATHS.broken(random)[:BROKEN]
        size = LONGEST_PATH + random.choice((-2, -1, 0, 0, 1, 2))
        fill = random.choice((b"a", b"a/", b"/ab", b"%"))
        return (ROOT + b"/" + fill * size)[: size - 1] + b"x"

    # --- frames -----------------------------------------------------------------------------------------------

    def odd_packet(self) -> bytes:
        """Return a packet that no ship would send: of another version, to another ship, with another checksum."""
        random, body = self.random, self.body()
        sender, receiver, version, checksum, not_ames = ME, PUBLISHER, 0, None, None
        match random.randrange(6):
            case 0:
                version = random.randrange(1, 8)
            case 1:
                receiver = random.choice(
                    (ME, OTHER, Ship.of(PUBLISHER.number + 1), Ship.of(1 << 40 | PUBLISHER.number))
                )
            case 2:
                checksum = random.choice((0, 1, 0xFFFFF, random.getrandbits(20)))
            case 3:
                # Of a rank that is higher than its number needs.
                sender = Ship(ME.number, random.randrange(1, 4))
            case 4:
                not_ames = random.random() < 0.5
            case _:
                sender = random.choice((PUBLISHER, Ship.of(0), Ship.of(0xFFFF), Ship.of((1 << 128) - 1)))
        if isinstance(body, ScryRequest | Cancellation):
            # What is signed rightly is looked at further.
            signed = request_input if isinstance(body, ScryRequest) else cancellation_input
            body = type(body)(body.path, body.fragment, key_of(sender).sign(signed(body.path, body.fragment)))
        return write(
            Packet(body, sender, receiver, version=version, checksum=checksum, not_ames=not_ames),
        )

    def odd_datagram(self) -> bytes:
        """Return a datagram that is hardly a packet."""
        random = self.random
        data = write(self.packet(self.body()))
        match random.randrange(5):
            case 0:
                return data[: random.randrange(len(data) + 1)]
            case 1:
                return with_checksum(data[: random.randrange(4, len(data) + 1)])
            case 2:
                size = random.choice((PACKET - 1, PACKET, PACKET + 1, 4096, 9000, 65_000))
                return with_checksum(data.ljust(size, random.choice((b"\0", b"a", b"/"))))
            case 3:
                return with_checksum(random.randbytes(4) + data[4:])
            case _:
                return random.randbytes(random.choice((0, 1, 3, 4, 5, 11, 64)))


def message(random: Random) -> bytes:
    """Return a message."""
    speech = Speech(random)
    return write(speech.packet(speech.body()))


def text(random: Random) -> bytes:
    """Return a message with a path that is broken, and signed nevertheless."""
    speech = Speech(random)
    path, fragment = speech.broken_path(), speech.fragment() if random.random() < 0.2 else 1
    body: Body
    match random.choices(range(4), (8, 4, 1, 1))[0]:
        case 0:
            body = ScryRequest(path, fragment, GENUINE)
        case 1:
            body = Cancellation(path, fragment, GENUINE)
        case 2:
            body = Promise(speech.session(), path, fragment, GENUINE)
        case _:
            body = ScryResponse(path, fragment, GENUINE, 1, b"x")
    return write(speech.packet(body))


def series(random: Random) -> list[bytes]:
    """Return packets that are alike but for the path, or the fragment, that each is about; or not even for that."""
    speech = Speech(random)
    path = ROOT + b"/" + random.choice(PATHS.names).encode()
    numbers = range(1, random.choice(NUMEROUS) + 1)
    bodies: list[Body]
    match random.randrange(4):
        case 0:
            bodies = [ScryRequest(b"%b/%d" % (path, each), 1, GENUINE) for each in numbers]
        case 1:
            bodies = [ScryRequest(path, each, GENUINE) for each in numbers]
        case 2:
            bodies = [Cancellation(b"%b/%d" % (path, each), 1, GENUINE) for each in numbers]
        case _:
            bodies = [HeartbeatRequest(MINE, NEXT)] * len(numbers)
    return [write(speech.packet(each)) for each in bodies]


def frame(random: Random) -> bytes:
    """Return a datagram that no session would send."""
    speech = Speech(random)
    return speech.odd_packet() if random.random() < 0.6 else speech.odd_datagram()


def command(random: Random) -> GivesCommand:
    """Return that a value grows at a path."""
    size = random.choice(VALUES)
    path = Speech(random).path().decode()
    return GivesCommand("grow", (path, "v" * size) if size else (path,))
