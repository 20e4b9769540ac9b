"""What a node does at all. Other rules rest on it, and who lacks it is told so once."""

from conformance.cases import basic
from conformance.rai.roles import PUBLISHER, ROUTER_CACHE, SUBSCRIBER
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Auth, Hello, inbox

ALL = (*PUBLISHER, *SUBSCRIBER, *ROUTER_CACHE)


@basic("RAI-099", roles=ALL)
def test_some_greeting_is_said(node: NodeUnderTest) -> None:
    """Start the node.

    It says HELLO, or a heartbeat, at each of its brokers.
    """
    for broker in node.brokers:
        greeting = broker.wait_for(lambda event: isinstance(event.body, Hello), seconds=node.timing.within(25))
        assert greeting, "neither HELLO nor HB is ever said"


@basic("RAI-080", roles=(*PUBLISHER, *ROUTER_CACHE))
def test_some_hello_is_answered(node: NodeUnderTest) -> None:
    """Say HELLO as two users.

    One of them is sent an auth message.
    """
    node.greeted(node.broker)
    sessions = [node.session(), node.session()]
    for session in sessions:
        session.hello()
    heard = node.broker.wait_for(
        lambda event: event.form is Auth and any(event.subject == inbox(each.session, "auth") for each in sessions)
    )
    assert heard, "no HELLO is ever answered by an auth message"


@basic("RAI-087", roles=(*SUBSCRIBER, *ROUTER_CACHE))
def test_some_proof_is_answered(node: NodeUnderTest) -> None:
    """Prove to a subscriber who two publishers are.

    It proves itself to one of them.
    """
    session, greeting = node.greeted(node.source)
    users = ("tess", "toby")
    heard = False
    for user in users:
        publisher = node.source_session(user)
        publisher.hello()
        publisher.prove(session, greeting.time, greeting.cnonce)
        heard = heard or node.trusts(publisher)
    assert heard, "no auth message is ever answered by one"


@basic("RAI-109", roles=(*PUBLISHER, *ROUTER_CACHE))
def test_some_start_is_acked(node: NodeUnderTest) -> None:
    """Start two subjects, and ask for an ack.

    One of them is acked.
    """
    subjects = [node.given("first", BID=1), node.given("second", BID=2)]
    acks = [node.main.subscribe(subject) for subject in subjects]
    assert any(acks), "no start is ever acked"


@basic("RAI-108", roles=(*PUBLISHER, *ROUTER_CACHE))
def test_some_image_is_shown(node: NodeUnderTest) -> None:
    """Start two subjects that have values, and ask for images.

    One of them is shown.
    """
    subjects = [node.given("first", BID=1), node.given("second", BID=2)]
    images = [node.main.image(subject) for subject in subjects]
    assert any(image is not None and image.body.fields for image in images), "no image is ever shown"  # type: ignore[attr-defined]


@basic("RAI-009", roles=PUBLISHER)
def test_some_update_is_published(node: NodeUnderTest) -> None:
    """Subscribe a subject, and have its value change twice.

    It is published.
    """
    subject = node.set("moving", BID=1)
    node.main.subscribe(subject)
    since = node.broker.place
    node.set("moving", BID=2)
    node.set("moving", BID=3)
    told = node.main.told(subject, lambda body: bool(body.fields), since=since)
    assert told, "no update is ever published"


@basic("RAI-134", roles=PUBLISHER)
def test_some_snapshot_is_shown(node: NodeUnderTest) -> None:
    """Ask for snapshots of two subjects that have values.

    One of them is shown.
    """
    subjects = [node.set("first", BID=1), node.set("second", BID=2)]
    shown = [node.main.snapshot(subject) for subject in subjects]
    assert any(shown), "no snapshot request is ever answered"


@basic("RAI-137", roles=PUBLISHER)
def test_some_subject_is_dropped(node: NodeUnderTest) -> None:
    """Subscribe two subjects that have values, and end both subscriptions.

    One of the subjects is dropped.
    """
    subjects = [node.set("first", BID=1), node.set("second", BID=2)]
    for subject in subjects:
        node.main.subscribe(subject)
        node.main.stop(subject)
    dropped = [node.main.told(subject, lambda body: body.kind == "drop", thing="a drop") for subject in subjects]
    assert any(dropped), "no subject is ever dropped"


@basic("RAI-001", roles=SUBSCRIBER)
def test_some_subject_is_started(node: NodeUnderTest) -> None:
    """Have the subscriber's application subscribe two subjects.

    One of them is started.
    """
    publisher = node.publisher
    for name in ("first", "second"):
        node.command("subscribe", node.subject(name))
    started = [publisher.started(node.subject(name)) for name in ("first", "second")]
    assert any(started), "nothing that is subscribed is ever started"


@basic("RAI-155", roles=SUBSCRIBER)
def test_some_value_is_told(node: NodeUnderTest) -> None:
    """Have the subscriber's application subscribe a subject, show its value, and publish an update.

    The application is told of one of them.
    """
    publisher, subject = node.publisher, node.subject("told")
    publisher.values[subject] = {"BID": 1}
    node.command("subscribe", subject)
    publisher.started(subject)
    publisher.publish(subject, data={"BID": 2})
    assert node.event("value", subject), "no value is ever told to the application"


@basic("RAI-205", roles=ROUTER_CACHE)
def test_some_value_is_passed_on(node: NodeUnderTest) -> None:
    """Subscribe a subject at the router-cache, and publish updates of it at its source.

    One of them comes.
    """
    publisher, subject = node.publisher, node.subject("passed")
    publisher.values[subject] = {"BID": 1}
    node.main.start(subject, return_=1, ack=True, initial=True)
    publisher.started(subject)
    since = node.broker.place
    for bid in (2, 3):
        publisher.publish(subject, data={"BID": bid})
    assert node.main.told(subject, lambda body: bool(body.fields), since=since), "nothing is ever passed on"
