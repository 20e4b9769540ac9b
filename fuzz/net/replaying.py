"""Replaying a network finding: whether an implementation still does it, or does something else."""

import re
from pathlib import Path

from conformance.suite import Suite
from fuzz.net.confirming import is_same
from fuzz.net.expected_findings import expected_of
from fuzz.net.finding import NetworkFinding
from fuzz.net.node_on_trial import NodeOnTrial, Reproduced, reproduce
from fuzz.net.symptoms import Symptom, normal
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from harness.errors import BadDescription

FIXED, STILL, DIFFERENT = "FIXED", "STILL THERE", "DIFFERENT"


_LINE = re.compile(r"(\.[A-Za-z]+)(:\d+)+")


def verdict(finding: NetworkFinding, seen: Reproduced | None, *, elsewhere: bool = False) -> str:
    """Say what became of a finding, by what showed when it was tried again.

    ``elsewhere``: with another version, or another implementation, where the same line stands at another place.
    """
    if seen is None:
        return FIXED
    now, then = seen.symptom, finding.symptom
    return STILL if is_same(now, then) or (elsewhere and _anywhere(now) == _anywhere(then)) else DIFFERENT


def _anywhere(symptom: Symptom) -> tuple[str, str, str]:
    """Return by what a symptom is the same whatever lines stand around the one that it names."""
    return symptom.kind, symptom.rule, normal(_LINE.sub(r"\1", symptom.what))


def replayed(finding: NetworkFinding, iut: str = "", expect: Path | None = None) -> Reproduced | None:
    """Try the smallest test of a finding on a fresh instance, and if nothing shows the one that was found.

    Rules that the implementation is known to break, by the file ``expect``, that of the campaign or that of the gate,
    are passed over, but for that which the finding is about.

    ``iut`` is another implementation than that which it was found in. ``BadDescription`` where it is none, or of
    another role; ``BadExpectations``; ``StartFailed`` when it does not come up.
    """
    job = FuzzJob(
        protocol=finding.protocol,
        iut=iut or finding.iut,
        role=finding.role,
        seconds=0.0,
        seed=0,
        out="",
        transport=finding.transport,
        options=() if iut else finding.options,
    )
    suite = Suite(finding.protocol)
    description, transport = on_trial(job, suite)
    if description.role != finding.role:
        raise BadDescription(f"{job.iut} is a {description.role}, and the finding is about a {finding.role}")
    target = load(finding.protocol)[finding.role]
    given = Path(finding.expect) if finding.expect and not iut else None
    expected = expected_of(description, expect or given).but_for(finding.symptom)
    node = NodeOnTrial(suite, description, target, profile=finding.profile, transport=transport, expected=expected)
    node.take_time()
    try:
        seen = reproduce(node, finding.test, times=finding.times, fresh=False)
        # A repair may cover the small test alone: then the one that was found shows what is left.
        return seen or reproduce(node, finding.found, times=finding.times)
    finally:
        node.stop()
