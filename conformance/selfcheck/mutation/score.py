"""The score of one reference peer: how many of its mutants the gate accuses, and which it does not."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from functools import partial
from os import cpu_count
from pathlib import Path

import msgspec

import conformance
from conformance.catalogue.rules import Profile
from conformance.selfcheck.mutation.earlier import earlier_results
from conformance.selfcheck.mutation.listed import ListedMutant, entry_for, listed_mutants, said
from conformance.selfcheck.mutation.operators import Mutant, mutants_of
from conformance.selfcheck.mutation.playing import Gate, Gates, PlayedMutant, Reached
from conformance.selfcheck.peers import keep_out_of_the_way
from harness.worker_pool import worker_pool

BATCH = 4
"""Mutants that a process is given at once: seconds of work, so that all end at about the same time."""


class MutantSample(msgspec.Struct, frozen=True):
    """Some of the mutants: those whose file and function hold one of some texts, and of them so many, by a seed.

    ``only`` nothing stands for all, and so does ``count`` 0. With ``unlisted`` those are not played that the list
    explains, nor when mutants are counted: to see whether its entries still hold takes longest, as nothing ends it.
    """

    count: int = 0
    seed: int = 0
    only: tuple[str, ...] = ()
    unlisted: bool = False

    def named(self, mutants: list[Mutant]) -> list[Mutant]:
        """Return those whose place is asked for."""
        return [mutant for mutant in mutants if not self.only or any(text in mutant.place for text in self.only)]

    def of(self, mutants: list[Mutant], is_listed: Callable[[Mutant], bool]) -> list[Mutant]:
        """Return those that are played, in no order that means anything."""
        chosen = self.named(mutants)
        # Before the listed ones are left out, so that another entry of the list does not make it another sample.
        if self.count:
            chosen = random.Random(self.seed).sample(chosen, min(self.count, len(chosen)))
        return [each for each in chosen if not is_listed(each)] if self.unlisted or self.count else chosen


class Score(msgspec.Struct, frozen=True):
    """What became of the mutants of one peer.

    ``excused`` are those that were not killed and that the list explains, ``unexplained`` those that it does not;
    ``stumbled`` those over which the tester itself went wrong, which no list explains; ``stale`` are entries of the
    list that no longer say the truth.
    """

    protocol: str
    role: str
    killed: tuple[PlayedMutant, ...]
    excused: tuple[tuple[PlayedMutant, ListedMutant], ...]
    unexplained: tuple[PlayedMutant, ...]
    stale: tuple[str, ...]
    stumbled: tuple[PlayedMutant, ...] = ()

    @property
    def taken(self) -> int:
        """How many mutants were not played, as the list explains them."""
        return sum(each.fate == "listed" for each, _ in self.excused)

    @property
    def counted(self) -> int:
        """How many mutants the score is of: all but those that do the same, or what is legal."""
        missed = len(self.unexplained) + len(self.stumbled)
        return len(self.killed) + missed + sum(entry.why == "open" for _, entry in self.excused)

    @property
    def score(self) -> float:
        """The part of the counted mutants that the gate accuses, from 0 to 1."""
        return len(self.killed) / self.counted if self.counted else 1.0

    @property
    def is_sound(self) -> bool:
        """Whether every mutant was killed or is explained, every explanation holds, and the tester never stumbled."""
        return not self.unexplained and not self.stale and not self.stumbled


def mutants_list(protocol: str) -> Path:
    """Return where the explained mutants of a protocol stand."""
    return Path(next(iter(conformance.__path__))) / protocol / "mutants.toml"


def all_mutants(gate: Gate) -> list[Mutant]:
    """Return every mutant of the modules that decide what a gate's peer does."""
    return [mutant for name, (source, _) in gate.sources.items() for mutant in mutants_of(name, source)]


def compute_score(
    protocol: str, role: str, *, profile: Profile = "document", workers: int = 0, sample: MutantSample | None = None
) -> Iterator[int | PlayedMutant | Score]:
    """Yield how many mutants there are, each as it is done, and the score at the end.

    ``workers`` is the number of processes, 0 for one per core. Raises ``BadList``.
    """
    entries = listed_mutants(mutants_list(protocol))
    gates = Gates(protocol, role, profile)
    gate = gates.first
    mutants = all_mutants(gate)
    sources = {name: source for name, (source, _) in gate.sources.items()}
    earlier = earlier_results(protocol, role, profile, mutants, sources)
    sample = sample or MutantSample()

    def is_listed(mutant: Mutant) -> bool:
        return entry_for(entries, mutant, sources[mutant.module]) is not None

    todo = sample.of(mutants, is_listed)
    yield len(todo)
    played = [found for mutant in todo if (found := earlier.result(mutant)) is not None]
    yield from played
    known = {each.mutant for each in played}
    if sample.unlisted:
        # What earlier runs have seen of them is not lost: that is how a list is gone through in parts.
        listed = [mutant for mutant in sample.named(mutants) if is_listed(mutant)]
        played += [earlier.result(mutant) or PlayedMutant(mutant, "listed") for mutant in listed]
    left = [(mutant, earlier.noticed_by(mutant)) for mutant in todo if mutant not in known]
    # In a mixed order, so that what a run has seen that was ended is a fair part of all.
    random.Random(0).shuffle(left)
    if left:
        prepare = partial(_prepare, gates.reached(), protocol, role, profile)
        with worker_pool(workers or cpu_count() or 1, prepare) as pool:
            batches = [left[at : at + BATCH] for at in range(0, len(left), BATCH)]
            for done in as_completed([pool.submit(_play, batch) for batch in batches]):
                for each in done.result():
                    earlier.add(each)
                    played.append(each)
                    yield each
    order = {mutant: place for place, mutant in enumerate(mutants)}
    played.sort(key=lambda each: order[each.mutant])
    yield scored(gate, played, entries, whole=sample == MutantSample())


def scored(gate: Gate, played: list[PlayedMutant], entries: list[ListedMutant], *, whole: bool) -> Score:
    """Return the score of what was played; ``whole`` when that are all mutants, so that entries can be stale."""
    killed = tuple(each for each in played if each.is_noticed)
    stumbled = tuple(each for each in played if each.fate == "error")
    excused = []
    unexplained = []
    used: set[tuple[ListedMutant, str]] = set()
    for each in played:
        if each in killed or each in stumbled or each.fate == "does not load":
            continue
        source = gate.sources[each.mutant.module][0]
        entry = entry_for(entries, each.mutant, source)
        if entry is None:
            unexplained.append(each)
        else:
            used.add((entry, said(each.mutant, source)[1] if entry.changes else ""))
            excused.append((each, entry))
    mine = [entry for entry in entries if any(entry.function.startswith(f"{name}.") for name in gate.sources)]
    stale = []
    for entry in mine if whole else ():
        unused = [change for change in entry.changes or ("",) if (entry, change) not in used]
        stale += [f"{entry.function}: {entry.line}{change and f' becomes {change}'}" for change in unused]
    # An entry for one line is about that line alone; that of a whole function may stand beside mutants that are killed.
    for each in killed:
        entry = entry_for(entries, each.mutant, gate.sources[each.mutant.module][0])
        if entry is not None and entry.changes:
            change = said(each.mutant, gate.sources[each.mutant.module][0])[1]
            stale.append(f"{entry.function}: {change} is noticed by {each.by}")
    return Score(gate.suite.protocol, gate.role, killed, tuple(excused), tuple(unexplained), tuple(stale), stumbled)


# --- in a process of the pool ------------------------------------------------------------------------------

_prepared: list[tuple[Gates, list[Reached]]] = []


def _prepare(reached: list[Reached], protocol: str, role: str, profile: Profile) -> None:
    keep_out_of_the_way()
    _prepared.append((Gates(protocol, role, profile), reached))


def _play(mutants: list[tuple[Mutant, str]]) -> list[PlayedMutant]:
    gates, reached = _prepared[0]
    return [gates.play(mutant, reached, first) for mutant, first in mutants]
