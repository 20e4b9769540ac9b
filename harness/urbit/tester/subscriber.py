"""The tester as a subscriber: what a publisher under test is asked, and what it is kept waiting with."""

import itertools
import random

from harness.errors import NotAnswered
from harness.urbit.tester.driver import Driver
from harness.urbit.tester.events import Event
from wire.urbit.signatures import cancellation_input, request_input
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

BEAT = 25.0
"""Seconds of the protocol between two heartbeats."""

IN_TIME = 55.0
"""Seconds of the protocol for which a lease is not over in any case, however late a packet arrives."""


class TestSubscriber(Driver):
    """A subscriber in a play; it says what cases have it say, and nothing by itself."""

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    session: int | None = None
    """The id of its session, once something was promised to it."""
    number = 0
    """Of its last heartbeat."""
    has_company = False
    """Whether another ship is at the same address."""
    renewed = 0.0
    """When the lease of its session last began anew, in seconds of the trace: with the first promise, or with a
    heartbeat that had a new number and was not too late. A session whose lease was over then may be dead, whatever
    came later."""

    # --- requests -----------------------------------------------------------------------------------------

    def request_for(self, name: str, fragment: int = 1, signer: Ship | None = None) -> ScryRequest:
        """Return a scry request, signed by the tester's ship or by another."""
        path = self.path(name)
        return ScryRequest(path, fragment, self.sign(request_input(path, fragment), signer))

    def request(self, name: str, fragment: int = 1) -> Event | None:
        """Ask for a path until a promise or the value comes, and return that; ``None`` when neither does."""
        request = self.request_for(name, fragment)
        answer = self.ask(
            lambda: self.send(request),
            lambda event: is_about(event, request.path, fragment, Promise, ScryResponse) and self.is_mine(event),
            thing="an answer to a request",
        )
        if answer is not None and isinstance(answer.packet.body, Promise):
            self.follow(answer.packet.body.session)
        return answer

    def is_mine(self, event: Event) -> bool:
        """Tell whether a packet is for this ship, where another one is at the same address."""
        return not self.has_company or event.packet.receiver.number == self.me.number

    def follow(self, session: int) -> None:
        """Take a session for the tester's own: its heartbeats begin with 1."""
        if session != self.session:
            self.session, self.number, self.renewed = session, 0, self.trace.now()

    def promised(self, name: str, fragment: int = 1) -> Promise:
        """Ask for a path that has no value and return the promise; raises ``NotAnswered``."""
        body = self.surely(self.request(name, fragment), "promise").packet.body
        if not isinstance(body, Promise):
            raise NotAnswered(f"a value, and no promise, answers the request for {name}")
        return body

    def fetched(self, name: str, fragment: int = 1) -> ScryResponse:
        """Ask for a path that has a value and return the response; raises ``NotAnswered``."""
        body = self.surely(self.request(name, fragment), "response").packet.body
        if not isinstance(body, ScryResponse):
            raise NotAnswered(f"a promise, and no value, answers the request for {name}")
        return body

    # --- heartbeats ---------------------------------------------------------------------------------------

    def beat(self, session: int | None = None, *, number: int | None = None) -> HeartbeatResponse | None:
        """Send heartbeats until one is answered, and return the answer; ``None`` when none is.

        Each has the next number, as one that is repeated could be passed over; or all have ``number``, where a nack is
        what is wanted.
        """
        id = self.id if session is None else session
        sent: list[int] = []

        def say() -> None:
            if number is None:
                self.number += 1
                self.renew()
            sent.append(self.number if number is None else number)
            self.send(HeartbeatRequest(id, sent[-1]))

        answer = self.ask(
            say,
            lambda event: (
                isinstance(body := event.packet.body, HeartbeatResponse) and body.session == id and body.number in sent
            ),
            thing="an answer to a heartbeat",
        )
        if answer is None:
            return None
        assert isinstance(answer.packet.body, HeartbeatResponse)
        return answer.packet.body

    def heartbeat(self, session: int | None = None, *, number: int | None = None) -> HeartbeatResponse:
        """As ``beat``; raises ``NotAnswered`` when no heartbeat is answered."""
        answer = self.beat(session, number=number)
        if answer is None:
            raise NotAnswered(f"no heartbeat is answered on link {self.link.label}")
        return answer

    def send_beat(self, number: int | None = None) -> int:
        """Send one heartbeat, with the next number or another, and return its number."""
        sent = self.number + 1 if number is None else number
        if sent > self.number:
            self.number = sent
            self.renew()
        self.send(HeartbeatRequest(self.id, sent))
        return sent

    def renew(self) -> None:
        """Take note that the lease begins anew, if it cannot be over."""
        now = self.trace.now()
        if (now - self.renewed) * self.timing.tempo < IN_TIME:
            self.renewed = now

    def beat_on(self) -> None:
        """Send the next heartbeat and go on: as often, each time with another number, that it is not lost."""
        for _ in range(self.copies):
            self.send_beat()

    def keep_alive(self, seconds: float, *, every: float = BEAT) -> None:
        """Read for so many seconds of the protocol, and send a heartbeat before each ``every`` of them."""
        for _ in range(round(seconds / every)):
            self.beat_on()
            self.pause(every)

    def settle(self) -> None:
        """Read until all that was sent is taken, and what it has brought is here; raises ``NotAnswered``."""
        # What is asked behind it is answered behind it, or nearly so: datagrams have no order.
        self.heartbeat(unknown_session(), number=1)
        self.read(self.timing.glance)

    @property
    def id(self) -> int:
        """The id of its session, where it has one."""
        assert self.session is not None, "nothing was promised to this subscriber"
        return self.session

    # --- the end of an interest -------------------------------------------------------------------------------

    def cancellation_of(self, name: str, fragment: int = 1, signer: Ship | None = None) -> Cancellation:
        """Return a cancellation, signed by the tester's ship or by another."""
        path = self.path(name)
        return Cancellation(path, fragment, self.sign(cancellation_input(path, fragment), signer))

    def cancel(self, name: str, fragment: int = 1) -> None:
        """Say that a path is of no interest any more, or has come; often enough that it is not lost."""
        self.say(self.cancellation_of(name, fragment))

    def say(self, body: Body) -> None:
        """Send what nobody answers, often enough that it is not lost."""
        for _ in range(self.copies):
            self.send(body)

    # --- what comes unasked -----------------------------------------------------------------------------------

    def notified(self, name: str, fragment: int = 1, *, since: int = 0, seconds: float | None = None) -> Event | None:
        """Read until a notification comes, and return it; ``None`` when none does within patience, or some seconds."""
        path = self.path(name)
        return self.wait_for(lambda event: is_about(event, path, fragment, ScryResponse), since=since, seconds=seconds)

    def notifications(self, name: str, fragment: int = 1, *, since: int = 0) -> list[Event]:
        """Return the notifications of a path that have come since a place."""
        path = self.path(name)
        return [event for event in self.received(since=since) if is_about(event, path, fragment, ScryResponse)]


def is_about(event: Event, path: bytes, fragment: int, *forms: type) -> bool:
    """Tell whether a packet is of one of some kinds, and about a fragment of a path."""
    body = event.packet.body
    return (
        isinstance(body, Promise | ScryResponse | ScryRequest | Cancellation)
        and event.form in forms
        and body.path == path
        and body.fragment == fragment
    )


_FIRST_ID = random.Random("sessions that nobody has opened").getrandbits(64)
_ids = itertools.count(_FIRST_ID)


def unknown_session() -> int:
    """Return an id that no publisher has given to a session, as far as chance goes; another one each time."""
    return next(_ids) * 0x9E3779B97F4A7C15 % 2**64


def count_sessions_anew() -> None:
    """Have ``unknown_session`` return what it has returned before, to whoever is new as well."""
    global _ids
    _ids = itertools.count(_FIRST_ID)
