"""Monitors of zenoh-declarations, "DECLARE Message (0x1E)" up to "Declaration Sub-Message IDs"."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor, received
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event
from wire.zenoh.extensions import NODE_ID, QOS, TIMESTAMP, WIRE_EXPR, Known
from wire.zenoh.messages import Declare, Interest, Mode

EXPRESSION_FLAGS = 0x03
"""The bits of a WireExpr extension's first byte that mean something."""


def intruder(conversation: Conversation, event: Event) -> bool:
    """Tell whether something that begins no network message stands right behind a received message."""
    behind = [refusal for refusal in conversation.refusals if refusal.entry == event.entry]
    same = [each for each in conversation.events if each.entry == event.entry]
    return bool(behind) and same[-1] is event and ".messages[" not in behind[0].error.path


def declares(conversation: Conversation) -> Iterator[tuple[Event, Declare]]:
    """Return the DECLAREs of the implementation."""
    for event in received(conversation):
        if isinstance(event.message, Declare):
            yield event, event.message


@monitor("ZD-002")
def one_declaration_each(conversation: Conversation) -> Iterator[Finding]:
    """What follows the one declaration of a DECLARE is another message or nothing."""
    for event, _ in declares(conversation):
        alien = intruder(conversation, event)
        yield (broken(event.entry, "something that is no message follows a DECLARE") if alien else kept(event.entry))


@monitor("ZD-006")
def answers_to_interests(conversation: Conversation) -> Iterator[Finding]:
    """A DECLARE with I set names an INTEREST that was sent."""
    asked: dict[int, Mode] = {}
    for event in conversation.events:
        match event.direction, event.message:
            case Direction.SENT, Interest() as interest:
                asked[interest.id] = interest.mode
            case Direction.RECEIVED, Declare(interest_id=int() as id):
                if id not in asked:
                    yield broken(event.entry, "a DECLARE answers an interest that was never sent")
                elif asked[id] is not Mode.FUTURE:  # what may come for a Future interest is other rules' business
                    yield kept(event.entry)
            case _:
                pass


def reserved_bits(message: Declare) -> int:
    """Return the bits of a DECLARE that are marked X and set."""
    body = message.body
    flags = [
        each.value[0] & ~EXPRESSION_FLAGS
        for each in body.extensions
        if each.is_(WIRE_EXPR) and isinstance(each.value, bytes) and each.value
    ]
    return message.reserved | int(getattr(body, "reserved", 0)) | (flags[0] if flags else 0)


@monitor("ZD-011")
def reserved_bits_are_clear(conversation: Conversation) -> Iterator[Finding]:
    """The bits marked X are 0, unless the implementation takes them for free to be anything."""
    for event, message in declares(conversation):
        yield follows(event.entry, "R17", "C") if reserved_bits(message) else kept(event.entry)


def extension(conversation: Conversation, known: Known) -> Iterator[Finding]:
    """Judge the type and the M mark of one extension in every DECLARE of the implementation."""
    for event, message in declares(conversation):
        for each in message.extensions:
            if each.id == known.id:
                right = each.is_(known)
                yield (kept(event.entry) if right else broken(event.entry, f"{known.name} of another type or mark"))


@monitor("ZD-012")
def qos_of_declares(conversation: Conversation) -> Iterator[Finding]:
    """Extension 1 of a DECLARE is a Z64 and not mandatory."""
    yield from extension(conversation, QOS)


@monitor("ZD-013")
def timestamp_of_declares(conversation: Conversation) -> Iterator[Finding]:
    """Extension 2 of a DECLARE is a ZBuf and not mandatory."""
    yield from extension(conversation, TIMESTAMP)


@monitor("ZD-014")
def node_id_of_declares(conversation: Conversation) -> Iterator[Finding]:
    """Extension 3 of a DECLARE is a Z64 and mandatory."""
    yield from extension(conversation, NODE_ID)
