"""Abilities: what a node does at all. Nobody is accused of doing wrongly what it never does, but told so once.

Each ability is tried in a small scene of its own, with sessions and a namespace that nobody else uses. Histories leave
out what a node lacks; the plain history says so, with the rule.
"""

from collections.abc import Callable, Iterator

import msgspec

from conformance.zenoh.histories.actions import Action, Declares, DeclaresAlias, SendsInterest, Undeclares
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, declared, undeclared
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import read_queryable_info
from wire.zenoh.values import DeclareEntity, DeclareFinal, EntityKind, Mode, WireExpr

S, Q, T = EntityKind


class Lack(msgspec.Struct, frozen=True):
    """Something that a node does not do: its name, the rule that asks for it (none: it need not), and what came."""

    name: str
    rule: str
    what: str


class Abilities(msgspec.Struct, frozen=True):
    """What a node does, and how it reads the document.

    ``exact`` if whatever intersects an interest's key falls under it (reading R26), ``again`` if a snapshot lists what
    the session knows as well (reading R35), ``merges`` if two entities on one key are announced as one (reading R34).
    ``blocked`` says why no history can be played at all.
    """

    lacks: tuple[Lack, ...] = ()
    exact: bool = True
    again: bool = True
    merges: bool = False
    blocked: str = ""

    @property
    def lacking(self) -> frozenset[str]:
        """The names of what it does not do."""
        return frozenset(lack.name for lack in self.lacks)

    @property
    def complaints(self) -> list[tuple[str, str]]:
        """What it does not do and has to, with the rules."""
        return [(lack.rule, lack.what) for lack in self.lacks if lack.rule]

    def allow(self, action: Action) -> bool:
        """Tell whether an action asks for nothing that the node does not do."""
        lacking = self.lacking
        match action:
            case SendsInterest(mode=mode, kinds=kinds, key=key, aggregate=aggregate):
                if any(f"{mode.name} {kind.value}" in lacking for kind in kinds) or (mode.name in lacking):
                    return False
                return not (aggregate and key is None and "A without key" in lacking)
            case Declares(kind=kind, key=key):
                if {kind.value, f"{kind.value} {key.suffix}"} & lacking:
                    return False
                return not (key.scope and "aliases" in lacking)
            case _:
                return True


PLAIN = Abilities()

WIRE_EXPR_SUFFIX = "suffix in WireExpr"
"""The ability to read a suffix in the WireExpr extension as the profile has it (reading R04)."""

MANY = 5
"""Tokens that one may stand for."""

Trial = Callable[[NodeUnderTest], Iterator[Lack]]


def kinds(node: NodeUnderTest) -> Iterator[Lack]:
    """Somebody asks for everything; an entity of each kind comes and goes."""
    listener, declarer = node.session(), node.session()
    ask = listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**")
    if ask.reply().final is None:
        yield Lack("CURRENT_FUTURE", "ZI-070", "a CurrentFuture interest is not answered up to D_FINAL")
        return
    for kind in EntityKind:
        number, named = declarer.declare(kind, "a/b"), EntityName(kind.value, "a/b")
        declarer.barrier()
        if not listener.receives_under_any_id(declared(named)):
            yield Lack(kind.value, "ZD-091", f"who asks for everything is not told of a {kind.value}")
            continue
        declarer.undeclare(kind, number)
        declarer.barrier()
        if not listener.receives_under_any_id(undeclared(named)):
            yield Lack(kind.value, "ZD-092", f"who asks for everything is not told the end of a {kind.value}")


def modes(node: NodeUnderTest) -> Iterator[Lack]:
    """An entity of each kind exists; somebody asks for each of them in each mode."""
    declarer = node.session()
    for kind in EntityKind:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    for mode, rule in ((Mode.CURRENT, "ZI-010"), (Mode.CURRENT_FUTURE, "ZI-014")):
        for kind in EntityKind:
            reply = node.session().interest(mode, kind, key="a/b").reply()
            name = f"{mode.name} {kind.value}"
            if reply.final is None:
                yield Lack(name, "ZI-070", f"a {mode.name} interest in a {kind.value} is not answered up to D_FINAL")
            elif EntityName(kind.value, "a/b") not in reply.declared:
                yield Lack(name, rule, f"a {mode.name} interest in a {kind.value} does not list it")


def futures(node: NodeUnderTest) -> Iterator[Lack]:
    """Somebody asks for each kind in mode Future; then one of each is declared."""
    declarer = node.session()
    for kind in EntityKind:
        listener = node.session()
        ask = listener.interest(Mode.FUTURE, kind, key="a/b")
        listener.barrier()
        if any(isinstance(e.body, DeclareFinal) and e.interest_id == ask.id for e in listener.received()):
            yield Lack("FUTURE", "ZI-021", f"a Future interest in a {kind.value} is answered by a D_FINAL")
            return
        declarer.declare(kind, "a/b")
        declarer.barrier()
        if not listener.receives_under_any_id(declared(EntityName(kind.value, "a/b"))):
            yield Lack(f"FUTURE {kind.value}", "ZI-020", f"a Future interest does not bring a {kind.value}")


def finals(node: NodeUnderTest) -> Iterator[Lack]:
    """A token is listed; the interest is ended; then the token goes, which a witness is told."""
    witness, listener, declarer = node.session(), node.session(), node.session()
    number, named = declarer.declare_token("a/b"), EntityName("token", "a/b")
    declarer.barrier()
    witness.interest(Mode.CURRENT_FUTURE, T, key="**").reply()
    ask = listener.interest(Mode.CURRENT_FUTURE, T, key="a/b")
    ask.reply()
    listener.final(ask)
    listener.barrier()
    declarer.undeclare_token(number)
    witness.receives_under_any_id(undeclared(named))
    listener.barrier()
    if undeclared(named) in listener.news():
        # Undeclarations may still come in the deployed profile (reading R29).
        rule = "" if node.profile == "deployed" else "ZI-018"
        yield Lack("quiet after Final", rule, "what was listed is taken back after the Final")


def silence(node: NodeUnderTest) -> Iterator[Lack]:
    """Somebody asks for nothing while entities come."""
    silent, declarer = node.session(), node.session()
    silent.barrier()
    for kind in EntityKind:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    if silent.news():
        yield Lack("silence", "", "who asks for nothing is told of declarations (reading R37)")


def aliases(node: NodeUnderTest) -> Iterator[Lack]:
    """A token is declared through an alias."""
    listener, declarer = node.session(), node.session()
    listener.interest(Mode.CURRENT_FUTURE, T, key="**").reply()
    declarer.send(DeclaresAlias(5, WireExpr(f"{node.namespace}a/b")).message())
    declarer.send(Declares(T, 1, WireExpr("/c", 5)).message())
    declarer.barrier()
    if not listener.receives_under_any_id(declared(EntityName("token", "a/b/c"))):
        yield Lack("aliases", "ZD-027", "a token on an alias and a suffix is not announced")


def hops(node: NodeUnderTest) -> Iterator[Lack]:
    """A queryable is declared at distance 2."""
    listener, declarer = node.session(), node.session()
    deployed = node.profile == "deployed"
    listener.interest(Mode.CURRENT_FUTURE, Q, key="**").reply()
    message = Declares(Q, 1, WireExpr(f"{node.namespace}a/b"), (True, 2)).message(deployed=deployed)
    declarer.send(message)
    declarer.barrier()
    listener.receives_under_any_id(declared(EntityName("queryable", "a/b")))
    for event in listener.received():
        if isinstance(event.body, DeclareEntity) and listener.entity(event) is not None:
            value = next((e.value for e in event.body.extensions if e.is_(QUERYABLE_INFO)), 0)
            if not deployed and read_queryable_info(int(value or 0))[1] <= 2:
                yield Lack("hops", "ZD-072", "a queryable is announced at the distance that it was declared with")


def aggregates(node: NodeUnderTest) -> Iterator[Lack]:
    """Somebody asks for each kind with A and without a key; then one of each comes."""
    declarer = node.session()
    for kind in EntityKind:
        listener = node.session()
        listener.interest(Mode.CURRENT_FUTURE, kind, aggregate=True).reply()
        declarer.declare(kind, "a/b")
        declarer.barrier()
        if not listener.receives_under_any_id(declared(EntityName(kind.value, "a/b"))):
            yield Lack("A without key", "ZD-091", f"who asks with A and without a key is never told of a {kind.value}")
            return


def own_keys(node: NodeUnderTest) -> Iterator[Lack]:
    """An entity of each kind comes and goes on the very key that somebody asks for, wildcards and all."""
    for key in ("a/b", "**"):
        listener, declarer = node.session(), node.session()
        listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key=key).reply()
        for kind, rule in ((S, "ZD-053"), (Q, "ZD-075"), (T, "ZD-083")):
            number, named = declarer.declare(kind, key), EntityName(kind.value, key)
            declarer.barrier()
            if not listener.receives_under_any_id(declared(named)):
                yield Lack(f"{kind.value} {key}", "ZD-091", f"who asks for {key} is not told of a {kind.value} on it")
                continue
            declarer.undeclare(kind, number)
            declarer.barrier()
            if not listener.receives_under_any_id(undeclared(named)):
                what = f"who asks for {key} is not told the end of a {kind.value} on it"
                yield Lack(f"{kind.value} {key}", rule, what)


def undeclarations(node: NodeUnderTest) -> Iterator[Lack]:
    """A token is undeclared with its key spelled out in the WireExpr extension."""
    listener, declarer = node.session(), node.session()
    deployed, key = node.profile == "deployed", WireExpr(f"{node.namespace}a/b")
    listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**").reply()
    for kind in EntityKind:
        declarer.declare(kind, "a/b", 1)
        declarer.send(Undeclares(kind, 1, key).message(deployed=deployed))
        declarer.barrier()
        if not listener.receives_under_any_id(undeclared(EntityName(kind.value, "a/b"))):
            yield Lack(WIRE_EXPR_SUFFIX, "ZD-062", f"a {kind.value} with a suffix in WireExpr is not undeclared")
            return


def aggregation(node: NodeUnderTest) -> Iterator[Lack]:
    """Some tokens match; somebody asks for them with A."""
    declarer = node.session()
    for number in range(MANY):
        declarer.declare_token(f"a/{number}")
    declarer.barrier()
    reply = node.session().interest(Mode.CURRENT, T, key="a/*", aggregate=True).reply()
    if reply.final is not None and len(reply.entities) >= MANY:
        yield Lack("aggregation", "ZI-066", f"a snapshot of {MANY} tokens with A lists all of them")


TRIALS: tuple[Trial, ...] = (
    kinds,
    modes,
    futures,
    finals,
    silence,
    aliases,
    own_keys,
    undeclarations,
    hops,
    aggregation,
)


TRIED = frozenset(
    (
        "ZI-070",
        "ZD-091",
        "ZD-092",
        "ZI-010",
        "ZI-014",
        "ZI-020",
        "ZI-021",
        "ZI-018",
        "ZD-027",
        "ZD-053",
        "ZD-062",
        "ZD-075",
        "ZD-083",
        "ZI-066",
    )
)
"""The rules that trials put to the test, whatever the profile."""


def intersects_is_enough(node: NodeUnderTest) -> bool:
    """Tell whether a declaration on a/* falls under an interest in a/b (reading R26)."""
    declarer = node.session()
    declarer.declare_token("a/*")
    declarer.barrier()
    reply = node.session().interest(Mode.CURRENT_FUTURE, T, key="a/b").reply()
    return EntityName("token", "a/*") in reply.declared


def lists_again(node: NodeUnderTest) -> bool:
    """Tell whether a second snapshot on one session lists what the first has listed (reading R35)."""
    declarer, listener = node.session(), node.session()
    declarer.declare_token("a/b")
    declarer.barrier()
    for _ in range(2):
        reply = listener.interest(Mode.CURRENT_FUTURE, T, key="a/b").reply()
    return bool(reply.entities)


def announces_as_one(node: NodeUnderTest) -> bool:
    """Tell whether the second of two subscribers on one key is passed over (reading R34)."""
    declarer, listener = node.session(), node.session()
    listener.interest(Mode.CURRENT_FUTURE, S, key="a/b").reply()
    for _ in range(2):
        declarer.declare_subscriber("a/b")
    declarer.barrier()
    listener.receives_under_any_id(declared(EntityName("subscriber", "a/b")))
    return len([update for update in listener.news() if update.verb == "declared"]) < 2


def abilities(node: NodeUnderTest) -> Abilities:
    """Try what a node does; raises ``HarnessError`` when it does not even answer barriers."""
    lacks: list[Lack] = []
    for trial in TRIALS:
        with node.scene() as scene:
            lacks += trial(scene)
    with node.scene() as scene:
        exact = intersects_is_enough(scene)
    with node.scene() as scene:
        again = lists_again(scene)
    with node.scene() as scene:
        merges = announces_as_one(scene)
    return Abilities(tuple(lacks), exact, again, merges)
