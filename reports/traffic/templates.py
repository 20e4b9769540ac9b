"""Templates: recorded sessions with our own peers, sound and faulty, of which it is known who breaks which rule.

A play in memory gives a session for each link. One with the sound peer is taken if no monitor accuses anybody in it;
one with a lying peer if in its capture a rule is accused that the lie was declared to be about, and none that was not
accused live as well. It is then varied and judged a few times: what does not keep its verdicts is told as it was.
"""

import tempfile
from collections.abc import Iterator, Sequence
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random

import msgspec

from conformance.cases import Case
from conformance.engine.play import play
from conformance.recordings import judge
from conformance.suite import Suite
from harness.captures.recordings import Recording
from harness.errors import HarnessError
from harness.peers.peer import Peer, PeerSettings
from harness.peers.variants import Variant
from harness.trace import Direction, Entry, EntryKind
from harness.worker_pool import worker_pool
from reports.progress import OnProgress
from reports.traffic.interleaving import InterleavedCapture
from reports.traffic.playback import (
    PAUSES,
    STRETCHES,
    Pace,
    PlayedSession,
    Template,
    TemplatePlayer,
    encoders,
    variation_of,
)

LEAST, MOST = 2, 60
"""Frames of a session that is taken."""
PREFERRED = 8
"""Frames that a session had better have."""
LARGEST = 1 << 14
"""Bytes of a frame."""
OF_EACH_FAULT = 3
CANDIDATES, MOST_CANDIDATES = 4 * OF_EACH_FAULT, 20 * OF_EACH_FAULT
"""Sessions that are proven at once for a fault, and in all: of some protocols many show nothing by themselves."""
RANDOM = "test_properties"
"""The file of cases that are drawn at random: they are not the same each time."""

TRIES = 8
"""How often a template is varied and judged before it is taken."""


def templates(protocol: str, on_progress: OnProgress, workers: int = 1, pattern: str = "") -> list[Template]:
    """Return a protocol's templates: good ones, and up to three for each fault that a monitor sees.

    Only cases whose name holds the ``pattern`` are played. The same come back whatever the number of ``workers``.
    """
    todo = ["", *(each.name for each in _faults(_suite(protocol)))]
    found: list[Template] = []
    work = partial(_of_fault, protocol, pattern)
    # One fault for each task, and results in the order of faults: the number of workers changes nothing.
    if workers > 1:
        with worker_pool(workers, context=get_context("spawn")) as pool:
            for number, some in enumerate(pool.map(work, todo), 1):
                found += some
                on_progress(number, len(todo))
        return found
    for number, name in enumerate(todo, 1):
        found += work(name)
        on_progress(number, len(todo))
    return found


def unseen(protocol: str, known: Sequence[Template]) -> tuple[str, ...]:
    """Return the faults that a monitor might see, and of which there is no template."""
    seen = {template.fault for template in known}
    return tuple(sorted(each.name for each in _faults(_suite(protocol)) if each.name not in seen))


@cache
def _suite(protocol: str) -> Suite:
    return Suite(protocol)


def _judged_roles(suite: Suite) -> list[str]:
    """Return the roles of the side that is judged in captures: the one that is dialled, or all, where all dial."""
    harness = suite.harness
    if harness.is_brokered:
        return list(harness.roles)
    return [next(role for role in harness.roles if role not in harness.dials)]


def _dialler(suite: Suite) -> Direction:
    """Return the side of a play that dials, as its capture has it."""
    return Direction.RECEIVED if suite.harness.usual_side == "dialling" else Direction.SENT


def _faults(suite: Suite) -> list[Variant]:
    """Return the faults that a monitor might see."""
    watched = {monitor.rule for monitor in suite.monitors}
    variants, roles = suite.harness.faults.all, _judged_roles(suite)
    return [each for each in variants.values() if each.role in roles and watched & set(each.rules)]


def _of_fault(protocol: str, pattern: str, name: str) -> list[Template]:
    """Return the templates of a fault; of the sound peer if it has no name."""
    suite = _suite(protocol)
    if not name:
        return _good(suite, pattern)
    fault = next(each for each in _faults(suite) if each.name == name)
    return _faulty(_chosen(suite, fault.role, pattern), fault, suite)


def _chosen(suite: Suite, role: str, pattern: str) -> list[Case]:
    """Return the cases that are played with a role."""
    fitting = [case for case in suite.cases if case.fits(role, suite.harness.usual_transport)]
    return [case for case in fitting if pattern in case.name and RANDOM not in case.name]


def _good(suite: Suite, pattern: str) -> list[Template]:
    seen: dict[tuple[bytes, ...], Template] = {}
    for role in _judged_roles(suite):
        for case in _chosen(suite, role, pattern):
            for each in _played(case, suite.harness.roles[role], role, suite, None):
                if len(each.frames) >= PREFERRED:
                    # Cases often begin alike; the same frames once are enough.
                    seen.setdefault(tuple(frame for _, _, frame in each.frames), each)
    return proven(list(seen.values()), suite)


def _faulty(chosen: Sequence[Case], fault: Variant, suite: Suite) -> list[Template]:
    about = [case for case in chosen if set(case.marks.rules) & set(fault.rules)]
    others = [case for case in chosen if case not in about]
    # First the cases about the fault's own rules, which show it best; all others only if none of those does.
    for some in (about, others):
        guilty = [
            link
            for case in some
            for link in _played(case, fault.peer, fault.role, suite, fault)
            if set(link.rules) & set(fault.rules)
        ]
        # Those that break nothing else first, and those with enough frames to look like a session.
        guilty.sort(key=lambda each: (bool(set(each.rules) - set(fault.rules)), len(each.frames) < PREFERRED))
        # Proving plays a session back many times, and where most stand the test the first few are enough.
        for at in range(0, min(len(guilty), MOST_CANDIDATES), CANDIDATES):
            if found := proven(guilty[at : at + CANDIDATES], suite)[:OF_EACH_FAULT]:
                return found
    return []


def _played(case: Case, peer: type[Peer], role: str, suite: Suite, fault: Variant | None) -> Iterator[Template]:
    """Play a case on a fresh peer and yield its sessions, with the rules that are broken in the play."""
    variation = variation_of(suite.protocol)
    own = {} if variation is None else variation.SETTINGS
    if variation is not None:
        variation.begin()

    def made(settings: PeerSettings) -> Peer:
        # Not beside the usual ones, in which not all of these can be said.
        return partial(peer, **own)(profile=settings.profile) if own else peer.of(settings)

    try:
        world = suite.harness.world(made, role)
        result = play(case, world, suite, profile="document")
    # A peer that breaks the session so badly that the play cannot begin leaves no template.
    except HarnessError:
        return
    # Only what monitors say: a case has a stimulus of its own, which no capture shows.
    accused = {each.rule for each in result.judgements if each.by == "monitor" and each.outcome.accuses}
    for link in dict.fromkeys(entry.link for entry in result.trace):
        entries = [entry for entry in result.trace.of(link) if _is_shown(entry, suite)]
        if _is_fit(entries, _dialler(suite)):
            yield _template(f"{case.name} {link}", fault, sorted(accused), entries, _dialler(suite))


def _is_shown(entry: Entry, suite: Suite) -> bool:
    """Tell whether a capture shows an entry: of the connection with a broker, what the tester listens to is none."""
    if entry.what is not EntryKind.FRAME:
        return entry.what is not EntryKind.NOTE
    try:
        encoders(suite.harness.usual_framing)[entry.direction is _dialler(suite)](entry.data)
    except ValueError:
        return not suite.harness.is_brokered
    return True


def _is_fit(entries: Sequence[Entry], dialler: Direction) -> bool:
    """Tell whether a session has its beginning, consists of frames, not too large, and is over at its end."""
    first, *rest = entries
    if first.what is not EntryKind.OPENED or first.direction is not dialler:
        return False
    frames = rest[:-1] if rest and rest[-1].what is EntryKind.CLOSED else rest
    if not LEAST <= len(frames) <= MOST:
        return False
    return all(each.what is EntryKind.FRAME and len(each.data) <= LARGEST for each in frames)


def _template(
    name: str, fault: Variant | None, rules: Sequence[str], entries: Sequence[Entry], dialler: Direction
) -> Template:
    began, last = entries[0].time, entries[-1]
    frames = tuple(
        (each.time - began, each.direction is dialler, each.data) for each in entries if each.what is EntryKind.FRAME
    )
    ended = last.what is EntryKind.CLOSED
    return Template(
        name=name,
        fault=fault.name if fault else "",
        declared=fault.rules if fault else (),
        rules=tuple(rules),
        frames=frames,
        lasted=last.time - began,
        ended_by_dialler=not ended or last.direction is dialler,
        is_reset=ended and last.note == "reset",
    )


def proven(candidates: Sequence[Template], suite: Suite) -> list[Template]:
    """Return those that are judged alike however they are varied, each with the rules that are then seen broken."""
    if not candidates:
        return []
    unvaried = [msgspec.structs.replace(each, is_varied=False) for each in candidates]
    plain = _judged(unvaried, suite)
    varied = _judged(candidates, suite)
    found = []
    for template, verdicts, others in zip(candidates, plain, varied, strict=True):
        same = set(verdicts)
        # The same verdicts every time that it is played as it was, and any at all: else chance decides what is planted.
        if len(same) != 1 or not (outcomes := next(iter(same))):
            continue
        rules = tuple(sorted({rule for rule, outcome, accuses in outcomes if accuses}))
        # A fault has to show as itself, and nothing else may be accused that was not accused live: planted is what is
        # known.
        guilty = bool(set(rules) & set(template.declared)) and set(rules) <= set(template.rules)
        if not guilty if template.fault else rules:
            continue
        found.append(msgspec.structs.replace(template, rules=rules, is_varied=set(others) == same))
    return found


RuleOutcomes = frozenset[tuple[str, str, bool]]
"""What one session comes to: rules, their outcomes, and whether those accuse."""


def _judged(candidates: Sequence[Template], suite: Suite) -> list[list[RuleOutcomes]]:
    """Return what the monitors say of each candidate, each time that it is played back."""
    protocol = suite.protocol
    variation, framing = variation_of(protocol), suite.harness.usual_framing
    paces = [Pace(PAUSES[0], STRETCHES[0]), Pace(PAUSES[1], STRETCHES[1])]
    found: list[list[RuleOutcomes]] = [[] for _ in candidates]
    random = Random(protocol)
    players = [TemplatePlayer(each, variation, framing) for each in candidates]

    def sessions() -> Iterator[tuple[int, PlayedSession]]:
        for place, player in enumerate(players):
            for number in range(TRIES):
                pace = paces[number] if number < len(paces) else None
                yield place, player.play(random, pace)

    # Through a capture, as what is generated will be read: what does not survive packets and reassembly is no template.
    with tempfile.TemporaryDirectory(prefix="goldwire-") as folder:
        path = Path(folder) / "templates.pcap"
        places = {}
        with InterleavedCapture(path, random) as capture:
            for number, place in capture.take(sessions()):
                places[number] = place
        source = Recording(path, protocol)
        for recorded in source:
            judgements = judge(recorded, suite, "document")
            outcomes = frozenset((each.rule, each.outcome.value, each.outcome.accuses) for each in judgements)
            # A loss in a capture without any means that the session is not what was said: it proves nothing.
            found[places[recorded.number]].append(outcomes if not recorded.losses else frozenset())
    return [each if len(each) == TRIES else [] for each in found]
