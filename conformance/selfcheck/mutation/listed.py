"""Mutants that a person has looked at: those that change nothing, those that stay legal, and those that are still open.

They stand in ``conformance/<protocol>/mutants.toml``, by the text of the changed line and not by its number::

    [[mutant]]
    function = "harness.zenoh.peers.router.Router.drain"
    line = "link = self.hang_ups.pop(0)"     # as it is; left out: every line of the function
    becomes = "link = self.hang_ups.pop(-1)" # or several, [...]; left out: every change of that line
    why = "legal"                            # or "equivalent", "open"
    reason = "links end in whatever order"

An entry without ``becomes`` may stand beside mutants that are noticed; so it also hides what a case noticed once. It is
for lines and functions of which no document speaks at all. What is listed by its change and noticed after all is stale,
and so is what matches no mutant any more.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from conformance.selfcheck.mutation.operators import Mutant

Why = Literal["equivalent", "legal", "open"]
"""It does the same; it does what the documents allow or do not speak of; nobody has found a case for it yet."""


class BadList(Exception):
    """The list cannot be read; the message says where and why."""


class ListedMutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry: the mutants that it stands for, and why nobody need notice them."""

    function: str
    why: Why
    reason: str
    line: str = ""
    becomes: str | tuple[str, ...] = ""

    @property
    def changes(self) -> tuple[str, ...]:
        """What the line becomes in the mutants that the entry stands for; nothing for any."""
        return (self.becomes,) * bool(self.becomes) if isinstance(self.becomes, str) else self.becomes

    def covers(self, mutant: Mutant, source: bytes) -> bool:
        """Tell whether the entry stands for a mutant of a module with this source."""
        if self.function != f"{mutant.module}.{mutant.function}".rstrip("."):
            return False
        old, new = said(mutant, source)
        return self.line in ("", old) and (not self.changes or new in self.changes)


def said(mutant: Mutant, source: bytes) -> tuple[str, str]:
    """Return the line that a mutant of a module with this source changes, and what it becomes, as entries have them."""
    old, new = (" ".join(line.strip() for line in lines) for lines in mutant.lines(source))
    return old, new


def listed_mutants(path: Path) -> list[ListedMutant]:
    """Read a list; there may be none. ``BadList`` when it is not one."""
    if not path.exists():
        return []
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(found.get("mutant", []), list[ListedMutant])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadList(f"{path}: {error}") from error


def entry_for(entries: Iterable[ListedMutant], mutant: Mutant, source: bytes) -> ListedMutant | None:
    """Return the first entry that stands for a mutant."""
    return next((entry for entry in entries if entry.covers(mutant, source)), None)
