"""Abilities: what a ship does at all, so that nobody is accused of doing wrongly what it never does."""

from collections.abc import Sequence

import msgspec


class Abilities(msgspec.Struct, frozen=True):
    """What a ship does not do, with the rules that ask for it; ``blocked``: why no history can be played with it.

    ``knows_addresses``: a publisher opens a session for each address that a subscriber asks from (reading A09).
    """

    complaints: Sequence[tuple[str, str]] = ()
    blocked: str = ""
    knows_addresses: bool = False


UNCERTAIN = Abilities(blocked="the path loses, doubles or moves datagrams, so that no answer to a move is certain")
"""Of a ship behind such a path: each single move would have to be tried often."""
