"""zenoh-interests, "INTEREST Extensions": the three that are known, and those that nobody knows."""

from conformance.cases import rule
from conformance.zenoh.stimuli import UNKNOWN_EXTENSIONS
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import declared, live_entities, set_of, subscriber
from wire.zenoh.grammar_extensions import NODE_ID, QOS, TIMESTAMP
from wire.zenoh.values import EntityKind, Extension, Interest, Mode, Options
from wire.zenoh.values_transport import write_network

S, Q = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE

# QoS as it is by default; a time of 1 by the node 2a; the node 0, marked mandatory as its definition is.
KNOWN = (
    Extension(QOS.id, 5),
    Extension(TIMESTAMP.id, bytes.fromhex("01012a")),
    Extension(NODE_ID.id, 0, mandatory=True),
)


@rule("ZI-056")
def test_interest_with_node_id(node: NodeUnderTest) -> None:
    """A subscriber exists; ask for subscribers with the NodeId extension.

    It is known, mandatory as it is: the answer is the same as without.
    """
    node.other.declare_subscriber("a/1")
    # A control: an interest without extensions is answered.
    node.interest(Mode.CURRENT_FUTURE, Q, key="a/*").snapshot()
    reply = node.interest(Mode.CURRENT_FUTURE, S, key="a/*", extensions=KNOWN[2:]).reply()
    assert reply.final is not None, "an INTEREST with NodeId is not answered"
    assert live_entities(node.main) >= set_of(subscriber("a/1")), "an INTEREST with NodeId is answered in part"


@rule("ZI-057", roles=("router",))
def test_final_with_known_extensions(node: NodeUnderTest) -> None:
    """End three interests by Finals with QoS, Timestamp and NodeId; then somebody declares what they were about.

    Each Final ends its interest all the same: nothing of it comes.
    """
    ends_with(node, KNOWN)


@rule("ZI-058", roles=("router",), needs=("ZD-091",))
def test_final_with_unknown_extensions(node: NodeUnderTest) -> None:
    """End three interests by Finals with an unknown extension that is not mandatory, of each encoding.

    It is skipped: each Final ends its interest.
    """
    ends_with(node, UNKNOWN_EXTENSIONS)


def ends_with(node: NodeUnderTest, extensions: tuple[Extension, ...]) -> None:
    """Require that a Final with each of some extensions ends its interest, and only that."""
    # One more than is ended: it shows that the others are silent for a reason.
    running = [node.interest(Mode.CURRENT_FUTURE, S, key=f"{number}/*") for number in range(len(extensions) + 1)]
    for ask in running:
        ask.snapshot()
    for ask, extension in zip(running, extensions, strict=False):
        node.main.final(ask, (extension,))
    assert node.main.answers(), "the session does not go on after a Final with extensions"
    for number in range(len(running)):
        node.other.declare_subscriber(f"{number}/1")
    last = declared(subscriber(f"{len(extensions)}/1"))
    node.main.expect(last)
    assert set(node.main.news()) == {last}, "a Final with extensions does not end its interest"


@rule("ZI-058")
def test_interest_with_unknown_extensions(node: NodeUnderTest) -> None:
    """Three subscribers exist; ask for each with an unknown extension that is not mandatory, of each encoding.

    It is skipped: each is answered in full.
    """
    for number in range(len(UNKNOWN_EXTENSIONS)):
        node.other.declare_subscriber(f"{number}/1")
    # A control: an interest without extensions is answered.
    node.interest(Mode.CURRENT_FUTURE, Q).snapshot()
    for number, extension in enumerate(UNKNOWN_EXTENSIONS):
        ask = node.interest(Mode.CURRENT_FUTURE, S, key=f"{number}/*", extensions=(extension,))
        assert ask.reply().final is not None, "an INTEREST with an unknown extension is not answered"
        wanted = set_of(subscriber(f"{number}/1"))
        assert live_entities(node.main) >= wanted, "an INTEREST with an unknown extension is answered in part"


@rule("ZI-059", roles=("router", "peer"))
def test_interest_with_an_unknown_mandatory_extension(node: NodeUnderTest) -> None:
    """A subscriber exists; ask for subscribers with an unknown extension that is marked mandatory.

    It is refused, or the mark means nothing and all comes as ever; an answer of anything less is a lie.
    """
    node.other.declare_subscriber("a/1")
    node.settle()
    session = node.session()
    options = Options.S | Options.R | Options.N | Options.M
    alien = Extension(0xA, mandatory=True)
    ask = Interest(6, Mode.CURRENT_FUTURE, options, session.wire_expr("a/*"), (alien,))
    session.barrier()
    since = session.place
    session.offend(write_network(ask))
    if not any(event.interest_id == 6 for event in session.received(since)):
        node.shows("ZI-059", "R19", "A")
        return
    node.shows("ZI-059", "R19", "B")
    assert live_entities(session) >= set_of(subscriber("a/1")), "what is not understood is answered in part"


@rule("ZI-059", roles=("router",))
def test_final_with_an_unknown_mandatory_extension(node: NodeUnderTest) -> None:
    """Two interests run; end one by a Final with an unknown extension that is marked mandatory.

    It is refused, or the mark means nothing and that interest ends; the other one runs on if the session does.
    """
    session = node.main
    ended = node.interest(Mode.CURRENT_FUTURE, S, key="a/*")
    ended.snapshot()
    # The other one, on a key of its own.
    node.interest(Mode.CURRENT_FUTURE, S, key="b/*").snapshot()
    session.final(ended, (Extension(0xA, mandatory=True),))
    # A node may refuse by ending the session, which takes it a moment; to write on would only hide that.
    session.read()
    if session.ended:
        node.shows("ZI-059", "R19", "A")
        return
    node.other.declare_subscriber("a/1")
    node.other.declare_subscriber("b/1")
    assert session.receives(declared(subscriber("b/1"))), "the Final ended another interest"
    heard = set(session.news())
    node.shows("ZI-059", "R19", "A" if declared(subscriber("a/1")) in heard else "B")
