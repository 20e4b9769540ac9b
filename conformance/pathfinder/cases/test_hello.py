"""Pathfinder, "Hello Command": who is on a connection, and in which version they speak."""

from typing import Any

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.answers import EXCUSES, granted
from conformance.pathfinder.monitors.forms import is_whole
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import requests
from conformance.wording import worded
from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.json.strict import MOST
from wire.pathfinder.values import VERSION

HELLO_CODES = ("client-id-exists", "permission-denied", "unsupported-protocol-version", "insufficient-resources")

BEYOND = {"minimum": 1000, "maximum": 2000}
"""Versions that nobody speaks."""

SILENCE = 15.0
"""Seconds of the protocol's time without a hello, after which many servers have closed."""


def clients(session: Driver) -> list[object]:
    """Return the identifiers of all clients that a server lists."""
    return [fields.get("client-id") for fields in session.sure(session.clients()).notifications]


def version(hello: Transaction) -> Any:
    """Return the version with which a hello was completed."""
    return hello.ending.fields.get("protocol-version") if hello.completed and hello.ending is not None else None


@rule("PF-027", roles=SERVER)
def test_three_clients_from_one_place(node: NodeUnderTest) -> None:
    """Three connections from one address say hello, each with a client-id of its own.

    All are completed, and all are listed.
    """
    # All connected before the first hello: clients must not be told apart by their address (PF-027).
    sessions = [node.connect() for _ in range(3)]
    assert all(granted(session.hello()) for session in sessions), (
        "a client is refused since another is from its address"
    )
    assert {session.client_id for session in sessions} <= set(clients(sessions[0]))


@rule("PF-063", "PF-119", roles=SERVER)
def test_a_second_connection_with_a_live_client_id(node: NodeUnderTest) -> None:
    """A connection says hello with the client-id of one that stands.

    One of the two does not stand afterwards, and the client is listed once.
    """
    first, second = node.session(), node.connect()
    hello = second.hello(client_id=first.client_id)
    # R35: the newcomer is refused, or takes the other's place; that takes a moment, as the old link must be ended.
    if hello.completed:
        first.wait_until(lambda: bool(first.ended))
    # By an answer, and not by the connection: one that stands and is not served has been given up.
    stands = first.is_served()
    if hello.completed:
        with judging("PF-063"):
            assert not stands, "two connections stand with one client-id"
        node.shows("PF-063", "R35", "B")
    else:
        with judging("PF-119"):
            assert hello.reason in (None, *HELLO_CODES), f"{worded(hello.reason)} is no reason to refuse hello"
            assert hello.reason != "unsupported-protocol-version", "a version is refused that others are given"
        with judging("PF-063"):
            assert stands, "both connections with one client-id are ended"
        node.shows("PF-063", "R35", "A")
    # Asked by a third, as either of the two may have been ended.
    listed = clients(node.other).count(first.client_id)
    with judging("PF-063"):
        assert listed == 1, f"a client with one connection is listed {listed} times"


@rule("PF-106", "PF-217", roles=SERVER)
def test_every_command_before_hello(node: NodeUnderTest) -> None:
    """Send each command but hello as the first on a connection of its own.

    None is carried out; what fails does so for no-hello, if a reason is given.
    """
    # Its connection stands before: it lists the effects at the end.
    _ = node.main
    for message in requests(node):
        if message["ta-cmd"] == "hello":
            continue
        # A connection for each: a server may close it instead of failing the request (R34).
        transaction = node.connect().offend(message)
        assert transaction is not None
        with judging("PF-217"):
            assert not transaction.completed, f"{message['ta-cmd']} is carried out without hello"
            assert not transaction.accepted, f"{message['ta-cmd']} is accepted without hello"
        with judging("PF-106"):
            assert transaction.reason in (None, "no-hello", *EXCUSES), (
                f"{message['ta-cmd']} before hello fails with {worded(transaction.reason)}"
            )
        node.shows("PF-106", "R34", "A" if transaction.failed else "B")
    with judging("PF-217"):
        assert not node.listed(), "a service is listed that was published without hello"


@rule("PF-108", roles=SERVER)
def test_a_long_silence_before_hello(node: NodeUnderTest) -> None:
    """Connect and be silent, fifteen seconds at most, once without a word and once after a hello that was refused.

    The connection is closed, or hello is completed on it; others are served all the while.
    """
    mute, rejected = node.connect(), node.connect()
    # Refused, as nobody speaks these versions: it has said hello, and in vain.
    rejected.hello(**BEYOND)
    node.main.barrier()
    # One deadline for both, so that the case takes fifteen seconds and not thirty.
    over = node.main.after(SILENCE)
    for late in (mute, rejected):
        late.wait_until(lambda late=late: bool(late.ended), over)  # type: ignore[misc]
    for late in (mute, rejected):
        hello = late.hello()
        assert granted(hello) or late.ended, f"a connection stands on which hello is not answered: {hello}"
    node.main.barrier()


@rule("PF-109", roles=SERVER)
def test_the_same_hello_again(node: NodeUnderTest) -> None:
    """Say hello, publish a service, and say the same hello again.

    It is completed with the same version; the client is listed once, and its service is no orphan.
    """
    session = node.connect()
    first = session.sure(session.hello())
    # A server that takes the repetition for a new client would orphan what the old one had.
    service = node.service()
    session.sure(session.publish(service))
    again = session.hello()
    assert again.completed, f"a hello that is repeated is not completed: {again}"
    assert version(again) == version(first), "a hello that is repeated brings another version"
    assert clients(node.other).count(session.client_id) == 1, "a client that repeats hello is not listed once"
    assert "orphan-since" not in node.listed(session=node.other).get(service.id, {}), "its service is an orphan"


@rule("PF-110", roles=SERVER)
def test_another_client_id_on_a_connection(node: NodeUnderTest) -> None:
    """Say hello, then say hello with another client-id on the same connection.

    The second is not completed, and nobody of that name is listed.
    """
    session, name = node.session(), new_id()
    hello = session.hello(client_id=name)
    assert not hello.completed, "a connection is given another client-id than it had"
    assert name not in clients(node.other), "a client is listed whose hello was refused"


@rule("PF-110", roles=SERVER)
def test_another_range_on_a_connection(node: NodeUnderTest) -> None:
    """Say hello, then say hello with another range of versions, which still has the one agreed on.

    It is completed with the version agreed on, or refused; the client is the same as before.
    """
    session = node.session()
    # The version agreed on is still within the range.
    hello = session.hello(maximum=MOST)
    node.shows("PF-110", "R10", "A" if hello.completed else "B" if hello.failed else "C")
    if hello.completed:
        assert version(hello) == VERSION, "another version is agreed on amid a connection"
        assert clients(session).count(session.client_id) == 1


@rule("PF-111", roles=SERVER)
def test_hello_after_a_refused_range(node: NodeUnderTest) -> None:
    """Say hello with versions that nobody speaks, then with version 2.

    The first is refused, the second completed: on the same connection, or on a new one if the server closed that.
    """
    session = node.connect()
    if not session.hello(**BEYOND).refused:
        raise Inconclusive("versions from 1000 on are not refused, so nothing follows a refusal")
    again = session.hello()
    node.shows("PF-111", "R36", "B" if session.ended else "A")
    # The same client-id: the refused hello must not have taken it.
    if session.ended:
        again = node.connect(client_id=session.client_id).hello()
    assert granted(again), "a client is refused for good after one hello that was"


@rule("PF-111", roles=SERVER)
def test_hello_under_another_name_after_a_taken_one(node: NodeUnderTest) -> None:
    """Say hello with a client-id that is in use, then with one that is free.

    The second is completed: on the same connection, or on a new one if the server closed that.
    """
    session = node.connect()
    if not session.hello(client_id=node.main.client_id).refused:
        raise Inconclusive("a client-id in use is not refused, so nothing follows a refusal")
    again = session.hello()
    if session.ended:
        again = node.connect().hello()
    assert granted(again), "a client is refused for good after one hello that was"


@rule("PF-114", "PF-115", "PF-116", roles=SERVER)
def test_ranges_that_end_at_2(node: NodeUnderTest) -> None:
    """Say hello with the ranges 2 to 2 and 0 to 2, which the version of this document ends.

    Both are completed with version 2.
    """
    # 2 alone, and a range that ends with it: a server that takes the minimum, or compares only the maximum, errs once.
    for minimum, maximum in ((2, 2), (0, 2)):
        hello = node.connect().hello(minimum=minimum, maximum=maximum)
        with judging("PF-114"):
            assert granted(hello), f"versions {minimum} to {maximum} are refused: {hello}"
        with judging("PF-115"):
            agreed = version(hello)
            assert is_whole(agreed), "the complete of hello has no protocol-version"
            assert minimum <= agreed <= maximum, f"version {worded(agreed)} was not offered"
        with judging("PF-116"):
            assert agreed == VERSION


@rule("PF-114", "PF-115", roles=SERVER)
def test_ranges_that_go_on_behind_2(node: NodeUnderTest) -> None:
    """Say hello with the ranges 2 to 2^63-1 and 1 to 3.

    Both are completed, with a version that was offered.
    """
    # The widest range, and one with 2 inside; a server that has 3 may agree on it.
    for minimum, maximum in ((2, MOST), (1, 3)):
        hello = node.connect().hello(minimum=minimum, maximum=maximum)
        with judging("PF-114"):
            assert granted(hello), f"versions {minimum} to {maximum} are refused: {hello}"
        with judging("PF-115"):
            agreed = version(hello)
            assert is_whole(agreed), "the complete of hello has no protocol-version"
            assert minimum <= agreed <= maximum, f"version {worded(agreed)} was not offered"


@rule("PF-119", roles=SERVER)
def test_ranges_without_2(node: NodeUnderTest) -> None:
    """Say hello with the ranges 1000 to 2000, and 3 to 1.

    Neither is completed; the reason, if any, is that the version is not supported. The second may be no message at all.
    """
    # The second is an empty range.
    for minimum, maximum in ((1000, 2000), (3, 1)):
        hello = node.connect().hello(minimum=minimum, maximum=maximum)
        refused = hello.refused if minimum <= maximum else not hello.completed
        assert refused, f"versions {minimum} to {maximum} are not refused: {hello}"
        assert hello.reason in (None, "unsupported-protocol-version", *EXCUSES), (
            f"versions {minimum} to {maximum} are refused for {worded(hello.reason)}"
        )
        if minimum > maximum:
            node.shows("PF-119", "R29", "A" if hello.failed else "B")
