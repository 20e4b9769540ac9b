"""``goldwire explain``: all that is known of a name, and what is alike to one that there is not."""

import pytest
from click.testing import CliRunner, Result

from conformance.catalogue.explain_command import explain


def explained(*arguments: str) -> Result:
    return CliRunner().invoke(explain, arguments)


def test_a_rule_is_explained_with_all_that_is_known_of_it() -> None:
    told = explained("zi-070")
    assert told.exit_code == 0, told.output
    lines = told.output.splitlines()
    assert lines[0].startswith("ZI-070  must  Once everything in a snapshot is sent, D_FINAL")
    assert '  document  zenoh-interests, "Relationship to DECLARE/D_FINAL", lines 238' in lines
    labels = [line[2:12].strip() for line in lines[1:]]
    assert [each for each in dict.fromkeys(labels) if each] == [
        *("document", "protocol", "binds", "reading", "cases", "monitor", "faults", "oddities", "known", "try")
    ]
    assert "test_modes.test_snapshot_ends_with_final: Two subscribers exist; ask for the current ones." in told.output
    assert "no-final (router): never ends a snapshot with D_FINAL" in told.output
    assert "eclipse-zenoh >=1.9 as router and peer: violation: " in told.output
    assert "  try       goldwire test zenoh --iut … -k ZI-070" in lines


def test_a_rule_about_bytes_names_its_vectors() -> None:
    assert " of zenoh/network-message" in explained("ZI-032").output


def test_a_reading_is_explained_for_every_protocol_that_has_one_of_its_name() -> None:
    told = explained("R04")
    assert told.output.count("R04  ") == 3
    alone = explained("R04", "--protocol", "zenoh")
    assert alone.output.splitlines()[0] == "R04  Does the suffix in the WireExpr extension have a length of its own?"
    assert "A: yes, as everywhere else (accepted in document)" in alone.output
    assert "ZD-058: " in alone.output


@pytest.mark.parametrize("name", ["test_snapshot_ends_with_final", "test_modes.test_snapshot_ends_with_final"])
def test_a_case_is_explained(name: str) -> None:
    told = explained(name)
    assert told.output.startswith("test_modes.test_snapshot_ends_with_final  Two subscribers exist;")
    assert "ZI-070: Once everything in a snapshot is sent" in told.output


def test_what_there_is_not_is_wrong_usage_and_names_what_is_alike() -> None:
    told = explained("ZI-15")
    assert told.exit_code == 2
    assert "there is no rule, reading or case 'ZI-15'; alike are ZI-015" in told.output
    assert explained("ZI-015", "--protocol", "telnet").exit_code == 2
