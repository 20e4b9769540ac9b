"""Rai, "HMAC Authentication": what a router-cache trusts on one side, and what does not come out on the other."""

from msgspec.structs import replace

from conformance.cases import rule
from conformance.rai.roles import ROUTER_CACHE
from conformance.rai.routing import Route
from conformance.rai.telling import fields
from harness.errors import NotAnswered
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire import envelope
from wire.rai.values import BYE, START, Bye, Message, Published, Reply, SubStart, inbox, object_of, write

BAD = {"BAD": 1}

FORMS = (
    Published(data=object_of(BAD)),
    Published(type="initial", format="json", data=object_of(BAD)),
    Published(status="feed_down"),
    Published(type="drop", status="expired"),
)
"""What must not come out if nobody can be sure who says it."""


def _check_kept_out(route: Route, since: int, what: str) -> None:
    """Make sure that nothing of what must not come out did, and that nobody is shown it."""
    goes_on = route.passes(MARK=since)
    wrong = route.states(since) & {"feed_down", "drop"}
    assert not wrong, f"{what} comes out: {', '.join(sorted(wrong))}"
    if not goes_on:
        raise NotAnswered("an update that comes behind is not passed on")
    shown = [*route.since(since)]
    shown += [each for each in (route.node.main.snapshot(route.subject),) if each is not None]
    assert not any("BAD" in fields(each) for each in shown), f"{what} comes out"


def _at(session: TestSession, node: NodeUnderTest, message: Message, *, at_source: bool) -> None:
    """Say something at another broker than the session's own."""
    broker = node.source if at_source else node.broker
    broker.send(envelope.data(message.subject, write(message)))


def _other_than(digest: str, begin: int) -> str:
    """Return a digest that is the same up to a place, and another behind it."""
    return digest[:begin] + "".join("A" if each == "Q" else "Q" for each in digest[begin:])


@rule("RAI-212", roles=ROUTER_CACHE)
def test_forged_messages_stay_out(node: NodeUnderTest) -> None:
    """Have updates, images, statuses and drops come at the source in its session, with digests that are none of its.

    Nothing of them comes out.
    """
    route, publisher = Route(node), node.publisher
    for body in FORMS:
        since = route.place
        for begin in (0, 4, 20):
            right = publisher.message(route.subject, body)
            publisher.send(replace(right, digest=_other_than(right.digest, begin)))
        publisher.say(route.subject, body, digest="")
        # That of the same under another subject.
        publisher.send(publisher.message(node.subject("other"), body), route.subject)
        _check_kept_out(route, since, "what has another digest")


@rule("RAI-212", roles=ROUTER_CACHE)
def test_strangers_stay_out(node: NodeUnderTest) -> None:
    """Have a user whom nobody knows, and one who has not proven anything, publish at the source.

    Nothing of it comes out.
    """
    route = Route(node)
    unproven = node.source_session()
    unproven.answers_auth = False
    unproven.hello()
    for session in (node.source_session("mallory"), unproven):
        for body in FORMS:
            since = route.place
            session.say(route.subject, body)
            _check_kept_out(route, since, f"what {session.user} says, who is not trusted,")


@rule("RAI-212", roles=ROUTER_CACHE)
def test_replays_stay_out(node: NodeUnderTest) -> None:
    """Have messages of the source come a second time, and messages with numbers that are not new.

    Nothing of them comes out.
    """
    route, publisher = Route(node), node.publisher
    first = [publisher.update(route.subject, BID=bid) for bid in (10, 11)]
    route.surely_passes()
    since = route.place
    for message in first:
        publisher.send(message)
    _check_kept_out(route, since, "a replay")
    assert not any(fields(each).get("BID") == 10 for each in route.since(since)), "what is replayed comes out"
    for body in FORMS:
        since = route.place
        last = publisher.update(route.subject, SEEN=since)
        for seqno in (last.seqno, first[0].seqno, 0):
            publisher.say(route.subject, body, seqno=seqno)
        _check_kept_out(route, since, "what has a number that is not new")


@rule("RAI-212", roles=ROUTER_CACHE)
def test_forged_images_stay_out(node: NodeUnderTest) -> None:
    """Subscribe a subject whose source does not answer, and have others answer: with a wrong digest, and untrusted.

    Who waits is not shown it; but what the source says then.
    """
    publisher, main = node.publisher, node.main
    publisher.is_serving = False
    for bid in (1, 2):
        subject, returned = node.subject(f"awaited.{bid}"), main.new_return()
        main.start(subject, return_=returned, initial=True)
        started = publisher.surely(publisher.started(subject), "start")
        assert isinstance(started.body, SubStart)
        if started.body.return_ is None:
            return
        forged = Reply(type="start", subject=subject, format="json", data=object_of(BAD))
        to = inbox(started.message.session, started.body.return_)
        publisher.say(to, forged, digest="A" * 22)
        node.source_session(f"mallory{bid}").say(to, forged)
        publisher.answer(
            started.message.session,
            started.body.return_,
            type="start",
            subject=subject,
            format="json",
            data={"BID": bid},
        )
        main.surely(main.reply(returned), "answer")
        shown = [each for each in main.replies() if isinstance(each.body, Reply) and each.body.has_data]
        assert not any("BAD" in fields(each) for each in shown), "a forged image comes out"


@rule("RAI-213", roles=ROUTER_CACHE)
def test_subscribers_are_no_publishers(node: NodeUnderTest) -> None:
    """Have a session that is trusted among the subscribers publish at the source's broker.

    Nothing of it comes out; its BYE there ends nothing.
    """
    route = Route(node)
    for body in FORMS:
        since = route.place
        _at(node.main, node, node.main.message(route.subject, body), at_source=True)
        _check_kept_out(route, since, "what a subscriber's session says at the source's broker")
    since = route.place
    _at(node.main, node, node.main.message(BYE, Bye()), at_source=True)
    assert route.passes(MARK=1), "a BYE at another broker ends what is passed on"
    assert "drop" not in route.states(since), "a BYE at another broker ends subscriptions"


@rule("RAI-213", roles=ROUTER_CACHE)
def test_publishers_are_no_subscribers(node: NodeUnderTest) -> None:
    """Have a session that is trusted at the source's broker subscribe, and ask for values, among the subscribers.

    It is not answered; what it stops there goes on.
    """
    route, publisher = Route(node), node.publisher

    def is_to_it(event: Event) -> bool:
        return event.subject in (inbox(publisher.session, "7"), inbox(publisher.session, "8"))

    for at, form in (
        (START + route.subject, SubStart(return_=7, initial=True, ack=True)),
        ("_SNAP." + route.subject, None),
    ):
        body = form or SubStart(return_=8)
        _at(publisher, node, publisher.message(at, body), at_source=False)
    since = route.place
    _at(publisher, node, publisher.message(BYE, Bye()), at_source=False)
    assert route.passes(MARK=1), "a BYE at another broker ends what is passed on"
    node.main.surely(node.main.snapshot(route.subject), "snapshot")
    said = [*node.broker.received(), *node.source.received()]
    assert not any(is_to_it(each) for each in said), "a session is answered where it is not trusted"
    assert "stale" not in route.states(since), "a BYE at another broker ends the session of a publisher"


@rule("RAI-213", roles=ROUTER_CACHE)
def test_other_sessions_of_users_that_are_trusted_elsewhere(node: NodeUnderTest) -> None:
    """On each side, have a new session of a user speak of whom a session is trusted on the other; it proves nothing.

    It is neither answered nor passed on.
    """
    route = Route(node)
    asking = node.session(node.publisher.user)
    asking.answers_auth = False
    asking.hello()
    returned = asking.new_return()
    asking.start(route.subject, return_=returned, ack=True, initial=True)
    route.surely_passes()
    node.main.surely(node.main.snapshot(route.subject), "snapshot")
    assert not asking.replies(returned), "a subscriber is answered that has proven itself to the other side only"
    telling, since = node.source_session(node.main.user), route.place
    telling.answers_auth = False
    telling.hello()
    telling.publish(route.subject, data={"FORGED": 1})
    route.surely_passes()
    assert not [each for each in route.since(since) if "FORGED" in fields(each)], "an update is passed on"
    telling.publish(route.subject, type="drop", status="expired")
    # Where the subject is dropped, nothing comes behind that.
    route.passes(MARK=-1)
    assert "drop" not in route.states(since), "a drop is passed on"
