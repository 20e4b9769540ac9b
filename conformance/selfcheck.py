"""The kill matrix: every fault is caught by the cases of its rules, no oddity is accused.

Each mutant of the reference peer plays every case in memory and virtual time, so a row costs a second or two and is
the same on every machine. What falls with a fault besides its own rules is kept, so that a fault which fells
everything shows.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib import import_module

import msgspec

from conformance.cases import Case, cases
from conformance.engine import Suite, play
from conformance.examples import QUICK
from conformance.rules import Profile
from conformance.verdicts import Outcome, worst
from harness.environments import cache
from harness.faults import Variants

ORIGINAL = "original"


class Row(msgspec.Struct, frozen=True):
    """One mutant's row: its kind (``fault``, ``oddity``, ``original``), and every rule's outcome and accuser."""

    kind: str
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
    rows: tuple[Row, ...]
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
        """Pairs of a mutant and what went wrong in the tester itself."""
        return [(row.name, error) for row in self.rows for error in row.errors]

    @property
    def is_sound(self) -> bool:
        """Whether every fault is caught, every rule guarded, and nobody accused in vain."""
        return not (self.survivors or self.false_accusations or self.unguarded or self.errors)


class Mutant(msgspec.Struct, frozen=True):
    """What a row is made from."""

    kind: str
    name: str
    role: str
    rules: tuple[str, ...] = ()
    sentence: str = ""


def variants(protocol: str, kind: str) -> Variants:
    """Return the faults or the oddities of a protocol."""
    if kind == "fault":
        faults: Variants = import_module(f"harness.{protocol}.faults").FAULTS
        return faults
    oddities: Variants = import_module(f"harness.{protocol}.oddities").ODDITIES
    return oddities


def mutants(protocol: str) -> list[Mutant]:
    """Return every peer that the matrix holds: the originals, the faults, the oddities."""
    found = [Mutant(ORIGINAL, role, role) for role in import_module(f"harness.{protocol}").ROLES]
    for kind in ("fault", "oddity"):
        found += [Mutant(kind, v.name, v.role, v.rules, v.sentence) for v in variants(protocol, kind).all.values()]
    return found


def row(protocol: str, mutant: Mutant, profile: Profile, pattern: str = "", *, brief: bool = False) -> Row:
    """Play every case against one mutant; ``brief`` stops at a fault that is killed, the cases of its rules first."""
    suite = Suite(protocol)
    made = _make(suite, mutant)
    world = suite.harness.world(partial(made, profile=profile), mutant.role)
    outcomes: dict[str, list[Outcome]] = {}
    accusers: dict[str, list[str]] = {}
    errors: list[str] = []
    todo = fitting(protocol, mutant.role, pattern)
    if brief:
        todo.sort(key=lambda case: not set(case.marks.rules) & set(mutant.rules))
    for number, case in enumerate(todo, 1):
        if brief and mutant.kind == "fault" and set(mutant.rules) <= accusers.keys():
            break
        if not world.alive():
            world.restart()
        result = play(case, world, suite, profile=profile, number=number)
        for judgement in result.judgements:
            outcomes.setdefault(judgement.rule, []).append(judgement.outcome)
            if judgement.outcome.accuses:
                accusers.setdefault(judgement.rule, []).append(f"{judgement.case} ({judgement.by})")
            if judgement.outcome is Outcome.ERROR:
                errors.append(f"{judgement.case}: {judgement.what.strip().splitlines()[-1]}")
    return Row(
        mutant.kind,
        mutant.name,
        mutant.role,
        mutant.rules,
        mutant.sentence,
        {rule: worst(seen) for rule, seen in sorted(outcomes.items())},
        {rule: tuple(dict.fromkeys(seen)) for rule, seen in sorted(accusers.items())},
        tuple(dict.fromkeys(errors)),
    )


def fitting(protocol: str, role: str, pattern: str = "") -> list[Case]:
    """Return the cases that a role can play in memory and whose name or rules hold a pattern."""
    return [
        case
        for case in cases(protocol)
        if case.fits(role, "tcp") and (pattern in case.name or any(pattern in each for each in case.marks.rules))
    ]


def _make(suite: Suite, mutant: Mutant) -> Callable[..., object]:
    if mutant.kind == ORIGINAL:
        original: Callable[..., object] = suite.harness.ROLES[mutant.role]
        return original
    return variants(suite.protocol, mutant.kind).all[mutant.name].make


def _be_quick() -> None:
    """Let property cases stop at the first failing example, and leave nothing behind in whatever folder this is.

    The matrix asks whether, not which.
    """
    os.environ[QUICK] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache() / "hypothesis")


def matrix(
    protocol: str, *, profile: Profile = "document", workers: int = 0, brief: bool = False
) -> Iterator[Row | Matrix]:
    """Compute the matrix: rows as they are done, and the whole at the end; ``brief`` as for ``row``."""
    rows: list[Row] = []
    todo = mutants(protocol)
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, initializer=_be_quick) as pool:
        for done in as_completed([pool.submit(row, protocol, mutant, profile, brief=brief) for mutant in todo]):
            rows.append(done.result())
            yield rows[-1]
    order = {(mutant.kind, mutant.name): place for place, mutant in enumerate(todo)}
    rows.sort(key=lambda each: order[each.kind, each.name])
    guarded = {rule for each in rows if each.kind == "fault" for rule in each.killed}
    needed = [
        rule.id
        for rule in Suite(protocol).catalogue.rules.values()
        if {"wire", "monitor"} & set(rule.verified) and rule.id not in guarded
    ]
    yield Matrix(protocol, tuple(rows), tuple(needed))
