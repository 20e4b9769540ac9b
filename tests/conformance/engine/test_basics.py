"""Basics: who does not do the basic thing is told so once, soon, and nothing that is untrue."""

from collections import Counter

import pytest
from lacking_nodes import NODES

from conformance.catalogue.rules import Catalogue
from conformance.engine.tester import Tester
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome, worst
from harness.peers.peer import Peer
from harness.protocol import load
from harness.timing import ANSWER
from harness.zenoh.peers.router import Router

MINUTE = 60.0


def play(protocol: str, make: type[Peer]) -> tuple[dict[str, list[Judgement]], float]:
    """Play the whole gate; return what it says of each rule, and the seconds that it takes."""
    suite = Suite(protocol)
    world = suite.harness.world(make.of, make.role)
    world.timing.answer = ANSWER  # as over sockets, where waiting costs something
    tester = Tester(f"peer:{make.role}", protocol, instance=world)
    judged: dict[str, list[Judgement]] = {}
    for case in suite.cases:
        if case.fits(make.role, "tcp") and not (case.marks.is_seeded and not case.name.endswith("[1]")):
            for judgement in tester.play(case).result.judgements:
                judged.setdefault(judgement.rule, []).append(judgement)
    return judged, world.clock.now()


@pytest.mark.parametrize(("protocol", "make", "accused", "root"), NODES)
def test_what_a_node_does_not_do_at_all_is_said_once(
    protocol: str, make: type[Peer], accused: list[str], root: str
) -> None:
    judged, seconds = play(protocol, make)
    outcomes = {rule: worst(each.outcome for each in judgements) for rule, judgements in judged.items()}
    assert [rule for rule, outcome in outcomes.items() if outcome.accuses or outcome is Outcome.ERROR] == accused
    blocking = Counter(each.blocked_by for judgements in judged.values() for each in judgements if each.blocked_by)
    assert blocking.most_common(1)[0][0] == root
    assert seconds < MINUTE


class LateRouter(Router):
    """Answers nobody but in handshakes for its first seconds: longer than two plays wait, once."""

    def received(self, link, frame, now):
        self.is_late = now < 2.4 * ANSWER
        super().received(link, frame, now)

    def on_message(self, session, message):
        if not self.is_late:
            super().on_message(session, message)


@pytest.mark.slow  # a whole gate in which the first cases wait in vain
def test_who_was_slow_once_is_accused_of_nothing_though_two_plays_waited_in_vain() -> None:
    judged, _ = play("zenoh", LateRouter)
    assert not [rule for rule, judgements in judged.items() if any(each.outcome.accuses for each in judgements)]
    passed = [rule for rule, judgements in judged.items() if any(each.outcome is Outcome.PASS for each in judgements)]
    assert len(passed) > 100


@pytest.mark.slow  # a whole gate in which every case waits for something
def test_what_is_never_done_is_not_waited_for_in_every_case() -> None:
    """Without D_FINAL where nothing is to be listed, a hundred cases come to no end; each once took a patience."""
    judged, seconds = play("zenoh", load("zenoh").faults.all["no-final-for-nothing"].peer)
    accused = {rule for rule, judgements in judged.items() if any(each.outcome.accuses for each in judgements)}
    assert accused == {"ZI-012", "ZI-052", "ZI-070"}
    assert seconds < MINUTE


def test_a_node_is_planted_for_each_basic_thing() -> None:
    tried = {
        rule for p in ("zenoh", "pathfinder") for c in Suite(p).cases if c.marks.is_basic for rule in c.marks.rules
    }
    assert {root for _, _, _, root in NODES} == tried


def test_every_rule_that_is_played_says_what_it_needs() -> None:
    """A rule that is played rests on something, unless it is what others rest on; and basics are what rules need."""
    for protocol in ("zenoh", "pathfinder"):
        suite = Suite(protocol)
        catalogue: Catalogue = suite.catalogue
        needed = {need for rule in catalogue.rules.values() for need in rule.needs}
        tried = {rule for case in suite.cases if case.marks.is_basic for rule in case.marks.rules}
        assert needed == tried
        for rule in catalogue.rules.values():
            assert rule.needs or rule.id in needed or "wire" not in rule.verified, rule.id
