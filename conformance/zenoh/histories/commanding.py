"""Commanding: a client is told by control lines what to declare and to ask, and what it sends for that is looked at.

What a control line asks for is no sentence of the documents. So a client that says nothing where it is told to speak
cannot be judged; but what it says has to keep the rules: numbers that are free, and ends of what runs.
"""

from collections import Counter
from collections.abc import Callable

from conformance.histories.mismatch import Mismatch
from conformance.wording import worded
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    Queries,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from harness.trace import Direction
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import ByControl, NodeUnderTest
from harness.zenoh.tester.snapshots import Incomplete
from wire.zenoh.values import (
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    Push,
    Request,
    UndeclareKeyExpr,
)

MODES = {Mode.CURRENT: "current", Mode.FUTURE: "future", Mode.CURRENT_FUTURE: "currentfuture"}
"""As docs/control.md spells them."""


class CommandedClient:
    """A client, and what it has said of its own accord or at our command; ``judged`` counts what was compared."""

    def __init__(self, node: NodeUnderTest, driver: Driver, judged: Counter[str]) -> None:
        self.instance = node.instance
        self.driver = driver
        self.judged = judged
        self.place = driver.place
        self.control = ByControl(node.instance, node.namespace)
        self.count = 0
        self.handles: dict[tuple[EntityKind, int], int] = {}
        """The names of what it was told to declare, by the ids that the history gives to these."""
        self.names: dict[int, str] = {}
        self.asked: dict[int, int] = {}
        """The ids that it has given to its interests, by those of the history."""
        self.running: dict[int, Mode] = {}
        """Its interests that run, by the ids that it has given to them."""
        self.aliases: dict[int, tuple[str, int]] = {}
        """The names and numbers of the keys that it was told to name, by the numbers of the history."""
        self.given: dict[int, str | None] = {}
        """The keys that it has given numbers to, by these."""
        self.published: dict[str, str] = {}
        self.queried: set[str] = set()

    # --- commands -----------------------------------------------------------------------------------------

    def obey(self, action: Action) -> Interest | None:
        """Have the client do something, and wait until it has; returns the INTEREST that it sends, if it is one.

        Raises ``Mismatch`` for what breaks a rule, ``Incomplete`` where it says nothing.
        """
        match action:
            case Declares(kind=kind, id=number, key=key):
                self.handles[kind, number] = self.control.declare(kind, key.suffix or "")
            case Undeclares(kind=kind, id=number):
                self.control.undeclare(kind, self.handles.pop((kind, number)))
            case DeclaresAlias():
                self.name_key(action)
            case ReleasesAlias(id=number):
                name, given = self.aliases.pop(number)
                self.instance.command("undeclare", name)
                self.await_message(
                    lambda event: isinstance(event.body, UndeclareKeyExpr) and event.body.expr_id == given,
                    f"takes back number {given}",
                )
            case SendsInterest():
                return self.ask(action)
            case EndsInterest(id=number):
                self.end(number)
            case Publishes(key=key, payload=payload):
                self.published[payload] = self.whole(key.suffix)
                self.instance.command("put", self.whole(key.suffix), payload)
            case Queries(key=key):
                self.queried.add(self.whole(key.suffix))
                self.instance.command("get", self.whole(key.suffix))
        return None

    def name_key(self, action: DeclaresAlias) -> None:
        """Have it give a number to a key."""
        name, key = self.new_name("k"), self.whole(action.key.suffix)
        self.instance.command("declare", "keyexpr", name, key)
        event = self.await_message(
            lambda event: isinstance(event.body, DeclareKeyExpr) and event.key == key, f"gives a number to {key}"
        )
        assert isinstance(event.body, DeclareKeyExpr)
        self.aliases[action.id] = name, event.body.expr_id

    def ask(self, action: SendsInterest) -> Interest:
        """Have it ask for a kind of entities on a key; returns its INTEREST."""
        name, key = self.new_name("i"), self.whole(action.key.suffix if action.key else None)
        (kind,) = action.kinds
        self.names[action.id] = name
        self.instance.command("ask", name, MODES[action.mode], kind.value, key)
        event = self.await_message(
            lambda event: isinstance(event.message, Interest) and event.key == key and kind in event.message.kinds,
            f"asks for a {kind.value} on {key}",
        )
        assert isinstance(event.message, Interest)
        if action.mode is not Mode.CURRENT:
            self.asked[action.id] = event.message.id
        return event.message

    def end(self, number: int) -> None:
        """Have it end an interest."""
        id = self.asked.pop(number)
        self.instance.command("end", self.names.pop(number))
        self.await_message(
            lambda event: isinstance(event.message, InterestFinal) and event.message.id == id, f"ends its interest {id}"
        )
        self.judged["ZI-061"] += 1

    def await_message(self, wanted: Callable[[Event], bool], what: str) -> Event:
        """Wait for what the client is to send; whatever else it sends meanwhile is judged, too."""
        event = self.driver.wait_for(wanted, since=self.place)
        self.catch_up()
        if event is None:
            raise Incomplete(f"nothing came by which the client, as it was told to, {what}")
        return event

    def new_name(self, letter: str) -> str:
        """Return a name for a control line that no other thing has had."""
        self.count += 1
        return f"{letter}{self.count}"

    def whole(self, key: str | None) -> str:
        """Return a key as it stands on the wire."""
        return f"{self.driver.namespace}{key or ''}"

    # --- what it says -------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Judge what has come since."""
        events = self.driver.conversation.events
        new, self.place = events[self.place :], len(events)
        for event in new:
            if event.direction is Direction.RECEIVED:
                self.judge(event)
            elif isinstance(event.body, DeclareFinal) and self.running.get(event.interest_id or 0) is Mode.CURRENT:
                # A Current interest is over with its snapshot, which is ours to end.
                del self.running[event.interest_id or 0]

    def judge(self, event: Event) -> None:
        """Judge one message of the client's."""
        match event.body or event.message:
            case Interest(id=id, mode=mode):
                self.judged["ZI-030"] += 1
                if id in self.running:
                    raise Mismatch("ZI-030", f"the client asks under {id}, the id of an interest that runs")
                self.running[id] = mode
            case InterestFinal(id=id):
                if id not in self.running:
                    raise Mismatch("ZI-061", f"the client ends interest {id}, which does not run")
                if id in self.asked.values():
                    raise Mismatch("ZI-061", f"the client ends interest {id}, and was told to end another")
                del self.running[id]
            case DeclareKeyExpr(expr_id=number):
                self.judged["ZD-036"] += 1
                if self.given.get(number, event.key) != event.key:
                    raise Mismatch("ZD-036", f"the client gives number {number} to a second key")
                self.given[number] = event.key
            case UndeclareKeyExpr(expr_id=number):
                self.given.pop(number, None)
            case Push(payload=payload):
                key = self.published.get((payload or b"").decode(errors="replace"), event.key)
                if event.key != key:
                    raise Mismatch("ZD-027", f"the client publishes on {worded(event.key)} what is for {worded(key)}")
            case Request():
                if event.key not in self.queried:
                    raise Mismatch("ZD-027", f"the client queries {worded(event.key)}, which it was not told to")
