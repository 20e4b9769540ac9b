"""zenoh-declarations, "WireExpr Extension (ZBuf, ID=0x0F, M=true)": the key that an undeclaration repeats."""

from conformance.cases import Inconclusive, rule
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import queryable, subscriber, token, undeclared
from wire.zenoh.grammar_extensions import WIRE_EXPR
from wire.zenoh.values import EntityKind, Extension, Mode, UndeclareEntity

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


def undeclaration(node: NodeUnderTest, kind: EntityKind) -> Event:
    """Make somebody declare two entities and undeclare the second, and return what the asking session hears of it."""
    # Two, of which the second goes: a node that names the first, or the last that it told of, is wrong once.
    node.other.declare(kind, "a/1")
    known = node.other.declare(kind, "a/2")
    node.interest(Mode.CURRENT_FUTURE, kind).snapshot()
    node.other.undeclare(kind, known)
    named = {S: subscriber, Q: queryable, T: token}[kind]("a/2")
    if not node.main.receives_under_any_id(undeclared(named)):
        raise Inconclusive("the undeclaration was not forwarded")
    return [event for event in node.main.received() if isinstance(event.body, UndeclareEntity)][-1]


def extension_of(event: Event) -> Extension | None:
    """Return the WireExpr extension of an undeclaration, whatever its form."""
    assert isinstance(event.body, UndeclareEntity)
    return next((each for each in event.body.extensions if each.id == WIRE_EXPR.id), None)


def judge_presence(node: NodeUnderTest, rule_id: str, kind: EntityKind) -> None:
    """Note whether an undeclaration comes with its key, with an empty WireExpr, or without one."""
    event = undeclaration(node, kind)
    extension = extension_of(event)
    assert isinstance(event.body, UndeclareEntity)
    if extension is None:
        assert not event.body.extensions, "the undeclaration has extensions, but not WireExpr among them"
    # Present but empty is an option of its own (R05 C): it names nothing.
    empty = extension is not None and event.key == ""
    node.shows(rule_id, "R05", "B" if extension is None else "C" if empty else "A")


@rule("ZD-055")
def test_undeclaration_of_a_subscriber_has_wire_expr(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; one is undeclared.

    The U_SUBSCRIBER carries the WireExpr extension.
    """
    judge_presence(node, "ZD-055", S)


@rule("ZD-076")
def test_undeclaration_of_a_queryable_has_wire_expr(node: NodeUnderTest) -> None:
    """Somebody asks for queryables; one is undeclared.

    The U_QUERYABLE carries the WireExpr extension.
    """
    judge_presence(node, "ZD-076", Q)


@rule("ZD-085")
def test_undeclaration_of_a_token_has_wire_expr(node: NodeUnderTest) -> None:
    """Somebody asks for tokens; one is undeclared.

    The U_TOKEN carries the WireExpr extension.
    """
    judge_presence(node, "ZD-085", T)


@rule("ZD-058")
def test_wire_expr_names_the_key_of_the_subscriber(node: NodeUnderTest) -> None:
    """Somebody asks for subscribers; of a/1 and a/2 the second is undeclared.

    The WireExpr extension resolves to a/2.
    """
    event = undeclaration(node, S)
    if not event.key:
        raise Inconclusive("the undeclaration repeats no key")
    assert event.key == node.key("a/2"), "WireExpr names another key than that of the subscriber"


@rule("ZD-058", roles=("router", "peer"))
def test_undeclaration_of_a_token_that_was_never_announced(node: NodeUnderTest) -> None:
    """A token exists; somebody asks for future tokens only; then the token is undeclared.

    If that is told at all, the WireExpr extension, if it names a key, names that of the token.
    """
    known = node.other.declare_token("a/1")
    # Future only: the token itself is never told, so the undeclaration is all there is to name it.
    node.interest(Mode.FUTURE, T)
    node.main.barrier()
    node.other.undeclare_token(known)
    node.settle()
    node.main.barrier()
    told = [event for event in node.main.received() if isinstance(event.body, UndeclareEntity)]
    # An undeclaration without a key names nothing wrong; that it comes at all is another rule's matter.
    keys = {event.key for event in told if event.key}
    assert keys <= {node.key("a/1")}, "WireExpr names another key than that of the token"
