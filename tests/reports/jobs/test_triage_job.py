"""Triage: findings and failures without duplicates, faults as clusters, the gravest first."""

import itertools
import json
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import LAYOUT, quiet, taken  # noqa: E402

from fuzz import findings  # noqa: E402
from fuzz.findings import FINDING, MINIMISED  # noqa: E402
from fuzz.planted_bugs import PlantedBug, plant  # noqa: E402
from reports.commands.pipeline import pipeline  # noqa: E402
from reports.jobs import runner as jobs  # noqa: E402
from reports.jobs.similarity import clustered, jaccard, replacements, words  # noqa: E402
from reports.jobs.triage import GRAVITIES, OF_KIND, triage  # noqa: E402
from reports.jobs.versions import ordered  # noqa: E402
from reports.lake.findings import apart  # noqa: E402
from reports.lake.lake import Lake  # noqa: E402
from reports.lake.schemas import FINDINGS, LOSSES, TABLES, VECTORS, VERDICTS, LakeTable  # noqa: E402
from vectors.checks.foreign import WrongAnswer  # noqa: E402
from vectors.golden.loader import load  # noqa: E402

# --- taking in --------------------------------------------------------------------------------------------


def test_findings_become_rows(found, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, found[:1])
    assert (done.findings, done.losses, done.trouble) == (9, (), "")
    rows = {row["folder"]: row for row in lake.read(FINDINGS).to_pylist()}
    for folder in found[0].iterdir():
        kept, row = findings.read(folder), rows[folder.name]
        assert (row["signature"], row["layout"]) == (kept.finding.signature, LAYOUT)
        assert (row["kind"], row["place"]) == (kept.finding.difference.kind, kept.finding.difference.place)
        assert (row["input"], row["minimised"]) == (kept.data, kept.minimised)
        assert (row["apart"], row["engines"]) == ("python", "reference, python, native")
        assert (row["goldwire"], row["seed"], row["origin"]) == ("0.1.0", 1, "random")


def test_findings_taken_in_twice_are_there_once_wherever_they_stand(found, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    copy = shutil.copytree(found[0], tmp_path / "elsewhere")
    done = taken(lake, [found[0], found[0], copy])
    assert [each.is_new for each in done] == [True, False, False]
    before = triage(lake, None)
    # A campaign that goes on in the same folder: what was there counts once.
    shutil.copytree(next(found[2].iterdir()), copy / "one-more")
    assert taken(lake, [copy])[0].findings > 9
    assert sum(each.count for each in triage(lake, None)) == sum(each.count for each in before) + 1


def test_one_finding_is_taken_in_by_its_own_folder(found, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    folder = sorted(found[0].iterdir())[0]
    assert taken(lake, [folder])[0].findings == 1
    (cluster,) = triage(lake, None)
    assert cluster.repeat == f"goldwire replay {folder}"


def test_a_broken_finding_is_named_and_costs_only_itself(found, tmp_path):
    folder = shutil.copytree(found[0], tmp_path / "findings")
    first, second, third, *_ = sorted(folder.iterdir())
    (first / FINDING).write_text("{}")
    (second / MINIMISED).unlink()
    (third / FINDING).unlink()
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, [folder])
    assert (done.findings, done.trouble) == (6, "")
    said = [row["what"] for row in lake.read(LOSSES).to_pylist()]
    assert len(said) == 3
    assert f"{first.name}: finding.json cannot be read" in said[0]
    assert f"{second.name} is not the folder of a finding: there is no minimised.bin" in said[1]
    assert f"{third.name} is not the folder of a finding: there is no finding.json" in said[2]
    (alone,) = taken(lake, [second])
    assert "there is no minimised.bin" in alone.trouble


def test_findings_of_another_protocol_are_left_out_and_counted(found, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    (done,) = taken(lake, found[:1], "pathfinder")
    assert "holds no finding of pathfinder" in done.trouble
    assert not lake.batches()


def test_vectors_become_rows(tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    with as_file(files("vectors").joinpath("zenoh/batch.json")) as path:
        assert [each.is_new for each in taken(lake, [path, path])] == [True, False]
        assert "has vectors of zenoh/batch, not of pathfinder" in taken(lake, [path], "pathfinder")[0].trouble
    rows = {row["id"]: row for row in lake.read(VECTORS).to_pylist()}
    there = load("zenoh/batch")
    assert rows.keys() == {each.id for each in there}
    for each in there:
        row = rows[each.id]
        assert (row["bytes"], row["result"], row["reason"]) == (each.data, each.result, each.reason)
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema": "goldwire-vectors-99"}')
    assert "broken.json is no file of vectors that can be read" in taken(lake, [broken])[0].trouble


OLD = LakeTable(
    "findings",
    1,
    pa.schema(
        [(name, pa.string()) for name in ("source", "signature", "kind", "engines", "time", "protocol", "layout")]
    ),
    FINDINGS.partitions,
)


def test_findings_of_an_older_lake_are_triaged(found, tmp_path, monkeypatch):
    lake = Lake(tmp_path / "lake", create=True)
    monkeypatch.setitem(TABLES, OLD.name, OLD)
    with lake.stage("findings-1", "ingest") as staging:
        row = {"signature": "abc", "kind": "value", "engines": "reference, python", "time": "2025"}
        rows = [row | {"source": f"findings-{n}", "protocol": "zenoh", "layout": LAYOUT} for n in (1, 2)]
        staging.write(OLD, OLD.rows(rows))
        staging.commit()
    monkeypatch.undo()
    (cluster,) = triage(lake, None)
    assert (cluster.count, cluster.who, cluster.first) == (2, "reference, python", "2025")
    taken(lake, found)
    assert len(triage(lake, None)) == 6
    assert not lake.damage


# --- clusters ---------------------------------------------------------------------------------------------


def test_every_lie_is_one_cluster_the_gravest_first(triaged, found):
    clusters = [each for each in triage(triaged, None) if each.size is not None]
    suffix = clusters[3].where.split()[1]  # there are two that are as small
    assert suffix in ("key_suffix", "declaration.key_suffix")
    assert [(each.gravity, each.where) for each in clusters] == [
        ("crash", f"{LAYOUT} (frame)"),
        ("accepts", f"{LAYOUT} (frame)"),
        ("value", f"{LAYOUT} extensions[].value"),
        ("value", f"{LAYOUT} {suffix}"),
        ("value", f"{LAYOUT} (frame)"),
    ]
    assert [(each.count, each.different) for each in clusters] == [(1, 1), (1, 1), (6, 4), (4, 2), (1, 1)]
    low_, short_ = clusters[2:4]
    assert low_.versions == ("0.1.0", "0.2.0")
    assert short_.versions == ("0.1.0", "0.10.0")
    assert (low_.first, low_.last) == ("2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00")
    assert all(each.who == "python" for each in clusters)
    assert low_.size == 6, "the smallest of all"
    words_ = low_.repeat.split()
    assert words_[:2] == ["goldwire", "replay"]
    assert findings.read(Path(words_[2])).finding.signature in low_.signatures


def test_a_fault_of_an_implementation_is_one_cluster_over_rules_versions_and_cases(triaged, runs):
    clusters = [each for each in triage(triaged, None) if each.size is None]
    assert [each.who for each in clusters] == ["node router", "recorded router"]
    live, recorded = clusters
    assert {"ZI-015", "ZI-071"} <= set(live.rules) == set(recorded.rules)
    assert live.gravity == recorded.gravity == "violation"
    assert live.versions == ("1.10.0", "1.11.0"), "as versions, not as texts; and not 1.9.0, which keeps the rule"
    assert (live.first, live.last) == ("2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00")
    assert len(live.cases) == 5
    assert live.example.startswith(f"{live.cases[0]} in {runs[2] / 'traces' / live.cases[0]}.pcapng")
    assert live.repeat == f"goldwire test zenoh --iut peer: -k {live.cases[0]}"
    assert recorded.versions == ("7",)
    assert recorded.repeat.startswith(f"goldwire audit zenoh {runs[2] / 'traces'}")
    assert " --session " in recorded.repeat
    accusing = [row for row in triaged.read(VERDICTS).to_pylist() if row["outcome"] in ("violation", "deviation")]
    assert live.count == sum(row["kind"] == "run" and row["origin"] == "live" for row in accusing)
    assert recorded.count == sum(row["kind"] == "capture" for row in accusing)


def test_the_audit_that_repeats_a_failure_shows_it(triaged):
    cluster = next(each for each in triage(triaged, None) if each.who == "recorded router")
    program = "from harness.command import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *cluster.repeat.split()[1:]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert cluster.where in done.stdout


def test_ranks_are_in_order(triaged):
    clusters = triage(triaged, None)
    assert [each.rank for each in clusters] == list(range(1, len(clusters) + 1))
    gravities = [GRAVITIES.index(each.gravity) for each in clusters]
    assert gravities == sorted(gravities)
    for before, after in itertools.pairwise(clusters):
        if before.gravity == after.gravity:
            assert before.count >= after.count


def test_triage_is_the_same_whatever_order_things_came_in(triaged, found, runs, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    captures = sorted((runs[2] / "traces").glob("*.pcapng"))
    taken(lake, captures[::-1], name="recorded", version="7", role="router")
    taken(lake, [*runs, *found][::-1])
    for _ in range(2):
        jobs.judge(lake, "zenoh", "document", None, quiet)
    assert triage(lake, None) == triage(triaged, None)


LIE = PlantedBug(
    "large interest ids are one too high",
    LAYOUT,
    """
    if value["type"] == "DECLARE" and (value["interest_id"] or 0) > 1000:
        value["interest_id"] += 1
    """,
)


@pytest.mark.slow  # campaigns, as the name says
def test_what_a_real_campaign_finds_joins_its_cluster(tmp_path):
    (tmp_path / "lie").mkdir()
    words_ = ["codec", LAYOUT, "--engine", "random", "--jobs", "1", "--for", "60s", "--most", "1"]
    program = [sys.executable, "-P", "-c", "from fuzz.fuzz_command import fuzz; fuzz()", *words_]
    environment = plant(LIE, tmp_path / "lie")
    for seed in ("1", "2"):
        done = subprocess.run(
            [*program, "--out", tmp_path / f"findings-{seed}", "--seed", seed], env=environment, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stdout + done.stderr
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, [tmp_path / "findings-1", tmp_path / "findings-2"])
    (cluster,) = triage(lake, None)
    assert (cluster.where, cluster.who, cluster.count) == (f"{LAYOUT} interest_id", "python", 2)


# --- the parts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trait", "who"),
    [
        (("reference as reference", "python as python", "native as reference"), ("python",)),
        (("reference as reference", "python as python", "native as python"), ("reference",)),
        (("reference as reference", "python as python", "native as native"), ("python", "native")),
        (("reference accepts", "python refuses: truncated", "native accepts"), ("python",)),
        (
            (
                "reference (value of native) writes",
                "python (value of native) refuses to write",
                "native (value of native) writes",
            ),
            ("python",),
        ),
        (("native ends the process with SIGSEGV",), ("native",)),
        (("native",), ("native",)),
        (("truncated", "reference as reference", "python as python", "native as reference"), ("python",)),
        (
            (
                "reference (reads the frame) as reference (reads the frame)",
                "reference (read back) as reference (read back)",
                "python (read back) as python (read back)",
                "native (read back) as reference (read back)",
            ),
            ("python",),
        ),
        (("unsteady",), ()),
    ],
)
def test_engines_that_stand_alone(trait, who):
    assert apart(("reference", "python", "native"), trait) == who


@pytest.mark.parametrize("kind", WrongAnswer)
def test_what_a_program_gets_wrong_is_as_grave_as_what_an_engine_does(kind):
    ours = {"wrongly accepted": "accept", "wrongly refused": "value", "not encoded": "encode", "wrong bytes": "bytes"}
    ours |= {"wrong value": "value", "wrong reason": "reason", "wrong offset": "offset", "partial line": "crash"}
    if kind.value in ours:
        assert OF_KIND[kind.value] == OF_KIND[ours[kind.value]]
    assert (OF_KIND.get(kind.value) is None) == (kind in (WrongAnswer.DECLINED, WrongAnswer.LOST))


def test_a_program_with_blanks_in_its_name_stands_alone():
    assert apart(("reference", "my codec"), ("reference accepts", "my codec refuses: bad-text")) == ("my codec",)


TEXTS = {
    "D_FINAL for interest 17 at 0x1f": "D_FINAL for interest # at #",
    "got 'lab/a' not \"lab b\"": "got '…' not \"…\"",
    "got b'\\x00' and 00ff00ff00ff": "got b'…' and #",
    "the peer's id is its session's": "the peer's id is its session's",
    "D_SUBSCRIBER lab/**/a is 12.5": "D_SUBSCRIBER …/… is #.#",
    "nothing": "nothing",
    "…é'ü' “9”": "…é'…' “#”",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_lose_what_varies(text):
    array = pa.array([text])
    for pattern, instead in replacements("\\"):
        array = pa.compute.replace_substring_regex(array, pattern, instead)
    assert array[0].as_py() == TEXTS[text]


@pytest.mark.parametrize(
    ("kind", "times", "clusters"),
    [("capture", 1, 1), ("capture", 2, 2), ("run", 2, 1)],
)
def test_never_one_without_the_other_is_said_of_what_is_known(kind, times, clusters, tmp_path):
    """Of a recording only the first session is known that shows a failure: others may show one without the other."""
    origin = "live" if kind == "run" else "judged"
    lake = Lake(tmp_path / "lake", create=True)
    said = [
        {"what": what, "session": None if kind == "run" else f"a/b.pcap#{number}", "entry": entry}
        for entry, what in enumerate(["nothing came", "interest is unknown"])
        for number in range(1, times + 1)
    ]
    same = {"kind": kind, "origin": origin, "source": "a", "case": "b", "rule": "ZI-015", "outcome": "violation"}
    with lake.stage("judge-1", "judge") as staging:
        staging.write(VERDICTS, VERDICTS.rows(same | each | {"protocol": "zenoh", "name": "x"} for each in said))
        staging.commit()
    assert [each.count for each in triage(lake, None)] == [2 * times // clusters] * clusters


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_clusters_do_not_depend_on_the_order(order):
    def alike(one, other):
        return jaccard(one, other) >= 0.6

    def features(same):
        return words(same[0])

    items = ["a b c d", "a b c e", "a b e f", "x y"]
    found = clustered([items[each] for each in order], str, type, features, alike)
    alone = clustered([items[each] for each in order], str, str, features, alike)
    assert {frozenset(each) for each in found} == {frozenset(items[:3]), frozenset(items[3:])}
    assert len(alone) == 4, "kin are asked first"


def test_versions_are_ordered_as_versions():
    assert ordered(["1.10.0", "1.9.1", "1.10.0rc1", "1.9.1"]) == ["1.9.1", "1.10.0rc1", "1.10.0"]
    assert ordered(["r10-main", "r9-main"]) == ["r9-main", "r10-main"]


# --- the command ------------------------------------------------------------------------------------------


def call(*words_):
    return CliRunner().invoke(pipeline, [str(word) for word in words_], standalone_mode=False)


def test_command_from_findings_to_a_list(found, runs, tmp_path):
    lake = tmp_path / "lake"
    done = call("ingest", "zenoh", *found, *runs, "--lake", lake)
    assert (done.return_value, done.stderr) == (0, "")
    assert f"{found[0]}: 9 findings (findings-" in done.stdout
    done = call("triage", "--lake", lake)
    assert (done.return_value, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"  1. crash     {LAYOUT} (frame), python: breaks: ")
    assert "goldwire replay " in lines[2]
    assert "in 4 forms; 6 bytes; goldwire 0.1.0 to 0.2.0; since 2026-01-01" in done.stdout
    guilty = next(line for line in lines if "node router: " in line)
    assert guilty.split()[1] == "violation"
    assert {"ZI-015", "ZI-071"} <= set(guilty.replace(",", "").split())
    assert "version 1.10.0 to 1.11.0" in done.stdout
    as_json = json.loads(call("triage", "--lake", lake, "--json").stdout)
    assert [each["rank"] for each in as_json] == list(range(1, len(as_json) + 1))


def test_command_says_when_there_is_nothing(runs, tmp_path):
    Lake(tmp_path / "lake", create=True)
    done = call("triage", "--lake", tmp_path / "lake")
    assert done.return_value == 1
    assert "there are no findings and no verdicts" in done.stderr
    taken(Lake(tmp_path / "lake"), runs[:1])
    done = call("triage", "--lake", tmp_path / "lake")
    assert (done.return_value, done.stdout) == (0, "nothing is wrong\n")


def test_a_damaged_file_costs_only_itself(found, tmp_path):
    lake = Lake(tmp_path / "lake", create=True)
    taken(lake, found)
    victim = lake.pieces(FINDINGS)[0]
    (lake.path / victim.file).write_bytes(b"")
    done = call("triage", "--lake", lake.path)
    assert done.return_value == 1
    assert f"left out: {victim.file}" in done.stderr
    assert "1. " in done.stdout
