"""The publishers of a history: what each has, what it was asked, and in which session the node knows it."""

from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.subscriber_values import Fields
from harness.rai.tester.broker import MICROSECONDS
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from harness.rai.users import PROFILE
from wire.rai.values import AUTH, Auth, Message, inbox

WITNESS = "tess"
"""The publisher that never goes: what it publishes shows how far the node has come."""

OWNERS = {
    "LAB.a": "toby",
    "LAB.g.a": "toby",
    "LAB.g.b.c": "toby",
    "LAB.n.a": "toby",
    "LAB.n.b": "toby",
    "LAB.x": "tara",
    "LAB.g.x": "tara",
    "LAB.h.a": "tara",
    "LAB.n.x": "tara",
    "LAB.n.y": "tara",
}
"""The subjects of a history, and the publisher that has each."""

FORGER = "dora"
"""Who proves nothing."""

PATIENCE = 10
"""Seconds for which everybody waits for an answer."""


class Source:
    """A publisher, as the node knows it."""

    def __init__(self, node: NodeUnderTest, user: str) -> None:
        self.node = node
        self.user = user
        self.session: TestPublisher | None = None
        self.old: list[TestPublisher] = []
        """Sessions that were not ended, and are silent."""
        self.is_holding = False
        self.waiting: list[Event] = []
        """What it was asked while it lets requests wait."""
        self._held_at, self._has_waited = 0, False
        self.place = 0
        """Where it was trusted: what was asked before, it passes over."""
        self.values: dict[str, tuple[Fields, str]] = {}
        """The fields of each subject that it has, and how far they can be relied on."""

    @property
    def now(self) -> TestPublisher:
        """Its session."""
        assert self.session is not None
        return self.session

    def hold(self) -> None:
        """Let requests wait."""
        self.is_holding, self._held_at, self._has_waited = True, self.node.source.utc(), False

    def let_wait(self) -> None:
        """Have who has asked wait no more, perhaps: the document has timers for publishers that do not answer."""
        self._has_waited = self.is_holding

    @property
    def is_late(self) -> bool:
        """Whether requests have waited for so long that who asked may wait no more; what was done took its time too."""
        return self._has_waited or self.node.source.utc() - self._held_at > PATIENCE * MICROSECONDS

    def begin(self) -> None:
        """Begin a session, until the node trusts it."""
        greeting = self.node.greeted(self.node.source)
        made = TestPublisher(self.node.source, self.user)
        made.is_serving = False
        self.session = made
        self.waiting = []
        made.hello()
        made.prove(greeting[0], greeting[1].time, greeting[1].cnonce)
        if not self.node.trusts(made):
            raise Mismatch("RAI-087", f"a new session of {self.user} proves itself, and is not answered")
        self.place = self.node.source.conversation.events.index(made.proofs()[-1]) + 1

    def prove_again(self) -> None:
        """Send another auth message, until the node answers that."""
        session, greeting = self.node.greeted(self.node.source)
        place = self.node.source.place
        asked = self.now.prove(session, greeting.time, greeting.cnonce).body
        assert isinstance(asked, Auth)

        def answers(event: Event) -> bool:
            return isinstance(event.body, Auth) and event.body.auth_time == asked.time and self._is_ours(event)

        found = self.node.source.wait_for(answers, since=place, thing="an auth message after the first")
        if found is None:
            raise Mismatch("RAI-087", f"another auth message of {self.user} is not answered", thing="a second auth")
        key = self.now.auth_key(found.message.session, asked.time, asked.cnonce)
        if not is_signed(found.message, key):
            raise Mismatch("RAI-165", f"another auth message of {self.user} is answered with another key")
        self.place = self.node.source.conversation.events.index(found) + 1

    def _is_ours(self, event: Event) -> bool:
        return event.subject == inbox(self.now.session, AUTH)

    def image(self, subject: str) -> dict[str, Any] | None:
        """Return the members of an image of a subject; none where there is no value."""
        if subject not in self.values:
            return None
        fields, status = self.values[subject]
        return {"format": "json", "data": fields} | ({} if status == "ok" else {"status": status})


def is_signed(message: Message, key: bytes) -> bool:
    """Tell whether a message is signed with a key."""
    return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


def unproven(node: NodeUnderTest, user: str, *, greets: bool) -> TestSession:
    """Return a new session of a user that proves nothing; it has said HELLO, or nothing at all."""
    session = node.source_session(user)
    session.answers_auth = session.beats = False
    if greets:
        session.hello()
    return session
