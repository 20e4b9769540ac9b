"""Abilities: what a node does at all, so that nobody is accused of doing wrongly what it never does."""

from collections.abc import Sequence

import msgspec


class Abilities(msgspec.Struct, frozen=True):
    """What a node does not do, with the rules that ask for it; ``blocked``: why no history can be played with it.

    ``lacks`` names, in a word each, what it was seen not to do: histories leave that out, and cases tell of it.
    """

    complaints: Sequence[tuple[str, str]] = ()
    blocked: str = ""
    lacks: frozenset[str] = frozenset()
