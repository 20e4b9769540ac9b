"""The pipe, the adapters behind it, and what becomes of programs that misbehave."""

import copy
import json
import os
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from filelock import FileLock
from run_folder import run_folder

from vectors.checks.answers import (
    Crashed,
    Declined,
    Decoded,
    Encoded,
    Garbage,
    Hung,
    Inexpressible,
    LostAnswer,
    PartialLine,
    RefusedFrame,
    UnsupportedLayout,
)
from vectors.checks.codec_program import CodecProgram, ProgramNotStarted
from vectors.checks.foreign import WrongAnswer, check, differences
from vectors.checks.foreign_report import render
from vectors.checks.pipe import Pipe, PipeLimits, batches
from vectors.codec_command import codec
from vectors.golden.loader import layouts, load
from vectors.invalid_values import make_invalid
from vectors.sampling import Sampler, stream
from wire.catalogue import layout as find
from wire.errors import EncodeError, Reason
from wire.reference import encode

LAYOUT = "zenoh/network-message"
ADAPTERS = Path(__file__).parents[3] / "examples" / "codecs"
SCHEMA = json.loads(files("vectors").joinpath("pipe.schema.json").read_text())
TOOLS = {"c": "cc", "java": "javac", "javascript": "node", "python": sys.executable}
LANGUAGES = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not on PATH"))
    for name, tool in TOOLS.items()
]
SLOW = pytest.mark.slow
SANITIZED = "-g -fsanitize=address,undefined -fno-sanitize-recover=all"


@cache
def golden():
    return load(LAYOUT)


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Of what the tests of this file share, nothing stays: it is 15 MB of a worker."""
    yield
    golden.cache_clear()
    frames_to_decode.cache_clear()


def commands():
    """The table of README.md: folder -> build and run, as argument lists."""
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \| (.*?) \| `(.*?)` \|$", (ADAPTERS / "README.md").read_text(), re.MULTILINE)
    return {folder: (shlex.split(build.strip("`-")), shlex.split(run)) for folder, build, run in rows}


def absolute(run, folder):
    """The command that runs an adapter from anywhere; Python is this one."""
    words = [str(folder / word) if (folder / word).exists() else word for word in run]
    return [sys.executable if word == "python3" else word for word in words]


def build(language, folder, patch=None, flags=""):
    """Build a copy of an adapter in a folder, patched; give the command that runs it."""
    shutil.copytree(ADAPTERS / language, folder, ignore=shutil.ignore_patterns("__pycache__"))
    building, run = commands()[language]
    if patch is not None:
        (source,) = (file for file in folder.iterdir() if file.is_file())
        text = source.read_text()
        assert text.count(patch[0]) == 1, "the patch does not apply"
        source.write_text(text.replace(*patch))
    if building:
        building = [*building[:1], *shlex.split(flags), *building[1:]]
        done = subprocess.run(building, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return absolute(run, folder)


@pytest.fixture(scope="session")
def adapter(tmp_path_factory):
    """Give the command of an adapter, built once for all workers."""
    root = run_folder(tmp_path_factory.getbasetemp())

    def command(language):
        if language == "python":
            return [sys.executable, str(ADAPTERS / "python" / "adapter.py")]
        folder = root / f"adapter-{language}"
        with FileLock(root / f"adapter-{language}.lock"):
            if folder.exists():
                return absolute(commands()[language][1], folder)
            return build(language, folder, flags=SANITIZED if language == "c" else "")

    return command


def mutated(seed, count):
    """Frames near the golden vectors, always the same for a seed."""
    chance = random.Random(seed)
    frames = []
    for _ in range(count):
        data = bytearray(chance.choice(golden()).data)
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(data) + 1)
            match chance.randrange(5):
                case 0:
                    data[at : at + 1] = bytes(each ^ 1 << chance.randrange(8) for each in data[at : at + 1])
                case 1:
                    data.insert(at, chance.randrange(256))
                case 2:
                    del data[at : at + 1]
                case 3:
                    data[at : at + 1] = bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF))])
                case 4:
                    data[at:] = chance.choice(golden()).data[chance.randrange(4) :]
        frames.append(bytes(data))
    return frames


TEXTS = [
    *(
        "\N{BYTE ORDER MARK}a".encode(),
        'a\0b"\\\x1f\x7f\u2028\U0001f600é'.encode(),
        b"\xf4\x8f\xbf\xbf",
        b"\xef\xbf\xbf",
    ),
    *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\x80", b"\xe2\x82"),
]


@cache
def frames_to_decode():
    return [
        *(vector.data for vector in golden()),
        *(bytes([first, second]) for first in range(0, 256, 3) for second in (0, 0x7F, 0x80, 0xFF)),
        *(b"\x3d\x00" + bytes([len(text)]) + text + b"\x02" for text in TEXTS),
        *mutated(20, 1500),
    ]


FULL, OVERFULL = b"\x9a\x00" + b"\x80" * 65534 + b"\x00", b"\x9a\x00" + b"\x80" * 65535 + b"\x00"


# ---------------------------------------------------------------------------------- frames that are JSON themselves

MESSAGE = "pathfinder/message"
JSON_ADAPTER = [sys.executable, str(ADAPTERS / "pathfinder" / "adapter.py")]
JSON_FRAMES = [
    *(b"", b" ", b"{}", b"null", b"\xef\xbb\xbf{}", b"[" * 65, b'{"ta-cmd":"ping","ta-id":1,"msg-type":"request"}'),
    b' {"msg-type" : "notify", "ta-cmd":"services","ta-id":-0,"service-id":9223372036854775807,"generation":1,\n'
    b'"service-props":{"\\u0061\\ud83d\\ude00":["x",-9223372036854775808],"hex":["00"]},"ttl":0,"client-id":7,'
    b'"orphan-since":1e300} ',
    b'{"ta-cmd":"ping","ta-id":1.0,"msg-type":"request"}',
    b'{"ta-cmd":"ping","ta-id":1,"ta\\u002did":1,"msg-type":"request"}',
]


@pytest.mark.slow  # 3,000 frames through the pipe, and all vectors
@pytest.mark.parametrize("layout", [MESSAGE, "pathfinder/deployed-message"])
def test_the_adapter_of_json_agrees(layout):
    """With the golden vectors, and in everything with the reference engine."""
    vectors = load(layout) if layout in layouts() else []
    frames = [data for data, _ in islice(stream(find(layout), 5), 3000)]
    report = check(JSON_ADAPTER, layout, vectors, [*JSON_FRAMES, *frames])
    assert report.agrees, page(report)
    assert (report.restarts, report.skipped) == (0, {})
    assert report.judged > 4500


def test_the_adapter_of_json_survives_values_that_do_not_fit():
    sampler, chance = Sampler(find(MESSAGE), random.Random(3)), random.Random(4)
    values = []
    while len(values) < 600:
        value = sampler.value()
        if len(values) % 5:
            value, _ = make_invalid(value, chance)
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):  # what the pipe cannot carry
            continue
        values.append(value)
    with Pipe(JSON_ADAPTER) as pipe:
        answers = pipe.encode(MESSAGE, values)
    assert pipe.troubles == []
    written = 0
    for value, answer in zip(values, answers, strict=True):
        try:
            expected = Encoded(encode(MESSAGE, json.loads(json.dumps(value))))
            written += 1
        except EncodeError:
            assert isinstance(answer, Inexpressible), (value, answer)
            continue
        assert answer == expected, value
    assert 50 < written < 500


def test_a_wrong_adapter_of_json_gets_a_page(tmp_path):
    text = (ADAPTERS / "pathfinder" / "adapter.py").read_text()
    for number, (right, wrong, expected) in enumerate(
        [
            ('raise Refusal("duplicate-name", begins)', "pass", "wrongly accepted (decode)"),
            (
                "return Node(start, self.at, real)",
                "return Node(start, self.at, int(real))",
                "orphan-since: expected 1.5, came 1",
            ),
            ("ensure_ascii=False", "ensure_ascii=True", "and reads as the same value"),
        ]
    ):
        assert text.count(right) == 1, "the patch does not apply"
        script = tmp_path / f"wrong{number}.py"
        script.write_text(text.replace(right, wrong))
        frames = [
            b'{"ta-cmd":"ping","ta-id":1,"ta-id":1,"msg-type":"request"}',
            b'{"ta-cmd":"services","ta-id":1,"msg-type":"notify","service-id":1,"generation":1,"service-props":{"\xc3\xa9":[]},'
            b'"ttl":1,"client-id":1,"orphan-since":1.5}',
        ]
        words = [word for data in frames for word in ("--frame", data.hex())]
        result = run("check", MESSAGE, *words, "--", sys.executable, str(script))
        assert result.exit_code == 1
        assert expected in result.output
        assert "0019  1       ta-id   1" in result.output or '"services"' in result.output
        assert result.output.splitlines()[-1].startswith(f"FAIL  2 frames of {MESSAGE}, ")


@pytest.mark.slow  # starts a Java, and others
def test_adapters_say_which_layouts_they_know(adapter):
    for language in (each.values[0] for each in LANGUAGES):
        if shutil.which(TOOLS[language]) is None:
            continue
        result = run("check", MESSAGE, "--frame", b"{}".hex(), "--", *adapter(language))
        assert result.exit_code == 1
        assert f"the program does not speak {MESSAGE}; it lists {LAYOUT}" in result.output


def test_the_traffic_of_json_is_of_the_schema():
    lines = []
    check(JSON_ADAPTER, MESSAGE, frames=JSON_FRAMES, on_line=lambda *line: lines.append(line))
    assert [kind for kind, _ in lines] == ["request", "answer"] * 3
    for kind, line in lines:
        validator(kind).validate(json.loads(line))


def page(report):
    return "\n".join(render(report, 10))


@pytest.mark.slow  # all vectors through the pipe
@pytest.mark.parametrize("language", LANGUAGES)
def test_adapters_agree_with_the_vectors(language, adapter):
    report = check(adapter(language), LAYOUT, golden())
    assert report.agrees, page(report)
    assert (report.restarts, report.skipped) == (0, {})
    assert report.judged == len(golden()) + sum(vector.value is not None for vector in golden())


@pytest.mark.slow  # thousands of frames through the pipe
@pytest.mark.parametrize("language", LANGUAGES)
def test_adapters_agree_with_the_reference_engine(language, adapter):
    """In everything: value, bytes, reason and offset, also where the documents leave it open."""
    report = check(adapter(language), LAYOUT, frames=frames_to_decode())
    assert report.agrees, page(report)
    assert report.judged > len(frames_to_decode()) * 1.2


@pytest.mark.slow  # answers of megabytes
def test_adapters_know_the_longest_list(adapter):
    """65535 extensions fit, more are refused where they begin; an answer of megabytes comes over."""
    overfull = RefusedFrame("too-long", 2 + 65535)
    expected = None
    for language in (each.values[0] for each in LANGUAGES):
        if shutil.which(TOOLS[language]) is None:
            continue
        with Pipe(adapter(language)) as pipe:
            full, refused = pipe.decode(LAYOUT, [FULL, OVERFULL])
            assert refused == overfull
            assert isinstance(full, Decoded)
            assert len(full.value["extensions"]) == 65535
            assert expected in (None, full)
            expected = full
            assert pipe.encode(LAYOUT, [full.value]) == [Encoded(FULL)]
            longer = full.value | {"extensions": [*full.value["extensions"], full.value["extensions"][0]]}
            assert isinstance(pipe.encode(LAYOUT, [longer])[0], Inexpressible)
        assert pipe.troubles == []


def broken_values():
    """Values near those of the vectors; most of them cannot be expressed."""
    chance = random.Random(7)
    odd = [0, 1, 2, 3, 4, 255, 256, 65536, 2**32, 2**53 + 1, 2**64 - 1, 2**64, -1, None, "", "é\U0001f600", "\ud800"]
    odd += ["DEL", "D_FINAL", b"", b"x" * 256, "y" * 65536, [], {}]
    values = []
    for _ in range(600):
        value = copy.deepcopy(chance.choice([vector.value for vector in golden() if vector.value is not None]))
        table = value
        while isinstance(table, dict | list) and table:
            name = chance.choice([*table] if isinstance(table, dict) else range(len(table)))
            if not isinstance(table[name], dict | list) or not table[name] or chance.random() < 0.2:
                table[name] = chance.choice(odd)
                break
            table = table[name]
        values.append(value)
    return values


@pytest.mark.slow  # compiles, and starts a Java
@pytest.mark.parametrize("language", LANGUAGES)
def test_adapters_survive_values_that_do_not_fit(language, adapter):
    values = broken_values()
    with Pipe(adapter(language)) as pipe:
        answers = pipe.encode(LAYOUT, values)
    assert pipe.troubles == []
    written = 0
    for value, answer in zip(values, answers, strict=True):
        assert isinstance(answer, Encoded | Inexpressible), (value, answer)
        try:
            expected = encode(LAYOUT, value)
        except EncodeError:
            continue
        written += 1
        assert answer == Encoded(expected), value
    assert 50 < written < 500


WRONG = {
    "python": (
        ('"M": byte >> 4 & 1, "id": byte & 0x0F}', '"M": 0, "id": byte & 0x0F}'),
        ["wrong value (decode)", "extensions[0].header.M: expected 1, came 0"],
    ),
    "c": (
        ("if (bits < 64 && value >> bits != 0)", "if (bits < 64 && value >> bits > 1)"),
        ["wrongly accepted (decode)", "refused as 'out-of-range' at byte 1", "came      accepted as INTEREST"],
    ),
    "javascript": (
        ("return encoding === 1 ? reader.big(64)", "return encoding === 1 ? Number(reader.big(64))"),
        ["wrong value (decode)", "extensions[0].value: expected 72057594037927935, came 72057594037927940"],
    ),
    "java": (
        ("i < 8 && rest >>> 7 != 0", "i < 9 && rest >>> 7 != 0"),
        ["wrong bytes (encode)", "read back, it is refused: trailing", "ffffffffffffffffff01"],
    ),
}


@pytest.mark.slow  # all vectors through the pipe
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_adapter_gets_a_page(language, tmp_path):
    patch, expected = WRONG[language]
    command = build(language, tmp_path / "wrong", patch)
    result = run("check", LAYOUT, "--", *command)
    assert result.exit_code == 1
    for text in expected:
        assert text in result.output
    assert result.output.splitlines()[-1].startswith(f"FAIL  {len(golden())} frames of {LAYOUT}, ")
    again = re.search(r"^  repeat    goldwire codec check (.*)$", result.output, re.MULTILINE)
    assert again is not None
    vector = shlex.split(again[1])[2]
    assert f"vector {vector}: " in result.output
    once = run("check", *shlex.split(again[1]))
    assert once.exit_code == 1
    assert f"vector {vector}: " in once.output
    assert "1 frame of" in once.output


# ---------------------------------------------------------------------------------- programs that misbehave

HEAD = f"""
import json, os, signal, subprocess, sys, time
from pathlib import Path
sys.path.insert(0, {str(ADAPTERS / "python")!r})
sys.dont_write_bytecode = True
import adapter
with open(Path(__file__).with_suffix(".pids"), "a") as file:
    file.write(f"{{os.getpid()}}\\n")

def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()

count = 0
"""
TAIL = """
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]} | adapter.answer(request)
    count += 1
    if guilty(request):
        misbehave(request, answer)
    else:
        say(json.dumps(answer) + "\\n")
"""
GUILTY = bytes.fromhex("5905ff")
FRAMES_AROUND = [b"\x19\x05", b"\x39\x05\x01", GUILTY, b"\x39", b"\x19\x06"]
PATIENT = PipeLimits(deadline=60, line=1 << 20)
QUICK = PipeLimits(deadline=1.5, line=1 << 20, frames=1)
"""For programs that hang: that is waited for twice, with what came before and by a fresh program. Of all others nobody
is hurried."""


class Programs:
    """Scripts in a folder that note the ids of their processes."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, misdeed, guilty="'frames' in request and '5905ff' in request['frames']", tail=TAIL):
        """Write a program that does something wrong when a request is guilty."""
        script = self.folder / f"program{len([*self.folder.glob('*.py')])}.py"
        body = "\n".join(f"    {line}" for line in misdeed.splitlines())
        functions = f"def guilty(request):\n    return {guilty}\n\ndef misbehave(request, answer):\n{body}\n"
        script.write_text(HEAD + functions + tail)
        return [sys.executable, str(script)]

    def pids(self):
        """The processes that were started."""
        return [int(line) for file in self.folder.glob("*.pids") for line in file.read_text().split()]


@pytest.fixture
def programs(tmp_path):
    """Programs, none of which is left at the end."""
    programs = Programs(tmp_path)
    yield programs
    for pid in programs.pids():
        assert not alive(pid)


def alive(pid):
    """Whether a process runs; one that awaits its burial by init does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def last_words(answer):
    return "\n".join(answer.stderr)


MISDEEDS = {
    "a signal": (
        "sys.stderr.write('cannot go on\\n')\nsys.stderr.flush()\nos.kill(os.getpid(), signal.SIGKILL)",
        lambda answer: answer == Crashed(-9, stderr=("cannot go on",)),
    ),
    "an exception": (
        "raise ZeroDivisionError('by the frame')",
        lambda answer: answer.status == 1 and "ZeroDivisionError: by the frame" in last_words(answer),
    ),
    "an end": ("os._exit(0)", lambda answer: answer == Crashed(0)),
    "a hang": (
        "sys.stderr.write('thinking\\n')\nsys.stderr.flush()\ntime.sleep(1000)",
        lambda answer: answer == Hung(1.5, stderr=("thinking",)),
    ),
    "no output any more": (
        "os.close(1)\ntime.sleep(1000)",
        lambda answer: isinstance(answer, Hung) and "closed its output" in str(answer),
    ),
    "garbage": ("say('Hello!\\n')", lambda answer: isinstance(answer, Garbage) and answer.line == "Hello!"),
    "not UTF-8": ("os.write(1, b'\\xff\\n')", lambda answer: isinstance(answer, Garbage) and "UTF-8" in answer.what),
    "a list": ("say('[]\\n')", lambda answer: isinstance(answer, Garbage) and "not an object" in answer.what),
    "NaN": ("say('{\"id\": NaN}\\n')", lambda answer: isinstance(answer, Garbage) and "NaN" in answer.what),
    "a name twice": (
        'say(\'{"id": 1, "id": 2}\\n\')',
        lambda answer: isinstance(answer, Garbage) and "twice" in answer.what,
    ),
    "deep nesting": (
        "say('[' * 100000 + '\\n')",
        lambda answer: isinstance(answer, Garbage) and "not JSON" in answer.what,
    ),
    "a partial line": (
        "say(json.dumps(answer)[:20])\nos._exit(4)",
        lambda answer: isinstance(answer, PartialLine) and answer.status == 4 and answer.line.startswith('{"id": '),
    ),
    "a wrong id": (
        "say(json.dumps(answer | {'id': request['id'] - 1}) + '\\n')",
        lambda answer: isinstance(answer, Garbage) and "answers with id" in answer.what,
    ),
    "id as text": (
        "say(json.dumps(answer | {'id': str(request['id'])}) + '\\n')",
        lambda answer: isinstance(answer, Garbage) and "answers with id" in answer.what,
    ),
    "too few results": (
        "say(json.dumps(answer | {'results': answer['results'][1:]}) + '\\n')",
        lambda answer: answer.what == "0 results where 1 were asked",
    ),
    "too many results": (
        "say(json.dumps(answer | {'results': answer['results'] * 2}) + '\\n')",
        lambda answer: answer.what == "2 results where 1 were asked",
    ),
    "no result": (
        "say(json.dumps(answer | {'results': [{}] * len(answer['results'])}) + '\\n')",
        lambda answer: answer.what == "results[0] has to have one of value, error, skip",
    ),
    "a bad offset": (
        "answer['results'] = [{'error': {'reason': 'x', 'offset': -1}}] * len(answer['results'])\n"
        "say(json.dumps(answer) + '\\n')",
        lambda answer: "results[0] has an offset" in answer.what,
    ),
    "megabytes": (
        "say('x' * 5_000_000)\ntime.sleep(1000)",
        lambda answer: isinstance(answer, Garbage) and answer.what == "a line of more than 1048576 bytes",
    ),
    "megabytes of errors": (
        "sys.stderr.write('y' * 5_000_000 + '\\nend\\n')\nsys.stderr.flush()\nos._exit(1)",
        lambda answer: isinstance(answer, Crashed) and answer.stderr[-1] == "end",
    ),
    "a child that keeps the output": (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\nos._exit(1)",
        lambda answer: answer == Crashed(1),
    ),
}


@pytest.mark.takes(0.4)
@pytest.mark.parametrize(
    "name",
    # Who sleeps is waited for.
    [
        pytest.param(name, marks=[pytest.mark.slow(seconds=3)] if "sleep" in what else [])
        for name, (what, _) in MISDEEDS.items()
    ],
)
def test_the_run_goes_on(name, programs):
    """One frame of a request is guilty: it gets its verdict, the others get theirs."""
    misdeed, is_verdict = MISDEEDS[name]
    limits = QUICK if "sleep" in misdeed else PATIENT
    with Pipe(programs.write(misdeed), limits) as pipe:
        before, second, guilty, third, after = pipe.decode(LAYOUT, FRAMES_AROUND)
        assert is_verdict(guilty), guilty
        assert isinstance(before, Decoded)
        assert before.value["id"] == 5
        assert isinstance(second, Decoded)
        assert third == RefusedFrame("truncated", 1)
        assert isinstance(after, Decoded)
        assert after.value["id"] == 6
        assert pipe.encode(LAYOUT, [before.value]) == [Encoded(b"\x19\x05")]
    assert pipe.troubles == []
    # Once more where several frames were asked for at once, and the one that is to blame was not known.
    assert pipe.restarts == (2 if limits.frames == 1 else 3)
    assert len(programs.pids()) == pipe.restarts + 1


def test_an_end_that_is_seen_with_the_last_words_is_not_waited_for(monkeypatch):
    """The program has ended before anybody looks: its last words and its end come at once, and nothing else will."""
    program = CodecProgram([sys.executable, "-c", "import os; input(); os.write(1, b'{'); os._exit(4)"], 1 << 20)
    select, calls = program._selector.select, []

    def select_late(seconds):
        calls.append(seconds)
        if len(calls) > 2:  # the first looks for what nobody asked, the second sends the request
            os.waitid(os.P_PID, program._popen.pid, os.WEXITED | os.WNOWAIT)
        assert not seconds or program._selector.get_map(), "waits for nothing"
        return select(seconds)

    monkeypatch.setattr(program._selector, "select", select_late)
    try:
        assert program.exchange(b"1\n", 60) == PartialLine(4, "{")
    finally:
        program.kill()


def test_a_page_for_a_crash(programs):
    """It names the frame, and the command that it gives repeats it."""
    command = programs.write("sys.stderr.write('out of luck\\n')\nsys.stderr.flush()\nos.abort()")
    result = run("check", LAYOUT, "--frame", "1905", "--frame", GUILTY.hex(), "--", *command)
    assert result.exit_code == 1
    assert "crash (decode)  frame " in result.output
    assert "INTEREST, Future" in result.output
    assert "came      the program was ended by SIGABRT instead of answering" in result.output
    assert "stderr    out of luck" in result.output
    assert f"--frame {GUILTY.hex()} -- " in result.output


# They read the request before they answer it: what comes earlier was not asked for, and is another finding.
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (["/nowhere/at/all"], "cannot run '/nowhere/at/all': No such file or directory"),
        (["/"], "Permission denied"),
        (["a\0b"], "null byte"),
        (
            [sys.executable, "-c", "raise SystemExit('no, thanks')"],
            "ended with status 1 instead of answering\n  no, thanks",
        ),
        ([sys.executable, "-c", "import time; time.sleep(1000)"], "no answer within 0.5 seconds"),
        ([sys.executable, "-c", "input(); print('usage: codec FILE')"], "not JSON"),
        (
            [sys.executable, "-c", 'input(); print(\'{"id": 1, "pipe": "goldwire-pipe-9"}\')'],
            "speaks 'goldwire-pipe-9'",
        ),
        ([sys.executable, "-c", 'input(); print(\'{"id": 1, "pipe": "goldwire-pipe-1"}\')'], "not of the schema"),
        (
            [sys.executable, "-c", 'input(); print(\'{"id": 1, "error": {"detail": "what?"}}\')'],
            "does not say which version",
        ),
    ],
)
def test_refused_to_start(program, message):
    start = 0.5 if "sleep" in program[-1] else 30
    with pytest.raises(ProgramNotStarted) as caught, Pipe(program, PipeLimits(start=start)):
        pass
    assert message in str(caught.value)


def test_a_program_that_never_reads(programs):
    """A request that is larger than what the pipe holds does not block."""
    tail = "request = json.loads(sys.stdin.readline())\n"
    tail += "say(json.dumps({'id': request['id']} | adapter.answer(request)) + '\\n')\ntime.sleep(1000)\n"
    limits = PipeLimits(deadline=0.5, restarts=1, frames=1000, size=1 << 22)
    with Pipe(programs.write("pass", tail=tail), limits) as pipe:
        answers = pipe.decode(LAYOUT, [bytes(1000)] * 500)
    assert answers[0] == Hung(0.5)
    assert answers[1:] == [LostAnswer("the program was started anew 1 times, which is the limit")] * 499


def test_restarts_are_bounded(programs):
    """Who crashes on every frame is not started for ever."""
    with Pipe(programs.write("os._exit(7)", guilty="'frames' in request"), PipeLimits(restarts=4)) as pipe:
        answers = pipe.decode(LAYOUT, FRAMES_AROUND * 4)
    assert answers[:4] == [Crashed(7)] * 4
    assert all(isinstance(answer, LostAnswer) for answer in answers[4:])
    assert len(programs.pids()) == 5


def test_a_failure_of_no_single_frame(programs):
    """The program crashes at its third request, whatever that is: no frame is blamed, but it is said."""
    command = programs.write("os._exit(1)", guilty="count == 3")
    with Pipe(command, PipeLimits(frames=1)) as pipe:
        answers = pipe.decode(LAYOUT, [b"\x19\x05"] * 3)
    assert all(isinstance(answer, Decoded) for answer in answers)
    trouble = "in a request that is answered when the program is fresh: the program ended with status 1"
    assert [str(each) for each in pipe.troubles] == [f"{trouble} instead of answering"] * 2
    report = check(command, LAYOUT, frames=[b"\x19\x05"])
    assert not report.agrees
    assert "FAIL" in page(report)


def test_a_failure_of_frames_together(programs):
    with Pipe(programs.write("os._exit(1)", guilty="len(request.get('frames', ())) > 2")) as pipe:
        answers = pipe.decode(LAYOUT, [b"\x19\x05"] * 3)
    assert all(isinstance(answer, Decoded) for answer in answers)
    assert "in a request of 3, each of which alone is answered" in str(pipe.troubles[0])


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("sys.exit(3)", "at the end of the input: the program ended with status 3"),
        ("say('bye\\n')", "at the end of the input: writes without being asked: bye"),
        ("time.sleep(1000)", "at the end of the input: no answer within 0.5 seconds to the end of the input"),
    ],
)
def test_an_end_that_is_not_orderly(tail, message, programs):
    limits = PipeLimits(deadline=0.5) if "sleep" in tail else PATIENT
    with Pipe(programs.write("pass", guilty="False", tail=TAIL + tail), limits) as pipe:
        pass
    assert message in str(pipe.troubles[0])


def test_an_answer_too_many(programs):
    """It belongs to no frame that can be known, but it does not pass for the next answer."""
    command = programs.write("say(json.dumps(answer) + '\\n{}\\n')", guilty="count == 2")
    with Pipe(command, PipeLimits(frames=1)) as pipe:
        answers = pipe.decode(LAYOUT, [b"\x19\x05", b"\x19\x06"])
    assert [answer.value["id"] for answer in answers] == [5, 6]
    assert isinstance(pipe.troubles[0].failure, Garbage)


def test_a_request_that_is_declined(programs):
    command = programs.write(
        "say(json.dumps({'id': request['id'], 'error': {'detail': 'not today'}}) + '\\n')", guilty="'values' in request"
    )
    with Pipe(command) as pipe:
        assert pipe.encode(LAYOUT, [{}, {}]) == [Declined("not today")] * 2
        assert isinstance(pipe.decode(LAYOUT, [b"\x19\x05"])[0], Decoded)
    assert pipe.restarts == 0


def test_an_unsupported_layout(adapter):
    with Pipe(adapter("python")) as pipe:
        assert pipe.decode("zenoh/batch", [b"", b""]) == [UnsupportedLayout("zenoh/batch", (LAYOUT,))] * 2
    report = check(adapter("python"), "zenoh/batch", load("zenoh/batch"))
    assert (report.judged, report.agrees) == (0, False)
    assert "does not speak zenoh/batch; it lists zenoh/network-message" in page(report)


def test_describe(adapter):
    pipe = Pipe(adapter("python"))
    with pytest.raises(ProgramNotStarted, match="with Pipe"):
        pipe.describe()
    with pipe:
        assert pipe.describe().layouts == (LAYOUT,)
        assert pipe.decode(LAYOUT, []) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_after_a_signal(number, programs, tmp_path):
    """Whoever stops a check stops its program, although that hangs."""
    fifo = tmp_path / "hangs"
    os.mkfifo(fifo)
    command = programs.write(f"Path({str(fifo)!r}).write_text('now')\ntime.sleep(1000)")
    ours = [sys.executable, "-c", "from vectors.codec_command import codec; codec()", "check", LAYOUT]
    with subprocess.Popen(
        [*ours, "--frame", GUILTY.hex(), "--deadline", "600", "--", *command], stderr=subprocess.PIPE
    ) as process:
        opened = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        assert select.select([opened], [], [], 60)[0]
        os.close(opened)
        process.send_signal(number)
        assert process.wait(60) == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert len(programs.pids()) == 1


def test_an_exception_leaves_nothing(programs):
    with pytest.raises(ZeroDivisionError), Pipe(programs.write("pass")):
        1 / 0  # noqa: B018 (it raises while the program runs)
    assert not alive(programs.pids()[0])


# ---------------------------------------------------------------------------------------- judging, commands


def altered(programs, change):
    """A program that is right but for a change of its answers."""
    return programs.write(f"{change}\nsay(json.dumps(answer) + '\\n')", guilty="'layout' in request")


def kinds(report):
    return {finding.kind for finding in report.findings}


def test_acceptable_vectors_go_either_way(programs):
    acceptable = [vector for vector in golden() if vector.result == "acceptable"]
    refused = altered(
        programs,
        "answer['results'] = [{'error': {'reason': 'overlong', 'detail': 'no'}} for _ in answer['results']]",
    )
    report = check(refused, LAYOUT, acceptable)
    with_reason = {vector.id for vector in acceptable if vector.reason is not None}
    assert {finding.subject.id for finding in report.findings} == with_reason
    assert kinds(report) == {WrongAnswer.REASON}


def test_an_acceptable_value_may_not_be_any(programs):
    acceptable = [vector for vector in golden() if "overlong-vle" in vector.flags]
    report = check(
        altered(programs, "for each in answer['results']: each.get('value', {})['type'] = 'OTHER'"), LAYOUT, acceptable
    )
    assert kinds(report) == {WrongAnswer.VALUE}
    assert {finding.subject.id for finding in report.findings} == {vector.id for vector in acceptable}


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ("each['error']['reason'] = 'short'", WrongAnswer.REASON, "refused as 'short' at byte"),
        ("each['error']['offset'] += 1", WrongAnswer.OFFSET, "came      refused as"),
        ("del each['error']['offset']", None, "PASS"),
        ("each.clear(); each['skip'] = 'later'", None, "FAIL  3 frames of zenoh/network-message, 0 answers judged"),
        ("each.clear(); each['value'] = 7", WrongAnswer.ACCEPTED, "wrongly accepted"),
        ("each['error']['because'] = 'so'", None, "PASS"),
    ],
)
def test_refusals(change, kind, text, programs):
    vectors = [vector for vector in golden() if vector.reason == "truncated" and vector.result == "invalid"][:3]
    report = check(altered(programs, f"for each in answer['results']: {change}"), LAYOUT, vectors)
    assert kinds(report) == (set() if kind is None else {kind})
    assert text in page(report)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("['id'] = 5.0", "id: expected 5, came 5.0"),
        ("['id'] = True", "id: expected 5, came true"),
        ("['id'] = '5'", "id: expected 5, came '5'"),
        ("['more'] = 1", "more: expected no such field, came 1"),
        ("['header'].pop('Z')", "header.Z: expected 0, came missing"),
        ("['extensions'] = []", "extensions: expected null, came a list of 0"),
        ("['id'] = {'hex': 'XY'}", "id: expected 5, came {'hex'}"),
        ("['id'] = '\\x1b[31m'", r"id: expected 5, came '\x1b[31m'"),
    ],
)
def test_values_are_compared_to_the_letter(change, expected, programs):
    vectors = [vector for vector in golden() if vector.data == b"\x19\x05"]
    command = altered(programs, f"if 'frames' in request: answer['results'][0]['value']{change}")
    report = check(command, LAYOUT, vectors)
    assert f"  differs   {expected}" in page(report).splitlines()


def test_wrong_bytes_are_read_back(programs):
    vectors = [vector for vector in golden() if vector.data == b"\x19\x05"]
    command = altered(programs, "if 'values' in request: answer['results'] = [{'bytes': '1906'}]")
    text = page(check(command, LAYOUT, vectors))
    assert "expected  the value is written as 1905" in text
    assert "came      1906, which differs from byte 1 on; read back, 1 field differs" in text
    assert "differs   id: expected 5, came 6" in text


def test_differences_are_paths():
    found = [*differences({"a": [{"b": 1}, {"b": b"x"}]}, {"a": [{"b": 1}, {"b": b"y"}, 3]})]
    assert [each.path for each in found] == ["a", "a[1].b"]
    assert [*differences(0, False)]
    assert not [*differences({"a": None}, {"a": None})]


def test_equal_looking_findings_are_one_page(programs):
    change = (
        "for index, each in enumerate(answer['results']): each.get('value', {})['id type'.split()[index % 2]] = 2**64"
    )
    report = check(altered(programs, change), LAYOUT, [vector for vector in golden() if vector.result == "valid"])
    everything, one = [*render(report, 100)], [*render(report, 1)]
    pages = [line for line in everything if line.startswith("wrong value (decode)")]
    assert 2 <= len(pages) < len(report.findings) / 10
    assert any(re.match(r"  alike +\d+ more: [0-9a-f]{16} ", line) for line in one)
    assert sum(line.startswith("wrong value (decode)") for line in one) == 1
    assert f"--most {len(pages)} shows all" in "\n".join(one)
    assert max(map(len, everything)) < 500


def test_requests_are_bounded():
    limits = PipeLimits(frames=3, size=10)
    assert [*map(list, batches(["aaaa", "bbbb", "cccc", "d", "e", "f", "x" * 99, "g"], limits))] == [
        ["aaaa", "bbbb"],
        ["cccc", "d", "e"],
        ["f"],
        ["x" * 99],
        ["g"],
    ]
    assert [*batches([], limits)] == []


def validator(name):
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}", "anyOf": [True]})


@pytest.mark.parametrize(
    "language",
    [
        # Two are compiled first, C with sanitizers: that takes seconds.
        pytest.param(*each.values, marks=[*each.marks, *(mark for mark in [SLOW] if each.values[0] in ("c", "java"))])
        for each in LANGUAGES
    ],
)
def test_traffic_is_of_the_schema(language, adapter):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    lines = []
    vectors = golden()[:: len(golden()) // (40 if language == "python" else 12)]
    check(adapter(language), LAYOUT, vectors, on_line=lambda *line: lines.append(line))
    assert [kind for kind, _ in lines] == ["request", "answer"] * 3
    for kind, line in lines:
        validator(kind).validate(json.loads(line))


def test_the_schema_refuses(adapter):
    answer = validator("answer")
    for wrong in [
        {"id": 0, "results": [{"skip": ""}]},
        {"id": 1, "results": []},
        {"id": 1, "results": [{"value": 1, "error": {"reason": "x"}}]},
        {"id": 1, "results": [{"value": {"hex": "F"}}]},
        {"id": 1, "results": [{"value": {"a": [{"hex": "0"}]}}]},
        {"id": 1, "results": [{"value": {"a": {"hex": 5}}}]},
        {"id": 1, "results": [{"bytes": "0"}]},
        {"id": 1, "pipe": "goldwire-pipe-2", "name": "x", "version": "", "language": "", "layouts": []},
    ]:
        assert not answer.is_valid(wrong), wrong
    assert answer.is_valid({"id": 1, "results": [{"skip": "why"}]})
    assert answer.is_valid({"id": 1, "results": [{"value": {"orphan-since": 1e300, "on": True}}]})


def test_the_reasons_of_the_document_are_all_reasons():
    """The document explains each, and the schema lists them."""
    document = files("vectors").joinpath("pipe.md").read_text()
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", document.partition("## Reasons")[2], re.MULTILINE))
    assert explained - {"reason"} == {reason.value for reason in Reason}
    error = SCHEMA["$defs"]["decoded"]["properties"]["results"]["items"]["oneOf"][1]["properties"]["error"]
    assert error["properties"]["reason"]["examples"] == [reason.value for reason in Reason]


def test_the_session_of_the_document(adapter):
    """What pipe.md shows is of the schema, and is what the adapter answers."""
    text = files("vectors").joinpath("pipe.md").read_text()
    requests = re.findall(r"^> (.*)$", text, re.MULTILINE)
    answers = [json.loads(line) for line in re.findall(r"^< (.*)$", text, re.MULTILINE)]
    done = subprocess.run(
        adapter("python"),
        input="".join(f"{line}\n" for line in requests),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    came = [json.loads(line) for line in done.stdout.splitlines()]
    assert came[0]["pipe"] == answers[0]["pipe"]
    assert came[1]["results"][2]["error"].pop("offset") == 0
    assert came[1:] == answers[1:]
    for line, answer in zip(requests, answers, strict=True):
        validator("request").validate(json.loads(line))
        validator("answer").validate(answer)


def run(*args):
    return CliRunner().invoke(codec, [*args])


@pytest.mark.slow  # two answers of megabytes, which take 60 MB; below are a check of some, and one of all that skips
def test_check_agrees(adapter):
    result = run("check", LAYOUT, "--", *adapter("python"))
    assert result.exit_code == 0, result.output
    # Two questions about each frame that has a value: what it holds, and how that is written.
    asked = [vector for vector in golden() for _ in range(2 - (vector.value is None))]
    around = sum(bool(vector.context) for vector in asked)
    assert result.output.splitlines() == [
        "  program   goldwire example in Python 1, Python",
        f"PASS  {len(golden())} frames of {LAYOUT}, {len(asked)} answers judged "
        f"({around} about messages that no rule speaks of): all agree",
    ]


def test_check_of_some(adapter):
    ids = [golden()[0].id, golden()[1].id]
    result = run("check", LAYOUT, "--vector", ids[0], "--vector", ids[1], "--", *adapter("python"))
    assert result.exit_code == 0
    assert f"PASS  2 frames of {LAYOUT}, 4 answers judged: all agree" in result.output
    result = run("check", LAYOUT, "--frame", "39 05 01", "--", *adapter("python"))
    assert f"PASS  1 frame of {LAYOUT}, 2 answers judged: all agree" in result.output


def test_check_of_nothing(programs):
    command = altered(programs, "answer['results'] = [{'skip': 'not yet'}] * len(answer['results'])")
    few = [vector.id for vector in golden()[:3]]  # the answers to all take 30 MB of a worker
    result = run("check", LAYOUT, *(word for each in few for word in ("--vector", each)), "--", *command)
    assert result.exit_code == 1
    assert f"3 frames of {LAYOUT}, 0 answers judged" in result.output
    assert "not yet" in result.output
    assert "nothing was checked" in result.output


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["zenoh/nothing", "--", "true"], 2, "zenoh/network-message"),
        ([LAYOUT, "--deadline", "5"], 2, "--deadline means nothing with no COMMAND behind --"),
        ([LAYOUT, "--engine", "python", "--", "true"], 2, "--engine means nothing with a COMMAND behind --"),
        ([LAYOUT, "--vector", "0", "--", "true"], 2, "no vector of zenoh/network-message has the id 0"),
        ([LAYOUT, "--frame", "xyz", "--", "true"], 2, "'xyz' is not bytes in hex"),
        ([LAYOUT, "--most", "0", "--", "true"], 2, "--most"),
        ([LAYOUT, "--deadline", "0", "--", "true"], 2, "--deadline"),
        ([LAYOUT, "--deadline", "nan", "--", "true"], 2, "--deadline"),
        ([LAYOUT, "--", "/nowhere/at/all"], 3, "cannot run '/nowhere/at/all'"),
        ([LAYOUT, "--", "true"], 3, "'true' does not describe itself: the program ended with status 0"),
    ],
)
def test_check_that_does_not_begin(args, status, message):
    result = run("check", *args)
    assert result.exit_code == status
    assert message in result.output
