"""JUnit: a run as CI systems read it; a test suite per file of cases, a test case per case."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from conformance.catalogue.loading import load_catalogue
from conformance.catalogue.rules import Catalogue
from conformance.gate.failure_page import case_lines, failure_page
from conformance.run.records import TRACES, CasePlayed, Record, RunStarted
from conformance.run.summary import RunSummary
from conformance.verdicts import Judgement, Outcome, Verdict, is_red
from reports.exports.runs import by_file, load
from wire.files import write_file

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def export(report_dir: Path) -> None:
    """Write ``junit.xml`` into a run's folder."""
    write_junit(*load(report_dir), report_dir / "junit.xml")


def write_junit(records: Sequence[Record], summary: RunSummary, path: Path) -> None:
    """Write a run as JUnit XML.

    A case fails when it breaks a rule and that was not expected; it is skipped when it is inconclusive or
    what it broke is expected. Expectations that did not come true are a suite of their own.
    """
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    catalogue = load_catalogue(summary.protocol)
    root = ET.Element("testsuites", name=f"goldwire {summary.protocol} {summary.iut}")
    for name, played in by_file(records).items():
        suite = ET.SubElement(root, "testsuite", name=name, timestamp=started.time if started else "")
        for record in played:
            _case(suite, name, record, summary, catalogue)
        # The counts are attributes of the suite, so they come when all of its cases are there.
        _count(suite, sum(record.seconds for record in played))
    _gate(root, summary)
    _count(root, sum(record.seconds for record in records if isinstance(record, CasePlayed)))
    ET.indent(root)
    write_file(path, ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _case(suite: ET.Element, name: str, record: CasePlayed, summary: RunSummary, catalogue: Catalogue) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"{summary.protocol}.{name}",
        name=record.case.rpartition(".")[2],
        file=record.file,
        line=str(record.line),
        time=f"{record.seconds:.3f}",
    )
    properties = ET.SubElement(case, "properties")
    strength = sorted({catalogue.rules[key].weight for key in record.rules if key in catalogue.rules})
    for key, value in (
        ("rules", " ".join(record.rules)),
        ("strength", " ".join(strength)),
        ("outcome", record.outcome.value),
        ("attempts", str(record.attempts)),
        ("flaky", record.flaky),
        ("trace", record.trace),
        ("reproduce", record.reproduce),
    ):
        if value:
            ET.SubElement(properties, "property", name=key, value=_clean(value))
    what = record.what or record.outcome.value
    # An error is ours, and comes before what the case says of the implementation, which then means nothing.
    if record.error or record.outcome is Outcome.ERROR:
        _element(case, "error", "the tester failed", record.error or what)
    elif accused := _accused(record, summary):
        # All of them: one deviation that is not expected makes the case fail.
        expected = all(summary.rules[rule].expected for rule in accused)
        # All that a person needs, as GitLab, GitHub and Allure show this text and no property.
        lines = failure_page(record, catalogue, accused, TRACES)
        if expected:
            reasons = "; ".join(dict.fromkeys(summary.rules[rule].reason for rule in accused))
            _element(case, "skipped", f"known: {reasons}", lines)
        else:
            _element(case, "failure", what, lines, type=record.outcome.value)
    elif record.outcome is Outcome.INCONCLUSIVE:
        _element(case, "skipped", f"inconclusive: {what}", "\n".join(case_lines(record, TRACES)))


def _accused(record: CasePlayed, summary: RunSummary) -> list[str]:
    return [each.rule for each in record.judgements if each.rule in summary.rules and _is_accused(each, summary)]


def _is_accused(judgement: Judgement, summary: RunSummary) -> bool:
    # What could not be judged is skipped, and no failure of the case: the summary says what is not as expected.
    return judgement.outcome.accuses and is_red(judgement.outcome, summary.strictness, contract=summary.has_contract)


def _gate(root: ET.Element, summary: RunSummary) -> None:
    """Add what no single case shows: expectations, what nobody could judge, a report that is incomplete."""
    vague = tuple(
        f"{key} could not be judged, which nobody expects: {rule.what}"
        for key, rule in summary.unexpected.items()
        if rule.verdict is Verdict.INCONCLUSIVE
    )
    # Without this suite a CI that reads only JUnit would see a green run where the gate has failed.
    if not (summary.complaints or vague or summary.trouble or summary.not_started or summary.stopped):
        return
    suite = ET.SubElement(root, "testsuite", name="gate")
    stopped = (f"the run was stopped {summary.stopped}",) if summary.stopped else ()
    for kind, texts in (
        ("expectation", summary.complaints),
        ("rule", vague),
        ("report", summary.trouble),
        ("start", (summary.not_started,) if summary.not_started else ()),
        ("end", stopped),
    ):
        for number, text in enumerate(texts, 1):
            case = ET.SubElement(suite, "testcase", classname="gate", name=f"{kind} {number}", time="0.000")
            _element(case, "failure", text, "")
    _count(suite, 0.0)


def _element(case: ET.Element, tag: str, message: str, text: str, **more: str) -> None:
    attributes = {"message": _clean(message.splitlines()[0] if message else ""), **more}
    element = ET.SubElement(case, tag, attributes)
    element.text = _clean(text) or None


def _count(element: ET.Element, seconds: float) -> None:
    for name, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(name, str(len(list(element.iter(tag)))))
    element.set("time", f"{seconds:.3f}")


def _clean(text: str) -> str:
    # A case cites what an implementation sent: control characters and lone surrogates make XML that no CI reads.
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
