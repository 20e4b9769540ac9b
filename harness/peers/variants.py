"""Faults and oddities: named ways of a peer to break a rule, and legal but unusual ways to keep one."""

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TypeVar

import msgspec

from harness.peers.peer import Peer

PeerClass = TypeVar("PeerClass", bound=type[Peer])


class Variant(msgspec.Struct, frozen=True):
    """One fault or oddity: the class of the peer that has it, the rules that it is about, and what it does.

    ``everywhere`` for an oddity that others are played with, as they are at a latency: when and in which pieces all
    things come.
    """

    name: str
    rules: tuple[str, ...]
    sentence: str
    role: str
    peer: type[Peer]
    everywhere: bool = False


class Variants:
    """The faults, or the oddities, of one protocol: a decorator that collects peers.

    ``package`` is where they stand, one module or a folder of them. It is loaded when somebody asks for them, not
    before: hundreds of small classes take their time, and most commands need none of them.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._is_loaded = False
        self._registered: dict[str, Variant] = {}

    def __call__(self, *rules: str, does: str, everywhere: bool = False) -> Callable[[PeerClass], PeerClass]:
        """Register a peer that breaks (or oddly keeps) some rules; ``does`` says how in a few words.

        ``everywhere`` as in ``Variant``.
        """

        def register(peer: PeerClass) -> PeerClass:
            # Here and not when it is played: most runs play only some of them.
            if inspect.isabstract(peer):
                raise TypeError(f"{peer.__qualname__} is abstract: {', '.join(sorted(peer.__abstractmethods__))}")
            # DeclaresTwice is called declares-twice on the command line.
            name = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in peer.__name__)
            name = name.lstrip("-")
            if name in self._registered:
                raise ValueError(f"two variants are called {name}: {peer} and {self._registered[name].peer}")
            self._registered[name] = Variant(name, rules, does, peer.role, peer, everywhere)
            return peer

        return register

    def is_there(self) -> bool:
        """Tell whether there is such a package; nothing in it is loaded."""
        try:
            return find_spec(self.package) is not None
        except ModuleNotFoundError:  # not even the folder above it
            return False

    @property
    def all(self) -> dict[str, Variant]:
        """All of them, by name, in the order of the modules' names."""
        if not self._is_loaded:
            import_module(self.package)
            spec = find_spec(self.package)
            folders = None if spec is None else spec.submodule_search_locations
            for module in iter_modules(folders) if folders is not None else ():
                import_module(f"{self.package}.{module.name}")
            self._is_loaded = True
        return self._registered

    def about(self, text: str) -> list[Variant]:
        """Return the variants of a name, or about a rule."""
        return [each for each in self.all.values() if text == each.name or text in each.rules]

    def of_role(self, role: str, text: str = "") -> list[Variant]:
        """Return those of a role: all, or those of a name, or about a rule or of a kind."""
        chosen = self.about(text) if text else self.all.values()
        return [each for each in chosen if each.role == role]


def together(variants: Sequence[Variant]) -> type[Peer]:
    """Return a peer that has several variants of a role at once; they are to call what they override."""
    if len(variants) == 1:
        return variants[0].peer
    return type(f"Every{variants[0].role.title()}", tuple(each.peer for each in variants), {})
