"""A reference peer that is served while somebody's test runs: what ``import goldwire`` offers of the harness."""

from types import TracebackType
from typing import Literal, Self

from harness.errors import BadDescription
from harness.iuts.description import resolve
from harness.peers.embedded import EmbeddedImplementation
from harness.peers.peer import Peer
from harness.peers.variants import together
from harness.protocol import WireProtocol, load


class ServedPeer:
    """A reference peer that runs in a thread of this process; a context manager that ends it."""

    def __init__(self, node: EmbeddedImplementation, role: str) -> None:
        self.role = role
        self._node = node

    def address(self, transport: str = "tcp") -> str:
        """Return where it listens, such as ``tcp/127.0.0.1:38211``; ``BadDescription`` when not over that transport."""
        return self._node.address(transport)

    def alive(self) -> bool:
        """Return whether it still runs: a peer that is at fault may die of it."""
        return self._node.alive()

    def events(self) -> list[str]:
        """Return what its application was told, in the order of time."""
        return self._node.events()

    def stop(self) -> None:
        """End it; once is enough."""
        self._node.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()


def peer(
    protocol: str,
    role: str | None = None,
    *,
    connect: str = "",
    scenario: str = "",
    fault: str | None = None,
    oddity: str | None = None,
    defect: str | None = None,
    profile: Literal["document", "deployed"] = "document",
    time_scale: float = 1.0,
) -> ServedPeer:
    """Serve the reference peer of a protocol on free ports of 127.0.0.1 and return it once it is ready.

    ``role`` is the protocol's first by default. A role that dials is given ``connect``, addresses with commas between,
    and the ``scenario`` to play. ``fault`` or ``oddity`` is a variant's name or a rule's id (``goldwire peer PROTOCOL
    --variants`` lists them): the peer then breaks the rule, or keeps it in an unusual way. ``defect`` is the name of
    one that fuzzing finds, and no rule is about, or a kind of them, or ``all``: the peer has all of these at once. With
    ``time_scale=10`` its time runs ten times as fast as ours.

    Raises ``BadDescription`` for an unknown protocol, role or variant, and ``StartFailed`` when it does not come up.
    """
    description = resolve(f"peer:{role or ''}", protocol)
    if description.is_dialling and not connect:
        raise BadDescription(f"a {description.role} of {protocol} dials: say where with connect=")
    definition = load(protocol)
    chosen = _variant(definition, description.role, fault, oddity, defect)
    node = definition.embedded(
        description,
        connect=connect,
        scenario=scenario,
        profile=profile,
        tempo=time_scale,
        make=None if chosen is None else chosen.of,
    )
    return ServedPeer(node, description.role)


def _variant(
    definition: WireProtocol, role: str, fault: str | None, oddity: str | None, defect: str | None
) -> type[Peer] | None:
    wanted = {"fault": fault, "oddity": oddity, "defect": defect}
    asked = [(kind, text) for kind, text in wanted.items() if text]
    if len(asked) > 1:
        raise BadDescription("only one of a fault, an oddity and a defect")
    variants = {"fault": definition.faults, "oddity": definition.oddities, "defect": definition.defects}
    for kind, text in asked:
        there = variants[kind]
        which = "" if (kind, text) == ("defect", "all") else text
        if there is not None and (found := there.of_role(role, which)):
            # Whoever breaks a rule is one of those who do; of a kind of defects all are meant.
            return together(found) if kind == "defect" else found[0].peer
        raise BadDescription(f"no {kind} of a {role} is called {text!r} or about that rule")
    return None
