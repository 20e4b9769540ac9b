"""What cases about router-caches share: a subject that is subscribed on one side and told of on the other.

Messages on two brokers are in no order. So what a router-cache makes of something that its source says is seen by an
update that the same source publishes behind it: when that comes, all before it has been looked at.
"""

from typing import Any

from conformance.rai.telling import IMAGES, fields, told
from harness.errors import NotAnswered
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from wire.rai.values import Published, Told


class Route:
    """A subject with a value at a source, subscribed at a router-cache; raises ``NotAnswered`` if nothing is shown."""

    def __init__(
        self,
        node: NodeUnderTest,
        name: str = "routed",
        *,
        publisher: TestPublisher | None = None,
        asking: TestSession | None = None,
        expires: int | None = None,
        **values: Any,
    ) -> None:
        self.node = node
        self.publisher = publisher or node.publisher
        self.asking = asking or node.main
        self.subject = node.subject(name)
        self.marks = 0
        self.publisher.values[self.subject] = values or {"BID": 1, "ASK": 2}
        self.asking.surely(self.asking.image(self.subject, expires=expires), "image")

    @property
    def place(self) -> int:
        """Where the conversation with the subscribers stands; for ``since``."""
        return self.node.broker.place

    @property
    def now(self) -> dict[str, Any]:
        """All fields of the value."""
        return self.publisher.values[self.subject]

    def tells(self, *statuses: str, since: int = 0, seconds: float | None = None, **values: Any) -> Event | None:
        """Read until the subscriber is told of some values, or one of some statuses; ``None`` if it is not."""

        def is_such(event: Event) -> bool:
            if not isinstance(event.body, Told) or not self.is_told(event):
                return False
            return fields(event).items() >= values.items() and (not statuses or told(event).state in statuses)

        return self.node.broker.wait_for(is_such, since=since, seconds=seconds, thing="what is passed on")

    def is_told(self, event: Event) -> bool:
        """Tell whether an event tells the subscriber of the subject: all who listen, or in its inbox."""
        if event.form is Published:
            return event.subject == self.subject
        its = event.subject.startswith(f"_INBOX.{self.asking.session}.")
        return its and told(event).subject == self.subject and told(event).kind in IMAGES

    def passes(self, **values: Any) -> Event | None:
        """Publish an update at the source, and read until it comes out; ``None`` if it does not."""
        since = self.place
        self.publisher.update(self.subject, **values)
        return self.tells(since=since, **values)

    def surely_passes(self) -> None:
        """Publish one more update; raises ``NotAnswered`` if it does not come out: so all before it was looked at."""
        self.marks += 1
        if self.passes(MARK=self.marks) is None:
            raise NotAnswered("an update that comes behind is not passed on")

    def since(self, place: int) -> list[Event]:
        """Return what the subscriber was told of the subject since a place."""
        events = self.node.broker.received(since=place)
        return [each for each in events if isinstance(each.body, Told) and self.is_told(each)]

    def states(self, place: int) -> set[str]:
        """Return the types of drops, and the statuses, that the subscriber was told since a place."""
        bodies = [told(each) for each in self.since(place)]
        return {each.state for each in bodies} | {each.kind for each in bodies if each.kind == "drop"}
