"""What a recording cannot show is not said to be kept: what fails a play must not pass in its recording."""

from pathlib import Path

import pytest

from conformance.cases import Case
from conformance.engine.play import play
from conformance.recordings import judge
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.captures.recordings import Recording
from harness.captures.traces import write_pcapng
from harness.peers.variants import Variant


def plays(suite: Suite, fault: Variant) -> list[Case]:
    """Return the cases that are to notice a fault, and are the same each time."""
    fitting = [case for case in suite.cases if case.fits(fault.role, suite.harness.usual_transport)]
    return [case for case in fitting if not case.marks.is_history and set(case.marks.rules) & set(fault.rules)]


def compared(suite: Suite, fault: Variant, case: Case, path: Path) -> dict[str, Outcome | None]:
    """Return what the recording of a play says of each rule that the play itself accuses the node of breaking."""
    result = play(case, suite.harness.world(fault.peer.of, fault.role), suite, profile="document")
    write_pcapng(result.trace, path, suite.harness.framings)
    side = "dialling" if fault.role in suite.harness.dials else "listening"
    heard: dict[str, Outcome] = {}
    for session in Recording(path, suite.protocol):
        for each in judge(session.seen_from(side), suite, "document"):
            heard[each.rule] = max(each.outcome, heard.get(each.rule, each.outcome), key=lambda outcome: outcome.rank)
    played = result.by_rule()
    return {rule: heard.get(rule) for rule in fault.rules if rule in played and played[rule].accuses}


@pytest.mark.slow(seconds=90)  # nearly all faults are played and recorded
# Three hundred faults of Pathfinder, and a thousand of Rai, are for tox -e sweep.
@pytest.mark.parametrize(
    "protocol", ["zenoh", *(pytest.param(each, marks=pytest.mark.sweep) for each in ("pathfinder", "rai")), "urbit"]
)
def test_rules_that_recordings_cannot_see_broken_are_not_verified_by_monitors(protocol: str, tmp_path: Path) -> None:
    suite = Suite(protocol)
    faults = list(suite.harness.faults.all.values())
    hidden: set[str] = set()
    seen: set[str] = set()
    # Two cases for each fault first, and then all cases for those of whose rules nothing was seen.
    for most in (2, None):
        for fault in faults:
            if most is None and not (hidden - seen) & set(fault.rules):
                continue
            for case in plays(suite, fault)[:most]:
                for rule, outcome in compared(suite, fault, case, tmp_path / "a.pcapng").items():
                    if outcome is not None and outcome.accuses:
                        seen.add(rule)
                    elif outcome in (Outcome.PASS, Outcome.ODD):
                        hidden.add(rule)
    wrong = {rule for rule in hidden - seen if "monitor" in suite.catalogue.rules[rule].verified}
    assert not wrong, "their recordings pass, whatever is wrong"
    assert seen
