"""What a publisher may say, at random, and how a message of a test becomes a packet of that publisher.

As in ``fuzz/urbit/messages.py`` placeholders stand in a message for what is another in each play.
"""

from collections.abc import Sequence
from random import Random

import msgspec

from fuzz.net.moves import GivesCommand
from fuzz.urbit.messages import (
    BORDERS,
    GENUINE,
    LAST,
    MINE,
    NEXT,
    OTHERS,
    PACKET,
    PATHS,
    ROOT,
    Speech,
)
from fuzz.urbit.spelling import signed
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.ships import OTHER, PUBLISHER, SUBSCRIBER
from harness.urbit.tester.conversation import is_genuine
from wire.errors import DecodeError, EncodeError
from wire.urbit.values import (
    Ames,
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    read,
    with_checksum,
    write,
)

WANTED = ("a", "b")
"""Paths that a subscriber wants in each test: of these most is said."""

_DATA = (
    *(b"", b"x", b"a value", b"\0", b"\r\n", b"event got", b"\xff\xfe", "\u00e9".encode(), b"%s%n", b"\x1b[2J"),
    *(b"v" * FRAGMENT, b"v" * (FRAGMENT - 1), b"\n" * 40, b"\xf0\x9f\xa6\x80"),
)


class AnsweringSpeech(Speech):
    """What a publisher may say, at random."""

    def packet(self, body: Body) -> Packet:
        """Return a packet of the publisher."""
        return msgspec.structs.replace(super().packet(body), sender=PUBLISHER, receiver=SUBSCRIBER)

    def path(self) -> bytes:
        """Return a path, mostly one that is wanted."""
        random = self.random
        return ROOT + b"/" + (random.choice(WANTED) if random.random() < 0.6 else PATHS.text(random)).encode()

    def body(self) -> Body:
        """Return the body of a packet as a publisher might send it who speaks the protocol well."""
        random = self.random
        match random.choices(range(7), (12, 12, 9, 1, 1, 1, 1))[0]:
            case 0:
                session = self.session() if random.random() < 0.8 else random.getrandbits(64)
                return Promise(session, self.path(), self.fragment(), self.signature())
            case 1:
                total = random.choice((1, 1, 1, 2, 3)) if random.random() < 0.85 else random.choice(BORDERS[32])
                return ScryResponse(self.path(), self.fragment(), self.signature(), total, random.choice(_DATA))
            case 2:
                return HeartbeatResponse(self.session(), self.number(), random.random() < 0.6)
            case 3:
                return ScryRequest(self.path(), self.fragment(), self.signature())
            case 4:
                return HeartbeatRequest(self.session(), self.number())
            case 5:
                return Cancellation(self.path(), self.fragment(), self.signature())
            case _:
                return Ames(random.choice((b"", b"\0", bytes(FRAGMENT))), random.random() < 0.5)


def message(random: Random) -> bytes:
    """Return a message."""
    speech = AnsweringSpeech(random)
    return write(speech.packet(speech.body()))


def text(random: Random) -> bytes:
    """Return a message with a path that is broken, and signed nevertheless."""
    speech = AnsweringSpeech(random)
    path, fragment = speech.broken_path(), speech.fragment() if random.random() < 0.2 else 1
    # As much as a packet holds beside its path.
    body: Body = ScryResponse(path, fragment, GENUINE, 1, random.choice(_DATA)[: PACKET - len(path) - 128])
    if random.random() < 0.4:
        body = Promise(speech.session(), path, fragment, GENUINE)
    return write(speech.packet(body))


def frame(random: Random) -> bytes:
    """Return a datagram that no publisher would send."""
    speech = AnsweringSpeech(random)
    if random.random() < 0.5:
        return speech.odd_datagram()
    packet = speech.packet(speech.body())
    match random.randrange(4):
        case 0:
            packet = msgspec.structs.replace(packet, version=random.randrange(1, 8))
        case 1:
            packet = msgspec.structs.replace(packet, sender=SUBSCRIBER, receiver=PUBLISHER)
        case 2:
            packet = msgspec.structs.replace(packet, checksum=random.getrandbits(20))
        case _:
            packet = msgspec.structs.replace(packet, sender=OTHER)
    return write(packet)


def command(random: Random) -> GivesCommand:
    """Return that the application wants a path, or does not any more."""
    verb = "want" if random.random() < 0.65 else "drop"
    return GivesCommand(verb, (AnsweringSpeech(random).path().decode(),))


class PublishersSessions:
    """What a publisher knows of the subscriber's sessions: the ids that it has named last, the last heartbeat."""

    def __init__(self, id: int) -> None:
        self.id, self.last, self.number = id, (id + 1) % 2**64, 0

    def begun(self, id: int) -> None:
        """Take note of another session."""
        if id != self.id:
            self.id, self.last, self.number = id, self.id, 0


def spelt(data: bytes, root: bytes, known: PublishersSessions, held: bytes) -> bytes:
    """Return a message as the publisher says it; nothing that is ``held`` is told, as others wait for that."""
    data = data.replace(ROOT, root)
    try:
        packet = read(data)
        body = packet.body
        if isinstance(body, HeartbeatRequest | HeartbeatResponse | Promise):
            id = {MINE: known.id, LAST: known.last, OTHERS: known.id ^ 1}.get(body.session, body.session)
            changes = {"session": id}
            if not isinstance(body, Promise) and body.number == NEXT:
                changes["number"] = known.number
            body = msgspec.structs.replace(body, **changes)
        if isinstance(body, ScryResponse) and body.path == held:
            return data
        return write(msgspec.structs.replace(packet, body=signed(body, packet.sender), checksum=None))
    except (DecodeError, EncodeError):
        return with_checksum(data)


def unspelt(frame: bytes) -> Sequence[bytes]:
    """Return the message of a packet that a publisher has sent; none where it is no such packet."""
    try:
        packet = read(frame)
        body = packet.body
        if packet.sender != PUBLISHER or not isinstance(body, Promise | ScryResponse | HeartbeatResponse):
            return ()
        if isinstance(body, Promise | HeartbeatResponse):
            body = msgspec.structs.replace(body, session=MINE)
        if isinstance(body, HeartbeatResponse):
            body = msgspec.structs.replace(body, number=NEXT)
        else:
            path = ROOT + b"/" + body.path.rpartition(b"/")[2]
            signature = GENUINE if is_genuine(packet) else body.signature
            body = msgspec.structs.replace(body, path=path, signature=signature)
        return (write(msgspec.structs.replace(packet, body=body)),)
    except (DecodeError, EncodeError):
        return ()
