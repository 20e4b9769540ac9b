"""The directory: services by identifier, by owner, by what filters ask for, and by when orphans expire.

It decides nothing: it keeps what the server has decided.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from harness.pathfinder.peers.matching_cost import Bulk, bulk_of
from harness.pathfinder.peers.matching_index import Anchor, Index, anchors_of_service

_SPARE = 64
"""Entries of the heap that may be out of date before it is rebuilt."""


_ENTRY, _VALUE = 64, 40
"""Bytes that a name or a value takes in the index, beside its text; and those of every value, repeated or not."""


class ServiceRecord(msgspec.Struct, frozen=True, eq=False):
    """A service record; ``ttl`` in seconds, ``anchors`` all that a filter may look for, ``weight`` in bytes, roughly.

    ``bulk`` is what filters have to look through.

    Of an orphan, ``orphan_since`` is when contact to its owner was lost, in seconds since the epoch, and ``expires``
    the time on the server's clock when it is to be removed.
    """

    id: int
    generation: int
    props: Mapping[str, Sequence[str | int]]
    ttl: int
    owner: int
    anchors: tuple[Anchor, ...]
    weight: int
    bulk: Bulk
    orphan_since: float | None = None
    expires: float | None = None

    @property
    def is_orphan(self) -> bool:
        """Whether contact to the owner is lost."""
        return self.orphan_since is not None

    @property
    def contents(self) -> frozenset[tuple[str, str | int]]:
        """The properties as what they mean: neither order nor repetition counts, nor a name without values."""
        return frozenset((name, value) for name, values in self.props.items() for value in values)


def record(
    service_id: int, generation: int, props: Mapping[str, Sequence[str | int]], ttl: int, owner: int
) -> ServiceRecord:
    """Make the record of a service whose owner is there."""
    anchors = anchors_of_service(props)
    values = list(chain.from_iterable(props.values()))
    texts = sum(map(len, props)) + sum(len(value) for value in values if isinstance(value, str))
    weight = _ENTRY * (len(anchors) + len(props)) + _VALUE * len(values) + texts
    return ServiceRecord(service_id, generation, props, ttl, owner, anchors, weight, bulk_of(props))


class Directory:
    """Services, as they are now."""

    def __init__(self) -> None:
        self._services: dict[int, ServiceRecord] = {}
        # A dict for a set that keeps its order: lists come out the same every time.
        self._owned: dict[int, dict[int, None]] = {}
        self._index = Index()
        self._expiries: list[tuple[float, int]] = []
        self._orphans = 0
        self.volume = 0

    def __len__(self) -> int:
        """Return the number of services."""
        return len(self._services)

    def __iter__(self) -> Iterator[ServiceRecord]:
        """Yield all services, the oldest first."""
        return iter(self._services.values())

    def get(self, service_id: int) -> ServiceRecord | None:
        """Return a service, if there is one with this identifier."""
        return self._services.get(service_id)

    def owned(self, client_id: int) -> list[ServiceRecord]:
        """Return the services of a client."""
        return [self._services[service_id] for service_id in self._owned.get(client_id, ())]

    def count_owned(self, client_id: int) -> int:
        """Return the number of services of a client."""
        return len(self._owned.get(client_id, ()))

    def find(self, anchors: Iterable[Anchor]) -> list[ServiceRecord]:
        """Return the services that have any of some anchors."""
        return [self._services[service_id] for service_id in self._index.find(anchors)]

    def put(self, service: ServiceRecord) -> None:
        """Take in a service, in the place of the one that has its identifier."""
        old = self._services.get(service.id)
        self._services[service.id] = service
        if old is None or old.owner != service.owner:
            if old is not None:
                self._disown(old)
            self._owned.setdefault(service.owner, {})[service.id] = None
        # Most changes leave the anchors as they are, and filing is what costs.
        if old is None or old.anchors != service.anchors:
            if old is not None:
                self._index.remove(old.id, old.anchors)
            self._index.add(service.id, service.anchors)
        self.volume += service.weight - (0 if old is None else old.weight)
        self._await(old, service)

    def remove(self, service: ServiceRecord) -> None:
        """Remove a service."""
        old = self._services.pop(service.id, None)
        if old is not None:
            self._disown(old)
            self._index.remove(old.id, old.anchors)
            self.volume -= old.weight
            self._await(old, None)

    def _disown(self, service: ServiceRecord) -> None:
        owned = self._owned[service.owner]
        del owned[service.id]
        if not owned:
            del self._owned[service.owner]

    # --- orphans ------------------------------------------------------------------------------------------

    def next_expiry(self) -> float | None:
        """Return when the next orphan is to be removed, on the server's clock."""
        while self._expiries and not self._is_valid(self._expiries[0]):
            heapq.heappop(self._expiries)
        return self._expiries[0][0] if self._expiries else None

    def take_expired(self, now: float) -> list[ServiceRecord]:
        """Return the orphans whose time has come; each is returned once, whether it is removed then or not."""
        expired = []
        while (at := self.next_expiry()) is not None and at <= now:
            entry = heapq.heappop(self._expiries)
            while self._expiries and self._expiries[0] == entry:
                heapq.heappop(self._expiries)  # lost, found and lost again at the same time
            expired.append(self._services[entry[1]])
        return expired

    def _await(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        was = None if old is None else old.expires
        becomes = None if new is None else new.expires
        self._orphans += (becomes is not None) - (was is not None)
        if new is not None and becomes is not None and becomes != was:
            heapq.heappush(self._expiries, (becomes, new.id))
        # At twice as many entries as are valid, sweeping costs no more than pushing them did.
        if len(self._expiries) > 2 * self._orphans + _SPARE:
            # Entries are not looked for when they become void, so now and then they are swept out.
            self._expiries = sorted({entry for entry in self._expiries if self._is_valid(entry)})

    def _is_valid(self, entry: tuple[float, int]) -> bool:
        expires, service_id = entry
        service = self._services.get(service_id)
        return service is not None and service.expires == expires
