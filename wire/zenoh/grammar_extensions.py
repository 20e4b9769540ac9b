"""Extensions: the chain that follows a message whose Z flag is set, and the extensions that have a name.

The documents give each extension's id, type and M column; the header byte's layout is the field's (the
documents do not draw it): Z in bit 7, the encoding in bits 6:5, M(andatory) in bit 4, the id in bits 3:0.
"""

from typing import NamedTuple

from construct import Pass, Struct, Switch, this

from wire.primitives import VLE, Bits, Blob, ChainOf, Refused, RestText, Text

UNIT, Z64, ZBUF = 0, 1, 2

extension = Struct(
    "header" / Bits(Z=7, encoding=(6, 5), M=4, id=(3, 0)),
    "value"
    / Switch(
        this.header.encoding,
        {UNIT: Pass, Z64: VLE(64), ZBUF: Blob(32)},
        default=Refused("extension encoding 0b11 is reserved"),
    ),
)

extensions = ChainOf(extension)


class Known(NamedTuple):
    """An extension that a document names: its id, encoding, M column and name."""

    id: int
    encoding: int
    mandatory: bool
    name: str


# Of zenoh-interests, section "INTEREST Extensions", and of zenoh-declarations, "DECLARE Extensions".
QOS = Known(0x1, Z64, False, "QoS")
TIMESTAMP = Known(0x2, ZBUF, False, "Timestamp")
NODE_ID = Known(0x3, Z64, True, "NodeId")

# Of zenoh-declarations, section "QueryableInfo Extension (Z64, ID=0x1, M=false)"
QUERYABLE_INFO = Known(0x1, Z64, False, "QueryableInfo")

# Of zenoh-declarations, section "WireExpr Extension (ZBuf, ID=0x0F, M=true)"
WIRE_EXPR = Known(0xF, ZBUF, True, "WireExpr")

# Below the documents: what a session and the data messages use.
TARGET = Known(0x4, Z64, True, "Target")
BUDGET = Known(0x5, Z64, False, "Budget")
TIMEOUT = Known(0x6, Z64, False, "Timeout")
PATCH = Known(0x7, Z64, False, "Patch")
FRAME_QOS = Known(0x1, Z64, True, "QoS")
FIRST = Known(0x2, UNIT, False, "First")
DROP = Known(0x3, UNIT, False, "Drop")

MESSAGE = (QOS, TIMESTAMP, NODE_ID)

BY_MESSAGE: dict[str, tuple[Known, ...]] = {
    "INTEREST": MESSAGE,
    "INTEREST_FINAL": MESSAGE,
    "DECLARE": MESSAGE,
    "D_QUERYABLE": (QUERYABLE_INFO,),
    "U_SUBSCRIBER": (WIRE_EXPR,),
    "U_QUERYABLE": (WIRE_EXPR,),
    "U_TOKEN": (WIRE_EXPR,),
    "PUSH": MESSAGE,
    "REQUEST": (*MESSAGE, TARGET, BUDGET, TIMEOUT),
    "RESPONSE": (QOS, TIMESTAMP),
    "RESPONSE_FINAL": (QOS, TIMESTAMP),
    "OAM": (QOS, TIMESTAMP),
    "INIT": (PATCH,),
    "FRAME": (FRAME_QOS,),
    "FRAGMENT": (FRAME_QOS, FIRST, DROP),
}
"""The extensions that each message knows; a mandatory one that is not here makes it unintelligible."""

# The payload of the WireExpr extension as its box draws it: key_suffix is <u8;z16>.
wire_expr_payload = Struct(
    "flags" / Bits(M=1, N=0),
    "key_scope" / VLE(16),
    "key_suffix" / Switch(this.flags.N, {1: Text(16)}),
)

# The same as deployed nodes spell it: key_suffix is the rest of the ZBuf, without a count.
wire_expr_payload_deployed = Struct(
    "flags" / Bits(M=1, N=0),
    "key_scope" / VLE(16),
    "key_suffix" / Switch(this.flags.N, {1: RestText()}),
)

# A timestamp: the time in NTP64 units, then the id of the clock that gave it: a node's, of at most 16 bytes as in INIT,
# and as deployed nodes read it into 16 bytes. Its layout is the field's.
timestamp_payload = Struct("time" / VLE(64), "clock_id" / Blob(8, least=1, most=16))
