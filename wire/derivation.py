"""Reading a text by a grammar, whatever grammar it is: the derivation of the text, or where it stops to have one.

This is Earley's algorithm (Communications of the ACM 13, 1970) over ``wire/networks.py``, with one character of
lookahead. A **state** is a place of a rule, reached at ``end`` by a rule that began at ``origin``; states are found
from left to right, all that a text can mean at once, so nothing is ever tried and given up. Of any grammar the time is
at most cubic in the length of the text; where what follows decides, as in most languages of protocols, it is linear.

Where a text has several derivations one is taken: from the last part of a rule to its first, the part that stands
first in the rule; where that is the same, the one that ends first in its own rule, so an empty one before all others;
then the longest.
"""

from typing import NamedTuple, NoReturn

import msgspec

from wire.abnf import Grammar
from wire.errors import WireError
from wire.networks import END, Branch, Network, network

EVERYTHING = -1
"""The lookahead that rules nothing out."""


class NoDerivation(WireError):
    """A text that a grammar has not: ``offset`` in characters, which ``expected`` places belong there.

    The offset is the end of the longest beginning that some text of the grammar has; ``whole`` tells whether that
    beginning is itself a text of the grammar, so that the fault is that something follows it.
    """

    def __init__(self, offset: int, expected: tuple[str, ...], whole: bool) -> None:
        super().__init__(f"no text of the grammar, at character {offset}: expected {' '.join(expected)}")
        self.offset = offset
        self.expected = expected
        self.whole = whole


class DerivedRule(NamedTuple):
    """A rule that stands for ``text[start:end]``, and how many ``parts`` of it are rules again."""

    rule: str
    start: int
    end: int
    parts: int


class Derivation(msgspec.Struct, frozen=True):
    """How a grammar has a text: its rules, each after its parts, and the branches of the grammar that they take.

    A list and no tree, so that it may be as deep as it likes: whoever reads it keeps a stack.
    """

    nodes: tuple[DerivedRule, ...]
    branches: frozenset[Branch]


def derive(grammar: Grammar, text: str) -> Derivation:
    """Return the derivation of a text. Raises ``NoDerivation``, and ``CannotDerive`` for the grammar."""
    chart = _Chart(network(grammar), text)
    return chart.derivation(chart.read())


def derives(grammar: Grammar, text: str) -> bool:
    """Tell whether a text is one of the grammar's. Raises ``CannotDerive`` for the grammar."""
    try:
        _Chart(network(grammar), text).read()
    except NoDerivation:
        return False
    return True


Step = tuple[int, int]
"""Two places of a rule, one after the other; -1 is the end."""

State = tuple[int, int]
"""A place, and where its rule began."""

Scan = tuple[int, int, int]
"""A place, the step from it that takes a character, and where the rule began."""


class _Chart:
    """The states of a text.

    ``backs`` has how each state was reached first of all in the order of the grammar: the place before, the last place
    of the rule in between, or -1 for a character, and where that began. States and those three are packed into
    integers, since a long text has a lot of them.
    """

    def __init__(self, net: Network, text: str) -> None:
        self.net = net
        self.text = text
        self.bits = [net.ascii[code] if (code := ord(character)) < 128 else net.bit(character) for character in text]
        self.size = len(text) + 1
        self.places = len(net.rule)
        self.backs: dict[int, int] = {}
        # By position and rule: the states that wait for the rule's end, with the step that they then take.
        self.waiting: dict[tuple[int, int], list[Scan]] = {}

    def read(self) -> int:
        """Return the last place of the first rule, over the whole text. Raises ``NoDerivation``."""
        backs, size, places = self.backs, self.size, self.places
        states: list[State] = []
        for at, bit in enumerate(self.bits):
            scans, _ = self.close(at, states, bit)
            if not scans:
                self.refuse(at, states)
            states = []
            # As ``reach`` does: written out, as it is once for every character.
            for place, step, origin in scans:
                back = place * (places + 1) * size + at
                known = backs.get(key := ((at + 1) * size + origin) * places + step)
                if known is None:
                    states.append((step, origin))
                if known is None or back < known:
                    backs[key] = back
        at = len(self.text)
        finals = self.close(at, states, END)[1]
        if not finals:
            self.refuse(at, states)
        return min(finals)

    def refuse(self, at: int, kernel: list[State]) -> NoReturn:
        """Raise ``NoDerivation`` at a position that these states reach with the character before it."""
        # Once more, whatever follows: the lookahead has left out what also belongs there.
        self.waiting = {key: value for key, value in self.waiting.items() if key[0] != at}
        self.backs = {}
        scans, finals = self.close(at, kernel, EVERYTHING)
        labels = {self.net.label[step].split("#")[0] for _, step, _ in scans}
        raise NoDerivation(at, (*sorted(labels), *(["the end"] if finals else [])), bool(finals))

    def close(self, at: int, kernel: list[State], bit: int) -> tuple[list[Scan], list[int]]:
        """Find all states of a position, given those that take the character before it, and what follows it.

        Returns the steps that take what follows, and the last places of the first rule if it may end here.
        """
        net, waiting = self.net, self.waiting
        moves = net.moves_before(bit)
        scans: list[Scan] = []
        finals: list[int] = []
        states = list(kernel)
        begun: set[int] = set()
        passed: dict[int, list[int]] = {}  # rules without a character, which began here, and their last places
        if at == 0:
            begun.add(0)
            states.append((net.starts[0], 0))
        for place, origin in states:
            ending, taking, calling = moves[place] or net.find_moves(place, bit)
            if ending is not None:
                if ending == 0 and origin == 0:
                    finals.append(place)
                if origin == at:
                    passed.setdefault(ending, []).append(place)
                for before, step, start in waiting.get((origin, ending), ()):
                    if net.ahead[step] & bit:
                        self.reach(at, start, step, self.packed(before, place, origin), states)
            for step in taking:
                scans.append((place, step, origin))
            for step, called in calling:
                waiting.setdefault((at, called), []).append((place, step, origin))
                if called not in begun:
                    begun.add(called)
                    states.append((net.starts[called], at))
                for last in passed.get(called, ()):
                    self.reach(at, origin, step, self.packed(place, last, at), states)
        return scans, finals

    def reach(self, end: int, origin: int, place: int, back: int, states: list[State]) -> None:
        """Note how a state is reached; if it is for the first time, add it to those that are looked at."""
        key = (end * self.size + origin) * self.places + place
        known = self.backs.get(key)
        if known is None:
            states.append((place, origin))
        if known is None or back < known:
            self.backs[key] = back

    def packed(self, before: int, last: int, start: int) -> int:
        """Return how a state is reached as one integer; the least one stands first in the grammar."""
        return (before * (self.places + 1) + last + 1) * self.size + start

    def derivation(self, final: int) -> Derivation:
        """Follow the states back from the last one."""
        net, bits = self.net, self.bits
        nodes: list[DerivedRule] = []
        taken: set[Step] = set()
        characters: set[tuple[int, int]] = set()
        # From the right to the left, outer rules first: the other way round as nodes stand.
        ahead: list[tuple[int, int, int]] = [(len(self.text), 0, final)]
        while ahead:
            end, origin, last = ahead.pop()
            if last < 0:
                inside = -1 - last, bits[origin]
                characters.add(inside)
                for name, parts in net.names_inside(*inside):
                    nodes.append(DerivedRule(name, origin, end, parts))
            else:
                within = self.parts(end, origin, last, taken)
                nodes.append(DerivedRule(net.names[net.rule[last]], origin, end, len(within)))
                within.reverse()
                ahead += within
        nodes.reverse()
        for rule, bit in characters:
            for _, *steps in net.inside(rule, bit):
                taken.update(steps)
        return Derivation(tuple(nodes), frozenset(net.branch[step] for step in taken))

    def parts(self, end: int, origin: int, place: int, taken: set[Step]) -> list[tuple[int, int, int]]:
        """Return the rules within a rule from right to left: end, beginning, last place, or which has one character."""
        backs, size, places, calls = self.backs, self.size, self.places, self.net.calls
        found: list[tuple[int, int, int]] = []
        taken.add((place, -1))
        while (back := backs.get((end * size + origin) * places + place)) is not None:
            rest, start = divmod(back, size)
            before, last = divmod(rest, places + 1)
            taken.add((before, place))
            if last:
                found.append((end, start, last - 1))
            elif calls[place] >= 0:
                found.append((end, start, -1 - calls[place]))
            end, place = start, before
        return found
