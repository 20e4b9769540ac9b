"""The text of an expectation file, cut into entries so that one can be changed and all others stay as they are.

People write these files by hand, with comments and in an order that means something to them. To write the whole file
anew from its values would lose both.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from conformance.contract.expectations import BadExpectations

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*expect[ \t]*\]\]", re.MULTILINE)


class ExpectationFile:
    """The text of an expectation file, cut into what precedes the entries and the entries."""

    def __init__(self, text: str) -> None:
        starts = [_with_comment(text, match.start()) for match in _HEADER.finditer(text)]
        ends = [*starts[1:], len(text)][: len(starts)]
        self.head = text[: starts[0]] if starts else text
        self.entries: list[str | None] = [text[start:end] for start, end in zip(starts, ends, strict=True)]

    @classmethod
    def of(cls, path: Path | None, count: int) -> "ExpectationFile":
        """Return the text at a path, which has ``count`` entries; BadExpectations when it cannot be cut into as many.

        TOML has other ways to write an array of tables, which parse alike and which this does not find.
        """
        file = cls(path.read_text(encoding="utf-8") if path is not None and path.exists() else "")
        if len(file.entries) != count:
            raise BadExpectations(f"{path}: --accept needs each entry under a header of its own: [[expect]]")
        return file

    def remove(self, number: int) -> None:
        """Take out the entry of that index."""
        # Not popped: the other entries keep their indices, by which they are to be changed.
        self.entries[number] = None

    def change(self, number: int, **values: Any) -> None:
        """Set keys of an entry; a value of None removes the key."""
        text = self.entries[number]
        if text is None:
            return
        document = tomlkit.parse(text)
        table: Any = document["expect"][0]
        for key, value in values.items():
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        self.entries[number] = tomlkit.dumps(document)

    def add(self, values: Mapping[str, str | bool | list[str]]) -> None:
        """Append an entry."""
        table = tomlkit.table()
        for key, value in values.items():
            table[key] = value
        self.entries.append(f"[[expect]]\n{table.as_string()}")

    def text(self) -> str:
        """Return the whole text again, a blank line before each entry that was added."""
        text = self.head
        for entry in self.entries:
            if entry is None:
                continue
            if text and not text.endswith("\n"):
                text += "\n"
            if text and not text.endswith("\n\n") and entry.startswith("[["):
                text += "\n"
            text += entry
        return text


def _with_comment(text: str, start: int) -> int:
    """Return where an entry begins, counting the comment that stands right above its header."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
