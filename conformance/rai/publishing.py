"""What cases about publishers share: how is seen what a publisher has taken, and what it has not."""

from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import SERVED
from wire.rai.values import Auth, Message, Published


def settle(session: TestSession) -> None:
    """Have the node answer a session, so that it has heard all that was said before; raises ``NotAnswered``."""
    session.subscribed(f"{SERVED}settled.{session.new_return()}")


def answers(session: TestSession, since: int = 0) -> list[Event]:
    """Return what the node has sent to a session's inbox, but for what establishes trust."""
    return [each for each in session.replies(since=since) if each.form is not Auth]


def meets_somebody(node: NodeUnderTest, user: str = "dora") -> None:
    """Have the node greet a session, so that it has heard all greetings before; raises ``NotAnswered``."""
    node.session(user).met().bye()


def is_published(node: NodeUnderTest, name: str) -> bool:
    """Tell whether a subject is published when its value changes."""
    since = node.broker.place
    subject = node.set(name, BID=1000 + since)
    return node.main.told(subject, lambda body: bool(body.fields), since=since) is not None


def drops(node: NodeUnderTest, subject: str, since: int = 0) -> list[Event]:
    """Return the drops of a subject that the node has published."""
    said = node.broker.received(Published, since=since)
    return [
        each for each in said if each.subject == subject and isinstance(each.body, Published) and is_drop(each.body)
    ]


def is_drop(body: Published) -> bool:
    """Tell whether something on a subject is a drop."""
    return body.kind == "drop"


def dropped(node: NodeUnderTest, subject: str, since: int = 0, seconds: float | None = None) -> Event | None:
    """Read until a subject is dropped, and return that; ``None`` when it is not."""
    return node.main.told(subject, is_drop, since=since, seconds=seconds, thing="a drop")


def holder_stops(node: NodeUnderTest, holder: TestSession, subject: str) -> Event | None:
    """End the subscription that is the only one by rights, and return the drop: ``None`` where another was taken."""
    since = node.broker.place
    holder.stop(subject)
    return dropped(node, subject, since)


def repeated(session: TestSession, *messages: Message) -> None:
    """Publish again what a session has said, byte for byte."""
    for message in messages:
        session.send(message)
