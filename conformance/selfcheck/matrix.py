"""The kill matrix as values: a row for each of our own peers, and what is wrong with the whole.

What falls with a fault besides its own rules is kept, so that a fault which fells everything shows: it proves nothing
about any rule.
"""

from typing import Literal

import msgspec

from conformance.verdicts import Outcome

Kind = Literal["original", "fault", "oddity", "latency", "pair"]
"""A reference peer as it is; one that breaks a rule; one that keeps it in an unusual way; an innocent one that is slow;
one with two oddities."""


class MatrixRow(msgspec.Struct, frozen=True):
    """The verdicts of all cases and monitors on one peer: every rule's worst outcome, and who accused it.

    ``rules`` are those that a fault breaks by its own account, or that an oddity keeps in an unusual way.
    """

    kind: Kind
    name: str
    role: str
    rules: tuple[str, ...]
    sentence: str
    outcomes: dict[str, Outcome]
    accusers: dict[str, tuple[str, ...]]
    errors: tuple[str, ...] = ()

    @property
    def killed(self) -> tuple[str, ...]:
        """The rules of its own that are seen to be broken."""
        return tuple(rule for rule in self.rules if rule in self.accusers)

    @property
    def survived(self) -> tuple[str, ...]:
        """The rules of its own that nobody sees broken."""
        return tuple(rule for rule in self.rules if rule not in self.accusers)

    @property
    def collateral(self) -> tuple[str, ...]:
        """The other rules that are accused with it."""
        return tuple(rule for rule in self.accusers if rule not in self.rules)


class Matrix(msgspec.Struct, frozen=True):
    """The whole matrix, and what is wrong with it."""

    protocol: str
    rows: tuple[MatrixRow, ...]
    unguarded: tuple[str, ...]

    @property
    def survivors(self) -> list[tuple[str, str]]:
        """Pairs of a fault and a rule of it that nobody sees broken."""
        return [(row.name, rule) for row in self.rows if row.kind == "fault" for rule in row.survived]

    @property
    def false_accusations(self) -> list[tuple[str, str]]:
        """Pairs of an innocent peer and a rule that it is accused of breaking."""
        return [(row.name, rule) for row in self.rows if row.kind != "fault" for rule in sorted(row.accusers)]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Pairs of a peer and what went wrong in the tester itself."""
        return [(row.name, error) for row in self.rows for error in row.errors]

    @property
    def is_sound(self) -> bool:
        """Whether every fault is caught, every rule guarded, and nobody accused in vain."""
        # Errors too: a case that failed in itself has judged nothing, and would pass for a peer that keeps the rule.
        return not (self.survivors or self.false_accusations or self.unguarded or self.errors)
