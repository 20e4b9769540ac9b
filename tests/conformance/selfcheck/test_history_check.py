"""What histories find of the kill matrix: counted as what it is, and known where it is nothing."""

import pytest

from conformance.selfcheck.history_check import FaultGroup, FaultGroups, not_found, page, summarised, verdict
from conformance.selfcheck.matrix import MatrixRow
from harness.protocol import load

KNOWN = FaultGroups((FaultGroup("time", "it needs a day", ("slow",)), FaultGroup("bytes", "it is cut", ("short",))))


def row(name: str, *accusers: str, kind: str = "fault", errors: tuple[str, ...] = ()) -> MatrixRow:
    """Return the row of a peer that some cases or monitors accuse."""
    return MatrixRow(kind, name, "router", ("ZI-1",), "lies", {}, {"ZI-2": accusers} if accusers else {}, errors)  # type: ignore[arg-type]


FOUND, SEEN = (
    row("liar", "test_histories.test_modes[1] (case)"),
    row("lisper", "test_histories.test_modes[1] (monitor)"),
)
MISSED = (row("slow"), row("short"))
INNOCENT = row("odd", kind="oddity")


def test_what_a_history_finds_counts_apart_from_what_monitors_see_in_it() -> None:
    summary, wrong = summarised("zenoh", (FOUND, SEEN, *MISSED, INNOCENT), KNOWN)
    assert not wrong
    assert "histories alone find 1 of 4 faults, their monitors 1 more" in summary
    assert "1 are about bytes, 1 about time, 0 are not found; 0 of 1 innocent peers are accused" in summary
    assert verdict(FOUND, KNOWN) == "found as ZI-2 by test_histories.test_modes[1]"
    assert verdict(SEEN, KNOWN) == "not found; seen by the monitors of ZI-2"
    assert "| slow | lies | ZI-1 | not found, about time: it needs a day |" in page(
        "zenoh", "document", MISSED, KNOWN, summary
    )


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ((row("new"),), "new is not found"),
        ((row("slow", "test_histories.test_modes[1] (case)"),), "slow is found: take it out of not_found.toml"),
        ((row("odd", "test_histories.test_modes[1] (case)", kind="oddity"),), "odd is innocent, and accused"),
        ((row("liar", errors=("it broke",)), SEEN), "it broke"),
    ],
)
def test_what_is_not_as_it_is_known_to_be_is_said(rows: tuple[MatrixRow, ...], wrong: str) -> None:
    assert wrong in summarised("zenoh", rows, KNOWN)[1]


@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder"])
def test_what_is_known_not_to_be_found_is_a_fault_that_there_is_and_stands_there_once(protocol: str) -> None:
    listed = [fault for group in not_found(protocol).group for fault in group.faults]
    assert listed
    assert set(listed) <= load(protocol).faults.all.keys()
    assert len(set(listed)) == len(listed)
