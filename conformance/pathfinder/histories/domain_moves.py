"""Moves of histories with clients: what the servers of a domain do, as values that print as a tester would write it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from conformance.histories.moves import Together
from harness.pathfinder.tester.scripted_servers import match
from vectors.pathfinder.filter_samples import Properties
from wire.json.strict import LEAST, MOST

SERVERS = "abc"
"""What the servers of a domain are called."""

OWNERS = (7, MOST)
"""Who owns services: none of them is the client, whose identifier is random."""

ORPHANED = 1700000000.25
"""Since when orphans are orphans, in seconds since the epoch."""

IDS = {1: 1, 2: 2, 3: 0, 4: 2**53 + 1, 5: 2**53 + 2, 6: MOST}
"""The identifiers of services: both ends of their range, and two that floating point takes for one."""

PROPS: tuple[Properties, ...] = (
    {},
    {"number": [5, "5", -5]},
    {"number": [MOST, LEAST, 0, 2**53 + 1]},
    {"text": ["e\u0301", "\u00e9", "\U0001f511", "\u2028", "\x01\x7f"]},
    {"": [""], "many": [f"value {number}" for number in range(40)]},
    {"text": ["(a=*)", "\\", '"', "\t"]},
)
"""What services have beside what the scenarios' filter asks for."""

TTLS = (60, 61, 3600, MOST)


class ServiceMatch(msgspec.Struct, frozen=True):
    """What a server tells of a service; properties and TTL go with the generation, as on every server of a domain."""

    what: str
    service: int
    generation: int = 0
    orphan: bool = False
    owner: int = 0

    @property
    def id(self) -> int:
        """The service's identifier."""
        return IDS[self.service]

    @property
    def state(self) -> tuple[int, bool, int]:
        """What it tells that may change."""
        return self.generation, self.orphan, self.owner

    @property
    def contents(self) -> tuple[Any, ...]:
        """What makes a service modified when it changes; the generation does not."""
        number = self.service + self.generation
        return number % len(PROPS), number % len(TTLS), self.orphan, self.owner

    def fields(self, *, is_filtered: bool) -> Mapping[str, Any]:
        """Return the fields of the notification; what ``is_filtered`` matches the scenarios' filter."""
        number = self.service + self.generation
        return match(
            self.what,
            self.id,
            self.generation,
            service_props={**({"name": ["goldwire"]} if is_filtered else {}), **PROPS[number % len(PROPS)]},
            ttl=TTLS[number % len(TTLS)],
            client_id=OWNERS[self.owner],
            **({"orphan_since": ORPHANED} if self.orphan else {}),
        )

    def follows(self, known: "ServiceMatch | None") -> bool:
        """Tell whether a server may say it that has said ``known`` last of the service, if it has it at all."""
        if self.what == "appeared":
            return known is None
        if known is None or self.what == "disappeared":
            return known is not None
        return self.generation > known.generation or (self.generation == known.generation and self.state != known.state)

    def shown(self, server: int) -> str:
        """Return how it is said by a server."""
        more = "" if self.what == "disappeared" or not self.generation else f", {self.generation}"
        more += f", orphan_since={ORPHANED}" if self.orphan else ""
        more += f", client_id={OWNERS[self.owner]}" if self.owner else ""
        return f"{SERVERS[server]}.notify('{self.what}', {self.id}{more})"


class ClientBegins(msgspec.Struct, frozen=True):
    """The client is started with a scenario and some servers; those that are ``silent`` answer nothing at first."""

    scenario: str
    servers: int
    silent: tuple[int, ...] = ()

    def __str__(self) -> str:
        let_in = [
            f"{SERVERS[each]} = domain.accept({each}{', obliges=False' if each in self.silent else ''})"
            for each in range(self.servers)
        ]
        return "; ".join([f"domain = node.begin({self.scenario!r}, servers={self.servers})", *let_in])


class ServerTells(msgspec.Struct, frozen=True):
    """A server tells of services; one that is away only has them when it is back."""

    server: int
    matches: tuple[ServiceMatch, ...]

    def __str__(self) -> str:
        return "; ".join(each.shown(self.server) for each in self.matches)


class ServerDrops(msgspec.Struct, frozen=True):
    """A server ends the client's connection, or resets it, and lets the client in again; it answers then, or not."""

    server: int
    reset: bool = False
    silent: bool = False

    def __str__(self) -> str:
        name = SERVERS[self.server]
        more = ", obliges=False" if self.silent else ""
        return f"{name}.{'abort' if self.reset else 'drop'}(); {name} = domain.accept({self.server}{more})"


class ServerVanishes(msgspec.Struct, frozen=True):
    """A server ends the client's connection and refuses others."""

    server: int
    reset: bool = False

    def __str__(self) -> str:
        return f"domain.refuse({self.server}); {SERVERS[self.server]}.{'abort' if self.reset else 'drop'}()"


class ServerReturns(msgspec.Struct, frozen=True):
    """A server that was away is back, and tells what it knows; one that ``forgets`` knows nothing."""

    server: int
    forgets: bool = False
    silent: bool = False

    def __str__(self) -> str:
        more = ", obliges=False" if self.silent else ""
        knows = "" if self.forgets else f"; {SERVERS[self.server]} tells what it knows"
        return f"domain.admit({self.server}); {SERVERS[self.server]} = domain.accept({self.server}{more}){knows}"


EXISTS = "its identifier exists"
"""A reason to refuse that is spelled by what is refused; without one where nothing is under an identifier."""

EXISTING = {"hello": "client-id-exists", "subscribe": "subscription-id-exists"}
"""What a command is refused with whose identifier another one has, or the same one still."""


def reason_for(command: str, reason: str | None) -> str | None:
    """Return the code of a reason to refuse a command, if it has one."""
    return EXISTING.get(command) if reason == EXISTS else reason


class ServerAnswers(msgspec.Struct, frozen=True):
    """A server that was silent answers one of the requests that wait: it grants it, or refuses it."""

    server: int
    place: int = 0
    refuses: bool = False
    reason: str | None = None

    def __str__(self) -> str:
        name = SERVERS[self.server]
        waiting = f"{name}.waiting[{self.place} % len({name}.waiting)]"
        if not self.refuses:
            return f"{name}.grant({waiting})"
        return f"{name}.answer({waiting}, 'fail'{f', reason {self.reason}' if self.reason else ''})"


class ServerObliges(msgspec.Struct, frozen=True):
    """A server that was silent grants all that waits, the latest first, and whatever is asked from now on."""

    server: int

    def __str__(self) -> str:
        name = SERVERS[self.server]
        return f"{name}.grant(each) for each in reversed({name}.waiting); {name}.obliges = True"


class ServerErrs(msgspec.Struct, frozen=True):
    """A server says what no server may say; if the client ends the connection, it is let in again."""

    server: int
    offence: str

    def __str__(self) -> str:
        return f"{SERVERS[self.server]}.say({self.offence})"


DomainMove = (
    ClientBegins
    | ServerTells
    | Together[ServerTells]
    | ServerDrops
    | ServerVanishes
    | ServerReturns
    | ServerAnswers
    | ServerObliges
    | ServerErrs
)
"""What servers tell together is about services of their own, so that no order matters."""
