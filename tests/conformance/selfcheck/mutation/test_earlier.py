"""What earlier runs found out: true of the same sources, and else only which case is asked first."""

from types import SimpleNamespace

import pytest

from conformance.selfcheck.mutation import earlier, score
from conformance.selfcheck.mutation.earlier import earlier_results, names_of
from conformance.selfcheck.mutation.listed import ListedMutant
from conformance.selfcheck.mutation.operators import mutants_of
from conformance.selfcheck.mutation.playing import PlayedMutant
from conformance.selfcheck.mutation.score import MutantSample, compute_score

SOURCE = b"def f(a):\n    return a == 1\n\n\ndef g(a):\n    return a == 1\n"
MUTANTS = mutants_of("m.n", SOURCE)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDWIRE_CACHE", str(tmp_path))
    return lambda: earlier_results("p", "r", "document", MUTANTS, {"m.n": SOURCE})


def test_what_was_found_out_of_the_same_sources_still_holds(results):
    played = PlayedMutant(MUTANTS[0], "killed", "R-1 a case (case)", "a case")
    assert results().result(MUTANTS[0]) is None
    results().add(played)
    assert results().result(MUTANTS[0]) == played
    assert results().result(MUTANTS[1]) is None


def test_of_other_sources_only_what_noticed_it_is_known(results, monkeypatch):
    results().add(PlayedMutant(MUTANTS[0], "killed", "R-1 a case (case)", "a case"))
    monkeypatch.setattr(earlier, "digest_of_sources", lambda protocol: "another")
    assert results().result(MUTANTS[0]) is None
    assert results().noticed_by(MUTANTS[0]) == "a case"
    assert results().noticed_by(MUTANTS[1]) == ""


def test_sources_of_other_protocols_decide_nothing(tmp_path, monkeypatch):
    for protocol in ("zenoh", "pathfinder"):
        (tmp_path / protocol).mkdir()
        (tmp_path / protocol / "peer.py").write_text("")
    monkeypatch.setattr(earlier, "import_module", lambda room: SimpleNamespace(__path__=[str(tmp_path)]))
    digest = earlier.digest_of_sources.__wrapped__
    before = digest("zenoh"), digest("pathfinder")
    # Nor does what is done with a mutant's fate.
    (tmp_path / "zenoh" / "mutants.toml").write_text("")
    (tmp_path / "selfcheck" / "mutation").mkdir(parents=True)
    (tmp_path / "selfcheck" / "mutation" / "page.py").write_text("")
    assert (digest("zenoh"), digest("pathfinder")) == before
    (tmp_path / "zenoh" / "peer.py").write_text("1")
    assert (digest("zenoh") == before[0], digest("pathfinder") == before[1]) == (False, True)


def test_a_line_that_was_cut_off_is_lost_alone(results, tmp_path):
    for mutant in MUTANTS[:2]:
        results().add(PlayedMutant(mutant, "survived"))
    [path] = (tmp_path / "mutants").iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    assert results().result(MUTANTS[0]) is not None
    assert results().result(MUTANTS[1]) is None


def test_what_is_listed_is_what_earlier_runs_saw_of_it(results, monkeypatch):
    gate = SimpleNamespace(sources={"m.n": (SOURCE, "n.py")}, suite=SimpleNamespace(protocol="p"), role="r")
    monkeypatch.setattr(score, "Gates", lambda *_: SimpleNamespace(first=gate))
    monkeypatch.setattr(score, "listed_mutants", lambda _: [ListedMutant("m.n.f", "legal", "either way")])
    known = [mutant for mutant in MUTANTS if mutant.function == "g"] + MUTANTS[:1]
    for mutant in known:
        results().add(PlayedMutant(mutant, "killed", "R-1 a case (case)", "a case"))
    *_, found = compute_score("p", "r", sample=MutantSample(unlisted=True))
    assert [each.mutant for each in found.killed] == sorted(known, key=MUTANTS.index)
    assert found.taken == len(MUTANTS) - len(known)


def test_a_name_outlives_changes_elsewhere_and_is_given_once():
    names = names_of(MUTANTS, {"m.n": SOURCE})
    assert len(set(names.values())) == len(MUTANTS)
    moved = b"X = Y\n" + SOURCE
    assert set(names.values()) <= set(names_of(mutants_of("m.n", moved), {"m.n": moved}).values())


def nothing(_):
    return False


def test_a_sample_is_of_those_that_are_named():
    assert MutantSample().of(MUTANTS, nothing) == MUTANTS
    assert {each.function for each in MutantSample(only=("m/n.py:f",)).of(MUTANTS, nothing)} == {"f"}
    assert MutantSample(only=("m/n.py:f", ":g")).of(MUTANTS, nothing) == MUTANTS


def test_a_sample_is_chosen_by_its_seed_from_what_is_not_listed():
    few = MutantSample(3, seed=1)
    assert len(few.of(MUTANTS, nothing)) == 3
    assert few.of(MUTANTS, nothing) == few.of(MUTANTS, nothing)
    assert few.of(MUTANTS, nothing) != MutantSample(3, seed=2).of(MUTANTS, nothing)
    assert {each.function for each in MutantSample(99).of(MUTANTS, lambda each: each.function == "f")} == {"g"}
    assert MutantSample().of(MUTANTS, lambda each: True) == MUTANTS  # whether entries still hold is seen then
