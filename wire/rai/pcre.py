"""The part of PCRE that patterns of wildcards are made of, read into a tree (section "Wildcard Subscription").

::

    Expression = Characters | Boundary | Sequence of Expressions | Choice of Expressions | Repeated Expression

"A PCRE based match", the document says, and shows what wildcards become. Read is what has an automaton, so that a
pattern that a stranger has sent costs no more than its length times that of the subject; all else is refused by name:
what looks around, looks back at what was matched, calls itself, or matches less than it could.
"""

from typing import NoReturn

import msgspec

from wire.errors import WireError

DEEPEST = 64
"""Groups within groups: a pattern is read and compiled by functions that call themselves."""

MOST_TIMES = 1000
"""The largest number in braces; PCRE has 65535, of which none is a wildcard."""


class UnsupportedPattern(WireError):
    """A pattern that is not matched here: ``offset`` in characters, and the construct's name."""

    def __init__(self, offset: int, construct: str) -> None:
        super().__init__(f"a pattern that is not matched here, at character {offset}: {construct}")
        self.offset = offset
        self.construct = construct


class Characters(msgspec.Struct, frozen=True):
    """One character of some ranges of codes, or one of no such range."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False

    def has(self, character: str) -> bool:
        """Tell whether a character is one of these."""
        code = ord(character)
        return any(first <= code <= last for first, last in self.ranges) != self.negated


class Boundary(msgspec.Struct, frozen=True):
    """A place of the subject: its ``start``, its ``end``, or its ``line-end``: that, or before a newline there."""

    place: str


class InRow(msgspec.Struct, frozen=True):
    """One part after the other."""

    parts: "tuple[Pattern, ...]"


class Choice(msgspec.Struct, frozen=True):
    """One of some parts."""

    options: "tuple[Pattern, ...]"


class Repeated(msgspec.Struct, frozen=True):
    """A part ``least`` to ``most`` times; ``None`` is without an end."""

    part: "Pattern"
    least: int
    most: int | None


Pattern = Characters | Boundary | InRow | Choice | Repeated

ANY = Characters((), negated=True)
NOT_NEWLINE = Characters(((10, 10),), negated=True)

CLASSES = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
    "h": ((9, 9), (32, 32), (160, 160)),
}
"""What ``\\d`` and its like have, as PCRE does without Unicode's properties; capitals have all others."""

HEX = frozenset("0123456789abcdefABCDEF")

CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "e": 27, "a": 7}

BOUNDARIES = {"A": "start", "z": "end", "Z": "line-end"}

REFUSED_ESCAPES = {
    "b": "a word boundary",
    "B": "a word boundary",
    "G": "the place where matching began",
    "K": "a match that begins anew",
    "R": "any line break",
    "X": "a grapheme",
    "C": "one byte",
    "N": "a character that is no newline, or a name of one",
    "p": "a property of Unicode",
    "P": "a property of Unicode",
    "g": "a reference to a group",
    "k": "a reference to a group",
    "Q": "a quotation",
    "E": "the end of a quotation",
    "c": "a control character by its letter",
    "o": "an octal code",
    "v": "vertical white space",
    "V": "vertical white space",
    "H": "no horizontal white space",
    "u": "\\u",
    "U": "\\U",
    "l": "\\l",
    "L": "\\L",
}

REFUSED_GROUPS = {
    "?=": "a look ahead",
    "?!": "a look ahead",
    "?<=": "a look behind",
    "?<!": "a look behind",
    "?>": "an atomic group",
    "?|": "a group whose numbers start over",
    "?#": "a comment",
    "?R": "a pattern within itself",
    "?&": "a call of a group",
    "?P>": "a call of a group",
    "?P=": "a reference to a group",
    "?(": "a condition",
    "?C": "a callout",
    "*": "a verb",
}


def read(pattern: str) -> Pattern:
    """Read a pattern. Raises ``UnsupportedPattern``, for what is no pattern at all too."""
    reading = _Reading(pattern)
    found = reading.choice(0)
    if reading.at < len(pattern):
        reading.refuse("a parenthesis that nothing opens")
    return found


class _Reading:
    """A pattern that is being read; ``all_lines`` is whether a point is a newline too: the flag ``s``."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.all_lines = False

    def refuse(self, construct: str, at: int | None = None) -> NoReturn:
        """Raise ``UnsupportedPattern``."""
        raise UnsupportedPattern(self.at if at is None else at, construct)

    def next_is(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Read a text, if it stands here."""
        if not self.next_is(text):
            return False
        self.at += len(text)
        return True

    def choice(self, depth: int) -> Pattern:
        """Read what ``|`` parts; flags that are set in a group end with it."""
        flag = self.all_lines
        options = [self.row(depth)]
        while self.take("|"):
            options.append(self.row(depth))
        self.all_lines = flag
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def row(self, depth: int) -> Pattern:
        parts: list[Pattern] = []
        while self.at < len(self.pattern) and not self.next_is("|") and not self.next_is(")"):
            part = self.atom(depth)
            if part is not None:
                parts.append(self.quantified(part))
        return parts[0] if len(parts) == 1 else InRow(tuple(parts))

    def atom(self, depth: int) -> Pattern | None:
        """Read one part; ``None`` where it only sets flags."""
        start = self.at
        character = self.pattern[start]
        self.at += 1
        match character:
            case "(":
                return self.group(depth)
            case "[":
                return self.set(start)
            case ".":
                return ANY if self.all_lines else NOT_NEWLINE
            case "^":
                return Boundary("start")
            case "$":
                return Boundary("line-end")
            case "\\":
                return self.escape(start)
            case "*" | "+" | "?":
                self.refuse("a quantifier of nothing", start)
        return _one(ord(character))

    def group(self, depth: int) -> Pattern | None:
        start = self.at - 1
        if depth == DEEPEST:
            self.refuse(f"more than {DEEPEST} groups within each other", start)
        for opening, construct in REFUSED_GROUPS.items():
            if self.next_is(opening):
                self.refuse(construct, start)
        if self.take("?:"):
            pass
        elif self.take("?"):
            if not (self.next_is("<") or self.next_is("P<") or self.next_is("'")):
                self.flags(start)
                return None
            closing = "'" if self.next_is("'") else ">"
            end = self.pattern.find(closing, self.at + 1)
            name = self.pattern[self.at : end].lstrip("P<'")
            if end < 0 or not name.isidentifier() or not name.isascii():
                self.refuse("a group whose name is no word", start)
            self.at = end + 1
        found = self.choice(depth + 1)
        if not self.take(")"):
            self.refuse("a group that does not end", start)
        return found

    def flags(self, start: int) -> None:
        """Read ``(?s)`` or ``(?-s)``."""
        on = not self.take("-")
        if not self.take("s"):
            flag = self.pattern[self.at : self.at + 1]
            self.refuse(f"the flag {flag}" if flag.isalpha() else "a group of a kind that is not known", start)
        if not self.take(")"):
            self.refuse("a flag beside s, or for one group", start)
        self.all_lines = on

    def quantified(self, part: Pattern) -> Pattern:
        """Read what says how often a part stands there; a lazy quantifier has the same texts."""
        start = self.at
        least: int
        most: int | None
        if self.take("*"):
            least, most = 0, None
        elif self.take("+"):
            least, most = 1, None
        elif self.take("?"):
            least, most = 0, 1
        elif bounds := self.braces():
            least, most = bounds
        else:
            return part
        if self.next_is("+"):
            self.refuse("a possessive quantifier", start)
        self.take("?")
        if self.at < len(self.pattern) and (self.pattern[self.at] in "*+?" or self.is_braces()):
            self.refuse("a quantifier of a quantifier")
        return Repeated(part, least, most)

    def is_braces(self) -> bool:
        at = self.at
        found = self.braces() is not None
        self.at = at
        return found

    def braces(self) -> tuple[int, int | None] | None:
        """Read ``{2}``, ``{2,}`` or ``{2,3}``; any other brace stands for itself."""
        end = self.pattern.find("}", self.at, self.at + 16)
        if not self.next_is("{") or end < 0:
            return None
        least, comma, most = self.pattern[self.at + 1 : end].partition(",")
        if not _is_number(least) or (most and not _is_number(most)):
            return None
        first, last = int(least), int(most) if most else None if comma else int(least)
        if max(first, last or 0) > MOST_TIMES:
            self.refuse(f"more than {MOST_TIMES} times")
        if last is not None and last < first:
            self.refuse("fewer times than at least")
        self.at = end + 1
        return first, last

    def escape(self, start: int) -> Pattern:
        """Read what stands behind a backslash, outside a class."""
        letter = self.pattern[self.at : self.at + 1]
        if letter in BOUNDARIES and letter:
            self.at += 1
            return Boundary(BOUNDARIES[letter])
        if letter.isdigit() and letter != "0":
            self.refuse("a reference to a group", start)
        ranges, negated = self.escaped(start)
        return Characters(ranges, negated)

    def escaped(self, start: int) -> tuple[tuple[tuple[int, int], ...], bool]:
        """Read an escape that stands for characters, inside a class or outside; return their ranges."""
        letter = self.pattern[self.at : self.at + 1]
        if not letter:
            self.refuse("a backslash at the end", start)
        self.at += 1
        if letter in CLASSES:
            return CLASSES[letter], False
        if letter.lower() in CLASSES and letter != "H":
            return CLASSES[letter.lower()], True
        if letter in CONTROLS:
            return ((CONTROLS[letter], CONTROLS[letter]),), False
        if letter == "x":
            code = self.code(start)
            return ((code, code),), False
        if letter.isascii() and letter.isalnum():
            self.refuse(REFUSED_ESCAPES.get(letter, f"\\{letter}"), start)
        return ((ord(letter), ord(letter)),), False

    def code(self, start: int) -> int:
        """Read ``41`` or ``{1F600}``."""
        if self.take("{"):
            end = self.pattern.find("}", self.at, self.at + 8)
            digits = self.pattern[self.at : end] if end > self.at else "?"
            self.at = end + 1
        else:
            digits = self.pattern[self.at : self.at + 2]
            digits = digits if set(digits) <= HEX else digits[:1]
            self.at += len(digits)
        if not digits or not set(digits) <= HEX or int(digits, 16) > 0x10FFFF:
            self.refuse("a code of no character", start)
        return int(digits, 16)

    def set(self, start: int) -> Pattern:
        """Read ``[a-z.]`` or ``[^.]``."""
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self.next_is("]"):
            first = False
            found = self.member(start)
            if self.next_is("-") and not self.next_is("-]") and len(found) == 1 and found[0][0] == found[0][1]:
                self.at += 1
                last = self.member(start)
                if len(last) != 1 or last[0][0] != last[0][1] or last[0][0] < found[0][0]:
                    self.refuse("a range of no characters", start)
                found = ((found[0][0], last[0][0]),)
            ranges += found
        self.at += 1
        return Characters(tuple(ranges), negated)

    def member(self, start: int) -> tuple[tuple[int, int], ...]:
        """Read one character or escape of a class."""
        if self.at >= len(self.pattern):
            self.refuse("a class that does not end", start)
        for opening in ("[:", "[.", "[="):
            if self.next_is(opening):
                self.refuse("a class by its name")
        character = self.pattern[self.at]
        at = self.at
        self.at += 1
        if character != "\\":
            return ((ord(character), ord(character)),)
        if self.take("b"):
            return ((8, 8),)
        ranges, negated = self.escaped(at)
        return _others(ranges) if negated else ranges


def _one(code: int) -> Characters:
    return Characters(((code, code),))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _others(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return what is in none of some ranges, which are in order."""
    found = []
    before = 0
    for first, last in ranges:
        if first > before:
            found.append((before, first - 1))
        before = last + 1
    return (*found, (before, 0x10FFFF))
