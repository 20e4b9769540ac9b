"""Live and recorded verdicts of one trace are equal: what a gate says of a play, an audit of its recording says too.

Each fault and oddity is played by the cases about its rules, and each case by one of them. The quick tests take some of
these by a seed; ``GOLDWIRE_LIVE_AND_RECORDED=all`` (tox -e selfcheck) all of them.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from conformance.cases import Case
from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.recordings import judge
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.captures.recordings import Recording
from harness.captures.traces import write_pcapng
from harness.peers.peer import Peer
from harness.protocol import known
from harness.trace import write_ndjson

SEED = 1
SOME = 24
"""Plays of each protocol in the quick tests."""

ALL = os.environ.get("GOLDWIRE_LIVE_AND_RECORDED") == "all"

Said = Counter[tuple[str, Outcome, str, str, int]]
"""What monitors say: rule, outcome, words, reading, how much evidence; and how often, as there are several sessions."""


def plays(suite: Suite) -> Iterator[tuple[type[Peer], Case]]:
    dice = Random(SEED)
    variants = [*suite.harness.faults.all.values(), *suite.harness.oddities.all.values()]
    cases = [each for each in suite.cases if not each.is_searched]
    for variant in variants:
        about = [each for each in cases if set(each.marks.rules) & set(variant.rules)]
        yield from ((variant.peer, each) for each in about if each.fits(variant.role, suite.harness.usual_transport))
    for case in suite.cases:
        yield from (
            (peer, case) for role, peer in suite.harness.roles.items() if case.fits(role, suite.harness.usual_transport)
        )
        way = suite.harness.usual_transport
        if fitting := [each.peer for each in variants if case.fits(each.role, way) and not case.is_searched]:
            yield dice.choice(fitting), case


def said(judgements: Iterable[Judgement], namespace: str) -> Said:
    return Counter(
        (each.rule, each.outcome, each.what.replace(namespace, ""), each.reading, each.evidence)
        for each in judgements
        if each.by == "monitor"
    )


def accusations(said: Said) -> Said:
    return Counter({each: count for each, count in said.items() if each[1].accuses})


@pytest.mark.parametrize("protocol", known())
def test_what_is_said_of_a_play_is_said_of_its_recording(protocol: str, tmp_path: Path) -> None:
    suite = Suite(protocol)
    chosen = [*plays(suite)]
    accused = 0
    for peer, case in chosen if ALL else Random(SEED).sample(chosen, min(SOME, len(chosen))):
        with without_shrinking():
            result = play(case, suite.harness.world(peer.of, peer.role), suite, profile="document")
        if result.outcome is Outcome.CRASH:
            continue  # of whom nothing else is said
        live = said(result.judgements, "g1/")
        accused += any(outcome.accuses for _, outcome, *_ in live)
        write_pcapng(result.trace, tmp_path / "a.pcapng", suite.harness.framings)
        write_ndjson(result.trace, tmp_path / "a.ndjson")
        # A capture does not know who tests whom: it is judged as the one that listens, unless somebody says otherwise.
        side = "dialling" if peer.role in suite.harness.dials else "listening"
        for name, judged in (("a.ndjson", suite.harness.usual_side), ("a.pcapng", side)):
            sessions = [each.seen_from(judged) for each in Recording(tmp_path / name, protocol)]
            recorded = said((each for one in sessions for each in judge(one, suite, "document")), "g1/")
            if name == "a.pcapng" and not suite.harness.framings:
                # Nothing shows that no datagram is missing: so less is proven, and nothing beyond what was said.
                assert accusations(recorded) <= accusations(live), f"{peer.__name__}, {case.name}"
            else:
                assert recorded == live, f"{peer.__name__}, {case.name}, {name}"
    assert accused or not suite.harness.faults.all
