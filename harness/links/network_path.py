"""Paths: what befalls frames between two ends: how long they are under way, and which get lost, doubled, overtaken.

A path is seeded, so that the same frames meet the same fate whenever they are sent in the same order. In memory
(``harness.peers.memory``) it delays calls, over real datagrams (``harness.links.udp_path``) packets.
"""

from math import inf, isfinite
from random import Random

import msgspec

from harness.errors import BadDescription


class NetworkPath(msgspec.Struct, frozen=True):
    """What befalls frames, each way.

    They are under way for half of ``round_trip`` seconds, and up to ``jitter`` more. Those of one link stay in order
    unless the path is ``loose``, as datagrams are; then of all frames a share ``loss`` is lost, a share ``doubling``
    comes twice, and before a share ``moving`` of those to the node the tester's address becomes another one, as behind
    a router that forgets. Shares are from 0 to 1.
    """

    round_trip: float = 0.0
    jitter: float = 0.0
    seed: int = 0
    loose: bool = False
    loss: float = 0.0
    doubling: float = 0.0
    moving: float = 0.0

    @property
    def loses(self) -> bool:
        """Whether what is sent once may not arrive, or an answer to it."""
        return self.loss > 0 or self.moving > 0

    @property
    def repeats(self) -> bool:
        """Whether what is sent once may arrive twice."""
        return self.doubling > 0

    def __str__(self) -> str:
        """Return it as ``read_path`` reads it."""
        said = [(_spelt(name), getattr(self, name), default) for name, default in _DEFAULTS.items()]
        return ",".join(f"{name}={value:g}" for name, value, default in said if value != default)


_DEFAULTS = {"loss": 0.0, "doubling": 0.0, "moving": 0.0, "round_trip": 0.0, "jitter": 0.0, "seed": 0}


def _spelt(name: str) -> str:
    return name.replace("_", "-")


def read_path(text: str) -> NetworkPath:
    """Read a path for datagrams: ``loss=0.1,doubling=0.05,jitter=0.02``; ``BadDescription`` says what is wrong."""
    fields: dict[str, float] = {}
    known = {_spelt(name): name for name in _DEFAULTS}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in known:
            raise BadDescription(f"{part.strip()!r}: a path is made of {', '.join(f'{each}=…' for each in known)}")
        try:
            value = float(number)
        except ValueError:
            raise BadDescription(f"{part.strip()!r}: {number!r} is no number") from None
        most = 1.0 if known[name] in ("loss", "doubling", "moving") else inf
        if not 0 <= value <= most or not isfinite(value):
            raise BadDescription(f"{part.strip()!r}: from 0 to 1 are shares, from 0 on seconds, and so is a seed")
        fields[known[name]] = value
    seed = int(fields.pop("seed", 0))
    return NetworkPath(loose=True, seed=seed, **fields)


class Fates:
    """What a path has in store for one frame after the other."""

    def __init__(self, path: NetworkPath) -> None:
        self.path = path
        self._random = Random(path.seed)
        self._last: dict[tuple[int, bool], float] = {}

    def moves(self) -> bool:
        """Tell whether the tester's address becomes another one before its next frame."""
        return self.path.moving > 0 and self._random.random() < self.path.moving

    def arrivals(self, link: int, outgoing: bool, now: float, *, certain: bool = False) -> list[float]:
        """Return when a frame arrives that is sent now over a link: none if it is lost, two if it is doubled.

        ``certain`` for what is no frame, such as an end: it arrives once, behind all that was sent before.
        """
        path = self.path
        if not path.loose or certain:
            at = max(self._at(now), self._last.get((link, outgoing), 0.0))
            self._last[link, outgoing] = at
            return [at]
        copies = 2 if path.doubling and self._random.random() < path.doubling else 1
        kept = [not path.loss or self._random.random() >= path.loss for _ in range(copies)]
        arrivals = [self._at(now) for is_kept in kept if is_kept]
        self._last[link, outgoing] = max([*arrivals, self._last.get((link, outgoing), 0.0)])
        return arrivals

    def _at(self, now: float) -> float:
        return now + self.path.round_trip / 2 + self._random.uniform(0, self.path.jitter)
