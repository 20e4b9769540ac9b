"""The benchmark itself: its arithmetic with clocks that obey, its shape, and whether rivals are right."""

import json
from collections.abc import Mapping
from random import Random
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from vectors.bench import throughput as bench
from vectors.bench.compiled import compiled
from vectors.bench.field_loops import reading
from vectors.bench.plot import NotDrawn, draw, svg
from vectors.bench.throughput import (
    Baseline,
    BenchResult,
    BenchResults,
    BenchTask,
    WrongChoice,
    frames_of,
    measure,
    results_of,
    spread,
)
from vectors.check_command import bench as command
from vectors.checks.differential import same
from vectors.sampling import Sampler
from wire.catalogue import grammar, layout
from wire.engines import engine, present
from wire.errors import DecodeError
from wire.reference import decode, encode, plain

NETWORK = "zenoh/network-message"
LAYOUTS = [NETWORK, "zenoh/transport-message", "zenoh/batch"]
MESSAGE = "pathfinder/message"
PACKET = "urbit/packet"
UPDATE = "rai/publish"
DECLARE = bytes.fromhex("1e2201020161")
FEW = 1000
"""Frames of a batch: the 100,000 of a real measurement take 200 MB and seconds to make."""


class Clock:
    """A clock that only goes on when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def takes(self, *seconds: float) -> object:
        """Return a loop of which one pass takes so long, the first figure first, and then again."""
        turns = iter(range(1 << 30))

        def run(times: int) -> None:
            for _ in range(times):
                self.now += seconds[next(turns) % len(seconds)]

        return run


def test_rates_and_ratios_come_from_the_clock():
    clock = Clock()
    tasks = [
        BenchTask("construct", "decode", "construct", 100, clock.takes(0.010)),
        BenchTask("python", "decode", "construct", 100, clock.takes(0.0004)),
        BenchTask("columnar", "columnar", "construct", 5000, clock.takes(0.0005)),
    ]
    rates = bench.rates_of(tasks, 7, 0.05, clock)
    assert [len(each) for each in rates] == [7, 7, 7]
    slow, fast, batch = results_of(tasks, rates)
    assert slow == BenchResult("construct", "decode", 10_000.0, 1.0, 0.0)
    assert fast == BenchResult("python", "decode", 250_000.0, 25.0, 0.0)
    assert batch == BenchResult("columnar", "columnar", 10_000_000.0, 1000.0, 0.0)


def test_a_loop_is_repeated_until_it_takes_long_enough():
    clock = Clock()
    assert bench.calibrated(BenchTask("a", "decode", "a", 1, clock.takes(0.2)), 0.05, clock) == 1
    times = bench.calibrated(BenchTask("a", "decode", "a", 1, clock.takes(0.0001)), 0.05, clock)
    assert 500 <= times < 600


def test_the_median_counts_and_the_spread_is_said():
    assert spread([100.0]) is None
    assert spread([90.0, 100.0, 110.0]) == pytest.approx(10.0)
    tasks = [BenchTask("construct", "decode", "construct", 1, lambda times: None)]
    (result,) = results_of(tasks, [[1.0, 90.0, 100.0, 110.0, 5000.0]])
    assert (result.per_second, result.spread) == (100.0, 20.0)


def test_rounds_are_interleaved():
    order = []
    clock = Clock()

    def task(name: str) -> BenchTask:
        def run(times: int) -> None:
            order.append(name)
            clock.now += 1.0

        return BenchTask(name, "decode", name, 1, run)

    bench.rates_of([task("a"), task("b"), task("c")], 3, 0.5, clock)
    assert "".join(order) == "abc" + "abc" + "bca" + "cab"


def test_what_covers_a_part_is_held_against_that_part():
    frames = [bytes.fromhex(each) for each in ("1905", "390501", "1a05")]
    whole = grammar(NETWORK)
    rival = Baseline("rival", whole.parse, whole.build, covers=lambda value: value["type"] == "INTEREST")
    tasks = list(bench.tasks_of(NETWORK, rival, frames))
    assert {task.frames for task in tasks} == {1}
    assert {task.engine for task in tasks} == {"rival", "construct (where rival can)"}
    assert {task.baseline for task in tasks} == {"construct (where rival can)"}


@pytest.fixture(scope="module")
def measured() -> BenchResults:
    return measure(NETWORK, rounds=2, seconds=0.001, batch=FEW, corpus="declare")


@pytest.mark.slow  # measures, which takes its time
def test_the_json_is_what_is_promised(measured):
    text = json.loads(json.dumps(measured.as_json()))
    assert set(text) == {"layout", "baseline", "corpus", "results"}
    assert (text["layout"], text["baseline"]) == (NETWORK, "construct")
    for each in text["results"]:
        assert set(each) == {"engine", "operation", "per_second", "ratio", "spread"}
        assert each["per_second"] > 0
    rates = {(each["engine"], each["operation"]): each for each in text["results"]}
    assert len(rates) == len(text["results"])
    for name in (
        "construct",
        "construct-compiled",
        "example",
        "hand",
        "scapy",
        "construct (where scapy can)",
        "python",
    ):
        for operation in ("decode", "decode-and-read", "encode"):
            assert (name, operation) in rates
    each = rates["python", "encode"]
    baseline = rates["construct", "encode"]["per_second"]
    assert each["ratio"] == pytest.approx(each["per_second"] / baseline, abs=0.01)
    assert rates["construct (where scapy can)", "decode"]["ratio"] == 1.0


@pytest.mark.slow  # measures, which takes its time
def test_the_chart_has_every_figure_and_is_well_formed(measured, tmp_path):
    draw(measured, tmp_path / "chart.svg")
    tree = ElementTree.fromstring((tmp_path / "chart.svg").read_text())
    bars = [each for each in tree.iter("{http://www.w3.org/2000/svg}rect") if each.get("class") in ("bar", "own")]
    assert len(bars) == len(measured.results)
    text = " ".join(tree.itertext())
    assert "prefers-color-scheme: dark" in text
    for each in measured.results:
        assert each.engine in text


def test_bars_are_as_long_as_ratios_on_a_logarithmic_scale():
    figures = tuple(
        BenchResult(name, "decode", 1.0, ratio, 0.0) for name, ratio in (("a", 1.0), ("b", 10.0), ("c", 100.0))
    )
    tree = ElementTree.fromstring(svg(BenchResults("x/y", "a", "layout", figures)))
    ends = [
        float(each.get("x")) + float(each.get("width"))
        for each in tree.iter("{http://www.w3.org/2000/svg}rect")
        if each.get("class") == "bar"
    ]
    assert ends[2] - ends[1] == pytest.approx(ends[1] - ends[0], abs=1.1)


@pytest.mark.slow  # measures, which takes its time
def test_charts_that_cannot_be_drawn(measured, tmp_path):
    with pytest.raises(NotDrawn, match=r"write \.svg or \.png"):
        draw(measured, tmp_path / "chart.gif")
    with pytest.raises(NotDrawn, match="nothing was measured"):
        draw(BenchResults(NETWORK, "construct", "layout", ()), tmp_path / "chart.svg")


@pytest.mark.slow  # measures, which takes its time
def test_a_png_needs_matplotlib(measured, tmp_path):
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(NotDrawn, match="pip install matplotlib"):
            draw(measured, tmp_path / "chart.png")
    else:
        draw(measured, tmp_path / "chart.png")
        assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow  # measures, which takes its time
def test_the_command():
    result = CliRunner().invoke(
        command, [NETWORK, "--json", "--rounds", "1", "--only", "python", "--corpus", "declare"]
    )
    assert result.exit_code == 0
    engines = {each["engine"] for each in json.loads(result.stdout)["results"]}
    assert engines == {"construct", "python"}


@pytest.mark.slow  # measures, which takes its time
def test_the_markdown_is_a_table(measured):
    head, line, *rows = bench.markdown(measured).splitlines()
    assert {row.count("|") for row in (head, line, *rows)} == {6}
    assert len(rows) == len(measured.results)


@pytest.mark.parametrize(
    "arguments", [["zenoh/nothing"], [NETWORK, "--only", "nobody"], [NETWORK, "--corpus", "none"], ["--rounds", "0"]]
)
def test_wrong_usage(arguments):
    assert CliRunner().invoke(command, arguments).exit_code == 2


def test_who_is_not_here_is_named():
    told = []
    with pytest.raises(WrongChoice, match=r"nothing here is called nobody; there are construct, .*columnar"):
        measure(NETWORK, only=["nobody"], on_note=told.append)
    assert any(line.startswith("construct-compiled: ") for line in told)


@pytest.mark.parametrize("corpus", ["layout", "declare"])
def test_a_corpus_is_the_same_every_time_and_valid(corpus):
    frames = frames_of(NETWORK, corpus, 300)
    assert frames == frames_of(NETWORK, corpus, 300)
    values = [decode(NETWORK, data) for data in frames]
    assert [encode(NETWORK, value) for value in values] == frames
    if corpus == "declare":
        bodies = [value["declaration"] for value in values]
        assert {body["type"] for body in bodies} == {"D_SUBSCRIBER", "D_TOKEN", "D_QUERYABLE"}
        suffixes = [body["key_suffix"] for body in bodies if body["key_suffix"] is not None]
        assert 0.7 < len(suffixes) / 300 < 0.9
        assert all(10 <= len(suffix) <= 20 for suffix in suffixes)
        assert 0.4 < sum(value["interest_id"] is not None for value in values) / 300 < 0.6
        assert 0.03 < sum(value["extensions"] is not None for value in values) / 300 < 0.2
    else:
        assert {value["type"] for value in values} == {message.name for message in layout(NETWORK).root.messages}


def rivals(name: str, of: str = NETWORK) -> Baseline:
    return next(each for each in bench.contenders(of, lambda line: None) if each.name == name)


def valid(of: str = NETWORK) -> list[tuple[bytes, dict]]:
    sampler = Sampler(layout(of), Random(7))
    (corpus,) = bench.corpora(of)
    drawn = [*(sampler.frame() for _ in range(1500)), *frames_of(of, corpus, 200)]
    return [(data, decode(of, data)) for data in drawn]


@pytest.mark.parametrize("of", [NETWORK, PACKET])
def test_the_hand_written_codec_agrees_with_the_reference(of):
    hand = rivals("hand", of)
    for data, value in valid(of):
        assert same(value, hand.decode(data)), data.hex()
        assert hand.encode(hand.decode(data)) == data
        assert hand.encode(value) == data


def test_the_examples_are_baselines_too():
    """What they refuse, and why, is held against the vectors and the reference behind the pipe."""
    example = rivals("example")
    for data, value in valid():
        assert json.loads(json.dumps(value, default=lambda part: {"hex": part.hex()})) == example.decode(data)
        assert example.encode(example.decode(data)) == data
    for data in frames_of(MESSAGE, "directory", 300):
        assert same(by_hand("example").decode(data), decode(MESSAGE, data))
        assert by_hand("example").encode(decode(MESSAGE, data)) == data


@pytest.mark.parametrize("of", [NETWORK, PACKET])
def test_the_hand_written_codec_refuses_what_the_reference_refuses(of):
    from vectors.sampling import stream

    hand = rivals("hand", of)
    source = stream(layout(of), 11)
    outcomes = set()
    for _ in range(4000):
        data, _names = next(source)
        try:
            value = decode(of, data)
        except DecodeError:
            with pytest.raises(ValueError, match=r"."):
                hand.decode(data)
            outcomes.add(False)
        else:
            assert same(value, hand.decode(data)), data.hex()
            outcomes.add(True)
    assert outcomes == {True, False}


def test_the_scapy_model_agrees_with_the_reference():
    scapy = rivals("scapy")
    packets = next(module for module in bench.modules("zenoh") if module.__name__.endswith("packets"))
    covered = [(data, value) for data, value in valid() if scapy.covers(value)]
    assert {value["type"] for _, value in covered} == {"DECLARE", "INTEREST"}
    assert len(covered) > 100
    for data, value in covered:
        packet = scapy.decode(data)
        assert packets.plain(packet) == value, data.hex()
        rebuilt = scapy.prepared(packet)
        assert rebuilt.raw_packet_cache is None
        assert scapy.encode(rebuilt) == data


def test_the_stock_grammar_agrees_with_the_reference():
    stock = rivals("stock")
    assert stock.covers is not None
    covered = [(data, value) for data, value in valid() if stock.covers(value)]
    assert len(covered) > 100
    for data, value in covered:
        message, inner = stock.decode(data), value["declaration"]
        names = {"D_SUBSCRIBER": "subs_id", "D_QUERYABLE": "qbls_id", "D_TOKEN": "token_id"}
        assert message.declaration.entity_id == inner[names[inner["type"]]]
        assert message.declaration.key_suffix == inner["key_suffix"]
        assert message.interest_id == value["interest_id"]
        for chain, expected in ((message, value), (message.declaration, inner)):
            assert [each.value for each in chain.extensions or []] == [x["value"] for x in expected["extensions"] or []]
        if not value["header"]["X"]:
            assert stock.encode(message) == data


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_construct_compiles_agrees_on_valid_frames(name):
    quick, how = compiled(grammar(name))
    assert how.startswith(f"{how.split()[0]} records compiled, 0 not")
    sampler = Sampler(layout(name), Random(3))
    for _ in range(300):
        data = sampler.frame()
        value = quick.parse(data)
        assert plain(value) == decode(name, data)
        assert quick.build(value) == data


class Watched(Mapping):
    """A value that notes what is read of it, by item or by attribute."""

    def __init__(self, value: Mapping, path: str, seen: set[str]) -> None:
        self._value, self._path, self._seen = value, path, seen

    def __getitem__(self, name: str) -> object:
        return watched(self._value[name], f"{self._path}.{name}", self._seen)

    def __getattr__(self, name: str) -> object:
        return self[name]

    def __iter__(self):
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)


def watched(value: object, path: str, seen: set[str]) -> object:
    seen.add(path)
    if isinstance(value, Mapping):
        return Watched(value, path, seen)
    if isinstance(value, list):
        return [watched(each, f"{path}[{index}]", seen) for index, each in enumerate(value)]
    return value


def paths(value: object, path: str = "") -> set[str]:
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    step = "[{}]" if isinstance(value, list) else ".{}"
    return {path}.union(*(paths(each, path + step.format(key)) for key, each in inner))


@pytest.mark.parametrize("attributes", [False, True])
@pytest.mark.parametrize("name", [*LAYOUTS, MESSAGE])
def test_every_field_is_read(name, attributes):
    read = reading(layout(name), attributes=attributes)
    sampler = Sampler(layout(name), Random(5))
    for _ in range(200):
        value = decode(name, sampler.frame())
        seen: set[str] = set()
        read(lambda data, value=value, seen=seen: watched(value, "", seen), [b""])
        assert seen == paths(value)


@pytest.mark.parametrize("name", [*LAYOUTS, MESSAGE])
def test_fields_are_read_of_real_values(name):
    frames = frames_of(name, "layout", 200)
    for each in present(name):
        loop = reading(layout(name), attributes=each.name == "native")
        loop(each.codec(name).decode, frames)
    assert engine("python").codec(name).decode(frames[0]) is not None


def by_hand(name: str = "hand", of: str = MESSAGE) -> Baseline:
    return next(each for each in bench.contenders(of, lambda line: None) if each.name == name)


@pytest.mark.parametrize("of", [MESSAGE, UPDATE])
def test_the_json_that_is_written_by_hand_agrees_with_the_reference(of):
    from vectors.sampling import stream

    hand, outcomes = by_hand(of=of), {True: 0, False: 0}
    source = stream(layout(of), 11)
    for _ in range(2000):
        data, _names = next(source)
        try:
            value = decode(of, data)
        except DecodeError:
            with pytest.raises(ValueError, match=r"."):
                hand.decode(data)
            outcomes[False] += 1
        else:
            assert same(value, hand.decode(data)), data
            assert hand.encode(value) == encode(of, value)
            outcomes[True] += 1
    assert min(outcomes.values()) > 600


@pytest.mark.parametrize(("of", "corpus"), [(MESSAGE, "directory"), (UPDATE, "updates")])
def test_what_is_unchecked_reads_and_writes_what_is_sent(of, corpus):
    frames = frames_of(of, corpus, 300)
    assert frames == frames_of(of, corpus, 300)
    for data in frames:
        value = decode(of, data)
        assert encode(of, value) == data
        for name in ("json (unchecked)", "msgspec (unchecked)"):
            assert same(by_hand(name, of).decode(data), value)
            assert by_hand(name, of).encode(value) == data


def test_relaxed_texts_say_the_same_as_strict_ones():
    strict, relaxed = (frames_of("rai/text", corpus, 200) for corpus in ("updates", "relaxed"))
    values = by_hand("relaxed (values)", "rai/text")
    for one, other in zip(strict, relaxed, strict=True):
        assert one != other
        assert values.encode(values.decode(other)) == values.encode(values.decode(one)) == one
        assert decode("rai/text", other) == decode("rai/text", one)


def test_a_directory_says_a_bit_of_everything():
    frames = frames_of(MESSAGE, "directory", 300)
    kinds = {(value["ta-cmd"], value["msg-type"]) for value in map(by_hand().decode, frames)}
    assert {("subscribe", "notify"), ("services", "notify"), ("publish", "request"), ("ping", "request")} < kinds


def test_json_is_measured_and_what_it_has_not_is_said():
    told = []
    results = measure(MESSAGE, rounds=1, seconds=0.001, batch=FEW, count=100, on_note=told.append)
    assert results.corpus == "directory"
    names = {each.engine for each in results.results if each.operation != "columnar"}
    assert names == {
        "construct",
        "construct-bare",
        "json (unchecked)",
        "msgspec (unchecked)",
        "example",
        "hand",
        "python",
    }
    assert {each.operation for each in results.results} >= {"decode", "decode-and-read", "encode"}
    assert any("there is nothing that Construct compiles" in line for line in told)
    assert any(line.startswith("native: ") and "is JSON" in line for line in told)
    columnar = {each.engine for each in results.results if each.operation == "columnar"}
    assert columnar == {"columnar", "copy"} or any(line.startswith("columnar: ") for line in told)


def test_a_rival_that_is_not_installed_is_noted_and_the_others_are_measured(tmp_path, monkeypatch):
    (tmp_path / "zenoh").mkdir()
    (tmp_path / "zenoh" / "rival.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench, "_loaded", bench._loaded.__wrapped__)  # others have what is loaded of the real ones
    notes = []
    names = {each.name for each in bench.contenders(NETWORK, notes.append)}
    assert "rival: nowhere_to_be_found is not installed: pip install 'goldwire[bench]'" in notes
    assert "python" in names


@pytest.mark.parametrize(
    "change",
    [
        {"header": {"type": 5}},
        {"header": {"direct": 0}},
        {"header": {"sender_rank": 3}},
        {"sender": 1 << 16},
        {"body": {"number": -1}},
        {"body": {"type": "bond_fore"}},
    ],
)
def test_the_packets_by_hand_refuse_values_that_no_packet_has(change):
    value = plain(decode(PACKET, bytes.fromhex("0cb0b9bf114400a600efcdab89674523010100000000000000")))
    hand = rivals("hand", PACKET)
    assert hand.encode(value)
    (field,) = change
    wrong = {**value, field: {**value[field], **change[field]} if isinstance(change[field], dict) else change[field]}
    with pytest.raises(ValueError, match=r"."):
        hand.encode(wrong)
