"""Reading texts of JSON, strict or relaxed: one pass from left to right, with a stack of its own.

A text is refused at the end of its longest beginning that some text has. What usually stands at a place is one regular
expression, linear in what it reads; the unusual, escapes and faults, is looked at when that has failed.
"""

import re
from typing import Any, NamedTuple, NoReturn

from wire.errors import Reason
from wire.json.strict import item_path, member_path
from wire.kinds.language import Unread
from wire.rai.json_values import Members, Number, Value


class Unreadable(Unread):
    """Where a text is refused, in characters, at which path, and why."""

    def __init__(self, offset: int, whole: bool, path: str, detail: str, reason: Reason | None) -> None:
        super().__init__(offset, whole)
        self.path = path
        self.detail = detail
        self.reason = reason


class Syntax(NamedTuple):
    """What texts are made of.

    ``white`` is white space; ``name`` a name without escapes, with its colon (groups: quoted, bare); ``value`` what
    begins a value (groups: a text without escapes, a number, a word, a bracket, the quote of another text); ``plain``
    what stands in a text without escapes, ``fraction`` and ``exponent`` what may follow the digits of a number. All
    that is ``relaxed`` beside these: commas before closing brackets, unknown escapes, what follows the last bracket.
    """

    white: re.Pattern[str]
    name: re.Pattern[str]
    value: re.Pattern[str]
    plain: re.Pattern[str]
    relaxed: bool


def _syntax(white: str, plain: str, number: str, words: str, *, relaxed: bool) -> Syntax:
    names = words if relaxed else "(?!)"
    return Syntax(
        re.compile(f"{white}*"),
        re.compile(f'(?:"({plain}*)"|({names})){white}*:{white}*'),
        re.compile(f'"({plain}*)"|({number})|({words})|([{{\\[])|(")'),
        re.compile(f"{plain}*"),
        relaxed,
    )


NUMBER = r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
WORD = r"[A-Za-z_][A-Za-z0-9_.-]*"
RELAXED_NUMBER, RELAXED_WORD = re.compile(NUMBER), re.compile(WORD)

LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

STRICT = _syntax(
    r"[ \t\n\r]",
    r'[^"\\\x00-\x1f]',
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    "true|false|null",
    relaxed=False,
)
"""RFC 8259, but that an object may have a name twice."""

RELAXED = _syntax(
    r"[ \t-\r]",  # isspace() of C
    r'[^"\\\x00]',
    NUMBER,
    WORD,
    relaxed=True,
)
"""What the parser of the protocol's author takes. Reading: ``inf`` and ``nan`` are words as any others."""

BYTE_ORDER_MARK = "\ufeff"

WHITE = " \t\n\v\f\r"
"""What makes looking for white space worth while; the end of a text does as well."""

Container = list[Any]
"""What an object or array that has not ended has so far: pairs or values."""

HEX, HIGH, LOW = "[0-9A-Fa-f]", "[89ABab]", "[C-Fc-f]"

UNITS = tuple(
    tuple(map(re.compile, ("u", *steps)))
    for steps in (
        ("[1-9A-CEFa-cef]", HEX, HEX, HEX),
        ("[Dd]", "[0-7]", HEX, HEX),
        ("[Dd]", HIGH, HEX, HEX, r"\\", "u", "[Dd]", LOW, HEX, HEX),
        ("0", "[1-9A-Fa-f]", HEX, HEX),
        ("0", "0", "[1-9A-Fa-f]", HEX),
        ("0", "0", "0", "[1-9A-Fa-f]"),
    )
)
"""What may stand behind the backslash of an escape for a character: no NUL, and no half of a surrogate pair."""

ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
EXPONENT = re.compile("[eE][+-]?")


def is_number(text: str) -> bool:
    """Tell whether a text is a number as it may be spelled."""
    return RELAXED_NUMBER.fullmatch(text) is not None


def is_word(text: str) -> bool:
    """Tell whether a text may stand without quotes, as a value and as a name."""
    return bool(RELAXED_WORD.fullmatch(text)) and not text.startswith(tuple(LITERALS))


def scan(text: str, syntax: Syntax, deepest: int | None = None) -> Value:
    """Return the value of a text. Raises ``Unreadable``; with reason too-long more than ``deepest`` levels down."""
    return _Scan(text, syntax, deepest).value()


class _Scan:
    """One text that is being read.

    ``open`` are the objects and arrays that have not ended, ``names`` the member of each that is being read, ``None``
    of arrays.
    """

    def __init__(self, text: str, syntax: Syntax, deepest: int | None) -> None:
        self.text = text
        self.syntax = syntax
        self.deepest = deepest
        self.open: list[Container] = []
        self.names: list[str | None] = []

    def value(self) -> Value:
        """Read the whole text."""
        # Each step is once for every value, so what it uses is at hand, and white space looked for where there is some.
        text, white, value_at, name_at = (
            self.text,
            self.syntax.white.match,
            self.syntax.value.match,
            self.syntax.name.match,
        )
        relaxed, open_, names = self.syntax.relaxed, self.open, self.names
        at = white(text, 1 if relaxed and text.startswith(BYTE_ORDER_MARK) else 0).end()  # type: ignore[union-attr]
        while True:
            # A value begins here.
            found: Value
            match = value_at(text, at)
            if match is None:
                self.refuse_value(at)
            kind = match.lastindex
            if kind == 1:
                found, at = match[1], match.end()
            elif kind == 2:
                found, at = Number(match[2]), match.end()
            elif kind == 3:
                found, at = self.word(match[3], at)
            elif kind == 5:
                found, at = self.escaped(at)
            else:
                if len(open_) == self.deepest:
                    self.refuse(at, f"more than {self.deepest} levels", Reason.TOO_LONG)
                at = white(text, at + 1).end()  # type: ignore[union-attr]
                if match[4] == "[":
                    if not text.startswith("]", at):
                        open_.append([])
                        names.append(None)
                        continue
                    found = []
                else:
                    if not text.startswith("}", at):
                        open_.append([])
                        names.append("")
                        at = self.name(at, first=True)
                        continue
                    found = Members()
                at += 1
            # A value has ended here; perhaps so have those around it.
            while open_:
                name = names[-1]
                open_[-1].append(found if name is None else (name, found))
                closing = "]" if name is None else "}"
                mark = text[at : at + 1]
                if mark in WHITE:
                    at = white(text, at).end()  # type: ignore[union-attr]
                    mark = text[at : at + 1]
                if mark == ",":
                    at += 1
                    if text[at : at + 1] in WHITE:
                        at = white(text, at).end()  # type: ignore[union-attr]
                    if not (relaxed and text.startswith(closing, at)):
                        if name is not None:
                            following = name_at(text, at)
                            if following is None:
                                at = self.name(at, first=False)
                            else:
                                names[-1] = following[following.lastindex]  # type: ignore[index]
                                at = following.end()
                        break
                elif mark != closing:
                    self.refuse_after(at, match, closing)
                at += 1
                names.pop()
                items = open_.pop()
                found = items if name is None else Members(items)
            else:
                self.end(at, match, found)
                return found

    def end(self, at: int, match: re.Match[str], found: Value) -> None:
        """Look at what stands behind the whole value."""
        if self.syntax.relaxed and isinstance(found, Members | list):
            return
        end = self.syntax.white.match(self.text, at).end()  # type: ignore[union-attr]
        if end < len(self.text):
            self.number_goes_on(at, match)
            raise Unreadable(end, True, "", "something behind the value", None)

    def name(self, at: int, *, first: bool) -> int:
        """Read the name of a member and its colon, whatever is between; return where its value begins."""
        text, white = self.text, self.syntax.white.match
        bare = self.syntax.relaxed and RELAXED_WORD.match(text, at)
        if text.startswith('"', at):
            self.names[-1] = ""
            self.names[-1], at = self.escaped(at)
        elif bare:
            self.names[-1], at = bare[0], bare.end()
        else:
            self.names[-1] = ""
            self.refuse(at, "the name of a member belongs here" + (" or }" if first or self.syntax.relaxed else ""))
        at = white(text, at).end()  # type: ignore[union-attr]
        if not text.startswith(":", at):
            self.refuse(at, "a colon belongs here")
        return white(text, at + 1).end()  # type: ignore[union-attr]

    def word(self, word: str, start: int) -> tuple[Value, int]:
        """Return what a word stands for, and its end: a literal, also where the word would go on, or a text."""
        for literal, value in LITERALS.items():
            if word.startswith(literal):
                return value, start + len(literal)
        return word, start + len(word)

    def escaped(self, start: int) -> tuple[str, int]:
        """Read a text that has escapes, or a fault; return it and its end."""
        text, plain, at = self.text, self.syntax.plain.match, start + 1
        pieces = []
        while True:
            match = plain(text, at)
            assert match is not None  # it may be empty
            pieces.append(match[0])
            at = match.end()
            if text.startswith('"', at):
                return "".join(pieces), at + 1
            if not text.startswith("\\", at):
                self.refuse(at, "control characters are escaped in a text")
            piece, at = self.escape(at + 1)
            pieces.append(piece)

    def escape(self, at: int) -> tuple[str, int]:
        """Read what stands behind a backslash."""
        letter = self.text[at : at + 1]
        if letter == "u":
            return self.unit(at)
        if letter in ESCAPES and letter:
            return ESCAPES[letter], at + 1
        # Unknown escapes stand for their character.
        if not self.syntax.relaxed or letter in ("", "\0"):
            self.refuse(at, "no escape")
        return letter, at + 1

    def unit(self, at: int) -> tuple[str, int]:
        """Read an escape for a character, by the way that goes on longest."""
        reached = [
            next((place for place, step in enumerate(steps) if not step.match(self.text, at + place)), len(steps))
            for steps in UNITS
        ]
        ways = [at + size for size, steps in zip(reached, UNITS, strict=True) if size == len(steps)]
        if not ways:
            self.refuse(at + max(reached), "no escape for a character")
        codes = self.text[at + 1 : ways[0]].split("\\u")
        return b"".join(int(code, 16).to_bytes(2) for code in codes).decode("utf-16-be"), ways[0]

    def refuse_value(self, at: int) -> NoReturn:
        """Refuse what cannot begin a value."""
        text = self.text
        if text.startswith("-", at) or (self.syntax.relaxed and text.startswith("+", at)):
            self.refuse(at + 1, "a digit belongs here")
        if not self.syntax.relaxed:
            # A literal that is not complete.
            for literal in LITERALS:
                length = next(size for size in range(len(literal), -1, -1) if text.startswith(literal[:size], at))
                if length:
                    self.refuse(at + length, f"{literal} is not complete")
        self.refuse(at, "a value belongs here")

    def refuse_after(self, at: int, match: re.Match[str], closing: str) -> NoReturn:
        """Refuse what cannot follow a value."""
        self.number_goes_on(at, match)
        self.refuse(at, f"a comma or {closing} belongs here")

    def number_goes_on(self, at: int, match: re.Match[str]) -> None:
        """Refuse a number that has begun a fraction or an exponent, and no more."""
        if match.lastindex != 2 or match.end() != at:
            return
        number, text = match[2].lower(), self.text
        exponent = EXPONENT.match(text, at)
        if exponent and "e" not in number:
            self.refuse(exponent.end(), "a digit belongs here")
        if text.startswith(".", at) and "e" not in number and "." not in number:
            self.refuse(at + 1, "a digit belongs here")

    def refuse(self, at: int, detail: str, reason: Reason | None = None) -> NoReturn:
        """Raise ``Unreadable``."""
        path = ""
        for items, name in zip(self.open, self.names, strict=True):
            path = item_path(path, len(items)) if name is None else member_path(path, name) if name else path
        there = detail if at < len(self.text) or reason else f"the text ends: {detail}"
        raise Unreadable(at, False, path, there, reason)
