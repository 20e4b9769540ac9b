"""Basics: who does not do the basic thing is told so once, soon, and nothing that is untrue."""

from collections import Counter

import pytest

from conformance.catalogue.rules import Catalogue
from conformance.engine.tester import Tester
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome, worst
from harness.pathfinder.peers import client as pathfinder_client
from harness.pathfinder.peers import server as pathfinder_server
from harness.peers.peer import Peer
from harness.protocol import load
from harness.timing import ANSWER
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from wire.pathfinder.values import MULTIPLE
from wire.zenoh.values import Declare, DeclareFinal

MINUTE = 60.0


class DeafRouter(Router):
    """Accepts connections and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteRouter(Router):
    """Shakes hands, and then ignores everything."""

    def on_message(self, session, message):
        pass


class SecretiveRouter(Router):
    """Never announces what is declared."""

    def declare(self, session, body, interest_id):
        if isinstance(body, DeclareFinal):
            super().declare(session, body, interest_id)


class StaleRouter(Router):
    """Lists what is declared, and never announces what comes later."""

    def announce(self, entity):
        pass


class UndeclaringRouter(Router):
    """Answers questions, and ignores every declaration."""

    def on_message(self, session, message):
        if not isinstance(message, Declare):
            super().on_message(session, message)


class DeafClient(Client):
    """Dials, and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteClient(Client):
    """Shakes hands, and then ignores everything."""

    def on_message(self, session, message):
        pass


class SecretiveClient(Client):
    """Never announces what it declares."""

    def declare(self, session, body, interest_id):
        if isinstance(body, DeclareFinal):
            super().declare(session, body, interest_id)


class DeafServer(pathfinder_server.Server):
    """Accepts connections and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteServer(pathfinder_server.Server):
    """Completes hello, and then ignores everything."""

    def execute(self, session, request):
        if request["ta-cmd"] == "hello":
            super().execute(session, request)


class UnlistingServer(pathfinder_server.Server):
    """Answers requests for one response, and ignores those for several."""

    def execute(self, session, request):
        if request["ta-cmd"] not in MULTIPLE:
            super().execute(session, request)


class SecretiveServer(pathfinder_server.Server):
    """Never tells a subscription of anything."""

    def notify_match(self, subscription, what, service):
        pass


class EmptyServer(pathfinder_server.Server):
    """Lists no services."""

    def on_services(self, session, request):
        self.enumerate(session, request, [])


class MutePathfinderClient(pathfinder_client.Client):
    """Dials, and says nothing."""

    def send(self, state, message):
        pass


class IdlePathfinderClient(pathfinder_client.Client):
    """Says hello, and then nothing."""

    def send(self, state, message):
        if message["ta-cmd"] == "hello":
            super().send(state, message)


class UnpublishingPathfinderClient(pathfinder_client.Client):
    """Subscribes, and never publishes."""

    def send(self, state, message):
        if message["ta-cmd"] != "publish":
            super().send(state, message)


class UnsubscribingPathfinderClient(pathfinder_client.Client):
    """Publishes, and never subscribes."""

    def send(self, state, message):
        if message["ta-cmd"] != "subscribe":
            super().send(state, message)


class DeafPathfinderClient(pathfinder_client.Client):
    """Says hello, and ignores what it is answered."""

    def received(self, link, frame, now):
        pass


NODES: list[tuple[str, type[Peer], list[str], str]] = [
    # No document of Zenoh's speaks of the handshake: nobody is accused who does not shake hands.
    ("zenoh", DeafRouter, [], "ZI-070"),
    ("zenoh", MuteRouter, ["ZI-070"], "ZI-070"),
    ("zenoh", UndeclaringRouter, ["ZI-001"], "ZI-001"),
    ("zenoh", SecretiveRouter, ["ZI-001"], "ZI-001"),
    ("zenoh", StaleRouter, ["ZD-091"], "ZD-091"),
    ("zenoh", DeafClient, [], "ZI-070"),
    ("zenoh", MuteClient, ["ZI-070"], "ZI-070"),
    ("zenoh", SecretiveClient, ["ZI-001"], "ZI-001"),
    ("pathfinder", DeafServer, ["PF-114"], "PF-114"),
    ("pathfinder", MuteServer, ["PF-094"], "PF-094"),
    ("pathfinder", UnlistingServer, ["PF-098"], "PF-098"),
    ("pathfinder", SecretiveServer, ["PF-120"], "PF-120"),
    ("pathfinder", EmptyServer, ["PF-157"], "PF-157"),
    # Nor has a client to say anything at all, to publish or to subscribe.
    ("pathfinder", MutePathfinderClient, [], "PF-107"),
    ("pathfinder", IdlePathfinderClient, [], "PF-097"),
    ("pathfinder", UnpublishingPathfinderClient, [], "PF-093"),
    ("pathfinder", UnsubscribingPathfinderClient, [], "PF-097"),
    ("pathfinder", DeafPathfinderClient, [], "PF-097"),
]
"""Nodes that lack something, the rules that accuse them, and the rule for want of which most cannot be judged."""


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
