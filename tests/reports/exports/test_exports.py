"""JUnit, HTML, Markdown and SARIF: made from a run's folder, complete, well-formed whatever a node has said."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from conformance.catalogue.loading import load_catalogue
from conformance.contract.expectations import parse_expectations
from conformance.run.journal import Journal
from conformance.run.records import JOURNAL, SUMMARY, CasePlayed, Record, RunStarted
from conformance.run.summary import Circumstances, summarise
from conformance.verdicts import Judgement, Outcome, Strictness
from reports.exports import html, junit, markdown, sarif

NASTY = "<script>alert(1)</script> & \x00 \"quoted\" 'too'"
EXPECTED = """
[[expect]]
rule = "ZI-013"
outcome = "violation"
reason = "known since 1.0"
[[expect]]
rule = "ZI-021"
outcome = "violation"
reason = "never seen"
"""
VOID = {"meta", "input"}


def played(name: str, rule: str, outcome: Outcome, what: str = "", **more: object) -> CasePlayed:
    fields = {
        "sentence": "Ask for <all>.",
        "file": "f.py",
        "line": 7,
        "rules": (rule,),
        "judgements": (Judgement(rule, outcome, name, "case", what, "R23=A", 1),),
        "trace": "" if outcome is Outcome.PASS else name,
        "seconds": 0.5,
        "reproduce": f"goldwire test zenoh -k {name}",
    }
    return CasePlayed(case=name, outcome=outcome, **{**fields, **more})  # type: ignore[arg-type]


RECORDS: list[Record] = [
    RunStarted(
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
    ),
    played("test_a.test_good", "ZI-011", Outcome.PASS),
    played("test_a.test_bad", "ZI-012", Outcome.VIOLATION, NASTY),
    played("test_a.test_known", "ZI-013", Outcome.VIOLATION, "as ever"),
    played("test_b.test_vague", "ZI-014", Outcome.INCONCLUSIVE, "no control lines"),
    played("test_b.test_wrong", "ZI-020", Outcome.ERROR, "", error="KeyError: 'x'"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Journal(tmp_path / JOURNAL) as journal:
        for record in RECORDS:
            journal.write(record)
    expectations = parse_expectations(EXPECTED, Path("e.toml"))
    around = Circumstances(trouble=("disk <full>",))
    summary = summarise(RECORDS, load_catalogue("zenoh"), Strictness.AS_EXPECTED, expectations, around)
    (tmp_path / SUMMARY).write_bytes(msgspec.json.encode(summary))
    return tmp_path


def test_junit_has_each_case(folder: Path) -> None:
    junit.export(folder)
    root = ET.parse(folder / "junit.xml").getroot()
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "8", "failures": "4", "errors": "1", "skipped": "2", "time": "2.500"}
    assert [suite.get("name") for suite in root] == ["test_a", "test_b", "gate"]
    cases = {case.get("name"): case for case in root.iter("testcase")}
    good, bad = cases["test_good"], cases["test_bad"]
    assert [child.tag for child in good] == ["properties"]
    properties = {each.get("name"): each.get("value") for each in good.iter("property")}
    assert properties["rules"] == "ZI-011"
    assert properties["outcome"] == "pass"
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message") == NASTY.replace("\x00", "\ufffd")
    # The whole page, which is what GitLab, GitHub and Allure show.
    text = failure.text or ""
    assert text.startswith("ZI-012  ")
    assert "  repeat    goldwire test zenoh -k test_a.test_bad" in text
    assert "  document  zenoh-interests, " in text
    skipped = cases["test_known"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "known: known since 1.0"
    error = cases["test_wrong"].find("error")
    assert error is not None
    assert error.text == "KeyError: 'x'"


class Balance(HTMLParser):
    """Notes tags that are not closed in order, ids, and what is linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.add(values.get("id") or "")
        self.links.add(values.get("href") or values.get("src") or "")
        self.rows += tag == "tr"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_page_without_network(folder: Path) -> None:
    html.export(folder)
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Balance()
    page.feed(text)
    assert page.open == []
    assert page.rows == len(load_catalogue("zenoh").rules) + 1
    anchors = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert anchors == {"ZI-012", "ZI-013", "ZI-014", "ZI-020"} <= page.ids
    assert "traces/test_a.test_bad.pcapng" in page.links
    assert not re.search(r"https?://|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text


def test_html_escapes_what_a_node_says(folder: Path) -> None:
    html.export(folder)
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert text.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "Ask for &lt;all&gt;." in text
    assert "disk &lt;full&gt;" in text


def test_html_says_what_to_do(folder: Path) -> None:
    html.export(folder)
    text = (folder / "index.html").read_text(encoding="utf-8")
    for needed in ("not as expected", "known since 1.0", "R23=A", "-k test_a.test_bad", "KeyError"):
        assert needed in text
    assert "entry 2 (rule = &#x27;ZI-021&#x27;)" in text


def test_markdown_shows_the_verdict_and_nothing_of_a_node_as_markup(folder: Path) -> None:
    markdown.export(folder)
    text = (folder / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("## zenoh: ")
    assert "**NOT AS EXPECTED: " in text
    rows = [line for line in text.splitlines() if line.startswith("| ZI-")]
    assert [row.split()[1] for row in rows] == ["ZI-012", "ZI-020", "ZI-014", "ZI-013"]
    assert all(row.count(" | ") == 2 for row in rows)
    assert not re.search("<(?!/?(details|summary)>)", re.sub(r"(?s)(`{3,})text\n.*?\n\1\n", "", text))
    assert text.index("<summary>1 known</summary>") > text.index("<summary>ZI-012")


def test_sarif_has_a_result_for_each_rule_that_is_not_kept(folder: Path) -> None:
    sarif.export(folder)
    log = json.loads((folder / "results.sarif").read_bytes())
    (run,) = log["runs"]
    results = {each["ruleId"]: each for each in run["results"]}
    assert {key: each["level"] for key, each in results.items()} == {
        "ZI-012": "error",
        "ZI-013": "error",
        "ZI-014": "note",
    }
    assert [run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in run["results"]] == list(results)
    assert results["ZI-013"]["suppressions"] == [{"kind": "external", "justification": "known since 1.0"}]
    assert "repeat    goldwire test zenoh -k test_a.test_bad" in results["ZI-012"]["message"]["text"]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert all(not place["artifactLocation"]["uri"].startswith(("/", "..")) for place in places)
    assert run["invocations"][0]["exitCode"] == 1
