"""The golden vectors that are shipped: their shape, their ids, and whether the engines agree with each."""

import hashlib
import json
import tomllib
from functools import lru_cache
from importlib.resources import files

import jsonschema
import msgspec
import pytest

from vectors.golden.file_shape import schema
from vectors.golden.loader import UnknownVectors, Vector, layouts, load, revive
from vectors.kinds import BINARY as KIND_OF_BYTES
from vectors.kinds import kind
from vectors.notes import notes
from wire.catalogue import grammars as known_layouts
from wire.catalogue import layout as tree
from wire.engines import present
from wire.errors import DecodeError, Reason
from wire.kinds import Items, Json, JsonObject, JsonUnion, KeyedUnion, Record, Union
from wire.kinds.base import walk
from wire.primitives import VLE, Blob, Span
from wire.reference import decode
from wire.zenoh.grammar_extensions import BY_MESSAGE
from wire.zenoh.keys import read_queryable_info
from wire.zenoh.wire_expr_reading import read_wire_expr, read_wire_expr_extension

LAYOUTS = layouts()
# Layout by layout, so that each is loaded once.
EACH = pytest.mark.parametrize("layout", LAYOUTS, scope="module")
BINARY = pytest.mark.parametrize(
    "layout", [layout for layout in LAYOUTS if kind(layout) is KIND_OF_BYTES], scope="module"
)
OF_JSON = pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if tree(layout).is_json], scope="module")
LARGE = 10_000
"""Bytes: what takes seconds in the reference engine was confirmed when the vectors were built."""


@lru_cache(maxsize=1)  # one layout at a time: all of them take 20 MB of every worker
def golden(layout):
    return load(layout)


def document(layout: str) -> dict:
    return json.loads(files("vectors").joinpath(f"{layout}.json").read_text())


def wrong(layout: str, check) -> list[str]:
    """Name the vectors of a layout that a check does not hold for."""
    return [f"{vector.id} ({vector.comment})" for vector in golden(layout) if not check(vector)]


@EACH
def test_files_are_of_the_schema(layout):
    """Of each group a few vectors: the slow test takes them all."""
    content = document(layout)
    for group in content["groups"]:
        group["vectors"] = group["vectors"][:3]
    jsonschema.Draft202012Validator(schema()).validate(content)


@pytest.mark.slow  # of thousands of vectors, each of which a program has written
@EACH
def test_every_vector_is_of_the_schema(layout):
    jsonschema.Draft202012Validator(schema()).validate(document(layout))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema())


@EACH
def test_files_name_what_they_hold(layout):
    content = document(layout)
    assert content["layout"] == layout
    used = {flag for vector in golden(layout) for flag in vector.flags}
    assert used == set(content["flags"])
    names = [group["name"] for group in content["groups"]]
    assert len(names) == len(set(names))


def test_the_schema_knows_every_reason():
    assert schema()["$defs"]["reason"]["enum"] == [reason.value for reason in Reason]


@pytest.mark.parametrize("times", [None, "3", 0, 1, 2.5])
def test_the_schema_wants_runs_that_are_runs(times):
    content = document("zenoh/batch")
    content["groups"] = content["groups"][:1]
    content["groups"][0]["vectors"][0]["bytes"] = ["04", {"hex": "04", "times": times}]
    assert not jsonschema.Draft202012Validator(schema()).is_valid(content)
    content["groups"][0]["vectors"][0]["bytes"][1]["times"] = 2
    jsonschema.Draft202012Validator(schema()).validate(content)


def test_layouts():
    assert set(layouts()) <= set(known_layouts())
    with pytest.raises(UnknownVectors, match="zenoh/batch"):
        load("zenoh/nothing")
    with pytest.raises(UnknownVectors):
        load("../vectors/schema")


def test_vectors_are_values():
    vector = golden("zenoh/batch")[0]
    with pytest.raises(AttributeError):
        vector.result = "invalid"
    assert isinstance(vector, msgspec.Struct)


def test_runs_are_read():
    value = {
        "data": {"hex": "0a", "times": 3},
        "text": {"text": "ü", "times": 2},
        "list": [1, {"item": [2], "times": 2}],
    }
    assert revive(value) == {"data": b"\n\n\n", "text": "üü", "list": [1, [2], [2]]}


def test_ids_are_unique():
    ids = [vector.id for layout in LAYOUTS for vector in golden(layout)]
    assert len(ids) == len(set(ids))


@EACH
def test_ids_are_made_from_the_content(layout):
    def check(vector: Vector) -> bool:
        return vector.id == hashlib.sha256(layout.encode() + b"\0" + vector.data).hexdigest()[:16]

    assert wrong(layout, check) == []


@EACH
def test_every_engine_agrees(layout):
    engines = list(present(layout))
    assert len(engines) > 1

    def check(vector: Vector) -> bool:
        quick = engines if len(vector.data) < LARGE else engines[1:]
        return all(agrees(engine, vector) for engine in quick)

    assert wrong(layout, check) == []


def agrees(engine, vector: Vector) -> bool:
    try:
        value = engine.decode(vector.layout, vector.data)
    except DecodeError as error:
        return vector.reason == error.reason.value
    if vector.reason is not None or value != vector.value:
        return False
    written = vector.data if vector.canonical is None else vector.canonical
    if engine.encode(vector.layout, value) != written:
        return False
    del value  # of the longest, one more takes 10 MB of a worker
    return engine.decode(vector.layout, written, overlong="refuse") == vector.value


@BINARY
def test_overlong_integers_carry_their_flag(layout):
    """Both ways: a vector with the flag has such an integer, one without has none."""

    def check(vector: Vector) -> bool:
        if vector.reason is not None or len(vector.data) > LARGE or b"\x5f" in vector.data:
            return True  # a WireExpr has integers in its payload, which the layout does not look into
        spans: list[Span] = []
        decode(layout, vector.data, spans=spans)
        longer = any(
            len(span.leaf.spell(span.value, span.path)) < span.end - span.start
            for span in spans
            if isinstance(span.leaf, VLE | Blob)
        )
        return longer == ("overlong-vle" in vector.flags) == (vector.canonical is not None)

    assert wrong(layout, check) == []


@BINARY
def test_every_message_is_there(layout):
    """At every place where a message can stand, the vectors have it in a frame that is accepted."""
    parts = list(walk(tree(layout).root))
    wanted = {message.name for part in parts if isinstance(part, Union) for message in part.messages}
    wanted |= {message.name for part in parts if isinstance(part, KeyedUnion) for _, message in part.cases}
    found: set[str] = set()

    def look(value) -> None:
        if isinstance(value, dict):
            found.update([value["type"]] if isinstance(value.get("type"), str) else [])
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value[:4]:
                look(part)

    for vector in golden(layout):
        if vector.result == "valid":
            look(vector.value)
    assert found == wanted
    assert isinstance(tree(layout).frame, Union | Items | Record)


@OF_JSON
def test_every_message_of_json_is_there(layout):
    """With every member that it may have, and without those that it need not have."""
    wanted: dict[tuple[str, ...], set[tuple[str, bool]]] = {}
    found: dict[tuple[str, ...], set[tuple[str, bool]]] = {}
    root = tree(layout).frame
    assert isinstance(root, Json)
    assert isinstance(root.node, JsonUnion | JsonObject)
    messages = flat(root.node) if isinstance(root.node, JsonUnion) else [((), root.node)]
    for key, message in messages:
        there = {(member.name, True) for member in message.members}
        wanted[key] = there | {(member.name, False) for member in message.members if member.optional}
    by = dict(messages)
    for vector in golden(layout):
        if vector.result == "valid":
            key = next(key for key in by if all(vector.value.get(name) == text for name, text in key))
            found.setdefault(key, set()).update(
                (member.name, member.name in vector.value) for member in by[key].members
            )
    assert found == wanted


def flat(union: JsonUnion) -> list[tuple[tuple[tuple[str, str], ...], JsonObject]]:
    """Return the messages of a union, also of those within it, by the names and values of the members that decide."""
    messages = []
    for texts, message in union.table():
        known = tuple(zip(union.by, texts, strict=True))
        if isinstance(message, JsonUnion):
            messages += [((*known, *more), inner) for more, inner in flat(message)]
        else:
            messages.append((known, message))
    return messages


NUMBERS = {
    "0": ("valid", None),
    "9223372036854775807": ("valid", None),
    "9223372036854775808": ("invalid", "out-of-range"),
    "-1": ("invalid", "out-of-range"),
    "-9223372036854775808": ("invalid", "out-of-range"),
    "-9223372036854775809": ("invalid", "out-of-range"),
    "-0": ("acceptable", None),
    "5.0": ("acceptable", "wrong-type"),
    "1e3": ("acceptable", "wrong-type"),
    "5.5": ("invalid", "wrong-type"),
    "1E400": ("invalid", "out-of-range"),
    str(10**999): ("invalid", "out-of-range"),
    "05": ("invalid", "bad-syntax"),
    "+5": ("invalid", "bad-syntax"),
    "NaN": ("invalid", "bad-syntax"),
}


OF_PATHFINDER = pytest.mark.parametrize("layout", ["pathfinder/message", "pathfinder/deployed-message"], scope="module")


@OF_PATHFINDER
def test_numbers_where_they_are_looked_at_closely(layout):
    name = "client-address" if layout == "pathfinder/deployed-message" else "client-addr"
    messages = {
        "pathfinder/message": ('{"ta-cmd":"hello","ta-id":5,"msg-type":"request","client-id":5,'
                               '"protocol-minimum-version":5,"protocol-maximum-version":5}'),
        "pathfinder/deployed-message": ('{"ta-cmd":"clients","ta-id":5,"msg-type":"notify","client-id":5,'
                                        f'"{name}":"tcp:127.0.0.1:44854","time":5}}'),
    }  # fmt: skip
    known = {vector.data: (vector.result, vector.reason) for vector in golden(layout)}
    head, tail = messages[layout].split('"ta-id":5,')
    for number, expected in NUMBERS.items():
        # A number that ends the reading stands last, so that the message is known.
        places = (f'{head}"ta-id":{number},{tail}', f'{head}{tail[:-1]},"ta-id":{number}}}')
        assert expected in [known.get(place.encode()) for place in places], number


@OF_PATHFINDER
def test_what_the_document_contradicts_itself_about(layout):
    said = {vector.comment: vector for vector in golden(layout) if vector.group == "contradictions"}
    flagged = {flag: vector.reason for vector in said.values() for flag in vector.flags}
    assert flagged == {"notification": "unknown-id", "removed": "unknown-id"}
    own, other = ("client-address", "client-addr") if "deployed" in layout else ("client-addr", "client-address")
    by_name = {name: vector for vector in said.values() for name in (own, other) if f" as {name}," in vector.comment}
    assert (by_name[own].result, by_name[other].result, by_name[other].reason) == ("valid", "invalid", "unknown-field")


@OF_JSON
def test_spellings_are_valid_and_have_one_canonical_form(layout):
    """White space, order and escapes mean nothing: a decoder has to take them, and they are written back as another."""
    spellings = [vector for vector in golden(layout) if vector.group.endswith("-spellings") and not vector.flags]
    assert len(spellings) > (5 if layout.partition("/")[2] in notes(layout.partition("/")[0]).briefly else 20)
    for vector in spellings:
        assert (vector.result, vector.reason) == ("valid", None), vector
        assert vector.canonical not in (None, vector.data), vector
        assert b" " not in vector.canonical.replace(b'" "', b""), vector


def wire_expr(payload: bytes, deployed: bool) -> dict:
    try:
        key = read_wire_expr(payload, deployed=deployed)
    except DecodeError as error:
        return {"error": error.reason.value}
    return {"sender": key.sender, "scope": key.scope, "suffix": key.suffix}


MEANT = ["zenoh/network-message"]
"""The layouts whose vectors have a meaning that documents and deployed nodes read in two ways."""


@EACH
def test_meaning_in_both_readings(layout):
    meant = [vector for vector in golden(layout) if vector.meaning]
    assert bool(meant) == (layout in MEANT)
    for vector in meant:
        check_meaning(vector)


def check_meaning(vector: Vector) -> None:
    meaning = vector.meaning
    assert meaning is not None
    content = vector.value["declaration"]["extensions"][-1]["value"]
    for reading in ("document", "deployed"):
        deployed = reading == "deployed"
        if meaning["kind"] == "wire-expr":
            assert wire_expr(content, deployed) == meaning[reading]
        else:
            complete, distance = read_queryable_info(content, deployed=deployed)
            assert {"complete": complete, "distance": distance} == meaning[reading]
    if meaning["kind"] == "wire-expr" and "error" not in meaning["document"]:
        key, as_deployed = read_wire_expr_extension(content)
        assert not as_deployed
        assert key == read_wire_expr(content)


@pytest.mark.parametrize("protocol", sorted({layout.partition("/")[0] for layout in LAYOUTS}))
def test_every_codec_rule_has_a_vector(protocol):
    rules = tomllib.loads(files(f"conformance.{protocol}").joinpath("rules.toml").read_text())
    verified = {name for name, rule in rules.items() if "codec" in rule["verified"]}
    of_protocol = [layout for layout in LAYOUTS if layout.startswith(f"{protocol}/")]
    exercised = {rule for layout in of_protocol for vector in golden(layout) for rule in vector.rules}
    assert verified - exercised == set()
    assert exercised - set(rules) == set()


def test_the_notes_know_the_extensions_that_the_grammar_names():
    shapes = tomllib.loads(files("vectors").joinpath("zenoh", "notes.toml").read_text())["shapes"]
    assert shapes["knows"].keys() == BY_MESSAGE.keys()
    for message, extensions in BY_MESSAGE.items():
        noted = [shapes["named"][name] for name in shapes["knows"][message]]
        assert noted == [{"encoding": each.encoding, "M": int(each.mandatory), "id": each.id} for each in extensions]
