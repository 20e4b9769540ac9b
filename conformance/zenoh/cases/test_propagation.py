"""zenoh-declarations, "Declaration Propagation": who is told of what, and how often."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import declared, queryable, set_of, subscriber, undeclared
from wire.zenoh.values import EntityKind, Mode

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


@rule("ZD-091", roles=("router",))
def test_declarations_reach_all_who_are_interested(node: NodeUnderTest) -> None:
    """Three sessions ask: for subscribers, for queryables, for subscribers on a/*; a fourth declares some.

    Each is told of all that it asked for.
    """
    # Sessions of their own: a node that serves only the latest interest, or the latest session, shows.
    subscribers, queryables, below_a, declarer = node.open_together(4)
    node.interest(Mode.CURRENT_FUTURE, S, session=subscribers).snapshot()
    node.interest(Mode.CURRENT_FUTURE, Q, session=queryables).snapshot()
    node.interest(Mode.CURRENT_FUTURE, S, key="a/*", session=below_a).snapshot()
    declarer.declare_subscriber("a/1")
    declarer.declare_subscriber("b/1")
    declarer.declare_queryable("a/2")
    assert subscribers.receives_under_any_id(declared(subscriber("a/1")), declared(subscriber("b/1")))
    assert queryables.receives_under_any_id(declared(queryable("a/2")))
    assert below_a.receives_under_any_id(declared(subscriber("a/1")))


@rule("ZD-092", roles=("router",))
def test_undeclarations_reach_all_who_were_told(node: NodeUnderTest) -> None:
    """Two sessions ask for subscribers, a third for queryables; what a fourth declares, it undeclares.

    Each that was told of a declaration is told of the undeclaration.
    """
    one, two, queryables, declarer = node.open_together(4)
    node.interest(Mode.CURRENT_FUTURE, S, session=one).snapshot()
    node.interest(Mode.CURRENT_FUTURE, S, key="a/*", session=two).snapshot()
    node.interest(Mode.CURRENT_FUTURE, Q, session=queryables).snapshot()
    known = declarer.declare_subscriber("a/1")
    asked = declarer.declare_queryable("a/2")
    # Who was told of the declaration, since only they must be told of its end.
    told = [(one, subscriber("a/1")), (two, subscriber("a/1")), (queryables, queryable("a/2"))]
    for session, entity in told:
        if not session.receives_under_any_id(declared(entity)):
            raise Inconclusive("a declaration was not forwarded to begin with")
    declarer.undeclare_subscriber(known)
    declarer.undeclare_queryable(asked)
    for session, entity in told:
        assert session.receives_under_any_id(undeclared(entity))


@rule("ZD-093", roles=("router",))
def test_declarations_that_nobody_asked_for(node: NodeUnderTest) -> None:
    """One session asks for tokens, one for subscribers on b/*, one for nothing; another declares on a/1.

    The first two are told nothing of it.
    """
    tokens, below_b, nothing, declarer = node.open_together(4)
    node.interest(Mode.CURRENT_FUTURE, T, session=tokens).snapshot()
    # Of the kinds that come, but on another key; the first session is on every key, but of another kind.
    node.interest(Mode.CURRENT_FUTURE, S, Q, key="b/*", session=below_b).snapshot()
    # Its session stands before the declarations, or silence would prove nothing.
    nothing.barrier()
    known = declarer.declare_subscriber("a/1")
    asked = declarer.declare_queryable("a/1")
    node.settle()
    declarer.undeclare_subscriber(known)
    declarer.undeclare_queryable(asked)
    node.settle()
    assert tokens.news() == [], "a session was sent declarations of a kind that it did not ask for"
    assert below_b.news() == [], "a session was sent declarations on a key that it did not ask for"
    node.shows("ZD-093", "R37", "B" if nothing.news() else "A")


@rule("ZD-094", roles=("router",))
def test_one_declaration_three_times(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; somebody else declares the same subscriber three times.

    It is announced once.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    for _ in range(3):
        # Under one id: the second and third are repetitions, and no entities of their own.
        declarer.declare_subscriber("a/1", id=1)
    assert node.main.receives_under_any_id(declared(subscriber("a/1")))
    declarer.barrier()
    assert [(each.verb, each.entity) for each in node.main.news()] == [("declared", subscriber("a/1"))]


@rule("ZD-094", roles=("router",))
def test_two_subscribers_on_one_key(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; somebody else declares two on one key.

    They are announced as two, or as one.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    declarer.declare_subscriber("a/1")
    declarer.declare_subscriber("a/1")
    assert node.main.receives_under_any_id(declared(subscriber("a/1")))
    declarer.barrier()
    told = [each.entity for each in node.main.news()].count(subscriber("a/1"))
    # Whether two subscribers on one key are one entity or two is a reading (R34); three they never are.
    assert told <= 2, "two subscribers were announced more than twice"
    node.shows("ZD-094", "R34", "A" if told == 2 else "B")


@rule("ZD-095", roles=("router",))
def test_one_declaration_under_two_interests(node: NodeUnderTest) -> None:
    """One session asks twice for subscribers, on overlapping keys; then one is declared that falls under both.

    It is announced once.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, S, key="a/*").snapshot()
    # Not the same key twice: equal interests may be one to a node, overlapping ones are two.
    node.interest(Mode.CURRENT_FUTURE, S, key="a/**").snapshot()
    declarer.declare_subscriber("a/1")
    assert node.main.receives_under_any_id(declared(subscriber("a/1")))
    declarer.barrier()
    assert [(each.verb, each.entity) for each in node.main.news()] == [("declared", subscriber("a/1"))]


@rule("ZD-095", roles=("router",))
def test_second_snapshot_on_one_session(node: NodeUnderTest) -> None:
    """A subscriber exists; one session asks twice for subscribers.

    The second snapshot lists it again, or leaves out what is known; there is no update in either case.
    """
    node.other.declare_subscriber("a/1")
    first = node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    if first.declared != set_of(subscriber("a/1")):
        raise Inconclusive("the first snapshot did not list the subscriber")
    second = node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    assert second.stray == (), "a subscriber that is known was announced again"
    assert len(second.entities) <= 1, "a subscriber is listed twice in one snapshot"
    node.shows("ZD-095", "R35", "A" if second.entities else "B")
    assert node.main.news() == [], "a subscriber that is known was announced again"


@rule("ZD-096", roles=("router",))
def test_declared_undeclared_and_declared_again(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; one is declared, undeclared, and declared again under the same id.

    Each of that is told, in this order.
    """
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    # Twice: the second turn shows whether the first left something behind.
    for _ in range(2):
        declarer.declare_subscriber("a/1", id=1)
        assert node.main.receives_under_any_id(declared(subscriber("a/1")))
        node.settle()
        node.main.news()
        declarer.undeclare_subscriber(1)
        if not node.main.receives_under_any_id(undeclared(subscriber("a/1"))):
            raise Inconclusive("the undeclaration was not forwarded")
        node.settle()
        node.main.news()


@rule("ZD-097", roles=("router",))
def test_declarer_is_interested_itself(node: NodeUnderTest) -> None:
    """A session that asks for subscribers declares one itself; then another session declares one.

    The first may hear of its own or not; the other hears of it, and the first of the other's.
    """
    watcher = node.session()
    node.interest(Mode.CURRENT_FUTURE, S, session=watcher).snapshot()
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    # The watcher first: when it has heard of it, the declarer's own copy would have come as well.
    node.main.declare_subscriber("a/1")
    assert watcher.receives_under_any_id(declared(subscriber("a/1")))
    own = node.main.news()
    node.shows("ZD-097", "R36", "A" if subscriber("a/1") in {each.entity for each in own} else "B")
    node.other.declare_subscriber("a/2")
    assert node.main.receives_under_any_id(declared(subscriber("a/2")))
