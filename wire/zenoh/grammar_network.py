"""Network messages: INTEREST and DECLARE of the documents, and the data messages that a tester needs."""

from construct import If, Struct, Switch, this

from wire.primitives import VLE, Blob, Empty, Header, OneOf, Refused, Text
from wire.zenoh.grammar_declarations import declare
from wire.zenoh.grammar_extensions import UNIT, Z64, ZBUF, extensions, timestamp_payload
from wire.zenoh.grammar_interests import interest, interest_final

put = "PUT" / Struct(
    "header" / Header(0x01, Z=7, E=6, T=5),
    "timestamp" / If(this.header.T, timestamp_payload),
    "encoding" / If(this.header.E, VLE(32)),
    "schema" / If(this.header.E, Switch(this.encoding & 1, {1: Blob(8)})),
    "extensions" / If(this.header.Z, extensions),
    "payload" / Blob(32),
)

delete = "DEL" / Struct(
    "header" / Header(0x02, Z=7, T=5),
    "timestamp" / If(this.header.T, timestamp_payload),
    "extensions" / If(this.header.Z, extensions),
)

query = "QUERY" / Struct(
    "header" / Header(0x03, Z=7, P=6, C=5),
    "consolidation" / If(this.header.C, VLE(8)),
    "parameters" / If(this.header.P, Text(32)),
    "extensions" / If(this.header.Z, extensions),
)

reply = "REPLY" / Struct(
    "header" / Header(0x04, Z=7, C=5),
    "consolidation" / If(this.header.C, VLE(8)),
    "extensions" / If(this.header.Z, extensions),
    "body" / OneOf(put, delete),
)

error = "ERR" / Struct(
    "header" / Header(0x05, Z=7, E=6),
    "encoding" / If(this.header.E, VLE(32)),
    "schema" / If(this.header.E, Switch(this.encoding & 1, {1: Blob(8)})),
    "extensions" / If(this.header.Z, extensions),
    "payload" / Blob(32),
)

push = "PUSH" / Struct(
    "header" / Header(0x1D, Z=7, M=6, N=5),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
    "body" / OneOf(put, delete),
)

request = "REQUEST" / Struct(
    "header" / Header(0x1C, Z=7, M=6, N=5),
    "id" / VLE(32),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
    "body" / OneOf(query),
)

response = "RESPONSE" / Struct(
    "header" / Header(0x1B, Z=7, M=6, N=5),
    "id" / VLE(32),
    "key_scope" / VLE(16),
    "key_suffix" / If(this.header.N, Text(16)),
    "extensions" / If(this.header.Z, extensions),
    "body" / OneOf(reply, error),
)

response_final = "RESPONSE_FINAL" / Struct(
    "header" / Header(0x1A, Z=7),
    "id" / VLE(32),
    "extensions" / If(this.header.Z, extensions),
)

oam = "OAM" / Struct(
    "header" / Header(0x1F, Z=7, encoding=(6, 5)),
    "id" / VLE(16),
    "extensions" / If(this.header.Z, extensions),
    "body"
    / Switch(
        this.header.encoding,
        {Z64: VLE(64), ZBUF: Blob(32), UNIT: Empty()},
        default=Refused("OAM encoding 0b11 is reserved"),
    ),
)

network_message = OneOf(interest_final, interest, declare, push, request, response, response_final, oam)
