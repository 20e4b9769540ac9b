"""Scenarios: what a client under test is to do, as data (docs/pathfinder-client.md)."""

from collections.abc import Mapping, Sequence

import msgspec

from harness.errors import BadDescription

Props = Mapping[str, Sequence[str | int]]
"""The properties of a service: all values of each name."""

# Longer than any play: nothing expires unless it is meant to.
TTL = 60
MANY = 500


class ScenarioService(msgspec.Struct, frozen=True):
    """A service that a scenario publishes; ``ttl`` in seconds. It begins at generation 0."""

    props: Props
    ttl: int = TTL


class Publish(msgspec.Struct, frozen=True):
    """Publish services, in this order."""

    services: tuple[ScenarioService, ...]


class Change(msgspec.Struct, frozen=True):
    """Republish the first service with other properties, or another TTL."""

    props: Props | None = None
    ttl: int | None = None


class Unpublish(msgspec.Struct, frozen=True):
    """Unpublish the first service."""


class Subscribe(msgspec.Struct, frozen=True):
    """Subscribe to what matches the filter; to everything without one."""

    filter: str | None = None


class Unsubscribe(msgspec.Struct, frozen=True):
    """End the subscription."""


class Query(msgspec.Struct, frozen=True):
    """Ask for a listing, or for a sign of life."""

    command: str
    filter: str | None = None


class Leave(msgspec.Struct, frozen=True):
    """Disconnect, and come back in time: a transient client's way, again and again."""


Step = Publish | Change | Unpublish | Subscribe | Unsubscribe | Query | Leave


class Scenario(msgspec.Struct, frozen=True):
    """What a client does on every server after its hello: step by step, each when the one before is answered."""

    name: str
    sentence: str
    steps: tuple[Step, ...] = ()


def named(n: int, *, ttl: int = TTL) -> ScenarioService:
    """Return a service as the scenarios publish them."""
    return ScenarioService({"name": ["goldwire-client"], "n": [n]}, ttl)


FILTER = "(name=goldwire)"

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("idle", "says hello and nothing more"),
        Scenario("publish", "publishes two services", (Publish((named(1), named(2))),)),
        Scenario(
            "modify",
            "publishes one service, then changes its properties, then its ttl to 90",
            (Publish((named(1),)), Change(props=named(2).props), Change(ttl=90)),
        ),
        Scenario("unpublish", "publishes one service, then unpublishes it", (Publish((named(1),)), Unpublish())),
        Scenario("subscribe", f"subscribes with the filter {FILTER}", (Subscribe(FILTER),)),
        Scenario("subscribe-all", "subscribes without a filter", (Subscribe(),)),
        Scenario("unsubscribe", "subscribes, then unsubscribes", (Subscribe(FILTER), Unsubscribe())),
        Scenario(
            "list",
            "asks for the services, the subscriptions and the clients, then pings",
            (Query("services", FILTER), Query("subscriptions"), Query("clients"), Query("ping")),
        ),
        Scenario(
            "transient",
            "publishes two services, one with a ttl of 4, disconnects, and is back within half of it, again and again",
            (Publish((named(1), named(2, ttl=4))), Leave()),
        ),
        Scenario("many", f"publishes {MANY} services", (Publish(tuple(named(n) for n in range(1, MANY + 1))),)),
    )
}


def scenario(name: str) -> Scenario:
    """Return the scenario of a name, ``idle`` for none; ``BadDescription`` lists the known ones."""
    known = SCENARIOS.get(name or "idle")
    if known is None:
        raise BadDescription(f"unknown scenario {name!r}: known are {', '.join(SCENARIOS)}")
    return known
