"""Expectation files: each mistake is named with file, entry and key; each breach of the contract is found."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contract.comparison import Breach, Comparison, Complaint, JudgedItem, KnownNames, compare
from conformance.contract.expectations import (
    BadExpectations,
    Expectation,
    Expectations,
    file_name,
    find_expectations,
    load_expectations,
    parse_expectations,
)
from conformance.contract.signatures import signature
from conformance.verdicts import Disagreement, Outcome
from vectors.strategies import LETTERS

TODAY = date(2026, 6, 1)
FULL = """
[[expect]]
rule = "ZD-055"
outcome = "violation"
signature = "U_SUBSCRIBER without WireExpr"
versions = ">=1.9,<2"
roles = ["router"]
profile = "document"
reason = "it is not sent"
link = "https://example.org/1"
until = 2027-06-30

[[expect]]
case = "test_undeclare.*"
outcome = "inconclusive"
reason = "no control lines"
"""


def entry(**values: object) -> Expectation:
    return Expectation(**{"rule": "ZD-055", "outcome": Outcome.VIOLATION, "reason": "known", **values})  # type: ignore[arg-type]


def held(*entries: Expectation, rules: dict[str, Outcome] | None = None, **more: object) -> Comparison:
    units = [JudgedItem(name, outcome, "what 1 came") for name, outcome in (rules or {}).items()]
    known = KnownNames(frozenset({"ZD-054", "ZD-055", "ZD-056", "ZD-099"}), **more)  # type: ignore[arg-type]
    return compare(Expectations(Path("e.toml"), entries), entries, units, [], known, TODAY)


def only(result: Comparison) -> Complaint:
    (complaint,) = result.complaints
    assert complaint.message.startswith("e.toml, entry 1 (rule = ")
    return complaint


def test_a_full_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(FULL)
    first, second = load_expectations(path).entries
    assert first.until == date(2027, 6, 30)
    assert not first.is_glob
    assert second.is_glob
    assert second.names("test_undeclare.test_twice")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = [", "not TOML"),
        ("[[expects]]", "unknown key 'expects'"),
        ("expect = 3", "write [[expect]]"),
        ("expect = [3]", "entry 1"),
        ("[[expect]]\nrule='ZI-001'\noutcome='violation'", "entry 1 (ZI-001): key 'reason' is missing"),
        ("[[expect]]\nrule='ZI-001'\noutcome='violation'\nreason=' '\nwhy=1", "unknown key 'why'"),
        ("[[expect]]\nrule='ZI-001'\noutcome='broken'\nreason='r'", "key 'outcome'"),
        ("[[expect]]\nrule='ZI-001'\noutcome='pass'\nreason='r'", "'pass' is not one of"),
        ("[[expect]]\noutcome='violation'\nreason='r'", "either 'rule' or 'case'"),
        ("[[expect]]\nrule='a'\ncase='b'\noutcome='violation'\nreason='r'", "either 'rule' or 'case'"),
        ("[[expect]]\nrule='a'\noutcome='violation'\nreason='r'\nversions='new'", "key 'versions'"),
        ("[[expect]]\nrule='a'\noutcome='violation'\nreason='r'\nprofile='x'", "key 'profile'"),
        ("[[expect]]\nrule='a'\noutcome='violation'\nreason='r'\nuntil='soon'", "key 'until'"),
        ("[[expect]]\nrule='a'\noutcome='violation'\nreason='r'\nroles='router'", "key 'roles'"),
    ],
)
def test_a_mistake_is_named(text: str, complaint: str) -> None:
    with pytest.raises(BadExpectations) as raised:
        parse_expectations(text, Path("e.toml"))
    assert str(raised.value).startswith("e.toml")
    assert complaint in str(raised.value)


def test_a_role_that_the_protocol_has_not_is_named(tmp_path: Path) -> None:
    """It would never apply, and nobody would be told."""
    path = tmp_path / "e.toml"
    path.write_text('[[expect]]\nrule = "ZI-001"\noutcome = "violation"\nreason = "it does"\nroles = ["clown"]\n')
    with pytest.raises(BadExpectations, match=r"entry 1 \(ZI-001\): key 'roles': 'clown' is not one of router, client"):
        load_expectations(path, ("router", "client"))
    assert load_expectations(path).entries[0].roles == ("clown",)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadExpectations, match=r"none\.toml: cannot be read: No such file"):
        load_expectations(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xff")
    with pytest.raises(BadExpectations, match="not UTF-8"):
        load_expectations(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("version", "role", "profile", "applies"),
    [
        ("1.9.1", "router", "document", True),
        ("1.10.0rc1", "router", "document", True),
        ("1.8", "router", "document", False),
        ("2.0", "router", "document", False),
        ("", "router", "document", True),
        ("nightly", "router", "document", False),
        ("1.9", "client", "document", False),
        ("1.9", "router", "deployed", False),
    ],
)
def test_an_entry_applies_to_what_it_names(version: str, role: str, profile: str, applies: bool) -> None:
    one = entry(versions=">=1.9,<2", roles=("router",), profile="document")
    assert one.applies(version, role, profile) is applies


def test_the_nearest_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_expectations("mine", "zenoh") is None
    own = tmp_path / "own.toml"
    own.touch()
    assert find_expectations("mine", "zenoh", own) == own
    (tmp_path / "expectations").mkdir()
    (tmp_path / "expectations" / "mine.toml").touch()
    assert find_expectations("mine", "zenoh", own) == own
    assert find_expectations("mine", "zenoh", tmp_path / "not_yet.toml") == Path("expectations/mine.toml")
    assert find_expectations("mine", "zenoh", own, Path("given.toml")) == Path("given.toml")
    assert file_name("tcp/127.0.0.1:7447") == "tcp_127.0.0.1_7447"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("id 17 is unknown", "id 4 is unknown"),
        ("1f 00 a3 came", "20 11 came"),
        ("0x1f came", "0xffff came"),
        ("1f00a3ff01 came", "deadbeef00 came"),
        ("2199023255553 came", "21990232555530 came"),
        ("b'\\x00a' came", 'b"zz" came'),
        ("tcp/127.0.0.1:7447 is silent", "tcp/10.0.0.2:1 is silent"),
        ("[::1]:7447 is silent", "[fe80::2]:99 is silent"),
        ("after 5.01s", "after 12s"),
        ("on link ds: hello 1: fail", "on link a: hello 7: fail"),
        ("came\nassert 1 == 2", "came\nassert 3 == 4"),
        ("two   spaces", "two spaces"),
    ],
)
def test_a_signature_is_the_same_run_after_run(one: str, other: str) -> None:
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    "words", ["U_SUBSCRIBER without WireExpr", "D_FINAL for a Future interest", "a bad face added", "ZI-011"]
)
def test_a_signature_keeps_words(words: str) -> None:
    assert signature(words) == words


@given(st.text(LETTERS))
def test_a_signature_is_its_own_signature(text: str) -> None:
    assert signature(signature(text)) == signature(text)


def test_what_is_expected_is_accepted() -> None:
    result = held(entry(signature="what 7 came"), rules={"ZD-055": Outcome.VIOLATION})
    assert result.complaints == ()
    assert [(item.name, expected.reason) for item, expected in result.rules.items()] == [("ZD-055", "known")]


def test_an_unexpected_pass_is_a_breach() -> None:
    assert only(held(entry(), rules={"ZD-055": Outcome.PASS})).breach is Breach.UNEXPECTED_PASS
    assert only(held(entry(), rules={"ZD-055": Outcome.ODD})).breach is Breach.UNEXPECTED_PASS


def test_a_pass_means_nothing_when_not_everything_was_played() -> None:
    one = entry()
    units = [JudgedItem("ZD-055", Outcome.PASS, thorough=False)]
    known = KnownNames(frozenset({"ZD-055"}), whole=False)
    assert compare(Expectations(None, (one,)), (one,), units, [], known, TODAY).complaints == ()


def test_a_changed_outcome_is_a_breach() -> None:
    result = held(entry(), rules={"ZD-055": Outcome.CRASH})
    assert only(result).breach is Breach.CHANGED_OUTCOME
    assert result.rules == {}


def test_a_changed_signature_is_a_breach() -> None:
    result = held(entry(signature="something else"), rules={"ZD-055": Outcome.VIOLATION})
    assert only(result).breach is Breach.CHANGED_SIGNATURE


def test_an_entry_without_a_match_is_a_breach() -> None:
    assert "no such rule was judged" in only(held(entry(rule="ZD-099"))).message
    assert held(entry(rule="ZD-099"), whole=False).complaints == ()
    assert "there is no such rule" in only(held(entry(rule="ZD-999"), whole=False)).message


def test_a_glob_that_is_too_wide_is_a_breach() -> None:
    rules = {"ZD-054": Outcome.PASS, "ZD-055": Outcome.VIOLATION}
    complaint = only(held(entry(rule="ZD-05*"), rules=rules))
    assert complaint.breach is Breach.OVER_WIDE
    assert "ZD-054 passed" in complaint.message
    alike = {"ZD-054": Outcome.VIOLATION, "ZD-055": Outcome.VIOLATION}
    assert held(entry(rule="ZD-05*"), rules=alike).complaints == ()


def test_an_expired_entry_accepts_nothing() -> None:
    result = held(entry(until=date(2026, 5, 31)), rules={"ZD-055": Outcome.VIOLATION})
    assert only(result).breach is Breach.EXPIRED
    assert result.rules == {}
    assert held(entry(until=TODAY), rules={"ZD-055": Outcome.VIOLATION}).complaints == ()


@pytest.mark.parametrize("thorough", [True, False])
def test_a_part_that_comes_to_something_milder_changes_no_expectation(thorough: bool) -> None:
    known, one = KnownNames(frozenset({"ZD-055"}), whole=thorough), entry(outcome=Outcome.VIOLATION)
    units = [JudgedItem("ZD-055", Outcome.INCONCLUSIVE, "what came", thorough=thorough)]
    complaints = compare(Expectations(None, (one,)), (one,), units, [], known, TODAY).complaints
    assert [each.breach for each in complaints] == [Breach.CHANGED_OUTCOME] * thorough
    units = [JudgedItem("ZD-055", Outcome.CRASH, "what came", thorough=thorough)]
    (complaint,) = compare(Expectations(None, (one,)), (one,), units, [], known, TODAY).complaints
    assert complaint.breach is Breach.CHANGED_OUTCOME


@pytest.mark.parametrize("sign", ["", "what 3; came"])
def test_what_only_some_plays_saw_is_accepted_as_what_they_saw(sign: str) -> None:
    one, other = entry(signature=sign), entry(outcome=Outcome.CRASH)
    # What the worst said may hold whatever separates it from the counts for a reader.
    disagreement = Disagreement("pass in 1 of 3, violation in 2 of 3", Outcome.VIOLATION, "what 1; came")
    what = f"flaky: {disagreement.counts}; {disagreement.what}"
    units = [JudgedItem("ZD-055", Outcome.INCONCLUSIVE, what, disagreement=disagreement)]
    known = KnownNames(frozenset({"ZD-055"}))
    assert compare(Expectations(None, (one,)), (one,), units, [], known, TODAY).complaints == ()
    (complaint,) = compare(Expectations(None, (other,)), (other,), units, [], known, TODAY).complaints
    assert complaint.breach is Breach.CHANGED_OUTCOME


def test_one_entry_may_accept_what_another_does_not() -> None:
    glob, exact = entry(rule="ZD-05*"), entry(rule="ZD-056", outcome=Outcome.DEVIATION)
    rules = {"ZD-055": Outcome.VIOLATION, "ZD-056": Outcome.DEVIATION}
    assert held(glob, exact, rules=rules).complaints == ()
