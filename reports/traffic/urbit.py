"""What may differ from one session of Urbit to the next: ships, session ids, paths and values.

What was right stays right: checksums are computed anew, and who has signed signs anew, as another ship if it has become
one. What was forged or damaged stays so.
"""

from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from harness.urbit.ships import key_of
from harness.urbit.tester.conversation import is_genuine, signed_part
from harness.urbit.tester.node_under_test import count_ships_anew
from harness.urbit.tester.subscriber import count_sessions_anew
from reports.traffic.variation import SessionDraw, VariableFields
from wire.errors import DecodeError, EncodeError
from wire.urbit import values
from wire.urbit.values import Ship, path_is_valid

SESSION_SIZE = 8
"""Bytes of a session's id."""

SEED = "session ids"
_RANDOM = Random(SEED)

SETTINGS: dict[str, Any] = {"draw": lambda: _RANDOM.getrandbits(8 * SESSION_SIZE)}
"""With what the peers are made, so that a play is the same each time."""


def begin() -> None:
    """Have the next play draw the session ids that the one before drew, and be of the same ships."""
    _RANDOM.seed(SEED)
    count_ships_anew()
    count_sessions_anew()


def read(frame: bytes) -> Any:
    """Return a packet with what may differ in it beside it; ValueError when it is none."""
    try:
        packet = values.read(frame)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    body = packet.body
    path = getattr(body, "path", None)
    return {
        "packet": packet,
        "is_genuine": bool(is_genuine(packet)),
        "sender": packet.sender.number,
        "receiver": packet.receiver.number,
        "session": getattr(body, "session", None),
        # What is no path may be wrong by any of its bytes.
        "path": path.decode("ascii") if path is not None and path_is_valid(path) else None,
        "data": getattr(body, "data", None),
    }


def write(value: Any) -> bytes:
    """Return the frame of a packet; ValueError when it does not fit."""
    packet = value["packet"]
    found = {name: value[name] for name in ("session", "data") if value[name] is not None}
    if value["path"] is not None:
        found["path"] = value["path"].encode()
    body = msgspec.structs.replace(packet.body, **found)
    sender = Ship(value["sender"], packet.sender.rank)
    if value["is_genuine"]:
        body = msgspec.structs.replace(body, signature=_signature(sender, signed_part(body)))
    receiver = Ship(value["receiver"], packet.receiver.rank)
    try:
        return values.write(msgspec.structs.replace(packet, body=body, sender=sender, receiver=receiver))
    except EncodeError as error:
        raise ValueError(str(error)) from error


@lru_cache(maxsize=64)  # of one session: a request, a response or a promise that is repeated is signed once
def _signature(ship: Ship, signed: bytes) -> bytes:
    return key_of(ship).sign(signed)


def places(value: Any, by_dialler: bool, found: VariableFields) -> None:
    """Name the ships of a packet, its session, its path and its data."""
    packet = value["packet"]
    for name, ship in (("sender", packet.sender), ("receiver", packet.receiver)):
        found.number(value, name, "ship", _most(ship))
    if (session := value["session"]) is not None:
        found.built(value, "session", (), lambda draw: _redrawn(session, draw))
    found.text(value, "path")
    found.blob(value, "data")


def _most(ship: Ship) -> int:
    """Return the largest number that fits a ship's rank, or does not, as the one that it has."""
    bits = 16 << ship.rank if ship.fits else 8 << ship.rank
    return (1 << bits) - 1


def _redrawn(session: int, draw: SessionDraw) -> int:
    return int.from_bytes(draw.blob(session.to_bytes(SESSION_SIZE, "little")), "little")
