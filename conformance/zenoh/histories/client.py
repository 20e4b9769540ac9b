"""Histories with a client: it dials once, declares what control lines tell it to, and is asked by us, as its router."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from conformance.histories.drawing import Chooser
from conformance.histories.mismatch import Mismatch
from conformance.zenoh.histories.abilities import Abilities, Lack
from conformance.zenoh.histories.actions import Action, Declares, Undeclares
from conformance.zenoh.histories.attribution import Attribution
from conformance.zenoh.histories.drawing import ZenohMoveGenerator
from conformance.zenoh.histories.knowledge import SessionKnowledge
from conformance.zenoh.histories.moves import Move, Sends
from conformance.zenoh.histories.playing import HistoryPlay
from conformance.zenoh.histories.router import less
from harness.errors import Unsupported
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import ByControl, NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, live_entities
from wire.zenoh.values import EntityKind, Mode, WireExpr
from wire.zenoh.values_transport import WhatAmI

NODE = "node"
"""Who declares: the client itself, at the command of control lines."""

ROUTER = "router"
"""Who asks: the only session that it has."""


RULES = {
    **dict.fromkeys(("ZD-091", "ZD-092"), "ZI-072"),
    **dict.fromkeys(("ZD-053", "ZD-075", "ZD-083", "ZD-078"), "ZI-017"),
    **dict.fromkeys(("ZD-094", "ZD-095"), "ZI-075"),
    "ZD-093": "ZI-001",
}
"""What a client breaks where a router breaks a rule about routers."""


class ClientPlay(HistoryPlay):
    """One history in the course of being played with a client."""

    def begin(self) -> None:
        """Let the client dial, and be its router."""
        driver = self.node.session(whatami=WhatAmI.ROUTER)
        self.control = ByControl(self.node.instance, self.node.namespace)
        self.handles: dict[tuple[EntityKind, int], int] = {}
        self.model.begin()
        for who in (NODE, ROUTER):
            self.model.joins(who)
        self.listeners[ROUTER] = SessionKnowledge(driver)

    def send(self, move: Sends, *, is_alone: bool = True) -> None:
        """Send messages as its router, or have it declare and undeclare."""
        if move.who == ROUTER:
            super().send(move, is_alone=is_alone)
            return
        for action in move.actions:
            self.command(action)
            self.model.receives(NODE, action.message())
        self.forget()

    def command(self, action: Action) -> None:
        """Command the client to declare or undeclare."""
        match action:
            case Declares(kind=kind, id=number, key=key):
                self.handles[kind, number] = self.control.declare(kind, key.suffix or "")
            case Undeclares(kind=kind, id=number):
                self.control.undeclare(kind, self.handles.pop((kind, number)))

    @property
    def senders(self) -> Collection[str]:
        """Who can send."""
        return (NODE, ROUTER)

    def settle(self, who: str, attribution: Attribution) -> None:
        """Make sure that the client has acted on what its router sent; a control line is answered when it is done."""
        if who == ROUTER:
            super().settle(who, attribution)

    def forget(self) -> None:
        """Let the router forget what has ended while it did not ask."""
        self.listeners[ROUTER].forget(self.model.concerns[self.model.names[ROUTER]].gone, self.model.things())

    def do(self, move: Move) -> None:
        """Make a move and compare what came of it: by the rules about whoever is asked, where others are routers'."""
        try:
            super().do(move)
        except Mismatch as mismatch:
            raise Mismatch(RULES.get(mismatch.rule, mismatch.rule), mismatch.what) from None
        for rule in [rule for rule in self.judged if rule in RULES]:
            self.judged[RULES[rule]] += self.judged.pop(rule)


class ClientMoveGenerator(ZenohMoveGenerator):
    """Draws what a client declares, and what its router asks."""

    def opening(self) -> list[Move]:
        """Begin with both."""
        for who in (NODE, ROUTER):
            self.model.joins(who)
        return []

    def move(self) -> Move | None:
        """Draw the next move."""
        self.model.begin()
        self.busy = set()
        if self.number(0, 1):
            action = self.commanded_declaration() if self.number(0, 2) else self.commanded_undeclaration()
            if action is None:
                return None
            self.model.receives(NODE, action.message())
            return Sends(NODE, (action,))
        return self.sends(ROUTER)

    def commanded_declaration(self) -> Action | None:
        """Draw a declaration that a control line can ask for: on a plain key, and one of the kind on each."""
        action = self.declaration(NODE)
        if not isinstance(action, Declares):
            return None
        return Declares(action.kind, action.id, WireExpr(action.key.suffix))

    def commanded_undeclaration(self) -> Action | None:
        """Draw the end of what the client has declared."""
        action = self.undeclaration(NODE)
        return Undeclares(action.kind, action.id, None) if isinstance(action, Undeclares) else None


class ClientHistories:
    """What Zenoh brings to histories of clients."""

    tried = frozenset({"ZI-070", "ZI-010", "ZI-014", "ZI-020", "ZI-021"})

    def generator(self, chooser: Chooser, theme: str) -> ClientMoveGenerator:
        """Return a generator of histories about a theme."""
        return ClientMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return what a client declares at all when it is told to, and what it answers."""
        with node.scene() as scene:
            driver = scene.session(whatami=WhatAmI.ROUTER)
            # A client may push what it has and answer nobody; then there is nothing that histories could stand on.
            if driver.interest(Mode.CURRENT_FUTURE, EntityKind.TOKEN, key="none").reply().final is None:
                what = "a CurrentFuture interest in tokens is not answered up to D_FINAL"
                return Abilities((Lack("CURRENT_FUTURE", "ZI-070", what),), blocked=what)
            return Abilities(tuple(_lacks(driver, ByControl(scene.instance, scene.namespace))))

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[ClientPlay]:
        """Begin to play: with a client started anew."""
        with node.scene() as scene:
            yield ClientPlay(scene, can)

    def simpler(self, move: Move) -> Sequence[Move]:
        """Return a move with less in it."""
        return tuple(less(move)) if isinstance(move, Sends) else ()


def _lacks(driver: Driver, control: ByControl) -> Iterator[Lack]:
    declared = []
    for kind in EntityKind:
        try:
            control.declare(kind, "a/b")
            declared.append(kind)
        except Unsupported:
            yield Lack(kind.value, "", f"a {kind.value} cannot be declared")
    if driver.news():
        yield Lack("silence", "", "declarations come that nobody has asked for (reading R37)")
    for kind in declared:
        for mode, rule in ((Mode.CURRENT_FUTURE, "ZI-014"), (Mode.CURRENT, "ZI-010")):
            reply, name = driver.interest(mode, kind, key="a/b").reply(), f"{mode.name} {kind.value}"
            if reply.final is None:
                yield Lack(name, "ZI-070", f"a {mode.name} interest in a {kind.value} is not answered up to D_FINAL")
            elif EntityName(kind.value, "a/b") not in live_entities(driver):
                yield Lack(name, rule, f"a {mode.name} interest in a {kind.value} does not list it")


CLIENT = ClientHistories()
