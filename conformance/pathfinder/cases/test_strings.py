"""Pathfinder, "Strings": which characters there are."""

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.monitors.forms import scalars
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import offend
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest

CHARACTERS = (
    # What some library changes on the way: controls, quotes, letters that have a second spelling, marks of direction
    # and order, line ends of JavaScript, what is no character, planes above the first.
    "\x01\x1f\t\n\r\b\f",
    "\"\\/ '`",
    "\x7f\x80\x9f",
    "é ß Ω",
    "e\u0301 \u1100\u1161\u11a8",
    "\u200b\u202e\ufeff\ufffe\uffff",
    "\u2028\u2029\u3042\uac00",
    "\U0001f642\U0001d11e\U0010ffff",
    " before and behind ",
    "()&|!*<>={}",
)
"""Strings that somebody might change: control characters, quotes, composed and decomposed letters, none below 64 K."""


@rule("PF-004", roles=SERVER, needs=("PF-120",))
def test_nul(node: NodeUnderTest) -> None:
    """Publish a value with NUL, a name with NUL, and subscribe with a filter that has one; ask elsewhere what there is.

    However that is answered, no NUL comes back.
    """
    watch = node.main.sure(node.main.subscribe(node.mine))
    named = node.service()
    nul = node.service(name=["a\0b"]), named.replace(props={**named.props, "a\0b": ["x"]})
    frames = [{"ta-cmd": "publish", "ta-id": 7, "msg-type": "request", **each.fields} for each in nul]
    filter = {"subscription-id": new_id(), "filter": node.narrow("(name=a\0b)")}
    offences = offend(node, [*frames, {"ta-cmd": "subscribe", "ta-id": 7, "msg-type": "request", **filter}])
    for listing in (node.main.services(node.mine), node.main.subscriptions()):
        node.main.sure(listing)
    # A sane one behind them: when it has appeared, the others would have.
    sane = node.service(name=["x"])
    node.other.sure(node.other.publish(sane))
    node.main.receives(watch, "appeared", sane.id)
    for session in (node.main, *(each.session for each in offences)):
        texts = [each for event in session.received() for each in scalars(event.fields) if isinstance(each, str)]
        assert not [text for text in texts if "\0" in text], "a string with NUL is sent back"


@rule("PF-005", roles=SERVER, needs=("PF-157",))
def test_all_other_characters(node: NodeUnderTest) -> None:
    """Publish values, and names, with every sort of characters; list them elsewhere.

    They come back as they were.
    """
    service = node.service(text=list(CHARACTERS))
    service = service.replace(props={**service.props, **{name: ["x"] for name in CHARACTERS}})
    assert granted(node.other.publish(service)), "a string is refused for its characters"
    fields = listed(node, service)
    assert sorted(values_of(fields, "text")) == sorted(CHARACTERS), "a value comes back as another string"
    lost = [name for name in CHARACTERS if values_of(fields, name) != ["x"]]
    assert not lost, "the name of a property comes back as another string"
