"""zenoh-declarations, "D_SUBSCRIBER (0x02)" and "U_SUBSCRIBER (0x03)": who wants data, from when to when."""

from conformance.cases import Inconclusive, rule
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import set_of, subscriber, undeclared
from wire.zenoh.values import DeclareEntity, EntityKind, Mode, WireExpr

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN

HEADERS = {S: 0x62, Q: 0x64, T: 0x66}
"""The headers of D_SUBSCRIBER, D_QUERYABLE and D_TOKEN with N and M."""


def gets(session: Driver, key: str, payload: bytes) -> bool:
    """Read until data has come on a key."""
    return session.wait_until(lambda: (key, payload) in session.data())


def suffix(key: str) -> bytes:
    """Spell a key in the global scope: scope 0, then the suffix with its length."""
    text = key.encode()
    return bytes([0, len(text)]) + text


@rule("ZD-042", roles=("router",))
def test_data_on_a_key_that_matches_and_one_that_does_not(node: NodeUnderTest) -> None:
    """Somebody subscribes to a/*; somebody else publishes on b/1, then on a/1.

    The data on a/1 comes, that on b/1 does not.
    """
    node.main.declare_subscriber("a/*")
    node.main.barrier()
    publisher = node.session()
    # First what does not match: when the other has come, this would have come before it.
    publisher.publish("b/1", b"stranger")
    publisher.publish("a/1", b"match")
    assert gets(node.main, "a/1", b"match"), "data that matches the subscriber's key never came"
    node.settle()
    node.main.barrier()
    keys = sorted({key for key, _ in node.main.data()})
    assert keys == ["a/1"], "data came that does not match the subscriber's key"


@rule("ZD-043", roles=("router",))
def test_data_before_while_and_after_a_subscriber_is_there(node: NodeUnderTest) -> None:
    """Data is published before a subscriber is declared, while it is, and after it is undeclared.

    Only the second comes.
    """
    publisher = node.session()
    publisher.publish("a/1", b"before")
    publisher.barrier()
    known = node.main.declare_subscriber("a/*")
    node.main.barrier()
    publisher.publish("a/1", b"while")
    assert gets(node.main, "a/1", b"while"), "data was not forwarded to a subscriber that is declared"
    node.main.undeclare_subscriber(known)
    node.main.barrier()
    publisher.publish("a/1", b"after")
    publisher.barrier()
    node.main.barrier()
    payloads = [payload for _, payload in node.main.data()]
    assert b"before" not in payloads, "data was forwarded that is older than the subscriber"
    assert b"after" not in payloads, "data was forwarded to a subscriber that is undeclared"


@rule("ZD-045", roles=("router",))
def test_subscribers_on_an_alias_of_their_declarer(node: NodeUnderTest) -> None:
    """An alias for a is declared; then a subscriber on it and /1 with M set, and one on it and /2 with M clear.

    The first is a/1; the second is nothing, as the node has no such alias.
    """
    declarer = node.session()
    # A number that the node hardly gives itself.
    alias = declarer.declare_keyexpr("a", 4001)
    declarer.declare_subscriber(WireExpr("/1", alias))
    declarer.declare_subscriber("plain")
    with_m = node.listed(S)
    if subscriber("plain") not in with_m:
        raise Inconclusive("not even a subscriber without an alias is listed")
    assert with_m == set_of(subscriber("plain"), subscriber("a/1"))
    declarer.declare_subscriber(WireExpr("/2", alias, sender=False))
    declarer.read()
    assert subscriber("a/2") not in node.listed(S), "with M clear, the scope was looked up in the sender's table"


@rule("ZD-045", roles=("router",))
def test_subscribers_on_one_number_in_both_tables(node: NodeUnderTest) -> None:
    """One number is an alias of both sides; a subscriber is declared on it with M set, and one with M clear.

    The first is on what the declarer declared it for, the second on what the node did.
    """
    node.other.declare_subscriber("theirs/1")
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, S, key="theirs/*", keyexprs=True, session=declarer).snapshot()
    theirs = declarer.conversation.tables[Direction.RECEIVED]
    number = next((id for id, key in theirs.items() if key == node.key("theirs/1")), None)
    if number is None:
        raise Inconclusive("the node declared no alias of its own")
    declarer.declare_keyexpr("mine/1", number)
    declarer.declare_subscriber(WireExpr("/x", number))
    declarer.declare_subscriber(WireExpr("/y", number, sender=False))
    listed = node.listed(S) - set_of(subscriber("theirs/1"))
    assert listed == set_of(subscriber("mine/1/x"), subscriber("theirs/1/y"))


@rule("ZD-048", roles=("router",))
def test_entity_ids_beyond_32_bits(node: NodeUnderTest) -> None:
    """Somebody declares a subscriber, a queryable and a token with the id 2^32 + 9.

    None of them is known afterwards.
    """
    for kind, header in HEADERS.items():
        declarer = node.session()
        declarer.barrier()
        # 89 80 80 80 10 is 2**32 + 9.
        body = bytes([0x1E, header]) + bytes.fromhex("8980808010") + suffix(node.key(f"a/{kind.value}"))
        declarer.offend(body)
    assert node.listed(S, Q, T) == set_of(), "an entity was accepted with an id beyond 32 bits"


@rule("ZD-048", roles=("router",))
def test_undeclaration_of_an_id_beyond_32_bits(node: NodeUnderTest) -> None:
    """A subscriber has the id 9; its declarer undeclares the id 2^32 + 9.

    The subscriber is still there, if its session is.
    """
    declarer = node.session()
    declarer.declare_subscriber("a/1", id=9)
    declarer.barrier()
    # U_SUBSCRIBER (03) of 2**32 + 9.
    declarer.offend(bytes.fromhex("1e038980808010"))
    remaining = node.listed(S)
    assert declarer.ended or remaining == set_of(subscriber("a/1")), "an id beyond 32 bits was cut down to another"


@rule("ZD-049", needs=("ZD-091",))
def test_ids_of_several_subscribers(node: NodeUnderTest) -> None:
    """Three subscribers exist, and one more is declared after the snapshot.

    The node gives each of them an id of its own.
    """
    for number in range(3):
        node.other.declare_subscriber(f"a/{number}")
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    node.other.declare_subscriber("a/late")
    if not node.main.wait_until(lambda: any(e.key == node.key("a/late") for e in node.main.received())):
        raise Inconclusive("the later subscriber was never announced")
    keys: dict[int, set[str | None]] = {}
    for event in node.main.received():
        if isinstance(event.body, DeclareEntity) and event.body.kind is S:
            keys.setdefault(event.body.id, set()).add(event.key)
    assert all(len(named) == 1 for named in keys.values()), "one subs_id was given to several live subscribers"


@rule("ZD-050", roles=("router",))
def test_subscribers_in_the_global_scope(node: NodeUnderTest) -> None:
    """An alias for x exists; then subscribers with scope 0: a/1 with M set, a/2 with M clear.

    The suffix is the whole key.
    """
    declarer = node.session()
    declarer.declare_keyexpr("x")
    declarer.declare_subscriber(WireExpr(node.key("a/1")))
    assert node.listed(S) == set_of(subscriber("a/1")), "with M set, the suffix was not the whole key"
    declarer.declare_subscriber(WireExpr(node.key("a/2"), sender=False))
    declarer.read()
    clear = node.listed(S) - set_of(subscriber("a/1"))
    assert clear <= set_of(subscriber("a/2")), "with M clear, the suffix was not the whole key"
    node.shows("ZD-050", "R43", "A" if clear else "B")


@rule("ZD-051", roles=("router",))
def test_subscriber_on_an_alias_that_was_never_declared(node: NodeUnderTest) -> None:
    """Somebody declares subscribers on scope 7777, which nobody has declared, with M set and with M clear.

    Nothing comes of it.
    """
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    # 7777: a number that neither side has given.
    for sender in (True, False):
        declarer = node.session()
        declarer.declare_subscriber(WireExpr(node.key("a/1"), 7777, sender))
        declarer.read()
    node.settle()
    assert node.main.news() == [], "a subscriber on an unknown alias was announced"
    assert node.listed(S) == set_of()


@rule("ZD-051", roles=("router",))
def test_subscriber_on_no_key(node: NodeUnderTest) -> None:
    """Somebody declares a subscriber with scope 0 and no suffix.

    Nothing comes of it.
    """
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    declarer = node.session()
    declarer.declare_subscriber(WireExpr())
    declarer.read()
    node.settle()
    node.main.barrier()
    nameless = [e for e in node.main.received() if isinstance(e.body, DeclareEntity) and not e.key]
    assert not nameless, "a subscriber without a key was announced"


@rule("ZD-052", roles=("router",))
def test_one_of_two_subscribers_on_one_key_is_undeclared(node: NodeUnderTest) -> None:
    """Two subscribers are declared on one key by one session; then the first is undeclared, then the second.

    The key is still subscribed to after the first, and no longer after the second.
    """
    first = node.other.declare_subscriber("a/1")
    second = node.other.declare_subscriber("a/1")
    if node.listed(S) != set_of(subscriber("a/1")):
        raise Inconclusive("the subscribers were not listed to begin with")
    node.other.undeclare_subscriber(first)
    assert node.listed(S) == set_of(subscriber("a/1")), "both subscribers ended with the first"
    node.other.undeclare_subscriber(second)
    assert node.listed(S) == set_of(), "the second subscriber was not ended"


@rule("ZD-052", roles=("router",))
def test_one_id_is_undeclared_on_two_sessions_that_use_it(node: NodeUnderTest) -> None:
    """Two sessions have each a subscriber with the id 7; one of them undeclares it.

    The other's stays.
    """
    one, two = node.session(), node.session()
    one.declare_subscriber("a/1", id=7)
    two.declare_subscriber("a/2", id=7)
    one.barrier()
    two.barrier()
    one.undeclare_subscriber(7)
    assert node.listed(S) == set_of(subscriber("a/2"))


@rule("ZD-053")
def test_subscriber_is_undeclared(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; one of two is undeclared.

    That is told as an update, and a new snapshot lists only the other.
    """
    known = node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    node.other.undeclare_subscriber(known)
    assert node.main.receives_under_any_id(undeclared(subscriber("a/1")))
    assert subscriber("a/1") not in node.listed(S), "a snapshot lists a subscriber that is undeclared"


@rule("ZD-056", roles=("router",))
def test_undeclaration_of_a_subscriber_without_a_key(node: NodeUnderTest) -> None:
    """Somebody with two subscribers undeclares the first without the WireExpr extension; somebody else has a third.

    The second stays, if its session does, and the third stays.
    """
    node.other.declare_subscriber("a/3")
    declarer = node.session()
    declarer.declare_subscriber("a/1", id=1)
    declarer.declare_subscriber("a/2", id=2)
    declarer.barrier()
    # U_SUBSCRIBER of 1, and nothing behind it.
    declarer.offend(bytes.fromhex("1e0301"))
    _bystanders_stay(node, declarer, "a/2")


@rule("ZD-056", roles=("router",))
def test_undeclaration_of_a_subscriber_that_nobody_declared(node: NodeUnderTest) -> None:
    """Somebody with two subscribers undeclares a third id, without the WireExpr extension.

    Nothing is lost, unless the session is.
    """
    node.other.declare_subscriber("a/3")
    declarer = node.session()
    declarer.declare_subscriber("a/1", id=1)
    declarer.declare_subscriber("a/2", id=2)
    declarer.barrier()
    # U_SUBSCRIBER of 99, and nothing behind it.
    declarer.offend(bytes.fromhex("1e0363"))
    _bystanders_stay(node, declarer, "a/1", "a/2")


def _bystanders_stay(node: NodeUnderTest, declarer: Driver, *keys: str) -> None:
    """Require that a/3 of another session is listed, and the declarer's keys while its session lasts."""
    remaining = node.listed(S)
    assert subscriber("a/3") in remaining, "a subscriber of another session was removed"
    for key in keys if not declarer.ended else ():
        assert subscriber(key) in remaining, "another subscriber of the session was removed"


@rule("ZD-063", roles=("router",))
def test_undeclaration_with_the_id_of_one_subscriber_and_the_key_of_another(node: NodeUnderTest) -> None:
    """Somebody with the subscribers 1 = a/1 and 2 = a/2 undeclares 1 with the key a/2; somebody else has a/3.

    At most one of the two goes, unless the session is closed.
    """
    node.other.declare_subscriber("a/3")
    declarer = node.session()
    declarer.declare_subscriber("a/1", id=1)
    declarer.declare_subscriber("a/2", id=2)
    number = declarer.declare_keyexpr("a/2")
    declarer.barrier()
    declarer.undeclare(S, 1, key=WireExpr(None, number))
    declarer.read()
    remaining = node.listed(S)
    one, two = subscriber("a/1") in remaining, subscriber("a/2") in remaining
    assert subscriber("a/3") in remaining, "a subscriber of another session was removed"
    assert one or two or declarer.ended, "both subscribers were removed"
    node.shows("ZD-063", "R06", "C" if one == two else "A" if two else "B")
