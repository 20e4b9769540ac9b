"""The rules of a grammar as networks of places: what ``wire/derivation.py`` walks along while it reads a text.

Every character and every rule that an expression names is a **place**; a rule begins at a place of its own, and a
reader goes from place to place along **steps**. So there is nothing to decide between the places, and the steps are the
branches of the grammar: taken or not taken, each option, each alternative and each end of a repetition is a step.

For every place it is known which characters can follow. Characters are told apart as far as the grammar does: they fall
into classes, and a set of classes is an integer with a bit for each; ``END`` is the bit of the end of a text.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from wire.abnf import Alternatives, Expression, Grammar, Literal, Range, Repeat, RuleRef, Sequence, children, walk
from wire.errors import WireError

END = 1
"""The bit of the end of a text, where the other bits are classes of characters."""

Branch = str
"""A step of a rule by the names of its places: ``filterlist: filter > filter``."""


class CannotDerive(WireError):
    """A grammar that texts cannot be read by; the message names the rule, and what is wrong with it."""


Moves = tuple[int | None, tuple[int, ...], tuple[tuple[int, int], ...]]
"""What a place allows before some character: the rule that may end there, the steps that take the character, and those
that begin a rule, with the rule."""

Piece = tuple[list[int], list[int], bool]
"""Part of a rule's network: the places where it begins, those where it ends, and whether it may be passed over."""


class Network:
    """The places and steps of all rules. Places and rules are numbers; what is known of them is in lists.

    Raises ``CannotDerive`` for a rule that is not defined, has no texts, or gives one text infinitely many derivations.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.names = [rule.name for rule in grammar.rules]
        self.expressions = [rule.expression for rule in grammar.rules]
        self.number = {name: number for number, name in enumerate(self.names)}
        self.check_references()
        self.bounds = sorted(set(self.boundaries()))
        self.bits = [2 << place for place in range(len(self.bounds))]
        self.bits[bisect_right(self.bounds, 0xD800) - 1] = 0
        self.ascii = [self.bit(chr(code)) for code in range(128)]
        self.check_texts()
        self.single = self.single_characters()
        self.empty = self.empty_rules()
        # Of every place: the rule it stands in, its name, the steps from it, whether the rule may end there, the
        # characters that it takes (0 for a rule), the rule that it takes (-1 for a character).
        self.rule: list[int] = []
        self.label: list[str] = []
        self.steps: list[list[int]] = []
        self.last: list[bool] = []
        self.mask: list[int] = []
        self.calls: list[int] = []
        self.starts = [self.network(number) for number in range(len(self.names))]
        self.check_cycles()
        self.first, self.follow, self.ahead = self.lookahead()
        self.branch = dict(self.named_branches())
        self.moves: dict[int, list[Moves | None]] = {}
        self.names_of_characters: dict[tuple[int, int], tuple[tuple[str, int], ...]] = {}

    # Names and characters

    def check_references(self) -> None:
        """Refuse rules that are there twice, or not at all."""
        if len(self.number) < len(self.names) or not self.names:
            raise CannotDerive(f"each rule has a name of its own, and there is at least one: {', '.join(self.names)}")
        for name, expression in zip(self.names, self.expressions, strict=True):
            for part in walk(expression):
                if isinstance(part, RuleRef) and part.name not in self.number:
                    raise CannotDerive(f"{name}: no rule is called {part.name!r}")

    def check_texts(self) -> None:
        """Refuse rules that have no texts."""
        # Round by round until nothing is added, as rules may stand before those that they are made of.
        productive: set[int] = set()
        while more := {
            n for n, part in enumerate(self.expressions) if n not in productive and self.ends(part, productive)
        }:
            productive |= more
        barren = [name for number, name in enumerate(self.names) if number not in productive]
        if barren:
            raise CannotDerive(f"{barren[0]}: the rule has no texts")

    def ends(self, part: Expression, productive: set[int]) -> bool:
        """Tell whether a part has texts, given the rules that have."""
        match part:
            case RuleRef():
                return self.number[part.name] in productive
            case Alternatives():
                return any(self.ends(option, productive) for option in part.options)
            case Repeat(least=0):
                return True
            case Range():
                return self.characters(part.first, part.last) > 0
            case Literal():
                return all(map(self.bit, part.text))
        return all(self.ends(child, productive) for child in children(part))

    def boundaries(self) -> Iterator[int]:
        """Give the codes at which a class of characters may begin."""
        yield from (0, 0xD800, 0xE000)  # the halves of surrogates are a class of their own, which nothing takes
        for expression in self.expressions:
            for part in walk(expression):
                if isinstance(part, Range):
                    if not 0 <= part.first <= part.last <= 0x10FFFF:
                        raise CannotDerive(f"no characters are from {part.first:#x} to {part.last:#x}")
                    yield from (part.first, part.last + 1)
                elif isinstance(part, Literal):
                    for character in part.text:
                        yield from (ord(character), ord(character) + 1)

    def bit(self, character: str) -> int:
        """Return the class of a character; 0 for half of a surrogate."""
        return self.bits[bisect_right(self.bounds, ord(character)) - 1]

    def characters(self, first: int, last: int) -> int:
        """Return the classes of a range."""
        return sum(bit for bit, bound in zip(self.bits, self.bounds, strict=True) if first <= bound <= last)

    def single_characters(self) -> list[int]:
        """Return the characters of the rules that are always one character, and 0 for the others."""
        found = [0] * len(self.names)
        while True:
            before = list(found)
            for number, expression in enumerate(self.expressions):
                found[number] = found[number] or self.single_in(expression, found)
            if found == before:
                return found

    def single_in(self, part: Expression, known: list[int]) -> int:
        """Return the characters of a part that is always one character; 0 for others, and those not known yet."""
        match part:
            case Range():
                return self.characters(part.first, part.last)
            case RuleRef():
                return known[self.number[part.name]]
            case Alternatives():
                options = [self.single_in(option, known) for option in part.options]
                union = 0
                for option in options:
                    union |= option
                return union if all(options) else 0
        return 0

    # Places and steps

    def empty_rules(self) -> set[int]:
        """Return the rules that the empty text is derived from."""
        found: set[int] = set()
        while more := {
            n for n, part in enumerate(self.expressions) if n not in found and self.may_be_empty(part, found)
        }:
            found |= more
        return found

    def may_be_empty(self, part: Expression, empty: set[int]) -> bool:
        """Tell whether a part may be no characters, given the rules that may."""
        match part:
            case Literal():
                return not part.text
            case Range():
                return False
            case RuleRef():
                return self.number[part.name] in empty
            case Alternatives():
                return any(self.may_be_empty(option, empty) for option in part.options)
            case Repeat(least=0):
                return True
        return all(self.may_be_empty(child, empty) for child in children(part))

    def network(self, number: int) -> int:
        """Lay out the places of a rule, and return the one that it begins at."""
        start = self.place(number, "start", 0, -1)
        first, last, skipped = self.piece(number, self.expressions[number])
        self.steps[start] = first
        for place in [*last, *([start] if skipped else [])]:
            self.last[place] = True
        return start

    def place(self, rule: int, label: str, mask: int, calls: int) -> int:
        """Lay out one place."""
        there = sum(1 for at, other in enumerate(self.rule) if other == rule and self.label[at].split("#")[0] == label)
        self.rule.append(rule)
        self.label.append(f"{label}#{there + 1}" if there else label)
        self.steps.append([])
        self.last.append(False)
        self.mask.append(mask)
        self.calls.append(calls)
        return len(self.rule) - 1

    def piece(self, rule: int, part: Expression) -> Piece:
        """Lay out the places of a part."""
        match part:
            case Range():
                label = f"%x{part.first:02X}" + (f"-{part.last:02X}" if part.last > part.first else "")
                place = self.place(rule, label, self.characters(part.first, part.last), -1)
                return [place], [place], False
            case Literal():
                found: Piece = ([], [], True)
                for character in part.text:
                    found = self.joined(found, self.piece(rule, Range(ord(character), ord(character))))
                return found
            case RuleRef():
                number = self.number[part.name]
                # A rule that is one character is not entered: its place takes the character.
                place = self.place(rule, part.name, self.single[number], number)
                return [place], [place], False
            case Sequence():
                found = ([], [], True)
                for each in part.parts:
                    found = self.joined(found, self.piece(rule, each))
                return found
            case Alternatives():
                pieces = [self.piece(rule, option) for option in part.options]
                firsts = [place for first, _, _ in pieces for place in first]
                return firsts, [place for _, last, _ in pieces for place in last], any(skip for *_, skip in pieces)
            case Repeat():
                return self.repeated(rule, part)

    def joined(self, one: Piece, other: Piece) -> Piece:
        """Let one piece follow another."""
        for place in one[1]:
            self.steps[place] += [step for step in other[0] if step not in self.steps[place]]
        first = one[0] + other[0] if one[2] else one[0]
        return first, one[1] + other[1] if other[2] else other[1], one[2] and other[2]

    def repeated(self, rule: int, part: Repeat) -> Piece:
        """Lay out a repetition: a piece for each time that is counted, and for the last if it has no end."""
        name, most = self.names[rule], part.most
        if most is not None and most < max(part.least, 1):
            raise CannotDerive(f"{name}: nothing is repeated {part.least} to {most} times")
        if most != 1 and self.may_be_empty(part.part, self.empty):
            raise CannotDerive(f"{name}: what is repeated may be empty, so a text has infinitely many derivations")
        pieces = [self.piece(rule, part.part) for _ in range(max(part.least, 1) if most is None else most)]
        if most is None:
            first, last, _ = pieces[-1]
            for place in last:
                self.steps[place] += [step for step in first if step not in self.steps[place]]
        found = pieces.pop()
        for times in range(len(pieces), 0, -1):
            if times >= part.least:
                found = (*found[:2], True)
            found = self.joined(pieces.pop(), found)
        return found if part.least else (*found[:2], True)

    def check_cycles(self) -> None:
        """Refuse rules that are derived from themselves without a character."""
        needs: dict[int, set[int]] = {number: set() for number in range(len(self.names))}
        passed = [call in self.empty for call in self.calls]
        for number, start in enumerate(self.starts):
            reached, ahead = {start}, [start]
            while ahead:
                for step in self.steps[ahead.pop()]:
                    if self.calls[step] >= 0 and self.passes_on(step, passed):
                        needs[number].add(self.calls[step])
                    if passed[step] and step not in reached:
                        reached.add(step)
                        ahead.append(step)
        try:
            TopologicalSorter(needs).prepare()
        except CycleError as error:
            names = " > ".join(self.names[number] for number in reversed(error.args[1]))
            raise CannotDerive(
                f"{names}: the rule stands for itself, so a text has infinitely many derivations"
            ) from None

    def passes_on(self, place: int, passed: list[bool]) -> bool:
        """Tell whether a rule may end from a place without another character."""
        reached, ahead = {place}, [place]
        while ahead:
            here = ahead.pop()
            if self.last[here]:
                return True
            more = [step for step in self.steps[here] if passed[step] and step not in reached]
            reached.update(more)
            ahead += more
        return False

    # What follows

    def lookahead(self) -> tuple[list[int], list[int], list[int]]:
        """Return the characters that rules begin with, that follow rules, and that follow places."""
        first, follow = [0] * len(self.names), [0] * len(self.names)
        follow[0] = END
        within, ahead = [0] * len(self.rule), [0] * len(self.rule)
        passed = [call in self.empty for call in self.calls]
        ends = [self.passes_on(place, passed) for place in range(len(self.rule))]
        while True:
            before = list(first), list(follow), list(within)
            for place, rule in enumerate(self.rule):
                for step in self.steps[place]:
                    called = self.calls[step]
                    within[place] |= self.mask[step] or (first[called] if called >= 0 else 0)
                    if called in self.empty:
                        within[place] |= within[step]
                ahead[place] = within[place] | (follow[rule] if ends[place] else 0)
                if self.calls[place] >= 0:
                    follow[self.calls[place]] |= ahead[place]
            for rule, start in enumerate(self.starts):
                first[rule] |= within[start]
            if (first, follow, within) == before:
                return first, follow, ahead

    # Branches

    def named_branches(self) -> Iterator[tuple[tuple[int, int], Branch]]:
        """Give the steps of the rules that a text can use, the end of a rule as one to -1, with their names."""
        used, ahead = {0}, [0]
        while ahead:
            rule = ahead.pop()
            for place, other in enumerate(self.rule):
                if other != rule:
                    continue
                if self.calls[place] >= 0 and self.calls[place] not in used:
                    used.add(self.calls[place])
                    ahead.append(self.calls[place])
        for place, rule in enumerate(self.rule):
            if rule not in used:
                continue
            for step in self.steps[place]:
                yield (place, step), f"{self.names[rule]}: {self.label[place]} > {self.label[step]}"
            if self.last[place]:
                yield (place, -1), f"{self.names[rule]}: {self.label[place]} > end"

    # What is asked for every character of a text, and so is found only once

    def moves_before(self, bit: int) -> list[Moves | None]:
        """Return, by place, what it allows before a character of some classes, as far as that is known yet."""
        found = self.moves.get(bit)
        if found is None:
            found = self.moves[bit] = [None] * len(self.rule)
        return found

    def find_moves(self, place: int, bit: int) -> Moves:
        """Find what a place allows before a character of some classes."""
        rule = self.rule[place]
        steps = self.steps[place]
        calling = [(step, self.calls[step]) for step in steps if not self.mask[step]]
        found = self.moves_before(bit)[place] = (
            rule if self.last[place] and self.follow[rule] & bit else None,
            tuple(step for step in steps if self.mask[step] & bit),
            tuple(
                (step, called)
                for step, called in calling
                if self.first[called] & bit or (called in self.empty and self.ahead[step] & bit)
            ),
        )
        return found

    def names_inside(self, rule: int, bit: int) -> tuple[tuple[str, int], ...]:
        """Return the names of the rules that a character is in, outer ones first, each with the number of its parts."""
        found = self.names_of_characters.get((rule, bit))
        if found is None:
            inside = self.inside(rule, bit)
            found = tuple(
                (self.names[number], int(depth < len(inside))) for depth, (number, *_) in enumerate(inside, 1)
            )
            self.names_of_characters[rule, bit] = found
        return found

    def inside(self, rule: int, bit: int) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
        """Return what a character is in a rule of one character: the rules, outer ones first, with their two steps."""
        found = []
        while rule >= 0:
            start = self.starts[rule]
            step = next(step for step in self.steps[start] if self.mask[step] & bit)
            found.append((rule, (start, step), (step, -1)))
            rule = self.calls[step]
        return found


@lru_cache(maxsize=32)  # the languages of one process; tests make grammars without end
def network(grammar: Grammar) -> Network:
    """Return the network of a grammar. Raises ``CannotDerive``."""
    return Network(grammar)


def branches(grammar: Grammar) -> frozenset[Branch]:
    """Return every branch of a grammar that a text can take, the rules that nothing uses aside."""
    return frozenset(network(grammar).branch.values())
