"""Stimuli of the cases: right requests of every command, what is wrong beside them, and what a server makes of it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.events import Event
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from wire.pathfinder.values import VERSION, Message

TA = 1 << 40
"""A transaction identifier that the driver does not come to by counting."""

AT_ONCE = 16
"""Connections that are made before the first of them says hello.

A listener lets only so many wait, and TCP tries again after a second: the first would be silent for so long that a
server of little patience ends them.
"""


def requests(node: NodeUnderTest) -> Iterator[Message]:
    """Yield a right request of every command, each with identifiers of its own."""
    service = node.service(name=["x"])
    for command, fields in (
        ("hello", {"client-id": new_id(), "protocol-minimum-version": VERSION, "protocol-maximum-version": VERSION}),
        ("publish", service.fields),
        # Of nothing that exists: each request is to be right in form; whether it is granted, other cases judge.
        ("unpublish", {"service-id": new_id()}),
        ("subscribe", {"subscription-id": new_id(), "filter": node.mine}),
        ("unsubscribe", {"subscription-id": new_id()}),
        ("subscriptions", {}),
        ("services", {"filter": node.mine}),
        ("clients", {}),
        ("ping", {}),
    ):
        # One transaction identifier for all: each has a connection of its own, and identifiers are per connection.
        yield {"ta-cmd": command, "ta-id": TA, "msg-type": "request", **fields}


def of_other_type(value: Any) -> list[Any]:
    """Return values of other types that somebody might take for this one, as the driver encodes them."""
    match value:
        case str():
            # An array of one right value: lenient decoders unpack it. Bytes go into the message as they stand.
            return [5, b"null", [value]]
        case int():
            # The number in quotes, as scripting languages coerce it; true, as booleans are integers in Python and C.
            return [str(value), b"null", 1.5, b"true"]
        case _:
            return ["x", b"null", [value]]


class Offence(NamedTuple):
    """A stimulus that may be refused, the connection of its own on which it was sent, and what was said there since."""

    stimulus: Message | bytes
    session: Driver
    before: int

    @property
    def is_hello(self) -> bool:
        """Whether the stimulus is a hello, or what is almost one."""
        return not isinstance(self.stimulus, bytes) and self.stimulus.get("ta-cmd") == "hello"

    @property
    def said(self) -> list[Event]:
        """What the server said to it."""
        return self.session.received()[self.before :]

    @property
    def was_done(self) -> bool:
        """Whether it was answered as something that is carried out."""
        return any(event.type in ("accept", "complete") for event in self.said)

    @property
    def reaction(self) -> str:
        """How it was refused: the connection was ended (A), it failed (B), nothing (C), or it was not (empty)."""
        if self.was_done:
            return ""
        if any(event.type == "fail" for event in self.said):
            return "B"
        return "A" if self.session.ended else "C"


def offend(node: NodeUnderTest, stimuli: Iterable[Message | bytes]) -> list[Offence]:
    """Send each stimulus on a connection of its own, then read what comes; the connections stay open."""
    stimuli = list(stimuli)
    offences = []
    for place in range(0, len(stimuli), AT_ONCE):
        some = [Offence(each, node.connect(), 0) for each in stimuli[place : place + AT_ONCE]]
        # A connection that has said hello could not be judged on a second one.
        node.open_together([each.session for each in some if not each.is_hello])
        offences += [each._replace(before=len(each.session.received())) for each in some]
    for each in offences:
        if isinstance(each.stimulus, bytes):
            each.session.send_bytes(each.stimulus)
        else:
            each.session.send(each.stimulus)
    # One window for all of them: a window each would make a case with forty stimuli take forty times as long.
    deadline = node.instance.clock.now() + node.timing.window
    for each in offences:
        each.session.wait_until(lambda each=each: bool(each.session.ended or each.said), deadline)  # type: ignore[misc]
    return offences


def tour(node: NodeUnderTest) -> list[Event]:
    """Play every command through, rightly and wrongly, and return everything that the server said."""
    asking, owner = node.main, node.other
    # Versions that no server has, so that this hello fails (unsupported-protocol-version).
    node.connect().hello(minimum=1000, maximum=2000)
    asking.hello()
    watch = asking.subscribe(node.mine)
    service = node.service(name=["x", "y"], n=[1])
    owner.publish(service)
    asking.receives(watch, "appeared", service.id)
    # Another TTL alone: a modification that every filter goes on to match.
    owner.publish(service.newer(ttl=30))
    asking.receives(watch, "modified", service.id)
    owner.publish(service)
    # Without its closing parenthesis: no filter in any reading.
    for listing in (asking.services(node.mine), asking.services("(a=b"), asking.subscriptions(), asking.clients()):
        asking.finish(listing)
    asking.ping()
    # Twice: once that it completes, once that it fails.
    owner.unpublish(service.id)
    owner.unpublish(service.id)
    asking.receives(watch, "disappeared", service.id)
    # Twice, for the same reason.
    for _ in range(2):
        asking.unsubscribe(watch.request.fields["subscription-id"])
    asking.finish(watch)
    return [event for session in node.sessions for event in session.received()]
