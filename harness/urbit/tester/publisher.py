"""The tester as a publisher: what a subscriber under test asks is promised, answered or ignored, as a play has it."""

from harness.links.link import Link
from harness.timing import Timing
from harness.trace import Trace
from harness.urbit.tester.conversation import Decoded
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.events import Event
from harness.urbit.tester.subscriber import BEAT, is_about
from wire.urbit.signatures import promise_input, response_input
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
)

LIVE_SESSION = 0x0123_4567_89AB_CDEF
"""The id of a play's first session."""

MOST_NACKS = 16
"""Heartbeats of other sessions that are answered: one who makes ids up would ask anew, and be nacked, for ever."""


class TestPublisher(Driver):
    """A publisher in a play.

    While it ``is_serving`` it promises whatever is asked for and has no value, in its session, and answers heartbeats:
    what is lost on the way is so made up for. A play tells it to be silent, or answers by itself.
    """

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(
        self, link: Link, trace: Trace, me: Ship, other: Ship, *, namespace: bytes = b"", timing: Timing | None = None
    ) -> None:
        super().__init__(link, trace, me, other, namespace=namespace, timing=timing)
        self.session = LIVE_SESSION
        self.promises = True
        """Whether requests are answered by promises."""
        self.answers = True
        """Whether heartbeats are answered; those of other sessions than ``session`` by a nack."""
        self.values: dict[bytes, bytes] = {}
        self._nacks = 0

    def be_silent(self) -> None:
        """Answer nothing from now on."""
        self.promises = self.answers = False

    def serve(self) -> None:
        """Answer everything from now on."""
        self.promises = self.answers = True

    def on_received(self, decoded: Decoded, event: Event | None) -> None:
        """Answer what has come, as far as it is to be answered."""
        if event is None:
            return
        match event.packet.body:
            case ScryRequest(path=path, fragment=fragment) if path in self.values:
                self.send(self.response_of(path, self.values[path], fragment))
            case ScryRequest(path=path, fragment=fragment) if self.promises:
                self.send(self.promise_of(path, fragment))
            case HeartbeatRequest(session=session, number=number) if self.answers:
                self.answer(session, number)
            case _:
                pass

    def answer(self, session: int, number: int) -> None:
        """Answer a heartbeat; of another session than its own by a nack."""
        is_own = session == self.session
        self._nacks += not is_own
        if is_own or self._nacks <= MOST_NACKS:
            self.send(HeartbeatResponse(session, number, live=is_own))

    # --- what it says -------------------------------------------------------------------------------------

    def promise_of(
        self, path: bytes, fragment: int = 1, *, session: int | None = None, signer: Ship | None = None
    ) -> Promise:
        """Return a promise, signed by the tester's ship or by another."""
        id = self.session if session is None else session
        return Promise(id, path, fragment, self.sign(promise_input(id, path, fragment), signer))

    def response_of(self, path: bytes, data: bytes, fragment: int = 1, *, signer: Ship | None = None) -> ScryResponse:
        """Return a response of a single fragment, signed by the tester's ship or by another."""
        return ScryResponse(path, fragment, self.sign(response_input(path, fragment, data), signer), 1, data)

    def tell(self, name: str, text: str = "a value") -> None:
        """Have a value at a path from now on, and tell it; often enough that it is not lost."""
        path = self.path(name)
        self.values[path] = text.encode()
        self.say(self.response_of(path, self.values[path]))

    def notify(self, response: ScryResponse) -> Event | None:
        """Send a response, again where it may be lost, and return the cancellation; ``None`` when none comes."""

        def cancels(event: Event) -> bool:
            return is_about(event, response.path, response.fragment, Cancellation)

        if self.copies > 1:
            return self.ask(lambda: self.send(response), cancels, thing="a cancellation")
        since, sent = self.place, self.now()
        self.send(response)
        cancelled = self.wait_for(cancels, since=since)
        if cancelled is not None:
            self.timing.took(self.now() - sent)
        return cancelled

    def say(self, body: Body) -> None:
        """Send what nobody answers; often enough that it is not lost."""
        for _ in range(self.copies):
            self.send(body)

    def live(self, number: int) -> HeartbeatResponse:
        """Return an answer to a heartbeat that says that the session lives."""
        return HeartbeatResponse(self.session, number, live=True)

    def nack(self, number: int, session: int | None = None) -> None:
        """Say that a session is dead, in answer to a heartbeat; often enough that it is not lost."""
        self.say(HeartbeatResponse(self.session if session is None else session, number, live=False))

    def die(self, number: int) -> int:
        """Have the session be dead, say so in answer to its heartbeat, and promise in another from now on.

        Returns the id of that one.
        """
        dead, self.session = self.session, (self.session + 1) * 0x9E3779B97F4A7C15 % 2**64
        self.promises = True
        self.nack(number, dead)
        return self.session

    # --- what it is told ----------------------------------------------------------------------------------

    def requests(self, name: str, *, since: int = 0) -> list[Event]:
        """Return the requests for a path that have come since a place."""
        path = self.path(name)
        return [event for event in self.received(ScryRequest, since=since) if is_about(event, path, 1, ScryRequest)]

    def requested(self, name: str, *, since: int = 0, seconds: float | None = None) -> Event | None:
        """Read until a path is asked for, and return the request; ``None`` when patience ends, or some seconds."""
        path = self.path(name)
        return self.wait_for(lambda event: is_about(event, path, 1, ScryRequest), since=since, seconds=seconds)

    def beats(self, session: int | None = None, *, since: int = 0) -> list[Event]:
        """Return the heartbeats of a session that have come since a place."""
        id = self.session if session is None else session
        return [event for event in self.received(HeartbeatRequest, since=since) if of_session(event, id)]

    def beat_of(
        self,
        session: int | None = None,
        *,
        number: int | None = None,
        since: int = 0,
        seconds: float | None = None,
    ) -> Event | None:
        """Read until a heartbeat of a session comes, of whatever number or of one.

        ``None`` when none does within the time that a heartbeat may take, or some seconds.
        """
        id = self.session if session is None else session
        awaited = self.timing.within(2 * BEAT) if seconds is None else seconds
        return self.wait_for(lambda event: of_session(event, id, number), since=since, seconds=awaited)

    def next_beat(self, number: int, session: int | None = None) -> Event | None:
        """Read until the heartbeat of a session comes that follows one with a number, and return it.

        The next number may be lost, and a copy of the last one may still be under way. ``None`` when none comes, or one
        that had come long before.
        """
        id = self.session if session is None else session
        moment = self.timing.quiet(BEAT / 2)
        first: dict[int, float] = {}

        def follows(event: Event) -> bool:
            if not of_session(event, id):
                return False
            its = number_of(event)
            return its > number or event.time - first.setdefault(its, event.time) > moment

        event = self.wait_for(follows, seconds=self.timing.within(2 * BEAT))
        return event if event is not None and number_of(event) > number else None

    def heartbeat(self, session: int | None = None, *, number: int | None = None, since: int = 0) -> Event:
        """As ``beat_of``; raises ``NotAnswered`` when none comes."""
        return self.surely(self.beat_of(session, number=number, since=since), "heartbeat")

    def cancelled(self, name: str, *, since: int = 0, seconds: float | None = None) -> Event | None:
        """Read until a path is cancelled, and return that; ``None`` when patience ends, or some seconds."""
        path = self.path(name)
        return self.wait_for(lambda event: is_about(event, path, 1, Cancellation), since=since, seconds=seconds)

    def cancellations(self, name: str, *, since: int = 0) -> list[Event]:
        """Return the cancellations of a path that have come since a place."""
        path = self.path(name)
        return [event for event in self.received(Cancellation, since=since) if is_about(event, path, 1, Cancellation)]


def of_session(event: Event, session: int, number: int | None = None) -> bool:
    """Tell whether a packet is a heartbeat of a session, and of a number if one is given."""
    body = event.packet.body
    return isinstance(body, HeartbeatRequest) and body.session == session and number in (None, body.number)


def number_of(event: Event) -> int:
    """Return the number of a heartbeat."""
    body = event.packet.body
    assert isinstance(body, HeartbeatRequest)
    return body.number
