"""What is printed of non-passes, read as a person reads it: verdicts, what came, and the command that repeats it."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
from planted_nodes import Gate, Told

from conformance.contract.signatures import signature
from conformance.run.journal import read
from conformance.run.records import JOURNAL, CasePlayed, worst_judgement
from conformance.verdicts import Outcome, verdict

BLOCK = re.compile(r"(?P<verdict>FAIL|WARN|ERROR|INCONCLUSIVE)  (?P<rule>\S+)  ")
LABELLED = re.compile(r"  (?P<label>came|repeat) {1,9}(?P<text>.*)")


UNJUDGED = re.compile(r"  (?P<rule>[A-Z]+-\d+)  (?P<came>.*)")
"""A rule in the list of those that could not be judged, which stands below the findings."""

SAMPLE = 1
"""Findings of a report that are repeated beside those on the terminal: two-finals alone has 388 of them."""


class Finding(msgspec.Struct, frozen=True):
    """What is said of a rule that is not kept, without what differs from run to run, and how to see it again."""

    rule: str
    verdict: str
    came: str
    repeat: str


class Repeats(msgspec.Struct, frozen=True):
    """How the findings of a run against one fault came out again.

    ``printed`` is their number on the terminal, ``recorded`` that in the report, ``commands`` that of the command
    lines, ``differences`` what did not come to the same; ``seconds`` are those of processor time.
    """

    fault: str
    printed: int
    recorded: int
    commands: int
    differences: tuple[str, ...]
    seconds: float


def printed(out: str) -> Iterator[Finding]:
    """Yield the findings of a summary, as it is printed; what could not be judged has no command to repeat it."""
    rule = verdict = came = ""
    for line in out.splitlines():
        if not rule and (match := UNJUDGED.match(line)):
            yield Finding(match["rule"], "INCONCLUSIVE", signature(f"inconclusive: {match['came']}"), "")
        elif match := BLOCK.match(line):
            rule, verdict, came = match["rule"], match["verdict"], ""
        elif rule and (match := LABELLED.match(line)):
            if match["label"] == "came":
                came = signature(match["text"])
            else:
                yield Finding(rule, verdict, came, match["text"])
                rule = ""


def recorded(report: Path) -> Iterator[Finding]:
    """Yield the findings of a report: of each case those rules that it accuses the node of breaking."""
    for record in read(report / JOURNAL)[0]:
        for rule in dict.fromkeys(each.rule for each in getattr(record, "judgements", ()) if each.outcome.accuses):
            assert isinstance(record, CasePlayed)
            worst = worst_judgement([each for each in record.judgements if each.rule == rule])
            # What another history shows in fewer moves, it shows in other words when it is played alone: its own, where
            # those of a monitor were better; and monitors see it being made small then.
            is_its_own = not any(each.shown_by for each in record.judgements)
            came = f"{worst.outcome.value}: {worst.what or 'not what the rule says'}" if is_its_own else ""
            if worst.outcome is not Outcome.ERROR:
                yield Finding(rule, verdict(worst.outcome).value, signature(came), record.reproduce)


def check(fault: str, command: str, first: Gate, again: Gate, report: Path, *, sample: int = SAMPLE) -> Repeats:
    """Run a command against a fault, and each command that it prints; say what does not come to the same again.

    Of the findings that stand in the report alone ``sample`` are chosen, by the fault's name.
    """
    told = first.run(fault, f"{command} --report {report.name}")
    shown, kept = [each for each in printed(told.out) if each.repeat], list(recorded(report))
    rest = [each for each in kept if each not in shown]
    kept = Random(fault).sample(rest, min(sample, len(rest)))
    repeated: dict[str, Told] = {}
    differences = []
    if told.trouble:
        differences.append("\n".join(["the run itself:", *told.trouble]))
    for finding in dict.fromkeys([*shown, *kept]):
        if finding.repeat not in repeated:
            repeated[finding.repeat] = again.run(fault, finding.repeat)
        out = repeated[finding.repeat].out
        found = {each.rule: each for each in printed(out)}.get(finding.rule)
        if found is None or found.verdict != finding.verdict or finding.came not in ("", found.came):
            came = f"{found.verdict} {found.came}" if found else f"no such finding; {out.rstrip().splitlines()[-1]}"
            differences.append(
                f"{finding.rule}: {finding.verdict} {finding.came}\n  {finding.repeat}\n  came to: {came}"
            )
    seconds = told.seconds + sum(each.seconds for each in repeated.values())
    return Repeats(fault, len(shown), len(kept), len(repeated), tuple(differences), seconds)
