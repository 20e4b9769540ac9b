"""The command ``goldwire decode``."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from wire.command import decode

NETWORK, BATCH = "zenoh/network-message", "zenoh/batch"
PROGRAM = [sys.executable, "-c", "from wire.command import decode; decode(prog_name='goldwire decode')"]


def run(*args, stdin=None):
    return CliRunner().invoke(decode, [*args], input=stdin)


@pytest.mark.parametrize(
    "frame", ["390501", "39 05 01", "39:05:01", "0x390501", "0x39 0X05 0x01", " 39\t05\n01 ", "3905 01"]
)
def test_a_frame(frame):
    result = run(NETWORK, frame)
    assert result.exit_code == 0
    assert "INTEREST, Current" in result.output


def test_a_frame_in_several_arguments():
    assert run(NETWORK, "39", "05", "01").output == run(NETWORK, "390501").output


@pytest.mark.parametrize("args", [(), ("-",)])
def test_a_frame_from_standard_input(args):
    result = run(NETWORK, *args, stdin="39 05\n01\n")
    assert result.exit_code == 0
    assert "INTEREST.options" in result.output


def test_a_refused_frame():
    result = run(NETWORK, "3905")
    assert result.exit_code == 1
    assert "refused: truncated at byte 2 (0x2), INTEREST.options" in result.output


def test_the_empty_frame():
    assert run(NETWORK, "").exit_code == 1
    assert run(BATCH, "").exit_code == 0


def test_json():
    result = run(NETWORK, "b9 81 00 02 42 01 ff", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.output)
    assert answer["bytes"] == "b901024201ff"
    assert answer["value"]["id"] == 1
    assert answer["value"]["extensions"] == [{"header": {"Z": 0, "encoding": 2, "M": 0, "id": 2}, "value": "ff"}]


def test_json_keeps_64_bits():
    answer = json.loads(run(NETWORK, "b9010221ffffffffffffffffff", "--json").output)
    assert answer["value"]["extensions"][0]["value"] == 2**64 - 1


def test_json_of_a_refused_frame():
    result = run(NETWORK, "39 01 12 80 80 04", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output) == {"error": {"reason": "out-of-range", "offset": 3, "path": "INTEREST.key_scope"}}


def test_overlong():
    assert run(NETWORK, "39810002").exit_code == 0
    result = run(NETWORK, "39810002", "--overlong", "refuse", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["error"]["reason"] == "overlong"


def test_lines(tmp_path):
    file = tmp_path / "frames"
    file.write_text("390501\r\n\n39 05\n0x1905")
    result = run(NETWORK, "--lines", str(file), "--json")
    assert result.exit_code == 0
    answers = [json.loads(line) for line in result.output.splitlines()]
    assert [answer.get("bytes", answer.get("error", {}).get("reason")) for answer in answers] == [
        "390501",
        "truncated",
        "truncated",
        "1905",
    ]
    assert answers[1]["error"]["offset"] == 0


def test_lines_as_dumps():
    result = run(NETWORK, "--lines", "-", stdin="1905\n\n390501\n")
    assert result.exit_code == 0
    headings = [line for line in result.output.splitlines() if line.startswith("#")]
    assert headings == ["# line 1, 2 bytes", "# line 2, 0 bytes", "# line 3, 3 bytes"]


def test_no_lines():
    result = run(NETWORK, "--lines", "-", "--json", stdin="")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("zenoh/nothing", "19"), "zenoh/network-message"),
        ((), "Missing argument"),
        ((NETWORK, "3"), "an odd number of hex digits (1): the one at position 1 is alone"),
        ((NETWORK, "39 05 0"), "an odd number of hex digits (5): the one at position 7 is alone"),
        ((NETWORK, "39g5"), "'g' at position 3 is not a hex digit"),
        ((NETWORK, "ü9"), "'ü' at position 1 is not a hex digit"),
        ((NETWORK, "39 ü"), "'ü' at position 4 is not a hex digit"),
        ((NETWORK, "390x05"), "'x' at position 4 is not a hex digit"),
        ((NETWORK, "39", "--lines", "-"), "not both"),
        ((NETWORK, "--lines", "/nowhere/at/all"), "No such file"),
        ((NETWORK, "--lines", "/"), "directory"),
        ((NETWORK, "39", "--engine", "steam"), "reference"),
        ((NETWORK, "39", "--overlong", "perhaps"), "refuse"),
    ],
)
def test_wrong_usage(args, message):
    result = run(*args)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    "garbage", [b"\x00", b"\xff\xfe", b"39\x0005", b"\xed\xa0\x80", b"0x0x", b"--", bytes(range(256))]
)
def test_garbage(garbage):
    result = run(NETWORK, stdin=garbage)
    assert result.exit_code == 2
    assert "is not a hex digit" in result.output
    lines = run(NETWORK, "--lines", "-", "--json", stdin=b"1905\n" + garbage)
    assert lines.exit_code == 2
    assert "line 2: " in lines.output


@given(st.binary(max_size=30))
def test_no_input_is_a_surprise(data):
    for stdin in (data, data.hex().encode()):
        result = run(NETWORK, "--json", stdin=stdin)
        assert result.exit_code in (0, 1, 2)
        assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.slow  # 131,072 fields, by the reference engine
def test_too_many_fields():
    chain = "a100" * 65_534 + "2100"
    result = run(NETWORK, stdin=f"9e{chain}9a{chain}")
    assert result.exit_code == 2
    assert "more than 131072 fields" in result.output


def test_more_than_any_batch_holds():
    result = run(BATCH, stdin="04" * 140_000)
    assert result.exit_code == 1
    assert "too-long at byte 65535" in result.output


def test_a_real_process():
    done = subprocess.run(
        [*PROGRAM, NETWORK, "--lines", "-", "--json"],
        input="390501\n39\n",
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [*map(json.loads, done.stdout.splitlines())][1]["error"]["reason"] == "truncated"


def test_whoever_reads_may_leave(tmp_path):
    """The reader closes the pipe after one line of many."""
    file = tmp_path / "frames"
    file.write_bytes(b"390501\n" * 20_000)
    with subprocess.Popen(
        [*PROGRAM, NETWORK, "--lines", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"# line 1, 3 bytes\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.slow  # 100 MB, and five times that in memory
def test_a_hundred_megabytes():
    done = subprocess.run([*PROGRAM, NETWORK], input=b"ff" * 100_000_000, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"out-of-range at byte 1" in done.stdout


MESSAGE = "pathfinder/message"
PING = '{"ta-cmd":"ping","ta-id":-0, "msg-type":"r\\u0065quest"}'


def test_a_text_is_given_as_it_is():
    result = run(MESSAGE, "--text", PING)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        '000a  "ping"          ta-cmd    "ping"',
        "0019  -0              ta-id     0          spelled otherwise than 0",
        '0028  "r\\u0065quest"  msg-type  "request"  ping-request',
        '                                           spelled otherwise than "request"',
    ]
    assert run(MESSAGE, PING.encode().hex()).output == result.output
    assert run(MESSAGE, "--text", stdin=PING + "\n").exit_code == 0


def test_texts_in_lines():
    result = run(MESSAGE, "--text", "--lines", "-", "--json", stdin=f"{PING}\n\n[]\n")
    assert result.exit_code == 0
    first, second, third = map(json.loads, result.output.splitlines())
    assert first["value"] == {"ta-cmd": "ping", "ta-id": 0, "msg-type": "request"}
    assert bytes.fromhex(first["bytes"]) == b'{"ta-cmd":"ping","ta-id":0,"msg-type":"request"}'
    assert second["error"] == {"reason": "truncated", "offset": 0, "path": "(frame)"}
    assert third["error"]["reason"] == "wrong-type"


def test_a_refused_text_shows_where():
    result = run(MESSAGE, "--text", '{"ta-cmd":"publish","ta-id":7,"msg-type":"request","service-id":1,"ttl":"60"}')
    assert result.exit_code == 1
    *_, window, mark, said = result.output.splitlines()
    assert window[mark.index("^") :].startswith('"60"')
    assert "publish-request" in result.output
    assert said == "refused: wrong-type at byte 72 (0x48), ttl: an integer belongs here, not text"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((MESSAGE, PING), "'{' at position 1 is not a hex digit; with --text the frame is given as it is"),
        ((BATCH, "--text", "04"), "--text is for layouts of texts; zenoh/batch is binary: give its frames in hex"),
        ((MESSAGE, "--engine", "native", "--json", "7b7d"), "is JSON, which no C reads here"),
    ],
)
def test_wrong_usage_with_texts(args, says):
    result = run(*args)
    assert result.exit_code == 2
    assert says in result.stderr
