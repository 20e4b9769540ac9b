"""Pathfinder, "Message Format" to "Message Types" and "Common Reason Codes": what a message is, and what is none."""

import json
from collections.abc import Iterator

from conformance.cases import judging, rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.fixtures import Bystanders
from conformance.pathfinder.monitors.forms import MANDATORY, flaws, name_of
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import TA, Offence, of_other_type, offend, requests, tour
from conformance.pathfinder.waiting import watch
from harness.pathfinder.tester.driver import Service, new_id
from harness.pathfinder.tester.events import Event
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.errors import Reason
from wire.pathfinder.values import Message

NO_MESSAGES = (
    # Values of JSON that are no objects, and an object without anything.
    b"[]",
    b"5",
    b"null",
    b'"x"',
    b"{}",
    # No JSON at all: nothing, a bare word, a cut-off, and what lenient parsers let pass.
    b"",
    b"ping",
    b'{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request"',
    b'{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request",}',
    b'{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request"} x',
    b'{"ta-cmd": "ping", "ta-id": 07, "msg-type": "request"}',
    b"{'ta-cmd': 'ping', 'ta-id': 7, 'msg-type': 'request'}",
    # No UTF-8, and an array around a right message.
    b'{"ta-cmd": "ping\xff", "ta-id": 7, "msg-type": "request"}',
    b'[{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request"}]',
)
"""What is no message of the protocol, whoever reads it."""


def escaped(text: str) -> bytes:
    """Spell a string with every character escaped."""
    units = text.encode("utf-16-be")
    pairs = zip(units[::2], units[1::2], strict=True)
    return ('"' + "".join(f"\\u{high:02x}{low:02X}" for high, low in pairs) + '"').encode()


def spellings(message: Message) -> Iterator[bytes]:
    """Yield a message in other spellings: with white space, in the reverse order, every character escaped."""
    # Every white space of JSON (RFC 8259, section 2), also behind the message.
    yield json.dumps(message, indent=4).replace(":", " \t:\r\n ").encode() + b"\n \t\r"
    yield json.dumps(dict(list(message.items())[::-1]), separators=(",", ":")).encode()
    members = [
        escaped(name) + b":" + (escaped(value) if isinstance(value, str) else json.dumps(value).encode())
        for name, value in message.items()
    ]
    yield b"{" + b",".join(members) + b"}"


def spoilt(node: NodeUnderTest, victim: Service) -> Iterator[Message]:
    """Yield every request with each of its fields left out, and with each field's value of another type."""
    for request in requests(node):
        # Of something that exists: else it would fail for that and not for its fields.
        if request["ta-cmd"] == "unpublish":
            request = {**request, "service-id": victim.id}
        for name, value in request.items():
            # A filter is optional: without it the request is a right one.
            if name != "filter":
                yield {each: request[each] for each in request if each != name}
            for other in of_other_type(value):
                if (name, other) != ("filter", b"null"):  # which may be taken for none
                    yield {**request, name: other}


def doubled(node: NodeUnderTest) -> Iterator[bytes]:
    """Yield every request with each of its fields twice."""
    for request in requests(node):
        members = {name: json.dumps(name) + ":" + json.dumps(value) for name, value in request.items()}
        # The same value twice: with two different ones it would be open which of them is refused.
        for name in request:
            yield ("{" + ",".join([*members.values(), members[name]]) + "}").encode()


def deep(node: NodeUnderTest) -> Iterator[Message | bytes]:
    """Yield what is nested deeply: arrays, objects, a value of a field, a value of a property, filters."""
    # First as deep as every transport lets through: some releases of XCM take 65535 bytes of a message. Then as fits
    # into 262144, the most that others take.
    for levels in (30_000, 100_000):
        closed = b"[" * levels + b"]" * levels
        yield b"[" * levels
        yield closed
        yield b'{"a":' * (levels // 3)
        ping = {"ta-cmd": "ping", "msg-type": "request"}
        yield {**ping, "ta-id": closed}
        yield {
            "ta-cmd": "publish",
            "ta-id": TA,
            "msg-type": "request",
            **node.service().replace(props=b"[" * levels).fields,
        }
        # Fewer, as each level of a filter takes several bytes.
        services = {"ta-cmd": "services", "ta-id": TA, "msg-type": "request"}
        yield {**services, "filter": "(!" * (levels // 2) + "(a=b)" + ")" * (levels // 2)}
        yield {**services, "filter": "(" * levels}
        subscribe = {"ta-cmd": "subscribe", "ta-id": TA, "msg-type": "request", "subscription-id": new_id()}
        yield {**subscribe, "filter": "(&(a=b)" * (levels // 4) + ")" * (levels // 4)}


def effects(node: NodeUnderTest, offences: list[Offence], victim: Service) -> set[str]:
    """Return the identifiers, as texts, of what another client can list of some requests."""
    names = ("service-id", "subscription-id", "client-id")
    stimuli = [each.stimulus for each in offences if not isinstance(each.stimulus, bytes)]
    # As texts: a server may list a wrong value in the form in which it took it.
    named = {str(stimulus[name]) for stimulus in stimuli for name in names if name in stimulus}
    known = {str(victim.id), *(str(session.client_id) for session in node.sessions)}
    found: set[str] = set()
    for listing in (node.main.services(), node.main.subscriptions(), node.main.clients()):
        for fields in node.main.sure(listing).notifications:
            found.add(next((str(fields[name]) for name in names if name in fields), ""))
    return (found - known) & named


def refused(node: NodeUnderTest, rule: str, offences: list[Offence]) -> None:
    """Note how a node reacted to what it did not carry out."""
    # In order: of two that come to the same, the first is named.
    for reaction in sorted({each.reaction for each in offences if each.reaction}):
        node.shows(rule, "R09", reaction)


def flawed(events: list[Event], *faults: str) -> list[str]:
    """Return the flaws of some sorts that some messages have."""
    return [f"{name_of(event)}: {flaw.what}" for event in events for flaw in flaws(event) if flaw.fault in faults]


@rule("PF-077", roles=SERVER, needs=("PF-157",))
def test_other_spellings(node: NodeUnderTest) -> None:
    """Ping, publish and list with white space between all tokens, members in reverse order, all characters escaped.

    All is taken as if it were spelled otherwise.
    """
    # Beyond 16 bits: as escapes it is a pair of surrogates.
    service = node.service(name=["x \U0001f642"])
    session = node.session()
    for command, fields in (("ping", {}), ("publish", service.fields), ("services", {"filter": node.mine})):
        for frame in spellings({"ta-cmd": command, "ta-id": TA, "msg-type": "request", **fields}):
            session.send_bytes(frame)
            transaction = session.finish(session.conversation.transactions[-1])
            assert granted(transaction), "a request is refused in another spelling"
    assert values_of(listed(node, service), "name") == ["x \U0001f642"], "another spelling is taken for another text"


@rule("PF-078", roles=SERVER, needs=("PF-120",))
def test_types_of_fields(node: NodeUnderTest) -> None:
    """Play all commands through.

    Each field of each answer has a value of its type.
    """
    assert not flawed(tour(node), "type"), "a field has a value of another type"


@rule("PF-079", roles=SERVER, needs=("PF-120",))
def test_no_field_comes_twice(node: NodeUnderTest) -> None:
    """Play all commands through.

    No answer names a field twice.
    """
    doubled = [each.error for each in tour(node) if each.error and each.error.reason is Reason.DUPLICATE_NAME]
    assert not doubled, "an answer names a field twice"


@rule("PF-079", roles=SERVER)
def test_a_field_that_is_said_twice(node: NodeUnderTest) -> None:
    """Ping with the ta-id twice, the same and another one.

    It is refused, or one of the two counts: never both.
    """
    # The same one twice, and another.
    frames = [b'{"ta-cmd":"ping","ta-id":%d,"ta-id":%d,"msg-type":"request"}' % (TA, ta) for ta in (TA, TA + 1)]
    for offence in offend(node, frames):
        offence.session.is_served()  # what else there is to come is here by then
        ends = [event.ta for event in offence.said if event.ta in (TA, TA + 1) and event.type in ("complete", "fail")]
        assert len(ends) <= 1, "a request that names its ta-id twice is answered twice"
        node.shows("PF-079", "R39", "B" if offence.was_done else "A")


@rule("PF-080", roles=SERVER, needs=("PF-120",))
def test_every_frame_is_an_object(node: NodeUnderTest) -> None:
    """Play all commands through.

    Every frame that comes is one JSON object.
    """
    strange = [event.frame for event in tour(node) if event.frame.strip()[:1] != b"{"]
    assert not strange, "a frame is no JSON object"


@rule("PF-081", roles=SERVER, needs=("PF-120",))
def test_no_field_too_many(node: NodeUnderTest) -> None:
    """Play all commands through.

    No answer has a field that the document does not list for it.
    """
    assert not flawed(tour(node), "beyond"), "an answer has a field too many"


@rule("PF-081", roles=SERVER)
def test_a_field_too_many(node: NodeUnderTest) -> None:
    """Ping with a field that a ping has not.

    It is refused, or the field is ignored; it does not come back.
    """
    # A ping, as every field too many is clearly beyond it: it has none of its own.
    (offence,) = offend(node, [{"ta-cmd": "ping", "ta-id": TA, "msg-type": "request", "goldwire": 1}])
    node.shows("PF-081", "R33", "B" if offence.was_done else "A")
    assert not flawed(offence.said, "beyond"), "a field too many is sent back"


@rule("PF-082", "PF-103", roles=SERVER, needs=("PF-120",))
def test_mandatory_fields(node: NodeUnderTest) -> None:
    """Play all commands through.

    No answer lacks a field that it must have.
    """
    events = tour(node)
    with judging("PF-082"):
        bare = [name_of(event) for event in events if not set(MANDATORY) <= event.fields.keys()]
        assert not bare, "an answer lacks one of the three fields that all have"
    with judging("PF-103"):
        assert not flawed(events, "missing"), "an answer lacks a field that it must have"


@rule("PF-083", roles=SERVER)
def test_answers_from_a_client(node: NodeUnderTest) -> None:
    """Send pings whose msg-type is accept, notify, complete, fail, or none that there is.

    None is carried out.
    """
    # The server's own types first, then none there is: another word, other letters, nothing.
    types = ("accept", "notify", "complete", "fail", "reply", "REQUEST", "")
    offences = offend(node, [{"ta-cmd": "ping", "ta-id": TA, "msg-type": each} for each in types])
    done = [each.stimulus for each in offences if each.was_done]
    assert not done, "a ping is answered that is no request"
    refused(node, "PF-083", offences)


@rule("PF-083", roles=SERVER, needs=("PF-120",))
def test_answers_in_a_living_transaction(node: NodeUnderTest) -> None:
    """Subscribe, and send accept, notify, complete and fail under the subscription's ta-id, each to another one.

    The connection is ended, or the message refused, or it is passed over, and the subscription goes on.
    """
    sessions, reactions = [node.connect() for _ in range(4)], set()
    node.open_together(sessions)
    watches = [watch(node, session=session) for session in sessions]
    for session, watching, type in zip(sessions, watches, ("accept", "notify", "complete", "fail"), strict=True):
        session.send({"ta-cmd": "subscribe", "ta-id": watching.ta, "msg-type": type})
    # One window for all of them.
    deadline = node.instance.clock.now() + node.timing.window
    for session, watching in zip(sessions, watches, strict=True):
        session.wait_until(lambda watching=watching: watching.is_over, deadline)  # type: ignore[misc]
        assert not watching.completed, "a subscription is completed since its client has sent an answer in it"
        reactions.add("A" if session.ended else "B" if watching.failed else "C")
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    for session, watching in zip(sessions, watches, strict=True):
        if not watching.is_over:
            told = session.receives(watching, "appeared", service.id)
            assert told or session.ended, "a subscription is deaf since its client has sent an answer in it"
    for reaction in sorted(reactions):
        node.shows("PF-083", "R09", reaction)


@rule("PF-102", roles=SERVER)
def test_notifications_say_notify(node: NodeUnderTest) -> None:
    """Subscribe and list when there is something to tell.

    What comes between accept and complete has the msg-type notify.
    """
    node.other.sure(node.other.publish(node.service(name=["x"])))
    node.main.sure(node.main.subscribe(node.mine))
    for listing in (node.main.services(node.mine), node.main.subscriptions(), node.main.clients()):
        node.main.finish(listing)
    types = {event.fields.get("msg-type") for event in node.main.received()} - {"accept", "complete", "fail"}
    assert types <= {"notify", "notification"}, "a notification has another msg-type"
    node.shows("PF-102", "R01", "B" if "notification" in types else "A")


@rule("PF-104", roles=SERVER, needs=("PF-098",))
def test_optional_fields(node: NodeUnderTest) -> None:
    """List services and subscribe, with a filter and without.

    Each is accepted.
    """
    for filter in (None, node.mine):
        assert granted(node.main.services(filter)), "services is refused with or without filter"
        watch = node.main.subscribe(filter)
        assert granted(watch), "subscribe is refused with or without filter"


@rule("PF-105", roles=SERVER, needs=("PF-120",))
def test_fails(node: NodeUnderTest) -> None:
    """Give every command before hello; then play all commands through, also so that they must fail.

    A fail has a reason, which is a text, or none, and nothing else of its own.
    """
    for request in requests(node):
        if request["ta-cmd"] != "hello":
            session = node.connect()
            session.finish(session.begin_with(request))
    fails = [event for event in tour(node) if event.type == "fail"]
    beyond = [sorted(event.fields.keys() - {*MANDATORY, "fail-reason"}) for event in fails]
    assert not any(beyond), "a fail has a field too many"
    reasons = [event.fields["fail-reason"] for event in fails if "fail-reason" in event.fields]
    assert all(isinstance(reason, str) for reason in reasons), "a reason is no text"


@rule("PF-192", roles=SERVER)
def test_unknown_commands(node: NodeUnderTest) -> None:
    """Request commands that the document does not have.

    None is accepted or completed.
    """
    # A word, and what a server that trims, ignores case or mixes types with commands would take for one.
    commands = ("nope", "PING", "", "ping ", "notify")
    offences = offend(node, [{"ta-cmd": each, "ta-id": TA, "msg-type": "request"} for each in commands])
    assert not [each.stimulus for each in offences if each.was_done], "a command is carried out that there is not"
    refused(node, "PF-192", offences)
    assert node.main.is_served(), "an unknown command of one client ends the service of others"


@rule("PF-194", "PF-215", roles=SERVER, needs=("PF-120",))
def test_what_is_no_message(node: NodeUnderTest) -> None:
    """Send frames that are no JSON, or no object, or nearly a ping, while two others are served.

    None is carried out, and the others are served on.
    """
    bystanders = Bystanders(node)
    offences = offend(node, NO_MESSAGES)
    with judging("PF-194"):
        assert not [each.stimulus for each in offences if each.was_done], "what is no message is carried out"
    with judging("PF-215"):
        assert bystanders.are_served(), "what is no message ends the service of others"
    refused(node, "PF-194", offences)
    refused(node, "PF-215", offences)


@rule("PF-194", "PF-215", roles=SERVER, needs=("PF-157", "PF-120"))
def test_fields_that_are_missing_or_of_another_type(node: NodeUnderTest) -> None:
    """Send every request with each field left out, or with a value of another type, while two others are served.

    None is carried out, no effect is listed, and the others are served on.
    """
    bystanders = Bystanders(node)
    victim = node.service(name=["victim"])
    node.other.sure(node.other.publish(victim))
    offences = offend(node, spoilt(node, victim))
    with judging("PF-194"):
        done = [each.stimulus for each in offences if each.was_done]
        assert not done, "a request is carried out although a field is missing or of another type"
        assert not effects(node, offences, victim), (
            "a request has an effect although a field is missing or of another type"
        )
        assert victim.id in node.listed(), "an unpublish has an effect although a field is of another type"
    with judging("PF-215"):
        assert bystanders.are_served(), "a request of which a field is wrong ends the service of others"
    refused(node, "PF-194", offences)
    refused(node, "PF-215", offences)


@rule("PF-215", roles=SERVER, needs=("PF-120",))
def test_bystanders_of_doubled_fields(node: NodeUnderTest) -> None:
    """Send every request with each field twice, while two others are served.

    The others are served on.
    """
    bystanders = Bystanders(node)
    offences = offend(node, doubled(node))
    assert bystanders.are_served(), "a request with a field twice ends the service of others"
    node.shows("PF-215", "R39", "B" if any(each.was_done for each in offences) else "A")


@rule("PF-215", roles=SERVER, needs=("PF-120",))
def test_bystanders_of_deep_messages(node: NodeUnderTest) -> None:
    """Send JSON and filters that are nested very deeply, each on a connection of its own, while two others are served.

    The others are served on, and keep their subscriptions.
    """
    bystanders = Bystanders(node)
    # One by one, with a look after each: together they would not show which of them ended the service.
    for stimulus in deep(node):
        refused(node, "PF-215", offend(node, [stimulus]))
        assert bystanders.are_served(), "a deeply nested message of one client ends the service of others"
