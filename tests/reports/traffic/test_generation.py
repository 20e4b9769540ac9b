"""Generated traffic: real packets, every session told differently, and broken in it is what is said to be."""

import importlib.util
import json
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="a lake needs pyarrow")

from lake_contents import quiet
from with_scapy import packets_of

from conformance.suite import Suite
from harness.captures.reader import CaptureReader as Reading
from harness.captures.recordings import Recording
from harness.captures.servers import ServerEndpoint
from harness.captures.writer import PcapWriter
from harness.protocol import load as load_protocol
from reports.commands.pipeline import pipeline
from reports.jobs import runner as jobs
from reports.jobs.ingest import IngestOptions
from reports.jobs.overview import overview
from reports.lake.lake import Lake
from reports.lake.schemas import VERDICTS
from reports.traffic.connections import PORT, SEGMENT, ConnectionEnd, GeneratedConnection, TimedBytes
from reports.traffic.generation import generate
from reports.traffic.interleaving import InterleavedCapture
from reports.traffic.playback import Template, TemplatePlayer, variation_of
from reports.traffic.templates import proven, templates
from reports.traffic.variation import SessionDraw, VariableFields, VariedFrames
from wire.engines import live
from wire.errors import DecodeError

PATTERNS = {
    "zenoh": "test_final.",
    "pathfinder": "test_unsubscribe.",
    "urbit": "test_promises.",
    "rai": "test_subscriber_subscribing.",
}
"""Whose cases are played: those of one file, for the time that all take."""

FRAMES = {"zenoh": 2500, "pathfinder": 2500, "urbit": 2500, "rai": 4000}
"""How many are made: a session of Rai's is long, for its beats, and enough of them are to be there."""

SEEN = {"zenoh": 8, "pathfinder": 20, "urbit": 10, "rai": 8}
"""How many faults monitors see in these, at least."""

PROTOCOLS = list(PATTERNS)

pytestmark = pytest.mark.slow  # cases are played against every fault before any of this


@pytest.fixture(scope="module")
def known():
    """Templates by protocol."""
    return {protocol: templates(protocol, quiet, pattern=pattern) for protocol, pattern in PATTERNS.items()}


def made(known, protocol, folder, frames=0, seed=1, files=2, violations=0.3):
    frames = frames or FRAMES[protocol]
    return generate(
        protocol, folder, known[protocol], frames=frames, seed=seed, files=files, violations=violations, workers=1,
        on_progress=quiet, pattern=PATTERNS[protocol],
    )  # fmt: skip


@pytest.fixture(scope="module")
def traffic(known, tmp_path_factory):
    """Folders with generated traffic, by protocol."""
    folder = tmp_path_factory.mktemp("traffic")
    for protocol in PROTOCOLS:
        made(known, protocol, folder / protocol)
    return folder


# --- what is planted --------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_exactly_what_is_planted_is_found(traffic, tmp_path, protocol):
    folder = traffic / protocol
    about = json.loads((folder / "traffic.json").read_bytes())
    planted = [json.loads(line) for line in (folder / "planted.ndjson").read_text().splitlines()]
    assert about["planted"] == len(planted) > 30
    assert {each["fault"] for each in planted} <= set(about["faults"])
    assert len({each["rule"] for each in planted}) > 2
    lake = Lake(tmp_path / "lake", create=True)
    taken = list(jobs.ingest(lake, sorted(folder.glob("*.pcap")), IngestOptions(protocol=protocol), None, quiet))
    assert [(each.trouble, each.losses) for each in taken] == [("", ())] * 2
    assert sum(each.frames for each in taken) == about["frames"] >= FRAMES[protocol]
    assert sum(each.sessions for each in taken) == about["sessions"]
    jobs.judge(lake, protocol, "document", None, quiet)
    accused = [row for row in lake.read(VERDICTS).to_pylist() if row["outcome"] in ("violation", "deviation")]
    assert {(row["session"].partition("/")[2], row["rule"]) for row in accused} == {
        (f"{each['file']}#{each['number']}", each["rule"]) for each in planted
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_faults_break_what_they_are_declared_to_break(known, traffic, protocol):
    faults = load_protocol(protocol).faults.all
    lies = [each for each in known[protocol] if each.fault]
    for each in lies:
        assert each.declared == faults[each.fault].rules
        assert set(each.rules) & set(each.declared)
    assert len({each.fault for each in lies}) >= SEEN[protocol], "a monitor sees less than it did"
    unseen = json.loads((traffic / protocol / "traffic.json").read_bytes())["unseen"]
    assert unseen
    assert not set(unseen) & {each.fault for each in lies}
    assert set(unseen) <= faults.keys()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_not_so_is_not_taken(known, protocol):
    """Of what a template says to break, and of what its session shows, one without the other is refused."""
    suite = Suite(protocol)
    lie = next(each for each in known[protocol] if each.fault)
    sound = next(each for each in known[protocol] if not each.fault)
    change = msgspec.structs.replace
    assert [each.rules for each in proven([lie, sound], suite)] == [lie.rules, ()]
    about = {"fault": lie.fault, "declared": lie.declared, "rules": lie.rules}
    for each in (
        change(lie, declared=("XX-000",)),  # it breaks a rule on the way only
        change(lie, rules=()),  # which was not seen live
        change(lie, fault="", declared=()),  # a sound peer that breaks a rule
        change(sound, **about),  # a lie that nobody sees
    ):
        assert proven([each], suite) == []


# --- the same, and never the same -------------------------------------------------------------------------


def test_the_seed_gives_the_same_files_and_a_larger_run_begins_with_them(known, traffic, tmp_path):
    made(known, "zenoh", tmp_path / "larger", frames=3750, files=3)
    made(known, "zenoh", tmp_path / "other", seed=2)
    for number in (1, 2):
        name = f"zenoh-{number:04}.pcap"
        whole = (traffic / "zenoh" / name).read_bytes()
        assert whole == (tmp_path / "larger" / name).read_bytes()
        assert whole != (tmp_path / "other" / name).read_bytes()
    lines = (traffic / "zenoh" / "planted.ndjson").read_bytes()
    assert (tmp_path / "larger" / "planted.ndjson").read_bytes().startswith(lines)


@pytest.mark.slow  # all plays, twice
def test_plays_are_the_same_each_time():
    """Identifiers and clocks too: other processes make the same templates."""
    pattern = "test_unsubscribe.test_unsubscribe_what"
    once = templates("pathfinder", quiet, pattern=pattern)
    assert once == templates("pathfinder", quiet, pattern=pattern) != []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_varied_is_spelled_as_the_codec_spells_it(known, protocol):
    """One session of each template: the frames that the codec reads are those that it writes."""
    harness = load_protocol(protocol)
    codec = live(harness.layout).codec(harness.layout)
    random = Random(1)
    changed = 0
    for template in known[protocol]:
        frames = [(side, frame) for _, side, frame in template.frames]
        varied = VariedFrames(frames, variation_of(protocol)).frames(random)
        changed += sum(one != other for (_, one), other in zip(frames, varied, strict=True))
        for (_, was), frame in zip(frames, varied, strict=True):
            try:
                codec.decode(was)
            except DecodeError:
                continue
            assert codec.encode(codec.decode(frame)) == frame
    assert changed > 50


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_sessions_of_a_template_differ(known, protocol):
    harness = load_protocol(protocol)
    framing = harness.usual_framing
    random = Random(1)
    for template in known[protocol]:
        player = TemplatePlayer(template, variation_of(protocol), framing)
        one, two = player.play(random), player.play(random)
        if player.varied.count:
            assert [said.data for said in one.messages] != [said.data for said in two.messages]
        assert [said.by_dialler for said in one.messages] == [side for _, side, _ in template.frames]


def test_a_frame_that_would_not_come_back_is_told_as_it_is():
    frames = [(True, b'{"ta-id": 1}'), (True, b'{"ta-id":1}'), (False, b"\xff"), (False, b'{"ta-id":1.0}')]
    spaced, plain, nonsense, real = VariedFrames(frames, variation_of("pathfinder")).frames(Random(1))
    assert (spaced, nonsense, real) == (b'{"ta-id": 1}', b"\xff", b'{"ta-id":1.0}')
    assert plain != b'{"ta-id":1}'


def test_a_protocol_that_nobody_varies_is_told_as_it_is():
    assert variation_of("klingon") is None
    assert VariedFrames([(True, b"qapla")], None).frames(Random(1)) == [b"qapla"]


def test_largest_numbers_are_not_exceeded():
    values = [{"interest_id": number} for number in (1, 2**32 - 3)]
    found = VariableFields()
    for value in values:
        found.number(value, "interest_id", "interest", 2**32 - 1)
    random = Random(1)
    seen = set()
    for _ in range(50):
        draw = SessionDraw(random, found.rooms, "")
        for change in found.changes:
            change(draw)
        assert values[1]["interest_id"] - values[0]["interest_id"] == 2**32 - 4
        seen.add(values[1]["interest_id"])
    assert seen == {2**32 - 3, 2**32 - 2, 2**32 - 1}


texts = st.text("abcxyzABC012/*$-_", max_size=6)


@given(texts, texts, st.integers(0, 1000))
def test_names_keep_to_each_other_what_they_were(one, two, seed):
    letters = sorted({each.lower() for each in one + two if each.isalpha()})
    draw = SessionDraw(Random(seed), {}, letters)
    first, second = draw.text(one), draw.text(two)
    assert draw.text(one + two) == first + second
    assert (first == second) == (one == two)
    assert first.startswith(second) == one.startswith(two)
    assert first.endswith(second) == one.endswith(two)
    assert (second in first) == (two in one)
    assert (first.lower() == second.lower()) == (one.lower() == two.lower())


@given(st.text("abcxyz012/*$", max_size=6), st.text("abcxyz012/*$", max_size=6), st.integers(0, 1000))
def test_names_keep_their_order(one, two, seed):
    draw = SessionDraw(Random(seed), {}, sorted({each for each in one + two if each.isalpha()}))
    assert (draw.text(one) < draw.text(two)) == (one < two)


# --- packets ----------------------------------------------------------------------------------------------


def test_packets_are_sound(tmp_path):
    """Checksums, sequence numbers across their end, segments, and both ways to end."""
    said = [TimedBytes(0, True, b"odd"), TimedBytes(1000, False, bytes(3 * SEGMENT + 1)), TimedBytes(2000, True, b"")]
    for number, is_reset in enumerate((False, True)):
        connection = GeneratedConnection(30000 + number, 1_700_000_000_999_999_999, Random(number))
        connection._connection._next = [0xFFFFFFFE, 0xFFFFFFFF]
        packets = connection.packets(said, ConnectionEnd(3000, False, is_reset), 10)
        path = tmp_path / f"{number}.pcap"
        with PcapWriter(path) as writer:
            for time, data in packets:
                writer.write(data, time)
        times = [time for time, _ in packets]
        assert times == sorted(times)
        read = packets_of(path)
        assert len(read) == 3 + 2 + 4 + (1 if is_reset else 3)
        for packet in read:
            sums = packet["IP"].chksum, packet["TCP"].chksum
            fresh = packet.copy()
            del fresh["IP"].chksum, fresh["TCP"].chksum
            fresh = fresh.__class__(bytes(fresh))
            assert (fresh["IP"].chksum, fresh["TCP"].chksum) == sums
            assert PORT in (packet["TCP"].sport, packet["TCP"].dport)
        reading = Reading(path)
        assert b"".join(each.data for each in reading) == b"odd" + bytes(3 * SEGMENT + 1)
        assert reading.losses.all() == ()


def test_sessions_are_interleaved_and_come_back(tmp_path):
    """What is told is what is recorded: frames, sides, times, ends; no connection has the ends of another."""
    frames = tuple((0.5 * number, number % 2 == 0, b'{"ta-id":%d}' % number) for number in range(4))
    template = Template(
        name="x", fault="", declared=(), rules=(), frames=frames, lasted=2.0, ended_by_dialler=False, is_reset=True,
        is_varied=False,
    )  # fmt: skip
    framing = load_protocol("pathfinder").framings["tcp"]
    player = TemplatePlayer(template, None, framing)
    random = Random(1)
    path = tmp_path / "x.pcap"
    with InterleavedCapture(path, random) as capture:
        begun = dict(capture.take((number, player.play(random)) for number in range(120)))
    back = {each.number: each for each in Recording(path, "pathfinder", transport="tcp")}
    # Nothing in them is a message of Pathfinder, so they are only taken when the server is named.
    assert back == {}
    back = {each.number: each for each in Recording(path, "pathfinder", servers=(ServerEndpoint(PORT),))}
    assert back.keys() == begun.keys()
    assert sorted(begun.values()) == list(range(120))
    assert len({each.key for each in back.values()}) == 120
    assert [entry.data for entry in back[1].trace][1:-1] == [frame for _, _, frame in frames]
    assert back[1].trace.entries[-1].note == "reset"
    numbers = [packet.number for packet in Reading(path)]
    assert len(numbers) == capture.packets
    assert sorted(begun)[:50] != list(range(1, 51)), "sessions do not begin one behind the other"


# --- the command and the benchmark ------------------------------------------------------------------------


def call(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


def test_command(tmp_path):
    out = tmp_path / "out"
    words = ("generate", "zenoh", "-k", "test_final.", "--frames", 500, "--workers", 1, "--out", out, "--violations", 0)
    done = call(pipeline, *words)
    assert (done.return_value, done.stderr) == (0, ""), done.output
    assert "0 sessions with 0 violations" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == ["planted.ndjson", "traffic.json", "zenoh-0001.pcap"]
    again = call(pipeline, *words)
    assert "has traffic in it (planted.ndjson)" in str(again.exception)
    assert again.exception.exit_code == 2
    for name in ("planted.ndjson", "zenoh-0001.pcap"):
        (out / name).unlink()
    (out / "zenoh-0002.pcap.part").touch()  # of a run that was interrupted
    assert "has traffic in it (zenoh-0002.pcap.part)" in str(call(pipeline, *words).exception)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("klingon",), 2, "unknown protocol 'klingon'"),
        (("zenoh", "-k", "no such case", "--workers", "1"), 1, "no session of zenoh can be told"),
    ],
)
def test_command_refuses_what_cannot_be(tmp_path, words, status, said):
    done = call(pipeline, "generate", *words, "--frames", 10, "--out", tmp_path / "out")
    assert done.exception.exit_code == status
    assert said in str(done.exception)


@pytest.fixture(scope="module")
def benchmark():
    path = Path(__file__).parents[3] / "benchmarks" / "lake.py"
    spec = importlib.util.spec_from_file_location("lake_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)  # as Python does for a script: it imports what stands beside it
        spec.loader.exec_module(module)
    return module


@pytest.mark.slow  # a benchmark
def test_benchmark_compares_with_what_is_planted(benchmark, traffic, tmp_path):
    folder = tmp_path / "traffic"
    folder.mkdir()
    for path in (traffic / "zenoh").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    run = partial(CliRunner().invoke, benchmark.main)
    words = ["zenoh", "--captures", str(folder), "--frames", "1250", "--frames", "2500", "--master", "none"]
    words += ["--work", str(tmp_path / "work")]
    done = run([*words, "--markdown"])
    assert done.exit_code == 0, done.output
    assert "exactly these found" in done.stdout
    assert "| judge | none |" in done.stdout
    assert not list((tmp_path / "work").iterdir())
    lines = (folder / "planted.ndjson").read_text().splitlines()
    (folder / "planted.ndjson").write_text("\n".join([*lines[1:], lines[0].replace('"number":', '"number":9')]) + "\n")
    done = run(words)
    assert done.exit_code == 1
    assert "1 missing, 1 beyond" in done.stdout


def test_benchmark_ends_with_1_when_fewer_faults_are_seen_or_judging_fails(benchmark, traffic, tmp_path):
    folder = tmp_path / "traffic"
    folder.mkdir()
    about = json.loads((traffic / "zenoh" / "traffic.json").read_bytes())
    (folder / "planted.ndjson").touch()
    sizes = []
    for pattern in (about["pattern"], ""):
        (folder / "traffic.json").write_text(json.dumps(about | {"pattern": pattern}))
        sizes.append(benchmark.corpus(folder, 1))
    some, every = sizes
    assert (some.at_least, every.at_least) == (0, 39)
    lake = Lake(tmp_path / "lake", create=True)
    with lake.stage("judge-1", "judge") as staging:
        staging.write(VERDICTS, VERDICTS.rows({"outcome": each, "protocol": "zenoh"} for each in ("pass", "error")))
        staging.commit()
    said = overview(lake, None)
    assert not any("monitors see" in each for each in benchmark.lacking(lake, some, [], said))
    lacking = benchmark.lacking(lake, every, [], said)
    assert lacking[0].startswith(f"monitors see {len(about['faults'])} faults, and they saw 39")
    assert lacking[-1] == "1 errors of the tester, and 0 are right"
