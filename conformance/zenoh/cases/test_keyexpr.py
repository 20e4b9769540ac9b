"""zenoh-declarations, "D_KEYEXPR" and "U_KEYEXPR": numbers that stand for keys, as long as they do."""

from conformance.cases import Inconclusive, rule
from conformance.zenoh.answers import given_twice
from conformance.zenoh.stimuli import with_key
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import (
    EntityName,
    EntitySet,
    declared,
    live_entities,
    set_of,
    subscriber,
    undeclared,
)
from wire.zenoh.values import Declare, DeclareEntity, EntityKind, Mode, Push, Request, WireExpr
from wire.zenoh.values_transport import write_network

S = EntityKind.SUBSCRIBER


def declaration(key: WireExpr) -> Declare:
    """Return the declaration of a subscriber on a key."""
    return Declare(DeclareEntity(S, 9, key))


def listen(node: NodeUnderTest) -> Driver:
    """Return a session that is told of every subscriber from now on."""
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    return node.main


def heard(node: NodeUnderTest) -> EntitySet:
    """Return what the listener was told of late, once everybody's statements have been acted on."""
    node.settle()
    return EntitySet(update.entity for update in node.main.news())


def arrive(listener: Driver, *entities: EntityName) -> bool:
    """Wait until a listener knows of some entities; whatever the form of the news is other rules' business."""
    return listener.wait_until(lambda: live_entities(listener) >= set_of(*entities))


@rule("ZD-027", roles=("router",), needs=("ZD-091",))
def test_key_that_builds_on_an_alias(node: NodeUnderTest) -> None:
    """Declare an alias of a/b, then subscribers on the alias and on the alias with /c behind it.

    They are subscribers on a/b and a/b/c.
    """
    session, listener = node.session(), listen(node)
    alias = session.declare_keyexpr("a/b")
    session.declare_subscriber(WireExpr(None, alias))
    session.declare_subscriber(WireExpr("/c", alias))
    wanted = set_of(subscriber("a/b"), subscriber("a/b/c"))
    assert arrive(listener, *wanted), "a key that builds on an alias does not come"
    assert heard(node) == wanted, "a key that builds on an alias comes as another"


@rule("ZD-027", roles=("router",), needs=("ZD-091",))
def test_suffix_without_a_slash(node: NodeUnderTest) -> None:
    """Declare an alias of a/b, then a subscriber on the alias with c behind it, without a slash between.

    Scope and suffix are put together as they are, or with a slash.
    """
    session = node.session()
    listen(node)
    session.declare_subscriber(WireExpr("c", session.declare_keyexpr("a/b")))
    came = heard(node)
    readings = {set_of(subscriber("a/bc")): "A", set_of(subscriber("a/b/c")): "B"}
    assert came in readings, "scope and suffix make neither a/bc nor a/b/c"
    node.shows("ZD-027", "R09", readings[came])


@rule("ZD-031", roles=("router",), needs=("ZD-091",))
def test_numbers_that_are_no_z16(node: NodeUnderTest) -> None:
    """Send declarations whose expr_id or scope does not fit into 16 bits, or is cut short.

    They are refused: no number wraps around to a small one.
    """
    listen(node)
    # 62 is D_SUBSCRIBER, 20 D_KEYEXPR; 80 80 04 is 65536, which ends in 16 zero bits, and 85 80 04 is 65541. What
    # follows the D_KEYEXPRs is a subscriber on the number 5 (42 09 05), to see whether that was given.
    offences = {
        "a scope": with_key(node, "1e6209808004", "a/1"),
        "the scope of a D_KEYEXPR": with_key(node, "1e2005808004", "a/2") + bytes.fromhex("1e420905"),
        "an expr_id": with_key(node, "1e2085800400", "a/3") + bytes.fromhex("1e420905"),
        "half an expr_id": bytes.fromhex("1e2080"),
    }
    for what, offence in offences.items():
        node.session().offend(offence)
        assert not node.main.news(), f"{what} that is out of range was taken for a smaller one"
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))


@rule("ZD-031", roles=("router",), needs=("ZD-091",))
def test_released_number_that_is_no_z16(node: NodeUnderTest) -> None:
    """Declare alias 5, send U_KEYEXPR for 65541, then declare a subscriber on alias 5.

    The number does not wrap around: alias 5 stands, if the session does.
    """
    session = node.session()
    listener = listen(node)
    session.declare_keyexpr("a/1", 5)
    session.barrier()
    # U_KEYEXPR of 65541, which ends in the 16 bits of 5.
    session.offend(bytes.fromhex("1e01858004"))
    session.declare_subscriber(WireExpr(None, 5))
    if session.answers():
        assert heard(node) == set_of(subscriber("a/1")), "65541 was taken for alias 5"
    node.other.declare_subscriber("sane")
    listener.expect(declared(subscriber("sane")))


@rule("ZD-031", roles=("router",))
def test_number_longer_than_needed(node: NodeUnderTest) -> None:
    """Declare alias 5 with the number in three bytes, and a subscriber on it.

    The number is read as 5, or the message is refused.
    """
    listen(node)
    # 85 80 00 is 5 in three bytes; then a subscriber on it.
    node.session().offend(with_key(node, "1e2085800000", "a/1") + bytes.fromhex("1e420905"))
    came = {update.entity for update in node.main.news()}
    assert came <= set_of(subscriber("a/1")), "a number in three bytes is taken for another"
    node.shows("ZD-031", "R02", "B" if came else "A")


@rule("ZD-032", roles=("router",), needs=("ZD-091",))
def test_alias_zero(node: NodeUnderTest) -> None:
    """Give the number 0 to a key, and declare a subscriber with scope 0.

    Scope 0 stays the global scope; the message is refused, or without effect on it.
    """
    listen(node)
    # 0 for "a" (20 00 00); then D_SUBSCRIBER 9 with scope 0.
    node.session().offend(with_key(node, "1e200000", "a") + with_key(node, "1e620900", "b/1"))
    came = {update.entity for update in node.main.news()}
    assert came <= set_of(subscriber("b/1")), "scope 0 stands for a key"
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))


@rule("ZD-033", roles=("router",), needs=("ZD-091",))
def test_alias_with_scope_zero(node: NodeUnderTest) -> None:
    """Declare two aliases with scope 0, and a subscriber on each.

    Each stands for its suffix alone.
    """
    session, listener = node.session(), listen(node)
    for key in ("a/1", "b/2"):
        session.declare_subscriber(WireExpr(None, session.declare_keyexpr(key)))
    wanted = set_of(subscriber("a/1"), subscriber("b/2"))
    assert arrive(listener, *wanted), "an alias with scope 0 does not stand for its suffix"
    assert heard(node) == wanted, "an alias with scope 0 stands for more than its suffix"


@rule("ZD-033", roles=("router",))
def test_alias_that_continues_an_alias(node: NodeUnderTest) -> None:
    """Declare alias 500 of a/b, alias 600 as 500 with /c behind it, and a subscriber on 600.

    It is a subscriber on a/b/c, or alias 500 is looked up where it does not exist and nothing comes.
    """
    session = node.session()
    listen(node)
    # Beyond the numbers that the driver gives by itself.
    session.declare_keyexpr("a/b", 500)
    session.declare_keyexpr(WireExpr("/c", 500), 600)
    session.offend(write_network(declaration(WireExpr(None, 600))))
    came = {update.entity for update in node.main.news()}
    assert came <= set_of(subscriber("a/b/c")), "an alias over an alias stands for another key"
    node.shows("ZD-033", "R08", "A" if came else "B")


@rule("ZD-034", roles=("router",), needs=("ZD-091",))
def test_alias_that_continues_a_number_of_both_sides(node: NodeUnderTest) -> None:
    """Both sides give one number to different keys; declare two aliases that continue it, and a subscriber on each.

    Both are looked up in the same table, whichever it is.
    """
    node.interest(Mode.CURRENT_FUTURE, S, keyexprs=True).snapshot()
    node.other.declare_subscriber("theirs")
    node.main.expect(declared(subscriber("theirs")))
    given = [expr_id for expr_id, key in node.main.conversation.tables[Direction.RECEIVED].items() if key]
    if not given:
        raise Inconclusive("the node gave no number to a key, even when it was asked for key expressions")
    session, listener, number = node.main, node.session(), given[0]
    base = node.main.conversation.tables[Direction.RECEIVED][number].removeprefix(node.namespace)
    node.interest(Mode.CURRENT_FUTURE, S, session=listener).snapshot()
    session.declare_keyexpr("ours", number)
    for alias in (501, 502):
        session.declare_keyexpr(WireExpr(f"/{alias}", number), alias)
        session.declare_subscriber(WireExpr(None, alias))
    session.barrier()
    came = {update.entity.key for update in listener.news()} - {"theirs"}
    readings = {("ours/501", "ours/502"): "A", (f"{base}/501", f"{base}/502"): "B", (): "C"}
    seen = tuple(sorted(key or "" for key in came))
    assert seen in readings, "the scopes of two aliases were not looked up in one table"
    node.shows("ZD-034", "R08", readings[seen])


@rule("ZD-035", roles=("router",), needs=("ZD-091",))
def test_aliases_of_other_sessions(node: NodeUnderTest) -> None:
    """One session gives 5 to a; another gives 5 to b and uses it; a third uses 5 without having given it.

    The second has a subscriber on b, the third none.
    """
    listen(node)
    first, second, third = node.session(), node.session(), node.session()
    first.declare_keyexpr("a", 5)
    first.barrier()
    second.declare_keyexpr("b", 5)
    second.declare_subscriber(WireExpr(None, 5))
    second.barrier()
    third.offend(write_network(declaration(WireExpr(None, 5))))
    assert heard(node) == set_of(subscriber("b")), "an alias reaches beyond its session"


@rule("ZD-035", roles=("router",), needs=("ZD-091",))
def test_aliases_after_a_reconnect(node: NodeUnderTest) -> None:
    """A node declares an alias, leaves, comes back under the same id, and uses the alias without declaring it.

    It does not exist any more.
    """
    listen(node)
    # An id for both sessions, so that the node has every reason to take them for one.
    zid = b"goldwire-again\x07"
    before = node.session(zid=zid)
    before.declare_keyexpr("a", 5)
    before.declare_subscriber(WireExpr(None, 5))
    node.main.expect(declared(subscriber("a")))
    before.close()
    node.main.expect(undeclared(subscriber("a")))
    node.main.news()
    node.session(zid=zid).offend(write_network(declaration(WireExpr(None, 5))))
    assert not node.main.news(), "an alias outlives its session"


@rule("ZD-036", roles=("router",), needs=("ZD-091",))
def test_numbers_that_the_node_gives(node: NodeUnderTest) -> None:
    """Ask for subscribers and key expressions; thirty subscribers come and go.

    No number is given to a second key before it is taken from the first.
    """
    node.interest(Mode.CURRENT_FUTURE, S, keyexprs=True).snapshot()
    # Enough for a node that gives numbers sparingly to come to the first ones again.
    for number in range(30):
        node.other.undeclare_subscriber(node.other.declare_subscriber(f"a/{number}"))
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))
    assert not given_twice(node.main), "a number is given to a second key while the first has it"


@rule("ZD-037", roles=("router",), needs=("ZD-091",))
def test_number_given_twice(node: NodeUnderTest) -> None:
    """Give 5 to a, 6 to c, and 5 to b without a U_KEYEXPR; then declare subscribers on 5 and 6.

    The first is on a or b, the second on c; or the session ends.
    """
    session = node.session()
    listen(node)
    session.declare_keyexpr("a", 5)
    session.declare_keyexpr("c", 6)
    session.declare_keyexpr("b", 5)
    session.read()
    if session.ended:
        return
    session.declare_subscriber(WireExpr(None, 5))
    session.declare_subscriber(WireExpr(None, 6))
    came, other = heard(node), subscriber("c")
    assert came in (set_of(subscriber("a"), other), set_of(subscriber("b"), other)), (
        "a number that was given twice stands for neither of its keys"
    )


@rule("ZD-038", roles=("router",), needs=("ZD-091",))
def test_released_number_given_again(node: NodeUnderTest) -> None:
    """Give 5 to a, release it, give it to b, and declare a subscriber on it.

    It is a subscriber on b.
    """
    session, listener = node.session(), listen(node)
    session.declare_keyexpr("a", 5)
    session.undeclare_keyexpr(5)
    session.declare_keyexpr("b", 5)
    session.declare_subscriber(WireExpr(None, 5))
    assert arrive(listener, subscriber("b")), "a number that was released cannot be given again"


@rule("ZD-040", roles=("router",), needs=("ZD-091",))
def test_release_of_a_number_never_given(node: NodeUnderTest) -> None:
    """Give 6 to a, and release 77, which was never given; then declare a subscriber on 6.

    It is on a; or the session ends.
    """
    session, listener = node.session(), listen(node)
    # 77 was never given, neither by the tester nor, most likely, by the node.
    session.declare_keyexpr("a", 6)
    session.undeclare_keyexpr(77)
    session.read()
    if not session.ended:
        session.declare_subscriber(WireExpr(None, 6))
        assert arrive(listener, subscriber("a")) or session.ended, "the release of a number never given does harm"
    node.shows("ZD-040", "R15", "B" if session.ended else "A")


@rule("ZD-040", roles=("router",), needs=("ZD-091",))
def test_key_on_a_released_number(node: NodeUnderTest) -> None:
    """Give 5 to a and release it; then declare a subscriber on 5.

    It does not come to stand for any key.
    """
    session = node.session()
    listen(node)
    session.declare_keyexpr("a", 5)
    session.undeclare_keyexpr(5)
    session.offend(write_network(declaration(WireExpr(None, 5))))
    assert not node.main.news(), "a key that builds on a released number is resolved"
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))


@rule("ZD-041", roles=("router",))
def test_entity_on_a_number_given_anew(node: NodeUnderTest) -> None:
    """Declare a subscriber through an alias of a, release the alias and give its number to b; then others ask.

    The subscriber is on a, or gone.
    """
    session = node.session()
    session.declare_keyexpr("a", 5)
    session.declare_subscriber(WireExpr(None, 5))
    session.undeclare_keyexpr(5)
    session.declare_keyexpr("b", 5)
    listed = node.interest(Mode.CURRENT_FUTURE, S).snapshot().declared
    assert listed <= set_of(subscriber("a")), "an entity turns into another when its alias is released"
    node.shows("ZD-041", "R14", "A" if listed else "B")


@rule("ZD-040", roles=("router",))
def test_data_on_a_number_that_nobody_gave(node: NodeUnderTest) -> None:
    """Somebody subscribes to everything, and answers all queries; others publish and query on a number of no key.

    It is for nobody, and the node goes on: what is published on a key arrives.
    """
    node.main.declare_subscriber("**")
    node.main.declare_queryable("**")
    node.main.barrier()
    since = node.main.place
    for message in (Push(WireExpr("/a", 77), b"lost"), Request(1, WireExpr("/a", 77))):
        stray = node.session()
        # It may end the session of whoever sends that.
        stray.send(message)
        stray.read()
    node.session().publish("a", b"found")
    node.main.wait_until(lambda: bool(node.main.data(since)))
    assert node.main.data(since) == [("a", b"found")], "data on a number that nobody gave is for somebody"
