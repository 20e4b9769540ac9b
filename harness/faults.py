"""Faults and oddities: named ways of a peer to break a rule, and legal but unusual ways to keep one."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from harness.nodes import Node

Peer = TypeVar("Peer", bound=type[Any])


class Variant(msgspec.Struct, frozen=True):
    """One fault or oddity: the class of the peer that has it, the rules that it is about, and what it does."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    role: str
    make: Callable[..., Node]


class Variants:
    """The faults, or the oddities, of one protocol: a decorator that collects peers."""

    def __init__(self) -> None:
        self.all: dict[str, Variant] = {}

    def __call__(self, *rules: str, does: str) -> Callable[[Peer], Peer]:
        """Register a peer that breaks (or oddly keeps) some rules; ``does`` says how in a few words."""

        def register(peer: Peer) -> Peer:
            name = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in peer.__name__)
            name = name.lstrip("-")
            if name in self.all:
                raise ValueError(f"two variants are called {name}: {peer} and {self.all[name].make}")
            self.all[name] = Variant(name, rules, does, peer.role, peer)
            return peer

        return register

    def about(self, text: str) -> list[Variant]:
        """Return the variants of a name, or about a rule."""
        return [each for each in self.all.values() if text == each.name or text in each.rules]
