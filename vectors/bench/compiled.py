"""Construct's own compiler, as far as it goes with these grammars: a baseline, never an engine.

``grammar.compile()`` compiles ``Struct``, ``If`` and ``Switch``, and calls back into the interpreter for every class
that is not its own. The root of a layout is such a class, so that nothing at all would be compiled: here the records
below it are compiled one by one, and the classes between them keep being interpreted. It is not safe on hostile input
(checks of lengths get lost), and is measured only.
"""

from copy import copy
from typing import Any

import construct

from wire import primitives


def compiled(grammar: primitives.Grammar) -> tuple[Any, str]:
    """Return a grammar whose records are compiled, and in words how far that went."""
    work = _Compiling()
    result = work.part(grammar)
    how = f"{work.compiled} records compiled, {work.interpreted} not; fields and unions remain interpreted"
    return result, how


class _Compiling:
    """One walk; what is used twice is compiled once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Any]] = {}
        self.compiled = self.interpreted = 0

    def part(self, part: Any) -> Any:
        if id(part) not in self.known:  # the part is kept as well, so that its id stays its own
            self.known[id(part)] = part, self.make(part)
        return self.known[id(part)][1]

    def make(self, part: Any) -> Any:
        match part:
            case primitives.OneOf():
                messages = {name: self.message(message) for name, message in part.messages.items()}
                by_byte = [None if message is None else messages[str(message.name)] for message in part.by_byte]
                return _with(part, messages=messages, by_byte=by_byte)
            case primitives.Messages():
                return _with(part, message=self.part(part.message))
            case primitives.ChainOf():
                return _with(part, item=self.part(part.item))
            case primitives.LimitedTo():
                return _with(part, content=self.part(part.content))
            case construct.Renamed():
                return _with(part, subcon=self.part(part.subcon))
            case construct.IfThenElse():
                return _with(part, thensubcon=self.part(part.thensubcon))
            case construct.Switch():
                return _with(part, cases={key: self.part(case) for key, case in part.cases.items()})
            case construct.Struct():
                return self.struct(part)
        return part

    def message(self, message: Any) -> Any:
        made = _with(message, subcon=self.part(message.subcon))
        made.subcon.subcons = message.subcon.subcons  # where OneOf looks for the header
        return made

    def struct(self, struct: Any) -> Any:
        inner = _with(struct, subcons=construct.ListContainer(self.part(each) for each in struct.subcons))
        try:
            made = inner.compile()
        # Its compiler fails in many ways on what it does not know; all of them mean that the record stays interpreted.
        except (construct.ConstructError, AttributeError, TypeError, SyntaxError, NameError):
            self.interpreted += 1
            return inner
        self.compiled += 1
        return made


def _with(part: Any, **changes: Any) -> Any:
    changed = copy(part)
    vars(changed).update(changes)
    return changed
