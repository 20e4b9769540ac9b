"""zenoh-declarations, "DECLARE Message (0x1E)" up to "Declaration Sub-Message IDs": the envelope of a declaration."""

from collections.abc import Iterable

from conformance.cases import rule
from conformance.zenoh.stimuli import UNKNOWN_EXTENSIONS, with_key
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.session import BARRIER
from harness.zenoh.tester.snapshots import (
    EntityName,
    EntitySet,
    Update,
    declared,
    live_entities,
    set_of,
    subscriber,
    undeclared,
)
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    EntityKind,
    Extension,
    Extensions,
    Mode,
    UndeclareEntity,
    WireExpr,
)
from wire.zenoh.values_transport import write_network

S, Q, T = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE, EntityKind.TOKEN


def overheard(node: NodeUnderTest, offences: Iterable[bytes]) -> list[Update]:
    """Send each offence on a session of its own, and return what somebody who listens to everything is told."""
    node.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
    node.offend_together(list(offences))
    heard = node.main.news()
    node.other.declare_subscriber("sane")
    node.main.expect(declared(subscriber("sane")))
    return heard


@rule("ZD-005", roles=("router",), needs=("ZD-091",))
def test_interest_id_that_is_no_z32(node: NodeUnderTest) -> None:
    """Send DECLAREs whose interest_id does not fit into 32 bits, or is cut short.

    They are refused: nothing is declared by them.
    """
    heard = overheard(
        node,
        # DECLARE with I, then the id and a body: 2**32 before D_SUBSCRIBER 1, 2**33 - 1 before D_TOKEN 2, 2**32 before
        # D_FINAL, half an id, none.
        [
            with_key(node, "3e8080808010620100", "a/1"),
            with_key(node, "3effffffff1f660200", "a/2"),
            bytes.fromhex("3e80808080101a"),
            bytes.fromhex("3e80"),
            bytes.fromhex("3e"),
        ],
    )
    assert not heard, "a DECLARE whose interest_id is out of range was acted on"


@rule("ZD-006", transports=("tcp", "udp"))
def test_only_snapshots_carry_an_interest_id(node: NodeUnderTest) -> None:
    """Ask for current tokens and for subscribers from now on; then some come.

    Whatever carries an interest id carries one that was asked with.
    """
    node.other.declare_token("a/1")
    # Ids to which no node comes by counting.
    current = node.interest(Mode.CURRENT, T, id=70_000)
    current.snapshot()
    both = node.interest(Mode.CURRENT_FUTURE, S, id=70_001)
    both.snapshot()
    node.other.declare_subscriber("a/2")
    node.settle()
    node.main.barrier()
    ids = {event.interest_id for event in node.main.received() if event.interest_id is not None}
    alien = {id for id in ids if id < BARRIER} - {current.id, both.id}
    assert not alien, "a DECLARE answers an interest that was never sent"


@rule("ZD-009", roles=("router",), needs=("ZD-091",))
def test_declare_without_a_body(node: NodeUnderTest) -> None:
    """Sessions that have a subscriber each send a DECLARE that ends before its body.

    It is refused: no subscriber comes or goes, unless its session ends.
    """
    node.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
    # Nothing behind the header; an id and no body; an extension (QoS) and no body.
    for number, cut in enumerate(("1e", "3e07", "9e2105")):
        session, entity = node.session(), subscriber(f"a/{number}")
        session.declare_subscriber(f"a/{number}")
        node.main.expect(declared(entity))
        node.main.news()
        session.offend(bytes.fromhex(cut))
        lost = [undeclared(entity)] if session.ended else []
        assert [update for update in node.main.news() if update not in lost] == [], (
            "a DECLARE without a body was acted on"
        )


@rule("ZD-011", roles=("router",), needs=("ZD-091",))
def test_reserved_bits_of_an_undeclaration(node: NodeUnderTest) -> None:
    """Somebody with two subscribers undeclares one by a U_SUBSCRIBER with a reserved bit set, one bit after the other.

    The bit changes nothing, or the message is refused.
    """
    node.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
    # Both bits between Z and the id.
    for bit in (0x40, 0x20):
        session = node.session()
        gone, stays = subscriber(f"{bit}/1"), subscriber(f"{bit}/2")
        id = session.declare_subscriber(f"{bit}/1")
        session.declare_subscriber(f"{bit}/2")
        node.main.expect(declared(gone), declared(stays))
        node.main.news()
        key = wire_expr_extension(WireExpr(None, session.alias(node.key(f"{bit}/1"))))
        session.offend(write_network(Declare(UndeclareEntity(S, id, (key,), reserved=bit))))
        news = node.main.news()
        refused = session.ended or not news
        assert refused or news == [undeclared(gone)], "a reserved bit changes what an undeclaration does"
        node.shows("ZD-011", "R17", "B" if refused else "A")


@rule("ZD-011", roles=("router",), needs=("ZD-091",))
def test_reserved_bits_of_a_declaration(node: NodeUnderTest) -> None:
    """Send a D_SUBSCRIBER in a DECLARE with the reserved bit set, and one through a D_KEYEXPR with it set.

    The bit changes nothing, or the message is refused.
    """
    heard = overheard(
        node,
        # 5e is DECLARE with its reserved bit. 60 is D_KEYEXPR with it, of 5; 42 a D_SUBSCRIBER on that number.
        [
            with_key(node, "5e620100", "a/1"),
            with_key(node, "1e600500", "a/2") + bytes.fromhex("1e420205"),
        ],
    )
    came, wanted = EntitySet(update.entity for update in heard), set_of(subscriber("a/1"), subscriber("a/2"))
    assert came <= wanted, "a reserved bit changes what a declaration does"
    node.shows("ZD-011", "R17", "A" if came == wanted else "B")


def bodies(node: NodeUnderTest, in_declare: Extensions, in_body: Extensions) -> list[tuple[EntityName, Declare]]:
    """Return a declaration of each kind with some extensions in the DECLARE and some in the body."""
    place = len(in_declare)
    return [
        (EntityName(kind.value, f"{kind.value}/{place}"), Declare(body, None, in_declare))
        for kind in EntityKind
        for body in [DeclareEntity(kind, 40 + place, WireExpr(node.key(f"{kind.value}/{place}")), in_body)]
    ]


@rule("ZD-015", roles=("router",), needs=("ZD-091",))
def test_declare_with_unknown_extensions(node: NodeUnderTest) -> None:
    """Declare with unknown extensions that are not mandatory, in the DECLARE and in the body; undeclare likewise.

    They are skipped: who listens hears it all.
    """
    node.interest(Mode.CURRENT_FUTURE, *EntityKind).snapshot()
    session = node.session()
    made = bodies(node, UNKNOWN_EXTENSIONS, ()) + bodies(node, (), UNKNOWN_EXTENSIONS)
    session.send(*(message for _, message in made))
    entities, listener = set_of(*(entity for entity, _ in made)), node.main
    assert listener.wait_until(lambda: live_entities(listener) >= entities), (
        "an unknown extension prevents a declaration"
    )
    for _, message in made:
        assert isinstance(message.body, DeclareEntity)
        key = wire_expr_extension(WireExpr(None, session.alias(message.body.key.suffix or "")))
        body = UndeclareEntity(message.body.kind, message.body.id, (*message.body.extensions, key))
        session.send(Declare(body, None, message.extensions))
    assert listener.wait_until(lambda: not live_entities(listener) & entities), (
        "an unknown extension prevents an undeclaration"
    )


@rule("ZD-015", roles=("router",), needs=("ZD-091",))
def test_declare_with_unknown_mandatory_extensions(node: NodeUnderTest) -> None:
    """Declare with an unknown extension that is marked mandatory, in the DECLARE or in the body.

    The declaration is prevented, or the mark means nothing and it takes effect as it stands.
    """
    alien = (Extension(0xA, 300, mandatory=True),)
    made = bodies(node, alien, ()) + bodies(node, (), alien)
    heard = overheard(node, [write_network(message) for _, message in made])
    entities = set_of(*(entity for entity, _ in made))
    assert {update.entity for update in heard} <= entities, "a declaration that was not understood took another effect"
    node.shows("ZD-015", "R19", "B" if heard else "A")


@rule("ZD-026", roles=("router",), needs=("ZD-091",))
def test_declaration_ids_outside_the_table(node: NodeUnderTest) -> None:
    """Send bodies that would be declarations if a bit or two of their ids were overlooked.

    They have no effect.
    """
    # The ids of D_KEYEXPR, D_SUBSCRIBER, D_QUERYABLE and D_TOKEN (0, 2, 4, 6) with bit 3 or 4 set, and neighbours of
    # that of D_FINAL (1a); the upper bits are N and M.
    heads = ("6a", "72", "6c", "74", "6e", "76", "68", "79", "7b", "7f")
    heard = overheard(node, [with_key(node, f"1e{head}0900", f"a/{head}") for head in heads])
    assert not heard, "a body with an id outside the table was taken for a declaration"
