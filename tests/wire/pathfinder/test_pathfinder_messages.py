"""The messages of Pathfinder against the document's tables, with the reference and the generated engine."""

import json
from itertools import combinations

import pytest

from wire import catalogue
from wire.dump import dump, lines
from wire.emit.__main__ import sources
from wire.engines import MissingEngine, engine, live, present
from wire.errors import DecodeError, EncodeError, Reason
from wire.kinds import JsonObject
from wire.kinds.base import walk
from wire.layout import lay_out
from wire.pathfinder import LAYOUTS
from wire.pathfinder.grammar import LARGEST, deployed_message
from wire.reference import decode, encode

NAME = "pathfinder/message"

INT, STRING, PROPS, NUMBER = "Int>=0", "String", "Props", "Number"

RECORD = {"generation": INT, "service-props": PROPS, "ttl": INT, "client-id": INT}
ORPHAN = {"orphan-since": NUMBER}
FAIL = ({}, {"fail-reason": STRING})
BARE: tuple[dict, dict] = ({}, {})

# The tables of the document: the fields beside the mandatory ones that are mandatory, and those that are not.
TABLES = {
    "hello request": ({"client-id": INT, "protocol-minimum-version": INT, "protocol-maximum-version": INT}, {}),
    "hello complete": ({"protocol-version": INT}, {}),
    "hello fail": FAIL,
    "subscribe request": ({"subscription-id": INT}, {"filter": STRING}),
    "subscribe accept": BARE,
    "subscribe notify appeared": ({"service-id": INT, **RECORD}, ORPHAN),
    "subscribe notify modified": ({"service-id": INT, **RECORD}, ORPHAN),
    "subscribe notify disappeared": ({"service-id": INT}, {}),
    "subscribe complete": BARE,
    "subscribe fail": FAIL,
    "unsubscribe request": ({"subscription-id": INT}, {}),
    "unsubscribe complete": BARE,
    "unsubscribe fail": FAIL,
    "subscriptions request": BARE,
    "subscriptions accept": BARE,
    "subscriptions notify": ({"subscription-id": INT, "client-id": INT}, {"filter": STRING}),
    "subscriptions complete": BARE,
    "subscriptions fail": FAIL,
    "services request": ({}, {"filter": STRING}),
    "services accept": BARE,
    "services notify": ({"service-id": INT, **RECORD}, ORPHAN),
    "services complete": BARE,
    "services fail": FAIL,
    "publish request": ({"service-id": INT, "generation": INT, "service-props": PROPS, "ttl": INT}, {}),
    "publish complete": BARE,
    "publish fail": FAIL,
    "unpublish request": ({"service-id": INT}, {}),
    "unpublish complete": BARE,
    "unpublish fail": FAIL,
    "clients request": BARE,
    "clients accept": BARE,
    "clients notify": ({"client-id": INT, "client-addr": STRING, "time": INT}, {}),
    "clients complete": BARE,
    "clients fail": FAIL,
    "ping request": BARE,
    "ping complete": BARE,
    "ping fail": FAIL,
}

GOOD = {
    INT: ["0", "1", "-0", str(2**63 - 1)],
    STRING: ['""', '"no-hello"', '"\\u00e9\\ud83d\\ude00"', '"\xe9\x7f"', '"\\"\\\\"'],
    PROPS: ["{}", '{"name":["a",1,""],"\\"":[],"":[-9223372036854775808,9223372036854775807]}'],
    NUMBER: ["0", "1.5", "1e9", "1700000000", "-0.0", str(2**63 - 1)],
}
BAD = {
    INT: {
        "-1": "out-of-range",
        str(2**63): "out-of-range",
        "1.0": "wrong-type",
        "1e0": "wrong-type",
        '"1"': "wrong-type",
        "true": "wrong-type",
        "null": "wrong-type",
        "[1]": "wrong-type",
    },
    STRING: {
        "1": "wrong-type",
        "null": "wrong-type",
        "{}": "wrong-type",
        '["a"]': "wrong-type",
        '"\\u0000"': "bad-text",
        '"\\udead"': "bad-text",
    },
    PROPS: {
        "[]": "wrong-type",
        "null": "wrong-type",
        '{"a":1}': "wrong-type",
        '{"a":"b"}': "wrong-type",
        '{"a":[1.5]}': "wrong-type",
        '{"a":[[1]]}': "wrong-type",
        '{"a":[null]}': "wrong-type",
        '{"a":[true]}': "wrong-type",
        '{"a":[1],"a":[1]}': "duplicate-name",
        '{"a":[-9223372036854775809]}': "out-of-range",
        '{"a":["\\u0000"]}': "bad-text",
        '{"\\u0000":[]}': "bad-text",
    },
    NUMBER: {
        "-1": "out-of-range",
        "-0.5": "out-of-range",
        str(2**63): "out-of-range",
        "1e999": "out-of-range",
        '"1"': "wrong-type",
        "false": "wrong-type",
        "null": "wrong-type",
    },
}


@pytest.fixture(scope="module", autouse=True)
def named():
    """The layout has its name while this file runs."""
    known = catalogue.grammars_of(NAME.partition("/")[0])
    before = dict(known)
    known[NAME] = LAYOUTS["message"]
    yield
    known.clear()
    known.update(before)


@pytest.fixture(params=["reference", "python"])
def codec(request):
    return engine(request.param).codec(NAME)


def spelled(fields):
    """A text whose values are spelled already."""
    return f"{{{','.join(f'{json.dumps(name)}:{value}' for name, value in fields.items())}}}"


def message(which, optional=(), good=0):
    """The fields of a message in the order of the document, each spelled."""
    command, kind, *match = which.split()
    fields = {"ta-cmd": f'"{command}"', "ta-id": "17", "msg-type": f'"{kind}"'}
    if match:
        fields["match-type"] = f'"{match[0]}"'
    required, more = TABLES[which]
    for name, values in [*required.items(), *((name, more[name]) for name in more if name in optional)]:
        fields[name] = GOOD[values][good % len(GOOD[values])]
    return fields


def refused(codec, text):
    with pytest.raises(DecodeError) as caught:
        codec.decode(text.encode())
    return caught.value


def same(value, text):
    assert value == json.loads(text)
    assert {name: type(each) for name, each in value.items()} == {
        name: type(each) for name, each in json.loads(text).items()
    }


@pytest.mark.parametrize("which", TABLES)
def test_every_message_of_the_document(codec, which):
    optional = TABLES[which][1]
    for there in (those for count in range(len(optional) + 1) for those in combinations(optional, count)):
        for good in range(6):
            text = spelled(message(which, there, good))
            value = codec.decode(text.encode())
            same(value, text)
            again = codec.encode(value)
            assert codec.decode(again) == value
            assert list(json.loads(again)) == list(json.loads(text))


@pytest.mark.parametrize("which", TABLES)
def test_every_field_in_every_wrong_way(codec, which):
    required, optional = TABLES[which]
    fields = message(which, optional)
    text = spelled(fields)
    for name, kind in {"ta-id": INT, **required, **optional}.items():
        for value, reason in BAD[kind].items():
            error = refused(codec, spelled(fields | {name: value}))
            assert (error.reason.value, error.path.partition(".")[0]) == (reason, name)
            assert error.offset >= text.index(json.dumps(name)) + len(name) + 3
        without = spelled({each: value for each, value in fields.items() if each != name})
        if name in optional:
            same(codec.decode(without.encode()), without)
        else:
            error = refused(codec, without)
            assert (error.reason.value, error.path, error.offset) == ("missing-field", name, len(without) - 1)
        twice = text[:-1] + f",{json.dumps(name)}:{fields[name]}}}"
        error = refused(codec, twice)
        assert (error.reason.value, error.path, error.offset) == ("duplicate-name", name, len(text))
    for name in ("", "x", "type", "Ta-id", "ta_id", "client-address", "orphan-since", "filter", "fail-reason"):
        if name not in fields:
            error = refused(codec, text[:-1] + f',"{name}":1}}')
            assert (error.reason.value, error.offset) == ("unknown-field", len(text))


@pytest.mark.parametrize("which", TABLES)
def test_what_decides_about_the_message(codec, which):
    fields = message(which, TABLES[which][1])
    deciding = ["ta-cmd", "msg-type", *(["match-type"] if "match-type" in fields else [])]
    for name in deciding:
        at = spelled(fields).index(json.dumps(name)) + len(name) + 3
        for value, reason in {
            '"removed"': "unknown-id",
            '"notification"': "unknown-id",
            '""': "unknown-id",
            "1": "wrong-type",
            "null": "wrong-type",
            '["ping"]': "wrong-type",
            "{}": "wrong-type",
        }.items():
            error = refused(codec, spelled(fields | {name: value}))
            assert (error.reason.value, error.path, error.offset) == (reason, name, at)
        error = refused(codec, spelled({each: value for each, value in fields.items() if each != name}))
        assert (error.reason.value, error.path) == ("missing-field", name)


def test_commands_have_their_own_message_types_only(codec):
    known = {tuple(which.split()[:2]) for which in TABLES}
    for command in {command for command, _ in known}:
        for kind in ("request", "accept", "notify", "complete", "fail"):
            if (command, kind) not in known:
                error = refused(codec, f'{{"ta-cmd":"{command}","ta-id":1,"msg-type":"{kind}"}}')
                assert (error.reason, error.path) == (Reason.UNKNOWN_ID, "msg-type")


EXAMPLES = [
    '{"ta-cmd": "ping", "ta-id": 42, "msg-type": "request"}',
    '{"ta-cmd": "ping", "ta-id": 42, "msg-type": "complete"}',
    '{"ta-cmd": "subscribe", "ta-id": 17, "msg-type": "request", "subscription-id": 15965902, "filter": "(name=foo)"}',
    '{"ta-cmd": "subscribe", "ta-id": 17, "msg-type": "accept"}',
    '{"ta-cmd": "subscribe", "ta-id": 17, "msg-type": "notify", "match-type": "appeared", '
    '"service-id": 8809789524339752160, "generation": 0, "service-props": {"name": ["foo"], '
    '"address": ["http://1.2.3.4:5555"]}, "ttl": 60, "client-id": 3876347552450328157}',
    '{"ta-cmd": "subscribe", "ta-id": 17, "msg-type": "complete"}',
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_document(codec, text):
    value = codec.decode(text.encode())
    same(value, text)
    assert codec.encode(value).decode() == json.dumps(json.loads(text), separators=(",", ":"))


def test_the_tables_are_all_messages():
    names = {part.name for part in walk(lay_out(LAYOUTS["message"]).root) if isinstance(part, JsonObject)}
    declared = {"-".join(which.split()) for which in TABLES}
    assert names - {"subscribe-notify"} == declared - {"subscribe-notify-appeared", "subscribe-notify-modified"}


def test_the_largest_message(codec):
    fields = message("subscribe request", ["filter"])
    room = LARGEST - len(spelled(fields | {"filter": '""'}))
    largest = spelled(fields | {"filter": json.dumps("a" * room)}).encode()
    value = codec.decode(largest)
    assert codec.encode(value) == largest
    error = refused(codec, largest.decode() + " ")
    assert (error.reason, error.offset) == (Reason.TOO_LONG, LARGEST)
    with pytest.raises(EncodeError, match="262144"):
        codec.encode(value | {"filter": "a" * (room + 1)})


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"ta-cmd": "ping", "ta-id": 1}, "msg-type None"),
        ({"ta-cmd": "ping", "ta-id": -1, "msg-type": "request"}, "ta-id"),
        ({"ta-cmd": "ping", "ta-id": True, "msg-type": "request"}, "ta-id"),
        ({"ta-cmd": "ping", "ta-id": 1, "msg-type": "request", "x": 1}, "'x'"),
        ({"ta-cmd": "ping", "ta-id": 1, "msg-type": "fail", "fail-reason": "a\0"}, "fail-reason: NUL"),
        ([], "an object"),
        (None, "an object"),
    ],
)
def test_values_that_are_no_message(codec, value, says):
    with pytest.raises(EncodeError, match=says):
        codec.encode(value)


def test_none_is_absent(codec):
    value = {"ta-cmd": "services", "ta-id": 1, "msg-type": "request"}
    assert codec.encode(value | {"filter": None}) == codec.encode(value)


def test_deployed_servers_say_client_address():
    value = {"ta-cmd": "clients", "ta-id": 1, "msg-type": "notify", "client-id": 2, "time": 3}
    deployed = encode(deployed_message, value | {"client-address": "tcp:127.0.0.1:44854"})
    assert decode(deployed_message, deployed)["client-address"] == "tcp:127.0.0.1:44854"
    with pytest.raises(DecodeError, match="unknown-field"):
        decode(NAME, deployed)


def test_the_engines():
    assert [each.name for each in present(NAME)] == ["reference", "python"]
    assert live(NAME).name == "python"
    with pytest.raises(MissingEngine, match="JSON"):
        engine("native").codec(NAME)


def test_the_generated_code_is_not_stale():
    import wire.pathfinder.generated as generated

    for name, text in sources("pathfinder"):
        with open(f"{generated.__path__[0]}/{name}") as file:
            assert file.read() == text, "run python -m wire.emit"


def test_a_dump():
    dumped = dump(NAME, b'{"ta-cmd":"ping","ta-id":7,"msg-type":"request"}')
    assert [(row.offset, row.path, row.value) for row in dumped.rows] == [
        (10, "ta-cmd", '"ping"'),
        (25, "ta-id", "7"),
        (38, "msg-type", '"request"'),
    ]


def test_a_dump_of_a_refused_message():
    dumped = dump(NAME, b'{"ta-cmd":"ping","ta-id":7.5,"msg-type":"request"}')
    assert [row.path for row in dumped.rows] == ["ta-cmd"]
    *_, marked, said = lines(dumped)
    assert marked.strip() == "^"
    assert said == "refused: wrong-type at byte 25 (0x19), ta-id: an integer belongs here, not a real number"
