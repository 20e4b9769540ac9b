"""The driver: the tester's side of one Zenoh session, in the protocol's own verbs.

Keys are put into the session's namespace on the way out and taken out of it on the way in, so that plays do not meet.
"""

from collections.abc import Callable, Container

from harness.links.link import Link
from harness.timing import Timing
from harness.trace import Direction, Trace
from harness.zenoh.peers.transport import Settings
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.session import TesterSession
from harness.zenoh.tester.snapshots import (
    EntityName,
    Incomplete,
    InterestHandle,
    ReceivedUpdates,
    Update,
    entity_of,
    updates,
)
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    OPTION,
    Declare,
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    Options,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)


class Driver(TesterSession):
    """A session that declares, asks, and reads what it is told; it keeps both mapping tables."""

    def __init__(
        self, link: Link, trace: Trace, settings: Settings, *, namespace: str = "", timing: Timing | None = None
    ) -> None:
        super().__init__(link, trace, settings, namespace=namespace, timing=timing)
        # Aliases begin higher, so that no case meets them with an ExprId of its own choice.
        self._next = {"entity": 1, "interest": 1, "expr": 1, "alias": 1000, "request": 1}
        self.deployed = False

    # --- interests ----------------------------------------------------------------------------------------

    def interest(
        self,
        mode: Mode,
        *kinds: EntityKind,
        key: str | WireExpr | None = None,
        aggregate: bool = False,
        keyexprs: bool = False,
        id: int | None = None,
        extensions: Extensions = (),
    ) -> InterestHandle:
        """Send an INTEREST and return a handle on its answer."""
        options = Options(0)
        for kind in kinds:
            options |= OPTION[kind]
        options |= Options.A if aggregate else Options(0)
        options |= Options.K if keyexprs else Options(0)
        wire_expr = self.wire_expr(key) if key is not None else None
        if wire_expr is not None:
            options |= Options.R
            options |= Options.N if wire_expr.suffix is not None else Options(0)
            options |= Options.M if wire_expr.sender else Options(0)
        message = Interest(self._id("interest", id), mode, options, wire_expr, extensions)
        ask = InterestHandle(self, message)
        self.send(message)
        return ask

    def final(self, interest: InterestHandle | int, extensions: Extensions = ()) -> None:
        """End an interest."""
        self.send(InterestFinal(interest if isinstance(interest, int) else interest.id, extensions))
        self.unsettled = True

    # --- declarations -------------------------------------------------------------------------------------

    def declare_keyexpr(self, key: str | WireExpr, id: int | None = None) -> int:
        """Declare an ExprId and return it; a key that is text is put into the namespace."""
        expr_id = self._id("expr", id)
        self.send(Declare(DeclareKeyExpr(expr_id, self.wire_expr(key))))
        self.unsettled = True
        return expr_id

    def undeclare_keyexpr(self, expr_id: int) -> None:
        """Free an ExprId."""
        self.send(Declare(UndeclareKeyExpr(expr_id)))
        self.unsettled = True

    def alias(self, key: str, besides: Container[int] = ()) -> int:
        """Return an ExprId for a key as it stands on the wire, declaring it if there is none yet ``besides`` some."""
        for expr_id, known in self.conversation.tables[Direction.SENT].items():
            if known == key and expr_id not in besides:
                return expr_id
        return self.declare_keyexpr(WireExpr(key), self._id("alias", None))

    def declare(self, kind: EntityKind, key: str | WireExpr, id: int | None = None, extensions: Extensions = ()) -> int:
        """Declare an entity and return its id."""
        entity = self._id("entity", id)
        self.send(Declare(DeclareEntity(kind, entity, self.wire_expr(key), extensions)))
        self.unsettled = True
        return entity

    def declare_subscriber(self, key: str | WireExpr, id: int | None = None) -> int:
        """Declare a subscriber and return its id."""
        return self.declare(EntityKind.SUBSCRIBER, key, id)

    def declare_queryable(self, key: str | WireExpr, id: int | None = None, extensions: Extensions = ()) -> int:
        """Declare a queryable and return its id."""
        return self.declare(EntityKind.QUERYABLE, key, id, extensions)

    def declare_token(self, key: str | WireExpr, id: int | None = None) -> int:
        """Declare a token and return its id."""
        return self.declare(EntityKind.TOKEN, key, id)

    def undeclare(self, kind: EntityKind, id: int, key: str | WireExpr | None = None) -> None:
        """Undeclare an entity, with its key in the WireExpr extension.

        By default the key that it was declared with goes through an ExprId: the one form of the extension that reads
        the same with and without a count before the suffix (reading R04).
        """
        known = self.conversation.declared.get((Direction.SENT, kind, id))
        wire_expr = WireExpr(None, self.alias(known or "")) if key is None else self.wire_expr(key)
        extension = wire_expr_extension(wire_expr, deployed=self.deployed)
        self.send(Declare(UndeclareEntity(kind, id, (extension,))))
        self.unsettled = True

    def undeclare_subscriber(self, id: int) -> None:
        """Undeclare a subscriber."""
        self.undeclare(EntityKind.SUBSCRIBER, id)

    def undeclare_queryable(self, id: int) -> None:
        """Undeclare a queryable."""
        self.undeclare(EntityKind.QUERYABLE, id)

    def undeclare_token(self, id: int) -> None:
        """Undeclare a token."""
        self.undeclare(EntityKind.TOKEN, id)

    # --- data ---------------------------------------------------------------------------------------------

    def publish(self, key: str, payload: bytes) -> None:
        """Put data on a key."""
        self.send(Push(self.wire_expr(key), payload))
        self.unsettled = True

    def query(self, key: str, extensions: Extensions = ()) -> int:
        """Send a query and return its id."""
        request = self._id("request", None)
        self.send(Request(request, self.wire_expr(key), "", extensions))
        self.unsettled = True
        return request

    def answer(self, request: Event, payload: bytes) -> None:
        """Answer a query that was received."""
        assert isinstance(request.message, Request)
        self.send(Response(request.message.id, WireExpr(request.key), payload), ResponseFinal(request.message.id))

    def data(self, since: int = 0) -> list[tuple[str, bytes | None]]:
        """Return the data that was received: keys within the namespace, and payloads."""
        return [
            (self.inner(event.key) or "", event.message.payload)
            for event in self.received(since)
            if isinstance(event.message, Push)
        ]

    # --- what comes unasked -------------------------------------------------------------------------------

    def receives(self, *wanted: Update) -> ReceivedUpdates:
        """Read until all of some updates have come since the last ``news``; true when they have."""
        return self._receive(wanted, lambda update: update, ("under any id", "as an update"), None)

    def expect(self, *wanted: Update) -> None:
        """Read until some updates have come; ``Incomplete`` when they do not, which is for other cases to judge."""
        heard = self.receives(*wanted)
        if not heard:
            raise Incomplete(repr(heard))

    def receives_under_any_id(self, *wanted: Update, until: float | None = None) -> ReceivedUpdates:
        """Read until all of some updates have come since the last ``news``, with or without an interest id.

        ``until`` as in ``wait_for``.
        """
        return self._receive(wanted, lambda update: Update(update.verb, update.entity), ("under any id",), until)

    def _receive(
        self,
        wanted: tuple[Update, ...],
        seen_as: Callable[[Update], Update],
        how: tuple[str, ...],
        until: float | None,
    ) -> ReceivedUpdates:
        """Read until some updates have come; ``how`` says as what each comes then, the most exact of it last."""
        heard: list[Update] = []

        def all_heard() -> bool:
            heard[:] = [seen_as(update) for update in updates(self, self.mark)]
            return all(update in heard for update in wanted)

        things = {update: [f"a {update.entity.kind} {update.verb} {each}" for each in how] for update in wanted}
        # As long as for the one that has most time, which is all of it where that is not known never to come, as what
        # is wanted or in any other way.
        ends = max((min(map(self.end_of_patience, its)) for its in things.values()), default=self.now())
        self.wait_until(all_heard, ends if until is None else until)
        for update, its in things.items():
            # A wait that the caller has cut short proves nothing; nor does what is missed of what came otherwise.
            for thing in its if update in heard else its[-1:] if until is None else ():
                self.was_awaited(thing, update in heard)
        return ReceivedUpdates(wanted, tuple(heard), self.ended)

    def news(self) -> list[Update]:
        """Return the updates that came since the last call, up to now and as late as the node tells them."""
        self.barrier()
        self.await_stragglers()
        fresh = updates(self, self.mark)
        self.mark = self.place
        return fresh

    # --- keys ---------------------------------------------------------------------------------------------

    def wire_expr(self, key: str | WireExpr) -> WireExpr:
        """Spell a key: text goes into the namespace, a WireExpr stays as it is."""
        return WireExpr(self.namespace + key) if isinstance(key, str) else key

    def entity(self, event: Event) -> EntityName | None:
        """Return the entity that an event is about, if it is within the namespace."""
        return entity_of(self, event)

    # --- underneath ---------------------------------------------------------------------------------------

    def _id(self, what: str, given: int | None) -> int:
        if given is not None:
            return given
        self._next[what] += 1
        return self._next[what] - 1
