"""Rai, "Message Presentation": how messages may be spelled that a publisher hears, and what it says of values."""

import json

from conformance.cases import judging, rule
from conformance.rai.publishing import dropped, settle
from conformance.rai.roles import PUBLISHER
from conformance.rai.spellings import RELAXED, STRICT, Spelling
from harness.rai.tester.conversation import is_genuine
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Published, Reply, write


def converse(node: NodeUnderTest, session: TestSession, subject: str, how: str) -> None:
    """Say in a session all that subscribers say, and judge that it is taken."""
    node.other.subscribed(subject)
    session.hello()
    assert node.broker.wait_for(lambda event: event in session.proofs()), f"a HELLO with {how} is not answered"
    since = node.broker.place
    assert session.subscribe(subject), f"an auth or a start with {how} is not taken"
    session.beat()
    assert session.image(subject, format="json", expires=100), f"a start with {how} is not answered"
    assert session.snapshot(subject, return_="snap.shot"), f"a snapshot request with {how} is not answered"
    node.other.stop(subject)
    settle(node.other)
    assert not [each for each in node.broker.received(Published, since=since) if is_drop_of(each, subject)], (
        f"a start with {how} is not taken"
    )
    session.bye()
    assert dropped(node, subject, since), f"a BYE with {how} is not taken"


def is_drop_of(event: Event, subject: str) -> bool:
    """Tell whether an event is a drop of a subject."""
    return event.subject == subject and isinstance(event.body, Published) and event.body.kind == "drop"


def in_spelling(node: NodeUnderTest, place: int, how: str, spelling: Spelling) -> None:
    """Judge that a session is understood that spells all of its messages in one way."""
    session = node.session("dora")
    session.spelling = spelling
    converse(node, session, node.set(f"spelt.{place}", BID=1), how)


@rule("RAI-091", roles=PUBLISHER, needs=("RAI-102", "RAI-108", "RAI-134"))
def test_relaxed_json(node: NodeUnderTest) -> None:
    """Say all that subscribers say in relaxed JSON: words without quotes, a comma behind the last member.

    It is taken as strict JSON is.
    """
    for place, (how, spelling) in enumerate({"strict JSON": write, **RELAXED}.items()):
        in_spelling(node, place, how, spelling)


@rule("RAI-185", roles=PUBLISHER, needs=("RAI-102", "RAI-108", "RAI-134"))
def test_other_spellings(node: NodeUnderTest) -> None:
    """Say all that subscribers say with white space and escapes, and with the header elsewhere.

    It is taken as ever.
    """
    for place, (how, spelling) in enumerate(STRICT.items()):
        in_spelling(node, place, how, spelling)


MORE = (
    b'"more":1',
    b'"more":"words","less":-17',
    b'"more":{"deep":{"session":"tess.x","list":[1,[2]]}}',
    b'"more":[1,"two",{"three":3}],"none":null,"yes":true',
    '"größer":"é","a.b":17.50'.encode(),
)
"""Members that no message is drawn with."""


@rule("RAI-184", roles=PUBLISHER, needs=("RAI-102", "RAI-108", "RAI-134"))
def test_more_members(node: NodeUnderTest) -> None:
    """Say all that subscribers say with members that nobody knows, of all kinds.

    It is taken as without them.
    """
    for place, also in enumerate(MORE):
        session = node.session("dora")
        session.also = also
        converse(node, session, node.set(f"more.{place}", BID=1), "a member that is not drawn")


NUMBERS = ("17.50", "0.10", "-0.000", "100.00", "3.14159265358979323846264338327950288", "123456789012345678.25")
"""Numbers that lose something where they are read as floating point."""


@rule("RAI-093", roles=PUBLISHER, needs=("RAI-009", "RAI-108"))
def test_digits(node: NodeUnderTest) -> None:
    """Have values with numbers that end with zeros, or have many digits, in the cache, and change others beside them.

    Images, snapshots and updates have all of their digits, as numbers or as texts.
    """
    subject = node.subject("exact")
    fields = {f"N{place}": number for place, number in enumerate(NUMBERS)}
    text = ",".join(f'"{name}":{number}' for name, number in fields.items())
    node.command("set", subject, f"{{{text}}}")
    session = node.main
    session.subscribed(subject)
    since = node.broker.place
    node.command("set", subject, f"{{{text}}}")
    node.set("exact", BID=1)
    update = session.told(subject, lambda body: "N0" in (body.fields or {}), since=since)
    for event in (session.image(subject), session.snapshot(subject), update):
        found = session.surely(event, "value")
        require_digits(found, fields)
        assert is_genuine(found.message), "a message with numbers has a wrong digest"


def require_digits(event: Event, wanted: dict[str, str]) -> None:
    """Judge that a message has numbers with all of their digits."""
    assert isinstance(event.body, Reply | Published)
    shown = {name: bytes(value).decode() for name, value in (event.body.fields or {}).items()}
    for name, number in wanted.items():
        value = shown.get(name, "")
        told = json.loads(value) if value.startswith('"') else value
        with judging("RAI-093"):
            assert told == number, "a number has lost digits"
