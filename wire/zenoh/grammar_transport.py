"""The transport below the documents: what a tester needs to reach a node. The layouts are the field's."""

from construct import If, Struct, Switch, this

from wire.primitives import VLE, Bits, Blob, Bytes, Empty, Header, LimitedTo, Messages, OneOf, Refused, Rest, Unsigned
from wire.zenoh.grammar_extensions import UNIT, Z64, ZBUF, extensions
from wire.zenoh.grammar_network import network_message

VERSION = 0x09

oam = "T_OAM" / Struct(
    "header" / Header(0x00, Z=7, encoding=(6, 5)),
    "id" / VLE(16),
    "extensions" / If(this.header.Z, extensions),
    "body"
    / Switch(
        this.header.encoding,
        {Z64: VLE(64), ZBUF: Blob(32), UNIT: Empty()},
        default=Refused("OAM encoding 0b11 is reserved"),
    ),
)

# INIT SYN (A == 0) and ACK (A == 1); S: the sizes are given
init = "INIT" / Struct(
    "header" / Header(0x01, Z=7, S=6, A=5),
    "version" / Unsigned(1),
    "node" / Bits(zid_length=(7, 4), whatami=(1, 0)),
    "zid" / Bytes(this.node.zid_length + 1),
    "resolution" / If(this.header.S, Bits(request_id=(3, 2), frame_sn=(1, 0))),
    "batch_size" / If(this.header.S, Unsigned(2)),
    "cookie" / If(this.header.A, Blob(16)),
    "extensions" / If(this.header.Z, extensions),
)

# OPEN SYN (A == 0) and ACK (A == 1); T: the lease is in seconds, else in milliseconds
open_ = "OPEN" / Struct(
    "header" / Header(0x02, Z=7, T=6, A=5),
    "lease" / VLE(64),
    "initial_sn" / VLE(32),
    "cookie" / If(this.header.A == 0, Blob(16)),
    "extensions" / If(this.header.Z, extensions),
)

# CLOSE; S: the whole session, else this link
close = "CLOSE" / Struct(
    "header" / Header(0x03, Z=7, S=5),
    "reason" / Unsigned(1),
    "extensions" / If(this.header.Z, extensions),
)

keep_alive = "KEEP_ALIVE" / Struct(
    "header" / Header(0x04, Z=7),
    "extensions" / If(this.header.Z, extensions),
)

# FRAME; R says: reliable
frame = "FRAME" / Struct(
    "header" / Header(0x05, Z=7, R=5),
    "sn" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
    "messages" / Messages(network_message),
)

# FRAGMENT; R: reliable, M: more fragments follow
fragment = "FRAGMENT" / Struct(
    "header" / Header(0x06, Z=7, M=6, R=5),
    "sn" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
    "data" / Rest(),
)

BATCH_SIZE = 65535
"""Bytes: the length before a batch on TCP has 16 bits."""

messages = OneOf(oam, init, open_, close, keep_alive, frame, fragment)

transport_message = LimitedTo(BATCH_SIZE, messages)

# What one TCP frame or one UDP datagram holds
batch = LimitedTo(BATCH_SIZE, Messages(messages, to_end=True))

# What a chain of fragments holds together
network_messages = Messages(network_message, to_end=True)
