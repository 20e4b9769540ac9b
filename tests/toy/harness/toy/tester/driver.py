"""The driver: the tester's side of one connection, in the protocol's own verbs.

A verb sends a request and waits for its answer; its half ``send_…`` waits for nothing, for cases that want several on
their way at once. What the server does is never an error here, but for ``NotAnswered``: cases say what is right.
"""

import itertools

from harness.errors import NotAnswered
from harness.exchange import Exchange
from harness.links.link import Link
from harness.timing import Timing
from harness.toy.tester.conversation import Conversation
from harness.toy.tester.events import understood
from wire.toy.values import Load, Message, Save, Value, write


class Driver:
    """One connection to the server under test; ``timing`` says how long it waits for what.

    Plays share a server: ``namespace`` is put before the keys of one, so that they do not meet those of another.
    """

    def __init__(self, link: Link, *, namespace: str = "", timing: Timing | None = None) -> None:
        self.namespace = namespace
        self.timing = timing or Timing()
        self.conversation = Conversation(link.label)
        # Sends and reads until a deadline. It decodes each frame once, and tells the conversation of both directions.
        self.exchange = Exchange(link, self.conversation, understood)
        self._tickets = itertools.count(1)

    # --- verbs --------------------------------------------------------------------------------------------

    def save(self, key: str, value: bytes) -> bytes | None:
        """Store a value and return what the answer holds; ``NotAnswered`` when there is none."""
        return self._answered(self.send_save(key, value))

    def load(self, key: str) -> bytes | None:
        """Return what is stored, ``None`` if nothing; ``NotAnswered`` when there is no answer."""
        return self._answered(self.send_load(key))

    def send_save(self, key: str, value: bytes) -> int:
        """Send a SAVE, wait for nothing, and return its ticket."""
        return self._send(Save(next(self._tickets), self.namespace + key, value))

    def send_load(self, key: str) -> int:
        """Send a LOAD, wait for nothing, and return its ticket."""
        return self._send(Load(next(self._tickets), self.namespace + key))

    def answers(self, *tickets: int) -> list[Value]:
        """Return the answers that come until each of these tickets has one, or patience ends."""
        before = len(self.conversation.answers)

        def came() -> list[Value]:
            return self.conversation.answers[before:]

        def are_answered() -> bool:
            return {*tickets} <= {each.ticket for each in came()}

        began = self.exchange.now()
        self.exchange.read_until(are_answered, began + self.timing.patience)
        if are_answered():
            self.timing.took(self.exchange.now() - began)  # who is far away is waited for longer
        return came()  # also those under tickets that nobody asked about: a case may want to see them

    def close(self) -> None:
        """End the connection."""
        self.exchange.close()

    # --- what verbs are made of ---------------------------------------------------------------------------

    def _send(self, message: Message) -> int:
        self.exchange.send(write(message))
        return message.ticket

    def _answered(self, ticket: int) -> bytes | None:
        for answer in self.answers(ticket):
            if answer.ticket == ticket:
                return answer.value
        raise NotAnswered(f"on link {self.conversation.link}: ticket {ticket} is not answered")
