"""The defects that are planted in Zenoh's clients: by which moves each shows, and that these are all that does it."""

from collections.abc import Iterator

import pytest
from shown_defects import ShownDefects, check_it_shows, parameters, planted, seen_of

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import EndsSession, FuzzMove, GivesCommand, Listens, NetworkTest, Opens, Says
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Response,
    ResponseFinal,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import write_network


def says(*messages: NetworkMessage, then: tuple[FuzzMove, ...] = ()) -> NetworkTest:
    """A session that says something, and waits until it is acted on."""
    return (Opens("a"), Says("a", tuple(map(write_network, messages))), Listens("a"), *then)


def alias(number: int, suffix: str, scope: int = 0) -> Declare:
    return Declare(DeclareKeyExpr(number, WireExpr(suffix, scope)))


def token(number: int, key: str) -> Declare:
    return Declare(DeclareEntity(EntityKind.TOKEN, number, WireExpr(key)))


def interest(number: int, options: Options = Options.T, key: str | None = None) -> Interest:
    more = Options(0) if key is None else Options.R | Options.N
    return Interest(number, Mode.CURRENT_FUTURE, options | more, None if key is None else WireExpr(key))


TAKEN_BACK = (alias(1, "a"), alias(2, "b"), Declare(UndeclareKeyExpr(1)), Declare(UndeclareKeyExpr(2)))
DECLARES, UNDECLARES = GivesCommand("declare", ("token", "n1", "a")), GivesCommand("undeclare", ("n1",))

SHOWN: ShownDefects = {
    "dies-of-a-long-joined-alias": ("crash", says(alias(1, "a"), alias(2, "/" + "b" * 1024, 1))),
    "dies-of-many-segments": ("crash", says(Push(WireExpr("/".join("a" * 65)), b"x"))),
    "dies-of-a-late-answer": (
        "crash",
        says(alias(1, "a"), ResponseFinal(1), Response(1, WireExpr(None, 1), b"x")),
    ),
    "dies-of-what-is-taken-back": ("crash", says(*TAKEN_BACK, then=(DECLARES, UNDECLARES, Listens("a")))),
    "dies-of-a-lookalike": ("crash", says(interest(1, key="a\u2044b"))),
    "dies-of-two-separators": ("crash", says(token(1, "a//"))),
    "leaks-a-descriptor-of-nothing": ("growth", says(token(0, "a"))),
    "leaks-ends": ("growth", says(InterestFinal(9))),
    "hangs-of-many-interests": (
        "hang",
        says(*map(interest, range(1, 5)), then=(GivesCommand("ask", ("n1", "future", "token", "a")),)),
    ),
    "hangs-of-nine-wildcards": ("hang", says(token(1, "/".join("*" * 9)))),
    "publishes-nothing": ("service", says(alias(0xFFFF, "a"))),
    "tells-of-nothing": (
        "service",
        says(interest(1, Options.K | Options.S), interest(1, Options.S | Options.A)),
    ),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("zenoh", "client")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("zenoh", "peer:client") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_client_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("zenoh", "client", name, *SHOWN[name], healthy)


def test_a_client_comes_back_however_its_session_has_ended(healthy: FuzzedNode) -> None:
    for verb in ("close", "drop", "abort"):
        test: NetworkTest = (Opens("a"), EndsSession("a", verb), Opens("b", "peer"), Listens("b"))
        assert seen_of(healthy, test, "") == ""


def test_what_a_session_was_asked_is_over_with_it(healthy: FuzzedNode) -> None:
    """A name of an interest, or of an alias, stands for nothing in the session after."""
    commands = (
        GivesCommand("ask", ("n1", "future", "token", "a")),
        GivesCommand("declare", ("keyexpr", "n2", "a")),
    )
    undo = (GivesCommand("end", ("n1",)), GivesCommand("undeclare", ("n2",)))
    test: NetworkTest = (Opens("a"), *commands, Opens("b"), *undo, Listens("b"))
    assert seen_of(healthy, test, "") == ""
