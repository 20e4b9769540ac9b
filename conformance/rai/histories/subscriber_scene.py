"""A subscriber, two publishers that have what it subscribes to, and a third whose word shows how far it has come."""

from collections import Counter
from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.subscriber_sources import OWNERS, Source
from conformance.rai.histories.subscriber_telling import Telling
from conformance.rai.histories.subscriber_values import Fields, ToldValue
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from harness.trace import Direction
from wire.rai.values import (
    SNAP,
    START,
    STOP,
    Hello,
    Message,
    Published,
    Return,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    object_of,
    owner_of,
)
from wire.subjects import matches

MARK = "LAB.mark"
"""What the witness publishes."""
TURNS = 4
"""How often the node may ask for more because of what it was answered, before that waits for the next move."""


class Scene:
    """What there is in a history of a subscriber, and what its publishers answer."""

    def __init__(self, node: NodeUnderTest, can: Abilities) -> None:
        self.node = node
        self.can = can
        self.judged = Counter[str]()
        self.telling = Telling(node, self.judged)
        self.sources = {user: Source(node, user) for user in dict.fromkeys(OWNERS.values())}
        self._wanted: dict[str, str] = {}
        """What is subscribed by name, and by which verb."""
        self._wild: dict[str, int] = {}
        self._since: dict[str, int] = {}
        """When each of these was, in microseconds since 1970."""
        self._limbo = self.telling.unsure
        """What was subscribed and dropped for good: it may be subscribed still, or not."""
        self._sent: dict[str, list[Message]] = {}
        """What was said of each subject that the node has heard."""
        self._greetings: list[int] = []
        self._looked_at = 0
        self._number = 0
        self._asked_snaps: Counter[str] = Counter()
        self._has_ended = False
        self._ahead: dict[str, Fields] = {}
        """What is to be answered to the next snapshot of a subject, other than was published."""

    def begin(self) -> None:
        """Have two publishers be trusted, and a third whose word shows how far the node has come."""
        self._witness.is_serving = False
        self.node.command("listen", MARK)
        self._witness.surely(self._witness.started(MARK), "start")
        for source in self.sources.values():
            source.begin()
        for name, user in OWNERS.items():
            if not name.startswith("LAB.n."):
                self.sources[user].values[name] = self._fresh(), "ok"

    @property
    def _witness(self) -> TestPublisher:
        return self.node.publisher

    def _owner(self, name: str) -> Source:
        return self.sources[OWNERS[name]]

    def _fresh(self) -> Fields:
        """Return fields that no value has had."""
        self._number += 1
        return {"BID": self._number, "ASK": self._number + 0.5, f"F{self._number % 3}": self._number}

    # --- what is subscribed -------------------------------------------------------------------------------

    def _is_wild(self, name: str) -> bool:
        return any(matches(each, name) for each in self._wild)

    def _is_told(self, name: str) -> bool:
        """Tell whether the application is certainly told of a subject."""
        return name in self._wanted or (self._is_wild(name) and name not in self._limbo)

    def _value(self, name: str) -> ToldValue | None:
        """Return what is known of a subject that the application is told of; ``None`` where it is not."""
        if name in self._limbo:
            return None
        value = self.telling.values.get(name)
        if value is None and self._is_wild(name):
            value = self.telling.values[name] = ToldValue()
        return value

    def _publish(self, name: str, session: TestSession, data: Fields | None = None, **members: Any) -> None:
        """Publish something; it can be replayed, if the node has heard it."""
        if data is not None:
            members |= {"format": "json", "data": object_of(data)}
        message = session.say(name, Published(**members))
        if self._is_told(name):
            self._sent.setdefault(name, []).append(message)

    # --- answering, and comparing -------------------------------------------------------------------------

    def _settle(self) -> None:
        """Answer what the node asks until it asks no more, and compare what its application was told."""
        broker = self.node.source
        if self._has_ended:
            broker.read(self.node.timing.glance)
            self.telling.compare()
            return
        for _ in range(TURNS):
            self._mark()
            broker.read(self.node.timing.glance)
            if not self._serve():
                break
        self._mark()
        self.telling.compare()

    def _mark(self) -> None:
        self._number += 1
        number = self._number
        self._witness.publish(MARK, data={"MARK": number})
        if not self.node.until(lambda: self.telling.has_marked(MARK, number)):
            raise Mismatch("RAI-155", "an update of what is subscribed all the time is not told", thing="a mark")

    def _serve(self) -> bool:
        """Answer what was asked since it was looked at last; tell whether there was any such thing."""
        events = self.node.source.conversation.events
        has_answered = False
        for place in range(self._looked_at, len(events)):
            event = events[place]
            if event.direction is not Direction.RECEIVED or not self.node.source.is_nodes(event):
                continue
            if isinstance(event.body, Hello):
                self._greetings.append(event.body.time)
            for source in self.sources.values():
                if place >= source.place and _is_for(event, source):
                    if source.is_holding:
                        source.waiting.append(event)
                    else:
                        self._answer_one(source, event)
                        has_answered = True
        self._looked_at = len(events)
        return has_answered

    def _let_wait(self) -> None:
        for source in self.sources.values():
            source.let_wait()

    def _answer(self, source: Source, is_reversed: bool) -> None:
        source.is_holding = False
        waiting, source.waiting = source.waiting, []
        for event in reversed(waiting) if is_reversed else waiting:
            self._answer_one(source, event, is_late=True)

    def _answer_one(self, source: Source, event: Event, *, is_late: bool = False) -> None:
        session, body = event.message.session, event.body
        match body:
            case SubStart(return_=returned) if returned is not None:
                name = event.subject.removeprefix(START)
                self._answer_start(source, session, returned, name, ack=body.ack, initial=body.initial, is_late=is_late)
            case SubStop(return_=returned, ack=True) if returned is not None:
                name = event.subject.removeprefix(STOP)
                source.now.answer(session, returned, type="stop", subject=name, status="ack")
            case SnapRequest(return_=returned) if returned is not None:
                self._answer_snap(source, session, returned, event.subject.removeprefix(SNAP), is_late=is_late)
            case Subs(subs=subs, subs_return=returns):
                for name, returned in zip(subs, returns, strict=False):
                    if OWNERS.get(name) == source.user:
                        self._answer_start(
                            source, session, returned, name, ack=body.ack, initial=body.initial, is_late=is_late
                        )

    def _answer_start(
        self, source: Source, to: str, returned: Return, name: str, *, ack: bool, initial: bool, is_late: bool
    ) -> None:
        if ack:
            source.now.answer(to, returned, type="start", subject=name, status="ack")
        if not initial:
            return
        image = source.image(name)
        value = self._value(name)
        if value:
            value.cause = "RAI-155", "the image that was asked for"
        if image is None:
            source.now.answer(to, returned, type="start", subject=name, status="not_found")
            if value:
                value.lose()
            return
        message = source.now.answer(to, returned, type="start", subject=name, **image)
        self._sent.setdefault(name, []).append(message)
        fields, status = source.values[name]
        if value:
            surely = name in self._wanted and not is_late
            value.image(fields, "ok" if status == "ok" else "stale", source.now.session, surely=surely)

    def _answer_snap(self, source: Source, to: str, returned: Return, name: str, *, is_late: bool) -> None:
        is_ours = self._asked_snaps[name] > 0 and not (is_late and source.is_late)
        self._asked_snaps[name] = 0
        ahead = self._ahead.pop(name, None)
        value = self._value(name)
        image = source.image(name)
        if image is None:
            if is_ours:
                self.telling.expect_status(name, "not_found")
            source.now.answer(to, returned, type="snap", subject=name, status="not_found")
            if value:
                value.lose()
            return
        fields, status = source.values[name]
        if ahead is not None:
            fields, status = ahead, "ok"
            image = {"format": "json", "data": ahead}
        if is_ours:
            self.telling.expect_snapshot(name, status, fields, value.early if value else {})
        source.now.answer(to, returned, type="snap", subject=name, **image)
        if value:
            value.image(fields, "ok" if status == "ok" else "stale", source.now.session, surely=False)


def _is_for(event: Event, source: Source) -> bool:
    """Tell whether a publisher answers something: of what others have it takes no note."""
    if event.form is Subs:
        return source.session is not None and owner_of(event.subject) == source.session.session
    for prefix in (START, STOP, SNAP):
        if event.subject.startswith(prefix):
            return OWNERS.get(event.subject.removeprefix(prefix)) == source.user
    return False
