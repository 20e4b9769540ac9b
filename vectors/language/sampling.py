"""Texts drawn along a grammar in ABNF, as ``json_drawing`` draws texts of JSON; the reference engine gives the value.

What is simplest comes first, so that texts shrink: of alternatives the one that needs the fewest rules, of characters
the letter ``a``. Where a text is nested deep enough, nothing else is chosen.
"""

from collections.abc import Callable
from typing import cast

from vectors.language.samples import samples
from wire import reference
from wire.abnf import Alternatives, Expression, Grammar, Literal, Range, Repeat, RuleRef, Sequence, children
from wire.kinds import Language
from wire.kinds.generators import Choices, Draw, Numbers, Pair, Source
from wire.layout import Layout

DEEPEST = 18
"""Rules within rules, where the shortest way out begins."""

MOST = 1 << 10
"""Repetitions, where the grammar has no end of them."""

PLAINEST = ord("a")
SURROGATES = range(0xD800, 0xE000)

Text = Callable[[Source, int], str]
"""From a source of choices and the number of rules that are open, a text."""


def language_drawing(layout: Layout, choices: Choices) -> Draw:
    """Compile a layout that is a language: a function from a source of choices to a value and its bytes."""
    frame = layout.frame
    assert isinstance(frame, Language)
    text = _Drawing(frame.grammar, choices).rule(frame.grammar.rules[0].name)

    is_canonical = not choices.overlong and samples(layout.name).respells

    def draw(source: Source, numbers: Numbers) -> Pair:
        data = text(source, 0).encode()
        value = reference.decode(layout.name, data)
        # Of a value that has several texts the one that is written.
        return value, reference.encode(layout.name, value) if is_canonical else data

    return draw


class _Drawing:
    """One compilation: each rule once."""

    def __init__(self, grammar: Grammar, choices: Choices) -> None:
        self.choices = choices
        self.heights = heights(grammar)
        self.rules = {rule.name: rule.expression for rule in grammar.rules}
        self.known: dict[str, Text] = {}

    def rule(self, name: str) -> Text:
        """Compile a rule when it is met first: rules stand within themselves."""

        def draw(source: Source, depth: int) -> str:
            if name not in self.known:
                self.known[name] = self.part(self.rules[name])
            return self.known[name](source, depth + 1)

        return draw

    def part(self, part: Expression) -> Text:
        match part:
            case Literal(text=text):
                return lambda source, depth: text
            case Range():
                return self.character(part)
            case RuleRef(name=name):
                return self.rule(name)
            case Sequence(parts=parts):
                row = [self.part(each) for each in parts]
                return lambda source, depth: "".join([draw(source, depth) for draw in row])
            case Alternatives():
                return self.alternatives(part)
            case Repeat():
                return self.repeated(part)

    def character(self, part: Range) -> Text:
        codes = [code for code in (part.first, part.last) if code not in SURROGATES]
        plainest = PLAINEST if part.first <= PLAINEST <= part.last else codes[0]
        span = part.last - part.first
        distance, edge = self.choices.integer(0, span), self.choices.pick(codes)
        kind = self.choices.pick(("plain", "any", "any", "edge"))

        def draw(source: Source, depth: int) -> str:
            chosen = kind(source)
            if chosen == "any":
                code = part.first + (plainest - part.first + distance(source)) % (span + 1)
                return chr(plainest if code in SURROGATES else code)
            return chr(edge(source) if chosen == "edge" else plainest)

        return draw

    def alternatives(self, part: Alternatives) -> Text:
        def cost(option: Expression) -> tuple[int, bool]:
            plain = isinstance(option, Range) and option.first <= PLAINEST <= option.last
            return height(option, self.heights), not plain

        options = [self.part(option) for option in sorted(part.options, key=cost)]
        shortest, pick = options[0], self.choices.pick(options)
        return lambda source, depth: (shortest if depth > DEEPEST else pick(source))(source, depth)

    def repeated(self, part: Repeat) -> Text:
        least = part.least
        more = self.choices.more(least, MOST if part.most is None else part.most)
        # Whoever chooses passes on what an item is told, whatever it is.
        item = cast(Text, self.choices.item(cast(Draw, self.part(part.part))))

        def draw(source: Source, depth: int) -> str:
            texts: list[str] = []
            while len(texts) < least or (depth <= DEEPEST and more(source, len(texts))):
                texts.append(item(source, depth))
            return "".join(texts)

        return draw


def heights(grammar: Grammar) -> dict[str, int]:
    """Return how many rules the flattest text of each rule needs, one within the other."""
    known: dict[str, int] = {}
    while len(known) < len(grammar.rules):
        # A text that needs a rule more than others is known one round later: the first that is found is the flattest.
        found = {
            rule.name: height(rule.expression, known)
            for rule in grammar.rules
            if rule.name not in known and within(rule.expression, known)
        }
        known |= found
    return known


def within(part: Expression, known: dict[str, int]) -> bool:
    """Tell whether a part has a text of rules that are known."""
    match part:
        case RuleRef(name=name):
            return name in known
        case Alternatives(options=options):
            return any(within(option, known) for option in options)
        case Repeat(least=0):
            return True
    return all(within(child, known) for child in children(part))


def height(part: Expression, known: dict[str, int]) -> int:
    """Return how many rules the flattest text of a part needs."""
    match part:
        case RuleRef(name=name):
            return 1 + known[name]
        case Alternatives(options=options):
            return min(height(option, known) for option in options if within(option, known))
        case Repeat(least=0):
            return 0
    return max((height(child, known) for child in children(part)), default=0)
