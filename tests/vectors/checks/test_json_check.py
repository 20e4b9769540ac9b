"""Whether differences on texts of JSON are found, made small and shown: proven with engines that are wrong."""

import json
import math
from functools import cache
from itertools import islice
from random import Random

import pytest
from click.testing import CliRunner
from planted import Planted

from vectors import strategies
from vectors.checks.check import Check, check, check_only, parsed, render, stream
from vectors.checks.differential import AnyEngine, Panel
from vectors.checks.sweep import Sweep
from vectors.codec_command import codec
from vectors.invalid_values import make_invalid
from vectors.json.minimising import smaller, weight
from vectors.minimising import minimise, minimise_value, spelled
from wire import reference
from wire.catalogue import layout
from wire.engines import engine, present
from wire.pathfinder.generated import python as generated
from wire.pathfinder.grammar import non_negative
from wire.runtime import Codec

MESSAGE = "pathfinder/message"
LAYOUTS = [MESSAGE, "pathfinder/deployed-message"]
FOUND = 20_000
"""Random frames, behind the golden vectors, among which a planted difference is found at the latest."""


ALL = 'return decide("pathfinder/message", data)'
PLANTED = {
    # name: function, right, wrong, kinds by which it may show, the smallest frame
    "a bound one too low": (
        "check_unpublish_request",
        'v = value["service-id"]\n    if type(v) is not int or not 0 <= v',
        'v = value["service-id"]\n    if type(v) is not int or not -1 <= v',
        {"accept"},
        '{"ta-cmd":"unpublish","ta-id":0,"msg-type":"request","service-id":-1}',
    ),
    "a bound beyond 64 bits": (
        "check_hello_complete",
        'v = value["protocol-version"]\n    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff',
        'v = value["protocol-version"]\n    if type(v) is not int or not 0 <= v <= 0x8000000000000000',
        {"accept"},
        '{"ta-cmd":"hello","ta-id":0,"msg-type":"complete","protocol-version":9223372036854775808}',
    ),
    "a truth is an integer": (
        "check_subscribe_accept",
        "type(v) is not int",
        "not isinstance(v, int)",
        {"accept"},
        '{"ta-cmd":"ping","ta-id":true,"msg-type":"request"}',
    ),
    "a name twice not seen": (
        "decode_message",
        "== strings_in(data)",
        "<= strings_in(data)",
        {"accept"},
        '{"ta-cmd":"ping","ta-id":0,"ta-id":0,"msg-type":"request"}',
    ),
    "a truth is a number": (
        "check_services_notify",
        "type(v) not in (int, float)",
        "type(v) not in (int, float, bool)",
        {"accept"},
        '{"ta-cmd":"services","ta-id":0,"msg-type":"notify","service-id":0,"generation":0,"service-props":{},'
        '"ttl":0,"client-id":0,"orphan-since":true}',
    ),
    "an item of another type": (
        "check_service_props_item",
        "elif type(each) is int:",
        "elif each is None:\n            pass\n        elif type(each) is int:",
        {"accept"},
        None,
    ),
    "an offset that forgets white space": (
        "decode_message",
        ALL,
        ALL.replace("data", "data.lstrip(b' ')"),
        {"offset"},
        " ",
    ),
    "another reason": (
        "decode_message",
        ALL,
        ALL.replace("data", 'data.replace(b"ud800", b"xd800")'),
        {"reason", "offset"},
        r'"\ud800"',
    ),
    "another exception": ("decode_message", ALL, f"if data[:1] == b'[': raise OSError\n    {ALL}", {"breaks"}, "[]"),
    "an encoder that forgets to escape": (
        "write_service_props",
        "{spell_text(name)}",
        '"{name}"',
        {"bytes"},
        None,
    ),
    "an encoder that makes integers": (
        "write_subscribe_notify",
        "spell_number(orphan_since)",
        "int(orphan_since)",
        {"bytes", "breaks"},
        None,
    ),
    "an encoder that forgets an optional member": (
        "write_services_request",
        "f',\"filter\":{spell_text(filter)}'",
        "''",
        {"bytes"},
        '{"ta-cmd":"services","ta-id":0,"msg-type":"request","filter":""}',
    ),
    "an order of its own": (
        "decode_message",
        "return value",
        "return dict(sorted(value.items()))",
        {"value"},
        '{"ta-cmd":"ping","ta-id":0,"msg-type":"request"}',
    ),
}


def panel(*change: str) -> list[AnyEngine]:
    """Return the planted engine beside the one that it is made of: nothing but the plant can differ."""
    return [engine("python"), Planted(generated, *change)]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found_and_minimised(name):
    function, right, wrong, kinds, smallest = PLANTED[name]
    report = check(MESSAGE, panel(function, right, wrong), frames=FOUND, examples=0, most=1)
    (finding,) = report.findings
    assert finding.difference.kind in kinds
    assert len(finding.data) <= (len(smallest) if smallest else 190), finding.data
    assert not report.agrees


@pytest.mark.parametrize("name", ["a bound one too low", "a truth is an integer", "a name twice not seen"])
def test_the_smallest_frame_is_what_a_person_would_write(name):
    function, right, wrong, _, smallest = PLANTED[name]
    report = check(MESSAGE, panel(function, right, wrong), frames=FOUND, examples=0, most=1)
    (finding,) = report.findings
    shape = json.loads(smallest)
    found = json.loads(finding.data)
    assert found.keys() == shape.keys()
    assert {type(value) for value in found.values()} == {type(value) for value in shape.values()}


FREQUENT = [
    name for name in PLANTED if name not in ("a bound one too low", "a truth is a number", "an item of another type")
]


@pytest.mark.slow  # up to 60,000 frames
@pytest.mark.parametrize("name", FREQUENT)
def test_the_sweep_alone_finds_it_too(name):
    function, right, wrong, kinds, _ = PLANTED[name]
    work = Check(MESSAGE, panel(function, right, wrong), most=1)
    work.sweep(Sweep(MESSAGE, stream, 0, 60_000, None), jobs=0)
    (finding,) = work.report.findings
    assert finding.difference.kind in kinds
    assert "FAIL pathfinder/message: python, planted: 1 difference" in "\n".join(render(work.report))


@pytest.mark.slow  # 1,000 examples
def test_hypothesis_alone_finds_one():
    change = PLANTED["an encoder that forgets an optional member"][:3]
    work = Check(MESSAGE, panel(*change), most=1)
    work.hypothesis(1000)
    assert {finding.difference.kind for finding in work.report.findings} == {"bytes"}


def test_a_difference_planted_in_the_reference_is_found_too(monkeypatch):
    monkeypatch.setattr(non_negative, "least", -7)
    report = check(MESSAGE, [engine("reference"), Straight()], frames=FOUND, examples=0, most=1)
    (finding,) = report.findings
    assert finding.difference.kind == "accept"
    assert b"-" in finding.data


class Straight:
    """The generated engine that refuses where it would ask the reference, and says what an honest reference says."""

    name = "straight"

    def codec(self, layout: str) -> Codec:
        right = engine("python").codec(layout)

        def decode(data: bytes, refuse: bool = False) -> object:
            value = right.decode(data, refuse)
            if any(type(each) is int and each < 0 for each in value.values()):
                reference.decode("pathfinder/deployed-message", b"-1")
            return value

        return Codec(decode, right.encode)


@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        ("write_unpublish_request", "type(service_id) is not int", "not isinstance(service_id, int)"),
        ("write_unpublish_request", "not 0 <= service_id", "not -99999 <= service_id"),
        ("write_unpublish_request", "len(value) != 4", "len(value) < 4"),
    ],
)
def test_an_encoder_that_is_too_lenient_is_found_with_spoiled_values(function, right, wrong):
    work = Check(MESSAGE, panel(function, right, wrong), most=1)
    value = {"ta-cmd": "unpublish", "ta-id": 1, "msg-type": "request", "service-id": 77}
    for number in range(3000):
        spoiled, what = make_invalid(value, Random(number))
        work.value(spoiled, "spoiled", number, (what,))
    (finding,) = work.report.findings
    assert finding.difference.kind in ("encode", "bytes")
    assert finding.value["ta-cmd"] == "unpublish"
    again = check_only(MESSAGE, work.panel.engines, values=[parsed(spelled(finding.value))])
    assert [each.difference for each in again.findings] == [finding.difference]


def test_spoiled_values_of_json_have_its_own_ways_to_be_wrong():
    value = {"a": 1.5, "b": "text", "c": [1]}
    what = {make_invalid(value, Random(number))[1] for number in range(3000)}
    assert {"no number for a", "no end for a", "a NUL for b", "a surrogate for b", "a truth for a"} <= what
    assert any(each.startswith("an odd name") for each in what)


def test_the_page_says_what_a_person_needs():
    engines = [engine("reference"), Planted(generated, *PLANTED["a bound one too low"][:3])]
    report = check(MESSAGE, engines, frames=30_000, examples=0, most=1)
    page = "\n".join(render(report))
    assert "1. accept at service-id: some accept the frame, some refuse it" in page
    assert "bytes, as the reference reads it:" in page
    assert '| 000a  "unpublish"  ta-cmd    "unpublish"' in page
    assert "| refused: out-of-range at byte" in page
    assert "service-id: -1 is not from 0 to 9223372036854775807" in page
    assert "reference  refuses: out-of-range at byte" in page
    assert "planted    accepts: {'ta-cmd': 'unpublish'" in page
    words = next(line for line in page.splitlines() if line.strip().startswith("repeat: ")).split()
    again = check_only(MESSAGE, engines, frames=[bytes.fromhex(words[words.index("--frame") + 1])])
    assert [each.difference for each in again.findings] == [each.difference for each in report.findings]


def test_what_is_written_is_shown_as_text():
    change = PLANTED["an encoder that forgets an optional member"][:3]
    report = check(MESSAGE, panel(*change), frames=30_000, examples=0, most=1)
    page = "\n".join(render(report))
    assert 'writes {"ta-cmd":"services","ta-id":0,"msg-type":"request","filter":""}' in page
    assert 'writes {"ta-cmd":"services","ta-id":0,"msg-type":"request"}' in page


def test_values_are_compared_by_their_names_even_odd_ones():
    change = PLANTED["an item of another type"][1]
    wrong = change.replace("elif type(each) is int:", "elif type(each) is int and value.sort(key=str) is None:")
    data = b'{"ta-cmd":"publish","ta-id":0,"msg-type":"request","service-id":0,"generation":0,"service-props":'
    data += b'{"a.b c":[2,1]},"ttl":0}'
    difference = Panel(MESSAGE, panel("check_service_props_item", change, wrong)).difference(data)
    assert difference is not None
    assert difference.place == 'service-props."a.b c"[]'
    assert ("python", ('service-props."a.b c"[0] = 2', 'service-props."a.b c"[1] = 1')) in difference.says


@cache
def some_frames() -> list[bytes]:
    return [data for data, _ in islice(stream(MESSAGE, 1), 300)]


@pytest.mark.parametrize("thorough", [True, False])
@pytest.mark.parametrize("name", PLANTED)
def test_the_fast_way_and_the_slow_way_agree(name, thorough):
    work = Panel(MESSAGE, panel(*PLANTED[name][:3]))
    for data in some_frames():
        assert (work.agrees(data, thorough=thorough) is None) == (work.difference(data) is not None), data


@pytest.mark.slow  # 5,000 frames, by every engine
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_engines_that_are_here_read_alike(name):
    report = check(name, list(present(name)), frames=5000, examples=100)
    assert report.findings == []
    assert report.frames == 5000
    assert report.accepted > 1500
    assert report.spoiled > 300
    assert report.examples > 100


# Minimising


def test_a_long_text_is_minimised_in_few_tries():
    props = {f"name {number}": ["value \u00e9" * 9, number, "\n"] for number in range(60)}
    value = {"ta-cmd": "publish", "ta-id": 5, "msg-type": "request", "service-id": 10**17, "generation": 8, "ttl": 60}
    value["service-props"] = props | {"deep \\ down": [1, "needle", 2]}
    data = json.dumps(value, indent=2).encode()
    assert len(data) > 6000
    tried = []

    def keeps(each: bytes) -> bool:
        tried.append(each)
        return b"needle" in each and accepted(each)

    small = minimise(MESSAGE, data, keeps, math.inf)
    assert len(tried) < 3_000
    assert small == (
        b'{"ta-cmd":"publish","ta-id":0,"msg-type":"request","service-id":0,"generation":0,'
        b'"ttl":0,"service-props":{"":["needle"]}}'
    )


def accepted(data: bytes) -> bool:
    try:
        reference.decode(MESSAGE, data)
    except Exception:
        return False
    return True


def test_numbers_and_escapes_become_plain():
    data = b' {"a" :\t"\\u0061\\u00e9x", "b":[ 123456.7500e+002 ,-0, true]}'
    assert minimise(MESSAGE, data, lambda each: b"." in each) == b"."
    assert minimise(MESSAGE, data, lambda each: b'"a"' in each and isinstance(read(each), dict)) == b'{"a":0}'
    assert minimise(MESSAGE, data, lambda each: isinstance(read(each), list)) == b"[]"
    kept = minimise(MESSAGE, data, lambda each: isinstance(read(each), dict) and "\u00e9" in str(read(each).get("a")))
    assert kept.decode() == '{"a":"\u00e9"}'


def read(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return None


def test_something_smaller_is_always_tried():
    source, tried = stream(MESSAGE, 3), 0
    for data in [next(source)[0] for _ in range(200)]:
        if len(data) < 500:
            candidates = set(smaller(layout(MESSAGE), data)) - {data}
            assert len(data) < 3 or not candidates or min(map(weight, candidates)) < weight(data)
            tried += len(candidates)
    assert tried > 10_000


def test_a_value_is_minimised_without_what_does_not_matter():
    value = {"a": [{"b": 700}, {"b": 3}], "c": "long text", "d": -9.75}

    def keeps(each: object) -> bool:
        try:
            return any(item["b"] > 5 for item in each["a"])
        except (TypeError, KeyError):
            return False

    assert minimise_value(value, keeps, dropping=True) == {"a": [{"b": 6}]}
    assert minimise_value({"d": -9.75}, lambda each: isinstance(each, dict) and each["d"] < -2, dropping=False) == {
        "d": -9.0
    }
    assert minimise_value([-700], lambda each: each and each[0] < -5) == [-6]


# Commands


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(codec, ["check", *arguments])
    return result.exit_code, result.output


def test_the_command_says_what_was_compared():
    code, output = invoke(MESSAGE, "--frame", b"{}".hex(), "--frame", "ff")
    assert (code, output.split(";")[0]) == (0, f"PASS {MESSAGE}: reference, python: no difference in 2 examples")
    code, output = invoke(MESSAGE, "--value", '{"ta-cmd":"ping","ta-id":1,"msg-type":"request"}')
    assert code == 0


@pytest.mark.slow  # 4,500 frames, by every engine
def test_the_command_with_processes():
    code, output = invoke(MESSAGE, "--frames", "4500", "--jobs", "2", "--seed", "8")
    assert "4500 random frames" in output
    assert code == 0, output


def test_no_native_engine_is_said():
    code, output = invoke(MESSAGE, "--engine", "native")
    assert code == 2
    assert "is JSON, which no C reads here" in output
    assert strategies.values(layout(MESSAGE)) is not None
