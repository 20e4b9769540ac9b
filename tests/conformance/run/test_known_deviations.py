"""What is told while a run goes on: what nobody expects, and not what other cases decide about."""

from pathlib import Path

import msgspec
import pytest

from conformance.contract.expectations import parse_expectations
from conformance.run.known_deviations import KnownDeviations
from conformance.run.records import CasePlayed
from conformance.run.settings import gather
from conformance.verdicts import Judgement, Outcome, worst

CRASH = '[[expect]]\nrule = "ZI-011"\noutcome = "crash"\nreason = "known since 1.0"\n'


def told(entries: str, *judgements: Judgement) -> list[str]:
    """Return the rules of which a run tells at once, of a case that came to some judgements."""
    settings = msgspec.structs.replace(
        gather("peer:", "zenoh"), expectations=parse_expectations(entries, Path("expectations.toml"))
    )
    record = CasePlayed(
        case="test_a",
        sentence="Do it.",
        file="a.py",
        line=1,
        rules=tuple(each.rule for each in judgements),
        outcome=worst(each.outcome for each in judgements),
        judgements=judgements,
        reproduce="",
    )
    return [each.rule for each in KnownDeviations(settings).news(record)]


@pytest.mark.parametrize(
    ("entries", "judgement", "news"),
    [
        ("", Judgement("ZI-011", Outcome.INCONCLUSIVE, "test_a"), ["ZI-011"]),
        # A case that shows the crash says what the rule comes to, and one that does not is a complaint at the end.
        (CRASH, Judgement("ZI-011", Outcome.INCONCLUSIVE, "test_a"), []),
        (CRASH, Judgement("ZI-012", Outcome.INCONCLUSIVE, "test_a"), ["ZI-012"]),
        (CRASH, Judgement("ZI-011", Outcome.VIOLATION, "test_a"), ["ZI-011"]),
        (CRASH, Judgement("ZI-011", Outcome.CRASH, "test_a"), []),
        # What histories alone show need not come in this run, and excuses nothing else.
        (CRASH + "histories = true\n", Judgement("ZI-011", Outcome.INCONCLUSIVE, "test_a"), ["ZI-011"]),
        ("", Judgement("ZI-011", Outcome.INCONCLUSIVE, "test_a", is_cut_short=True), []),
    ],
)
def test_what_other_cases_decide_about_is_not_told_at_once(entries: str, judgement: Judgement, news: list[str]) -> None:
    assert told(entries, judgement) == news
