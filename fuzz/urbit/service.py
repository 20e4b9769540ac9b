"""The service of an Urbit publisher: what is asked for is promised, told when it is there, and heartbeats count."""

from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

from fuzz.net.targets import ServiceBroken, expect, expecting_answers
from fuzz.urbit.common_ground import CommonGround
from fuzz.urbit.messages import HELD
from harness.errors import ControlFailed, HarnessError, NotAnswered, Unsupported
from harness.iuts.instance import Instance
from harness.trace import Trace
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.peers.times import LEASE
from harness.urbit.tester.conversation import is_genuine
from harness.urbit.tester.driver import TRIES
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, is_about
from wire.urbit.signatures import request_input
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Promise, ScryRequest, ScryResponse

FRESH, LARGE = "/fresh", "/large"
"""Paths of the service alone: one that grows in each check, and one of two fragments that is there."""

REST = "the rest"
"""What stands in the second fragment of the latter."""

HELD_PATH = f"/{HELD}"


class StayingSubscriber:
    """A subscriber that stays and does nothing wrong; ``renewed`` is when its lease surely began anew last."""

    def __init__(self, asking: TestSubscriber) -> None:
        self.asking = asking
        self.renewed = 0.0
        self.held = b""
        """The path that it is promised."""
        self.since = 0
        """Where that promise stands in its conversation."""
        self.place = 0
        """Where its conversation stood when it was tried last."""
        self._sent: dict[int, float] = {}

    def now(self) -> float:
        """Return the time in seconds of the trace."""
        return self.asking.trace.now()

    def may_be_dead(self, time: float) -> bool:
        """Tell whether the minute of its last heartbeat may have been over."""
        return time >= self.renewed + LEASE / self.asking.timing.tempo

    def hold(self, root: bytes, *, may_be_there: bool = False) -> None:
        """Ask for the path that is held until it is promised, or told if it may be there; raises ``NotAnswered``."""
        self.asking.namespace, before, said = root, self.asking.session, self.now()
        self.held, self.since = self.asking.path(HELD_PATH), self.asking.place
        if may_be_there:
            self.asking.surely(self.asking.request(HELD_PATH), "promise, nor a value,")
        else:
            self.asking.promised(HELD_PATH)
        if self.asking.session != before:
            self._sent, self.renewed = {}, said

    def begin(self) -> None:
        """Send the first heartbeat of a check; answers to those before it count no more."""
        self.place = self.asking.place
        self._sent.clear()
        self.beat()

    def beat(self) -> None:
        """Send a heartbeat."""
        self.asking.number += 1
        self._sent[self.asking.number] = self.now()
        self.asking.send(HeartbeatRequest(self.asking.id, self.asking.number))

    def answers_beat(self, event: Event) -> bool:
        """Tell whether a packet answers one of its heartbeats."""
        body = event.packet.body
        return isinstance(body, HeartbeatResponse) and body.session == self.asking.session and body.number in self._sent

    def lives(self, answer: Event) -> bool:
        """Tell whether its session is said to live."""
        body = answer.packet.body
        assert isinstance(body, HeartbeatResponse)
        if body.live:
            self.renewed = max(self.renewed, self._sent[body.number])
        return body.live


class UrbitService:
    """Promises and what becomes of them, between subscribers that do nothing wrong.

    Two stay, and are promised what the next test may talk of. A publisher that takes no control lines can be asked
    for promises alone.
    """

    def __init__(self, instance: Instance, trace: Trace, ground: CommonGround) -> None:
        self.ground = ground
        self.node = NodeUnderTest(instance, trace, profile="document", namespace="", transport=trace.transport)
        self._staying: list[StayingSubscriber] = []
        self._ranks = cycle((self._planet, self._planet, self.node.galaxy, self._moon))
        self._grows = True
        self._large = b""

    # --- who stays ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.ground.advance()
        self._large = self.ground.root + LARGE.encode()
        self._grow(self._large, "x" * FRAGMENT + REST)
        for asking in (self._planet(), self.node.galaxy()):
            staying = StayingSubscriber(asking)
            staying.hold(self.ground.root)
            self._staying.append(staying)
        self.ground.staying = [each.asking.me for each in self._staying]

    def _planet(self) -> TestSubscriber:
        return self.node.subscriber()

    def _moon(self) -> TestSubscriber:
        return self.node.subscriber(self.ground.stranger("moon"))

    # --- trying it ----------------------------------------------------------------------------------------

    def check(self) -> None:
        with expecting_answers("nobody is at its address any more"):
            fresh = next(self._ranks)()
        try:
            with expecting_answers("a subscriber gets no answers any more"):
                self._check(fresh)
        finally:
            self.node.drivers.remove(fresh)
            with suppress(HarnessError):
                fresh.close()

    def _check(self, fresh: TestSubscriber) -> None:
        fresh.namespace = self.ground.root
        asked, began = fresh.request_for(FRESH), fresh.trace.now()
        rest = ScryRequest(self._large, 2, fresh.sign(request_input(self._large, 2)))
        # All at once; what is lost is said again where it is waited for.
        fresh.send(asked)
        if self._grows:
            fresh.send(rest)
        for staying in self._staying:
            staying.begin()
        promise = self._comes(fresh, lambda: fresh.send(asked), lambda event: is_about(event, asked.path, 1, Promise))
        if promise is None:
            self._nothing_comes(fresh)
        self._try_those_who_stay()
        if self._grows:
            self._try_to_fetch(fresh, rest)
            self._try_to_tell(fresh, asked.path, began)
        self.ground.advance()
        for staying in self._staying:
            staying.hold(self.ground.root)

    def _try_to_fetch(self, fresh: TestSubscriber, request: ScryRequest) -> None:
        """See that a value that is there is sent."""
        sent = self._comes(
            fresh, lambda: fresh.send(request), lambda event: is_about(event, request.path, 2, ScryResponse)
        )
        expect(sent is not None, "service", "a value that is there is not sent any more")
        expect(sent is not None and _is(sent, REST), "service", "a value is not any more what it was")

    def _nothing_comes(self, fresh: TestSubscriber) -> None:
        """Say what is wrong where a request is not promised."""
        # Read now: nobody has looked yet for what came to those who stay.
        if any(each.asking.wait_for(each.answers_beat, since=each.place, seconds=0.0) for each in self._staying):
            raise ServiceBroken("service", "a request for what is not there is not promised any more")
        raise NotAnswered("nothing is answered")

    def _try_those_who_stay(self) -> None:
        """Have the heartbeats of those who stay be answered; whose session may be dead begins anew."""
        for staying in self._staying:
            answer = self._comes(staying.asking, staying.beat, staying.answers_beat, staying.place)
            expect(answer is not None, "harm", "the heartbeats of who did nothing wrong are not answered")
            assert answer is not None
            if not staying.lives(answer):
                may_be = staying.may_be_dead(answer.time)
                expect(may_be, "harm", "the session of somebody who did nothing wrong is dead")
                # The test may have had it grow.
                staying.hold(self.ground.root, may_be_there=True)

    def _try_to_tell(self, fresh: TestSubscriber, path: bytes, began: float) -> None:
        """Have values grow that were promised, and see that they are told; the lease of ``fresh`` ``began`` then."""
        grown = [staying.now() for staying in self._staying]
        self._grow(path, "news")
        self._grow(self.ground.root + HELD_PATH.encode(), "news")
        # On a machine that has no core, a lease is over sooner than what is asked in it.
        may_be_dead = fresh.trace.now() >= began + LEASE / fresh.timing.tempo
        told = self._comes(fresh, lambda: None, lambda event: is_about(event, path, 1, ScryResponse))
        expect(told is not None or may_be_dead, "service", "what was promised is not told when it is there")
        right = told is None or (_is(told, "news") and is_genuine(told.packet))
        expect(bool(right), "service", "what was promised is told wrongly")
        for staying, time in zip(self._staying, grown, strict=True):
            told = self._comes(
                staying.asking,
                lambda: None,
                lambda event: is_about(event, staying.held, 1, ScryResponse),  # noqa: B023
                staying.since,
            )
            expect(
                told is not None or staying.may_be_dead(time),
                "harm",
                "what somebody else was promised, who did nothing wrong, is not told",
            )
            staying.asking.cancel(HELD_PATH)
        fresh.cancel(FRESH)

    # --- what it is made of -------------------------------------------------------------------------------

    def _grow(self, path: bytes, text: str) -> None:
        if not self._grows:
            return
        try:
            self.node.instance.command("grow", path.decode(), text)
        except Unsupported:
            self._grows = False
        except ControlFailed:
            pass  # the test was earlier: then it is told as well

    def _comes(
        self,
        asking: TestSubscriber,
        say: Callable[[], object],
        wanted: Callable[[Event], bool],
        since: int = 0,
    ) -> Event | None:
        """Read until something comes that was asked for, and ask again while it does not: datagrams get lost."""
        for number in range(TRIES):
            if number:
                say()
            event = asking.wait_for(wanted, since=since, seconds=asking.patience / TRIES)
            if event is not None:
                return event
        return None

    def end(self) -> None:
        self.node.close()


def _is(event: Event, text: str) -> bool:
    """Tell whether a response holds a text."""
    body = event.packet.body
    return isinstance(body, ScryResponse) and body.data == text.encode()
