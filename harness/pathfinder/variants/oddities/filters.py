"""Unusual, legal ways to read and to evaluate filters: what the grammar and the semantics leave open."""

from msgspec.structs import replace

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.variants.evaluating import Choosy, Evaluating, LiteralFilters
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.filters import INTEGER, Composite, Equal, Filter, Greater, Item, Less, Present, Substring
from wire.pathfinder.matching import Props


@oddity("PF-068", "PF-070", "PF-072", does="takes the grammar by its letter, whatever others do")
class ByTheLetter(LiteralFilters):
    pass


@oddity("PF-075", does="compares with integers of 64 bits only, where the profile lets it")
class SmallOperands(Choosy):
    def is_refused(self, part: Composite | Item) -> bool:
        is_integer = not (isinstance(part, Greater | Less) and not INTEGER.fullmatch(part.value))
        is_large = isinstance(part, Greater | Less) and (
            # The length first: int() refuses texts of many thousand digits.
            len(part.value) > 20 or (is_integer and not -(2**63) <= int(part.value) < 2**63)
        )
        return self.deployed and (not is_integer or is_large)


@oddity("PF-071", does="refuses a closing brace, where the profile lets it")
class NoBraces(Server):
    def parse(self, text: str) -> Filter:
        if "}" in text:
            raise RequestRefused(INVALID_FILTER_SYNTAX)
        return super().parse(text)


@oddity("PF-073", does="takes (a=**) for (a=*)")
class AsterisksAreOne(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        is_bare = isinstance(item, Substring) and not (item.initial or item.final or any(item.any))
        return super().test(Present(item.key) if is_bare else item, props)


@oddity("PF-073", does="refuses asterisks side by side, where the profile lets it")
class NoDoubleAsterisks(Choosy):
    # By the document's letter two asterisks are a filter: only the other profile leaves it open.
    def is_refused(self, part: Composite | Item) -> bool:
        return self.deployed and isinstance(part, Substring) and "" in part.any


@oddity("PF-070", does="refuses filters for the empty string, where the profile lets it")
class NoEmptyValues(Choosy):
    def is_refused(self, part: Composite | Item) -> bool:
        return self.deployed and isinstance(part, Equal) and not part.value


@oddity("PF-212", does="looks for substrings in the digits of numbers too")
class DigitsToo(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Substring):
            # By the key's values as texts: what the document says of numbers and substrings is open (reading R31).
            return super().test(item, {item.key: [str(value) for value in props.get(item.key, ())]})
        return super().test(item, props)


@oddity("PF-076", does="compares texts with texts only, where the profile lets it")
class TextsOnly(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Equal) and not self.deployed:
            return item.value in props.get(item.key, ())
        return super().test(item, props)


@oddity("PF-213", does="orders texts as well as numbers, where the profile lets it")
class OrdersTexts(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        texts = [value for value in props.get(item.key, ()) if isinstance(value, str)]
        if isinstance(item, Greater | Less) and not self.deployed:
            is_met = any(text > item.value if isinstance(item, Greater) else text < item.value for text in texts)
            return is_met or super().test(item, props)
        return super().test(item, props)


@oddity("PF-076", does="takes capital letters for small ones in values, where the profile lets it")
class IgnoresCase(Evaluating):
    def test(self, item: Item, props: Props) -> bool:
        if isinstance(item, Equal) and not self.deployed:
            folded = [value.casefold() if isinstance(value, str) else value for value in props.get(item.key, ())]
            return super().test(replace(item, value=item.value.casefold()), {item.key: folded})
        return super().test(item, props)
