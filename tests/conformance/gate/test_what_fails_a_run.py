"""What makes a run fail: each outcome, with an expectation file and without, strictly, leniently and neither.

As README's "Verdicts" has it, and told by the exit status of the command line.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from planted_nodes import Gate

CASES = {
    "pass": ("", "router", "test_final.test_interest_right_behind_a_final"),
    "odd": ("", "router", "test_keyexpr.test_number_longer_than_needed"),
    "violation": ("two-finals", "router", "test_final.test_interest_right_behind_a_final"),
    "deviation": ("never-aggregates", "router", "test_aggregate.test_aggregated_snapshot_is_shorter"),
    "inconclusive": (
        "tokenless",
        "client",
        # Something is to be proven in the same run: else that is why it fails.
        "test_token.test_one_of_two_tokens_is_undeclared or test_answers.test_current_snapshot_of_none_ends",
    ),
    "not reached": (
        "ignores-keys",
        "router",
        "test_options.test_snapshot_below_a_key_that_begins_with_an_at_sign",
    ),
}
"""For each outcome a fault, a role, and what is played."""

KNOWN = {
    "violation": {"ZD-087": "violation", "ZI-015": "violation", "ZI-071": "violation"},
    "deviation": {"ZI-066": "deviation"},
    "inconclusive": {"ZD-083": "inconclusive"},
    # The violations alone: what was not reached for them is something else.
    "not reached": {"ZI-045": "violation", "ZI-014": "violation"},
}
"""What the expectation file of a node expects, where it expects what comes."""

STRICTNESS = ("", "--strict", "--strict should", "--lenient")

# Exit statuses in the order of STRICTNESS.
ALWAYS, NEVER, STRICTLY, NOT_LENIENTLY = (1, 1, 1, 1), (0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 1, 0)
FAILS = {
    ("pass", "no file"): NEVER,
    ("pass", "empty file"): NEVER,
    ("odd", "no file"): NEVER,
    ("odd", "empty file"): NEVER,
    ("violation", "no file"): ALWAYS,
    ("violation", "empty file"): ALWAYS,
    ("violation", "known"): NEVER,
    ("deviation", "no file"): STRICTLY,
    ("deviation", "empty file"): NOT_LENIENTLY,
    ("deviation", "known"): NEVER,
    ("inconclusive", "no file"): NEVER,
    ("inconclusive", "empty file"): NOT_LENIENTLY,
    ("inconclusive", "known"): NEVER,
    ("not reached", "no file"): ALWAYS,
    ("not reached", "known"): NOT_LENIENTLY,
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, Path]]:
    folder = tmp_path_factory.mktemp("gate")
    with Gate("zenoh", folder, hash_seed=3) as gate:
        yield gate, folder


@pytest.mark.parametrize(("outcome", "contract"), FAILS)
def test_what_fails_a_run(outcome: str, contract: str, gate: tuple[Gate, Path]) -> None:
    run, folder = gate
    fault, role, keyword = CASES[outcome]
    file = ""
    if contract != "no file":
        known = KNOWN[outcome] if contract == "known" else {}
        entries = [
            f'[[expect]]\nrule = "{rule}"\noutcome = "{came}"\nreason = "planted"\n' for rule, came in known.items()
        ]
        (folder / "known.toml").write_text("\n".join(entries))
        file = "--expectations known.toml"
    said = [
        run.run(fault, f"goldwire test zenoh --iut peer:{role} {file} {strictness} -k '{keyword}'")
        for strictness in STRICTNESS
    ]
    assert tuple(each.status for each in said) == FAILS[outcome, contract], [
        each.out[-2000:] + each.err for each in said
    ]
    for each in said:
        assert each.out.rstrip().splitlines()[-1].startswith("NOT AS EXPECTED: " if each.status else "AS EXPECTED: ")


def test_strict_knows_one_word_and_contradicts_lenient(gate: tuple[Gate, Path]) -> None:
    run, _ = gate
    for options, message in (("--strict must", "'must' is not 'should'"), ("--strict should --lenient", "contradict")):
        said = run.run("", f"goldwire test zenoh {options}")
        assert (said.status, said.out) == (2, "")
        assert message in said.err
