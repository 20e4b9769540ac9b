"""Abilities: what a node does at all. Nobody is accused of doing wrongly what it never does, but told so once.

Each ability is tried in a small scene of its own, with sessions and a namespace that nobody else uses. Histories leave
out what a node lacks; the plain history says so, with the rule.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, Update, declared, undeclared, updates
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import read_queryable_info
from wire.zenoh.values import DeclareEntity, DeclareFinal, EntityKind, Mode, WireExpr

S, Q, T = EntityKind


class HasKind(Protocol):
    """An entity, or the action that declares it."""

    @property
    def kind(self) -> EntityKind:
        """What it is."""
        ...


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
                if not kinds and KEYS_ALONE in lacking:
                    return False
                return not (aggregate and key is None and "A without key" in lacking)
            case Declares(kind=kind, key=key):
                if {kind.value, f"{kind.value} {key.suffix}"} & lacking:
                    return False
                return not (key.scope and "aliases" in lacking)
            case DeclaresAlias(key=key):
                return not (key.scope and ALIASES_ON_ALIASES in lacking)
            case ReleasesAlias():
                return "released aliases" not in lacking
            case _:
                return True

    def allow_end(self, entities: Iterable[HasKind]) -> bool:
        """Tell whether a session may end that has declared some entities: the node tells that they have ended."""
        return not any(f"leaving {entity.kind.value}" in self.lacking for entity in entities)


PLAIN = Abilities()

WIRE_EXPR_SUFFIX = "suffix in WireExpr"
"""The ability to read a suffix in the WireExpr extension as the profile has it (reading R04)."""

UNTOLD_ENDS = "silence about untold ends"
"""The ability to announce the end of a token only to those who were told of it."""

KEYS_ALONE = "interests in key expressions alone"
"""The ability to answer those, though there is nothing to list."""

ALIASES_ON_ALIASES = "aliases on aliases"
"""The ability to look the scope of a D_KEYEXPR up among what its sender has declared (reading R08)."""

MANY = 5
"""Tokens that one may stand for."""

Trial = Callable[[NodeUnderTest, frozenset[str]], Iterator[Lack]]
"""Tries something; it is told the names of what the node is known to lack, and does not wait for that once more."""

LEAVING = {S: "ZD-092", Q: "ZD-092", T: "ZD-078"}
"""What ends with its session is undeclared."""


def kinds(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody asks for everything; an entity of each kind comes and goes."""
    listener, declarer = node.session(), node.session()
    ask = listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**")
    if ask.reply().final is None:
        yield Lack("CURRENT_FUTURE", "ZI-070", "a CurrentFuture interest is not answered up to D_FINAL")
        return
    if not declarer.answers():
        # A barrier is such an interest: whoever does not answer it cannot be played with.
        what = "a Current interest in tokens, of which there are none, is not answered up to D_FINAL"
        yield Lack("CURRENT", "ZI-070", what)
        return
    numbers = {kind: declarer.declare(kind, "a/b") for kind in EntityKind}
    declarer.barrier()
    unseen = untold(listener, declared, EntityKind, "a/b")
    for kind in unseen:
        yield Lack(kind.value, "ZD-091", f"who asks for everything is not told of a {kind.value}")
    seen = [kind for kind in EntityKind if kind not in unseen]
    for kind in seen:
        declarer.undeclare(kind, numbers[kind])
    declarer.barrier()
    for kind in untold(listener, undeclared, seen, "a/b"):
        yield Lack(kind.value, "ZD-092", f"who asks for everything is not told the end of a {kind.value}")


def modes(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """An entity of each kind exists; somebody asks for each of them in each mode."""
    declarer = node.session()
    for kind in EntityKind:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    rules = {Mode.CURRENT: "ZI-010", Mode.CURRENT_FUTURE: "ZI-014"}
    asks = [(mode, kind, node.session().interest(mode, kind, key="a/b")) for mode in rules for kind in EntityKind]
    until = end_of_patience(node)
    for mode, kind, ask in asks:
        reply, name = ask.reply(until), f"{mode.name} {kind.value}"
        if reply.final is None:
            yield Lack(name, "ZI-070", f"a {mode.name} interest in a {kind.value} is not answered up to D_FINAL")
        elif EntityName(kind.value, "a/b") not in reply.declared:
            yield Lack(name, rules[mode], f"a {mode.name} interest in a {kind.value} does not list it")


def futures(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody asks for each kind in mode Future; then one of each is declared."""
    declarer, listeners = node.session(), {}
    for kind in announced(lacking):
        listeners[kind] = listener = node.session()
        ask = listener.interest(Mode.FUTURE, kind, key="a/b")
        listener.barrier()
        if any(isinstance(e.body, DeclareFinal) and e.interest_id == ask.id for e in listener.received()):
            yield Lack("FUTURE", "ZI-021", f"a Future interest in a {kind.value} is answered by a D_FINAL")
            return
    for kind in listeners:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    until = end_of_patience(node)
    for kind, listener in listeners.items():
        if untold(listener, declared, [kind], "a/b", until):
            yield Lack(f"FUTURE {kind.value}", "ZI-020", f"a Future interest does not bring a {kind.value}")


def finals(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """A token is listed; the interest is ended; then the token goes, which a witness is told."""
    if {"token", "CURRENT_FUTURE token"} & lacking:
        return
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


def silence(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody asks for nothing while entities come."""
    silent, declarer = node.session(), node.session()
    silent.barrier()
    for kind in EntityKind:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    if silent.news():
        yield Lack("silence", "", "who asks for nothing is told of declarations (reading R37)")


def aliases(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """A token is declared through an alias, or what else the node announces."""
    # The last of the kinds is the token: the one that real nodes announce without any data that goes with it.
    kind = announced(lacking)[-1]
    listener, declarer = node.session(), node.session()
    listener.interest(Mode.CURRENT_FUTURE, kind, key="**").reply()
    declarer.send(DeclaresAlias(5, WireExpr(f"{node.namespace}a/b")).message())
    declarer.send(Declares(kind, 1, WireExpr("/c", 5)).message())
    declarer.barrier()
    if untold(listener, declared, [kind], "a/b/c"):
        yield Lack("aliases", "ZD-027", f"a {kind.value} on an alias and a suffix is not announced")


def aliases_on_aliases(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Numbers are given to two keys that begin with another number, and something is declared on each."""
    if "aliases" in lacking:
        return
    kind = announced(lacking)[-1]
    listener, declarer = node.session(), node.session()
    listener.interest(Mode.CURRENT_FUTURE, kind, key="**").reply()
    declarer.send(DeclaresAlias(5, WireExpr(f"{node.namespace}a/b")).message())
    for number, (alias, suffix) in enumerate([(6, "/c"), (7, "/d")]):
        declarer.send(DeclaresAlias(alias, WireExpr(suffix, 5)).message())
        declarer.send(Declares(kind, number, WireExpr("/e", alias)).message())
    wanted = {key: declared(EntityName(kind.value, key)) for key in ("a/b/c/e", "a/b/d/e")}
    # A node may also end the session over it: nothing comes then either.
    came = listener.receives_under_any_id(*wanted.values()).came
    missing = [key for key, update in wanted.items() if update not in came]
    if len(missing) == 1:
        what = f"of two keys with numbers that begin with the same number one is looked up, the other not: {missing[0]}"
        yield Lack(ALIASES_ON_ALIASES, "ZD-034", what)
    elif missing:
        yield Lack(ALIASES_ON_ALIASES, "", "no number is looked up for the scope of a D_KEYEXPR (reading R08)")


def released_aliases(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody gives a number to a key, releases it, and gives it to another; then asks for what is on both."""
    kind = announced(lacking)[-1]
    if {"aliases", f"CURRENT_FUTURE {kind.value}"} & lacking:
        return
    declarer, asking = node.session(), node.session()
    declarer.declare(kind, "a/b")
    declarer.barrier()
    old, new = WireExpr(f"{node.namespace}a/b"), WireExpr(f"{node.namespace}a/c")
    asking.send(*(action.message() for action in (DeclaresAlias(5, old), ReleasesAlias(5), DeclaresAlias(5, new))))
    reply = asking.interest(Mode.CURRENT_FUTURE, kind, key="a/*").reply()
    if EntityName(kind.value, "a/c") in reply.declared:
        what = f"a {kind.value} is listed under a number that has been released, and given to another key"
        yield Lack("released aliases", "ZD-038", what)


def untold_ends(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody knows one token, and asks in mode Future where there is another, which goes."""
    if {"token", "CURRENT token", "FUTURE", "FUTURE token"} & lacking:
        return
    witness, listener, declarer = node.session(), node.session(), node.session()
    declarer.declare_token("a/b")
    number = declarer.declare_token("a/c")
    declarer.barrier()
    witness.interest(Mode.CURRENT_FUTURE, T, key="**").reply()
    listener.interest(Mode.CURRENT, T, key="a/b").reply()
    listener.interest(Mode.FUTURE, T, key="a/c")
    listener.barrier()
    declarer.undeclare_token(number)
    witness.receives_under_any_id(undeclared(EntityName("token", "a/c")))
    listener.barrier()
    told = [update.verb for update in updates(listener, 0) if update.interest_id is None]
    if "undeclared" in told and "declared" not in told:
        yield Lack(UNTOLD_ENDS, "ZD-083", "who asks for tokens to come is told the end of one that it never knew")


def hops(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """A queryable is declared at distance 2."""
    if "queryable" in lacking:
        return
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


def without_key(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody asks for each kind with A and without a key; then one of each comes."""
    declarer, listeners = node.session(), {}
    for kind in announced(lacking):
        listeners[kind] = node.session()
        listeners[kind].interest(Mode.CURRENT_FUTURE, kind, aggregate=True)
        listeners[kind].barrier()
    for kind in listeners:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    until = end_of_patience(node)
    for kind, listener in listeners.items():
        if untold(listener, declared, [kind], "a/b", until):
            yield Lack("A without key", "ZD-091", f"who asks with A and without a key is never told of a {kind.value}")
            return


def keys_alone(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Somebody asks for key expressions and for no kind of entity."""
    if node.session().interest(Mode.CURRENT_FUTURE, key="a/b", keyexprs=True).reply().final is None:
        yield Lack(KEYS_ALONE, "", "an interest in key expressions alone is not answered up to D_FINAL")


def own_keys(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """An entity of each kind comes and goes on the very key that somebody asks for, wildcards and all."""
    rules = {S: "ZD-053", Q: "ZD-075", T: "ZD-083"}
    for key in ("a/b", "**"):
        listener, declarer = node.session(), node.session()
        listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key=key).reply()
        numbers = {kind: declarer.declare(kind, key) for kind in announced(lacking)}
        declarer.barrier()
        unseen = untold(listener, declared, numbers, key)
        for kind in unseen:
            yield Lack(f"{kind.value} {key}", "ZD-091", f"who asks for {key} is not told of a {kind.value} on it")
        seen = [kind for kind in numbers if kind not in unseen]
        for kind in seen:
            declarer.undeclare(kind, numbers[kind])
        declarer.barrier()
        for kind in untold(listener, undeclared, seen, key):
            what = f"who asks for {key} is not told the end of a {kind.value} on it"
            yield Lack(f"{kind.value} {key}", rules[kind], what)


def undeclarations(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """An entity of each kind is undeclared with its key spelled out in the WireExpr extension."""
    listener, declarer = node.session(), node.session()
    deployed, key = node.profile == "deployed", WireExpr(f"{node.namespace}a/b")
    listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**").reply()
    for kind in announced(lacking):
        declarer.declare(kind, "a/b", 1)
        declarer.send(Undeclares(kind, 1, key).message(deployed=deployed))
    declarer.barrier()
    for kind in untold(listener, undeclared, announced(lacking), "a/b")[:1]:
        yield Lack(WIRE_EXPR_SUFFIX, "ZD-062", f"a {kind.value} with a suffix in WireExpr is not undeclared")


def departures(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """A session ends that has an entity of each kind."""
    listener, leaver = node.session(), node.session()
    listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**").reply()
    for kind in announced(lacking):
        leaver.declare(kind, "a/b")
    leaver.barrier()
    leaver.close()
    for kind in untold(listener, undeclared, announced(lacking), "a/b"):
        what = f"who asks for everything is not told that a {kind.value} ended with its session"
        yield Lack(f"leaving {kind.value}", LEAVING[kind], what)


def aggregation(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Some tokens match; somebody asks for them with A."""
    if "CURRENT token" in lacking:
        return
    declarer = node.session()
    for number in range(MANY):
        declarer.declare_token(f"a/{number}")
    declarer.barrier()
    reply = node.session().interest(Mode.CURRENT, T, key="a/*", aggregate=True).reply()
    if reply.final is not None and len(reply.entities) >= MANY:
        yield Lack("aggregation", "ZI-066", f"a snapshot of {MANY} tokens with A lists all of them")


def announced(lacking: frozenset[str]) -> list[EntityKind]:
    """Return the kinds whose coming and going the node announces."""
    return [kind for kind in EntityKind if kind.value not in lacking]


def end_of_patience(node: NodeUnderTest) -> float:
    """Return when patience ends for all that was asked or declared up to now: it goes by for all of it at once."""
    return node.instance.clock.now() + node.patience


def untold(
    listener: Driver,
    change: Callable[[EntityName], Update],
    of: Iterable[EntityKind],
    key: str,
    until: float | None = None,
) -> list[EntityKind]:
    """Wait for a change of an entity of each of some kinds on a key; returns the kinds of which nothing came."""
    wanted = {kind: change(EntityName(kind.value, key)) for kind in of}
    came = listener.receives_under_any_id(*wanted.values(), until=until).came
    return [kind for kind, update in wanted.items() if update not in came]


TRIALS: tuple[Trial, ...] = (
    kinds,
    modes,
    futures,
    finals,
    silence,
    aliases,
    aliases_on_aliases,
    released_aliases,
    untold_ends,
    own_keys,
    undeclarations,
    departures,
    hops,
    without_key,
    keys_alone,
    aggregation,
)
"""Each relies on what those before it have found; ``kinds`` is what all of them need."""


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
        "ZD-038",
        "ZD-053",
        "ZD-062",
        "ZD-075",
        "ZD-078",
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
    """Try what a node does; raises ``HarnessError`` when it stops answering barriers."""
    lacks: tuple[Lack, ...] = ()
    for trial in TRIALS:
        with node.scene() as scene:
            lacks += tuple(trial(scene, frozenset(lack.name for lack in lacks)))
        if trial is kinds and (blocked := root_cause(lacks)):
            return Abilities(lacks, blocked=blocked)
    can = Abilities(lacks)
    # A reading that cannot be seen is left as it is by default: nothing that a history says depends on it then.
    if not {"token", "CURRENT_FUTURE token"} & can.lacking:
        with node.scene() as scene:
            can = msgspec.structs.replace(can, exact=intersects_is_enough(scene))
        with node.scene() as scene:
            can = msgspec.structs.replace(can, again=lists_again(scene))
    if not {"subscriber", "CURRENT_FUTURE subscriber"} & can.lacking:
        with node.scene() as scene:
            can = msgspec.structs.replace(can, merges=announces_as_one(scene))
    return can


def root_cause(lacks: Sequence[Lack]) -> str:
    """Return why nothing can be played with a node that lacks such things; empty where something can."""
    lacking = {lack.name for lack in lacks}
    if {"CURRENT_FUTURE", "CURRENT"} & lacking or lacking >= {kind.value for kind in EntityKind}:
        return "; ".join(lack.what for lack in lacks)
    return ""
