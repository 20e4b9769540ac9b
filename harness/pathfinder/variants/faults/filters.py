"""Faults against Pathfinder, "Filter Representation": which texts are filters, and which services they match."""

import re

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.variants.evaluating import Choosy, Evaluating, LiteralFilters
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.filters import (
    INTEGER,
    SPECIALS,
    Composite,
    Equal,
    Filter,
    FilterError,
    Greater,
    Item,
    Less,
    Not,
    Or,
    Present,
    Substring,
    escape,
    parse,
)
from wire.pathfinder.matching import Props

# True of every service: a property is there, or it is not.
EVERYTHING = Or((Present("a"), Not(Present("a"))))


@fault("PF-067", does="refuses a not within a not")
class SingleNegation(Choosy):
    def is_refused(self, part: Composite | Item) -> bool:
        return isinstance(part, Not) and isinstance(part.filter, Not)


@fault("PF-067", does="refuses texts that are not ASCII")
class AsciiFilters(Choosy):
    def parse(self, text: str) -> Filter:
        if not text.isascii():
            raise RequestRefused(INVALID_FILTER_SYNTAX)
        return super().parse(text)


@fault("PF-068", does="takes an and without operands for everything")
class EmptyAnd(Server):
    def parse(self, text: str) -> Filter:
        return EVERYTHING if text == "(&)" else super().parse(text)


@fault("PF-068", does="looks at the first four operands only")
# Fewer than the case has operands.
class FourOperands(Evaluating):
    def combine(self, part: Composite, below: list[bool], props: Props) -> bool:
        return super().combine(part, below[:4], props)


@fault("PF-069", does="looks for the backslash too")
class LooksForBackslash(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        return super().test(replace(item, value=escape(item.value)) if isinstance(item, Equal) else item, props)


@fault("PF-069", does="knows no escaped exclamation mark in keys")
class UnescapedExclamation(Choosy):
    def is_refused(self, part: Composite | Item) -> bool:
        return not isinstance(part, Composite) and "!" in part.key


@fault("PF-070", does="takes (a=) for (a=*)")
class EmptyIsAny(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        return super().test(Present(item.key) if isinstance(item, Equal) and not item.value else item, props)


@fault("PF-070", does="takes an empty key for any")
class EmptyKey(LiteralFilters):
    def test(self, item: Item, props: Props) -> bool:
        return any(
            super(EmptyKey, self).test(replace(item, key=key), props) for key in ([item.key] if item.key else props)
        )


@fault("PF-071", does="accepts a brace, and passes over it")
class NoBraces(Server):
    def parse(self, text: str) -> Filter:
        return super().parse(text.replace("}", ""))


@fault("PF-072", does="takes < for another way to write >")
class OneWay(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        return super().test(Greater(item.key, item.value) if isinstance(item, Less) else item, props)


@fault("PF-072", does="finds every number above and below a text")
class NumbersAndTexts(LiteralFilters):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Greater | Less) and not INTEGER.fullmatch(item.value):
            return any(isinstance(value, int) for value in props.get(item.key, ()))
        return super().test(item, props)


@fault("PF-073", does="has an asterisk at the end stand for one letter at least")
class OneLetterMore(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Substring) and not item.final and not item.any and item.initial:
            begun = [value for value in props.get(item.key, ()) if value != item.initial]
            return super().test(item, {**props, item.key: begun})
        return super().test(item, props)


@fault("PF-073", does="passes over what stands between two asterisks")
class NoMiddles(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        return super().test(replace(item, any=item.any[1:]) if isinstance(item, Substring) else item, props)


@fault("PF-075", does="refuses -0")
class NoMinusZero(Choosy):
    def is_refused(self, part: Composite | Item) -> bool:
        return isinstance(part, Greater | Less) and part.value == "-0"


@fault("PF-075", does="compares numbers as floating point")
class FloatComparisons(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        # Longer ones do not fit a float at all.
        if isinstance(item, Greater | Less) and INTEGER.fullmatch(item.value) and len(item.value) < 300:
            bound = float(item.value)
            numbers = [float(value) for value in props.get(item.key, ()) if isinstance(value, int)]
            return any(number > bound if isinstance(item, Greater) else number < bound for number in numbers)
        return super().test(item, props)


@fault("PF-076", does="asks that every value of a name is the one asked for")
class EveryValue(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        values = props.get(item.key, ())
        if isinstance(item, Equal) and values:
            return all(super(EveryValue, self).test(item, {item.key: [value]}) for value in values)
        return super().test(item, props)


@fault("PF-076", does="asks that what must not be equal is there at all")
class PresentAndDifferent(Evaluating):
    def combine(self, part: Composite, below: list[bool], props: Props) -> bool:
        found = super().combine(part, below, props)
        if isinstance(part, Not) and isinstance(part.filter, Equal):
            return found and bool(props.get(part.filter.key))
        return found


@fault("PF-211", does="passes over what stands behind a filter")
class RestIgnored(Server):
    def parse(self, text: str) -> Filter:
        try:
            parse(text, deployed=self.deployed)
        except FilterError as error:
            if error.expected == "the end":
                text = text[: error.offset]
        return super().parse(text)


@fault("PF-211", does="takes a text without parentheses as matching everything")
class AnyText(Server):
    def parse(self, text: str) -> Filter:
        return super().parse(text) if "(" in text else EVERYTHING


@fault("PF-211", does="takes a backslash before any character")
class EscapesAnything(Server):
    def parse(self, text: str) -> Filter:
        return super().parse(re.sub(rf"\\([^{re.escape(SPECIALS)}])", r"\1", text))


@fault("PF-211", does="passes over white space around a filter")
class StripsFilters(Server):
    def parse(self, text: str) -> Filter:
        return super().parse(text.strip())


@fault("PF-212", does="lets the parts of a substring filter overlap")
class Overlapping(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if not isinstance(item, Substring) or not (item.initial or item.any or item.final):
            return super().test(item, props)
        ends = [Substring(item.key, item.initial, (), ""), Substring(item.key, "", (), item.final)]
        middles = [Substring(item.key, "", (part,), "") for part in item.any if part]
        return any(
            all(super(Overlapping, self).test(part, {item.key: [value]}) for part in (*ends, *middles))
            for value in props.get(item.key, ())
        )


@fault("PF-212", does="looks at the first line of a text only")
class FirstLine(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if not isinstance(item, Substring):
            return super().test(item, props)
        lines = [value.partition("\n")[0] for value in props.get(item.key, ()) if isinstance(value, str)]
        return super().test(item, {item.key: lines})


@fault("PF-213", does="compares numbers as texts")
class TextComparisons(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Greater | Less):
            texts = [str(value) for value in props.get(item.key, ()) if isinstance(value, int)]
            return any(text > item.value if isinstance(item, Greater) else text < item.value for text in texts)
        return super().test(item, props)


@fault("PF-213", does="takes > for at least")
class AtLeast(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        is_met = isinstance(item, Greater) and item.value in map(str, props.get(item.key, ()))
        return is_met or super().test(item, props)


@fault("PF-214", does="strips white space from values")
class StripsValues(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if not isinstance(item, Equal):
            return super().test(item, props)
        bare = [value.strip() if isinstance(value, str) else value for value in props.get(item.key, ())]
        return super().test(replace(item, value=item.value.strip()), {item.key: bare})


@fault("PF-214", does="strips white space from keys in filters")
class StripsKeys(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        return super().test(replace(item, key=item.key.strip()), props)
