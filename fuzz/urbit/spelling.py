"""Spelling: messages with what their placeholders stand for in a play, and back from what was captured of one."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from fuzz.urbit.messages import AS_REQUEST, BY_ANOTHER, GENUINE, ME, MINE, NEXT, ROOT
from harness.urbit.ships import OTHER, PUBLISHER, key_of
from harness.urbit.tester.conversation import is_genuine, signed_part
from wire.errors import DecodeError, EncodeError
from wire.urbit.signatures import request_input
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    Ship,
    read,
    with_checksum,
    write,
)

HIGHEST = (1 << 64) - 1


class KnownSessions:
    """What a ship knows of its sessions with the publisher, whichever address it speaks from.

    ``id`` is that of the session in which something was promised to it last, ``last`` the one before, ``number`` the
    highest of its heartbeats.
    """

    def __init__(self) -> None:
        self.id: int | None = None
        self.last: int | None = None
        self.number = 0

    def promised(self, id: int) -> None:
        """Take note of a promise."""
        if id != self.id:
            self.id, self.last, self.number = id, self.id, 0

    def beats(self, number: int) -> int:
        """Return the number that a heartbeat has, and take note of it."""
        said = min(self.number + 1, HIGHEST) if number == NEXT else number
        self.number = max(self.number, said)
        return said


def spelt(data: bytes, root: bytes, me: Ship, known: KnownSessions, meant: Callable[[int], int | None]) -> bytes:
    """Return a message as a ship says it; ``meant`` returns the id of the session that a placeholder stands for.

    What is no packet is said as it is, with the checksum that belongs there: it is to be looked at.
    """
    data = data.replace(ROOT, root)
    try:
        packet = read(data)
        body = _in_its_session(packet.body, known, meant)
        sender = me if packet.sender == ME else packet.sender
        return write(msgspec.structs.replace(packet, body=signed(body, sender), sender=sender, checksum=None))
    except (DecodeError, EncodeError):
        return with_checksum(data)


def _in_its_session(body: Body, known: KnownSessions, meant: Callable[[int], int | None]) -> Body:
    if not isinstance(body, HeartbeatRequest | HeartbeatResponse | Promise):
        return body
    found = meant(body.session)
    changes: dict[str, Any] = {} if found is None else {"session": found}
    if isinstance(body, HeartbeatRequest):
        is_own = found is not None and found == known.id
        changes["number"] = known.beats(body.number) if is_own else 1 if body.number == NEXT else body.number
    return msgspec.structs.replace(body, **changes) if changes else body


def signed(body: Body, sender: Ship) -> Body:
    """Return a body with the signature that its placeholder stands for, if it has one."""
    signature = getattr(body, "signature", None)
    if signature not in (GENUINE, AS_REQUEST, BY_ANOTHER):
        return body
    part = signed_part(body)
    assert part is not None
    if signature == AS_REQUEST and isinstance(body, Cancellation):
        part = request_input(body.path, body.fragment)
    signer = OTHER if signature == BY_ANOTHER else sender
    return msgspec.structs.replace(body, signature=key_of(signer).sign(part))


def unspelt(frame: bytes) -> Sequence[bytes]:
    """Return the message of a packet that a subscriber has sent; none where it is no such packet."""
    try:
        packet = read(frame)
        body = packet.body
        if packet.receiver != PUBLISHER or not isinstance(body, ScryRequest | HeartbeatRequest | Cancellation):
            return ()
        if isinstance(body, HeartbeatRequest):
            body = HeartbeatRequest(MINE, body.number)
        else:
            body = _without_play(packet, body)
        return (write(msgspec.structs.replace(packet, body=body, sender=ME)),)
    except (DecodeError, EncodeError):
        return ()


def _without_play(packet: Packet, body: ScryRequest | Cancellation) -> Body:
    """Return the body of a packet without what belongs to the play that it was said in."""
    _, slash, rest = body.path[1:].partition(b"/")
    path = ROOT + slash + rest if body.path.startswith(b"/") and rest else body.path
    signature = GENUINE if is_genuine(packet) else body.signature
    return msgspec.structs.replace(body, path=path, signature=signature)
