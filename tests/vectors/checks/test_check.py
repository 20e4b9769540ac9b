"""Whether differences are found, made small and shown: proven with engines that are wrong on purpose."""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from random import Random
from shutil import which

import pytest
from click.testing import CliRunner
from planted import Planted

from vectors.checks.check import Check, CheckReport, check, check_only, parsed, render, stream
from vectors.checks.differential import AnyEngine, Panel, differing, same
from vectors.checks.sweep import CHUNK, Sweep, drawn, run, sweep_chunk
from vectors.codec_command import codec
from vectors.golden.loader import frames as golden_frames
from vectors.invalid_values import make_invalid
from vectors.minimising import minimise, minimise_value, spelled
from wire.engines import engine, present
from wire.primitives import VLE, NamedBits
from wire.runtime import Codec
from wire.zenoh.generated import python as generated
from wire.zenoh.grammar_declarations import d_subscriber

NETWORK = "zenoh/network-message"
BATCH = "zenoh/batch"
LAYOUTS = [NETWORK, "zenoh/transport-message", BATCH]
FOUND = 20_000
"""Random frames, behind the golden vectors, among which a planted difference is found at the latest."""


PLANTED = {
    # name: function, right, wrong, kinds by which it may show, most bytes of the smallest frame
    "a range one bit too wide": ("read_d_subscriber", "v_key_scope, 16", "v_key_scope, 17", {"accept"}, 8),
    "a range one bit too narrow": ("read_interest_final", "v_id, 32", "v_id, 31", {"accept"}, 7),
    "a reserved encoding accepted": (
        "read_extensions",
        "raise Refusal(RESERVED, at - 1)",
        "v_value = None",
        {"accept", "reason"},
        4,
    ),
    "a reserved encoding elsewhere": (
        "read_extensions",
        "Refusal(RESERVED, at - 1)",
        "Refusal(RESERVED, at)",
        {"offset"},
        4,
    ),
    "text not checked": ("read_d_token", ".decode()", '.decode(errors="replace")', {"accept", "reason", "offset"}, 7),
    "an offset behind the count": (
        "read_push",
        "Refusal(TRUNCATED, start)",
        "Refusal(TRUNCATED, start + 1)",
        {"offset"},
        4,
    ),
    "a flag wrong in a rare branch": (
        "read_extensions",
        "extensions_item_blank[b_header]",
        "extensions_item_blank[b_header ^ 0x10 if b_header & 0x7F == 0x5F else b_header]",
        {"value"},
        6,
    ),
    "an encoder that forgets a flag": (
        "write_d_queryable",
        "OCTET[b_header]",
        "OCTET[b_header & 0xBF]",
        {"bytes"},
        4,
    ),
    "an encoder that forgets the end of a chain": (
        "write_extensions",
        "b_header & 0x7F",
        "b_header | 0x80",
        {"bytes", "round-trip"},
        3,
    ),
    "overlong accepted": (
        "read_declare",
        "v_interest_id, 32, refuse",
        "v_interest_id, 32, False",
        {"accept", "reason"},
        4,
    ),
    "another exception": ("read_del", "v_timestamp, at = ", "v_timestamp, at, _ = ", {"breaks"}, 6),
    "true is not one": (
        "read_response_final",
        'value["id"] = v_id',
        'value["id"] = v_id == 1 or v_id',
        {"value"},
        2,
    ),
}


def panel(*change: str) -> list[AnyEngine]:
    """Return the planted engine beside the one that it is made of: nothing but the plant can differ."""
    return [engine("python"), Planted(generated, *change)]


LONGEST = 1000
"""Bytes of golden vectors that every planted engine is shown: two of 65,000 take ten times as long as all others."""


@cache
def golden() -> dict[str, bytes]:
    return {name: data for name, data in golden_frames(NETWORK).items() if len(data) <= LONGEST}


def compared(engines: list[AnyEngine], frames: int, most: int = 10) -> CheckReport:
    """Compare engines as ``check`` does, without the longest golden vectors."""
    work = Check(NETWORK, engines, most=most)
    for number, (name, data) in enumerate(golden().items()):
        work.frame(data, f"vector {name}", number)
        work.report.vectors += 1
    if not work.report.full:
        work.sweep(Sweep(NETWORK, stream, 0, frames, None, most=most), jobs=0)
    return work.report


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found_and_minimised(name):
    function, right, wrong, kinds, size = PLANTED[name]
    report = compared(panel(function, right, wrong), FOUND, most=1)
    (finding,) = report.findings
    assert finding.difference.kind in kinds
    assert len(finding.data) <= size
    assert not report.agrees


NATIVE = {
    "a range one bit too wide": ("read_varint(r, 16, &n)", "read_varint(r, 17, &n)", {"accept"}),
    "a reserved encoding elsewhere": ("refuse(r, RESERVED, r->at - 1);", "refuse(r, RESERVED, r->at);", {"offset"}),
    "an encoder that forgets the end of a chain": ("if (i + 1 < count)", "if (i < count)", {"bytes", "round-trip"}),
}
"""Of the C: what is replaced wherever it stands, and the kinds by which it may show."""


@pytest.mark.parametrize("name", NATIVE)
def test_a_difference_planted_in_the_native_engine_is_found_too(name, tmp_path):
    compiler, headers = which("cc"), Path(sysconfig.get_path("include"))
    if compiler is None or not (headers / "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python")
    right, wrong, kinds = NATIVE[name]
    folder = Path(generated.__file__).parent
    text = (folder / "native.c").read_text()
    assert right in text, "the generated code no longer has what is to be replaced"
    source, built = tmp_path / "native.c", tmp_path / "native.so"
    source.write_text(text.replace(right, wrong))
    include = ["-I", str(folder.parents[1] / "emit"), "-I", str(headers)]
    subprocess.run([compiler, "-shared", "-fPIC", *include, str(source), "-o", str(built)], check=True)
    spec = spec_from_file_location("native", built, loader=ExtensionFileLoader("native", str(built)))
    assert spec is not None
    assert spec.loader is not None
    extension = module_from_spec(spec)
    spec.loader.exec_module(extension)

    class Native:
        name = "planted"

        def codec(self, layout: str) -> Codec:
            return extension.CODECS[layout.partition("/")[2]]

    report = check(NETWORK, [engine("python"), Native()], frames=FOUND, examples=0, most=1)
    (finding,) = report.findings
    assert finding.difference.kind in kinds
    assert len(finding.data) <= 8


def test_a_difference_planted_in_the_reference_is_found_too(monkeypatch):
    scope = d_subscriber.subcon.subcons[2].subcon
    assert (type(scope), scope.bits) == (VLE, 16)
    monkeypatch.setattr(scope, "bits", 17)
    report = check(NETWORK, [engine("reference"), engine("python")], frames=FOUND, examples=0, most=1)
    (finding,) = report.findings
    assert finding.difference.kind == "accept"
    assert len(finding.data) <= 8


FREQUENT = [
    "a range one bit too narrow",
    "a reserved encoding accepted",
    "a flag wrong in a rare branch",
    "an encoder that forgets a flag",
    "overlong accepted",
]
"""What a short sweep comes across; the others take some hundred thousand frames."""


@pytest.mark.parametrize("name", FREQUENT)
def test_the_sweep_alone_finds_it_too(name):
    function, right, wrong, kinds, _ = PLANTED[name]
    work = Check(NETWORK, panel(function, right, wrong), most=1)
    work.sweep(Sweep(NETWORK, stream, 0, 60_000, None), jobs=0)
    (finding,) = work.report.findings
    assert finding.difference.kind in kinds
    text = "\n".join(render(work.report))
    assert "FAIL zenoh/network-message: python, planted: 1 difference" in text


def test_hypothesis_alone_finds_one():
    work = Check(NETWORK, panel("write_response_final", "OCTET[b_header]", "OCTET[b_header & 0x7F]"), most=1)
    work.hypothesis()
    assert [finding.difference.kind for finding in work.report.findings] == ["bytes"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("spell_varint(v_subs_id, 32)", "spell_varint(v_subs_id, 33)"),
        ("v_key_suffix.encode()", 'v_key_suffix.encode(errors="surrogatepass")'),
        ('value["subs_id"]', 'value.get("subs_id", 0)'),
    ],
)
def test_an_encoder_that_is_too_lenient_is_found_with_spoiled_values(right, wrong):
    work = Check(NETWORK, panel("write_d_subscriber", right, wrong), most=1)
    value = engine("reference").decode(NETWORK, bytes.fromhex("1e2201020161"))
    for number in range(12_000):
        spoiled, what = make_invalid(value, Random(number))
        work.value(spoiled, "spoiled", number, (what,))
        if work.report.full:
            break
    (finding,) = work.report.findings
    assert finding.difference.kind == "encode"
    assert finding.value["declaration"]["type"] == "D_SUBSCRIBER"
    again = check_only(NETWORK, work.panel.engines, values=[parsed(spelled(finding.value))])
    assert [each.difference for each in again.findings] == [finding.difference]


def test_the_sweep_spoils_values():
    work = Check(NETWORK, panel("write_response_final", 'value["id"]', 'value.get("id", 0)'), most=1)
    # By this seed a value that shows it comes among the first frames, by others among the first 30,000.
    work.sweep(Sweep(NETWORK, stream, 7, 60_000, None), jobs=0)
    (finding,) = work.report.findings
    assert finding.difference.kind == "encode"
    assert finding.found.names[-1] == "without id"
    assert "id" not in finding.value
    assert finding.value["type"] == "RESPONSE_FINAL"


def test_spoiling_leaves_the_value_as_it_was():
    value = engine("reference").decode(NETWORK, bytes.fromhex("1e2201020161"))
    before = repr(value)
    spoiled = [make_invalid(value, Random(number)) for number in range(500)]
    assert repr(value) == before
    assert len({what for _, what in spoiled}) > 50
    assert sum(same(value, each) for each, _ in spoiled) < 100


def test_the_page_says_what_a_person_needs():
    engines = [engine("reference"), Planted(generated, *PLANTED["a range one bit too wide"][:3])]
    report = check(NETWORK, engines, frames=0, examples=0, most=1)
    page = "\n".join(render(report))
    assert "1. accept at DECLARE.declaration.D_SUBSCRIBER.key_scope: some accept the frame, some refuse it" in page
    assert "| refused: out-of-range at byte" in page
    assert "reference  refuses: out-of-range" in page
    assert "planted    accepts: " in page
    assert "found: vector " in page
    line = next(line for line in page.splitlines() if line.strip().startswith("repeat: "))
    words = shlex.split(line.partition(": ")[2])
    assert words[:4] == ["goldwire", "codec", "check", NETWORK]
    data = bytes.fromhex(words[words.index("--frame") + 1])
    again = check_only(NETWORK, engines, frames=[data])
    assert [each.difference for each in again.findings] == [each.difference for each in report.findings]


def test_values_differ_only_where_they_differ():
    report = check(NETWORK, panel(*PLANTED["a flag wrong in a rare branch"][:3]), frames=5000, examples=0, most=1)
    page = "\n".join(render(report))
    assert "extensions[0].header.M = 1" in page
    assert "extensions[0].header.M = 0" in page
    assert "extensions[0].header.id =" not in page


def test_a_frame_of_some_hundred_bytes_is_minimised_in_few_tries():
    keyed = bytes.fromhex("1e6484010109") + b"a/b/c/d/e"  # a declaration of which the planted engine forgets M
    frame = bytes.fromhex("2507") + 30 * keyed
    data = 50 * b"\x04" + frame + 50 * b"\x04" + frame
    assert 600 < len(data) < 3000
    work = Panel(BATCH, panel(*PLANTED["an encoder that forgets a flag"][:3]))
    wanted = work.difference(data)
    tried = []

    def keeps(each: bytes) -> bool:
        tried.append(each)
        return getattr(work.difference(each), "trait", None) == wanted.trait

    small = minimise(BATCH, data, keeps, math.inf)
    assert len(tried) < 500
    assert small == bytes.fromhex("05001e440000")


def test_the_same_finding_is_shown_once():
    report = compared(panel(*PLANTED["an offset behind the count"][:3]), 4000)
    signatures = [finding.difference.signature for finding in report.findings]
    assert len(signatures) == len(set(signatures))
    assert report.differing > len(signatures)


def test_it_goes_on_to_most():
    first, second = PLANTED["overlong accepted"], PLANTED["an encoder that forgets a flag"]

    class Twice:
        name = "twice"

        def codec(self, layout: str) -> Codec:
            return Codec(
                Planted(generated, *first[:3]).codec(layout).decode,
                Planted(generated, *second[:3]).codec(layout).encode,
            )

    both = compared([engine("python"), Twice()], 2000)
    one = check(NETWORK, [engine("python"), Twice()], frames=2000, examples=0, most=1)
    assert {"bytes"} < {finding.difference.kind for finding in both.findings}
    assert len(one.findings) == 1
    assert "stopped at --most" in list(render(one))[-1]


@pytest.mark.slow  # thousands of frames, by one, two and three processes
@pytest.mark.parametrize("jobs", [1, 3])
def test_any_number_of_processes_finds_the_same(jobs):
    engines = panel(*PLANTED["text not checked"][:3])
    sweep = Sweep(NETWORK, stream, 5, 9000, None)
    assert list(run(sweep, engines, jobs)) == list(run(sweep, engines, 0))


def test_a_frame_of_the_sweep_is_drawn_again_by_its_number():
    engines = panel(*PLANTED["an encoder that forgets a flag"][:3])
    swept = sweep_chunk(Sweep(NETWORK, stream, 3, 4000, None), engines, 1)
    found = next(each for each in swept.found if each.data is not None)
    assert drawn(Sweep(NETWORK, stream, 3, None, None), found.number) == (found.data, found.names)
    again = check_only(NETWORK, engines, numbers=[found.number], seed=3)
    assert [each.difference.signature for each in again.findings][:1] == [found.difference.signature]


class Mortal:
    """An engine that ends the process at some frames."""

    name = "mortal"

    def codec(self, layout: str) -> Codec:
        right = engine("python").codec(layout)

        def decode(data: bytes, refuse: bool = False) -> object:
            if data[:1] == b"\x1a":
                os.kill(os.getpid(), signal.SIGKILL)
            return right.decode(data, refuse)

        return Codec(decode, right.encode)


@pytest.mark.slow  # processes that are killed, one after the other
def test_an_engine_that_ends_the_process_is_a_finding_and_the_sweep_goes_on():
    work = Check(NETWORK, [engine("python"), Mortal()], most=3)
    work.sweep(Sweep(NETWORK, stream, 0, 6000, None), jobs=1)
    (finding,) = work.report.findings
    assert finding.difference.kind == "crash"
    assert finding.data[:1] == b"\x1a"
    assert finding.difference.says == (("mortal", ("ends the process with SIGKILL",)),)
    assert work.report.differing > 1


class KilledOnce:
    """An engine that is killed from outside at a frame, so often as a file may grow."""

    name = "killed"

    def __init__(self, file: Path, often: int) -> None:
        self.file = file
        self.often = often

    def codec(self, layout: str) -> Codec:
        right = engine("python").codec(layout)
        asked = 0

        def decode(data: bytes, refuse: bool = False) -> object:
            nonlocal asked
            asked += 1
            if asked == 100 and self.file.stat().st_size < self.often:
                with self.file.open("ab") as file:
                    file.write(b"x")
                os.kill(os.getpid(), signal.SIGKILL)
            return right.decode(data, refuse)

        return Codec(decode, right.encode)


@pytest.mark.slow  # processes that are killed, one after the other
@pytest.mark.parametrize(("often", "kinds", "frames"), [(1, [], 6000), (2, ["crash"], None)])
def test_a_process_that_was_killed_once_is_no_finding(tmp_path, often, kinds, frames):
    """What no engine does alone is believed when it comes again."""
    file = tmp_path / "killed"
    file.touch()
    work = Check(NETWORK, [engine("python"), KilledOnce(file, often)], most=3)
    work.sweep(Sweep(NETWORK, stream, 0, 6000, None), jobs=1)
    assert [each.difference.kind for each in work.report.findings] == kinds
    assert work.report.frames == 6000 if frames else CHUNK * 2 < work.report.frames < 6000
    assert file.stat().st_size == often


def test_what_differs_once_and_never_again_is_a_finding():
    class Moody:
        name = "moody"
        asked = 0

        def codec(self, layout: str) -> Codec:
            right = engine("python").codec(layout)

            def decode(data: bytes, refuse: bool = False) -> object:
                self.asked += 1
                return {} if self.asked == 1 else right.decode(data, refuse)

            return Codec(decode, right.encode)

    report = compared([engine("python"), Moody()], 0)
    assert [finding.difference.kind for finding in report.findings] == ["unsteady"]


@pytest.mark.sweep  # .ci/run has them compared by the command
@pytest.mark.slow  # 2,000 frames and all vectors, by every engine
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_engines_that_are_here_read_alike(layout):
    report = check(layout, list(present(layout)), frames=2000, examples=50)
    shown = [finding for finding in report.findings if finding.data is not None]
    assert shown == []
    assert report.frames == 2000
    assert report.accepted > 500
    assert report.examples > 50
    assert report.vectors == len(golden_frames(layout))


@pytest.mark.parametrize("thorough", [True, False])
@pytest.mark.parametrize("name", PLANTED)
def test_the_fast_way_and_the_slow_way_agree(name, thorough):
    work = Panel(NETWORK, panel(*PLANTED[name][:3]))
    for data in [*islice(golden().values(), 0, None, 20), *_some(300)]:
        assert (work.agrees(data, thorough=thorough) is None) == (work.difference(data) is not None), data.hex()


@cache
def _some(count: int) -> list[bytes]:
    source = stream(NETWORK, 1)
    return [next(source)[0] for _ in range(count)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (1, 1.0),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        ([], ()),
        (None, 0),
        ({"a": 1}, {"a": True}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "b": None}),
        ([1, 2], [1]),
        (NamedBits({"Z": 1}, 0x80), {"Z": True}),
    ],
)
def test_what_is_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)
    assert list(differing(one, other))


def test_mappings_are_the_same_whatever_their_class():
    assert same(NamedBits({"Z": 1, "id": 3}, 0x83), {"Z": 1, "id": 3})
    data = bytes.fromhex("1e2201020161")
    values = [each.decode(NETWORK, data) for each in present(NETWORK)]
    assert len(values) >= 2
    assert all(same(values[0], value) for value in values)


def test_a_value_is_minimised_to_the_plainest():
    value = {"a": [{"b": 700}, {"b": 3}], "c": "long text", "d": b"\x01\x02"}

    def keeps(each: object) -> bool:
        try:
            return any(item["b"] > 5 for item in each["a"])
        except (TypeError, KeyError):
            return False

    assert minimise_value(value, keeps) == {"a": [{"b": 6}], "c": None, "d": None}


def test_values_are_spelled_as_json_and_read_again():
    value = {"a": [b"\x00\xff", None, "\ud800", True, 1.5], "b": {}}
    assert same(parsed(spelled(value)), value)
    assert spelled({"a": (1, 2)}) is None


def test_nothing_compared_is_no_agreement():
    assert not CheckReport("zenoh/batch", ("reference", "python"), 0).agrees


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(codec, ["check", *arguments])
    return result.exit_code, result.output


def test_the_command_says_what_was_compared():
    code, output = invoke(BATCH, "--engine", "python", "--frame", "", "--frame", "04")
    assert code == 0
    assert output.startswith("PASS zenoh/batch: reference, python: no difference in 2 examples; seed 0, ")


@pytest.mark.sweep
@pytest.mark.slow  # 4,500 frames, by every engine
def test_the_command_with_processes():
    code, output = invoke(BATCH, "--engine", "python", "--frames", "4500", "--jobs", "2", "--seed", "8")
    assert "4500 random frames" in output
    assert code == (0 if output.startswith("PASS") else 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["zenoh/nothing"],
        [BATCH, "--frame", "0"],
        [BATCH, "--value", "{"],
        [BATCH, "--for", "soon"],
        [BATCH, "--for", "0s"],
        [BATCH, "--jobs", "0"],
        [BATCH, "--engine", "other"],
        [BATCH, "--reference-share", "2"],
    ],
)
def test_wrong_usage(arguments):
    assert invoke(*arguments)[0] == 2


SOON_SWEEPS = """
from vectors.checks.check import Check
from vectors.codec_command import codec

Check.hypothesis = lambda *arguments: None  # takes seconds, in which there is no process to leave behind
codec()
"""


def test_ctrl_c_prints_what_was_done_and_leaves_no_process():
    options = ["--engine", "python", "--for", "60s", "--jobs", "2"]
    command = [sys.executable, "-c", SOON_SWEEPS, "check", LAYOUTS[1], *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            eventually(lambda: len(children(process.pid)) == 3)  # two that sweep, and one of multiprocessing's own
            below = children(process.pid)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert output.startswith("INTERRUPTED ")  # and no PASS for what was not checked
    assert "; interrupted" in output
    assert errors == ""
    assert process.returncode == 130
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    try:
        text = "".join(task.joinpath("children").read_text() for task in Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        return []
    return [int(each) for each in text.split()]


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)  # a pause, so that what is waited for has the processor


def test_vectors_have_what_json_needs():
    assert json.loads(spelled(engine("reference").decode(NETWORK, bytes.fromhex("1905"))))["type"] == "INTEREST_FINAL"
