"""A grammar as a small tree: what the emitters, the samplers and the vectors read. Nobody else looks into Construct.

::

    Layout = a name and a root:
        Limited   a whole frame of at most so many bytes
        Union     one of several records, told apart by the header byte    {"type": NAME, **fields}
        Record    fields in a row                                          {"name": value, ...}
        Items     records of a union, to the end or as long as they begin  [value, ...]
        Chain     records, as long as a bit of the first field says so     [value, ...]
        Optional  present if a condition holds                             value or None
        Switch    chosen by a number that stands earlier                   value
        Integer, Varint, Flags                                             number, number, {"Z": 0, ...}
        Counted, Sized, Remainder                                          bytes or text
        Nothing, Reserved                                                  None, always refused
        Float, BitFields, Terminated                                       its bits, {"name": 0, ...}, bytes or text
        Array, ArrayToEnd                                                  [value, ...]
        KeyedUnion  one of several records, told apart by an earlier field {"type": NAME, **fields}
        Enclosed  a part that fills so many bytes                          value
        Padding, Padded                                                    None, value
        OptionalTail  present if bytes are left                            value or None
        Bottom    below the last level of messages within messages         always refused
        Json      the whole frame is one text of JSON                      what JSON has
        Language  the whole frame is one text of a grammar in ABNF         what the language's own codec gives

    In a text of JSON:
        JsonText, JsonInteger, JsonNumber, JsonBool                        "text", 1, 1.5, true
        JsonArray, JsonMap                                                 [value, ...], {"any name": value, ...}
        JsonAnyValue  any value, whatever is in it                         value
        JsonEither    one of some values of different types                value
        JsonObject    exactly these members, optional ones or not          {"name": value, ...}
        JsonUnion     one of several objects, told apart by some members   {"name": value, ...}

Each kind of node stands in ``wire/kinds``, with all that is known about it. Conditions, keys and counts are small
expressions over fields that stand earlier in the same record (``wire/expressions.py``). Equal parts of a grammar
become the same node, so that an emitter can make one function of it. A grammar that uses anything else is refused
(``CannotLayOut``) with the construct and the reason.
"""

from typing import Any, TypeVar

from construct import Renamed

from wire.constructs import Grammar
from wire.errors import CannotLayOut
from wire.kinds import KINDS, Json, Language, Limited, Node, Part
from wire.kinds.base import Scope, walk


class Layout(Node, frozen=True):
    """One layout: its name (``zenoh/batch``) and its tree."""

    name: str
    root: Part

    @property
    def is_json(self) -> bool:
        """Whether a frame is a text of JSON."""
        return isinstance(self.frame, Json)

    @property
    def is_text(self) -> bool:
        """Whether a frame is a text of a language with a grammar of its own."""
        return isinstance(self.frame, Language)

    @property
    def frame(self) -> Part:
        """What a frame is, its limit aside."""
        return self.root.node if isinstance(self.root, Limited) else self.root


def children(part: Part) -> tuple[Part, ...]:
    """Return the parts that a part is made of."""
    return part.inner()


def lay_out(grammar: Grammar, name: str = "(grammar)") -> Layout:
    """Turn a grammar into its tree; ``CannotLayOut`` names what cannot be expressed."""
    layout = Layout(name, _Walk().part(grammar, name, Scope()))
    parts = list(walk(layout.root))
    if not layout.is_json and any(isinstance(part, Json) for part in parts):
        raise CannotLayOut(f"{name}: JSON within something else; a text of JSON is a whole frame")
    if not layout.is_text and any(isinstance(part, Language) for part in parts):
        raise CannotLayOut(f"{name}: a language within something else; its text is a whole frame")
    if any(isinstance(part, Limited) and part != layout.root for part in parts):
        raise CannotLayOut(f"{name}: Limited within something else; it limits a whole frame, use it outermost")
    return layout


Same = TypeVar("Same")


class _Walk:
    """One walk through a grammar; equal nodes are the same object.

    ``compounds`` are the nodes of constructs that look at nothing outside, by the construct: messages within messages
    that have two of themselves inside would else be read twice on every level.
    """

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.compounds: dict[int, Part] = {}

    def part(self, grammar: Any, path: str, scope: Scope) -> Part:
        """Return the node of a construct that stands at ``path``, after the fields of ``scope``."""
        if isinstance(grammar, Renamed):
            return self.part(grammar.subcon, path, scope)
        # The object first (Pass is one of a private class), then its class and those that it is derived from: a
        # subclass of a known construct, such as a message's Header, is declared by the kind of that construct.
        for construct in (grammar, *type(grammar).__mro__):
            kind = KINDS.get(construct)
            if kind is None:
                continue
            # What is not compound may look at the fields before it, so it means something else at each place.
            if not kind.compound:
                return self.shared(kind.declared(grammar, self, path, scope))
            if id(grammar) not in self.compounds:
                self.compounds[id(grammar)] = self.shared(kind.declared(grammar, self, path, scope))
            return self.compounds[id(grammar)]
        raise CannotLayOut(
            f"{path}: {type(grammar).__name__} has no place in a layout; "
            "use the leaves of wire/primitives.py with Struct, If and Switch"
        )

    def shared(self, node: Same) -> Same:
        """Return the node that is equal to this one and was made first."""
        # Nodes are looked up by hash and equality everywhere; of one object equality is identity, however deep it is.
        found: Same = self.known.setdefault(node, node)
        return found
