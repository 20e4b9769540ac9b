"""Monitors of zenoh-interests, "INTEREST Extensions" to "Relationship to DECLARE/D_FINAL"."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, kept
from conformance.zenoh.monitors.declare import intruder
from conformance.zenoh.monitors.registry import monitor, received
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event
from wire.zenoh.extensions import NODE_ID, QOS, TIMESTAMP, Known
from wire.zenoh.messages import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    Interest,
    InterestFinal,
    Kind,
    Mode,
    Options,
    UndeclareEntity,
    unknown_mandatory,
)

PATIENCE = 5.0
"""Seconds within which a snapshot has to end."""


def extension(conversation: Conversation, known: Known) -> Iterator[Finding]:
    """Judge the type and the M mark of one extension in every INTEREST of the implementation."""
    for event in received(conversation):
        if isinstance(event.message, Interest | InterestFinal):
            for each in event.message.extensions:
                if each.id == known.id:
                    right = each.is_(known)
                    yield (kept(event.entry) if right else broken(event.entry, f"{known.name} of another type or mark"))


@monitor("ZI-054")
def qos_of_interests(conversation: Conversation) -> Iterator[Finding]:
    """Extension 1 of an INTEREST is a Z64 and not mandatory."""
    yield from extension(conversation, QOS)


@monitor("ZI-055")
def timestamp_of_interests(conversation: Conversation) -> Iterator[Finding]:
    """Extension 2 of an INTEREST is a ZBuf and not mandatory."""
    yield from extension(conversation, TIMESTAMP)


@monitor("ZI-056")
def node_id_of_interests(conversation: Conversation) -> Iterator[Finding]:
    """Extension 3 of an INTEREST is a Z64 and mandatory."""
    yield from extension(conversation, NODE_ID)


@monitor("ZI-060")
def finals_hold_nothing_else(conversation: Conversation) -> Iterator[Finding]:
    """What follows a Final is another message or nothing, so neither options nor a key came with it."""
    for event in received(conversation):
        if isinstance(event.message, InterestFinal):
            alien = intruder(conversation, event)
            yield (broken(event.entry, "something that is no message follows a Final") if alien else kept(event.entry))


@monitor("ZI-061")
def finals_end_what_runs(conversation: Conversation) -> Iterator[Finding]:
    """A Final names an interest that its sender opened as Future or CurrentFuture and has not ended."""
    modes: dict[int, Mode] = {}
    for event in received(conversation):
        match event.message:
            case Interest() as interest:
                modes[interest.id] = interest.mode
            case InterestFinal() as final:
                mode = modes.pop(final.id, None)
                if mode in (Mode.FUTURE, Mode.CURRENT_FUTURE):
                    yield kept(event.entry)
                else:
                    yield broken(event.entry, "a Final names no interest that runs")
            case _:
                pass


class Snapshots:
    """The interests that the tester sent on a link, by id, as they are at each event."""

    def __init__(self) -> None:
        self.modes: dict[int, Mode] = {}
        self.open: dict[int, Event] = {}

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""
        match event.direction, event.message:
            case Direction.SENT, Interest() as interest:
                self.modes[interest.id] = interest.mode
                if interest.mode is not Mode.FUTURE:
                    self.open[interest.id] = event
            case Direction.RECEIVED, Declare(body=DeclareFinal(), interest_id=int() as id):
                self.open.pop(id, None)
            case _:
                pass

    def is_done(self, id: int) -> bool:
        """Tell whether a snapshot was asked for under an id and has ended."""
        return self.modes.get(id) in (Mode.CURRENT, Mode.CURRENT_FUTURE) and id not in self.open


@monitor("ZI-069")
def snapshots_carry_their_id(conversation: Conversation) -> Iterator[Finding]:
    """What comes with I set while snapshots are sent has the id of one that was asked for."""
    seen = Snapshots()
    for event in conversation.events:
        if event.direction is Direction.RECEIVED and isinstance(event.body, DeclareEntity):
            if event.interest_id in seen.open:
                yield kept(event.entry)
            elif event.interest_id is not None and event.interest_id not in seen.modes and seen.open:
                yield broken(event.entry, "a declaration of a snapshot has an id that was never asked with")
        seen.see(event)


def is_plain(event: Event) -> bool:
    """Tell whether nothing about an INTEREST gives its receiver leave to refuse it."""
    interest = event.message
    if not isinstance(interest, Interest) or unknown_mandatory("INTEREST", interest.extensions):
        return False
    restricted = bool(interest.options & Options.R)
    if restricted or interest.options & (Options.N | Options.M):
        return restricted and bool(event.key) and bool(interest.kinds)
    return bool(interest.kinds)


@monitor("ZI-070")
def snapshots_end(conversation: Conversation) -> Iterator[Finding]:
    """A snapshot ends with D_FINAL, with I set, within five seconds."""
    seen, now = Snapshots(), 0.0
    for event in conversation.events:
        now = event.time
        if event.direction is Direction.RECEIVED and isinstance(event.body, DeclareFinal):
            if event.interest_id in seen.open:
                yield kept(event.entry)
            elif event.interest_id is None and seen.open:
                yield broken(event.entry, "D_FINAL comes without an interest id")
        seen.see(event)
    for asked in seen.open.values():
        if now - asked.time >= PATIENCE and is_plain(asked):
            yield broken(asked.entry, "no D_FINAL ends a snapshot, though the session went on")


@monitor("ZI-071")
def nothing_after_final(conversation: Conversation) -> Iterator[Finding]:
    """After the D_FINAL of a snapshot nothing comes under its id, until the id is used again."""
    seen = Snapshots()
    for event in conversation.events:
        if event.direction is Direction.RECEIVED and event.interest_id is not None:
            if seen.is_done(event.interest_id):
                what = "another D_FINAL" if isinstance(event.body, DeclareFinal) else "a declaration"
                yield broken(event.entry, f"{what} comes under the id of a snapshot after its D_FINAL")
            elif isinstance(event.body, DeclareFinal) and event.interest_id in seen.open:
                yield kept(event.entry)
        seen.see(event)


@monitor("ZI-072")
def updates_carry_no_id(conversation: Conversation) -> Iterator[Finding]:
    """What is announced under a Future interest, or withdrawn outside a snapshot, has I clear."""
    seen = Snapshots()
    for event in conversation.events:
        if event.direction is Direction.RECEIVED and isinstance(event.body, DeclareEntity | UndeclareEntity):
            id = event.interest_id
            future = id is not None and seen.modes.get(id) is Mode.FUTURE
            late = id is not None and isinstance(event.body, UndeclareEntity) and seen.is_done(id)
            if future or late:
                yield broken(event.entry, "an update carries an interest id")
            elif id is None and any(mode is not Mode.CURRENT for mode in seen.modes.values()) and not seen.open:
                yield kept(event.entry)
        seen.see(event)


@monitor("ZI-074")
def aliases_come_first(conversation: Conversation) -> Iterator[Finding]:
    """A number that stands for a key is used only once it was given to one."""
    given: dict[Direction, set[int]] = {Direction.SENT: set(), Direction.RECEIVED: set()}
    for event in conversation.events:
        match event.body:
            case DeclareEntity(key=key) if event.direction is Direction.RECEIVED and key.scope != 0:
                known = given[Direction.RECEIVED if key.sender else Direction.SENT]
                used = event.key is not None or key.scope in known
                yield (kept(event.entry) if used else broken(event.entry, "a number is used that was given to no key"))
            case DeclareKeyExpr(expr_id=expr_id):
                given[event.direction].add(expr_id)
            case _:
                pass


@monitor("ZI-075")
def listed_once(conversation: Conversation) -> Iterator[Finding]:
    """What a snapshot has listed does not come again as an update while it lives and the snapshot lasts."""
    seen = Snapshots()
    listed: dict[tuple[Kind, int, str | None], int] = {}
    for event in conversation.events:
        if event.direction is Direction.RECEIVED:
            match event.body:
                case DeclareEntity() as body:
                    entity = (body.kind, body.id, event.key)
                    if event.interest_id is not None and event.interest_id in seen.open:
                        listed[entity] = event.interest_id
                        yield kept(event.entry)
                    elif event.interest_id is None and listed.get(entity) in seen.open:
                        yield broken(event.entry, "what a snapshot has listed comes again while it lasts")
                case UndeclareEntity() as body:
                    listed = {each: id for each, id in listed.items() if each[:2] != (body.kind, body.id)}
                case _:
                    pass
        seen.see(event)
