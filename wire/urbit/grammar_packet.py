"""A packet: ``[header prelude body]``, of which the document draws the bodies (section "Packet Types").

The header and the prelude are those of Ames, version 0, as Urbit's runtimes write them; the body of a scry response is
the remote scry protocol's. The three bits that say which kind of packet it is are the lowest (reading A01), all
integers are little-endian (reading A03), and nothing stands behind a body (reading A15).
"""

from typing import Any

from construct import If, Struct, Switch, this

from wire.primitives import Bits, Bytes, Grammar, LimitedTo, Rest, SelectedBy, Unsigned, Word

PACKET_SIZE = 2048
"""Bytes: what runtimes have for a datagram that they receive."""

SIGNATURE_SIZE = 64


def address(rank: Any) -> Grammar:
    """Declare the number of a ship: of 2 bytes (galaxies and stars), 4 (planets), 8 (moons) or 16 (comets)."""
    return Switch(rank, {0: Unsigned(2), 1: Unsigned(4), 2: Unsigned(8), 3: Bytes(16)})


# "%scry is the remote scry protocol"; its request, signed ("the same as a normal scry request")
scry_fore = "scry_fore" / Struct(
    "signature" / Bytes(SIGNATURE_SIZE),
    "fragment" / Unsigned(4),
    "path_length" / Unsigned(2),
    "path" / Bytes(this.path_length),
)

# The number of fragments and the data of one; that number is shorter than four bytes where there is no data
scry_back = "scry_back" / Struct(
    "fragment" / Unsigned(4),
    "path_length" / Unsigned(2),
    "path" / Bytes(this.path_length),
    "signature" / Bytes(SIGNATURE_SIZE),
    "content" / Rest(),
)

# "%ames is the command protocol": what its packets hold is not the document's
ames_fore = "ames_fore" / Struct("data" / Rest())
ames_back = "ames_back" / Struct("data" / Rest())

# Heartbeat Request Body
beat_fore = "beat_fore" / Struct(
    "session" / Unsigned(8),
    "number" / Unsigned(8),
)

# Heartbeat Response Body; live == 0 says yes, as all flags here do (reading A05)
beat_back = "beat_back" / Struct(
    "session" / Unsigned(8),
    "number" / Unsigned(8),
    "live" / Bits(live=0),
)

# Scry Cancellation Request ([%bond %fore]) Body
bond_fore = "bond_fore" / Struct(
    "signature" / Bytes(SIGNATURE_SIZE),
    "fragment" / Unsigned(4),
    "path_length" / Unsigned(2),
    "path" / Bytes(this.path_length),
)

# Scry Promise ([%bond %back]) Body
bond_back = "bond_back" / Struct(
    "session" / Unsigned(8),
    "signature" / Bytes(SIGNATURE_SIZE),
    "fragment" / Unsigned(4),
    "path_length" / Unsigned(2),
    "path" / Bytes(this.path_length),
)

# Packet Types: the first bit says whether it is a response, the next two which protocol it is part of
BODIES = {
    0b000: scry_fore,
    0b001: scry_back,
    0b010: ames_fore,
    0b011: ames_back,
    0b100: beat_fore,
    0b101: beat_back,
    0b110: bond_fore,
    0b111: bond_back,
}

# not_ames == 0 and direct == 0 say yes: it is one of Ames, it was relayed and so has its origin
packet = LimitedTo(
    PACKET_SIZE,
    Struct(
        "header"
        / Word(
            4,
            type=(2, 0),
            not_ames=3,
            version=(6, 4),
            sender_rank=(8, 7),
            receiver_rank=(10, 9),
            checksum=(30, 11),
            direct=31,
        ),
        "origin" / If(this.header.direct == 0, Struct("address" / Unsigned(4), "port" / Unsigned(2))),
        "ticks" / Bits(receiver=(7, 4), sender=(3, 0)),
        "sender" / address(this.header.sender_rank),
        "receiver" / address(this.header.receiver_rank),
        "body" / SelectedBy(this.header.type, BODIES),
    ),
)
