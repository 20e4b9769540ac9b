"""What a protocol is for the rooms from here on: one value that its folder declares, and what follows from that alone.

A protocol brings ``harness/<name>/protocol.py`` with ``PROTOCOL = WireProtocol(…)``. Everybody gets it by ``load``, so
that nobody has to guess what is there: a protocol that lacks a part is refused, by name and with what to do.
"""

import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import msgspec

import harness
from harness.captures.losses import DatagramNumbers, Unnumbered
from harness.errors import BadDescription
from harness.iuts.description import Description
from harness.iuts.instance import Instance, SocketInstance
from harness.links.framing import Framing, Framings
from harness.links.network_path import NetworkPath
from harness.links.transports import TRANSPORTS
from harness.peers.bus_world import BusWorld
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.memory import World
from harness.peers.peer import Dialler, Peer, PeerMaker, PeerSettings
from harness.peers.variants import Variants
from harness.timing import Timing
from harness.trace import Trace
from wire.catalogue import is_layout


class IncompleteProtocol(BadDescription):
    """A protocol lacks a part, or its parts contradict each other; the message names it and says what to do."""


@dataclass(frozen=True)
class FrameTopic:
    """What a frame is about: ``questions`` that it asks or answers, so that an answer is found to each.

    ``is_routine`` when it is there in every play, whatever the play is about: a handshake, a sign of life;
    ``is_granting`` when it gives what was asked for, which is no stimulus to who has asked.
    """

    is_routine: bool = False
    questions: frozenset[int] = frozenset()
    is_granting: bool = False


class Judgeable(Protocol):
    """A conversation, as far as it is judged without regard to the protocol; its monitors know the rest of it."""

    @property
    def link(self) -> str:
        """The label of its link in the trace."""
        ...

    @property
    def is_clean(self) -> bool:
        """Whether the tester kept to the document itself: else nobody is judged by what came of it."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether its beginning is known: a handshake was seen, or the protocol has none."""
        ...


class NodeInPlay(Protocol):
    """What a case works with, as far as plays need it; the protocol's own cases know the rest of it."""

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """What the implementation was seen to follow: rule, reading, option."""
        ...

    @property
    def timing(self) -> Timing:
        """How long it waits for what, by what was measured of the implementation."""
        ...

    @property
    def evidence(self) -> int:
        """How much the implementation said or did: a play without evidence proves nothing."""
        ...

    def measure(self) -> None:
        """Measure, before the first play, what ``timing`` is to know beside how long answers take."""
        ...

    def probe(self) -> None:
        """Make sure that the implementation still answers, on a fresh link; raises what goes wrong."""
        ...

    def close(self) -> None:
        """End all links of the play."""
        ...


class NodeFactory(Protocol):
    """What makes the node of a play: a protocol's class ``NodeUnderTest``."""

    def __call__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "tcp"
    ) -> NodeInPlay: ...


@dataclass(frozen=True, kw_only=True)
class WireProtocol:
    """A protocol, as the harness has it.

    ``layout`` is what a frame on any link holds. ``roles`` are the reference peers by role, the first is the default;
    a role whose peer is a ``Dialler`` dials, and so does each in ``dials``, which its runner lets dial once. ``probe``
    speaks to an address and raises ``LinkError`` when nobody answers there within so many seconds. ``defects`` are what
    a fuzzer is to find in the peers, and no case. ``tempo`` is how much faster than ours the time of an embedded peer
    runs. ``decisions`` are the modules in which the peers do what the documents speak of: the mutation score is about
    these. ``ports`` are those at which its nodes usually listen.
    ``topic`` says what a frame is about, so that reports show the messages that matter. ``numbers`` makes what reads
    the numbers of a recorded session's datagrams, which show what is missing; ``is_of_dialler`` tells of a datagram
    whether it is one of the side that dials, None where either may send it: a recording may begin in the middle.
    ``is_telling`` tells of a frame whether others than this protocol's nodes would hardly send it.
    ``optional`` names what an implementation need not offer, as its description says it (``not_offered``).
    ``servers`` is how many others a node of a role dials, where that is more than one.
    ``side_by_side`` is how many cases are played at once, where they do little but wait. ``is_brokered`` where nodes
    and tester speak over a broker, of whatever kind, that both dial.
    """

    name: str
    layout: str
    framings: Framings
    roles: Mapping[str, type[Peer]]
    dials: frozenset[str] = frozenset()
    is_brokered: bool = False
    servers: Mapping[str, int] = field(default_factory=dict)
    node_under_test: NodeFactory
    conversations: Callable[[Trace], Mapping[str, Judgeable]]
    probe: Callable[[str, float], None]
    faults: Variants
    oddities: Variants
    defects: Variants | None = None
    tempo: float = 1.0
    decisions: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    topic: Callable[[bytes], FrameTopic] = lambda frame: FrameTopic()
    numbers: Callable[[], DatagramNumbers] = Unnumbered
    is_of_dialler: Callable[[bytes], bool | None] = lambda frame: None
    is_telling: Callable[[bytes], bool] = lambda frame: True
    optional: frozenset[str] = frozenset()
    side_by_side: int = 1

    def __post_init__(self) -> None:
        if complaints := self._complaints():
            raise IncompleteProtocol(f"{declaration(self.name)}: {'; '.join(complaints)}")

    def _complaints(self) -> list[str]:
        wrong = []
        if not is_layout(self.layout):
            wrong.append(f"layout: there is no {self.layout!r}; wire/{self.name}/ names its layouts in LAYOUTS")
        # Recordings and plays take TCP where nothing else is asked for, so who has streams at all has to say it.
        if self.framings and "tcp" not in self.framings and not self.is_brokered:
            wrong.append("framings: say how a frame stands in a stream of bytes, under 'tcp'; or none, if in datagrams")
        # Misspelt it would be no framing for anything, and a transport without one takes packets for frames.
        if unknown := sorted(self.framings.keys() - TRANSPORTS.keys()):
            wrong.append(f"framings: {', '.join(unknown)}: known transports are {', '.join(TRANSPORTS)}")
        if not self.roles:
            wrong.append("roles: name the reference peer of at least one role")
        # Written twice, here and at the peer: addresses (`peer:ROLE`) go by this, faults and oddities by that.
        for role, peer in self.roles.items():
            if peer.role != role:
                wrong.append(f"roles: {peer.__name__} is called {role!r} here, and {peer.role!r} by itself")
            # Runner and memory both look here alone.
            if issubclass(peer, Dialler) and role not in self.dials:
                wrong.append(f"dials: a {role} dials by itself, so it belongs here")
        if strange := self.dials - self.roles.keys():
            wrong.append(f"dials: {', '.join(sorted(strange))}: not among the roles {', '.join(self.roles)}")
        for part, variants in (("faults", self.faults), ("oddities", self.oddities)):
            if not variants.is_there():
                wrong.append(
                    f"{part}: there is no {variants.package.replace('.', '/')}; make a module or a folder of it"
                )
        if not (self.tempo > 0 and math.isfinite(self.tempo)):
            wrong.append(f"tempo: {self.tempo:g} is no pace: 1 is ours, more is faster")
        return wrong

    @property
    def usual_transport(self) -> str:
        """What its frames travel over where nothing else is asked for.

        TCP, or UDP where it has no streams at all; memory where brokers stand between.
        """
        if self.is_brokered:
            return "memory"
        return "tcp" if self.framings else "udp"

    @property
    def usual_link(self) -> str:
        """What a program speaks over where nobody says what: the usual transport, or the first of the brokers."""
        return next(iter(self.framings)) if self.is_brokered else self.usual_transport

    @property
    def usual_framing(self) -> Framing | None:
        """How frames stand in a recording where nothing else is asked for; None where they are datagrams.

        What went over a bus in memory is shown as the first of the brokers would have carried it.
        """
        return next(iter(self.framings.values()), None) if self.is_brokered else self.framings.get(self.usual_transport)

    @property
    def usual_side(self) -> str:
        """Which side of a recorded session is judged where nobody says which: the one that listens.

        Where nodes meet at a broker it is the one that dials, as a broker only passes on what others say.
        """
        return "dialling" if self.is_brokered else "listening"

    def usual_over(self, transport: str) -> str:
        """Return what cases that name no transport are for, where a transport is asked for: all brokers are alike."""
        return transport if self.is_brokered else self.usual_transport

    def check(self, description: Description) -> None:
        """Raise ``BadDescription`` if an implementation does not offer what there is not to be offered."""
        if unknown := sorted(description.not_offered - self.optional):
            known = ", ".join(sorted(self.optional)) or "none"
            raise BadDescription(f"{description.name}: not_offered: {', '.join(unknown)}: known are {known}")

    def world(self, make: PeerMaker, role: str, *, profile: str = "document", path: NetworkPath | None = None) -> World:
        """Run a peer in memory and virtual time, at once or with a latency."""
        if self.is_brokered:
            return BusWorld(make, role, profile=profile, path=path)
        dials, datagrams = role in self.dials, self.usual_transport not in self.framings
        return World(make, role, profile=profile, dials=dials, path=path, datagrams=datagrams)

    def instance(
        self,
        description: Description,
        *,
        profile: str = "document",
        transport: str = "",
        path: NetworkPath | None = None,
    ) -> Instance:
        """Start an implementation behind real sockets; our own peer when that is what is described.

        Datagrams take a ``path`` to it and back, if there is one. Over brokers, ``transport`` says of which kind: that
        of its description's first, if nothing is said; in memory our own peer is run in virtual time.
        """
        if self.is_brokered and transport:
            description = msgspec.structs.replace(description, transports=(transport,))
        if description.transports[0] == "memory":
            return self.world(self.roles[description.role].of, description.role, profile=profile, path=path)
        return SocketInstance(
            description,
            self.framings,
            probe=self.probe,
            embedded=lambda its, connect: self.embedded(its, connect=connect, profile=profile, tempo=self.tempo),
            path=path,
            servers=self.servers.get(description.role, 1),
        )

    def embedded(
        self,
        description: Description,
        *,
        connect: str = "",
        scenario: str = "",
        profile: str = "document",
        tempo: float = 1.0,
        make: PeerMaker | None = None,
    ) -> EmbeddedImplementation:
        """Start a peer of ours behind real sockets: that of the role by default, or what ``make`` makes."""
        return EmbeddedImplementation(
            description,
            make or self.roles[description.role].of,
            self.framings,
            connect,
            PeerSettings(profile, scenario),
            tempo=tempo,
        )


def known() -> list[str]:
    """Return the names of all protocols: of the folders here that declare one."""
    # Links, captures and other folders of the harness are packages as well: the declaration makes a protocol.
    return sorted(name for name in _folders() if find_spec(f"harness.{name}.protocol") is not None)


@cache
def load(name: str) -> WireProtocol:
    """Return a protocol.

    ``BadDescription`` when there is none of this name, ``IncompleteProtocol`` when it lacks a part.
    """
    file = declaration(name)
    if name not in _folders():
        raise BadDescription(f"unknown protocol {name!r}: known are {', '.join(known())}")
    if find_spec(f"harness.{name}.protocol") is None:
        raise IncompleteProtocol(f"{name!r} is no protocol: there is no {file}; known are {', '.join(known())}")
    try:
        module = import_module(f"harness.{name}.protocol")
    except TypeError as error:
        # A dataclass names the part that is left out; any other TypeError is a mistake, to be seen as it is.
        if "WireProtocol.__init__()" not in str(error):
            raise
        raise IncompleteProtocol(f"{file}: {error}; harness/protocol.py says what each part is") from error
    except ImportError as error:
        # A module or a class that its own folders lack; what else cannot be imported is no matter of the protocol's.
        if not (error.name or "").startswith((f"harness.{name}.", f"wire.{name}.")):
            raise
        raise IncompleteProtocol(f"{file}: {error}; harness/protocol.py says what each part is") from error
    found = vars(module).get("PROTOCOL")
    if not isinstance(found, WireProtocol):
        raise IncompleteProtocol(f"{file} declares no PROTOCOL = WireProtocol(name={name!r}, …)")
    if found.name != name:
        raise IncompleteProtocol(f"{file}: name: it is called {found.name!r}, and stands in the folder {name}/")
    return found


def declaration(name: str) -> str:
    """Return where a protocol is declared."""
    return f"harness/{name}/protocol.py"


def _folders() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(harness.__path__) if module.ispkg}
