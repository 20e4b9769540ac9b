"""Abilities: what a ship does at all, so that nobody is accused of doing wrongly what it never does."""

from collections.abc import Sequence

import msgspec


class Abilities(msgspec.Struct, frozen=True):
    """What a ship does not do, with the rules that ask for it; ``blocked``: why no history can be played with it."""

    complaints: Sequence[tuple[str, str]] = ()
    blocked: str = ""


UNCERTAIN = Abilities(blocked="the path loses, doubles or moves datagrams, so that no answer to a move is certain")
"""Of a ship behind such a path: each single move would have to be tried often."""
