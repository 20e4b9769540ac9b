"""The tester as a publisher: what a node under test subscribes to is acked and shown, as a play has it."""

from typing import Any

from harness.rai.tester.broker import TestBroker
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.trace import Direction
from wire.rai.values import (
    DICT,
    SNAP,
    START,
    STOP,
    Body,
    Dict,
    DictRequest,
    Message,
    Return,
    SnapRequest,
    SubStart,
    SubStop,
    WildStart,
    inbox,
    object_of,
)

SERVED = "LAB."


class TestPublisher(TestSession):
    """A publisher in a play.

    While it ``is_serving`` it acks what it is asked to ack, and shows the value of a subject where ``values`` has it.
    """

    __test__ = False

    def __init__(self, broker: TestBroker, user: str, *, nonce: str = "") -> None:
        super().__init__(broker, user, proves=True, nonce=nonce)
        self.is_serving = True
        self.values: dict[str, dict[str, Any]] = {}
        """The fields of each subject that it has."""
        self.naming: dict[str, Any] = {}
        """What its images name beside their data: a dictionary, and its checksum."""
        self.dictionaries: dict[str, dict[str, Any]] = {}

    def hear(self, event: Event) -> None:
        super().hear(event)
        if event.direction is Direction.RECEIVED and self.broker.is_nodes(event) and self.is_serving:
            self._serve(event.message, event.body)

    def _serve(self, message: Message, body: Body) -> None:
        asking = message.session
        match body:
            case SubStart(return_=returned) if returned is not None:
                subject = message.subject.removeprefix(START)
                if body.ack:
                    self.answer(asking, returned, type="start", subject=subject, status="ack")
                if body.initial:
                    self.show(asking, returned, "start", subject)
            case SubStop(return_=returned, ack=True) if returned is not None:
                subject = message.subject.removeprefix(STOP)
                self.answer(asking, returned, type="stop", subject=subject, status="ack")
            case SnapRequest(return_=returned) if returned is not None:
                self.show(asking, returned, "snap", message.subject.removeprefix(SNAP))
            case DictRequest(dictionary=name, return_=returned) if message.subject == inbox(self.session, DICT):
                if name in self.dictionaries and returned is not None:
                    self.send_dictionary(asking, returned, name)

    def update(self, subject: str, **fields: Any) -> Message:
        """Publish that fields of a subject have changed, and have them so from now on."""
        self.values.setdefault(subject, {}).update(fields)
        return self.publish(subject, data=fields)

    def show(self, session: str, returned: Return, kind: str, subject: str) -> Message:
        """Show the value of a subject to a session, or say that there is none."""
        if subject not in self.values:
            return self.answer(session, returned, type=kind, subject=subject, status="not_found")
        members = {"type": kind, "subject": subject, "format": "json"} | self.naming
        return self.answer(session, returned, **members, data=self.values[subject])

    def send_dictionary(self, session: str, returned: Return, name: str, **members: Any) -> Message:
        """Send a dictionary to a session."""
        body = Dict(**({"dictionary": name, "data": object_of(self.dictionaries[name])} | members))
        return self.say(inbox(session, returned), body)

    def started(
        self, subject: str, *, since: int = 0, seconds: float | None = None, thing: str = "a start"
    ) -> Event | None:
        """Read until the node says that it subscribes to a subject, and return that; ``None`` when it does not."""
        return self.broker.wait_for(
            lambda event: event.form is SubStart and event.subject == START + subject,
            since=since,
            seconds=seconds,
            thing=thing,
        )

    def started_wild(self, wildcard: str, *, since: int = 0, seconds: float | None = None) -> Event | None:
        """Read until the node says that it subscribes to a wildcard, and return that."""
        return self.broker.wait_for(
            lambda event: isinstance(event.body, WildStart) and event.body.subject == wildcard,
            since=since,
            seconds=seconds,
            thing="a start of a wildcard",
        )
