"""The state of a session of Zenoh, as the two sides have said it so far: interests, snapshots, declarations.

The monitors read it; the walk has it see each message after they were called (``conformance/monitors.py``).
"""

from collections.abc import Callable, Iterator

from conformance.monitors import SessionEnd
from harness.trace import Direction
from harness.zenoh.tester.conversation import Conversation
from harness.zenoh.tester.events import Event, RefusedBatch
from wire.zenoh.keys import HeardTable, may_intersect
from wire.zenoh.unknown_extensions import unintelligible
from wire.zenoh.values import (
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    UndeclareEntity,
    UndeclareKeyExpr,
)
from wire.zenoh.values_transport import WhatAmI

SNAPSHOT = (Mode.CURRENT, Mode.CURRENT_FUTURE)
"""The modes in which what exists is listed, up to a D_FINAL."""

LIVE = (Mode.FUTURE, Mode.CURRENT_FUTURE)
"""The modes in which changes are told, up to a Final of who asked."""

KINDS = frozenset(EntityKind)

Entity = tuple[EntityKind, int]
"""What is declared, by its kind and its id."""


class SentInterest:
    """An interest of the tester's, and how far it has come.

    ``sent`` and ``final`` count the interests and Finals of the tester: which came before which.

    An id may be used again while an answer is on its way, and then two questions about it have different answers.
    To what does a D_FINAL belong? To the latest interest of its id (``complete``), if one asks what an id stands for
    now; to the oldest that still waits (``finals``), if one asks whether each got its own. And by which Final did it
    end? By the first that came while it had the id (``final``), or by the first that came at all (``first_final``).
    Each rule takes what cannot accuse in vain.
    """

    __slots__ = (
        "complete", "ended", "event", "final", "finals", "first_final", "id", "interest", "is_over", "key", "kinds",
        "mode", "passed", "sent",
    )  # fmt: skip

    def __init__(self, event: Event, interest: Interest, sent: int) -> None:
        self.event = event
        self.interest = interest
        self.id = interest.id
        self.mode = interest.mode
        self.key = event.key
        self.kinds = interest.kinds
        self.sent = sent
        self.complete = False
        """Its D_FINAL has come."""
        self.passed = False
        """Something that was asked later has been answered, so the node has acted on it."""
        self.final: int | None = None
        self.ended = False
        """Something that was asked behind its Final has been answered, so the node has acted on that."""
        self.finals = 0
        self.first_final: int | None = None
        self.is_over = False
        """As ``ended``, by the first Final."""

    @property
    def is_clear(self) -> bool:
        """Whether it is known what was asked for: some kinds, and no key or one that can be resolved."""
        return bool(self.kinds) and (self.interest.key is None or self.key is not None)

    @property
    def is_running(self) -> bool:
        """Whether it may still bring declarations, as far as one can know."""
        return not self.ended if self.mode in LIVE else not self.complete

    def covers(self, kind: EntityKind, key: str | None) -> bool:
        """Tell whether an entity may fall under it: all do that might, where what was asked for is not known."""
        if not self.is_clear or key is None:
            return True
        return kind in self.kinds and (self.key is None or may_intersect(self.key, key))

    def admits(self, kind: EntityKind, key: str | None) -> bool:
        """Tell whether an entity falls under it, as far as that is known: no kinds are all kinds."""
        if kind not in (self.kinds or KINDS):
            return False
        return self.interest.key is None or self.key is None or key is None or may_intersect(self.key, key)


class SessionState:
    """What was asked and declared in a session, up to a message."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.role = conversation.whatami.get(Direction.RECEIVED)

        self.interests: list[SentInterest] = []
        """All interests of the tester's, in order."""
        self.open: dict[int, SentInterest] = {}
        """Those whose snapshot has not ended, by id."""
        self.pushes = self.role != WhatAmI.ROUTER
        """Whether the node tells of what nobody asked for, as peers and clients do, and some routers."""
        self.slowest = 0.0
        """Seconds that the slowest snapshot took to end: the node is as slow as that, or as far away."""
        self._of_id: dict[int | None, list[SentInterest]] = {}
        self._latest: dict[int | None, SentInterest] = {}
        self._contested: set[int] = set()
        """Ids that were used again while an answer was awaited, or could still come."""
        self._sent = 0
        self._covered: tuple[Event | None, list[SentInterest]] = (None, [])

        self.theirs: dict[int, Mode] = {}
        """The interests of the implementation that it has not ended, by id, with their modes."""
        self.running: dict[int, Mode] = {}
        """The same, without those that its peer has answered completely."""
        self.used: set[int] = set()
        """The ids of all its interests."""

        self.tables = {Direction.SENT: HeardTable(), Direction.RECEIVED: HeardTable()}
        """The keys that ExprIds stand for, of both sides."""
        self.given: dict[Direction, set[int]] = {Direction.SENT: set(), Direction.RECEIVED: set()}
        """The ExprIds that were ever given to a key."""
        self.numbers: dict[int, str | None] = {}
        """The ExprIds of the implementation that it has not taken back, with keys if those are known."""

        self.live: dict[Entity, tuple[str | None, Extensions]] = {}
        """What the implementation has declared and not undeclared: keys and extensions."""
        self.listed: dict[Entity, dict[str | None, int]] = {}
        """Under which interest id it was last listed in a snapshot that ran then, by key."""
        self.announced: dict[Entity, set[tuple[str | None, SentInterest]]] = {}
        """Under which interests, and with which key, it was declared."""

    # --- what monitors ask ------------------------------------------------------------------------------------

    def all_of(self, interest_id: int | None) -> list[SentInterest]:
        """Return the tester's interests of an id, in order: one may have been used again."""
        return self._of_id.get(interest_id, [])

    def latest(self, interest_id: int | None) -> SentInterest | None:
        """Return the latest interest of an id."""
        return self._latest.get(interest_id)

    def is_contested(self, interest_id: int | None) -> bool:
        """Tell whether an id was used again while an answer was awaited: whose answers come is unknown then."""
        return interest_id in self._contested

    def of(self, interest_id: int | None, *modes: Mode) -> SentInterest | None:
        """Return the latest interest of an id, if it has one of some modes, and what comes is known to answer it."""
        if self.is_contested(interest_id):
            return None
        found = self._latest.get(interest_id)
        return found if found is not None and found.mode in modes else None

    def covering(self, event: Event, *modes: Mode) -> list[SentInterest]:
        """Return the interests, of some modes or of all, under which what is declared or undeclared may fall."""
        seen, found = self._covered
        if seen is not event:  # several monitors ask for the same
            body = event.body
            assert isinstance(body, DeclareEntity | UndeclareEntity)
            kind, key = body.kind, event.known or event.key
            found = [asked for asked in self.interests if asked.covers(kind, key)]
            self._covered = event, found
        return [asked for asked in found if asked.mode in modes] if modes else found

    def is_due(self, event: Event) -> bool:
        """Tell whether an interest that is running may have brought a declaration or undeclaration."""
        return any(asked.is_running for asked in self.covering(event))

    def waits(self, mode: Mode) -> bool:
        """Tell whether an interest of a mode has had no D_FINAL yet."""
        return any(asked.mode is mode and not asked.complete for asked in self.interests)

    @property
    def hears_changes(self) -> bool:
        """Whether the latest interest of some id asks for changes."""
        return any(asked.mode is not Mode.CURRENT for asked in self._latest.values())

    def is_done(self, interest_id: int) -> bool:
        """Tell whether a snapshot was asked for under an id and has ended."""
        return interest_id not in self.open and self.of(interest_id, *SNAPSHOT) is not None

    # --- what the walk tells ----------------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Take note of an event, after it was judged."""
        take = (_RECEIVED if event.direction is Direction.RECEIVED else _SENT).get(event.form)
        if take is not None:
            take(self, event)

    def ending(self) -> Iterator[RefusedBatch | SessionEnd]:
        """Yield the batches that could not be decoded, and the end of the session."""
        yield from self.conversation.refusals
        events = self.conversation.events
        yield SessionEnd(events[-1].time if events else 0.0)

    def _interest_sent(self, event: Event) -> None:
        assert isinstance(event.message, Interest)
        asked = SentInterest(event, event.message, self._sent)
        self._sent += 1
        # Of a Future one as well, though none is to come: whoever answers it may do so only now.
        if any(not each.finals for each in self.all_of(asked.id)):
            self._contested.add(asked.id)
        self.interests.append(asked)
        self._of_id.setdefault(asked.id, []).append(asked)
        self._latest[asked.id] = asked
        if asked.mode is not Mode.FUTURE:
            self.open[asked.id] = asked

    def _final_sent(self, event: Event) -> None:
        assert isinstance(event.message, InterestFinal)
        if unintelligible(event.message):
            return  # nobody can act on it: what was asked for may still come
        found = self.all_of(event.message.id)
        if found and found[-1].final is None:
            found[-1].final = self._sent
        for asked in found:
            if asked.first_final is None:
                asked.first_final = self._sent
        self._sent += 1

    def _snapshot_ended(self, event: Event) -> None:
        if event.interest_id is None:
            return
        self.open.pop(event.interest_id, None)
        found = self.all_of(event.interest_id)
        if not found:
            return
        latest = found[-1]
        latest.complete = True
        waiting = [asked for asked in found if not asked.finals]
        # Who answers Future ones as well, to whom nothing is due, answers the oldest of these first, too.
        oldest = next((asked for asked in waiting if asked.mode in SNAPSHOT), waiting[0] if waiting else latest)
        oldest.finals += 1
        self.slowest = max(self.slowest, event.time - oldest.event.time)
        # So many answers are to the first so many uses of the id, or to later ones: Future ones may be answered too,
        # and the node may not have read the latest yet.
        reached = found[min(sum(asked.finals for asked in found), len(found)) - 1].sent
        for asked in self.interests:
            asked.passed = asked.passed or asked.sent < reached
            asked.ended = asked.ended or (asked.final is not None and asked.final < reached)
            asked.is_over = asked.is_over or (asked.first_final is not None and asked.first_final < reached)

    def _interest_received(self, event: Event) -> None:
        assert isinstance(event.message, Interest)
        id, mode = event.message.id, event.message.mode
        self.theirs[id] = self.running[id] = mode
        self.used.add(id)

    def _final_received(self, event: Event) -> None:
        assert isinstance(event.message, InterestFinal)
        self.theirs.pop(event.message.id, None)
        self.running.pop(event.message.id, None)

    def _snapshot_of_theirs_ended(self, event: Event) -> None:
        id = event.interest_id
        if id is not None and self.running.get(id) is Mode.CURRENT:
            del self.running[id]

    def _number_given(self, event: Event) -> None:
        assert isinstance(event.body, DeclareKeyExpr)
        number = event.body.expr_id
        self.given[event.direction].add(number)
        self.tables[event.direction].give(number, event.key, is_sure=not unintelligible(event.message))
        if event.direction is Direction.RECEIVED:
            self.numbers[number] = event.key

    def _number_taken_back(self, event: Event) -> None:
        assert isinstance(event.body, UndeclareKeyExpr)
        self.tables[event.direction].release(event.body.expr_id, is_sure=not unintelligible(event.message))
        if event.direction is Direction.RECEIVED:
            self.numbers.pop(event.body.expr_id, None)

    def _declared(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, DeclareEntity)
        entity = body.kind, body.id
        self.live[entity] = event.key, body.extensions
        if event.interest_id is None:
            self.pushes = self.pushes or not self.covering(event)
            return
        if event.interest_id in self.open:
            self.listed.setdefault(entity, {})[event.key] = event.interest_id
        asked = self.latest(event.interest_id)
        if asked is not None:
            self.announced.setdefault(entity, set()).add((event.key, asked))

    def _undeclared(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, UndeclareEntity)
        entity = body.kind, body.id
        self.live.pop(entity, None)
        self.listed.pop(entity, None)
        self.announced.pop(entity, None)
        if event.interest_id is None:
            self.pushes = self.pushes or not self.covering(event)


_Take = Callable[[SessionState, Event], None]

_SENT: dict[object, _Take] = {
    Interest: SessionState._interest_sent,
    InterestFinal: SessionState._final_sent,
    DeclareKeyExpr: SessionState._number_given,
    UndeclareKeyExpr: SessionState._number_taken_back,
    DeclareFinal: SessionState._snapshot_of_theirs_ended,
}

_RECEIVED: dict[object, _Take] = {
    Interest: SessionState._interest_received,
    InterestFinal: SessionState._final_received,
    DeclareKeyExpr: SessionState._number_given,
    UndeclareKeyExpr: SessionState._number_taken_back,
    DeclareEntity: SessionState._declared,
    UndeclareEntity: SessionState._undeclared,
    DeclareFinal: SessionState._snapshot_ended,
}
