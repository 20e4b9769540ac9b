"""Pathfinder, "Subscribe Command" and "Unsubscribe Command": what a client asks for, and what it understands."""

from typing import Any

from conformance.cases import judging, rule
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import CLIENT, EVERY_LINK
from conformance.wording import worded
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import match
from wire.json.strict import LEAST, MOST

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}
FILTER = "(name=goldwire)"
# Control characters, quotes, letters of one to four bytes, a combining accent, a change of direction, a BOM.
STRANGE = '\x01\t"\\/\x7f é ß 中文 \U0001f600 e\u0301 \u202e \ufeff'


@rule("PF-006", "PF-124", "PF-125", roles=CLIENT, needs=("PF-097",))
def test_a_subscription_with_a_filter(node: NodeUnderTest) -> None:
    """Have a client subscribe with a filter.

    The request has an identifier of the range and the filter, nothing else of its own.
    """
    domain = node.begin("subscribe")
    connection = domain.greeted()
    request = domain.asks(connection, "subscribe")[0].request.fields
    with judging("PF-125"):
        own = request.keys() - MANDATORY
        assert "subscription-id" in own, "a subscribe has no subscription-id"
        assert own <= {"subscription-id", "filter"}, f"subscribe has {worded(sorted(own))}"
    with judging("PF-124"):
        assert request.get("filter") == FILTER, f"the filter is {worded(request.get('filter'))}"
    for name, number in (
        ("subscription-id", request["subscription-id"]),
        ("client-id", connection.client_id),
    ):
        with judging("PF-006"):
            assert is_whole(number), f"the {name} is {worded(number)}"


@rule(
    "PF-005", "PF-013", "PF-077", "PF-104", "PF-124", "PF-201", roles=CLIENT, transports=EVERY_LINK, needs=("PF-097",)
)
def test_all_that_a_match_may_hold(node: NodeUnderTest) -> None:
    """Have a client subscribe to everything, and tell it of services at the edges of what the document allows.

    It asked without a filter, and it tells its application of each service.
    """
    domain = node.begin("subscribe-all")
    connection = domain.subscribed()
    subscription = connection.subscriptions[0]
    with judging("PF-124"):
        assert "filter" not in subscription.request.fields, "who subscribes to everything gives a filter"

    def is_told(fields: dict[str, Any], *, encode: Any = encode_message) -> bool:
        message = {"ta-cmd": "subscribe", "ta-id": subscription.ta, "msg-type": "notify", **fields}
        connection.say(encode(message))
        return domain.application_receives(
            domain.told(fields["match-type"], fields["service-id"], fields["generation"])
        )

    with judging("PF-104"):
        assert is_told(match("appeared", 1)), "a service with an owner is not told"
        # The document says a time and not of which type: whole and broken seconds are legal.
        assert is_told(match("appeared", 2, orphan_since=1700000000)), "an orphan is not told"
        assert is_told(match("appeared", 3, orphan_since=1700000000.25)), "an orphan is not told"
    with judging("PF-201"):
        # 2**53 + 1 is the first integer that a double cannot hold.
        for number in (0, 2**32, 2**53 + 1, MOST):
            edges = {"n": [LEAST, -1, 0, 2**53 + 1, MOST]}
            seen = is_told(match("appeared", number, number, ttl=number, client_id=number, service_props=edges))
            assert seen, f"a service is not told whose numbers are {number}"
    with judging("PF-005"):
        assert is_told(match("appeared", 4, service_props={STRANGE: [STRANGE]})), "strange characters hide a service"
    with judging("PF-013"):
        for number, props in enumerate(({}, {"a": ["x", 5, "5", -5]}, {"": [""]}), 10):
            assert is_told(match("appeared", number, service_props=props)), (
                f"properties hide a service: {worded(props)}"
            )
    with judging("PF-077"):
        for number, encode in enumerate((spaced, escaped, reversed_order), 20):
            assert is_told(match("appeared", number), encode=encode), f"another spelling of JSON: {encode.__name__}"


def spaced(message: dict[str, Any]) -> bytes:
    """Spell a message with white space wherever some may stand."""
    text = encode_message(message).decode()
    return "".join(f" \t\r\n{each} \n" if each in "{}[],:" else each for each in text).encode()


def escaped(message: dict[str, Any]) -> bytes:
    """Spell a message with letters as escapes."""
    return encode_message(message).replace(b"subscribe", b"\\u0073ubscribe").replace(b"match-type", b"match\\u002dtype")


def reversed_order(message: dict[str, Any]) -> bytes:
    """Spell a message with its fields from behind."""
    return b"{" + b",".join(encode_message({name: message[name]})[1:-1] for name in reversed(message)) + b"}"


@rule("PF-135", "PF-136", roles=CLIENT)
def test_unsubscribing_at_several_servers(node: NodeUnderTest) -> None:
    """Have a client subscribe at two servers and unsubscribe.

    Each server is asked to end the subscription that was made there, by its identifier alone.
    """
    domain = node.begin("unsubscribe", servers=2)
    connections = [domain.greeted(0), domain.greeted(1)]
    domain.wait_until(lambda: all(connection.asked("unsubscribe") for connection in connections))
    for connection in connections:
        made = [each.request.fields.get("subscription-id") for each in connection.asked("subscribe")]
        ended = [each.request.fields for each in connection.asked("unsubscribe")]
        with judging("PF-136"):
            alien = [sorted(each.keys()) for each in ended if each.keys() - MANDATORY != {"subscription-id"}]
            assert not alien, f"unsubscribe has the fields {worded(alien[0])}"
        with judging("PF-135"):
            assert [each["subscription-id"] for each in ended] == made, "not what was made here is ended here"
