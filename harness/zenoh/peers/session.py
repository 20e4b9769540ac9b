"""What a node knows of one session: its transport, both mapping tables, its interests and entities."""

import msgspec

from harness.zenoh.batches import FragmentBuffer
from harness.zenoh.peers.transport import SessionTransport
from wire.zenoh.keys import Table
from wire.zenoh.values import EntityKind, Mode, Options


class LiveInterest(msgspec.Struct, frozen=True):
    """An interest that is live: what was asked, with its key resolved (``None``: unrestricted)."""

    id: int
    mode: Mode
    options: Options
    kinds: frozenset[EntityKind]
    key: str | None


class Entity(msgspec.Struct, frozen=True):
    """Something that a session declared: ``owner`` is the link, ``id`` the owner's; ``info`` a queryable's metadata."""

    owner: int
    kind: EntityKind
    id: int
    key: str
    complete: bool = False
    distance: int = 0


class Session:
    """One session, as a node sees it."""

    def __init__(self, link: int, transport: SessionTransport) -> None:
        self.link = link
        self.transport = transport
        self.fragments = FragmentBuffer()
        # Two tables, since the M flag of a WireExpr says whose ExprId it has.
        self.theirs: Table = {}
        self.mine: Table = {}
        self.interests: dict[int, LiveInterest] = {}
        self.entities: dict[tuple[EntityKind, int], Entity] = {}
        self.advertised: dict[Entity, int] = {}
        # Subscribers, queryables and tokens are numbered apart.
        self.next_id = dict.fromkeys(EntityKind, 1)
        self.next_expr_id = 1
        self.opened = False

    def id_for(self, entity: Entity) -> int:
        """Return the id under which the other side knows an entity, a new one if it is not known yet."""
        if entity not in self.advertised:
            self.advertised[entity] = self.next_id[entity.kind]
            self.next_id[entity.kind] += 1
        return self.advertised[entity]

    def wants(self, entity: Entity, modes: tuple[Mode, ...]) -> list[LiveInterest]:
        """Return the live interests of some modes that an entity's kind falls under."""
        return [asked for asked in self.interests.values() if asked.mode in modes and entity.kind in asked.kinds]
