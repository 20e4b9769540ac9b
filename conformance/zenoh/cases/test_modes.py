"""zenoh-interests, "Interest Modes" and "Message Flows": what each mode brings, and what it does not."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.under_test import NodeUnderTest
from harness.zenoh.watching import declared, queryable, subscriber, these, token, undeclared
from wire.zenoh.messages import DeclareFinal, Kind, Mode

S, Q, T = Kind.SUBSCRIBER, Kind.QUERYABLE, Kind.TOKEN


@rule("ZI-010")
def test_current_interest_lists_what_matches(node: NodeUnderTest) -> None:
    """Two subscribers and a queryable exist; ask for the current subscribers.

    Exactly the subscribers come, under the interest's id.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.other.declare_queryable("a/q")
    reply = node.interest(Mode.CURRENT, S).reply()
    assert reply.declared == these(subscriber("a/1"), subscriber("a/2")), "what is listed is not what matches"


@rule("ZI-010")
def test_current_interest_lists_tokens(node: NodeUnderTest) -> None:
    """Two tokens, a third elsewhere and a queryable exist; ask for the current tokens of a place.

    Exactly those tokens come, under the interest's id.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("a/2")
    node.other.declare_token("b/1")
    node.other.declare_queryable("a/q")
    reply = node.interest(Mode.CURRENT, T, key="a/*").reply()
    assert reply.declared == these(token("a/1"), token("a/2")), "what is listed is not what matches"


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
    reply = node.interest(Mode.CURRENT, S, key="no/such").reply()
    assert reply.final is not None, "no D_FINAL for a snapshot that is empty"
    assert reply.declared == these()


@rule("ZI-012")
def test_current_interest_in_tokens_that_do_not_exist(node: NodeUnderTest) -> None:
    """No token exists; ask for the current ones.

    D_FINAL comes alone.
    """
    reply = node.interest(Mode.CURRENT, T).reply()
    assert reply.final is not None, "no D_FINAL for a snapshot that is empty"
    assert reply.declared == these()


@rule("ZI-013", roles=("router",))
def test_change_after_current_interest(node: NodeUnderTest) -> None:
    """Ask for the current tokens and read to D_FINAL; then somebody declares another one and takes both back.

    Nothing of that is reported; whether what was listed is taken back is a matter of reading.
    """
    listed = node.other.declare_token("a/1")
    assert node.interest(Mode.CURRENT, T).snapshot().final is not None
    later = node.other.declare_token("a/2")
    node.settle()
    assert declared(token("a/2")) not in node.main.news(), "a later token is declared"
    node.other.undeclare_token(later)
    node.other.undeclare_token(listed)
    node.settle()
    news = node.main.news()
    assert undeclared(token("a/2")) not in news, "a later token is undeclared"
    node.shows("ZI-013", "R32", "B" if news else "A")


@rule("ZI-014")
def test_current_future_interest_lists_what_exists(node: NodeUnderTest) -> None:
    """Two subscribers and a queryable exist; ask for the current and future subscribers.

    Exactly the subscribers come under the interest's id, before D_FINAL.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("a/2")
    node.other.declare_queryable("a/q")
    snapshot = node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    assert snapshot.declared == these(subscriber("a/1"), subscriber("a/2"))


@rule("ZI-015", transports=("tcp", "udp"))
def test_current_future_interest_gets_one_final(node: NodeUnderTest) -> None:
    """Two tokens exist; ask for the current and future ones; then somebody declares a third.

    There is one D_FINAL under the interest's id, after the two and before the third.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("a/2")
    ask = node.interest(Mode.CURRENT_FUTURE, T)
    reply = ask.reply()
    assert reply.final is not None, "no D_FINAL under the interest's id"
    node.other.declare_token("a/3")
    node.settle()
    node.main.barrier()
    events = node.main.received(ask.since)
    finals = [
        event for event in events if event.interest_id == ask.id and isinstance(event.body, DeclareFinal)
    ]
    assert len(finals) == 1, "more than one D_FINAL under the interest's id"
    listed = [event for event in events if event.interest_id == ask.id]
    assert listed[-1] == finals[0], "D_FINAL stands before the end of the snapshot"


@rule("ZI-016", roles=("router",))
def test_declaration_after_the_snapshot(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers and queryables; after D_FINAL somebody declares a queryable.

    It comes, without an interest id.
    """
    node.interest(Mode.CURRENT_FUTURE, S, Q).snapshot()
    node.other.declare_queryable("a/q")
    assert node.main.hears(declared(queryable("a/q")))


@rule("ZI-017", roles=("router",))
def test_undeclaration_of_what_was_listed(node: NodeUnderTest) -> None:
    """A queryable exists; ask for current and future ones; after D_FINAL it goes.

    Its undeclaration comes, without an interest id.
    """
    listed = node.other.declare_queryable("a/1")
    if queryable("a/1") not in node.interest(Mode.CURRENT_FUTURE, S, Q).snapshot().declared:
        raise Inconclusive("the snapshot does not list the queryable")
    node.other.undeclare_queryable(listed)
    assert node.main.hears(undeclared(queryable("a/1")))


@rule("ZI-017", roles=("router",))
def test_undeclaration_of_what_was_announced(node: NodeUnderTest) -> None:
    """Ask for current and future queryables; after D_FINAL one comes and goes.

    Its undeclaration comes, without an interest id.
    """
    node.interest(Mode.CURRENT_FUTURE, S, Q).snapshot()
    later = node.other.declare_queryable("a/2")
    if not node.main.hears(declared(queryable("a/2"))):
        raise Inconclusive("the queryable was not announced")
    node.other.undeclare_queryable(later)
    assert node.main.hears(undeclared(queryable("a/2")))


@rule("ZI-018", roles=("router",))
def test_current_future_interest_lasts_until_its_final(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers; three come one by one; send Final; a fourth comes.

    The three are announced, the fourth is not.
    """
    ask = node.interest(Mode.CURRENT_FUTURE, S)
    ask.snapshot()
    for key in ("a/1", "a/2", "a/3"):
        node.other.declare_subscriber(key)
        assert node.main.hears(declared(subscriber(key)))
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.declare_subscriber("a/4")
    node.settle()
    assert declared(subscriber("a/4")) not in node.main.news(), "an update comes after the Final"


@rule("ZI-018", roles=("router",))
def test_undeclaration_after_the_final_of_current_future(node: NodeUnderTest) -> None:
    """A subscriber is listed and another announced; send Final; then both go.

    Whether the undeclarations still come is a matter of reading.
    """
    first = node.other.declare_subscriber("a/1")
    ask = node.interest(Mode.CURRENT_FUTURE, S)
    ask.snapshot()
    second = node.other.declare_subscriber("a/2")
    node.settle()
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.undeclare_subscriber(first)
    node.other.undeclare_subscriber(second)
    node.settle()
    node.shows("ZI-018", "R29", "B" if node.main.news() else "A")


@rule("ZI-018", roles=("router",))
def test_final_of_another_current_future_interest(node: NodeUnderTest) -> None:
    """Ask for current and future subscribers and, apart from that, tokens; end the second interest.

    Subscribers are still announced.
    """
    node.interest(Mode.CURRENT_FUTURE, S).snapshot()
    tokens = node.interest(Mode.CURRENT_FUTURE, T)
    tokens.snapshot()
    node.main.final(tokens)
    node.settle()
    node.other.declare_subscriber("a/1")
    assert node.main.hears(declared(subscriber("a/1")))


@rule("ZI-019", roles=("router",))
def test_future_interest_with_something_there(node: NodeUnderTest) -> None:
    """A subscriber and a token exist; ask for future ones.

    Neither comes.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_token("a/1")
    node.interest(Mode.FUTURE, S, T)
    assert node.main.news() == [], "what exists already is declared"


@rule("ZI-020", roles=("router",))
def test_future_interest_brings_later_declarations(node: NodeUnderTest) -> None:
    """Ask for future subscribers; then somebody declares one.

    It comes, without an interest id.
    """
    node.interest(Mode.FUTURE, S)
    node.main.barrier()
    node.other.declare_subscriber("a/2")
    assert node.main.hears(declared(subscriber("a/2")))


@rule("ZI-021")
def test_future_interest_has_no_final(node: NodeUnderTest) -> None:
    """Ask for future subscribers; one comes and goes; end the interest.

    No D_FINAL comes for it at any time.
    """
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    node.other.undeclare_subscriber(node.other.declare_subscriber("a/1"))
    node.settle()
    node.main.final(ask)
    node.main.barrier()
    finals = [event for event in node.main.received(ask.since) if isinstance(event.body, DeclareFinal)]
    assert all(event.interest_id not in (None, ask.id) for event in finals), (
        "D_FINAL comes for a Future interest"
    )


@rule("ZI-022", roles=("router",))
def test_future_interest_lasts_until_its_final(node: NodeUnderTest) -> None:
    """Ask for future subscribers; one comes; send Final; another comes.

    The first is announced, the second is not.
    """
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    node.other.declare_subscriber("a/1")
    assert node.main.hears(declared(subscriber("a/1")))
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.declare_subscriber("a/2")
    node.settle()
    assert declared(subscriber("a/2")) not in node.main.news(), "an update comes after the Final"


@rule("ZI-022", roles=("router",))
def test_undeclaration_after_the_final_of_future(node: NodeUnderTest) -> None:
    """A subscriber is announced to a Future interest; send Final; then it goes.

    Whether the undeclaration still comes is a matter of reading.
    """
    ask = node.interest(Mode.FUTURE, S)
    node.main.barrier()
    announced = node.other.declare_subscriber("a/1")
    node.settle()
    node.main.final(ask)
    node.settle()
    node.main.news()
    node.other.undeclare_subscriber(announced)
    node.settle()
    node.shows("ZI-022", "R29", "B" if node.main.news() else "A")


@rule("ZI-022", roles=("router",))
def test_final_of_another_future_interest(node: NodeUnderTest) -> None:
    """Ask for future subscribers and, apart from that, tokens; end the second interest.

    Subscribers are still announced.
    """
    node.interest(Mode.FUTURE, S)
    node.main.final(node.interest(Mode.FUTURE, T))
    node.settle()
    node.other.declare_subscriber("a/1")
    assert node.main.hears(declared(subscriber("a/1")))
