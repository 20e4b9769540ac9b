"""The golden vectors: their shape, their ids, and whether the reference engine agrees with each."""

import hashlib
import json
import tomllib
from importlib.resources import files

import jsonschema
import msgspec
import pytest

from vectors.loader import UnknownVectors, Vector, layouts, load
from wire.errors import DecodeError, Reason
from wire.catalogue import grammars as known_layouts
from wire.primitives import VLE, Blob, Span
from wire.reference import decode, encode
from wire.zenoh.keys import read_queryable_info, read_wire_expr, read_wire_expr_extension

VECTORS = [vector for layout in layouts() for vector in load(layout)]
EACH = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector.layout}-{vector.id}")


def document(layout: str) -> dict:
    return json.loads(files("vectors").joinpath(f"{layout}.json").read_text())


@pytest.mark.parametrize("layout", layouts())
def test_files_are_of_the_schema(layout):
    schema = json.loads(files("vectors").joinpath("schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    content = document(layout)
    jsonschema.Draft202012Validator(schema).validate(content)
    assert content["layout"] == layout
    used = {flag for vector in load(layout) for flag in vector.flags}
    assert used == set(content["flags"])
    names = [group["name"] for group in content["groups"]]
    assert len(names) == len(set(names))


def test_the_schema_knows_every_reason():
    schema = json.loads(files("vectors").joinpath("schema.json").read_text())
    assert schema["$defs"]["reason"]["enum"] == [reason.value for reason in Reason]


def test_layouts():
    assert set(layouts()) <= set(known_layouts())
    with pytest.raises(UnknownVectors, match="zenoh/batch"):
        load("zenoh/nothing")
    with pytest.raises(UnknownVectors):
        load("../vectors/schema")


def test_vectors_are_values():
    with pytest.raises(AttributeError):
        VECTORS[0].result = "invalid"
    assert isinstance(VECTORS[0], msgspec.Struct)


def test_ids_are_unique():
    ids = [vector.id for vector in VECTORS]
    assert len(ids) == len(set(ids))


@EACH
def test_id_is_made_from_the_content(vector: Vector):
    content = vector.layout.encode() + b"\0" + vector.data
    assert vector.id == hashlib.sha256(content).hexdigest()[:16]


@EACH
def test_reference_engine_agrees(vector: Vector):
    if vector.reason is not None:
        with pytest.raises(DecodeError) as caught:
            decode(vector.layout, vector.data)
        assert caught.value.reason.value == vector.reason
        return
    value = decode(vector.layout, vector.data)
    assert value == vector.value
    written = vector.data if vector.canonical is None else vector.canonical
    assert encode(vector.layout, value) == written
    assert decode(vector.layout, written, overlong="refuse") == value


@EACH
def test_overlong_integers_carry_their_flag(vector: Vector):
    """Both ways: a vector with the flag has such an integer, one without has none."""
    if vector.reason is not None or (vector.meaning and vector.meaning["kind"] == "wire-expr"):
        return
    spans: list[Span] = []
    decode(vector.layout, vector.data, spans=spans)
    longer = [
        span
        for span in spans
        if isinstance(span.leaf, VLE | Blob) and len(span.leaf.spell(span.value, span.path)) < span.end - span.start
    ]
    assert bool(longer) == ("overlong-vle" in vector.flags) == (vector.canonical is not None)


def wire_expr(payload: bytes, deployed: bool) -> dict:
    try:
        key = read_wire_expr(payload, deployed=deployed)
    except DecodeError as error:
        return {"error": error.reason.value}
    return {"sender": key.sender, "scope": key.scope, "suffix": key.suffix}


@pytest.mark.parametrize("vector", [vector for vector in VECTORS if vector.meaning], ids=lambda vector: vector.id)
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
    exercised = {rule for vector in VECTORS for rule in vector.rules}
    assert verified - exercised == set()
    assert exercised - set(rules) == set()
