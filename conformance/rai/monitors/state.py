"""The state of what is said at a broker, by the tester's sessions and by others.

The monitors read it; the walk has it see each message after they were called (``conformance/monitors.py``).

A broker hands out what anybody publishes, so what is judged on one link may be said by several nodes; each is told by
its session. A recording may begin in the middle: a monitor takes for missing only what must have been heard here.
"""

from collections.abc import Iterator

import msgspec

from conformance.monitors import SessionEnd
from harness.rai.tester.conversation import Conversation, key_of
from harness.rai.tester.events import Event, RefusedMessage
from harness.trace import Direction
from wire.rai.values import (
    SNAP,
    START,
    STOP,
    Auth,
    Body,
    Bye,
    DictRequest,
    GetSubs,
    Hello,
    Message,
    Published,
    Reply,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    owner_of,
)

OF_PUBLISHERS = (Reply, Published, GetSubs)
"""What only publishers say."""

OF_SUBSCRIBERS = (SubStart, SubStop, SnapRequest, Subs, DictRequest)
"""What only subscribers say."""


class Asked(msgspec.Struct, frozen=True):
    """Something that a session wants to be answered: ``what`` is the class of the question."""

    what: type[Body]
    subject: str
    body: Body


class SessionState:
    """What was said on a link to a broker, up to a message."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        said = {event.form for event in conversation.events if event.direction is Direction.RECEIVED}
        self.role = ""
        """Whether the implementation is a ``publisher`` or a ``subscriber``; empty where it is both, or neither."""
        if said.isdisjoint(OF_PUBLISHERS) and not said.isdisjoint(OF_SUBSCRIBERS):
            self.role = "subscriber"
        elif said.isdisjoint(OF_SUBSCRIBERS) and not said.isdisjoint(OF_PUBLISHERS):
            self.role = "publisher"

        self.last: dict[tuple[str, str], Message] = {}
        """The last message of each session under each subject."""
        self.spoke: set[str] = set()
        """Sessions that have said anything."""
        self.ended: set[str] = set()
        """Sessions that have said BYE."""
        self.greetings: dict[str, dict[int, str]] = {}
        """Of each session the times of its HELLO and heartbeats, with the cnonce that came with each."""
        self.proofs: dict[str, dict[int, str]] = {}
        """Of each session the times of its auth messages, with the cnonce of each."""
        self.asked: dict[tuple[str, str], list[Asked]] = {}
        """What each session of the tester's wants to be answered, by the return."""
        self.questions: dict[tuple[str, str], GetSubs] = {}
        """What sessions were asked for their subscriptions, by who asks and the return."""
        self.wildcards: dict[str, set[tuple[str, str, str]]] = {}
        """The wildcards that each session has started: prefix, subject and pattern."""

    def is_keyed(self, session: str) -> bool:
        """Tell whether the key of a session is known: those of a real network are not."""
        return key_of(session) is not None and self.conversation.is_keyed

    def is_heard(self, session: str) -> bool:
        """Tell whether what a session says to those who are judged is heard here, all of it.

        A client of Redis may say what it says over another connection than the one on which it listens.
        """
        return session in self.conversation.ours

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""
        message, body = event.message, event.body
        session = message.session
        self.last[session, message.subject] = message
        self.spoke.add(session)
        match body:
            case Hello():
                self.greetings.setdefault(session, {})[body.time] = body.cnonce
            case Auth():
                self.proofs.setdefault(session, {})[body.time] = body.cnonce
            case Bye():
                self.ended.add(session)
            case SubStart(return_=returned) if returned is not None:
                self._ask(session, str(returned), Asked(SubStart, message.subject.removeprefix(START), body))
            case SubStop(return_=returned) if returned is not None:
                self._ask(session, str(returned), Asked(SubStop, message.subject.removeprefix(STOP), body))
            case SnapRequest(return_=returned) if returned is not None:
                self._ask(session, str(returned), Asked(SnapRequest, message.subject.removeprefix(SNAP), body))
            case DictRequest(return_=returned) if returned is not None:
                self._ask(session, str(returned), Asked(DictRequest, body.dictionary, body))
            case GetSubs():
                self.questions[session, str(body.return_)] = body
            case Subs():
                for subject, returned in zip(body.subs, body.subs_return, strict=False):
                    self._ask(session, str(returned), Asked(Subs, subject, body))

    def _ask(self, session: str, returned: str, asked: Asked) -> None:
        self.asked.setdefault((session, returned), []).append(asked)

    def answered(self, event: Event) -> list[Asked]:
        """Return what a message in an inbox may answer."""
        tail = event.subject.split(".", 3)[-1]
        return self.asked.get((owner_of(event.subject), tail), [])

    def ending(self) -> Iterator[RefusedMessage | SessionEnd]:
        """Yield the payloads that are no messages, and the end of the session."""
        yield from self.conversation.refusals
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)
