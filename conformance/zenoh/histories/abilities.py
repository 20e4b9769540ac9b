"""Abilities: what a node does at all. Nobody is accused of doing wrongly what it never does, but told so once.

Trials show what a node does (``trials.py``). Histories leave out what it lacks; the plain history says so, with the
rule.
"""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    ReleasesAlias,
    SendsInterest,
)
from wire.zenoh.values import EntityKind, Mode


class HasKind(Protocol):
    """An entity, or the action that declares it."""

    @property
    def kind(self) -> EntityKind:
        """What it is."""
        ...


class Lack(msgspec.Struct, frozen=True):
    """Something that a node does not do: its name, the rule that asks for it (none: it need not), and what came."""

    name: str
    rule: str
    what: str


class Abilities(msgspec.Struct, frozen=True):
    """What a node does, and how it reads the document.

    ``exact`` if whatever intersects an interest's key falls under it (reading R26), ``again`` if a snapshot lists what
    the session knows as well (reading R35), ``merges`` if two entities on one key are announced as one (reading R34).
    ``blocked`` says why no history can be played at all.
    """

    lacks: tuple[Lack, ...] = ()
    exact: bool = True
    again: bool = True
    merges: bool = False
    blocked: str = ""

    @property
    def lacking(self) -> frozenset[str]:
        """The names of what it does not do."""
        return frozenset(lack.name for lack in self.lacks)

    @property
    def complaints(self) -> list[tuple[str, str]]:
        """What it does not do and has to, with the rules."""
        return [(lack.rule, lack.what) for lack in self.lacks if lack.rule]

    def allow(self, action: Action) -> bool:
        """Tell whether an action asks for nothing that the node does not do."""
        lacking = self.lacking
        match action:
            case SendsInterest(mode=mode, kinds=kinds, key=key, aggregate=aggregate):
                if any(f"{mode.name} {kind.value}" in lacking for kind in kinds) or (mode.name in lacking):
                    return False
                if not kinds and f"{mode.name} {KEYS_ALONE}" in lacking:
                    return False
                late = kinds if aggregate and mode is Mode.FUTURE else ()
                if any(f"{A_IN_FUTURE} {kind.value}" in lacking for kind in late):
                    return False
                return not (aggregate and key is None and "A without key" in lacking)
            case Declares(kind=kind, key=key):
                if {kind.value, f"{kind.value} {key.suffix}"} & lacking:
                    return False
                return not (key.scope and "aliases" in lacking)
            case DeclaresAlias(key=key):
                return not (key.scope and ALIASES_ON_ALIASES in lacking)
            case ReleasesAlias():
                return "released aliases" not in lacking
            case _:
                return True

    def allow_end(self, entities: Iterable[HasKind]) -> bool:
        """Tell whether a session may end that has declared some entities: the node tells that they have ended."""
        return not any(f"leaving {entity.kind.value}" in self.lacking for entity in entities)


PLAIN = Abilities()

WIRE_EXPR_SUFFIX = "suffix in WireExpr"
"""The ability to read a suffix in the WireExpr extension as the profile has it (reading R04)."""

UNTOLD_ENDS = "silence about untold ends"
"""The ability to announce the end of a token only to those who were told of it."""

KEYS_ALONE = "interests in key expressions alone"
"""The ability to answer those of a mode, though there is nothing to list."""

A_IN_FUTURE = "A in Future"
"""The ability to tell who asks with A for a kind to come that something has come."""

ALIASES_ON_ALIASES = "aliases on aliases"
"""The ability to look the scope of a D_KEYEXPR up among what its sender has declared (reading R08)."""
