"""The grammar of the toy document: its three messages, as section 2 draws them."""

from construct import If, Struct, this

from wire.primitives import Blob, Header, OneOf, Text, Unsigned

# Section 2, "SAVE": the first byte is declared by its constant and its flags; goldwire keeps the bits without a name.
save = "SAVE" / Struct(
    "header" / Header(0x01),
    "ticket" / Unsigned(2),
    "key" / Text(8),
    "value" / Blob(8),
)

# Section 2, "LOAD"
load = "LOAD" / Struct(
    "header" / Header(0x02),
    "ticket" / Unsigned(2),
    "key" / Text(8),
)

# Section 2, "VALUE": a condition is an expression over fields that stand before, never a function.
value = "VALUE" / Struct(
    "header" / Header(0x03, F=7),
    "ticket" / Unsigned(2),
    "value" / If(this.header.F, Blob(8)),
)

message = OneOf(save, load, value)
