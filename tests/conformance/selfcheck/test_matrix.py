"""The kill matrix: its rows, and what makes it unsound. The whole matrix is computed by ``goldwire selfcheck``."""

import pytest
from click.testing import CliRunner

from conformance.selfcheck.matrix import Kind, Matrix, MatrixRow
from conformance.selfcheck.peers import MatrixPeer, compute_row, matrix_peers
from conformance.selfcheck.selfcheck_command import markdown, selfcheck
from conformance.verdicts import Outcome
from harness.protocol import load


def a_row(kind: Kind, rules: tuple[str, ...], accused: tuple[str, ...], errors: tuple[str, ...] = ()) -> MatrixRow:
    outcomes = dict.fromkeys(accused, Outcome.VIOLATION)
    return MatrixRow(kind, "mutant", "router", rules, "lies", outcomes, dict.fromkeys(accused, ("a case",)), errors)


@pytest.mark.slow  # as selfcheck does it, for all roles and protocols
@pytest.mark.parametrize("role", load("zenoh").roles)
def test_the_reference_passes_every_case(role: str) -> None:
    made = compute_row("zenoh", MatrixPeer("original", role, role), "document")
    assert made.outcomes
    assert made.accusers == {}
    assert made.errors == ()


def test_a_fault_is_caught() -> None:
    fault = next(peer for peer in matrix_peers("zenoh") if peer.name == "final-for-future")
    made = compute_row("zenoh", fault, "document", "ZI-021")
    assert made.killed == fault.rules == ("ZI-021",)
    assert made.survived == ()


def test_a_brief_row_ends_with_the_kill() -> None:
    fault = next(peer for peer in matrix_peers("zenoh") if peer.name == "final-for-future")
    brief, whole = (
        compute_row("zenoh", fault, "document", "ZI-02", brief=True),
        compute_row("zenoh", fault, "document", "ZI-02"),
    )
    assert brief.killed == whole.killed == ("ZI-021",)
    assert set(brief.outcomes) < set(whole.outcomes)


def test_a_brief_matrix_is_not_written() -> None:
    outcome = CliRunner().invoke(selfcheck, ["zenoh", "--brief", "--write", "matrix.md"])
    assert outcome.exit_code == 2
    assert "leave out --brief" in outcome.output


@pytest.mark.parametrize(
    ("rows", "unguarded", "sound"),
    [
        ([a_row("fault", ("R-1",), ("R-1", "R-2"))], (), True),
        ([a_row("fault", ("R-1", "R-2"), ("R-1",))], (), False),
        ([a_row("oddity", ("R-1",), ())], (), True),
        ([a_row("oddity", ("R-1",), ("R-3",))], (), False),
        ([a_row("original", (), (), ("ZeroDivisionError",))], (), False),
        ([], ("R-4",), False),
    ],
)
def test_what_makes_a_matrix_sound(rows: list[MatrixRow], unguarded: tuple[str, ...], sound: bool) -> None:
    whole = Matrix("zenoh", tuple(rows), unguarded)
    assert whole.is_sound is sound
    assert "| mutant |" in markdown(whole, "document") or not rows


def test_collateral_is_named() -> None:
    assert a_row("fault", ("R-1",), ("R-1", "R-2")).collateral == ("R-2",)


def test_an_unknown_protocol_is_wrong_usage() -> None:
    outcome = CliRunner().invoke(selfcheck, ["zenoh", "--role", "server"])
    assert outcome.exit_code == 2
    assert "there is no server; there are router, client" in outcome.output
    outcome = CliRunner().invoke(selfcheck, ["zenow"])
    assert outcome.exit_code == 2
    assert "there are pathfinder, rai, urbit, zenoh" in outcome.output
