"""The document's own examples, which no parser takes as they are printed, written again as relaxed JSON.

In them commas are missing at the ends of lines, ``data {`` has no colon, values have characters that no word has
(``pgm://host:port``, ``prefix.>``, ``(?s)\\Aprefix.``), numbers are hexadecimal, and ``<msg data>`` stands for members.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from json.encoder import encode_basestring

from wire.rai.relaxed_scanner import LITERALS, WORD, is_number, is_word

_QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
_WHITE = re.compile(r"\s*")
_TEXT = re.compile(_QUOTED, re.DOTALL)
_NAME = re.compile(rf"({_QUOTED}|{WORD})\s*(?::|(?=\{{))", re.DOTALL)
_PLACEHOLDER = re.compile(r"""[^\n,{}\[\]"':]+""")
_RUN = re.compile(r"""[^\n,{}\[\]"']+""")
_HEXADECIMAL = re.compile(r"0[xX][0-9A-Fa-f]{1,16}")


def rewritten(text: str) -> tuple[str, Callable[[int], int]]:
    """Return an example as relaxed JSON, and what tells where in the example a character of that comes from."""
    rewriting = _Rewriting(text)
    rewriting.rewrite()
    starts, origins = rewriting.starts, rewriting.origins
    new = "".join(rewriting.pieces)
    return new, lambda offset: origins[bisect_right(starts, offset) - 1] if offset < len(new) else len(text)


class _Rewriting:
    """One example; of what it does not know it copies a character, and leaves the rest to the scanner."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.origins: list[int] = []
        self.length = 0

    def emit(self, piece: str, end: int) -> None:
        """Write a piece in place of what stands before ``end``."""
        self.pieces.append(piece)
        self.starts.append(self.length)
        self.origins.append(self.at)
        self.length += len(piece)
        self.at = end

    def white(self) -> bool:
        """Skip white space; tell whether a line ends in it."""
        start, self.at = self.at, _WHITE.match(self.text, self.at).end()  # type: ignore[union-attr]
        return "\n" in self.text[start : self.at]

    def rewrite(self) -> None:
        """Rewrite all."""
        open_brackets: list[str] = []
        ended = False  # whether a value has ended, so that a comma or bracket belongs here
        while True:
            new_line = self.white()
            if self.at == len(self.text):
                return
            character = self.text[self.at]
            if character in "{[":
                if ended and new_line:
                    self.emit(",", self.at)
                open_brackets.append(character)
                self.emit(character, self.at + 1)
                ended = False
            elif character in "}]" or (character == "," and ended):
                if character != "," and open_brackets:
                    open_brackets.pop()
                self.emit(character, self.at + 1)
                ended = character != ","
            else:
                if ended and new_line:
                    self.emit(",", self.at)
                in_object = bool(open_brackets) and open_brackets[-1] == "{"
                ended = self.member() if in_object else self.scalar()

    def member(self) -> bool:
        """Rewrite a name and what follows it; tell whether its value has ended."""
        name = _NAME.match(self.text, self.at)
        if name is None:
            return self.placeholder()
        self.emit(_word(name[1]) + ":", name.end())
        self.white()
        return self.text[self.at : self.at + 1] not in ("{", "[") and self.scalar()

    def placeholder(self) -> bool:
        """Leave out what stands for members, before a closing brace."""
        run = _PLACEHOLDER.match(self.text, self.at)
        end = _WHITE.match(self.text, run.end() if run else self.at).end()  # type: ignore[union-attr]
        if run and self.text.startswith("}", end):
            self.at = end
            return False
        self.emit(self.text[self.at], self.at + 1)
        return False

    def scalar(self) -> bool:
        """Rewrite a value without brackets."""
        found = _TEXT.match(self.text, self.at) or _RUN.match(self.text, self.at)
        if found is None:
            self.emit(self.text[self.at : self.at + 1], self.at + 1)
            return False
        self.emit(_word(found[0].rstrip()), found.end())
        return True


def _word(written: str) -> str:
    """Write a text or a run as relaxed JSON."""
    if written.startswith("'"):
        return '"' + written[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    if written.startswith('"') or written in LITERALS or is_number(written) or is_word(written):
        return written
    return str(int(written, 16)) if _HEXADECIMAL.fullmatch(written) else encode_basestring(written)
