"""The peers of the kill matrix, and how they are judged: each plays every case, in memory and virtual time.

So a row costs a second or two, waits for nothing, and is the same on every machine.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

import msgspec

from conformance.cases import Case
from conformance.catalogue.rules import Profile
from conformance.engine.play import play
from conformance.selfcheck.matrix import Kind, Matrix, MatrixRow
from conformance.suite import Suite
from conformance.verdicts import Outcome, worst
from harness.iuts.environments import cache
from harness.peers.peer import Peer
from harness.protocol import WireProtocol, load


class MatrixPeer(msgspec.Struct, frozen=True):
    """The input of a row. It is sent between processes, so it names a peer rather than holds it."""

    kind: Kind
    name: str
    role: str
    rules: tuple[str, ...] = ()
    sentence: str = ""


def matrix_peers(protocol: str) -> list[MatrixPeer]:
    """Return every peer that the matrix holds: the originals, the faults, the oddities."""
    definition = load(protocol)
    found = [MatrixPeer("original", role, role) for role in definition.roles]
    found += [MatrixPeer("fault", v.name, v.role, v.rules, v.sentence) for v in definition.faults.all.values()]
    # Oddities are innocent: they show that the tester accuses nobody of what the documents leave open.
    found += [MatrixPeer("oddity", v.name, v.role, v.rules, v.sentence) for v in definition.oddities.all.values()]
    return found


def compute_matrix(
    protocol: str, *, profile: Profile = "document", workers: int = 0, brief: bool = False
) -> Iterator[MatrixRow | Matrix]:
    """Yield rows as they are done, and the whole at the end; ``brief`` as for ``compute_row``.

    ``workers`` is the number of processes, 0 for one per core.
    """
    rows: list[MatrixRow] = []
    todo = matrix_peers(protocol)
    # Processes, not threads: a row is nothing but Python, and patches nothing outside its own process.
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, initializer=_keep_out_of_the_way) as pool:
        for done in as_completed([pool.submit(compute_row, protocol, peer, profile, brief=brief) for peer in todo]):
            rows.append(done.result())
            yield rows[-1]
    # Rows come as processes finish; what is printed and written is in the order of the declarations, run after run.
    order = {(peer.kind, peer.name): place for place, peer in enumerate(todo)}
    rows.sort(key=lambda each: order[each.kind, each.name])
    # A rule is guarded by its own faults alone; one that falls with another rule's fault may fall by accident.
    guarded = {rule for each in rows if each.kind == "fault" for rule in each.killed}
    # Rules about bytes alone have golden vectors as their proof, and rules on paper have none.
    unguarded = [
        rule.id
        for rule in Suite(protocol).catalogue.rules.values()
        if {"wire", "monitor"} & set(rule.verified) and rule.id not in guarded
    ]
    yield Matrix(protocol, tuple(rows), tuple(unguarded))


def compute_row(
    protocol: str, peer: MatrixPeer, profile: Profile, pattern: str = "", *, brief: bool = False
) -> MatrixRow:
    """Play every case against one peer; ``brief`` stops at a fault that is killed, the cases of its rules first."""
    suite = Suite(protocol)
    # A world per row: what one fault leaves behind must not be seen in the next.
    world = suite.harness.world(_class_of(peer, suite.harness).of, peer.role, profile=profile)
    outcomes: dict[str, list[Outcome]] = {}
    accusers: dict[str, list[str]] = {}
    errors: list[str] = []
    todo = fitting(suite, peer.role, pattern)
    if brief:
        # False before True, and a stable sort: the cases of the fault's own rules first, each part in its order.
        todo.sort(key=lambda case: not set(case.marks.rules) & set(peer.rules))
    for number, case in enumerate(todo, 1):
        # Innocent peers play on to the end, as any case may accuse them.
        if brief and peer.kind == "fault" and set(peer.rules) <= accusers.keys():
            break
        # A fault may be that the peer dies; the next case is not to be about that.
        if not world.alive():
            world.restart()
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


def fitting(suite: Suite, role: str, pattern: str = "") -> list[Case]:
    """Return the cases that a role can play in memory and whose name or rules hold a pattern."""
    # Links in memory keep frames apart as TCP with a protocol's own framing does; cases about other links need sockets.
    return [
        case
        for case in suite.cases
        if case.fits(role, "tcp") and (pattern in case.name or any(pattern in each for each in case.marks.rules))
    ]


def _class_of(peer: MatrixPeer, definition: WireProtocol) -> type[Peer]:
    match peer.kind:
        case "fault":
            return definition.faults.all[peer.name].peer
        case "oddity":
            return definition.oddities.all[peer.name].peer
        case "original":
            return definition.roles[peer.role]


def _keep_out_of_the_way() -> None:
    """Keep Hypothesis from making a folder wherever the user happens to be, in a process that computes rows."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache() / "hypothesis")
