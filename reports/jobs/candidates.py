"""Candidates for golden vectors, and the few of them that may be worth choosing.

Of each branch of the layout the shortest frame that reaches it is kept, and the one that reaches the most beside it;
accepted frames and refused ones apart. What is kept of many frames is what is kept of what is kept of parts of them,
in any order.
"""

import heapq
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from itertools import islice

import msgspec

from vectors.binary.coverage import Branch
from vectors.checks.check import stream
from vectors.checks.sweep import CHUNK, chunk_seed
from vectors.kinds import branches, trace

MOST_REMEMBERED = 1 << 16
"""Frames, and sets of branches, that are recognised when they come again."""


class Candidate(msgspec.Struct, frozen=True, order=True):
    """A frame: those that come first are preferred, where all else is equal. A bit of ``reached`` is a branch."""

    size: int
    data: bytes
    reached: int
    accepted: bool


class BestCandidates(msgspec.Struct):
    """What is kept of so many frames that were ``seen``: by branch, for refused and accepted frames apart."""

    seen: int = 0
    shortest: dict[tuple[int, bool], Candidate] = {}
    richest: dict[tuple[int, bool], Candidate] = {}

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate for the branches of which it is the best."""
        size, data, accepted = candidate.size, candidate.data, candidate.accepted
        rank = -candidate.reached.bit_count(), size, data
        # Sets of branches are bits of one number: joining and comparing them is one operation, however many there are.
        for branch in set_bits(candidate.reached):
            key = branch, accepted
            held = self.shortest.get(key)
            # By content where the size is the same, so that the order in which candidates come does not matter.
            if held is None or (size, data) < (held.size, held.data):
                self.shortest[key] = candidate
            held = self.richest.get(key)
            if held is None or rank < richness(held):
                self.richest[key] = candidate

    def merge(self, other: "BestCandidates") -> "BestCandidates":
        """Take in what is kept of other frames."""
        self.seen += other.seen
        for candidate in other.candidates():
            self.add(candidate)
        return self

    def candidates(self) -> list[Candidate]:
        """Return what is kept, each once, in order."""
        # One frame may be the best for many branches.
        return sorted({each.data: each for kept in (self.shortest, self.richest) for each in kept.values()}.values())


def richness(candidate: Candidate) -> tuple[int, int, bytes]:
    """Return what candidates are ordered by, those that reach the most first."""
    return -candidate.reached.bit_count(), candidate.size, candidate.data


def set_bits(number: int) -> Iterator[int]:
    """Give the places of the bits that are set."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@cache
def branch_numbers(layout: str) -> dict[Branch, int]:
    """Return the branches of a layout, numbered in its order."""
    return {branch: number for number, branch in enumerate(branches(layout))}


def candidate(layout: str, data: bytes) -> Candidate:
    """Say which branches a frame reaches."""
    found, known = trace(layout, data), branch_numbers(layout)
    reached = 0
    for branch in found.branches:
        number = known.get(branch)
        if number is not None:
            reached |= 1 << number
    return Candidate(len(data), data, reached, found.reason is None)


def summarised(layout: str, frames: Iterable[bytes]) -> BestCandidates:
    """Return what is kept of frames."""
    summary = BestCandidates()
    recent: set[bytes] = set()
    best: dict[tuple[int, bool], tuple[int, bytes]] = {}
    for data in frames:
        summary.seen += 1
        # Short frames come again and again from the sampler, and reading one costs a thousand times as much as this.
        if data in recent:
            continue
        # Forgetting all at once is simple and cheap; what is met again is looked at again, with the same outcome.
        if len(recent) == MOST_REMEMBERED:
            recent.clear()
        recent.add(data)
        each = candidate(layout, data)
        key, rank = (each.reached, each.accepted), (each.size, each.data)
        # What reaches the same as a shorter one is not the best for any branch.
        if key in best and best[key] <= rank:
            continue
        if len(best) == MOST_REMEMBERED:
            best.clear()
        best[key] = rank
        summary.add(each)
    return summary


def generated(layout: str, seed: int, first: int, end: int, most: int) -> Iterator[bytes]:
    """Give the frames of some chunks, as far as their numbers are below ``most``."""
    for chunk in range(first, end):
        # The frames of a chunk come from its seed in order, so the last chunk is cut where there are enough.
        for data, _ in islice(stream(layout, chunk_seed(seed, chunk)), max(0, min(CHUNK, most - chunk * CHUNK))):
            yield data


def merged(summaries: Iterable[BestCandidates]) -> BestCandidates:
    """Return what is kept of all."""
    return reduce(BestCandidates.merge, summaries, BestCandidates())


def chosen(candidates: Iterable[Candidate], most: int | None = None) -> list[Candidate]:
    """Return few candidates that reach all that any of them reaches, greedily, at most ``most``.

    Refused frames come last, and only for what no accepted one reaches: nobody checks what a refused frame is read as.
    """
    # A fixed order, as the greedy choice takes the first of equals.
    every = sorted(candidates)
    found: list[Candidate] = []
    left = reached(every)
    for accepted in (True, False):
        tier = [each for each in every if each.accepted is accepted]
        for each in _greedy(tier, left & reached(tier)):
            found.append(each)
            left &= ~each.reached
    return _needed(found)[:most]


def reached(candidates: Iterable[Candidate]) -> int:
    """Return what some candidates reach together."""
    return reduce(int.__or__, (each.reached for each in candidates), 0)


def _greedy(candidates: list[Candidate], left: int) -> Iterator[Candidate]:
    """Give the candidate that reaches the most of what is left, until nothing is."""
    # Lazy greedy: what a candidate adds never grows as others are chosen, so a stale rank is an upper bound, and only
    # the top of the heap has to be counted anew (Minoux, Accelerated greedy algorithms, 1978).
    heap = [(-each.reached.bit_count(), number) for number, each in enumerate(candidates)]
    heapq.heapify(heap)
    while left:
        gain, number = heap[0]
        now = -(candidates[number].reached & left).bit_count()
        if now == gain:
            heapq.heappop(heap)
            left &= ~candidates[number].reached
            yield candidates[number]
        elif now:
            heapq.heapreplace(heap, (now, number))  # it gains less than it did, never more
        else:
            heapq.heappop(heap)


def _needed(found: list[Candidate]) -> list[Candidate]:
    """Leave out what the others make up for, beginning with the last; a refused frame for nothing accepted."""
    needed = list(found)
    # The greedy choice may make an early candidate superfluous; the last ones add the least, so they are tried first.
    for each in reversed(found):
        others = [one for one in needed if one is not each and (one.accepted or not each.accepted)]
        if not each.reached & ~reached(others):
            needed.remove(each)
    return needed
