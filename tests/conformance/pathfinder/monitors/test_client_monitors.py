"""The Pathfinder monitors on clients: truth is kept, each lie is seen, and what is allowed accuses nobody."""

import pytest
from pathfinder_stories import (
    CHANGED,
    HELLO,
    SERVICE,
    WELCOME,
    Edit,
    Line,
    accused,
    ask,
    before,
    both,
    but,
    conversation,
    findings,
    hello,
    instead,
    message,
    publish,
    said_why,
    say,
    tell,
    without,
)

from conformance.catalogue.loading import load_catalogue
from conformance.pathfinder.monitors import MONITORS
from harness.pathfinder.tester.conversation import Conversation

CATALOGUE = load_catalogue("pathfinder")

VISIT: list[Line] = [
    HELLO,
    say("hello", 0, "fail", fail_reason="client-id-exists"),
    HELLO,
    WELCOME,
    HELLO,
    WELCOME,
    ask("subscribe", 1, subscription_id=5, filter="(name=x)"),
    say("subscribe", 1, "accept"),
    publish(2, SERVICE),
    publish(3, SERVICE, 10),
    say("publish", 3, "complete"),
    say("publish", 2, "complete"),
    publish(2, CHANGED),
    say("publish", 2, "complete"),
    ask("services", 3, filter="(name=x)"),
    say("services", 3, "accept"),
    say("services", 3, "complete"),
    ask("subscriptions", 3),
    say("subscriptions", 3, "fail"),
    ask("clients", 4),
    say("clients", 4, "fail"),
    ask("ping", 5),
    say("ping", 5, "complete"),
    ask("unpublish", 6, service_id=9),
    say("unpublish", 6, "complete"),
    ask("unsubscribe", 7, subscription_id=5),
    say("unsubscribe", 7, "complete"),
    say("subscribe", 1, "complete"),
]
"""A client that is refused once and then does all that it can."""


def visit(*edits: Edit) -> Conversation:
    lines = list(VISIT)
    both(*edits)(lines)
    return conversation(lines, role="client")


def test_a_client_that_keeps_the_document_is_not_accused() -> None:
    assert said_why(visit()) == []
    for end in range(len(VISIT)):
        assert said_why(conversation(VISIT[:end], role="client")) == []


def test_a_client_that_keeps_the_document_gives_evidence_for_each_rule() -> None:
    watched = {each.rule for each in MONITORS if CATALOGUE.rules[each.rule].binds == "client"}
    assert watched <= findings(visit()).keys()


CLIENT_LIES: dict[str, tuple[Edit, int, set[str]]] = {
    # messages and fields
    "negative identifier": (but(9, service_id=-1), 9, {"PF-003", "PF-006", "PF-160"}),
    "NUL": (but(14, filter="(a=\0)"), 14, {"PF-004", "PF-149"}),
    "bare property": (but(9, service_props={"n": 1}), 9, {"PF-013"}),
    "no object": (instead(21, b'["ping"]'), 21, {"PF-080"}),
    "no generation": (but(9, generation=None), 9, {"PF-017", "PF-103", "PF-160"}),
    "no ttl": (but(9, ttl=None), 9, {"PF-103", "PF-160"}),
    "owner": (but(9, client_id=7), 9, {"PF-081", "PF-160"}),
    "no client-id": (but(0, client_id=None), 0, {"PF-103", "PF-112"}),
    "no subscription-id": (both(but(6, subscription_id=None), without(25)), 6, {"PF-103", "PF-125"}),
    "unsubscribe with a filter": (but(25, filter="(a=b)"), 25, {"PF-081", "PF-136"}),
    "subscriptions with a filter": (but(17, filter="(a=b)"), 17, {"PF-081", "PF-142"}),
    "services with an id": (but(14, service_id=9), 14, {"PF-081", "PF-149"}),
    "services with no filter": (but(14, filter="a=b"), 14, {"PF-149"}),
    "unpublish with a generation": (but(23, generation=1), 23, {"PF-081", "PF-168"}),
    "clients with an id": (but(19, client_id=7), 19, {"PF-081", "PF-174"}),
    "ping with a time": (but(21, time=7), 21, {"PF-081", "PF-181"}),
    # transactions
    "answer to a server": (
        before(21, ("<", message("ping", 90, "request", {})), (">", message("ping", 90, "complete", {}))),
        22,
        {"PF-083"},
    ),
    "live ta-id": (but(9, ta_id=2), 9, {"PF-091"}),
    "ta-id of the subscription": (but(21, ta_id=1), 21, {"PF-091"}),
    "ping that is accepted": (but(21, msg_type="accept", ta_id=60), 21, {"PF-083", "PF-093"}),
    "clients that are accepted": (but(19, msg_type="accept", ta_id=60), 19, {"PF-083", "PF-097"}),
    "another word for request": (but(21, msg_type="ask", ta_id=60), 21, {"PF-093"}),
    "ping first": (before(0, ask("ping", 60)), 0, {"PF-107"}),
    # hello
    "versions 3 to 4": (but(0, protocol_minimum_version=3, protocol_maximum_version=4), 0, {"PF-113"}),
    "least above most": (but(0, protocol_minimum_version=3), 0, {"PF-113"}),
    "publish while hello is on its way": (before(3, publish(60, SERVICE, 90)), 3, {"PF-218"}),
    "publish though refused": (before(2, publish(60, SERVICE, 90)), 2, {"PF-223"}),
    "another client": (but(4, client_id=8), 4, {"PF-219"}),
    "other versions": (but(4, protocol_maximum_version=3), 4, {"PF-219"}),
    # identifiers
    "changed, and of the same generation": (but(12, generation=0), 12, {"PF-019"}),
    "changed, and of a lower generation": (both(but(8, generation=2), but(12, generation=1)), 12, {"PF-019"}),
    "other properties only": (but(12, generation=0, ttl=60, service_props={"name": ["y"]}), 12, {"PF-019"}),
    "5 and the text 5": (but(12, generation=0, ttl=60, service_props={"name": ["x"], "n": ["1"]}), 12, {"PF-019"}),
    "another's subscription": (but(25, subscription_id=6), 25, {"PF-135"}),
}


@pytest.mark.parametrize("lie", CLIENT_LIES)
def test_a_lie_of_a_client_is_seen(lie: str) -> None:
    edit, at, rules = CLIENT_LIES[lie]
    told = visit(edit)
    assert accused(told) == {rule: {at} for rule in rules}, said_why(told)


CLIENT_INNOCENT: dict[str, list[Line]] = {
    "many at once, answered in another order": [
        HELLO,
        WELCOME,
        *[publish(ta, SERVICE, ta) for ta in range(1, 20)],
        *[say("publish", ta, "complete") for ta in reversed(range(1, 20))],
        *[publish(ta, CHANGED, ta) for ta in range(1, 20)],
    ],
    "a ta-id used again at once": [HELLO, WELCOME, *3 * [ask("ping", 0), say("ping", 0, "fail")]],
    "the same again, in another order and under the same generation": [
        HELLO,
        WELCOME,
        publish(1, SERVICE | {"service-props": {"a": ["x", "y", "x"], "b": []}}),
        publish(2, SERVICE | {"service-props": {"a": ["y", "x"]}}),
    ],
    "the same generation once the last was refused": [
        HELLO,
        WELCOME,
        publish(1, SERVICE),
        say("publish", 1, "fail"),
        publish(1, SERVICE | {"ttl": 1}),
    ],
    "generation 0 again once it was taken back": [
        HELLO,
        WELCOME,
        publish(1, CHANGED),
        ask("unpublish", 2, service_id=9),
        publish(3, SERVICE),
    ],
    "a jump of the generation": [HELLO, WELCOME, publish(1, SERVICE), publish(2, CHANGED | {"generation": 1000})],
    "the first generation is not 0": [HELLO, WELCOME, publish(1, CHANGED)],
    "unsubscribed before it was accepted": [
        HELLO,
        WELCOME,
        ask("subscribe", 1, subscription_id=5),
        ask("unsubscribe", 2, subscription_id=5),
    ],
    "another client-id once the first was refused": [
        HELLO,
        say("hello", 0, "fail", fail_reason="client-id-exists"),
        hello(2, 2, ta=1, client_id=8),
    ],
    "other versions once the first were unsupported": [
        HELLO,
        say("hello", 0, "fail", fail_reason="unsupported-protocol-version"),
        hello(3, 3, ta=1),
    ],
    "a server that says what it likes": [
        HELLO,
        tell(4, "modified", CHANGED),
        WELCOME,
        WELCOME,
        say("ping", 7, "notify"),
        ("<", b"?"),
        ask("ping", 1),
        say("publish", 1, "complete"),
        ask("ping", 1),
    ],
    "a brace in a filter, and an empty key": [HELLO, WELCOME, ask("services", 1, filter="(&(=})(a>x))")],
    "silence": [],
}


@pytest.mark.parametrize("story", CLIENT_INNOCENT)
def test_what_the_document_allows_a_client_is_not_accused(story: str) -> None:
    assert said_why(conversation(CLIENT_INNOCENT[story], role="client")) == []
