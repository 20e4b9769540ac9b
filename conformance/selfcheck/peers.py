"""The peers of the kill matrix, and how they are judged: each plays every case, in memory and virtual time.

So a row costs a second or two, waits for nothing, and is the same on every machine.
"""

import gc
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed

import msgspec

from conformance.cases import Case
from conformance.catalogue.rules import Profile
from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.matrix import Kind, Matrix, MatrixRow
from conformance.selfcheck.worlds import WORLDS, both, chosen_pairs, surroundings
from conformance.suite import Suite
from conformance.verdicts import Outcome, worst
from harness.peers.peer import Peer
from harness.protocol import WireProtocol, load
from harness.user_folders import cache
from harness.worker_pool import worker_pool


class MatrixPeer(msgspec.Struct, frozen=True):
    """The input of a row. It is sent between processes, so it names a peer rather than holds it.

    ``variants`` are the fault, or the oddities, that make it; ``world`` is the latency between it and the tester.
    """

    kind: Kind
    name: str
    role: str
    rules: tuple[str, ...] = ()
    sentence: str = ""
    variants: tuple[str, ...] = ()
    world: str = ""


PAIRS = 20
"""Pairs of oddities that a matrix holds if nobody asks for more: seconds, where all of them are an hour."""


def matrix_peers(protocol: str, *, pairs: int = 0, sample: int | None = None, seed: int = 0) -> list[MatrixPeer]:
    """Return every peer that the matrix holds: originals, faults, oddities; originals and oddities with latencies.

    And so many pairs of oddities, chosen by a seed. Where a ``sample`` is wanted, it chooses these and latencies from
    the matrix that everybody has, the one of seed 0: a seed of its own finds who is accused, and is no part of a CI.
    """
    definition = load(protocol)
    oddities = definition.oddities.all.values()
    found = [MatrixPeer("original", role, role) for role in definition.roles]
    found += [
        MatrixPeer("fault", v.name, v.role, v.rules, v.sentence, (v.name,)) for v in definition.faults.all.values()
    ]
    # Oddities are innocent: they show that the tester accuses nobody of what the documents leave open.
    found += [MatrixPeer("oddity", v.name, v.role, v.rules, v.sentence, (v.name,)) for v in oddities]
    surrounded = [
        MatrixPeer("latency", f"{role}, {world}", role, sentence="the reference peer itself", world=world)
        for role in definition.roles
        for world in WORLDS
    ]
    for v, world, other in surroundings(definition.oddities.all, definition.roles):
        names = (v.name,) if other is None else (v.name, other.name)
        surrounded.append(
            MatrixPeer("latency", f"{v.name}, {world or names[-1]}", v.role, v.rules, v.sentence, names, world)
        )
    for one, two in chosen_pairs(definition.oddities.all, definition.roles, pairs, seed if sample is None else 0):
        name, sentence = f"{one.name} + {two.name}", f"{one.sentence}; {two.sentence}"
        surrounded.append(MatrixPeer("pair", name, one.role, one.rules + two.rules, sentence, (one.name, two.name)))
    if sample is not None and sample < len(surrounded):
        surrounded = random.Random(seed).sample(surrounded, sample)
    return found + surrounded


def some_faults(peers: Sequence[MatrixPeer], count: int, seed: int) -> list[MatrixPeer]:
    """Return peers with so many of their faults, chosen by a seed; all if there are no more."""
    faults = [peer.name for peer in peers if peer.kind == "fault"]
    chosen = set(random.Random(seed).sample(faults, min(count, len(faults))))
    return [peer for peer in peers if peer.kind != "fault" or peer.name in chosen]


def compute_matrix(
    protocol: str,
    peers: Sequence[MatrixPeer],
    *,
    profile: Profile = "document",
    workers: int = 0,
    brief: bool = False,
) -> Iterator[MatrixRow | Matrix]:
    """Yield the rows of some peers as they are done, and the matrix at the end; ``brief`` as for ``compute_row``.

    ``workers`` is the number of processes, 0 for one per core. Which rules are unguarded is known only if all faults
    are there.
    """
    rows: list[MatrixRow] = []
    # Processes, not threads: a row is nothing but Python, and patches nothing outside its own process.
    with worker_pool(workers or os.cpu_count() or 1, keep_out_of_the_way) as pool:
        for done in as_completed([pool.submit(compute_row, protocol, peer, profile, brief=brief) for peer in peers]):
            rows.append(done.result())
            yield rows[-1]
    # Rows come as processes finish; what is printed and written is in the order of the declarations, run after run.
    order = {(peer.kind, peer.name): place for place, peer in enumerate(peers)}
    rows.sort(key=lambda each: order[each.kind, each.name])
    # A rule is guarded by its own faults alone; one that falls with another rule's fault may fall by accident.
    guarded = {rule for each in rows if each.kind == "fault" for rule in each.killed}
    # What guards a rule is known only where all faults were played.
    is_whole = {peer.name for peer in peers if peer.kind == "fault"} == load(protocol).faults.all.keys()
    # Rules about bytes alone have golden vectors as their proof, and rules on paper have none.
    unguarded = [
        rule.id
        for rule in Suite(protocol).catalogue.rules.values()
        if is_whole and {"wire", "monitor"} & set(rule.verified) and rule.id not in guarded
    ]
    yield Matrix(protocol, tuple(rows), tuple(unguarded))


def compute_row(
    protocol: str,
    peer: MatrixPeer,
    profile: Profile,
    pattern: str = "",
    *,
    brief: bool = False,
    histories: bool = False,
) -> MatrixRow:
    """Play every case against one peer; ``brief`` stops at a fault that is killed, the cases of its rules first.

    With ``histories`` the histories alone are played, against a fault until one of them has found something.
    """
    suite = Suite(protocol)
    # A world per row: what one fault leaves behind must not be seen in the next.
    make = class_of(peer, suite.harness).of
    world = suite.harness.world(make, peer.role, profile=profile, path=WORLDS.get(peer.world))
    outcomes: dict[str, list[Outcome]] = {}
    accusers: dict[str, list[str]] = {}
    errors: list[str] = []
    todo = _chosen(fitting(suite, peer.role, pattern), peer, histories=histories)
    if brief:
        # False before True, and a stable sort: the cases of the fault's own rules first, each part in its order.
        todo.sort(key=lambda case: not set(case.marks.rules) & set(peer.rules))
    for number, case in enumerate(todo, 1):
        # Innocent peers play on to the end, as any case may accuse them.
        if brief and peer.kind == "fault" and set(peer.rules) <= accusers.keys():
            break
        if histories and peer.kind == "fault" and by_history(accusers):
            break
        # A fault may be that the peer dies; the next case is not to be about that.
        if not world.alive():
            world.restart()
        # Faults fail everywhere, and making that small was most of the time that a row took.
        with without_shrinking():
            result = play(case, world, suite, profile=profile, number=number)
        for judgement in result.judgements:
            outcomes.setdefault(judgement.rule, []).append(judgement.outcome)
            if judgement.outcome.accuses:
                accusers.setdefault(judgement.rule, []).append(f"{judgement.case} ({judgement.by})")
            if judgement.outcome is Outcome.ERROR:
                # The last line of a traceback names the exception; the whole would be repeated for every peer.
                errors.append(f"{judgement.case}: {judgement.what.strip().splitlines()[-1]}")
    return MatrixRow(
        peer.kind,
        peer.name,
        peer.role,
        peer.rules,
        peer.sentence,
        {rule: worst(seen) for rule, seen in sorted(outcomes.items())},
        {rule: tuple(dict.fromkeys(seen)) for rule, seen in sorted(accusers.items())},
        tuple(dict.fromkeys(errors)),
    )


def _chosen(cases: list[Case], peer: MatrixPeer, *, histories: bool) -> list[Case]:
    """Return what a peer plays: all cases, and as innocents one history of each kind."""
    if histories:
        return [case for case in cases if case.marks.is_history]
    if peer.kind == "fault":
        # That each rule's own cases find its faults is what the matrix proves; --histories shows what histories do.
        return [case for case in cases if not case.marks.is_history]
    return [case for case in cases if not case.marks.is_seeded or case.name.endswith("[1]")]


def by_history(accusers: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the rules that histories themselves accuse somebody of breaking, and not only monitors within them."""
    return [rule for rule, names in accusers.items() if any(name.endswith("(case)") for name in names)]


def fitting(suite: Suite, role: str, pattern: str = "") -> list[Case]:
    """Return the cases that a role can play in memory and whose name or rules hold a pattern."""
    # Links in memory keep frames apart as TCP with a protocol's own framing does; cases about other links need sockets.
    return [
        case
        for case in suite.cases
        if case.fits(role, suite.harness.usual_transport)
        and (pattern in case.name or any(pattern in each for each in case.marks.rules))
    ]


def class_of(peer: MatrixPeer, definition: WireProtocol) -> type[Peer]:
    """Return the class of a peer of the matrix."""
    of_its_kind = definition.faults if peer.kind == "fault" else definition.oddities
    match [of_its_kind.all[name] for name in peer.variants]:
        case []:
            return definition.roles[peer.role]
        case [variant]:
            return variant.peer
        case [one, two]:
            return both(one, two)
    raise AssertionError(f"{peer.name}: a peer has two oddities at most")


def keep_out_of_the_way() -> None:
    """Prepare a process that computes rows: nothing is written where the user is, and little is looked for in vain."""
    # Hypothesis makes a folder wherever the user happens to be.
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache() / "hypothesis")
    # What a play leaves behind is a few megabytes, and what is imported stays: the collector took a tenth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
