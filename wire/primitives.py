"""The building blocks of the grammars: Construct classes for what the documents draw.

A grammar uses these with Construct's own ``Struct``, ``If``, ``Switch`` and ``this``; the leaves know their bounds, say
where they stand when they refuse, and report the span of bytes that they read when a dump is wanted. Each stands in
``wire/kinds`` with the node that a layout makes of it.
"""

from wire.constructs import (
    MOST,
    Context,
    Grammar,
    Leaf,
    Message,
    NamedBits,
    Span,
    Values,
    counted,
    dotted,
    encoded,
    left,
    vle,
)
from wire.kinds.array import ArrayOf
from wire.kinds.bitfields import Word
from wire.kinds.chain import ChainOf
from wire.kinds.counted import Blob, Text
from wire.kinds.enclosed import Within
from wire.kinds.flags import Bits, Header
from wire.kinds.floating import Real, bits_of, real_of
from wire.kinds.integer import Signed, Unsigned
from wire.kinds.items import Messages
from wire.kinds.keyed_union import SelectedBy
from wire.kinds.limited import LimitedTo
from wire.kinds.nested import TooDeep, nested
from wire.kinds.nothing import Refused
from wire.kinds.padding import PaddedTo, Zeros
from wire.kinds.record import Empty
from wire.kinds.remainder import Rest, RestText
from wire.kinds.sized import Bytes, SizedText
from wire.kinds.tail import Tail
from wire.kinds.terminated import NulBytes, NulText
from wire.kinds.union import OneOf
from wire.kinds.varint import VLE

__all__ = [
    "MOST",
    "VLE",
    "ArrayOf",
    "Bits",
    "Blob",
    "Bytes",
    "ChainOf",
    "Context",
    "Empty",
    "Grammar",
    "Header",
    "Leaf",
    "LimitedTo",
    "Message",
    "Messages",
    "NamedBits",
    "NulBytes",
    "NulText",
    "OneOf",
    "PaddedTo",
    "Real",
    "Refused",
    "Rest",
    "RestText",
    "SelectedBy",
    "Signed",
    "SizedText",
    "Span",
    "Tail",
    "Text",
    "TooDeep",
    "Unsigned",
    "Values",
    "Within",
    "Word",
    "Zeros",
    "bits_of",
    "counted",
    "dotted",
    "encoded",
    "left",
    "nested",
    "real_of",
    "vle",
]
