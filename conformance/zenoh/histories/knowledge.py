"""Knowledge: what exists, as far as one session was told in a history."""

from collections.abc import Callable, Container

from conformance.zenoh.histories.unspecified import UNKNOWN
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.session import BARRIER
from wire.zenoh.keys import Table
from wire.zenoh.values import DeclareEntity, DeclareFinal, Mode, Push, Request, UndeclareEntity, WireExpr

Thing = tuple[str, str]

BARRIERS = BARRIER + 100_000
"""More than the barriers of a session: what comes under their ids is taken in, and is no answer to a history."""


class SessionKnowledge:
    """A session with the node, and what came on it; keys are taken out of the play's namespace."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.place = driver.place
        self.news: list[Event] = []
        """What came in this step."""
        self.known: set[tuple[str, int, str | None]] = set()
        """What it was told and not told the end of, with ids."""
        self._told: set[tuple[str, int]] = set()
        """Ids of what it was told, whether that has ended or not."""
        self.modes: dict[int, Mode] = {}
        """The mode of each interest, by its id."""
        self.listed: set[Thing] = set()
        """What answers to Current interests have listed: nobody need say when it ends, and its ids may mean nothing."""
        self._vague: set[tuple[str, int]] = set()
        """Ids that answers to Current interests have used, and may mean nothing: what was announced keeps its own."""
        self._meant: dict[tuple[int, int], str] = {}
        """What ended with undeclarations of such ids."""
        self.aside: set[Thing] = set()
        """What barriers have listed, which ask for a key of ours, and answers while it appeared: a node does not tell
        again what it has told."""
        self.forgotten: dict[tuple[str, int], str | None] = {}
        """Ids, with keys, of what may have ended while the session did not ask: the node need not say so, but may."""

    def begin(self) -> None:
        """Begin a step."""
        self.catch_up()
        self.news = []

    def catch_up(self) -> None:
        """Take in what has come."""
        events = self.driver.conversation.events
        for event in events[self.place :]:
            if event.direction is Direction.RECEIVED and self.is_ours(event):
                self.take(event)
                if not BARRIER < (event.interest_id or 0) < BARRIERS:
                    self.news.append(event)
        self.place = len(events)

    def wait_until(self, done: Callable[[], bool], until: float | None = None) -> bool:
        """Read until something holds of what the session was told; ``False`` when patience or the link ends first.

        ``until`` is when patience ends, in seconds of the link's clock.
        """

        def caught_up() -> bool:
            self.catch_up()
            return done()

        return self.driver.wait_until(caught_up, until)

    def is_ours(self, event: Event) -> bool:
        """Tell whether an event is about this history: within its namespace, or about no key."""
        if isinstance(event.body, DeclareFinal):
            return True
        if isinstance(event.body, DeclareEntity | UndeclareEntity) or isinstance(event.message, Push | Request):
            key = self.key(event)
            return not key or self.driver.inner(key) is not None
        return False

    def key(self, event: Event) -> str | None:
        """Return the key that an event is about, in full."""
        return event.known or event.key if isinstance(event.body, UndeclareEntity) else event.key

    def thing(self, event: Event) -> Thing:
        """Return what an event is about."""
        body = event.body
        assert isinstance(body, DeclareEntity | UndeclareEntity)
        if (event.entry, event.nth) in self._meant:
            return body.kind.value, self._meant[event.entry, event.nth]
        key = self.key(event)
        return body.kind.value, self.driver.inner(key) or "" if key is not None else "?"

    def take(self, event: Event) -> None:
        """Take in what an event says."""
        match event.body:
            case DeclareEntity(kind=kind, id=id):
                number = event.interest_id
                if number is not None and self.modes.get(number, Mode.CURRENT) is Mode.CURRENT:
                    self.listed.add(self.thing(event))
                    self._vague.add((kind.value, id))
                    if BARRIER < number < BARRIERS:
                        self.aside.add(self.thing(event))
                    return
                if number is None:
                    self.known = {each for each in self.known if each[:2] != (kind.value, id)}
                self.known.add((kind.value, id, self.driver.inner(event.key)))
                self._told.add((kind.value, id))
                self.forgotten.pop((kind.value, id), None)
            case UndeclareEntity(kind=kind, id=id):
                meant = [key for *name, key in self.known if tuple(name) == (kind.value, id)]
                if (kind.value, id) in self._vague and len(meant) == 1:
                    self._meant[event.entry, event.nth] = meant[0] or ""
                self.known = {each for each in self.known if each[:2] != (kind.value, id)}

    def forget(self, gone: set[Thing], living: Container[Thing] = ()) -> None:
        """Forget what ended without its having to be told; of what is ``living``, another one was listed too."""
        old = {each for each in self.known if (each[0], each[2]) in gone}
        self.known -= old
        for told in (self.listed, self.aside):
            told -= {what for what in gone if what not in living}
        self.forgotten |= {each[:2]: each[2] for each in old}

    def things(self) -> set[Thing]:
        """Return what exists, as far as it knows."""
        return {(kind, key) for kind, _, key in self.known if key is not None}

    def knows_of(self, what: Thing) -> bool:
        """Tell whether it was told of a thing, and not of its end."""
        kind, key = what
        return what in self.things() | self.listed or any(
            k == kind and v == key for (k, _), v in self.forgotten.items()
        )

    def was_told(self, body: UndeclareEntity) -> bool:
        """Tell whether it was ever told of something under the id of an undeclaration."""
        return (body.kind.value, body.id) in self._told

    def spell(self, key: WireExpr, *, borrows: bool = True) -> WireExpr:
        """Spell a key for the node: in the namespace, and through an alias of the node's where that is asked for.

        ``borrows`` is whether the node's aliases are known: it may change them at each message of ours.
        """
        if key.scope == UNKNOWN:
            return WireExpr(self.driver.namespace + (key.suffix or ""), UNKNOWN)
        if key.scope or key.suffix is None:
            return key
        whole = self.driver.namespace + (key.suffix or "")
        if key.sender:
            return WireExpr(whole)
        theirs: Table = self.driver.conversation.tables[Direction.RECEIVED]
        for number, named in theirs.items() if borrows else ():
            if whole == named:
                return WireExpr(None, number, sender=False)
            if whole.startswith(f"{named}/"):
                return WireExpr(whole[len(named) :], number, sender=False)
        return WireExpr(whole, sender=False)
