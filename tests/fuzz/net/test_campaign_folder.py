"""What stands in a campaign's folder, as several processes write it, any of which may be killed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.contract.expectations import BadExpectations
from conformance.suite import Suite
from fuzz.findings import FINDING
from fuzz.net import suspects
from fuzz.net.campaign import merged
from fuzz.net.expected_findings import ExpectedFindings, load_expected
from fuzz.net.finding import NetworkFinding, NetworkOrigin, finding_name, read_finding, regression, write_finding
from fuzz.net.kept_tests import FOLDER as KEPT
from fuzz.net.kept_tests import KeptLine, KeptTests
from fuzz.net.known_findings import KnownFindings
from fuzz.net.moves import NetworkTest, Opens, Says
from fuzz.net.replaying import replayed
from fuzz.net.suspects import FOLDER as SUSPECTS
from fuzz.net.suspects import UNCONFIRMED, Suspects
from fuzz.net.symptoms import Symptom
from fuzz.net.worker import WORKERS, FuzzProgress
from harness.iuts.description import Description

TEST: NetworkTest = (Opens("a"), Says("a", (b"\x1e\x1a",)))
DIED = Symptom("crash", "KeyError in handle (node.py)", place="KeyError in handle (node.py)")
SILENT = Symptom("hang", "a fresh session gets no answers", about=("PUSH PUT",))


def a_finding(symptom: Symptom, version: str = "") -> NetworkFinding:
    return NetworkFinding(
        signature=symptom.digest,
        protocol="zenoh",
        role="router",
        iut="peer:",
        version=version,
        transport="tcp",
        profile="document",
        layout="zenoh/network-message",
        symptom=symptom,
        test=TEST,
        found=TEST,
        times=1,
        origin=NetworkOrigin(0, 0, 1, 1.0, "2026-01-01T00:00:00+00:00"),
    )


# --- kept tests -----------------------------------------------------------------------------------------------


def numbers(lines: Sequence[KeptLine]) -> list[int]:
    return [line.features[0] for line in lines]


def kept(tests: KeptTests) -> list[int]:
    return numbers(list(tests.others()))


def test_workers_hear_of_each_other_once_and_not_of_themselves(tmp_path: Path) -> None:
    one, two = KeptTests(tmp_path, "one"), KeptTests(tmp_path, "two")
    one.add([KeptLine(TEST, (1,)), KeptLine(TEST, (2,))])
    assert kept(one) == []
    assert kept(two) == [1, 2]
    assert kept(two) == []
    one.add([KeptLine(TEST, (3,))])
    assert kept(two) == [3]
    assert kept(KeptTests(tmp_path, "three")) == [1, 2, 3]


def test_half_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    one, two = KeptTests(tmp_path, "one"), KeptTests(tmp_path, "two")
    one.add([KeptLine(TEST, (1,))])
    path = tmp_path / KEPT / "one.ndjson"
    line = msgspec.json.encode(KeptLine(TEST, (2,))) + b"\n"
    for place in range(len(line)):
        assert kept(two) == ([1] if place == 0 else [])
        with path.open("ab") as file:
            file.write(line[place : place + 1])
    assert kept(two) == [2]


def test_a_torn_last_line_is_passed_over_and_what_follows_it_is_read(tmp_path: Path) -> None:
    one = KeptTests(tmp_path, "one")
    one.add([KeptLine(TEST, (1,))])
    with (tmp_path / KEPT / "one.ndjson").open("ab") as file:
        file.write(msgspec.json.encode(KeptLine(TEST, (2,)))[:-7])
    assert kept(KeptTests(tmp_path)) == [1]
    one.add([KeptLine(TEST, (3,)), KeptLine(TEST, (4,))])
    assert kept(KeptTests(tmp_path)) == [1, 4], "the line behind it is torn as well, and no other"


# --- findings -------------------------------------------------------------------------------------------------


def test_what_others_write_becomes_known(tmp_path: Path) -> None:
    known = KnownFindings(tmp_path, "zenoh", "router")
    assert not known.has(DIED)
    write_finding(tmp_path, a_finding(DIED), None)
    assert known.has(DIED), "it is looked for when it is asked for"
    write_finding(tmp_path, a_finding(SILENT), None)
    assert [each.symptom for each in known] == [DIED]
    known.look()
    assert {each.symptom for each in known} == {DIED, SILENT}
    assert [each.symptom for each in KnownFindings(tmp_path, "zenoh", "router")] != []
    assert list(KnownFindings(tmp_path, "zenoh", "client")) == []


def test_folders_that_hold_no_finding_are_passed_over(tmp_path: Path) -> None:
    for name, text in (("cut", '{"finding":"net","sig'), ("codec", '{"finding":"codec"}'), ("none", "")):
        folder = tmp_path / f"zenoh-router-crash-{name}"
        folder.mkdir()
        (folder / FINDING).write_text(text)
    (tmp_path / "zenoh-router-crash-empty").mkdir()
    known = KnownFindings(tmp_path, "zenoh", "router")
    assert list(known) == []
    known.look()
    assert not known.has(DIED)


def test_a_known_finding_is_alike_that_shows_the_same_whatever_is_said(tmp_path: Path) -> None:
    known = KnownFindings(tmp_path, "zenoh", "router")
    write_finding(tmp_path, a_finding(SILENT), None)
    known.look()
    more = Symptom(SILENT.kind, SILENT.what, about=("INTEREST", "PUSH PUT"))
    assert not known.has(more)
    assert [each.symptom for each in known.alike(more)] == [SILENT]
    assert not known.alike(Symptom("service", SILENT.what, about=("PUSH PUT",)))


def test_a_finding_is_written_once_and_a_half_written_one_is_made_whole(tmp_path: Path) -> None:
    folder, is_new = write_finding(tmp_path, a_finding(DIED), None)
    assert is_new
    assert folder.name == finding_name("zenoh", "router", DIED)
    assert write_finding(tmp_path, a_finding(DIED, "2.0"), None) == (folder, False)
    assert read_finding(folder) == a_finding(DIED)
    (folder / FINDING).unlink()
    assert write_finding(tmp_path, a_finding(DIED, "2.0"), None) == (folder, True)
    assert read_finding(folder).version == "2.0"


def test_merging_changes_nothing_that_is_there(tmp_path: Path) -> None:
    one, two, out = tmp_path / "one", tmp_path / "two", tmp_path / "out"
    write_finding(one, a_finding(DIED, "1.0"), None)
    write_finding(two, a_finding(DIED, "2.0"), None)
    write_finding(two, a_finding(SILENT), None)
    (two / "zenoh-router-hang-half").mkdir()
    KeptTests(one, "w").add([KeptLine(TEST, (1,))])
    KeptTests(two, "v").add([KeptLine(TEST, (2,))])
    found, workers = merged([one, two, one], out)
    assert {(each.finding.symptom, each.finding.version, each.new) for each in found} == {
        (DIED, "1.0", True),
        (SILENT, "", True),
    }
    assert workers == ()
    assert sorted(kept(KeptTests(out))) == [1, 2]
    again, _ = merged([two], out)
    assert {(each.finding.version, each.new) for each in again} == {("1.0", False), ("", False)}


# --- suspects -------------------------------------------------------------------------------------------------


def test_suspects_stay_until_they_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspects, "MOST", 2)
    folder = Suspects(tmp_path)
    assert folder.left() == []
    paths = [folder.write([TEST], DIED) for _ in range(4)]
    assert folder.left() == sorted(paths)
    found = Suspects(tmp_path).read(paths[0])
    assert found is not None
    assert (found.tests, found.symptom) == ((TEST,), DIED)
    folder.done(paths[0], confirmed=True)
    for path in paths[1:]:
        folder.done(path, confirmed=False)
    assert folder.left() == []
    assert len(list((tmp_path / UNCONFIRMED).iterdir())) == 2, "no more than so many are put aside"
    folder.done(paths[0], confirmed=True)
    assert folder.read(paths[0]) is None


def test_a_suspect_is_looked_into_by_one_as_long_as_that_one_lives(tmp_path: Path) -> None:
    one, two = Suspects(tmp_path), Suspects(tmp_path)
    path = one.write([TEST], DIED)
    assert two.others_look_into(DIED)
    assert not two.others_look_into(SILENT)
    assert not one.others_look_into(DIED), "it is looked into by itself"
    one.done(path, confirmed=True)
    assert not two.others_look_into(DIED)


WRITES = """
import sys, time
from pathlib import Path
from fuzz.net.suspects import Suspects
from fuzz.net.symptoms import Symptom
folder = Suspects(Path(sys.argv[1]))
folder.write([], Symptom("crash", "", place="KeyError in handle (node.py)"))
print("written", flush=True)
time.sleep(600)
"""


@pytest.mark.slow(seconds=1)  # another process
def test_nobody_looks_into_the_suspect_of_who_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path)], stdout=subprocess.PIPE) as writes:
        assert writes.stdout is not None
        assert writes.stdout.readline() == b"written\n"
        assert Suspects(tmp_path).others_look_into(DIED)
        writes.kill()
        writes.wait()
    assert not Suspects(tmp_path).others_look_into(DIED)
    assert len(Suspects(tmp_path).left()) == 1


def test_drafts_of_who_was_killed_are_nothing(tmp_path: Path) -> None:
    draft = ".0-0-abcdef.12345678.json"
    for name in (SUSPECTS, WORKERS):
        (tmp_path / "one" / name).mkdir(parents=True)
        (tmp_path / "one" / name / draft).touch()
    (tmp_path / "one" / WORKERS / "0-0-abcdef.json").write_bytes(msgspec.json.encode(FuzzProgress(tests=1)))
    assert Suspects(tmp_path / "one").left() == []
    _, workers = merged([tmp_path / "one"], tmp_path / "two")
    assert [each.tests for each in workers] == [1]
    assert not list((tmp_path / "two").rglob(".*"))


# --- what is expected -----------------------------------------------------------------------------------------


def expected(tmp_path: Path, text: str) -> ExpectedFindings:
    path = tmp_path / "expected.toml"
    path.write_text(text)
    return load_expected(path, ("router", "client"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[finding]", "not TOML"),
        ("[finding]\nkind = 'crash'", "'finding' is not an array of tables; write"),
        ("finding = 1", "'finding' is not an array of tables"),
        ("[[finding]]\nkind = 'crash'\nreason = 'x'", "finding 1: .*signature"),
        ("[[finding]]\nkind = 'crash'\nsignature = 1\nreason = 'x'", "finding 1: key 'signature'"),
        ("[[finding]]\nkind = 'crash'\nsignature = 'a'\nreason = 'x'\nwhy = 'y'", "finding 1: .*why"),
        ("[[finding]]\nkind = 'death'\nsignature = 'a'\nreason = 'x'", "finding 1: key 'kind': 'death' is not one of"),
        (
            "[[finding]]\nkind = 'hang'\nsignature = 'a'\nreason = 'x'\n\n"
            "[[finding]]\nkind = 'hang'\nsignature = 'a'\nreason = 'x'\nversions = 'old'",
            "finding 2: key 'versions': .*no version specifier; write '>=1.9'",
        ),
    ],
)
def test_a_bad_file_is_refused_with_what_and_where(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(BadExpectations, match=complaint) as refused:
        expected(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / "expected.toml"))
    assert "\n" not in str(refused.value).strip()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadExpectations, match=r"nowhere\.toml: cannot be read"):
        load_expected(tmp_path / "nowhere.toml", ())
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(BadExpectations, match=r"latin\.toml: cannot be read"):
        load_expected(tmp_path / "latin.toml", ())


@pytest.mark.parametrize("signature", [DIED.digest, DIED.what, DIED.place])
@pytest.mark.parametrize(
    ("versions", "version", "accepted"),
    [("", "1.0", True), ("<2", "1.0", True), ("<2", "2.1", False), ("<2", "", True), ("<2", "a fork", False)],
)
def test_an_entry_names_a_symptom_by_its_digest_or_in_words(
    signature: str, versions: str, version: str, accepted: bool, tmp_path: Path
) -> None:
    text = f'[[finding]]\nkind = "crash"\nsignature = "{signature}"\nreason = "known"\nversions = "{versions}"\n'
    found = expected(tmp_path, text)
    suite = Suite("zenoh")
    assert found.accept(DIED, suite, version, "router", "document") is accepted
    assert not found.accept(SILENT, suite, version, "router", "document")
    other = Symptom("hang", DIED.what, place=DIED.place)
    assert not found.accept(other, suite, version, "router", "document")


def test_nothing_is_expected_where_nobody_says_so() -> None:
    assert not ExpectedFindings().accept(DIED, Suite("zenoh"), "", "router", "document")


def test_what_a_finding_is_about_is_not_passed_over_when_it_is_tried_again(tmp_path: Path) -> None:
    text = "".join(
        f'[[finding]]\nkind = "rule"\nsignature = "{rule}"\nreason = "known"\n' for rule in ("ZI-049", "ZD-006")
    )
    one, another = (Symptom("rule", "it is broken", rule) for rule in ("ZI-049", "ZD-006"))
    suite, left = Suite("zenoh"), expected(tmp_path, text).but_for(one)
    assert not left.accept(one, suite, "", "router", "document")
    assert left.accept(another, suite, "", "router", "document")


def test_its_regression_judges_as_the_campaign_did() -> None:
    """A regression: a test of a finding by the deployed profile, or by a file of what is expected, did without."""
    alone = a_finding(DIED)
    assert "iut, transport='tcp') as node" in regression(alone)
    told = msgspec.structs.replace(alone, profile="deployed", expect="known of mine.toml")
    more = "iut, transport='tcp', profile='deployed', expectations='known of mine.toml') as node"
    assert more in regression(told)
    broken = a_finding(Symptom("rule", "it is broken", "ZD-006"))
    assert "iut, transport='tcp', about='ZD-006') as node" in regression(broken), "also once it is expected"


@pytest.mark.parametrize(
    ("asked", "taken"),
    [((), "known of mine.toml"), (("peer:router",), ""), (("", Path("other.toml")), "other.toml")],
)
def test_its_replay_takes_what_the_campaign_took(
    asked: tuple[Any, ...], taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: a replay judged what the campaign's file had excused. Of another implementation it says nothing."""
    given = list[Path | None]()

    def expected_of(description: Description, path: Path | None) -> ExpectedFindings:
        given.append(path)
        raise BadExpectations("that is enough")

    monkeypatch.setattr("fuzz.net.replaying.expected_of", expected_of)
    with pytest.raises(BadExpectations):
        replayed(msgspec.structs.replace(a_finding(DIED), expect="known of mine.toml"), *asked)
    assert given == [Path(taken) if taken else None]
