"""Coverage of the implementation as feedback: which of its code a test has run, told through memory that is shared.

The implementation finds the name of a file in its environment (``GOLDWIRE_COVERAGE``) and maps it: 65,536 counters of
a byte each, which what was compiled into it, or traces it, counts up (docs/network-fuzzing.md). Nobody has to: where
it stays empty, nothing is learnt from it and nothing lost.
"""

import mmap
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Self

import msgspec

from harness.iuts.description import Description, Launched
from harness.iuts.python_coverage import SIZE, VARIABLE

BUCKETS = (1, 2, 3, 4, 8, 16, 32, 128)
"""From how many times on it counts as another thing that a place was run: the usual steps, of AFL."""

COMMON = 100
"""Tests after which it says nothing more of one that it came by a place: what all come by is not what is looked for."""

_BUCKET_OF = bytes(sum(count >= least for least in BUCKETS) for count in range(256))
_NOTHING = bytes(SIZE)
_BLOCK = 64


class CoverageMap:
    """A file of counters that an implementation counts up; ``close`` takes it away."""

    def __init__(self) -> None:
        # Nobody's but ours: whoever could write there would tell the fuzzer what to do.
        self._file = tempfile.NamedTemporaryFile(prefix="goldwire-coverage-")  # noqa: SIM115
        self._file.truncate(SIZE)
        self._counters = mmap.mmap(self._file.fileno(), SIZE)
        self._met: Counter[int] = Counter()
        # Of each place the bucket that is common there, so that most of them need not be looked at one by one.
        self._usual = bytearray(SIZE)

    @property
    def path(self) -> str:
        """The file's path."""
        return self._file.name

    def told_to(self, description: Description) -> Description:
        """Return an implementation that is told of the file when it is started, where we start it."""
        source = description.source
        if not isinstance(source, Launched):
            return description
        # A brace stands for a placeholder there.
        path = self.path.replace("{", "{{").replace("}", "}}")
        # What the description says for itself comes first: who collects coverage elsewhere goes on to do so.
        program = msgspec.structs.replace(source.program, env={VARIABLE: path, **source.program.env})
        return msgspec.structs.replace(description, source=msgspec.structs.replace(source, program=program))

    def clear(self) -> None:
        """Begin a test: what ran before it is not its own."""
        self._counters[:] = _NOTHING

    def features(self) -> dict[int, str]:
        """Return what the code since ``clear`` came to, by numbers and in words; without what most tests come to."""
        counted = self._counters[:]
        if counted == _NOTHING:
            return {}
        buckets = counted.translate(_BUCKET_OF)
        found: dict[int, str] = {}
        for place in _differing(buckets, self._usual):
            # Of a place and a bucket, and far below the digests of other features: the two do not meet.
            feature = place << 4 | buckets[place]
            self._met[feature] += 1
            if self._met[feature] <= COMMON:
                found[feature] = f"code at {place}"
            else:
                self._usual[place] = buckets[place]
        return found

    @property
    def places(self) -> int:
        """How many places of the code were come to."""
        return len({each >> 4 for each in self._met})

    def close(self) -> None:
        """Take the file away."""
        self._counters.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _differing(buckets: bytes, usual: bytearray) -> Iterator[int]:
    """Yield the places that run, and not as they usually do."""
    for begin in range(0, SIZE, _BLOCK):
        here, there = buckets[begin : begin + _BLOCK], usual[begin : begin + _BLOCK]
        # Most are as ever, and that a block is costs less to tell than that each of its places is.
        if here != there:
            for place, (one, other) in enumerate(zip(here, there, strict=True), begin):
                if one and one != other:
                    yield place
