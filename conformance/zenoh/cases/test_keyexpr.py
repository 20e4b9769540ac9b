"""zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR": numbers that stand for keys, as long as they do."""

from conformance.cases import rule
from harness.zenoh.driver import Session
from harness.zenoh.under_test import NodeUnderTest
from harness.zenoh.watching import Update, declared, subscriber, these
from wire.primitives import vle
from wire.zenoh.frames import write_network
from wire.zenoh.messages import Declare, DeclareKeyExpr, Kind, Mode, UndeclareKeyExpr, WireExpr

S = Kind.SUBSCRIBER


def spelled(node: NodeUnderTest, start: str, key: str) -> bytes:
    """Return bytes that begin as given and end with the suffix of a key in the play's namespace."""
    suffix = node.key(key).encode()
    return bytes.fromhex(start) + vle(len(suffix)) + suffix


def listen(node: NodeUnderTest) -> Session:
    """Return a session that is told of every subscriber from now on."""
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    return node.main


def heard(node: NodeUnderTest) -> list[Update]:
    """Return what the listener was told of late, once everybody's statements have been acted on."""
    node.settle()
    return node.main.news()


@rule("ZD-027", roles=("router",))
def test_key_that_builds_on_an_alias(node: NodeUnderTest) -> None:
    """Declare an alias of a/b, then subscribers on the alias and on the alias with /c behind it.

    They are subscribers on a/b and a/b/c.
    """
    session, listener = node.session(), listen(node)
    alias = session.declare_keyexpr("a/b")
    session.declare_subscriber(WireExpr(None, alias))
    session.declare_subscriber(WireExpr("/c", alias))
    wanted = [declared(subscriber(key)) for key in ("a/b", "a/b/c")]
    assert listener.hears(*wanted), "a key that builds on an alias does not come"
    assert set(heard(node)) == set(wanted), "a key that builds on an alias comes as another"


@rule("ZD-027", roles=("router",))
def test_suffix_without_a_slash(node: NodeUnderTest) -> None:
    """Declare an alias of a/b, then a subscriber on the alias with c behind it, without a slash between.

    Scope and suffix are put together as they are, or with a slash.
    """
    session = node.session()
    listen(node)
    session.declare_subscriber(WireExpr("c", session.declare_keyexpr("a/b")))
    session.unsettled = True
    came = heard(node)
    readings = {declared(subscriber("a/bc")): "A", declared(subscriber("a/b/c")): "B"}
    assert len(came) == 1 and came[0] in readings, "scope and suffix make neither a/bc nor a/b/c"
    node.shows("ZD-027", "R09", readings[came[0]])


@rule("ZD-031", roles=("router",))
def test_numbers_that_are_no_z16(node: NodeUnderTest) -> None:
    """Send declarations whose expr_id or scope does not fit into 16 bits, or is cut short.

    They are refused: no number wraps around to a small one.
    """
    listen(node)
    offences = {
        "a scope": spelled(node, "1e620980804", "a/1") if False else spelled(node, "1e6209808004", "a/1"),
        "the scope of a D_KEYEXPR": spelled(node, "1e2005808004", "a/2") + bytes.fromhex("1e420905"),
        "an expr_id": spelled(node, "1e2085800400", "a/3") + bytes.fromhex("1e420905"),
        "half an expr_id": bytes.fromhex("1e2080"),
    }
    for what, offence in offences.items():
        node.session().offend(offence)
        assert not node.main.news(), f"{what} that is out of range was taken for a smaller one"
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))


@rule("ZD-031", roles=("router",))
def test_released_number_that_is_no_z16(node: NodeUnderTest) -> None:
    """Declare alias 5, send U_KEYEXPR for 65541, then declare a subscriber on alias 5.

    The number does not wrap around: alias 5 stands, if the session does.
    """
    session, listener = node.session(), listen(node)
    session.declare_keyexpr("a", 5)
    session.barrier()
    session.offend(bytes.fromhex("1e01858004"))
    if not session.ended:
        session.declare_subscriber(WireExpr("/1", 5))
        assert listener.hears(declared(subscriber("a/1"))) or session.ended, "65541 was taken for alias 5"
    node.other.declare_subscriber("sane")
    listener.expect(declared(subscriber("sane")))


@rule("ZD-031", roles=("router",))
def test_number_longer_than_needed(node: NodeUnderTest) -> None:
    """Declare alias 5 with the number in three bytes, and a subscriber on it.

    The number is read as 5, or the message is refused.
    """
    listen(node)
    node.session().offend(spelled(node, "1e2085800000", "a") + bytes.fromhex("1e620905022f31"))
    came = node.main.news()
    assert set(came) <= {declared(subscriber("a/1"))}, "a number in three bytes is taken for another"
    node.shows("ZD-031", "R02", "B" if came else "A")


@rule("ZD-032", roles=("router",))
def test_alias_zero(node: NodeUnderTest) -> None:
    """Give the number 0 to a key, and declare a subscriber with scope 0.

    Scope 0 stays the global scope; the message is refused, or without effect on it.
    """
    listen(node)
    node.session().offend(spelled(node, "1e200000", "a") + spelled(node, "1e620900", "b/1"))
    came = node.main.news()
    assert set(came) <= {declared(subscriber("b/1"))}, "scope 0 stands for a key"
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))


@rule("ZD-033", roles=("router",))
def test_alias_with_scope_zero(node: NodeUnderTest) -> None:
    """Declare two aliases with scope 0, and a subscriber on each.

    Each stands for its suffix alone.
    """
    session, listener = node.session(), listen(node)
    for key in ("a/1", "b/2"):
        session.declare_subscriber(WireExpr(None, session.declare_keyexpr(key)))
    wanted = [declared(subscriber(key)) for key in ("a/1", "b/2")]
    assert listener.hears(*wanted), "an alias with scope 0 does not stand for its suffix"
    assert set(heard(node)) == set(wanted), "an alias with scope 0 stands for more than its suffix"


@rule("ZD-033", roles=("router",))
def test_alias_that_continues_an_alias(node: NodeUnderTest) -> None:
    """Declare alias 500 of a/b, alias 600 as 500 with /c behind it, and a subscriber on 600.

    It is a subscriber on a/b/c, or alias 500 is looked up where it does not exist and nothing comes.
    """
    session = node.session()
    listen(node)
    session.declare_keyexpr("a/b", 500)
    session.declare_keyexpr(WireExpr("/c", 500), 600)
    session.offend(write_network(declaration(WireExpr(None, 600))))
    came = node.main.news()
    assert set(came) <= {declared(subscriber("a/b/c"))}, "an alias over an alias stands for another key"
    node.shows("ZD-033", "R08", "A" if came else "B")
