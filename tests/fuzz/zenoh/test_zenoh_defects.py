"""The defects that are planted in Zenoh's routers: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator

import pytest
from shown_defects import ShownDefects, check_it_shows, parameters, planted

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import EndsSession, Listens, NetworkTest, Opens, Says
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import Close, write_batch, write_network


def says(*messages: NetworkMessage) -> NetworkTest:
    """A session that says something, and waits until it is acted on."""
    return (Opens("a"), Says("a", tuple(map(write_network, messages))), Listens("a"))


def alias(number: int, suffix: str, scope: int = 0) -> Declare:
    return Declare(DeclareKeyExpr(number, WireExpr(suffix, scope)))


def token(number: int, key: WireExpr) -> Declare:
    return Declare(DeclareEntity(EntityKind.TOKEN, number, key))


def about(key: str) -> Interest:
    return Interest(1, Mode.CURRENT, Options.T | Options.R | Options.N, WireExpr(key))


IN_THE_FUTURE = [Interest(number, Mode.FUTURE, Options.T) for number in (1, 2)]
UNDECLARED = tuple(
    Declare(UndeclareEntity(EntityKind.SUBSCRIBER, number, (Extension(9, 1),))) for number in range(1, 4)
)
OF_EACH_KIND = [Declare(DeclareEntity(kind, 1, WireExpr("a"))) for kind in EntityKind]
TOLD = (
    *(Opens("a"), Says("a", tuple(map(write_network, IN_THE_FUTURE))), Listens("a"), Opens("b")),
    *(Says("b", tuple(write_network(token(number, WireExpr(f"b/{number}"))) for number in (1, 2, 3))), Listens("b")),
)
"""One has two interests, and is told of three things."""
ON_ONE_KEY = [Declare(DeclareEntity(kind, number, WireExpr("a"))) for kind in EntityKind for number in (1, 2)]

SHOWN: ShownDefects = {
    "dies-of-a-chain-of-aliases": ("crash", says(alias(1, "a"), alias(2, "/b", 1), alias(3, "/c", 2))),
    "dies-of-a-large-extension": ("crash", says(Push(WireExpr("a"), b"x", (Extension(9, bytes(256)),)))),
    "dies-of-a-taken-back-alias": (
        "crash",
        says(alias(1, "a"), token(1, WireExpr(None, 1)), Declare(UndeclareKeyExpr(1))),
    ),
    "dies-of-a-second-final": ("crash", says(*IN_THE_FUTURE, *map(InterestFinal, (1, 2, 3)))),
    "dies-of-an-emoji": ("crash", says(token(1, WireExpr("\U0001f980")))),
    "dies-of-a-trailing-separator": ("crash", says(about("a/"))),
    "leaks-descriptors": ("growth", says(Request(1, WireExpr("a", 9)))),
    "leaks-fragments": (
        "growth",
        (Opens("a"), Says("a", (write_network(about("a")),), cut=4), Listens("a"), EndsSession("a", "drop")),
    ),
    "hangs-of-many-wildcards": ("hang", says(about("/".join(["**", "a"] * 8)))),
    "hangs-of-nothing-to-aggregate": ("hang", says(Interest(1, Mode.FUTURE, Options.K | Options.A))),
    "undeclares-for-others": ("harm", says(*UNDECLARED)),
    "ends-all-sessions": ("harm", (Opens("a"), Says("a", (write_batch([Close(255, True)]),), "frame"))),
    "tells-nobody": ("service", says(alias(0xFFFF, "a"))),
    "answers-nobody": ("hang", says(*ON_ONE_KEY)),
    "dies-of-a-taken-back-entity": (
        "crash",
        (*TOLD, *says(token(1, WireExpr("a")), Declare(UndeclareEntity(EntityKind.TOKEN, 1)))[1:]),
    ),
    "dies-of-a-third-alias": ("crash", (*TOLD, *says(alias(1, "a"), alias(2, "b"), alias(3, "c"))[1:])),
    "tells-nobody-behind-an-end": (
        "service",
        (
            *says(Interest(1, Mode.FUTURE, Options.S | Options.Q | Options.T)),
            *(Opens("b"), Says("b", tuple(map(write_network, (*IN_THE_FUTURE, *OF_EACH_KIND)))), Listens("b")),
            EndsSession("b", "drop"),
        ),
    ),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("zenoh", "router")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("zenoh", "peer:") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_router_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("zenoh", "router", name, *SHOWN[name], healthy)
