"""Sessions of a test with a Zenoh node, as moves need them, whoever has dialled."""

from collections.abc import Hashable, Sequence
from contextlib import suppress

from fuzz.net.moves import EndVerb, Level
from harness.errors import HarnessError
from harness.trace import Direction
from harness.zenoh import batches
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import RefusedBatch
from wire.zenoh.values import Declare, EntityKind
from wire.zenoh.values_transport import Fragment, Frame, write_network

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""


class ZenohSession:
    """A session of a test with a Zenoh node."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._place = 0
        self._refusals = 0
        self._told_end = False
        self._asked: tuple[int, int] | None = None

    @property
    def is_over(self) -> bool:
        return bool(self.driver.ended)

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        driver = self.driver
        # Who does not take what is sent is looked at by the service: here it is no matter.
        with suppress(HarnessError):
            match level:
                case "message" if cut:
                    driver.send_in_fragments(b"".join(data), cut)
                case "message":
                    driver.send_bytes(*data)
                case "frame":
                    for each in data:
                        driver.send_batch(each)
                        numbered = any(isinstance(one, Frame | Fragment) for one in batches.read(each).messages)
                        driver.conversation.is_misnumbered |= numbered
                case "raw":
                    for each in data:
                        for start in range(0, len(each), cut or len(each) or 1):
                            driver.exchange.send_raw(each[start : start + cut] if cut else each)

    def catch_up(self, seconds: float = 0.0) -> None:
        self.driver.read(seconds)

    def ask(self) -> None:
        with suppress(HarnessError):
            self._asked = self.driver.send_barrier()

    def listen(self, until: float) -> bool:
        if self._asked is None or self.is_over:
            return True
        interest, since = self._asked
        with suppress(HarnessError):
            return self.driver.place_of_final(interest, since, until) is not None or self.is_over
        return True

    def end(self, verb: EndVerb) -> None:
        driver = self.driver
        with suppress(HarnessError):
            match verb:
                case "close":
                    driver.close()
                case "drop":
                    driver.drop()
                case "abort":
                    driver.exchange.abort()
                    driver.ended = driver.ended or driver.exchange.ended

    def answers(self) -> Sequence[str]:
        conversation, said = self.driver.conversation, list[str]()
        for event in conversation.events[self._place :]:
            if event.direction is Direction.RECEIVED:
                kind = getattr(event.body, "kind", None)
                told = "" if event.interest_id is None else "+id" if isinstance(event.message, Declare) else ""
                said.append(f"{event.form.__name__}{'' if kind is None else f' {kind.value}'}{told}")
        self._place = len(conversation.events)
        for refusal in conversation.refusals[self._refusals :]:
            if refusal.direction is Direction.RECEIVED:
                said.append(RefusedBatch.__name__)
        self._refusals = len(conversation.refusals)
        if self.driver.ended and not self._told_end:
            self._told_end = True
            said.append(f"end: {self.driver.ended}")
        return said

    def state(self) -> Hashable:
        conversation = self.driver.conversation
        counts = dict.fromkeys(EntityKind, 0)
        told = 0
        for direction, kind, _ in conversation.declared:
            if direction is Direction.SENT:
                counts[kind] += 1
            else:
                told += 1
        return (
            *(min(each, FEW) for each in counts.values()),
            min(told, FEW),
            min(len(conversation.tables[Direction.SENT]), FEW),
            min(len(conversation.tables[Direction.RECEIVED]), FEW),
            bool(self.driver.ended),
        )


def network_messages(frame: bytes) -> Sequence[bytes]:
    """Return the network messages in a batch."""
    said = [message for each in batches.read(frame).messages if isinstance(each, Frame) for message in each.messages]
    return [write_network(message) for message in said]
