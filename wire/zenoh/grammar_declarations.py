"""The grammar of the document zenoh-declarations: DECLARE and its nine declarations."""

from construct import If, Struct, this

from wire.primitives import VLE, Header, OneOf, Text
from wire.zenoh.grammar_extensions import extensions

# Section "D_KEYEXPR (0x00) - Declare Key Expression"
d_keyexpr = "D_KEYEXPR" / Struct(
    "header" / Header(0x00, Z=7, N=5),
    "expr_id" / VLE(16),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
)

# Section "U_KEYEXPR (0x01) - Undeclare Key Expression"
u_keyexpr = "U_KEYEXPR" / Struct(
    "header" / Header(0x01, Z=7),
    "expr_id" / VLE(16),
    "extensions" / If(this.header.Z, extensions),
)

# Section "D_SUBSCRIBER (0x02) - Declare Subscriber"
d_subscriber = "D_SUBSCRIBER" / Struct(
    "header" / Header(0x02, Z=7, M=6, N=5),
    "subs_id" / VLE(32),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
)

# Section "U_SUBSCRIBER (0x03) - Undeclare Subscriber"
u_subscriber = "U_SUBSCRIBER" / Struct(
    "header" / Header(0x03, Z=7),
    "subs_id" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
)

# Section "D_QUERYABLE (0x04) - Declare Queryable"
d_queryable = "D_QUERYABLE" / Struct(
    "header" / Header(0x04, Z=7, M=6, N=5),
    "qbls_id" / VLE(32),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
)

# Section "U_QUERYABLE (0x05) - Undeclare Queryable"
u_queryable = "U_QUERYABLE" / Struct(
    "header" / Header(0x05, Z=7),
    "qbls_id" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
)

# Section "D_TOKEN (0x06) - Declare Liveliness Token"
d_token = "D_TOKEN" / Struct(
    "header" / Header(0x06, Z=7, M=6, N=5),
    "token_id" / VLE(32),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
)

# Section "U_TOKEN (0x07) - Undeclare Liveliness Token"
u_token = "U_TOKEN" / Struct(
    "header" / Header(0x07, Z=7),
    "token_id" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
)

# Section "D_FINAL (0x1A) - Declare Final"
d_final = "D_FINAL" / Struct(
    "header" / Header(0x1A, Z=7),
    "extensions" / If(this.header.Z, extensions),
)

# Section "Declaration Sub-Message IDs"
declaration = OneOf(
    d_keyexpr,
    u_keyexpr,
    d_subscriber,
    u_subscriber,
    d_queryable,
    u_queryable,
    d_token,
    u_token,
    d_final,
)

# Section "DECLARE Message (0x1E)"
declare = "DECLARE" / Struct(
    "header" / Header(0x1E, Z=7, I=5),
    "interest_id" / If(this.header.I, VLE(32)),
    "extensions" / If(this.header.Z, extensions),
    "declaration" / declaration,
)
