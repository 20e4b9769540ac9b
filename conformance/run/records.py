"""The records of a run: one JSON object per line, the truth of which every report is an export.

``run.schema.json`` describes a line; after a change of the types: ``python -m conformance.run.records``. The schema
is published with these docstrings and class names in it, so a change of either is a change of the format.
"""

from importlib.resources import as_file, files

import msgspec

from conformance.verdicts import Judgement, Outcome, Strictness, worst
from vectors.json_schemas import schema_file

JOURNAL = "run.ndjson"
SUMMARY = "summary.json"
TRACES = "traces"
"""What a report's folder holds: the records, their summary, and a folder with the traces of what did not pass."""


class RunStarted(msgspec.Struct, frozen=True, tag_field="record", kw_only=True):
    """What is played, by whom and how: the first record.

    ``time`` is ISO 8601 in UTC, ``iut`` is what the user typed, ``documents`` the SHA-256 of each document
    behind the rules. ``seed`` is 0 as long as the property cases are derandomised.
    """

    run: str
    time: str
    protocol: str
    iut: str
    name: str
    version: str
    role: str
    profile: str
    transport: str
    goldwire: str
    seed: int = 0
    strictness: Strictness = Strictness.AS_EXPECTED
    documents: dict[str, str] = {}


class CasePlayed(msgspec.Struct, frozen=True, tag_field="record", kw_only=True):
    """What one case came to, after confirmation.

    ``attempts`` counts how often it was played: not at all if nothing that it is about can be judged. ``trace`` is the
    name of the trace's files in the folder ``traces``, without ``.pcapng`` or ``.ndjson``. ``error`` is what the tester
    itself did wrong, ``not_played`` why it was left out, if it was, ``reproduce`` the command that plays it again.
    """

    case: str
    sentence: str
    file: str
    line: int
    rules: tuple[str, ...]
    outcome: Outcome
    judgements: tuple[Judgement, ...] = ()
    attempts: int = 1
    seconds: float = 0.0
    trace: str = ""
    error: str = ""
    not_played: str = ""
    reproduce: str = ""

    @property
    def what(self) -> str:
        """What came, in one line: that of the worst judgement, or why there is none."""
        if self.not_played:
            return f"not played because {self.not_played}"
        return worst_judgement(self.judgements).what if self.judgements else ""

    @property
    def flaky(self) -> str:
        """How the attempts differed, rule by rule; empty where they did not."""
        return "; ".join(f"{each.rule}: {each.disagreement.counts}" for each in self.judgements if each.disagreement)


class RunEnded(msgspec.Struct, frozen=True, tag_field="record", kw_only=True):
    """How the run ended, the last record: rules by verdict, and ``trouble``: what could not be written.

    ``stopped`` says when and why it ended before all was played, if that was asked for.
    """

    time: str
    interrupted: bool
    counts: dict[str, int]
    exit: int
    trouble: tuple[str, ...] = ()
    stopped: str = ""


Record = RunStarted | CasePlayed | RunEnded


def worst_judgement(judgements: tuple[Judgement, ...] | list[Judgement]) -> Judgement:
    """Return the worst of some judgements; among equals the first that says what came, or else the first.

    One that was made without a play comes last, as it has nothing to show; one on which plays differ behind those on
    which they agree; and one that another case shows better behind that.
    """
    outcome = worst(judgement.outcome for judgement in judgements)
    equals = [judgement for judgement in judgements if judgement.outcome is outcome]
    equals.sort(key=lambda each: (bool(each.blocked_by), each.disagreement is not None, bool(each.shown_by)))
    return next((judgement for judgement in equals if judgement.what), equals[0])


def schema() -> bytes:
    """Return the JSON Schema of one line of a journal."""
    return schema_file(Record)


if __name__ == "__main__":
    with as_file(files("conformance").joinpath("run.schema.json")) as target:
        target.write_bytes(schema())
