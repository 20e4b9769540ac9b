"""Journals: what is written can be read, torn or not, and the shipped schema is that of the types."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from conformance.run.journal import Journal, TornLine, read
from conformance.run.records import CasePlayed, Record, RunEnded, RunStarted, schema, worst_judgement
from conformance.verdicts import Judgement, Outcome

STARTED = RunStarted(
    run="1",
    time="2026-01-01T00:00:00+00:00",
    protocol="zenoh",
    iut="peer:",
    name="peer",
    version="1",
    role="router",
    profile="document",
    transport="tcp",
    goldwire="0",
)
PLAYED = CasePlayed(
    case="test_a.test_b",
    sentence="Do it.",
    file="test_a.py",
    line=3,
    rules=("ZI-011",),
    outcome=Outcome.VIOLATION,
    judgements=(Judgement("ZI-011", Outcome.VIOLATION, "test_a.test_b", what="nö"),),
)
ENDED = RunEnded(time="2026-01-01T00:00:01+00:00", interrupted=False, counts={"FAIL": 1}, exit=1)
RECORDS: list[Record] = [STARTED, PLAYED, ENDED]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "run.ndjson") as journal:
        for record in RECORDS:
            journal.write(record)
    return tmp_path / "run.ndjson"


def test_what_is_written_can_be_read(path: Path) -> None:
    assert read(path) == (RECORDS, "")


def test_each_record_is_there_at_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.ndjson")
    journal.write(STARTED)
    assert read(tmp_path / "run.ndjson") == ([STARTED], "")
    journal.close()
    journal.close()


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_last_line_is_reported(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    records, torn = read(path)
    assert records == [STARTED, PLAYED]
    assert "line 3: cut off" in torn


def test_a_last_line_of_something_else_is_reported(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"record": "RunStar\n')
    records, torn = read(path)
    assert records == RECORDS
    assert "line 4" in torn


def test_a_torn_line_in_the_middle_is_an_error(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], lines[1][:-9], lines[2], b""]))
    with pytest.raises(TornLine, match=r"run\.ndjson, line 2"):
        read(path)


def test_a_full_disk_is_raised() -> None:
    with Journal(Path("/dev/full")) as journal, pytest.raises(OSError, match="No space"):
        journal.write(STARTED)


def test_the_schema_is_fresh_and_describes_each_record(path: Path) -> None:
    shipped = files("conformance").joinpath("run.schema.json").read_bytes()
    assert shipped == schema(), "run: python -m conformance.run.records"
    validator = jsonschema.Draft202012Validator(json.loads(shipped))
    for line in path.read_text().splitlines():
        validator.validate(json.loads(line))
    assert not validator.is_valid({"record": "RunEnded"})


def test_the_weightiest_judgement_says_what_came() -> None:
    mild = Judgement("ZI-001", Outcome.DEVIATION, "c", what="mild")
    mute = Judgement("ZI-002", Outcome.VIOLATION, "c")
    telling = Judgement("ZI-003", Outcome.VIOLATION, "c", what="bad")
    assert worst_judgement([mild, mute, telling]) is telling
    assert worst_judgement([mild, mute]) is mute
    elsewhere = Judgement("ZI-004", Outcome.VIOLATION, "c", what="forty moves", shown_by="d")
    assert worst_judgement([elsewhere, telling]) is telling
