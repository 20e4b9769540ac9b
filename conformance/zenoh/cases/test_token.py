"""zenoh-declarations, "D_TOKEN (0x06)" and "U_TOKEN (0x07)": what is alive, and until when."""

from conformance.cases import Inconclusive, rule
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import LEASE, NodeUnderTest
from harness.zenoh.tester.snapshots import declared, set_of, token, undeclared
from wire.zenoh.values import DeclareEntity, EntityKind, Mode, WireExpr

T = EntityKind.TOKEN

SHORT = 500
"""A lease in milliseconds that is soon over."""


@rule("ZD-077", needs=("ZD-091",))
def test_tokens_from_before_and_after_asking(node: NodeUnderTest) -> None:
    """A token exists when somebody asks for tokens, another is declared later.

    Both become known.
    """
    node.other.declare_token("a/1")
    node.interest(Mode.CURRENT_FUTURE, T).snapshot()
    node.other.declare_token("a/2")
    assert node.main.receives_under_any_id(declared(token("a/2")))
    # Collected at the end: the first may be listed or announced, and both make it known.
    known = {node.main.entity(event) for event in node.main.received() if isinstance(event.body, DeclareEntity)}
    assert token("a/1") in known, "a token that existed never became known"


@rule("ZD-078", roles=("router",), transports=("tcp", "udp"))
def test_owner_of_a_token_closes_its_session(node: NodeUnderTest) -> None:
    """Somebody asks for tokens; the owner of one says CLOSE.

    The token is withdrawn.
    """
    owner = _owner(node)
    owner.close()
    _is_gone(node)


@rule("ZD-078", roles=("router",))
def test_owner_of_a_token_is_cut_off(node: NodeUnderTest) -> None:
    """Somebody asks for tokens; the connection of the owner of one ends without a word.

    The token is withdrawn.
    """
    owner = _owner(node)
    owner.drop()
    _is_gone(node)


@rule("ZD-078", roles=("router",), transports=("tcp", "udp"))
def test_owner_of_a_token_falls_silent(node: NodeUnderTest) -> None:
    """Somebody asks for tokens; the owner of one has announced a short lease and says nothing any more.

    The token is withdrawn.
    """
    # Nobody reads on this session any more, so nobody sends its KEEP_ALIVEs either.
    _owner(node, lease=SHORT)
    _is_gone(node)


def _owner(node: NodeUnderTest, lease: int = LEASE) -> Driver:
    """Make somebody declare the token a/1 that the main session has been told of."""
    node.interest(Mode.CURRENT_FUTURE, T).snapshot()
    # A session of its own, since its end is the stimulus.
    owner = node.session(lease=lease)
    owner.declare_token("a/1")
    owner.barrier()
    if not node.main.receives_under_any_id(declared(token("a/1"))):
        raise Inconclusive("the token was never announced")
    return owner


def _is_gone(node: NodeUnderTest) -> None:
    """Require that the token is withdrawn and no longer listed."""
    assert node.main.receives_under_any_id(undeclared(token("a/1")))
    assert node.listed(T) == set_of(), "a token outlives the session of its owner"


@rule("ZD-079", roles=("router",))
def test_tokens_that_match_and_that_do_not(node: NodeUnderTest) -> None:
    """Somebody asks for tokens on a/*; tokens on b/1 and a/1 appear and disappear.

    Those on a/1 are told, those on b/1 are not.
    """
    owner = node.session()
    node.interest(Mode.CURRENT_FUTURE, T, key="a/*").snapshot()
    # The one that does not match first: when the other is told, it would have been.
    tokens = [owner.declare_token("b/1"), owner.declare_token("a/1")]
    assert node.main.receives_under_any_id(declared(token("a/1")))
    for each in tokens:
        owner.undeclare_token(each)
    assert node.main.receives_under_any_id(undeclared(token("a/1")))
    node.settle()
    told = [(update.verb, update.entity) for update in node.main.news()]
    assert told == [("declared", token("a/1")), ("undeclared", token("a/1"))]


@rule("ZD-081", roles=("router",))
def test_tokens_on_an_alias_of_their_declarer(node: NodeUnderTest) -> None:
    """An alias for a is declared; then a token on it and /1 with M set, and one on it and /2 with M clear.

    The first is a/1; the second is nothing, as the node has no such alias.
    """
    declarer = node.session()
    # A number that the node hardly gives itself.
    alias = declarer.declare_keyexpr("a", 4001)
    declarer.declare_token(WireExpr("/1", alias))
    declarer.declare_token("plain")
    with_m = node.listed(T)
    if token("plain") not in with_m:
        raise Inconclusive("not even a token without an alias is listed")
    assert with_m == set_of(token("plain"), token("a/1"))
    declarer.declare_token(WireExpr("/2", alias, sender=False))
    declarer.read()
    assert token("a/2") not in node.listed(T), "with M clear, the scope was looked up in the sender's table"


@rule("ZD-081", roles=("router",))
def test_tokens_on_one_number_in_both_tables(node: NodeUnderTest) -> None:
    """One number is an alias of both sides; a token is declared on it with M set, and one with M clear.

    The first is on what the declarer declared it for, the second on what the node did.
    """
    node.other.declare_token("theirs/1")
    declarer = node.session()
    node.interest(Mode.CURRENT_FUTURE, T, key="theirs/*", keyexprs=True, session=declarer).snapshot()
    theirs = declarer.conversation.tables[Direction.RECEIVED]
    number = next((id for id, key in theirs.items() if key == node.key("theirs/1")), None)
    if number is None:
        raise Inconclusive("the node declared no alias of its own")
    declarer.declare_keyexpr("mine/1", number)
    declarer.declare_token(WireExpr("/x", number))
    declarer.declare_token(WireExpr("/y", number, sender=False))
    listed = node.listed(T) - set_of(token("theirs/1"))
    assert listed == set_of(token("mine/1/x"), token("theirs/1/y"))


@rule("ZD-083")
def test_one_of_two_tokens_is_undeclared(node: NodeUnderTest) -> None:
    """Somebody asks for tokens; the first of two is undeclared.

    It is withdrawn, and the other stays.
    """
    first = node.other.declare_token("a/1")
    node.other.declare_token("a/2")
    both = node.interest(Mode.CURRENT_FUTURE, T).snapshot().declared
    node.other.undeclare_token(first)
    assert node.main.receives_under_any_id(undeclared(token("a/1")))
    node.settle()
    gone = [update.entity for update in node.main.news() if update.verb == "undeclared"]
    assert token("a/2") not in gone, "the other token was withdrawn as well"
    # A node that dials has this session only, where a second snapshot may leave out what is known (R35).
    if token("a/2") in both and not node.instance.dials:
        assert node.listed(T) == set_of(token("a/2"))
