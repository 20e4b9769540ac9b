"""The service of a Rai publisher: who stays is told what changes, and so is who comes anew."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from fuzz.net.targets import ServiceBroken, expecting_answers
from fuzz.rai.messages import DICTIONARY
from harness.errors import HarnessError, NotAnswered
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.links.tcp import TcpLink
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.conversation import is_genuine
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import USERS, text_of
from harness.trace import Trace
from wire import envelope
from wire.rai.values import DICT, SNAP, Dict, DictRequest, Published, Reply, SnapRequest, fields_of, inbox

HELD, HELD_BY_WILDCARD, FRESH = "LAB.a", "LAB.b.x", "LAB.c"
"""What is subscribed by who stays, by another who stays, by a wildcard, and by who comes: tests talk of these too."""

WILDCARD = "LAB.b.>"

VALUES: dict[str, dict[str, Any]] = {
    HELD: {"n": 0},
    HELD_BY_WILDCARD: {"n": 0},
    FRESH: {"n": 0, "price": 17.5, "name": "c"},
    "LAB.b": {"n": 1},
    "LAB.a.b": {"n": 2, "text": "two"},
    "LAB.ab": {},
}
"""What the publisher has, besides what changes."""

PERIOD = 3600
"""Seconds between heartbeats of who stays: a tester has other things to do as well."""

GREETED = 0.02
"""Seconds after which a session is given up that is not answered: a publisher may not be at the broker yet."""

WHO_STAYS, WHO_LISTENS, WHO_COMES = "tess", "toby", "toby"
"""Users of whom tests have sessions too: who takes one session for another of its user does harm."""


class _Awaited(NamedTuple):
    """Something that a publisher has to say, and what is wrong where it does not."""

    has_come: Callable[[], bool]
    kind: str
    otherwise: str


class RaiService:
    """Subscriptions, images and updates, between sessions that do nothing wrong."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance = instance
        self.trace = trace
        self.checks = 0
        self._broker: TestBroker | None = None
        self._staying: list[TestSession] = []

    # --- who stays ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        link = self.instance.link(self.trace, Labels().next(), self.trace.transport, 0)
        self._broker = broker = TestBroker(
            link, self.trace, USERS["publisher"], timing=self.instance.timing.of_a_play(), epoch=self.instance.epoch
        )
        # Not all that tests say and are told: who hears that would have to read it.
        for each in (HELD, WILDCARD, FRESH):
            broker.send(envelope.listen(each))
        broker.send(envelope.cancel(">"))
        self.holder, self.listener = self._stays(WHO_STAYS), self._stays(WHO_LISTENS)
        self.instance.command("dictionary", DICTIONARY, text_of({"n": 1, "price": 2}))
        for subject, fields in VALUES.items():
            self.instance.command("set", subject, text_of(fields))
        self.instance.command("warm", "LAB.x", text_of({"n": 0}))
        since = broker.place
        self.listener.start_wild(WILDCARD)
        self.holder.start(HELD, return_="held", ack=True)
        broker.read_until(lambda: self._has(self.holder, "held", "ack", since), broker.now() + broker.timing.patience)
        if not self._has(self.holder, "held", "ack", since):
            raise NotAnswered("a subscription is not acked")

    @property
    def broker(self) -> TestBroker:
        """The link of all of its sessions."""
        assert self._broker is not None
        return self._broker

    def _met(self, user: str, seconds: float) -> TestSession | None:
        """Return a session that is trusted; ``None`` when none is within some seconds.

        The publisher may not be at the broker yet; or it was busy, and takes a greeting for an old one.
        """
        broker = self.broker
        deadline, wait = broker.now() + seconds, GREETED
        while broker.now() < deadline and self.instance.alive():
            # Each time another: who greets twice before it is answered is asked twice to prove itself, and only the
            # last proof counts.
            session = self._session(user)
            broker.send(envelope.listen(inbox(session.session, ">")))
            session.hello(interval=PERIOD)
            session.beats_at = broker.now() + PERIOD / (2 * self.instance.tempo)
            broker.read_until(lambda: bool(session.trusted), min(deadline, broker.now() + wait))  # noqa: B023
            if session.trusted:
                return session
            self._leave(session)
            wait *= 2
        return None

    def _stays(self, user: str) -> TestSession:
        """Return a session that is trusted, and stays."""
        session = self._met(user, self.broker.timing.dialling)
        if session is None:
            raise NotAnswered(f"{self.broker.node} does not prove who it is to {user}")
        self._staying.append(session)
        return session

    def _leave(self, session: TestSession) -> None:
        with suppress(HarnessError):
            session.bye()
            self.broker.sessions.remove(session)
            self.broker.send(envelope.cancel(inbox(session.session, ">")))

    def _session(self, user: str) -> TestSession:
        """Return a session that does not beat by itself within a check."""
        session = TestSession(self.broker, user)
        session.interval, session.beats = PERIOD, False
        return session

    # --- trying it ----------------------------------------------------------------------------------------

    def check(self) -> None:
        self.checks += 1
        with expecting_answers("it cannot be told anything any more"):
            self._check()

    def _check(self) -> None:
        since = self.broker.place
        fresh = self._met(WHO_COMES, self.broker.timing.patience)
        if fresh is None:
            raise ServiceBroken("hang", "nobody's greeting is answered any more")
        try:
            self._try_questions(fresh, since)
            self._try_updates(fresh, since)
        finally:
            self._leave(fresh)

    def _try_questions(self, fresh: TestSession, since: int) -> None:
        """Ask all that can be asked at once, and wait for all of the answers."""
        self._hold(True)
        fresh.start(FRESH, return_="started", initial=True, ack=True)
        fresh.snapshot_request(HELD, "snapshot")
        self.holder.say(SNAP + HELD, SnapRequest(return_="snapshot"))
        fresh.say(inbox(self.broker.node_session, DICT), DictRequest(dictionary=DICTIONARY, return_="dictionary"))
        self._hold(False)

        def answered(session: TestSession, returned: str, what: str) -> Callable[[], bool]:
            return lambda: self._has(session, returned, what, since)

        self._expect(
            (
                _Awaited(answered(fresh, "started", "ack"), "service", "a subscription is not acked"),
                _Awaited(answered(fresh, "started", "data"), "service", "a subscription has no image"),
                _Awaited(answered(fresh, "snapshot", "data"), "service", "nobody gets a snapshot any more"),
                _Awaited(answered(self.holder, "snapshot", "data"), "harm", "who did nothing wrong gets no answers"),
                _Awaited(answered(fresh, "dictionary", "dictionary"), "service", "nobody gets the dictionary"),
            )
        )

    def _try_updates(self, fresh: TestSession, since: int) -> None:
        """Have the source say something of each subject, and see that it is told, and that a subscription ends."""
        fields = {"n": self.checks}
        for subject in (HELD, HELD_BY_WILDCARD, FRESH):
            self.instance.command("set", subject, text_of(fields))
        fresh.stop(FRESH, return_="stopped", ack=True)
        told = "is not told any more what changes"
        self._expect(
            (
                _Awaited(lambda: self._is_told(FRESH, since), "service", "who has subscribed is not told what changes"),
                _Awaited(lambda: self._is_told(HELD, since), "harm", f"who had subscribed before {told}"),
                _Awaited(lambda: self._is_told(HELD_BY_WILDCARD, since), "harm", f"who had a wildcard {told}"),
                _Awaited(
                    lambda: self._has(fresh, "stopped", "ack", since),
                    "service",
                    "the end of a subscription has no ack",
                ),
            )
        )

    def _hold(self, is_held: bool) -> None:
        """Have what is said go out together."""
        if isinstance(self.broker.link, TcpLink):
            self.broker.link.hold(is_held)

    # --- what has come --------------------------------------------------------------------------------------

    def _expect(self, awaited: Sequence[_Awaited]) -> None:
        """Read until all has come that is awaited, in the order in which it was asked for, or patience is over.

        Once the last has come, the others are due as well, and are waited for a window longer.
        """
        broker, last = self.broker, awaited[-1].has_come

        def all_have_come() -> bool:
            return all(each.has_come() for each in awaited)

        broker.read_until(lambda: last() or all_have_come(), broker.now() + broker.timing.patience)
        if last():
            broker.read_until(all_have_come, broker.now() + min(broker.timing.window, broker.timing.patience))
        for each in awaited:
            if not each.has_come():
                raise ServiceBroken(each.kind, each.otherwise)

    def _has(self, session: TestSession, returned: str, what: str, since: int) -> bool:
        """Tell whether a session was answered something under a return: an ack, data, or a dictionary."""
        subject = inbox(session.session, returned)
        for event in self._heard(since):
            body = event.body
            if event.subject != subject:
                continue
            if what == "dictionary":
                if isinstance(body, Dict):
                    return True
            elif isinstance(body, Reply) and (body.state == "ack") == (what == "ack") and self._is_as_it_is(body, what):
                return True
        return False

    def _is_as_it_is(self, body: Reply, what: str) -> bool:
        """Tell whether an answer has the data that the source has said last."""
        if what == "ack":
            return True
        return body.subject in VALUES and (fields_of(body.data) or {}).keys() >= {"n"}

    def _is_told(self, subject: str, since: int) -> bool:
        return any(
            isinstance(event.body, Published)
            and event.subject == subject
            and bytes((fields_of(event.body.data) or {}).get("n", b"")) == str(self.checks).encode()
            and is_genuine(event.message)
            for event in self._heard(since)
        )

    def _heard(self, since: int) -> Sequence[Event]:
        return self.broker.received(since=since)

    # --- the end ------------------------------------------------------------------------------------------

    def end(self) -> None:
        if self._broker is None:
            return
        with suppress(HarnessError):
            for session in self._staying:
                session.bye()
        self.broker.close()
