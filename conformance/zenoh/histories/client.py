"""Histories with a client: it declares and asks what control lines tell it to, and is asked by its router, us."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from conformance.histories.drawing import Chooser
from conformance.zenoh.histories.abilities import ALIASES_ON_ALIASES, KEYS_ALONE, Abilities, Lack
from conformance.zenoh.histories.client_drawing import ClientMoveGenerator
from conformance.zenoh.histories.client_playing import ENDING, GETTING, NAMING, PUTTING, ClientPlay
from conformance.zenoh.histories.commanding import MODES
from conformance.zenoh.histories.moves import Move
from conformance.zenoh.histories.router import ROUTER
from conformance.zenoh.histories.trials import MANY, end_of_patience
from harness.errors import Unsupported
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import ByControl, NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, live_entities
from wire.zenoh.values import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    WireExpr,
)
from wire.zenoh.values_transport import WhatAmI


class ClientHistories:
    """What Zenoh brings to histories of clients."""

    tried = frozenset({"ZI-070", "ZI-010", "ZI-014", "ZI-020", "ZI-021"})

    def generator(self, chooser: Chooser, theme: str) -> ClientMoveGenerator:
        """Return a generator of histories about a theme."""
        return ClientMoveGenerator(chooser, theme)

    def abilities(self, node: NodeUnderTest) -> Abilities:
        """Return what a client declares and asks at all when it is told to, and what it answers."""
        with node.scene() as scene:
            driver = scene.session(whatami=WhatAmI.ROUTER)
            # A client may push what it has and answer nobody; then there is nothing that histories could stand on.
            if driver.interest(Mode.CURRENT_FUTURE, EntityKind.TOKEN, key="none").reply().final is None:
                what = "a CurrentFuture interest in tokens is not answered up to D_FINAL"
                return Abilities((Lack("CURRENT_FUTURE", "ZI-070", what),), blocked=what)
            control = ByControl(scene.instance, scene.namespace)
            can = Abilities((*_unanswered(driver, control), *_unsaid(scene, driver)))
            return _readings(driver, control, can)

    @contextmanager
    def scene(self, node: NodeUnderTest, can: Abilities) -> Iterator[ClientPlay]:
        """Begin to play: with a client started anew."""
        with node.scene() as scene:
            yield ClientPlay(scene, can)

    def simpler(self, move: Move) -> Sequence[Move]:
        """Return a move with less in it."""
        return ROUTER.simpler(move)


def _unanswered(driver: Driver, control: ByControl) -> Iterator[Lack]:
    declared = []
    for kind in EntityKind:
        try:
            control.declare(kind, "a/b")
            declared.append(kind)
        except Unsupported:
            yield Lack(kind.value, "", f"a {kind.value} cannot be declared")
    for mode in (Mode.CURRENT_FUTURE, Mode.CURRENT):
        if driver.interest(mode, key="a/b", keyexprs=True).reply().final is None:
            what = f"a {mode.name} interest in key expressions alone is not answered up to D_FINAL"
            yield Lack(f"{mode.name} {KEYS_ALONE}", "", what)
    if driver.news():
        yield Lack("silence", "", "declarations come that nobody has asked for (reading R37)")
    for kind in declared:
        for mode, rule in ((Mode.CURRENT_FUTURE, "ZI-014"), (Mode.CURRENT, "ZI-010")):
            reply, name = driver.interest(mode, kind, key="a/b").reply(), f"{mode.name} {kind.value}"
            if reply.final is None:
                yield Lack(name, "ZI-070", f"a {mode.name} interest in a {kind.value} is not answered up to D_FINAL")
            elif EntityName(kind.value, "a/b") not in live_entities(driver):
                yield Lack(name, rule, f"a {mode.name} interest in a {kind.value} does not list it")


def _readings(driver: Driver, control: ByControl, can: Abilities) -> Abilities:
    """Return how a client reads what is open; what cannot be seen is left as it is by default."""
    if not {"token", "CURRENT token", "CURRENT_FUTURE token"} & can.lacking:
        control.declare(EntityKind.TOKEN, "r/*")
        one, two = (driver.interest(Mode.CURRENT, EntityKind.TOKEN, key="r/b").reply() for _ in range(2))
        listed = EntityName("token", "r/*") in live_entities(driver)
        can = msgspec.structs.replace(can, exact=listed, again=not listed or len(one.entities) == len(two.entities))
        for number in range(MANY):
            control.declare(EntityKind.TOKEN, f"many/{number}")
        reply = driver.interest(Mode.CURRENT, EntityKind.TOKEN, key="many/*", aggregate=True).reply()
        if can.again and "silence" not in can.lacking and len(reply.entities) >= MANY:
            what = f"a snapshot of {MANY} tokens with A lists all of them"
            can = msgspec.structs.replace(can, lacks=(*can.lacks, Lack("aggregation", "ZI-066", what)))
    if not {"subscriber", "CURRENT_FUTURE subscriber"} & can.lacking:
        for _ in range(2):
            control.declare(EntityKind.SUBSCRIBER, "r/s")
        reply = driver.interest(Mode.CURRENT_FUTURE, EntityKind.SUBSCRIBER, key="r/s").reply()
        can = msgspec.structs.replace(can, merges=len(reply.entities) < 2)
    # Last, as a client may end the session over it.
    if not {"token", "CURRENT_FUTURE token"} & can.lacking:
        control.declare(EntityKind.TOKEN, "on/alias")
        driver.declare_keyexpr("on", 5)
        driver.declare_keyexpr(WireExpr("/alias", 5), 6)
        reply = driver.interest(Mode.CURRENT_FUTURE, EntityKind.TOKEN, key=WireExpr(None, 6)).reply()
        if EntityName("token", "on/alias") not in reply.declared:
            what = "no number is looked up for the scope of a D_KEYEXPR (reading R08)"
            can = msgspec.structs.replace(can, lacks=(*can.lacks, Lack(ALIASES_ON_ALIASES, "", what)))
    return can


def _unsaid(node: NodeUnderTest, driver: Driver) -> Iterator[Lack]:
    """Yield what a client does not say when control lines tell it to: no rule asks for that, and no history does."""
    asked: dict[tuple[Mode, EntityKind], str] = {}
    for mode in MODES:
        for kind in EntityKind:
            key = f"{node.namespace}{mode.name.lower()}/{kind.value}"
            if _obeys(node, "ask", f"a{len(asked)}", MODES[mode], kind.value, key):
                asked[mode, kind] = key
            else:
                yield Lack(f"asking {mode.name} {kind.value}", "", f"it cannot ask for a {kind.value} in mode {mode}")
    until = end_of_patience(node)
    ids = {}
    for number, ((mode, kind), key) in enumerate(asked.items()):
        event = driver.wait_for(lambda e, key=key: isinstance(e.message, Interest) and e.key == key, until=until)  # type: ignore[misc]
        if event is None or not isinstance(event.message, Interest) or kind not in event.message.kinds:
            yield Lack(f"asking {mode.name} {kind.value}", "", f"no INTEREST comes for a {kind.value}")
            continue
        if mode is not Mode.FUTURE:
            driver.send(Declare(DeclareFinal(), event.message.id))
        if mode is not Mode.CURRENT and _obeys(node, "end", f"a{number}"):
            ids[number] = event.message.id
    for id in ids.values():
        if not driver.wait_for(lambda e, id=id: isinstance(e.message, InterestFinal), until=until):  # type: ignore[misc]
            yield Lack(ENDING, "", "no Final comes")
            break
    if not ids:
        yield Lack(ENDING, "", "nothing can be ended")
    key = f"{node.namespace}named"
    if not _obeys(node, "declare", "keyexpr", "k1", key) or not driver.wait_for(
        lambda e: isinstance(e.body, DeclareKeyExpr) and e.key == key
    ):
        yield Lack(NAMING, "", "no number is given to a key")
    for verb, name in (("put", PUTTING), ("get", GETTING)):
        if not _obeys(node, verb, key, *["text"] * (verb == "put")):
            yield Lack(name, "", f"it cannot {verb}")


def _obeys(node: NodeUnderTest, verb: str, *arguments: str) -> bool:
    try:
        node.instance.command(verb, *arguments)
    except Unsupported:
        return False
    return True


CLIENT = ClientHistories()
