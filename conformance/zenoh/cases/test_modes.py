"""zenoh-interests, "Interest Modes" and "Message Flows": what each mode brings, and what it does not."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import (
    EntitySet,
    InterestHandle,
    Update,
    declared,
    entity_of,
    queryable,
    set_of,
    subscriber,
    token,
    undeclared,
)
from wire.zenoh.values import DeclareFinal, EntityKind, Mode

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


def listed(ask: InterestHandle) -> EntitySet:
    """Return all that is declared under an interest's id, before or behind its D_FINAL."""
    # Behind D_FINAL too: what stands there is still under the interest's id, and other rules judge the order.
    ask.reply()
    ask.session.barrier()
    events = [event for event in ask.session.received(ask.since) if event.interest_id == ask.id]
    return EntitySet(entity for event in events if (entity := entity_of(ask.session, event)))


def is_told(node: NodeUnderTest, session: Driver, bystander: Driver, update: Update) -> bool:
    """Tell whether an update came; ``Inconclusive`` if it came to a session that asked for nothing as well."""
    # Until the node has told all that it will: that something is not told shows only then.
    node.settle()
    told = heard_of(session.news(), update)
    # A node that tells everybody everything shows nothing of the interest (reading R37).
    if told and heard_of(bystander.news(), update):
        raise Inconclusive("the node announces what nobody asked for")
    return told


def heard_of(news: list[Update], update: Update) -> bool:
    """Tell whether an update is among the news, under whatever interest id."""
    return any((each.verb, each.entity) == (update.verb, update.entity) for each in news)


def announced(node: NodeUnderTest, key: str) -> bool:
    """Have somebody declare a subscriber, and tell whether it is announced."""
    node.other.declare_subscriber(key)
    node.settle()
    return heard_of(node.main.news(), declared(subscriber(key)))


def begin_future(node: NodeUnderTest) -> InterestHandle:
    """Ask for future subscribers, and make sure that one is announced."""
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    if not announced(node, "a/1"):
        raise Inconclusive("a Future interest brings nothing")
    return ask


@rule("ZI-010")
def test_current_interest_lists_what_matches(node: NodeUnderTest) -> None:
    """Two subscribers and a queryable exist; ask for the current subscribers.

    Exactly the subscribers come, under the interest's id.
    """
    # Two, as a node may list the latest only; and one of another kind, as it may list everything.
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.other.declare_queryable("a/q")
    what = listed(node.interest(Mode.CURRENT, S))
    assert what == set_of(subscriber("a/1"), subscriber("a/2")), "what is listed is not what matches"


@rule("ZI-010")
def test_current_interest_lists_tokens(node: NodeUnderTest) -> None:
    """Two tokens, a third elsewhere and a queryable exist; ask for the current tokens of a place.

    Exactly those tokens come, under the interest's id.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("a/2")
    # Another key and another kind: each of the interest's two restrictions has something to leave out.
    node.other.declare_token("b/1")
    node.other.declare_queryable("a/q")
    what = listed(node.interest(Mode.CURRENT, T, key="a/*"))
    assert what == set_of(token("a/1"), token("a/2")), "what is listed is not what matches"


@rule("ZI-011", "ZI-070", transports=("tcp", "udp"))
def test_snapshot_ends_with_final(node: NodeUnderTest) -> None:
    """Two subscribers exist; ask for the current ones.

    The last thing under the interest's id is D_FINAL.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    reply = node.interest(Mode.CURRENT, S).reply()
    assert reply.final is not None, "no D_FINAL under the interest's id"
    node.main.barrier()
    last = [event for event in node.main.received() if event.interest_id == reply.interest_id][-1]
    assert last == reply.final, "something follows D_FINAL under the interest's id"


@rule("ZI-012", transports=("tcp", "udp"))
def test_current_interest_that_nothing_matches(node: NodeUnderTest) -> None:
    """A subscriber exists; ask for the current ones on a key where there is none.

    D_FINAL comes alone.
    """
    node.other.declare_subscriber("a/1")
    # A subscriber elsewhere exists: the snapshot is empty because of the key, not for want of subscribers.
    reply = node.interest(Mode.CURRENT, S, key="no/such").reply()
    assert reply.final is not None, "no D_FINAL for a snapshot that is empty"
    assert reply.declared == set_of()


@rule("ZI-012")
def test_current_interest_in_tokens_that_do_not_exist(node: NodeUnderTest) -> None:
    """No token exists; ask for the current ones.

    D_FINAL comes alone.
    """
    reply = node.interest(Mode.CURRENT, T).reply()
    assert reply.final is not None, "no D_FINAL for a snapshot that is empty"
    assert reply.declared == set_of()


@rule("ZI-013", roles=("router",))
def test_change_after_current_interest(node: NodeUnderTest) -> None:
    """Ask for the current tokens and read to D_FINAL; then somebody declares another one and takes both back.

    Nothing of that is reported; whether what was listed is taken back is a matter of reading.
    """
    first, bystander = node.other.declare_token("a/1"), node.session()
    if node.interest(Mode.CURRENT, T).snapshot().declared != set_of(token("a/1")):
        raise Inconclusive("the snapshot does not list the token")
    # Coming and going, as a node that forgot to end the interest would tell either.
    later = node.other.declare_token("a/2")
    assert not is_told(node, node.main, bystander, declared(token("a/2"))), "a later token is declared"
    node.other.undeclare_token(later)
    assert not is_told(node, node.main, bystander, undeclared(token("a/2"))), "a later token is undeclared"
    # Last, since reading R32 leaves it open: what was listed may be withdrawn or not.
    node.other.undeclare_token(first)
    told = is_told(node, node.main, bystander, undeclared(token("a/1")))
    node.shows("ZI-013", "R32", "B" if told else "A")


@rule("ZI-014")
def test_current_future_interest_lists_what_exists(node: NodeUnderTest) -> None:
    """Two subscribers and a queryable exist; ask for the current and future subscribers.

    Exactly the subscribers come under the interest's id, before D_FINAL.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.other.declare_queryable("a/q")
    snapshot = node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    assert snapshot.declared == set_of(subscriber("a/1"), subscriber("a/2"))


@rule("ZI-015", transports=("tcp", "udp"))
def test_current_future_interest_gets_one_final(node: NodeUnderTest) -> None:
    """Two tokens exist; ask for the current and future ones; then somebody declares a third.

    There is one D_FINAL under the interest's id, behind the two.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("a/2")
    ask = node.interest(Mode.CURRENT_FUTURE, T)
    assert ask.reply().final is not None, "no D_FINAL under the interest's id"
    node.main.barrier()
    answer = [event for event in node.main.received(ask.since) if event.interest_id == ask.id]
    assert isinstance(answer[-1].body, DeclareFinal), "D_FINAL stands before the end of the snapshot"
    # An update behind the snapshot, which may tempt a node to end it again.
    node.other.declare_token("a/3")
    node.settle()
    node.main.barrier()
    events = [event for event in node.main.received(ask.since) if event.interest_id == ask.id]
    assert sum(isinstance(event.body, DeclareFinal) for event in events) == 1, "more than one D_FINAL"


@rule("ZI-016", roles=("router",))
def test_declaration_after_the_snapshot(node: NodeUnderTest) -> None:
    """Ask for current and future queryables; after D_FINAL somebody declares one.

    It comes, without an interest id.
    """
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    node.other.declare_queryable("a/q")
    assert node.main.receives(declared(queryable("a/q")))


@rule("ZI-017", roles=("router",))
def test_undeclaration_of_what_was_listed(node: NodeUnderTest) -> None:
    """A queryable exists; ask for current and future ones; after D_FINAL it goes.

    Its undeclaration comes, without an interest id.
    """
    listed = node.other.declare_queryable("a/1")
    if queryable("a/1") not in node.interest(Mode.CURRENT_FUTURE, Q).snapshot().declared:
        raise Inconclusive("the snapshot does not list the queryable")
    node.other.undeclare_queryable(listed)
    assert node.main.receives(undeclared(queryable("a/1")))


@rule("ZI-017", roles=("router",))
def test_undeclaration_of_what_was_announced(node: NodeUnderTest) -> None:
    """Ask for current and future queryables; after D_FINAL one comes and goes.

    Its undeclaration comes, without an interest id.
    """
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    later = node.other.declare_queryable("a/2")
    if not node.main.receives(declared(queryable("a/2"))):
        raise Inconclusive("the queryable was not announced")
    node.other.undeclare_queryable(later)
    assert node.main.receives(undeclared(queryable("a/2")))


@rule("ZI-018", roles=("router",))
def test_current_future_interest_lasts_until_its_final(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers; three come one by one; send Final; a fourth comes.

    The three are announced, the fourth is not.
    """
    bystander = node.session()
    ask = node.interest(Mode.CURRENT_FUTURE, S)
    ask.snapshot()
    # Three: an interest that ends with the first update, or the second, shows.
    for key in ("a/1", "a/2", "a/3"):
        assert announced(node, key), "an update is missing"
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.declare_subscriber("a/4")
    assert not is_told(node, node.main, bystander, declared(subscriber("a/4"))), "an update comes after the Final"


@rule("ZI-018", roles=("router",))
def test_undeclaration_after_the_final_of_current_future(node: NodeUnderTest) -> None:
    """A subscriber is listed; send Final; then it goes.

    Whether the undeclaration still comes is a matter of reading.
    """
    bystander, held = node.session(), node.other.declare_subscriber("a/1")
    ask = node.interest(Mode.CURRENT_FUTURE, S)
    if subscriber("a/1") not in ask.snapshot().declared:
        raise Inconclusive("the snapshot does not list the subscriber")
    node.main.final(ask)
    node.settle()
    node.other.undeclare_subscriber(held)
    told = is_told(node, node.main, bystander, undeclared(subscriber("a/1")))
    node.shows("ZI-018", "R29", "B" if told else "A")


@rule("ZI-018", roles=("router",))
def test_final_of_another_current_future_interest(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers and, apart from that, tokens; end the second interest.

    Subscribers are still announced.
    """
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    # Of another kind: with the same, a node could rightly serve both by one entry and would have to count.
    tokens = node.interest(Mode.CURRENT_FUTURE, T)
    tokens.snapshot()
    if not announced(node, "a/1"):
        raise Inconclusive("a CurrentFuture interest brings nothing after its snapshot")
    node.main.final(tokens)
    node.settle()
    assert announced(node, "a/2"), "the Final of one interest ends another"


@rule("ZI-019", roles=("router",))
def test_future_interest_with_something_there(node: NodeUnderTest) -> None:
    """A subscriber and a token exist; ask for future ones.

    Neither comes.
    """
    # One that could be told as a router's subscriber and one that liveliness tells: they are separate paths in nodes.
    node.other.declare_subscriber("a/1")
    node.other.declare_token("a/1")
    node.settle()
    node.main.news()
    # News under another id are another interest's; under this or none they would be this one's.
    ask = node.interest(Mode.FUTURE, S, T)
    news = [update for update in node.main.news() if update.interest_id in (None, ask.id)]
    assert news == [], "what exists already is declared"


@rule("ZI-020", roles=("router",))
def test_future_interest_brings_later_declarations(node: NodeUnderTest) -> None:
    """Ask for future subscribers; then somebody declares one.

    It comes, without an interest id.
    """
    node.interest(Mode.FUTURE, S)
    node.main.barrier()
    node.other.declare_subscriber("a/2")
    assert node.main.receives(declared(subscriber("a/2")))


@rule("ZI-021")
def test_future_interest_has_no_final(node: NodeUnderTest) -> None:
    """Ask for future subscribers; one comes and goes; end the interest.

    No D_FINAL comes for it at any time.
    """
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    # Something has to happen: a node that answers lazily would send its D_FINAL with the first update.
    node.other.undeclare_subscriber(node.other.declare_subscriber("a/1"))
    node.settle()
    node.main.final(ask)
    node.main.barrier()
    finals = [event for event in node.main.received(ask.since) if isinstance(event.body, DeclareFinal)]
    assert all(event.interest_id not in (None, ask.id) for event in finals), "D_FINAL comes for a Future interest"


@rule("ZI-022", roles=("router",))
def test_future_interest_lasts_until_its_final(node: NodeUnderTest) -> None:
    """Ask for future subscribers; one comes; send Final; another comes.

    The first is announced, the second is not.
    """
    bystander, ask = node.session(), begin_future(node)
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.declare_subscriber("a/2")
    assert not is_told(node, node.main, bystander, declared(subscriber("a/2"))), "an update comes after the Final"


@rule("ZI-022", roles=("router",))
def test_undeclaration_after_the_final_of_future(node: NodeUnderTest) -> None:
    """A subscriber is announced to a Future interest; send Final; then it goes.

    Whether the undeclaration still comes is a matter of reading.
    """
    bystander = node.session()
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    held = node.other.declare_subscriber("a/1")
    if not node.main.receives(declared(subscriber("a/1"))):
        raise Inconclusive("a Future interest brings nothing")
    node.main.final(ask)
    node.settle()
    node.other.undeclare_subscriber(held)
    told = is_told(node, node.main, bystander, undeclared(subscriber("a/1")))
    node.shows("ZI-022", "R29", "B" if told else "A")


@rule("ZI-022", roles=("router",))
def test_final_of_another_future_interest(node: NodeUnderTest) -> None:
    """Ask for future subscribers and, apart from that, tokens; end the second interest.

    Subscribers are still announced.
    """
    begin_future(node)
    node.main.final(node.interest(Mode.FUTURE, T))
    node.settle()
    assert announced(node, "a/2"), "the Final of one interest ends another"
