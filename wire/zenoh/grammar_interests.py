"""The grammar of the document zenoh-interests: INTEREST in its four modes."""

from construct import If, Struct, this

from wire.primitives import VLE, Bits, Header, Text
from wire.zenoh.grammar_extensions import extensions

# Section "Final Mode (INTEREST_FINAL)": a distinct message, Mod == 0b00
interest_final = "INTEREST_FINAL" / Struct(
    "header" / Header(0x19, Z=7, Mod=(6, 5, 0b00)),
    "id" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
)

# Section "INTEREST Wire Format (0x19)", "Flag Constants" and "Options Byte"
interest = "INTEREST" / Struct(
    "header" / Header(0x19, Z=7, Mod=(6, 5)),
    "id" / VLE(32),
    "options" / Bits(A=7, M=6, N=5, R=4, T=3, Q=2, S=1, K=0),
    "key_scope" / If(this.options.R, VLE(16)),
    "key_suffix" / If(this.options.R & this.options.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
)
