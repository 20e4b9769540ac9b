"""Monitors: pure functions from what was said on a link to findings, whoever recorded it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One observation that bears on a rule: whether it is kept, where in the trace, and what came if it is not.

    ``reading`` and ``option`` say which reading of the document the observation follows, where that is the question.
    """

    ok: bool
    entry: int
    what: str = ""
    reading: str = ""
    option: str = ""


def kept(entry: int) -> Finding:
    """Say that the rule is kept here."""
    return Finding(True, entry)


def broken(entry: int, what: str) -> Finding:
    """Say that the rule is broken here."""
    return Finding(False, entry, what)


def follows(entry: int, reading: str, option: str) -> Finding:
    """Say which option of a reading is followed here; the profile decides whether that keeps the rule."""
    return Finding(True, entry, "", reading, option)


Watch = Callable[[Any], Iterable[Finding]]


class Monitor(msgspec.Struct, frozen=True):
    """One monitor: the rules that it judges and the function from a conversation to findings."""

    rules: tuple[str, ...]
    watch: Watch

    @property
    def name(self) -> str:
        """The function's name."""
        return self.watch.__name__


class Monitors:
    """The monitors of one protocol, in the order of their declaration."""

    def __init__(self) -> None:
        self.all: list[Monitor] = []

    def __call__(self, *rules: str) -> Callable[[Watch], Watch]:
        """Register a function as the monitor of some rules."""

        def register(watch: Watch) -> Watch:
            self.all.append(Monitor(rules, watch))
            return watch

        return register

    def __iter__(self) -> Iterator[Monitor]:
        return iter(self.all)
