"""Sessions of a test with a Pathfinder server, as moves need them."""

import re
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress

from fuzz.net.moves import EndVerb, Level
from fuzz.pathfinder.messages import HERE
from fuzz.pathfinder.sending import FrameSender
from harness.errors import HarnessError
from harness.links.framing import Framing
from harness.pathfinder.tester.driver import Driver, encode_message
from harness.pathfinder.tester.events import Event
from harness.pathfinder.tester.transactions import Transaction
from harness.trace import Direction
from wire.pathfinder.values import Message

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""

_TA = re.compile(rb'("ta-id"\s*:\s*)%d(?=\s*[,}])' % HERE)
_CLIENT = re.compile(rb'("ta-cmd"\s*:\s*"hello".*"client-id"\s*:\s*)%d(?=\s*[,}])' % HERE, re.DOTALL)


def without_ta(message: Message) -> bytes:
    """Return a message as one that is said in its turn, whatever its transaction identifier is."""
    return encode_message({**message, "ta-id": HERE})


class PathfinderSession:
    """A session of a test with a Pathfinder server."""

    def __init__(self, driver: Driver, framing: Framing) -> None:
        self.driver = driver
        self._sender = FrameSender(driver.exchange, driver.conversation, framing)
        self._place = 0
        self._told_end = False
        self._asked: Transaction | None = None
        self._requests: dict[int | None, Event] = {}
        self._greeted = False
        self._subscriptions = 0
        self._published: set[object] = set()
        self._told: set[object] = set()

    @property
    def is_over(self) -> bool:
        return bool(self.driver.ended)

    # --- what is said ---------------------------------------------------------------------------------------

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        # Who does not take what is sent is looked at by the service: here it is no matter.
        with suppress(HarnessError):
            for each in data:
                if level == "raw":
                    self._sender.raw(each, cut)
                else:
                    self._sender.frame(self._in_its_turn(each) if level == "message" else each, cut)

    def _in_its_turn(self, message: bytes) -> bytes:
        """Return a message with a transaction identifier that is free, unless it has one of its own."""
        if _TA.search(message) is None:
            return message
        number = self.driver.take_ta()
        message = _TA.sub(lambda found: found[1] + b"%d" % number, message, count=1)
        return _CLIENT.sub(lambda found: found[1] + b"%d" % self.driver.client_id, message, count=1)

    # --- what is read ---------------------------------------------------------------------------------------

    def catch_up(self, seconds: float = 0.0) -> None:
        self._read(lambda: False, self.driver.now() + seconds)

    def ask(self) -> None:
        with suppress(HarnessError):
            self._asked = self.driver.begin("ping")

    def listen(self, until: float) -> bool:
        asked = self._asked
        if asked is None or self.is_over:
            return True
        self._read(lambda: asked.is_over, until)
        return asked.is_over or self.is_over

    def _read(self, done: Callable[[], bool], until: float) -> None:
        if not self.is_over:
            self.driver.exchange.read_until(done, until)

    def end(self, verb: EndVerb) -> None:
        with suppress(HarnessError):
            match verb:
                # The protocol has no goodbye: who closes has heard all that it was told.
                case "close":
                    self.ask()
                    self.listen(self.driver.now() + self.driver.timing.glance)
                    self.driver.close()
                case "drop":
                    self.driver.close()
                case "abort":
                    self.driver.abort()

    # --- what has come --------------------------------------------------------------------------------------

    def answers(self) -> Sequence[str]:
        # What was asked is sorted in before its answers are looked at.
        events, said = self.driver.conversation.events, list[str]()
        for event in events[self._place :]:
            if event.direction is Direction.SENT:
                if event.type == "request":
                    self._requests[event.ta] = event
            else:
                said.append(self._answer(event))
        self._place = len(events)
        if self.driver.ended and not self._told_end:
            self._told_end = True
            said.append(f"end: {self.driver.ended}")
        return said

    def _answer(self, event: Event) -> str:
        """Take note of an answer, and return what kind of thing it is."""
        command, type, match, _ = event.form
        request = self._requests.get(event.ta)
        asked = {} if request is None else request.fields
        what = [command, type, match]
        match command, type:
            case "hello", "complete":
                self._greeted = True
            case "publish", "complete":
                self._published.add(_key(asked.get("service-id")))
            case "unpublish", "complete":
                self._published.discard(_key(asked.get("service-id")))
            case "subscribe", "accept":
                self._subscriptions += 1
            case "subscribe", "complete":
                self._subscriptions -= 1
            case "subscribe", "notify":
                service = _key(event.fields.get("service-id"))
                (self._told.discard if match == "disappeared" else self._told.add)(service)
            case _, "fail":
                what.append(str(event.fields.get("fail-reason", ""))[:40])
        if "orphan-since" in event.fields:
            what.append("orphan")
        return " ".join(filter(None, what))

    def state(self) -> Hashable:
        return (
            self._greeted,
            min(self._subscriptions, FEW),
            min(len(self._published), FEW),
            min(len(self._told), FEW),
            bool(self.driver.ended),
        )


def _key(value: object) -> object:
    """Return what an identifier is known by, whatever stands in its place."""
    return value if isinstance(value, int | str | float) else repr(value)
