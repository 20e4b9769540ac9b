"""Common ground: what tests and the service have to do with each other, for each instance that is fuzzed.

Those who stay are promised a path of which the next test may speak, and tests have ships whose numbers are like theirs.
"""

import itertools
import time
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from harness.iuts.instance import Instance
from wire.urbit.values import Ship

DIGITS = 7
"""Of the first segment of a test's paths, in hexadecimal."""

LOW = 16
"""Bits of a planet's number that another ship may have as well: those of the star under which it is."""


class CommonGround:
    """The paths of the next test, and the ships that stay."""

    def __init__(self) -> None:
        # Not from 0 on: an implementation that we do not start may know the paths of an earlier campaign.
        self._number = int(time.time() * 16)
        self._count = itertools.count(2)
        self.staying: Sequence[Ship] = ()

    @property
    def root(self) -> bytes:
        """The first segment of paths that are in use now."""
        return b"/%07x" % (self._number % 16**DIGITS)

    def advance(self) -> None:
        """Have other paths from now on: some of those before have values now."""
        self._number += 1

    def stranger(self, rank: str) -> Ship:
        """Return a ``moon`` or a ``comet`` whose planet nobody has met."""
        return Ship.of(next(self._count) << (32 if rank == "moon" else 96) | 0xFFFF_0000)

    def alike(self) -> Ship:
        """Return a planet that differs from one that stays in its higher bits alone."""
        number = self.staying[0].number if self.staying else 0
        return Ship.of((next(self._count) % 0x7FFF + 1) << LOW | number % (1 << LOW))

    def child(self) -> Ship:
        """Return a moon of a planet that stays."""
        number = self.staying[0].number if self.staying else 0
        return Ship.of(next(self._count) << 32 | number)


_grounds: WeakKeyDictionary[Instance, CommonGround] = WeakKeyDictionary()


def ground_of(instance: Instance) -> CommonGround:
    """Return the common ground of an instance."""
    if instance not in _grounds:
        _grounds[instance] = CommonGround()
    return _grounds[instance]
