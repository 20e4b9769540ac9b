"""A node that lacks the basic thing, over sockets: it is told so once, first of all, and the run is over soon."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lacking_nodes import NODES
from planted_nodes import SOCKETS, Gate
from repeats import printed

from harness.peers.peer import Peer

MINUTE = 60.0
"""What such a run takes at most on a quiet machine; most take twenty seconds."""

BUSY = 4
"""How much longer it may take where others work: the waits of a run stay as they are, and its plays do not."""


FIRST = {(protocol, make.role): make for protocol, make, *_ in reversed(NODES)}
"""Of each role the one that every run of .ci/run plays."""


@pytest.mark.slow(seconds=16)  # a run of the gate each, which waits in vain for some seconds
@pytest.mark.parametrize(
    ("protocol", "make", "accused", "root"),
    [pytest.param(*each, marks=() if FIRST[each[0], each[1].role] is each[1] else pytest.mark.sweep) for each in NODES],
)
def test_what_a_node_does_not_do_is_told_first_and_the_rest_is_blocked(
    protocol: str,
    make: type[Peer],
    accused: list[str],
    root: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    with Gate(protocol, tmp_path, over=SOCKETS) as gate:
        told = gate.run(make.__name__, f"goldwire test {protocol} --iut peer:{make.role} --report out")
    assert (told.status, told.trouble) == (1, [])
    # The cause first, and beside it nothing but what is basic as well: who says nothing does neither of two things.
    shown = [finding.rule for finding in printed(told.out) if finding.repeat]
    assert shown[:1] == (accused or [root])
    assert set(shown) <= {basic for _, _, _, basic in NODES}
    rules = json.loads((tmp_path / "out" / "summary.json").read_text())["rules"]
    assert [name for name, rule in rules.items() if rule["verdict"] in ("FAIL", "WARN", "ERROR")] == accused
    blocked = Counter(rule["blocked_by"] for rule in rules.values() if rule.get("blocked_by"))
    assert blocked.most_common(1)[0][0] == root
    assert f"{blocked[root]} rules blocked by {root}" in told.out.splitlines()[-1]
    record_property("seconds", told.wall)
    assert told.wall < BUSY * MINUTE
