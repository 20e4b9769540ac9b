"""Pathfinder, "Integers": which numbers there are."""

from conformance.cases import rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.monitors.forms import is_whole, scalars
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import offend, requests
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.json.strict import LEAST, MOST

BEYOND = (MOST + 1, LEAST - 1, 10**30)

NON_NEGATIVE = (
    "ta-id",
    "client-id",
    "service-id",
    "subscription-id",
    "generation",
    "ttl",
    "time",
    "protocol-version",
    "protocol-minimum-version",
    "protocol-maximum-version",
)


@rule("PF-002", roles=SERVER, needs=("PF-120",))
def test_integers_of_more_than_64_bits(node: NodeUnderTest) -> None:
    """Publish properties with integers beyond 64 bits, and ask elsewhere what there is.

    However that is answered, no such integer comes back.
    """
    watch = node.main.sure(node.main.subscribe(node.mine))
    stimuli = [
        {"ta-cmd": "publish", "ta-id": 7, "msg-type": "request", **node.service(n=[number]).fields} for number in BEYOND
    ]
    offences = offend(node, stimuli)
    node.main.sure(node.main.services(node.mine))
    sane = node.service(n=[1])
    node.other.sure(node.other.publish(sane))
    node.main.receives(watch, "appeared", sane.id)
    for session in (node.main, *(each.session for each in offences)):
        numbers = [each for event in session.received() for each in scalars(event.fields)]
        big = [each for each in numbers if isinstance(each, int | float) and not LEAST <= each <= MOST]
        assert not big, "an integer of more than 64 bits is sent back"


@rule("PF-003", roles=SERVER)
def test_numbers_that_are_no_counts(node: NodeUnderTest) -> None:
    """Put -1, 2^63, 1.5, a text and true into each field of type Int>=0, and ask elsewhere what there is.

    However that is answered, no such value comes back in such a field.
    """
    stimuli = [
        {**request, name: value}
        for request in requests(node)
        for name in request
        # Of the ta-id once: it is the same field in all requests.
        if name in NON_NEGATIVE and (name != "ta-id" or request["ta-cmd"] == "ping")
        for value in (-1, MOST + 1, 1.5, "7", b"true")
    ]
    offences = offend(node, stimuli)
    for listing in (node.main.services(), node.main.subscriptions(), node.main.clients()):
        node.main.sure(listing)
    for session in (node.main, *(each.session for each in offences)):
        for event in session.received():
            wrong = {
                name: value for name, value in event.fields.items() if name in NON_NEGATIVE and not is_whole(value)
            }
            assert not wrong, "something is sent as Int>=0 that is not"


@rule("PF-201", roles=SERVER, needs=("PF-157",))
def test_the_ends_of_the_range(node: NodeUnderTest) -> None:
    """Publish integers at and near both ends of the range, with the greatest TTL and generation.

    They are taken, and come back exactly.
    """
    # 2**53 + 1 is the first integer that a double cannot hold.
    numbers = [LEAST, -(2**53) - 1, -1, 0, 2**53 + 1, MOST]
    service = node.service(n=list(numbers), generation=MOST, ttl=MOST)
    assert granted(node.other.publish(service)), "an integer within the range is refused"
    fields = listed(node, service)
    assert sorted(values_of(fields, "n")) == numbers, "an integer comes back as another"
    ends = fields.get("generation"), fields.get("ttl")
    assert ends == (MOST, MOST), "the greatest generation or TTL comes back as another number"


@rule("PF-003", roles=SERVER, needs=("PF-157",))
def test_whole_numbers_with_an_exponent(node: NodeUnderTest) -> None:
    """Publish services with 6e1 and with 60.0 as the TTL.

    They are refused, or listed with a TTL of 60.
    """
    for spelling in (b"6e1", b"60.0"):
        session, service = node.session(), node.service()
        publish = session.publish(service.replace(ttl=spelling))
        node.shows("PF-003", "R42", "A" if publish.completed else "B")
        if publish.completed:
            assert listed(node, service).get("ttl") == 60, "a number with an exponent or a point is taken for another"
