"""zenoh-interests, "Options Byte": what each bit asks for."""

from conformance.cases import Inconclusive, judging, rule
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.session import BARRIER
from harness.zenoh.tester.snapshots import EntityName, EntitySet, Snapshot, Update, declared, set_of, subscriber, token
from wire.zenoh.values import DeclareFinal, EntityKind, Mode, Options, WireExpr

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN

Changes = set[tuple[str, str, str | None]]
"""What became of entities: a verb, a kind and a key."""


def hold_one_of_each_kind(node: NodeUnderTest) -> None:
    """Have somebody declare a subscriber, a queryable and a token, on one key."""
    for kind in EntityKind:
        node.other.declare(kind, "a/1")


def reported(node: NodeUnderTest, *kinds: EntityKind, keyexprs: bool = False) -> Changes:
    """Ask in some kinds, with one entity of each kind there; have them go and others come; return what is told."""
    bystander = node.session()
    held = {kind: node.other.declare(kind, "a/1") for kind in EntityKind}
    snapshot = node.interest(Mode.CURRENT_FUTURE, *kinds, keyexprs=keyexprs).snapshot()
    listed = {("declared", entity.kind, entity.key) for entity in snapshot.entities + snapshot.stray}
    for kind, entity in held.items():
        node.other.undeclare(kind, entity)
        node.other.declare(kind, "a/2")
    news = told(node, node.main, bystander)
    return listed | {(update.verb, update.entity.kind, update.entity.key) for update in news}


def told(node: NodeUnderTest, session: Driver, bystander: Driver) -> list[Update]:
    """Return the updates that a session is told of; ``Inconclusive`` if one that asked for nothing is told as well."""
    node.settle()
    # What answers a barrier is no news.
    news = [update for update in session.news() if (update.interest_id or 0) < BARRIER]
    if any(update.interest_id is None for update in bystander.news()):
        raise Inconclusive("the node announces what nobody asked for")
    return news


def must_list(snapshot: Snapshot, *entities: EntityName) -> None:
    """Make sure of what a case rests on and does not judge."""
    if snapshot.declared != set_of(*entities):
        raise Inconclusive("a plain interest in the same is not answered as it should be")


def life(kind: EntityKind) -> Changes:
    """Return what is told of one kind when its entity goes and another comes."""
    name = kind.value
    return {("declared", name, "a/1"), ("undeclared", name, "a/1"), ("declared", name, "a/2")}


def kinds_listed(node: NodeUnderTest, kind: EntityKind) -> set[str]:
    """Ask in one kind, with one entity of each kind there, and return the kinds that are listed."""
    return {entity.kind for entity in node.interest(Mode.CURRENT_FUTURE, kind).snapshot().declared}


@rule("ZI-041", roles=("router",))
def test_aliases_alone(node: NodeUnderTest) -> None:
    """Entities of every kind exist, go and come; ask for current and future aliases.

    No entity of any kind is told of.
    """
    assert reported(node, keyexprs=True) == set(), "entities come though only aliases were asked for"


@rule("ZI-041")
def test_snapshot_of_aliases(node: NodeUnderTest) -> None:
    """Entities of every kind exist; ask for current and future aliases.

    No entity is listed.
    """
    hold_one_of_each_kind(node)
    snapshot = node.interest(Mode.CURRENT_FUTURE, keyexprs=True).snapshot()
    assert snapshot.declared == set_of(), "entities are listed though only aliases were asked for"


@rule("ZI-042", roles=("router",), needs=("ZD-091",))
def test_subscribers_alone(node: NodeUnderTest) -> None:
    """Entities of every kind exist, go and come; ask for current and future subscribers.

    Subscribers are told of, coming and going, and nothing else.
    """
    assert reported(node, S) == life(S), "what is told is not the life of the subscribers"


@rule("ZI-043", roles=("router",), needs=("ZD-091",))
def test_queryables_alone(node: NodeUnderTest) -> None:
    """Entities of every kind exist, go and come; ask for current and future queryables.

    Queryables are told of, coming and going, and nothing else.
    """
    assert reported(node, Q) == life(Q), "what is told is not the life of the queryables"


@rule("ZI-044", roles=("router",), needs=("ZD-091",))
def test_tokens_alone(node: NodeUnderTest) -> None:
    """Entities of every kind exist, go and come; ask for current and future tokens.

    Tokens are told of, coming and going, and nothing else.
    """
    assert reported(node, T) == life(T), "what is told is not the life of the tokens"


@rule("ZI-042", "ZI-043", "ZI-044")
def test_snapshots_of_one_kind_each(node: NodeUnderTest) -> None:
    """Entities of every kind exist; ask for each kind in turn.

    Only that kind is listed.
    """
    hold_one_of_each_kind(node)
    with judging("ZI-042"):
        assert kinds_listed(node, S) == {"subscriber"}, "asked for subscribers, got something else"
    with judging("ZI-043"):
        assert kinds_listed(node, Q) == {"queryable"}, "asked for queryables, got something else"
    with judging("ZI-044"):
        assert kinds_listed(node, T) == {"token"}, "asked for tokens, got something else"


@rule("ZI-045", transports=("tcp", "udp"))
def test_snapshot_of_one_key(node: NodeUnderTest) -> None:
    """Subscribers exist on two keys; ask for those on one of them, then for all.

    The first answer has one of them, the second both.
    """
    node.other.declare_subscriber("a/b")
    node.other.declare_subscriber("c/d")
    restricted = node.interest(Mode.CURRENT_FUTURE, S, key="a/b").snapshot()
    assert restricted.declared == set_of(subscriber("a/b")), "what is listed is not what matches"
    # On a session of its own: what the first was told may be left out (reading R35).
    everything = node.interest(Mode.CURRENT_FUTURE, S, key="**", session=node.fresh()).snapshot()
    both = set_of(subscriber("a/b"), subscriber("c/d"))
    assert everything.declared == both, "what is listed is not what matches"


@rule("ZI-010", "ZI-045", roles=("router",))
def test_snapshot_below_a_key_that_begins_with_an_at_sign(node: NodeUnderTest) -> None:
    """Tokens exist on @v/1 and @w/1; ask for those on @v/*, and for those on @w/1.

    Each answer has one of them. What wildcards match of such a chunk no document says; here it is spelled out.
    """
    node.other.declare_token("@v/1")
    node.other.declare_token("@w/1")
    for asked, key in (("@v/*", "@v/1"), ("@w/1", "@w/1")):
        listed = node.interest(Mode.CURRENT_FUTURE, T, key=asked, session=node.session()).snapshot().declared
        with judging("ZI-010"):
            assert token(key) in listed, f"an interest in {asked} does not list {key}"
        with judging("ZI-045"):
            assert listed == set_of(token(key)), f"an interest in {asked} lists more than {key}"


@rule("ZI-045", roles=("router",), needs=("ZD-091",))
def test_updates_on_one_key(node: NodeUnderTest) -> None:
    """Ask for future subscribers on some keys; then some come there and elsewhere.

    Only those on the keys that were asked for are announced.
    """
    bystander = node.session()
    node.interest(Mode.CURRENT_FUTURE, S, key="a/*").snapshot()
    # `*` stands for one chunk: a/b is below a/*, and a/b/c is not.
    for key in ("c/e", "a/b", "a/b/c"):
        node.other.declare_subscriber(key)
    news = told(node, node.main, bystander)
    assert [update.entity for update in news] == [subscriber("a/b")], "what is announced is not what matches"


@rule("ZI-047")
def test_interest_through_an_alias_of_the_asker(node: NodeUnderTest) -> None:
    """Tokens exist on two keys; declare an alias and ask with it, and with it and a suffix.

    The alias stands for the key that the asker gave to it.
    """
    node.other.declare_token("a/b")
    node.other.declare_token("c/d")
    must_list(node.interest(Mode.CURRENT_FUTURE, T, key="a/b").snapshot(), token("a/b"))
    for base, suffix in (("a/b", None), ("a", "/b")):
        session = node.fresh()
        key = WireExpr(suffix, session.declare_keyexpr(base))
        snapshot = node.interest(Mode.CURRENT_FUTURE, T, key=key, session=session).snapshot()
        assert snapshot.declared == set_of(token("a/b")), "what is listed is not what the alias stands for"


@rule("ZI-048", roles=("router",))
def test_interest_through_an_alias_of_the_answerer(node: NodeUnderTest) -> None:
    """The node gives a number to one key, and we give the same number to another; ask with it and M clear.

    The node's own key is meant. Whether a clear M means anything is a matter of reading; what a set one means is not
    among the answers.
    """
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("z/1")
    node.interest(Mode.CURRENT_FUTURE, S, key="a/*", keyexprs=True).snapshot()
    table = node.main.conversation.tables[Direction.RECEIVED]
    number = next((number for number, key in table.items() if key == node.key("a/1")), None)
    if number is None:
        raise Inconclusive("the node declares no alias of its own")
    # The same number on both sides, for different keys: only the M flag says which is meant.
    node.main.declare_keyexpr("z/1", number)
    node.main.barrier()
    reply = node.interest(Mode.CURRENT_FUTURE, S, key=WireExpr(None, number, sender=False)).reply()
    if node.main.ended:
        raise Inconclusive(f"the session ended: {node.main.ended}")
    assert reply.declared in (set_of(subscriber("a/1")), set_of()), "the alias is looked up in the asker's table"
    node.shows("ZI-048", "R07", "A" if reply.declared else "B")


@rule("ZI-048")
def test_interest_through_an_alias_that_only_the_answerer_has(node: NodeUnderTest) -> None:
    """The node has given a number to a key; ask with that number, M clear and a suffix.

    If anything is listed, it is what the node's own key and the suffix stand for.
    """
    node.other.declare_token("a/1")
    node.other.declare_token("z/1")
    if node.role != "router":
        node.command("declare", "keyexpr", "alias", node.key("a/1"))
    node.interest(Mode.CURRENT_FUTURE, T, key="a/*", keyexprs=True).snapshot()
    table = node.main.conversation.tables[Direction.RECEIVED]
    number = next((number for number, key in table.items() if key == node.key("a/1")), None)
    if number is None:
        raise Inconclusive("the node declares no alias of its own")
    reply = node.interest(Mode.CURRENT_FUTURE, T, key=WireExpr(None, number, sender=False)).reply()
    if node.main.ended:
        raise Inconclusive(f"the session ended: {node.main.ended}")
    assert reply.declared in (set_of(token("a/1")), set_of()), "something else than the alias stands for is listed"
    node.shows("ZI-048", "R07", "A" if reply.declared else "B")


@rule("ZI-051")
def test_two_kinds_in_one_interest(node: NodeUnderTest) -> None:
    """Entities of every kind exist; ask for subscribers and tokens at once.

    Both are listed, no queryable is, and there is one D_FINAL.
    """
    hold_one_of_each_kind(node)
    ask = node.interest(Mode.CURRENT_FUTURE, S, T)
    both = set_of(subscriber("a/1"), token("a/1"))
    assert ask.snapshot().declared == both, "what is listed is not what was asked for"
    node.main.barrier()
    finals = [event for event in node.main.received(ask.since) if isinstance(event.body, DeclareFinal)]
    assert [event.interest_id for event in finals].count(ask.id) == 1, "more than one D_FINAL"


@rule("ZI-051", roles=("router",), needs=("ZD-091",))
def test_updates_of_two_kinds(node: NodeUnderTest) -> None:
    """Ask for current and future queryables and tokens at once; then one of each kind comes.

    Both are announced, the subscriber is not.
    """
    bystander = node.session()
    node.interest(Mode.CURRENT_FUTURE, Q, T).snapshot()
    hold_one_of_each_kind(node)
    kinds = {update.entity.kind for update in told(node, node.main, bystander)}
    assert kinds == {"queryable", "token"}, "what is announced is not what was asked for"


@rule("ZI-052")
def test_current_interest_in_no_kind(node: NodeUnderTest) -> None:
    """Entities of every kind exist; ask for the current ones without a kind bit.

    The answer is D_FINAL, after nothing or everything, or an end of the session.
    """
    hold_one_of_each_kind(node)
    node.settle()
    reply = node.interest(Mode.CURRENT).reply()
    assert reply.final is not None or reply.ended, "neither D_FINAL nor an end of the session"
    node.shows("ZI-052", "R25", "C" if reply.ended else "B" if reply.declared else "A")


@rule("ZI-053")
def test_interest_through_an_alias_that_nobody_declared(node: NodeUnderTest) -> None:
    """Tokens exist; ask with an alias that was never declared, M set and clear.

    Nothing is listed, whether D_FINAL comes or not.
    """
    node.other.declare_token("a/1")
    node.settle()
    for sender in (True, False):
        session = node.main if node.instance.dials else node.session()
        # 4077: far from the numbers that either side gives.
        ask = session.interest(Mode.CURRENT_FUTURE, T, key=WireExpr(None, 4077, sender=sender))
        # No probe here: a node may end the session over the alias, and a write into it can destroy what it has said.
        session.read()
        listed = [session.entity(event) for event in session.received(ask.since) if event.interest_id == ask.id]
        assert EntitySet(entity for entity in listed if entity) == set_of(), (
            "an unknown alias is taken for no restriction"
        )
        if session.ended and node.instance.dials:
            return
        if not session.ended:
            session.barrier()


@rule("ZI-053", roles=("router",))
def test_updates_through_an_alias_that_nobody_declared(node: NodeUnderTest) -> None:
    """Ask for future tokens with an alias that was never declared; then somebody declares a token.

    It is not announced.
    """
    session, bystander = node.session(), node.session()
    session.interest(Mode.FUTURE, T, key=WireExpr(None, 4077))
    # As above: the session may be ended over it.
    session.read()
    node.other.declare_token("a/1")
    node.settle()
    if session.ended:
        node.main.barrier()
        return
    news = told(node, session, bystander)
    assert declared(token("a/1")) not in news, "an unknown alias is taken for no restriction"


@rule("ZI-049")
def test_n_and_m_without_r(node: NodeUnderTest) -> None:
    """A token exists; ask for tokens with N and M set and R clear, and right behind it with no such bits.

    Either no key is read, so that both are answered in full, or the first is refused.
    """
    node.other.declare_token("a/1")
    must_list(node.interest(Mode.CURRENT_FUTURE, T, id=3).snapshot(), token("a/1"))
    for options in (Options.T | Options.N | Options.M, Options.T | Options.N):
        session = node.main if node.instance.dials else node.session()
        # Whoever reads a key takes the next message for one: scope 0x79 and a suffix of one byte.
        session.declare_keyexpr("a/", 0x79)
        session.barrier()
        since = session.place
        # The first with N and M as the options say, the second plain, right behind it.
        session.offend(bytes([0x79, 5, options]), bytes([0x79, 1, Options.T]))
        answers = session.received(since)
        if any(event.interest_id == 5 for event in answers):
            others = any(event.interest_id == 1 for event in answers)
            assert others, "the message behind the options is read as a key"
            listed = [session.entity(event) for event in answers if event.interest_id == 5]
            assert token("a/1") in listed, "the interest is not taken as unrestricted"
            node.shows("ZI-049", "R24", "A")
        else:
            node.shows("ZI-049", "R24", "B")
        if node.instance.dials:
            return
