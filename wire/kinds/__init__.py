"""The kinds of node that a layout is made of: each has a file, and a line here."""

from wire.kinds.array import Array, ArrayToEnd
from wire.kinds.base import Part
from wire.kinds.bit_places import Bit
from wire.kinds.bitfields import BitFields
from wire.kinds.chain import Chain
from wire.kinds.contexts import Node
from wire.kinds.counted import Counted
from wire.kinds.enclosed import Enclosed
from wire.kinds.flags import Flags
from wire.kinds.floating import Float
from wire.kinds.integer import Integer
from wire.kinds.items import Items
from wire.kinds.json import (
    Json,
    JsonAnyValue,
    JsonArray,
    JsonBool,
    JsonEither,
    JsonInteger,
    JsonMap,
    JsonMember,
    JsonNumber,
    JsonObject,
    JsonPart,
    JsonText,
    JsonUnion,
    json_keys,
)
from wire.kinds.keyed_union import KeyedUnion
from wire.kinds.language import Language
from wire.kinds.limited import Limited
from wire.kinds.nested import Bottom
from wire.kinds.nothing import Nothing, Reserved
from wire.kinds.optional import Optional
from wire.kinds.padding import Padded, Padding
from wire.kinds.record import Field, Record
from wire.kinds.remainder import Remainder
from wire.kinds.sized import Sized
from wire.kinds.switch import Switch
from wire.kinds.tail import OptionalTail
from wire.kinds.terminated import Terminated
from wire.kinds.union import Union
from wire.kinds.varint import Varint

__all__ = [
    "KINDS",
    "Array",
    "ArrayToEnd",
    "Bit",
    "BitFields",
    "Bottom",
    "Chain",
    "Counted",
    "Enclosed",
    "Field",
    "Flags",
    "Float",
    "Integer",
    "Items",
    "Json",
    "JsonAnyValue",
    "JsonArray",
    "JsonBool",
    "JsonEither",
    "JsonInteger",
    "JsonMap",
    "JsonMember",
    "JsonNumber",
    "JsonObject",
    "JsonPart",
    "JsonText",
    "JsonUnion",
    "KeyedUnion",
    "Language",
    "Limited",
    "Node",
    "Nothing",
    "Optional",
    "OptionalTail",
    "Padded",
    "Padding",
    "Part",
    "Record",
    "Remainder",
    "Reserved",
    "Sized",
    "Switch",
    "Terminated",
    "Union",
    "Varint",
    "json_keys",
]

KINDS: dict[object, type[Part]] = {
    construct: kind
    for kind in list(vars().values())
    if isinstance(kind, type) and issubclass(kind, Part)
    for construct in kind.constructs
}
"""The kind of node that a construct declares: by its class, or by the construct itself if there is but one."""
