"""The golden vectors that are shipped: their shape, their ids, and whether the engines agree with each."""

import hashlib
import json
import tomllib
from importlib.resources import files

import jsonschema
import msgspec
import pytest

from vectors.golden import schema
from vectors.loader import UnknownVectors, Vector, layouts, load, revive
from vectors.places import inside
from wire.catalogue import grammars as known_layouts
from wire.catalogue import layout as tree
from wire.engines import present
from wire.errors import DecodeError, Reason
from wire.layout import Items, Record, Union, walk
from wire.primitives import VLE, Blob, Span
from wire.reference import decode
from wire.zenoh.extensions import BY_MESSAGE
from wire.zenoh.keys import read_queryable_info, read_wire_expr, read_wire_expr_extension

VECTORS = {layout: load(layout) for layout in layouts()}
EACH = pytest.mark.parametrize("layout", VECTORS)
LARGE = 10_000
"""Bytes: what takes seconds in the reference engine was confirmed when the vectors were built."""


def document(layout: str) -> dict:
    return json.loads(files("vectors").joinpath(f"{layout}.json").read_text())


def wrong(layout: str, check) -> list[str]:
    """Name the vectors of a layout that a check does not hold for."""
    return [f"{vector.id} ({vector.comment})" for vector in VECTORS[layout] if not check(vector)]


@EACH
def test_files_are_of_the_schema(layout):
    jsonschema.Draft202012Validator.check_schema(schema())
    content = document(layout)
    jsonschema.Draft202012Validator(schema()).validate(content)
    assert content["layout"] == layout
    used = {flag for vector in VECTORS[layout] for flag in vector.flags}
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
    vector = VECTORS["zenoh/batch"][0]
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
    ids = [vector.id for vectors in VECTORS.values() for vector in vectors]
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
    return engine.encode(vector.layout, value) == written and (
        engine.decode(vector.layout, written, overlong="refuse") == value
    )


@EACH
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


@EACH
def test_every_message_is_there(layout):
    """At every place where a message can stand, the vectors have it in a frame that is accepted."""
    unions = {part for part in walk(tree(layout).root) if isinstance(part, Union)}
    wanted = {message.name for union in unions for message in union.messages}
    found: set[str] = set()

    def look(value) -> None:
        if isinstance(value, dict):
            found.update([value["type"]] if "type" in value else [])
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value[:4]:
                look(part)

    for vector in VECTORS[layout]:
        if vector.result == "valid":
            look(vector.value)
    assert found == wanted
    assert isinstance(inside(tree(layout).root), Union | Items | Record)


def wire_expr(payload: bytes, deployed: bool) -> dict:
    try:
        key = read_wire_expr(payload, deployed=deployed)
    except DecodeError as error:
        return {"error": error.reason.value}
    return {"sender": key.sender, "scope": key.scope, "suffix": key.suffix}


MEANING = [vector for vectors in VECTORS.values() for vector in vectors if vector.meaning]


@pytest.mark.parametrize("vector", MEANING, ids=lambda vector: vector.id)
def test_meaning_in_both_readings(vector: Vector):
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


def test_every_codec_rule_has_a_vector():
    rules = tomllib.loads(files("conformance.zenoh").joinpath("rules.toml").read_text())
    verified = {name for name, rule in rules.items() if "codec" in rule["verified"]}
    exercised = {rule for vectors in VECTORS.values() for vector in vectors for rule in vector.rules}
    assert verified - exercised == set()
    assert exercised - set(rules) == set()


def test_the_notes_know_the_extensions_that_the_grammar_names():
    shapes = tomllib.loads(files("vectors").joinpath("zenoh", "notes.toml").read_text())["shapes"]
    assert shapes["knows"].keys() == BY_MESSAGE.keys()
    for message, extensions in BY_MESSAGE.items():
        noted = [shapes["named"][name] for name in shapes["knows"][message]]
        assert noted == [{"encoding": each.encoding, "M": int(each.mandatory), "id": each.id} for each in extensions]
