"""Which services a filter matches: filters become programs without recursion.

The document gives no semantics. Reading: a key that a service lacks, or that has no values, matches nothing but through
a ``not``; of several values any may match; letters' case counts; ``=`` compares with a string or with the decimal text
of an integer; ``<`` and ``>`` are strict and look at integers only, and so match nothing when their own value is no
integer; a substring filter looks at strings only.
"""

from collections.abc import Callable, Mapping, Sequence

from wire.pathfinder.filters import (
    INTEGER,
    And,
    Composite,
    Equal,
    Filter,
    Greater,
    Item,
    Less,
    Not,
    Or,
    Present,
    Substring,
)

Props = Mapping[str, Sequence[str | int]]
"""The properties of a service: the values of each name; the integers have 64 bits."""

Predicate = Callable[[Props], bool]

_YES, _NO, _NEXT = -1, -2, -3


def matches(tree: Filter, props: Props) -> bool:
    """Tell whether a filter matches a service with these properties; for many services, see ``compiled``."""
    return compiled(tree)(props)


def compiled(tree: Filter) -> Predicate:
    """Make a predicate of a filter, which tells quickly whether properties match.

    It asks each item at most once, and none that cannot change the answer, from left to right.
    """
    # The composite filters vanish: each item knows where to go on when it matches, and where when it does not. Items
    # are laid from the last to the first, so that what follows is known: it is what was laid just before.
    program: list[_Step] = []
    ahead: list[tuple[Composite | Item, int, int]] = [(tree, _YES, _NO)]
    while ahead:
        part, yes, no = ahead.pop()
        if yes == _NEXT:
            yes = len(program) - 1
        if no == _NEXT:
            no = len(program) - 1
        if isinstance(part, Not):
            ahead.append((part.filter, no, yes))
        elif isinstance(part, And) and part.filters:
            ahead.extend((one, _NEXT, no) for one in part.filters[:-1])
            ahead.append((part.filters[-1], yes, no))
        elif isinstance(part, Or) and part.filters:
            ahead.extend((one, yes, _NEXT) for one in part.filters[:-1])
            ahead.append((part.filters[-1], yes, no))
        else:
            program.append((_test(part), yes, no))
    if len(program) == 1:
        test, yes, _ = program[0]
        return test if yes == _YES else lambda props: not test(props)
    return _running(program)


_Step = tuple[Predicate, int, int]
"""A test, the step to go on with when it succeeds, and the one when it does not."""


def _running(program: list[_Step]) -> Predicate:
    first = len(program) - 1

    def predicate(props: Props) -> bool:
        at = first
        while at >= 0:
            test, yes, no = program[at]
            at = yes if test(props) else no
        return at == _YES

    return predicate


def _test(part: Composite | Item) -> Predicate:
    match part:
        case Equal(key, value):
            return _equal(key, value)
        case Greater(key, value):
            return _greater(key, value)
        case Less(key, value):
            return _less(key, value)
        case Present(key):
            return lambda props: bool(props.get(key))
        case Substring():
            return _substring(part)
        case _:
            # Without filters, which no text has: all of none match, and not any.
            return lambda props: isinstance(part, And)


def _equal(key: str, text: str) -> Predicate:
    number = _integer(text)
    if number is None or str(number) != text:  # -0 is an integer, but no integer's text

        def equals(props: Props) -> bool:
            values = props.get(key)
            return values is not None and text in values
    else:

        def equals(props: Props) -> bool:
            values = props.get(key)
            return values is not None and (text in values or number in values)

    return equals


def _greater(key: str, text: str) -> Predicate:
    bound = _integer(text)
    if bound is None:
        return lambda props: False

    def exceeds(props: Props) -> bool:
        for value in props.get(key, ()):
            if isinstance(value, str):
                continue
            if value > bound:
                return True
        return False

    return exceeds


def _less(key: str, text: str) -> Predicate:
    bound = _integer(text)
    if bound is None:
        return lambda props: False

    def falls_below(props: Props) -> bool:
        for value in props.get(key, ()):
            if isinstance(value, str):
                continue
            if value < bound:
                return True
        return False

    return falls_below


def _integer(text: str) -> int | float | None:
    """Read an integer; one of more digits than 64 bits have is infinite, as it is compared with properties only."""
    if INTEGER.fullmatch(text) is None:
        return None
    if len(text) > len(str(-(2**63))):
        return float("-inf" if text.startswith("-") else "inf")
    return int(text)


def _substring(item: Substring) -> Predicate:
    key, initial, final = item.key, item.initial, item.final
    middles = [text for text in item.any if text]
    least = len(initial) + sum(map(len, middles)) + len(final)

    def contains(props: Props) -> bool:
        for value in props.get(key, ()):
            if (
                isinstance(value, str)
                and len(value) >= least
                and value.startswith(initial)
                and value.endswith(final)
                and _in_order(value, middles, len(initial), len(value) - len(final))
            ):
                return True
        return False

    return contains


def _in_order(value: str, middles: list[str], at: int, end: int) -> bool:
    """Tell whether these stand between two places, one after the other.

    To take each where it first stands leaves most room for the others, so nothing is ever tried twice.
    """
    for text in middles:
        found = value.find(text, at, end)
        if found < 0:
            return False
        at = found + len(text)
    return True
