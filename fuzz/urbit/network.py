"""Urbit's target: publishers, which the tester asks."""

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress

from fuzz.net.moves import EndVerb, Level
from fuzz.net.targets import FuzzTarget, ServiceProbe
from fuzz.urbit import messages
from fuzz.urbit.common_ground import CommonGround, ground_of
from fuzz.urbit.messages import ROOT
from fuzz.urbit.service import UrbitService
from fuzz.urbit.spelling import KnownSessions, spelt, unspelt
from fuzz.urbit.subscribers import UrbitSubscriberTarget
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.trace import Direction, Trace
from harness.urbit.framings import LAYOUT
from harness.urbit.tester.conversation import Conversation
from harness.urbit.tester.events import Event, RefusedPacket
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session
from wire.urbit.values import (
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    with_checksum,
)

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""

AT_ONCE = 0.05
"""Seconds in which a publisher answers that does: whoever means the session that a request begins hears it first."""

PROMPT = 0.01
"""Seconds in which what was said is acted on, before the application is told something: the two have no order."""


class UrbitPublisherNode:
    """A publisher in one test: who speaks to it, under paths of this test."""

    def __init__(self, instance: Instance, trace: Trace, ground: CommonGround) -> None:
        self.instance, self.ground = instance, ground
        self.root = ground.root
        self.ships = NodeUnderTest(instance, trace, profile="document", namespace="", transport=trace.transport)
        self.sessions: list[UrbitSession] = []
        self.known: dict[Ship, KnownSessions] = {}
        self.speaking: UrbitSession | None = None
        """Whoever has said something since somebody was last known to be answered."""

    @property
    def conversations(self) -> Iterator[Conversation]:
        """The conversations of all addresses."""
        return self.ships.conversations

    def subscriber(self, how: str) -> TestSubscriber:
        """Return a subscriber of one of the ways in which sessions are opened."""
        ships, first = self.ships, next((each for each in self.sessions if not each.is_over), None)
        match how:
            case "galaxy":
                return ships.galaxy()
            case "moon" | "comet":
                return ships.subscriber(self.ground.stranger(how))
            case "alike":
                return ships.subscriber(self.ground.alike())
            case "child":
                return ships.subscriber(self.ground.child())
            case "moved" if first is not None:
                return ships.elsewhere(first.driver)
            case "neighbour" if first is not None:
                return ships.neighbour(first.driver)
            case _:
                return ships.subscriber()

    def command(self, verb: str, *arguments: str) -> None:
        """Have the publisher's application do something, after what was said before."""
        if self.speaking is not None and not self.speaking.is_over:
            self.speaking.ask()
            self.speaking.listen(self.instance.clock.now() + PROMPT)
        said = [each.replace(ROOT.decode(), self.root.decode(), 1) for each in arguments]
        self.instance.command(verb, *said)

    def close(self) -> None:
        """End all links."""
        self.ships.close()


class UrbitSession:
    """A ship at an address, in a test with a publisher; what it knows of its sessions it knows at all addresses."""

    def __init__(self, node: UrbitPublisherNode, driver: TestSubscriber) -> None:
        self.node, self.driver = node, driver
        self.known = node.known.setdefault(driver.me, KnownSessions())
        self._place = self._seen = driver.place
        self._refusals = len(driver.conversation.refusals)
        self._has_ended = self._told_end = False
        self._asked: dict[int, int] = {}
        """Ids under which something was asked that is answered by a nack, and where the conversation stood then."""
        self._is_unanswered = False
        """Whether a request was sent, and nothing was heard since."""
        self._promised: set[tuple[bytes, int]] = set()
        self._told: set[tuple[bytes, int]] = set()

    @property
    def is_over(self) -> bool:
        return self._has_ended or bool(self.driver.exchange.ended)

    # --- saying things --------------------------------------------------------------------------------------

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        if self.is_over:
            return
        self.node.speaking = self
        for each in data:
            said = self._spelt(each) if level == "message" else each
            if cut and level == "message":
                # A datagram is not said in pieces: so one is said without its last bytes.
                said = with_checksum(said[:-cut])
            # What no datagram can hold is not said.
            with suppress(HarnessError):
                self.driver.send_bytes(said)
        self._note()

    def _spelt(self, data: bytes) -> bytes:
        return spelt(data, self.node.root, self.driver.me, self.known, self._session_meant)

    def _session_meant(self, placeholder: int) -> int | None:
        """Return the id of the session that a placeholder stands for; ``None`` where there is none, or it is an id."""
        match placeholder:
            case messages.MINE:
                return self._own_session()
            case messages.LAST:
                return self.known.last
            case messages.OTHERS:
                return self._session_of_another()
            case _:
                return None

    def _own_session(self) -> int | None:
        self._note()
        if self.known.id is None and self._is_unanswered:
            seconds = self.node.instance.timing.stretched(AT_ONCE)
            self.driver.wait_for(lambda event: True, since=self._seen, seconds=seconds)
            self._note()
            self._is_unanswered = False
        return self.known.id

    def _session_of_another(self) -> int | None:
        ids = (each.known.id for each in self.node.sessions if each.known is not self.known)
        return next((id for id in ids if id is not None), None)

    # --- hearing things -------------------------------------------------------------------------------------

    def catch_up(self, seconds: float = 0.0) -> None:
        exchange = self.driver.exchange
        exchange.read_until(lambda: False, exchange.now() + seconds)
        self._note()

    def ask(self) -> None:
        if self.is_over:
            return
        # Of a session that there is not: whatever was said before is acted on when that is answered.
        id = unknown_session()
        self._asked[id] = self.driver.place
        with suppress(HarnessError):
            self.driver.send(HeartbeatRequest(id, 1))

    def listen(self, until: float) -> bool:
        if self.is_over or not self._asked:
            return True
        asked, since = next(reversed(self._asked.items()))
        answer = self.driver.wait_for(
            lambda event: isinstance(body := event.packet.body, HeartbeatResponse) and body.session == asked,
            since=since,
            seconds=max(0.0, until - self.driver.now()),
        )
        self._note()
        if answer is not None and self.node.speaking is self:
            self.node.speaking = None
        return answer is not None or self.is_over

    def _note(self) -> None:
        """Take note of what was said, as far as it changes what is between the two sides."""
        for event in self._new(self._seen):
            body = event.packet.body
            is_heard = event.direction is Direction.RECEIVED and event.packet.receiver == self.driver.me
            self._is_unanswered = not is_heard and (self._is_unanswered or isinstance(body, ScryRequest))
            match body:
                case Promise(session=id) if is_heard:
                    self.known.promised(id)
                    self._promised.add((body.path, body.fragment))
                case ScryResponse() if is_heard:
                    self._promised.discard((body.path, body.fragment))
                    self._told.add((body.path, body.fragment))
                case Cancellation():
                    self._promised.discard((body.path, body.fragment))
                    self._told.discard((body.path, body.fragment))
        self._seen = self.driver.place

    def _new(self, since: int) -> Iterator[Event]:
        """Return the packets since a place that this ship has sent or was sent: another may be at its address."""
        for event in self.driver.conversation.events[since:]:
            ship = event.packet.receiver if event.direction is Direction.RECEIVED else event.packet.sender
            if not self.driver.has_company or ship == self.driver.me:
                yield event

    def answers(self) -> Sequence[str]:
        said = list[str]()
        for event in self._new(self._place):
            if event.direction is Direction.RECEIVED:
                said += self._answer(event)
        self._place = self.driver.place
        refusals = self.driver.conversation.refusals
        if any(each.direction is Direction.RECEIVED for each in refusals[self._refusals :]):
            said.append(RefusedPacket.__name__)
        self._refusals = len(refusals)
        if self.driver.exchange.ended and not self._told_end:
            self._told_end = True
            said.append(f"end: {self.driver.exchange.ended}")
        return said

    def _answer(self, event: Event) -> Iterator[str]:
        match event.packet.body:
            case HeartbeatResponse(session=session) if session in self._asked:
                pass
            case HeartbeatResponse(live=live):
                yield "heartbeat" if live else "nack"
            case ScryResponse(total=total, data=data):
                yield f"value of {min(total, FEW)}{'' if data else ', empty'}"
            case _:
                yield event.form.__name__

    def state(self) -> Hashable:
        known = self.known
        return (
            min(len(self._promised), FEW),
            min(len(self._told), FEW),
            known.id is not None,
            known.last is not None,
            # That numbers are high says more than what they are; so does that there is any.
            min(math.ceil(known.number.bit_length() / 4), FEW),
            # Who speaks from two addresses has left one.
            sum(each.known is known for each in self.node.sessions) > 1,
            self.is_over,
        )

    # --- the end --------------------------------------------------------------------------------------------

    def end(self, verb: EndVerb) -> None:
        if self.is_over:
            return
        with suppress(HarnessError):
            if verb == "close":
                # Nobody says goodbye here: whoever wants nothing any more says so of each thing.
                for path, fragment in sorted(self._promised | self._told):
                    self.driver.send(self._cancellation(path, fragment))
            if not self.driver.has_company:
                self.driver.close()
        self._has_ended = True

    def _cancellation(self, path: bytes, fragment: int) -> Cancellation:
        name = path.removeprefix(self.driver.namespace).decode("latin-1")
        return self.driver.cancellation_of(name, fragment)


class UrbitPublisherTarget:
    """An Urbit publisher, whom any ship asks from any address."""

    layout = LAYOUT
    ways = ("planet", "galaxy", "moon", "comet", "moved", "moved", "neighbour", "alike", "child")
    message = staticmethod(messages.message)
    text = staticmethod(messages.text)
    frame = staticmethod(messages.frame)
    series = staticmethod(messages.series)
    command = staticmethod(messages.command)
    keeps = ("grow",)  # what was said under a name is said under it for ever

    def node(self, instance: Instance, trace: Trace) -> UrbitPublisherNode:
        return UrbitPublisherNode(instance, trace, ground_of(instance))

    def session(self, node: UrbitPublisherNode, how: str) -> UrbitSession:
        session = UrbitSession(node, node.subscriber(how))
        node.sessions.append(session)
        return session

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        return unspelt(frame)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return UrbitService(instance, trace, ground_of(instance))


TARGETS: dict[str, FuzzTarget] = {"publisher": UrbitPublisherTarget(), "subscriber": UrbitSubscriberTarget()}
