"""What cases about publishers do: see what is told of a subject, and make sure that nothing more is."""

from typing import Any

import msgspec

from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Published, Told

IMAGES = ("start", "initial", "verify")
"""Types of what holds all fields of a value (readings R02, R34)."""


def told(event: Event) -> Told:
    """Return what a reply, or a message on a subject, says."""
    assert isinstance(event.body, Told)
    return event.body


def fields(event: Event) -> dict[str, Any]:
    """Return the fields that an event tells, as values; none where it has no data."""
    return {name: msgspec.json.decode(value) for name, value in (told(event).fields or {}).items()}


def holds(event: Event | None, values: dict[str, Any]) -> bool:
    """Tell whether an answer has come, and has just these fields."""
    return event is not None and fields(event) == values


def settle(node: NodeUnderTest, asking: TestSession | None = None) -> None:
    """Read until the node has answered what was said last: so all is seen that came of what was said before it.

    Raises ``NotAnswered`` when no answer comes.
    """
    asking = asking or node.main
    asking.surely(asking.snapshot(node.set("settled", BID=1)), "snapshot")


def published(node: NodeUnderTest, subject: str, since: int = 0) -> list[Event]:
    """Return what was published on a subject."""
    return [each for each in node.broker.received(Published, since=since) if each.subject == subject]


def updates(node: NodeUnderTest, subject: str, since: int = 0) -> list[Event]:
    """Return the updates with data that were published on a subject."""
    return [each for each in published(node, subject, since) if told(each).kind == "update" and told(each).has_data]


def updated(node: NodeUnderTest, subject: str, values: dict[str, Any], since: int) -> bool:
    """Read until updates of a subject have told these values; tell whether they did."""
    wanted = set(values)

    def tells(event: Event) -> bool:
        if event.subject == subject and event.form is Published and told(event).kind == "update":
            seen = fields(event)
            wanted.difference_update(name for name in values if name in seen and seen[name] == values[name])
        return not wanted

    return node.broker.wait_for(tells, since=since, thing="an update") is not None


def change(node: NodeUnderTest, name: str, **values: Any) -> bool:
    """Have the value of a subject change; tell whether an update says so."""
    since = node.broker.place
    return updated(node, node.set(name, **values), values, since)


def dropped(node: NodeUnderTest, subject: str, status: str, since: int) -> Event | None:
    """Read until a subject is dropped for a reason; return that, ``None`` if it is not."""

    def is_such(event: Event) -> bool:
        if event.subject != subject or event.form is not Published:
            return False
        return told(event).kind == "drop" and told(event).state == status

    return node.broker.wait_for(is_such, since=since, thing=f"a drop for {status}")


def refreshed(node: NodeUnderTest, subject: str, since: int, *sessions: TestSession) -> Event | None:
    """Read until a whole value comes on a subject or to inboxes of sessions (reading R60); ``None`` if none does."""

    def is_such(event: Event) -> bool:
        if not isinstance(event.body, Told) or event.body.kind not in IMAGES or not event.body.has_data:
            return False
        inboxes = tuple(f"_INBOX.{each.session}." for each in sessions or (node.main,))
        return event.subject == subject or (event.body.subject == subject and event.subject.startswith(inboxes))

    return node.broker.wait_for(is_such, since=since, thing="an image after a disturbance")
