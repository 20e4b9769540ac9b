"""Trials: what shows what a node does at all, each in a small scene of its own, with sessions that nobody else uses."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain

import msgspec

from conformance.zenoh.histories.abilities import (
    A_IN_FUTURE,
    ALIASES_ON_ALIASES,
    KEYS_ALONE,
    UNTOLD_ENDS,
    WIRE_EXPR_SUFFIX,
    Abilities,
    Lack,
)
from conformance.zenoh.histories.actions import Declares, DeclaresAlias, ReleasesAlias, Undeclares
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.node_under_test import NodeUnderTest
from harness.zenoh.tester.snapshots import EntityName, Update, declared, undeclared, updates
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import read_queryable_info
from wire.zenoh.values import DeclareEntity, DeclareFinal, EntityKind, Mode, WireExpr

S, Q, T = EntityKind

MANY = 5
"""Tokens that one may stand for."""

LATER = "later"
"""The key of a token that tells a session that it was told all that came before."""

Trial = Callable[[NodeUnderTest, frozenset[str]], Iterator[Lack | None]]
"""Tries something; it is told the names of what the node is known to lack, and does not wait for that once more.

It may say that all is sent (``None``), with what it waits for until patience ends: that goes by for others as well.
"""

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


def modes(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack | None]:
    """An entity of each kind exists; somebody asks for each of them in each mode."""
    declarer = node.session()
    for kind in EntityKind:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    rules = {Mode.CURRENT: "ZI-010", Mode.CURRENT_FUTURE: "ZI-014"}
    asks = [(mode, kind, node.session().interest(mode, kind, key="a/b")) for mode in rules for kind in EntityKind]
    until = end_of_patience(node)
    yield None
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
    """A token is listed; the interest is ended; then the token goes."""
    if {"token", "CURRENT_FUTURE token"} & lacking:
        return
    listener, declarer = node.session(), node.session()
    number, named = declarer.declare_token("a/b"), EntityName("token", "a/b")
    declarer.barrier()
    ask = listener.interest(Mode.CURRENT_FUTURE, T, key="a/b")
    ask.reply()
    listener.final(ask)
    listener.interest(Mode.CURRENT_FUTURE, T, key=LATER).reply()
    declarer.undeclare_token(number)
    if undeclared(named) in told_before_later(listener, declarer):
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


def aliases_on_aliases(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack | None]:
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
    until = end_of_patience(node)
    yield None
    # A node may also end the session over it: nothing comes then either.
    came = listener.receives_under_any_id(*wanted.values(), until=until).came
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
    if {"token", "CURRENT token", "CURRENT_FUTURE token", "FUTURE", "FUTURE token"} & lacking:
        return
    listener, declarer = node.session(), node.session()
    declarer.declare_token("a/b")
    number = declarer.declare_token("a/c")
    declarer.barrier()
    listener.interest(Mode.CURRENT, T, key="a/b").reply()
    listener.interest(Mode.FUTURE, T, key="a/c")
    listener.interest(Mode.CURRENT_FUTURE, T, key=LATER).reply()
    declarer.undeclare_token(number)
    verbs = [update.verb for update in told_before_later(listener, declarer) if update.interest_id is None]
    if "undeclared" in verbs and "declared" not in verbs:
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


def without_key(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack | None]:
    """Somebody asks for each kind with A and without a key, somebody in mode Future; then one of each comes."""
    declarer, listeners, late = node.session(), {}, {}
    for kind in announced(lacking):
        listeners[kind], late[kind] = node.session(), node.session()
        listeners[kind].interest(Mode.CURRENT_FUTURE, kind, aggregate=True)
        # On the key of what comes, so that whatever stands for it has that key, too (reading R39).
        late[kind].interest(Mode.FUTURE, kind, key="a/b", aggregate=True)
        listeners[kind].barrier()
        late[kind].barrier()
    for kind in listeners:
        declarer.declare(kind, "a/b")
    declarer.barrier()
    until = end_of_patience(node)
    yield None
    for kind, listener in late.items():
        if untold(listener, declared, [kind], "a/b", until):
            what = f"who asks with A for a {kind.value} to come is never told of it"
            yield Lack(f"{A_IN_FUTURE} {kind.value}", "ZD-091", what)
    for kind, listener in listeners.items():
        if untold(listener, declared, [kind], "a/b", until):
            yield Lack("A without key", "ZD-091", f"who asks with A and without a key is never told of a {kind.value}")
            return


def keys_alone(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack | None]:
    """Somebody asks for key expressions and for no kind of entity."""
    modes = (Mode.CURRENT_FUTURE, Mode.CURRENT)
    asks = {mode: node.session().interest(mode, key="a/b", keyexprs=True) for mode in modes}
    until = end_of_patience(node)
    yield None
    for mode, ask in asks.items():
        if ask.reply(until).final is None:
            what = f"a {mode.name} interest in key expressions alone is not answered up to D_FINAL"
            yield Lack(f"{mode.name} {KEYS_ALONE}", "", what)


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


def undeclarations(node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack | None]:
    """An entity of each kind is undeclared with its key spelled out in the WireExpr extension."""
    listener, declarer = node.session(), node.session()
    deployed, key = node.profile == "deployed", WireExpr(f"{node.namespace}a/b")
    listener.interest(Mode.CURRENT_FUTURE, *EntityKind, key="**").reply()
    for kind in announced(lacking):
        declarer.declare(kind, "a/b", 1)
        declarer.send(Undeclares(kind, 1, key).message(deployed=deployed))
    declarer.barrier()
    until = end_of_patience(node)
    yield None
    for kind in untold(listener, undeclared, announced(lacking), "a/b", until)[:1]:
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


def told_before_later(listener: Driver, declarer: Driver) -> list[Update]:
    """Return what a session that asks for ``LATER`` is told of all that another one has sent up to now.

    It need not be there when the other one's barrier is answered, or a third session has been told: a node tells one
    after the other. But whoever sends two things is followed in their order.
    """
    later = declared(EntityName("token", LATER))
    declarer.declare_token(LATER)
    listener.receives_under_any_id(later)
    return [update for update in updates(listener, 0) if update.entity != later.entity]


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


TRIALS: tuple[tuple[Trial, ...], ...] = (
    (kinds,),
    (futures,),
    (silence,),
    (aliases,),
    (modes, aliases_on_aliases, own_keys, undeclarations, departures, without_key, keys_alone),
    (finals,),
    (released_aliases,),
    (untold_ends,),
    (hops,),
    (aggregation,),
)
"""Each relies on what those before it have found, and ``kinds`` is what all of them need; those in one line wait
together for what does not come."""


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
    for trials in TRIALS:
        lacks += tuple(lacks_of(trials, node, frozenset(lack.name for lack in lacks)))
        if kinds in trials and (blocked := root_cause(lacks)):
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


def lacks_of(trials: Sequence[Trial], node: NodeUnderTest, lacking: frozenset[str]) -> Iterator[Lack]:
    """Try some things, each in a scene of its own, and wait for all of them together."""
    with ExitStack() as scenes:
        tried = [trial(scenes.enter_context(node.scene()), lacking) for trial in trials]
        found: list[list[Lack]] = [[] for _ in tried]
        for _ in ("until all is sent", "to the end"):
            for each, its in zip(tried, found, strict=True):
                its += found_next(each)
        yield from chain.from_iterable(found)


def found_next(trial: Iterator[Lack | None]) -> Iterator[Lack]:
    """Yield what a trial finds up to where it begins to wait, or up to its end."""
    for lack in trial:
        if lack is None:
            return
        yield lack


def root_cause(lacks: Sequence[Lack]) -> str:
    """Return why nothing can be played with a node that lacks such things; empty where something can."""
    lacking = {lack.name for lack in lacks}
    if {"CURRENT_FUTURE", "CURRENT"} & lacking or lacking >= {kind.value for kind in EntityKind}:
        return "; ".join(lack.what for lack in lacks)
    return ""
