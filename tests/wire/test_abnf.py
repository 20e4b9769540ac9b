"""Grammars in ABNF: how they are written, what they derive and where they stop, held to a naive recogniser."""

from itertools import product
from random import Random

import pytest

from wire.abnf import (
    Alternatives,
    Expression,
    Grammar,
    Literal,
    Range,
    Repeat,
    RuleRef,
    Sequence,
    char,
    either,
    grammar,
    many,
    optional,
    row,
    spelled,
)
from wire.derivation import Derivation, DerivedRule, NoDerivation, derive, derives
from wire.networks import CannotDerive, branches

A, B, C = char(0x61), char(0x62), char(0x63)


# A recogniser that is as naive as it can be: what each rule can be, from each place, until nothing new is found


class Naive:
    """What the rules of a grammar can be within one text."""

    def __init__(self, rules: Grammar, text: str) -> None:
        self.rules = {rule.name: rule.expression for rule in rules.rules}
        self.text = text
        places = range(len(text) + 1)
        self.whole: dict[tuple[str, int], set[int]] = {(name, at): set() for name in self.rules for at in places}
        self.begun: set[tuple[str, int]] = set()
        while self.grows():
            pass
        self.start = rules.rules[0].name

    def grows(self) -> bool:
        before = sum(map(len, self.whole.values())), len(self.begun)
        for name, at in self.whole:
            self.whole[name, at] |= self.ends(self.rules[name], at)
            if self.begins(self.rules[name], at):
                self.begun.add((name, at))
        return before != (sum(map(len, self.whole.values())), len(self.begun))

    def ends(self, part: Expression, at: int) -> set[int]:
        """Return where a part can end that begins at a place."""
        match part:
            case Literal(text):
                return {at + len(text)} if self.text.startswith(text, at) else set()
            case Range(first, last):
                there = self.text[at : at + 1]
                return (
                    {at + 1} if there and first <= ord(there) <= last and not 0xD800 <= ord(there) < 0xE000 else set()
                )
            case RuleRef(name):
                return self.whole[name, at]
            case Sequence(parts):
                found = {at}
                for each in parts:
                    found = {end for start in found for end in self.ends(each, start)}
                return found
            case Alternatives(options):
                return {end for option in options for end in self.ends(option, at)}
            case Repeat(inner, least, most):
                now, found = {at}, {at} if least == 0 else set()
                for times in range(1, (len(self.text) + least + 1 if most is None else most) + 1):
                    now = {end for start in now for end in self.ends(inner, start)}
                    found |= now if times >= least else set()
                return found
        raise AssertionError(part)

    def begins(self, part: Expression, at: int) -> bool:
        """Tell whether the rest of the text is the beginning of a part; every part has texts."""
        if at == len(self.text):
            return True
        match part:
            case Literal(text):
                return text.startswith(self.text[at:])
            case Range():
                return at + 1 == len(self.text) and bool(self.ends(part, at))
            case RuleRef(name):
                return (name, at) in self.begun
            case Sequence(parts):
                return any(
                    self.begins(each, start)
                    for index, each in enumerate(parts)
                    for start in self.ends(Sequence(parts[:index]), at)
                ) or len(self.text) in self.ends(part, at)
            case Alternatives(options):
                return any(self.begins(option, at) for option in options)
            case Repeat(inner, _, most):
                times = len(self.text) if most is None else most - 1
                starts = {at} | self.ends(Repeat(inner, 0, times), at) if times else {at}
                return any(self.begins(inner, start) for start in starts if start < len(self.text)) or (
                    len(self.text) in self.ends(part, at)
                )
        raise AssertionError(part)

    def accepts(self) -> bool:
        return len(self.text) in self.whole[self.start, 0]

    def is_beginning(self) -> bool:
        return (self.start, 0) in self.begun


def furthest(rules: Grammar, text: str) -> int:
    """Return the length of the longest beginning of a text that some text of the grammar has."""
    return max(end for end in range(len(text) + 1) if Naive(rules, text[:end]).is_beginning())


def check(rules: Grammar, text: str) -> bool:
    """Hold the derivation of a text, or the refusal, to the naive recogniser; tell which it is."""
    naive = Naive(rules, text)
    assert derives(rules, text) is naive.accepts(), text
    if not naive.accepts():
        with pytest.raises(NoDerivation) as refusal:
            derive(rules, text)
        assert refusal.value.offset == furthest(rules, text), text
        assert refusal.value.whole is Naive(rules, text[: refusal.value.offset]).accepts(), text
        return False
    derivation = derive(rules, text)
    follow(rules, text, derivation)
    assert derivation.branches <= branches(rules)
    return True


def follow(rules: Grammar, text: str, derivation: Derivation) -> None:
    """Hold each node of a derivation to its rule: the parts that it has are one way to read it."""
    expressions = {rule.name: rule.expression for rule in rules.rules}
    stack: list[DerivedRule] = []
    for node in derivation.nodes:
        below = tuple(stack[len(stack) - node.parts :])
        del stack[len(stack) - node.parts :]
        assert (node.end, len(below)) in steps(expressions[node.rule], text, node.start, below, 0), node
        stack.append(node)
    assert len(stack) == 1
    assert stack[0][:3] == (rules.rules[0].name, 0, len(text))


def steps(part: Expression, text: str, at: int, below: tuple[DerivedRule, ...], index: int) -> set[tuple[int, int]]:
    """Return where a part can end in the text, and in the nodes that are there for the rules that it refers to."""
    match part:
        case Literal(literal):
            return {(at + len(literal), index)} if text.startswith(literal, at) else set()
        case Range(first, last):
            return {(at + 1, index)} if at < len(text) and first <= ord(text[at]) <= last else set()
        case RuleRef(name):
            there = below[index] if index < len(below) else None
            return {(there.end, index + 1)} if there and (there.rule, there.start) == (name, at) else set()
        case Sequence(parts):
            found = {(at, index)}
            for each in parts:
                found = {end for start in found for end in steps(each, text, start[0], below, start[1])}
            return found
        case Alternatives(options):
            return {end for option in options for end in steps(option, text, at, below, index)}
        case Repeat(inner, least, most):
            now, found = {(at, index)}, {(at, index)} if least == 0 else set()
            for times in range(1, (len(text) + least + 1 if most is None else most) + 1):
                now = {end for start in now for end in steps(inner, text, start[0], below, start[1])}
                found |= now if times >= least else set()
            return found
    raise AssertionError(part)


GRAMMARS: dict[str, Grammar] = {
    "nothing": grammar({"s": row()}),
    "one of two": grammar({"s": either(A, B)}),
    "a literal": grammar({"s": either(Literal("ab"), Literal("abba"), Literal(""))}),
    "bounds": grammar({"s": row(many(A, least=1, most=3), many(B, least=2, most=2), many(C, most=2))}),
    "a repetition of two": grammar({"s": many(A, B, least=1)}),
    "options in a row": grammar({"s": row(optional(A), optional(B), optional(A), optional(C))}),
    "left recursive": grammar({"s": either(row("s", A), B)}),
    "right recursive": grammar({"s": either(row(A, "s"), B)}),
    "recursive in between": grammar({"s": either(row(A, "s", B), row())}),
    "recursive both ways": grammar({"s": either(row("s", "s"), A, row(B, C))}),
    "palindromes": grammar({"s": either(row(A, "s", A), row(B, "s", B), optional(either(A, B)))}),
    "mutually recursive": grammar({"s": either("t", row(A, "t")), "t": either(B, row(C, "s", C))}),
    "empty rules": grammar({"s": row("e", "t", "e"), "t": row("e", optional(B, "s")), "e": many(A)}),
    "a hidden left recursion": grammar({"s": either(row("e", "s", B), A), "e": optional(C)}),
    "ambiguous": grammar({"s": row("t", "t"), "t": many(A)}),
    "the other else": grammar({"s": either(row(A, "s"), row(A, "s", B, "s"), C)}),
    "rules of one character": grammar(
        {"s": many("letter"), "letter": either("low", B), "low": either(A, "last"), "last": C}
    ),
    "alternatives that overlap": grammar({"s": many(either("low", "wide")), "low": A, "wide": Range(0x61, 0x63)}),
    "a rule that begins anew": grammar({"s": either(A, row("s", B), row(C, "s"))}),
    "an unused rule": grammar({"s": A, "t": B}),
}


@pytest.mark.parametrize("most", [4, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", GRAMMARS)
def test_as_the_naive_recogniser(name: str, most: int) -> None:
    """All texts of three letters, up to so many of them."""
    accepted = 0
    for length in range(most + 1):
        for letters in product("abc", repeat=length):
            accepted += check(GRAMMARS[name], "".join(letters))
    assert accepted >= 1


def some_expression(rng: Random, depth: int) -> Expression:
    match rng.randrange(3 if depth == 0 else 8):
        case 0:
            return Literal(rng.choice(("a", "b", "ab", "ba", "")))
        case 1:
            return Range(0x61, rng.choice((0x61, 0x62)))
        case 2:
            return RuleRef(rng.choice("stu"))
        case 3 | 4:
            return Sequence(tuple(some_expression(rng, depth - 1) for _ in range(rng.randrange(1, 4))))
        case 5 | 6:
            return Alternatives(tuple(some_expression(rng, depth - 1) for _ in range(rng.randrange(1, 4))))
        case _:
            least = rng.randrange(3)
            return Repeat(some_expression(rng, depth - 1), least, rng.choice((None, 1, 2, 3)))


@pytest.mark.slow  # a hundred grammars, by a naive recogniser
def test_random_grammars() -> None:
    """Whatever is not refused is read as the naive recogniser reads it: ambiguous, empty, recursive either way."""
    rng = Random(4)
    read = refused = 0
    texts = ["".join(letters) for length in range(6) for letters in product("ab", repeat=length)]
    while read < 100:
        rules = grammar({name: some_expression(rng, 3) for name in "stu"})
        try:
            derives(rules, "")
        except CannotDerive:
            refused += 1
            continue
        read += 1
        for text in rng.sample(texts, 15):
            check(rules, text)
    assert refused > 50


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({}, "at least one"),
        ({"s": row(A, "t")}, "s: no rule is called 't'"),
        ({"s": row(A, "s")}, "s: the rule has no texts"),
        ({"s": A, "t": row("u"), "u": row("t")}, "t: the rule has no texts"),
        ({"s": Range(0xD800, 0xDFFF)}, "s: the rule has no texts"),
        ({"s": either("s", A)}, "s > s: the rule stands for itself"),
        ({"s": either("t", A), "t": row("e", "s", "e"), "e": many(B)}, "the rule stands for itself"),
        ({"s": either(row("s", "s"), row())}, "s > s: the rule stands for itself"),
        ({"s": many(many(A))}, "s: what is repeated may be empty"),
        ({"s": many("t", most=2), "t": optional(A)}, "s: what is repeated may be empty"),
        ({"s": many(A, least=3, most=2)}, "s: nothing is repeated 3 to 2 times"),
        ({"s": many(A, most=0)}, "s: nothing is repeated 0 to 0 times"),
        ({"s": Range(0x62, 0x61)}, "no characters are from 0x62 to 0x61"),
        ({"s": Range(0x61, 0x110000)}, "no characters are from 0x61 to 0x110000"),
    ],
)
def test_grammars_that_are_refused(rules: dict[str, Expression], says: str) -> None:
    with pytest.raises(CannotDerive, match=says):
        derive(grammar(dict(rules)), "a")


def test_each_rule_has_a_name_of_its_own() -> None:
    one = grammar({"s": A}).rules
    with pytest.raises(CannotDerive, match="a name of its own"):
        derive(Grammar(one + one), "a")


@pytest.mark.parametrize(
    ("notation", "text"),
    [
        (A, "%x61"),
        (Range(0x01, 0x20), "%x01-20"),
        (Range(0x7E, 0x10FFFF), "%x7E-10FFFF"),
        (Literal("foo"), "%x66.6F.6F"),
        (Literal(""), '""'),
        (row("key", "op", "value"), "key op value"),
        (either("a", row("b", "c")), "a / (b c)"),
        (row("a", either("b", "c")), "a (b / c)"),
        (many("a"), "*a"),
        (many("a", least=1), "1*a"),
        (many("a", "b", least=2, most=3), "2*3(a b)"),
        (many(either("a", "b")), "*(a / b)"),
        (optional("a"), "[a]"),
        (optional("a", "b"), "[a b]"),
        (many(optional("a"), most=2), "*2([a])"),
    ],
)
def test_notation(notation: Expression, text: str) -> None:
    assert spelled(notation) == text
    assert str(grammar({"r": notation, "s": row("r")})) == f"r = {text}\ns = r"


def rules_in(derivation: Derivation) -> str:
    return " ".join(f"{rule}{start}-{end}" for rule, start, end, _ in derivation.nodes)


def test_a_derivation() -> None:
    """Each rule after its parts; a rule of one character is there as any other."""
    rules = grammar({"list": row("open", many("list"), "close"), "open": char(0x28), "close": char(0x29)})
    derivation = derive(rules, "(())")
    assert rules_in(derivation) == "open0-1 open1-2 close2-3 list1-3 close3-4 list0-4"
    assert derivation.nodes[-1] == DerivedRule("list", 0, 4, 3)
    assert derivation.branches == branches(rules) - {"list: list > list"}
    assert derive(rules, "(()())").branches == branches(rules)


def test_one_of_several_derivations() -> None:
    """The alternative that stands first; a part that may be empty is, from the last one to the first."""
    rules = grammar({"s": either("t", "u"), "t": many(A), "u": either(A, B)})
    assert rules_in(derive(rules, "a")) == "t0-1 s0-1"
    assert rules_in(derive(rules, "b")) == "u0-1 s0-1"
    assert rules_in(derive(GRAMMARS["ambiguous"], "aaa")) == "t0-3 t3-3 s0-3"
    assert rules_in(derive(grammar({"s": row(optional("t"), optional("u")), "t": many(A), "u": many(B)}), "")) == "s0-0"


def test_branches() -> None:
    rules = grammar({"s": row(many(A, least=2), optional("t")), "t": either(B, C), "unused": A})
    assert branches(rules) == {
        "s: start > %x61",
        "s: %x61 > %x61#2",
        "s: %x61#2 > %x61#2",
        "s: %x61#2 > t",
        "s: %x61#2 > end",
        "s: t > end",
        "t: start > %x62",
        "t: start > %x63",
        "t: %x62 > end",
        "t: %x63 > end",
    }
    assert derive(rules, "aa").branches == {"s: start > %x61", "s: %x61 > %x61#2", "s: %x61#2 > end"}


def test_a_refusal_says_what_belongs_there() -> None:
    with pytest.raises(NoDerivation, match="no text of the grammar, at character 2: expected %x61 t the end") as caught:
        derive(grammar({"s": row(many(A, least=2), optional("t")), "t": either(B, C)}), "aad")
    assert (caught.value.offset, caught.value.whole) == (2, True)


def test_halves_of_surrogates_are_no_characters() -> None:
    rules = grammar({"s": many(Range(0x7E, 0x10FFFF))})
    assert derives(rules, "\ud7ff\ue000\U0010ffff")
    for half in "\ud800\udbff\udc00\udfff":
        with pytest.raises(NoDerivation) as caught:
            derive(rules, f"é{half}")
        assert caught.value.offset == 1


DEEP = 5_000
"""Levels: five times as many as Python calls functions within each other."""

NESTED = {
    "in between": (grammar({"s": either(row(A, "s", B), C)}), lambda n: "a" * n + "c" + "b" * n),
    "to the left": (grammar({"s": either(row("s", A), C)}), lambda n: "c" + "a" * n),
    "in a list": (grammar({"s": row(A, many("s"), B)}), lambda n: "a" * n + "ab" * n + "b" * n),
}


@pytest.mark.parametrize("name", NESTED)
def test_nesting(name: str) -> None:
    rules, text = NESTED[name]
    derivation = derive(rules, text(DEEP))
    assert len(derivation.nodes) >= DEEP
    assert derivation.nodes[-1].end == len(text(DEEP))
    with pytest.raises(NoDerivation) as caught:
        derive(rules, text(DEEP) + "?")
    assert caught.value.offset == len(text(DEEP))
