"""Feeds: what the application of a subscriber under test has subscribed, with the publisher that tells of it.

What must not reach the application has the field ``BAD``; that all which came before has been looked at is proven by a
field ``MARK`` that has.
"""

from typing import Any

from harness.errors import NotAnswered
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from wire.rai.values import GET_SUBS, GetSubs, Message, Subs, SubStart, inbox

LONG_AGO = 1_000_000
"""A time shortly after 1970, in microseconds: all that was subscribed since is asked for."""

Told = tuple[str, dict[str, Any]]
"""What the application was told of a value: its status, and all its fields."""


class Feed:
    """A subject that is subscribed, and told of: raises ``NotAnswered`` where the application hears nothing of it.

    Where that is just what a case ``judges``, the case fails.
    """

    def __init__(
        self,
        node: NodeUnderTest,
        name: str = "feed",
        *,
        verb: str = "subscribe",
        publisher: TestPublisher | None = None,
        judges: bool = False,
        **fields: Any,
    ) -> None:
        self.node = node
        self.publisher = publisher or node.publisher
        self.subject = node.subject(name)
        self.marks = 0
        fields = fields or {"BID": 1, "ASK": 2}
        self.publisher.values[self.subject] = dict(fields)
        since = self.publisher.broker.place
        node.command(verb, self.subject)
        self.start = self.publisher.surely(self.publisher.started(self.subject, since=since), "start")
        if verb == "listen":
            self.publisher.update(self.subject, **fields)
        is_told = self.tells(**fields) is not None
        assert is_told or not judges, "the application is not told the value of what it has subscribed"
        if not is_told:
            raise NotAnswered("the application is not told the value of what it has subscribed")

    @property
    def place(self) -> int:
        """How much the application was told of the subject; for ``since``."""
        return len(self.node.values(self.subject))

    @property
    def last(self) -> Told:
        """The value that the application was told last."""
        return self.node.values(self.subject)[-1]

    def publish(self, **members: Any) -> Message:
        """Publish anything on the subject."""
        return self.publisher.publish(self.subject, **members)

    def update(self, **fields: Any) -> Message:
        """Publish an update."""
        return self.publisher.update(self.subject, **fields)

    def refresh(self, type: str = "initial", **fields: Any) -> Message:
        """Publish an image on the subject, which replaces its value."""
        self.publisher.values[self.subject] = dict(fields)
        return self.publish(type=type, format="json", data=fields)

    def bad(self, **members: Any) -> Message:
        """Return a message about the subject as the publisher would say it; who hears it must not tell its data."""
        return self.publisher.message_of(self.subject, **({"data": {"BAD": 1}} | members))

    def tells(self, *statuses: str, since: int = 0, seconds: float | None = None, **fields: Any) -> Told | None:
        """Read until the application is told a value that has some fields, and one of some statuses; return it."""

        def found() -> Told | None:
            for status, told in self.node.values(self.subject)[since:]:
                if told.items() >= fields.items() and (not statuses or status in statuses):
                    return status, told
            return None

        return self.node.until(found, seconds=seconds)

    def goes_on(self) -> bool:
        """Publish one more update, and tell whether the application is told; so it was told all that came before."""
        self.marks += 1
        self.update(MARK=self.marks)
        return self.tells(MARK=self.marks) is not None

    def surely_goes_on(self) -> None:
        """As ``goes_on``; raises ``NotAnswered`` where the application is not told."""
        if not self.goes_on():
            raise NotAnswered("an update that comes behind is not told")

    def keeps_out(self) -> bool:
        """Tell whether nothing of what must not reach the application was told to it, up to now.

        Raises ``NotAnswered`` where it is told nothing at all any more.
        """
        goes_on = self.goes_on()
        # What is sent to the inbox may be looked at a moment later than what is published.
        self.publisher.broker.read(self.node.timing.glance)
        if not self.leaks and not goes_on:
            raise NotAnswered("an update that comes behind is not told")
        return not self.leaks

    @property
    def leaks(self) -> list[Told]:
        """What the application was told that must not reach it."""
        return [each for each in self.node.values(self.subject) if "BAD" in each[1]]

    def restarted(self, *, since: int) -> Event | None:
        """Read until the subject is started again, or stands in a list of subscriptions; three intervals at most."""
        return self.publisher.broker.wait_for(
            lambda event: starts(event, self.subject),
            since=since,
            seconds=self.node.timing.within(35),
            thing="a start after a drop",
        )

    @property
    def returned(self) -> str:
        """The subject in the node's inbox under which it wants the image."""
        body = self.start.body
        assert isinstance(body, SubStart)
        if body.return_ is None:
            raise NotAnswered("a start has no return")
        return inbox(self.start.message.session, body.return_)


def starts(event: Event, subject: str) -> bool:
    """Tell whether a message says that a subject is subscribed, by a start or in a list."""
    if event.form is SubStart:
        return event.subject == f"_SUB.START.{subject}"
    return subject in getattr(event.body, "subs", ())


def asked(feed: Feed, place: int = 0) -> list[Message]:
    """Return the lists of subscriptions that the node has sent to a feed's publisher since a place."""
    return [event.message for event in feed.publisher.broker.received(Subs, since=place)]


def question(feed: Feed, **forged: object) -> Message:
    """Return a question of the publisher's for all subscriptions."""
    to = inbox(feed.start.message.session, GET_SUBS)
    return feed.publisher.message(to, GetSubs(return_="subs", last_seen=LONG_AGO), **forged)  # type: ignore[arg-type]


def heard(node: NodeUnderTest, *words: str, seconds: float | None = None) -> bool:
    """Read until the application is told something that begins with some words; tell whether it was."""
    return node.event(*words, seconds=seconds) is not None
