"""Monitors of zenoh-declarations, "D_SUBSCRIBER (0x02)" and "U_SUBSCRIBER (0x03)": the ids of entities."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.trace import Direction
from harness.zenoh.conversation import Conversation
from wire.zenoh.messages import Declare, DeclareEntity, Interest, Kind, Mode, UndeclareEntity


@monitor("ZD-049")
def one_id_for_one_live_subscriber(conversation: Conversation) -> Iterator[Finding]:
    """No subs_id is given to a key while it still belongs to a subscriber on another."""
    live: dict[int, str | None] = {}
    modes: dict[int | None, Mode] = {}
    for event in conversation.events:
        match event.direction, event.message:
            case Direction.SENT, Interest(id=interest, mode=mode):
                modes[interest] = mode
            case Direction.RECEIVED, Declare(body=DeclareEntity(kind=Kind.SUBSCRIBER, id=number)):
                if live.get(number, event.key) == event.key:
                    yield kept(event.entry)
                else:
                    unnumbered = number == 0 and modes.get(event.interest_id) is Mode.CURRENT
                    yield follows(event.entry, "R16", "D" if unnumbered else "C")
                live[number] = event.key
            case Direction.RECEIVED, Declare(body=UndeclareEntity(kind=Kind.SUBSCRIBER, id=number)):
                live.pop(number, None)
            case _:
                pass


@monitor("ZD-052")
def subscribers_are_undeclared_by_their_id(conversation: Conversation) -> Iterator[Finding]:
    """Each U_SUBSCRIBER has the subs_id of a subscriber that was declared and not undeclared since."""
    live: set[int] = set()
    for event in received(conversation):
        match event.body:
            case DeclareEntity(kind=Kind.SUBSCRIBER, id=number):
                live.add(number)
            case UndeclareEntity(kind=Kind.SUBSCRIBER, id=number):
                if number in live:
                    yield kept(event.entry)
                else:
                    yield broken(event.entry, "U_SUBSCRIBER with a subs_id that no declared subscriber has")
                live.discard(number)
