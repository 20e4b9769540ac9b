"""What it may cost to hold filters against services, and a server in memory that minds it."""

import random

import pytest

from harness.pathfinder.peers.directory import record
from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.matching_cost import (
    PER_BYTE,
    PER_CHARACTER,
    PER_VALUE,
    bulk_of,
    demand_of,
    effort,
    is_beyond,
)
from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.driver import Driver, Service, new_id
from harness.peers.memory import World
from harness.trace import Trace
from vectors.pathfinder.filter_samples import sample
from wire.pathfinder.filters import parse


def test_texts_count_only_where_they_are_searched_through() -> None:
    bulk = bulk_of({"a": ["x" * 1000, 7], "b": []})
    assert effort(demand_of(parse("(a=x)")), bulk) == 2 * PER_VALUE
    assert effort(demand_of(parse("(&(a>1)(!(a=*)))")), bulk) == 4 * PER_VALUE
    assert effort(demand_of(parse("(a=*x*)")), bulk) == 2 * PER_VALUE + 1000 * PER_CHARACTER
    assert effort(demand_of(parse("(|(b=*x*)(c=y))")), bulk) == 0


def test_nothing_is_asked_for_without_filters() -> None:
    assert not is_beyond(0, {}, [bulk_of({"a": ["x"]})])


def test_it_does_not_matter_which_side_is_longer() -> None:
    rng = random.Random(5)
    names = [f"n{number}" for number in range(50)]
    few = bulk_of({name: ["x" * rng.randrange(9)] for name in names[:3]})
    many = bulk_of({name: ["x" * rng.randrange(9)] for name in names})
    for _ in range(200):
        demand = demand_of(sample(rng))
        assert effort(demand, few) == sum(count * few.get(look, 0) for look, count in demand.items())
        assert effort(demand, many) == sum(count * many.get(look, 0) for look, count in demand.items())


def test_the_weight_of_a_service_bounds_what_it_costs() -> None:
    for values in ([1] * 1000, ["x"] * 1000, ["x" * 1000] * 100, [f"v{n}" for n in range(1000)], [""], []):
        service = record(1, 0, {"a": values}, 1, 1)
        assert max(service.bulk.values()) <= PER_BYTE * service.weight


class House:
    """A server in memory, and its clients."""

    def __init__(self, **limits: int) -> None:
        self.world = World(lambda settings: Server(limits=Limits(**limits)), "server")
        self.trace = Trace("pathfinder", clock=self.world.clock)

    def client(self) -> Driver:
        return Driver(self.world.link(self.trace, f"l{new_id()}"), self.trace).open()


LONG = Service(1, {"a": ["x" * 1000]})
FULL = "insufficient-resources"


def test_a_list_that_is_too_laborious_is_refused() -> None:
    client = House(effort=3_000).client()
    client.sure(client.publish(LONG))
    assert len(client.services("(a=*y*)").notifications) == 0
    assert client.services("(|(a=*x*)(a=*y*)(a=*z*))").reason == FULL
    assert len(client.services("(|(a=x)(a=y)(a>1)(a=*))").notifications) == 1
    assert len(client.services().notifications) == 1


def test_subscriptions_are_refused_that_are_too_much_together() -> None:
    house = House(effort=3_000)
    client, other = house.client(), house.client()
    client.sure(client.publish(LONG))
    assert [client.subscribe("(a=*y*)").reason for _ in range(3)] == [None, None, FULL]
    assert other.subscribe("(a=*y*)").reason == FULL
    assert other.subscribe("(b=*y*)").accepted
    client.close()
    assert other.subscribe("(a=*y*)").accepted


def test_a_service_is_refused_only_for_filters_that_it_concerns() -> None:
    client = House(effort=3_000).client()
    for number in range(3):
        client.sure(client.subscribe(f"(&(group={number})(a=*y*))"))
    assert client.publish(Service(2, {"group": [1], "a": ["x" * 1000]})).completed
    assert client.publish(Service(3, {"group": [0, 1, 2], "a": ["x" * 1000]})).reason == FULL
    assert client.publish(Service(2, {"group": [0, 1, 2], "a": ["x" * 1000]}, generation=1)).reason == FULL
    assert [found["generation"] for found in client.services().notifications] == [0]
    assert client.unpublish(2).completed


@pytest.mark.parametrize(("most", "reasons"), [(6, [None, None, FULL]), (5, [None, FULL, FULL])])
def test_items_are_counted(most: int, reasons: list[str | None]) -> None:
    client = House(items=most).client()
    assert [client.subscribe("(&(a=1)(!(b=*x*))(c=*))").reason for _ in range(3)] == reasons
    client.sure(client.subscribe())
