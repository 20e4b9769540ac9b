"""zenoh-declarations, "D_QUERYABLE (0x04)", "QueryableInfo Extension" and "U_QUERYABLE (0x05)": who answers queries."""

from conformance.cases import Inconclusive, rule
from harness.trace import Direction
from harness.zenoh.peers.routing import ALL_COMPLETE
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import declared, queryable, set_of, subscriber, token, undeclared
from wire.zenoh.grammar_extensions import QOS, QUERYABLE_INFO, TARGET
from wire.zenoh.keys import queryable_info, read_queryable_info
from wire.zenoh.values import DeclareEntity, EntityKind, Extension, Extensions, Mode, Request, WireExpr

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


def asked(session: Driver, key: str) -> Event | None:
    """Return the query on a key that a session was sent, if it comes."""
    return session.wait_for(lambda event: isinstance(event.message, Request) and session.inner(event.key) == key)


def questions(session: Driver) -> list[str | None]:
    """Return the keys of the queries that a session was sent."""
    return [session.inner(event.key) for event in session.received() if isinstance(event.message, Request)]


def info(session: Driver, complete: bool, distance: int) -> Extensions:
    """Spell QueryableInfo as the profile does."""
    return (Extension(QUERYABLE_INFO.id, queryable_info(complete, distance, deployed=session.deployed)),)


def announced(session: Driver, key: str) -> tuple[bool, int]:
    """Return what a queryable was announced with: complete, distance (without QueryableInfo: no, 0)."""
    if not session.receives_under_any_id(declared(queryable(key))):
        raise Inconclusive("the queryable was never announced")
    bodies = [
        event.body
        for event in session.received()
        if isinstance(event.body, DeclareEntity) and session.entity(event) == queryable(key)
    ]
    values = [each.value for each in bodies[-1].extensions if each.id == QUERYABLE_INFO.id]
    value = next((each for each in values if isinstance(each, int)), 0)
    return read_queryable_info(value, deployed=session.deployed)


@rule("ZD-064", roles=("router",))
def test_queries_on_a_key_that_matches_and_one_that_does_not(node: NodeUnderTest) -> None:
    """Somebody has a queryable on a/*; somebody else asks b/1, then a/1.

    The query on a/1 comes, that on b/1 does not.
    """
    node.main.declare_queryable("a/*", extensions=info(node.main, True, 0))
    node.main.barrier()
    querier = node.session()
    # The one that does not match first: when the other has come, it would have.
    querier.query("b/1")
    querier.query("a/1")
    request = asked(node.main, "a/1")
    assert request is not None, "a query that matches the queryable's key never came"
    node.main.answer(request, b"answer")
    querier.barrier()
    node.main.barrier()
    assert questions(node.main) == ["a/1"], "a query came that does not match the queryable's key"


@rule("ZD-066", roles=("router",))
def test_queryables_on_an_alias_of_their_declarer(node: NodeUnderTest) -> None:
    """An alias for a is declared; then a queryable on it and /1 with M set, and one on it and /2 with M clear.

    The first is a/1; the second is nothing, as the node has no such alias.
    """
    declarer = node.session()
    # A number that the node hardly gives itself.
    alias = declarer.declare_keyexpr("a", 4001)
    declarer.declare_queryable(WireExpr("/1", alias))
    declarer.declare_queryable("plain")
    with_m = node.listed(Q)
    if queryable("plain") not in with_m:
        raise Inconclusive("not even a queryable without an alias is listed")
    assert with_m == set_of(queryable("plain"), queryable("a/1"))
    declarer.declare_queryable(WireExpr("/2", alias, sender=False))
    declarer.read()
    assert queryable("a/2") not in node.listed(Q), "with M clear, the scope was looked up in the sender's table"


@rule("ZD-066", roles=("router",))
def test_queryables_on_one_number_in_both_tables(node: NodeUnderTest) -> None:
    """One number is an alias of both sides; a queryable is declared on it with M set, and one with M clear.

    The first is on what the declarer declared it for, the second on what the node did.
    """
    node.other.declare_queryable("theirs/1")
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, Q, key="theirs/*", keyexprs=True, session=declarer).snapshot()
    theirs = declarer.conversation.tables[Direction.RECEIVED]
    number = next((id for id, key in theirs.items() if key == node.key("theirs/1")), None)
    if number is None:
        raise Inconclusive("the node declared no alias of its own")
    declarer.declare_keyexpr("mine/1", number)
    declarer.declare_queryable(WireExpr("/x", number))
    declarer.declare_queryable(WireExpr("/y", number, sender=False))
    listed = node.listed(Q) - set_of(queryable("theirs/1"))
    assert listed == set_of(queryable("mine/1/x"), queryable("theirs/1/y"))


@rule("ZD-071", roles=("router",), needs=("ZD-091",))
def test_complete_flag_is_passed_on(node: NodeUnderTest) -> None:
    """Somebody asks for queryables; a complete one is declared on a/1, another on a/2.

    The first is announced with the Complete flag, the second without.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    declarer.declare_queryable("a/1", extensions=info(declarer, True, 0))
    # With the extension, though its flag is clear: without it is a case of its own.
    declarer.declare_queryable("a/2", extensions=info(declarer, False, 0))
    assert announced(node.main, "a/1")[0], "a complete queryable was announced as not complete"
    assert not announced(node.main, "a/2")[0], "a queryable that is not complete was announced as complete"


@rule("ZD-071", roles=("router",))
def test_query_to_complete_queryables_only(node: NodeUnderTest) -> None:
    """A complete queryable is on a/*, another on a/**; somebody asks a/1 of all complete ones.

    Only the complete one is asked.
    """
    complete, partial, querier = node.session(), node.session(), node.session()
    complete.declare_queryable("a/*", extensions=info(complete, True, 0))
    partial.declare_queryable("a/**", extensions=info(partial, False, 0))
    complete.barrier()
    partial.barrier()
    # Mandatory, as its definition is: else a node may pass over it. Behind another extension with a number of its own
    # (5, the priority of data), as queries come: who takes the first number for the target asks everybody.
    target = Extension(TARGET.id, ALL_COMPLETE, mandatory=True)
    querier.query("a/1", (Extension(QOS.id, 5), target))
    request = asked(complete, "a/1")
    assert request is not None, "the complete queryable was not asked"
    # Answered, so that the query ends and the barrier behind it says that nobody else is asked.
    complete.answer(request, b"answer")
    querier.barrier()
    partial.barrier()
    assert questions(partial) == [], "a queryable that is not complete was asked"


@rule("ZD-072", roles=("router",), needs=("ZD-091",))
def test_distance_of_forwarded_queryables(node: NodeUnderTest) -> None:
    """Somebody asks for queryables; some are declared with distances that are none, or a multiple of 128.

    None of them comes nearer by being announced, and which was further away still is: to all, the way that is added is
    the same. Such distances read as distances in both layouts of QueryableInfo (reading R21), and one hop more is 1 in
    the document's and 128 in the deployed one.
    """
    declarer = node.session()
    declarer.deployed = node.main.deployed = False
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    # In the deployed layout these are 0, 1 and 10 hops: distances such as occur.
    given = (0, 128, 1280)
    for distance in given:
        declarer.declare_queryable(f"a/{distance}", extensions=info(declarer, True, distance))
    told = [announced(node.main, f"a/{distance}")[1] for distance in given]
    grown = {after - before for before, after in zip(given, told, strict=True)}
    assert min(grown) >= 0, "a queryable was announced with a smaller distance than it was declared with"
    assert told == sorted(set(told)), "a queryable that is further away was not announced as further away"
    node.shows("ZD-072", "R23", "A" if grown in ({1}, {128}) else "B" if min(grown) > 0 else "C")


@rule("ZD-073", roles=("router",), needs=("ZD-091",))
def test_queryable_without_info(node: NodeUnderTest) -> None:
    """Somebody asks for queryables; one is declared without QueryableInfo.

    It is announced, and not as complete.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    declarer.declare_queryable("a/1")
    assert node.main.receives_under_any_id(declared(queryable("a/1")))
    assert not announced(node.main, "a/1")[0], "a queryable that said nothing of it was announced as complete"


@rule("ZD-075", roles=("router",))
def test_queryable_is_undeclared_among_others_of_its_number(node: NodeUnderTest) -> None:
    """A session has a subscriber, a queryable and a token 5, and a queryable 6; queryable 5 is undeclared.

    It alone goes.
    """
    declarer = node.session()
    # One id for three kinds: they are numbered apart.
    declarer.declare_subscriber("a/s", id=5)
    declarer.declare_token("a/t", id=5)
    declarer.declare_queryable("a/q", id=5)
    declarer.declare_queryable("a/r", id=6)
    everything = set_of(subscriber("a/s"), token("a/t"), queryable("a/q"), queryable("a/r"))
    if node.interest(Mode.CURRENT_FUTURE, S, Q, T).snapshot().declared != everything:
        raise Inconclusive("the node does not keep one number for several kinds")
    declarer.undeclare_queryable(5)
    assert node.main.receives_under_any_id(undeclared(queryable("a/q")))
    node.settle()
    gone = [update.entity for update in node.main.news() if update.verb == "undeclared"]
    assert gone == [queryable("a/q")], "more than the one queryable was undeclared"
    assert node.listed(S, Q, T) == everything - set_of(queryable("a/q"))
