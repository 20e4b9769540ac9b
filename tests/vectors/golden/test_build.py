"""Golden vectors are made the same everywhere, reach every branch, and what is wrong with them is found."""

import json
import os
import random
import subprocess
import sys
from functools import cache
from importlib.resources import files
from itertools import combinations, islice, product
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner
from construct import If, Struct, Switch, this

from vectors.binary.composing import compose
from vectors.binary.coverage import Branch, list_branches, trace
from vectors.binary.paths import Arrangement, CannotCover, place_tree, place_tree_of
from vectors.binary.specimens import specimens
from vectors.covering_arrays import Factor, Option, covering
from vectors.golden import build as golden
from vectors.golden.build import NotConfirmed, build, buildable, curated, differences, expect, identify, render, verify
from vectors.golden.exporting import export
from vectors.golden.loader import Hex, VectorFile, frames, joined, layouts, load
from vectors.json import coverage as json_coverage
from vectors.json import paths as json_places
from vectors.json import reader as json_reading
from vectors.json import specimens as json_specimens
from vectors.kinds import JSON, LANGUAGE, branches, cover, kind
from vectors.kinds import trace as traced
from vectors.notes import BadNotes, ProtocolNotes, condition, matches, notes
from vectors.vectors_command import vectors as command
from wire.catalogue import layout as tree
from wire.engines import Engine
from wire.errors import DecodeError, Reason
from wire.json.anything import JsonAnything
from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonBoolean,
    JsonEnum,
    JsonInt,
    JsonMapOf,
    JsonNumeric,
    JsonObjectOf,
    JsonOneOf,
    JsonOptional,
    JsonString,
)
from wire.json.strict import parse
from wire.kinds import JsonText, JsonUnion, Part
from wire.kinds.base import walk
from wire.layout import Layout, lay_out
from wire.primitives import (
    VLE,
    Bits,
    Blob,
    Bytes,
    ChainOf,
    Header,
    LimitedTo,
    Messages,
    OneOf,
    Refused,
    Rest,
    RestText,
    Text,
    Unsigned,
)
from wire.reference import decode
from wire.runtime import Codec

BATCH, TRANSPORT = "zenoh/batch", "zenoh/transport-message"
MESSAGE, DEPLOYED = "pathfinder/message", "pathfinder/deployed-message"
FILTER, DEPLOYED_FILTER = "pathfinder/filter", "pathfinder/deployed-filter"
PACKET, ENVELOPE, RAI_TEXT = "urbit/packet", "rai/envelope", "rai/text"

EACH = pytest.mark.parametrize("layout", layouts())
SCRIPT = "from vectors.vectors_command import vectors; vectors()"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder that all vectors were built into, in a process with another order of hashes than any before.

    They reach every branch that can be reached: else the command ends with 1.
    """
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-c", SCRIPT, "build", "--coverage", "--out", str(folder)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": "4711"}, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow(seconds=40)  # builds all vectors
def test_all_that_can_be_built_is_shipped(built):
    assert buildable() == layouts()
    written = sorted(str(path.relative_to(built)) for path in built.rglob("*.json"))
    assert written == sorted(f"{name}.json" for name in layouts())


@pytest.mark.slow  # builds all vectors
@EACH
def test_shipped_files_are_fresh_whatever_the_order_of_hashes(layout, built):
    """What is shipped was built in another order; other Pythons build it where tox has them play this."""
    assert files("vectors").joinpath(f"{layout}.json").read_bytes() == (built / f"{layout}.json").read_bytes()


@pytest.mark.slow  # follows all vectors through their layouts
@EACH
def test_every_branch_is_reached(layout):
    covered = cover(layout, frames(layout).values())
    assert covered.unreached == ()
    # A list that came out short would be reached easily: so many there are at least, of a message with few fields few.
    # What the deployed message shares with the document's is looked at closely there only.
    least = {DEPLOYED: 400, FILTER: 140, DEPLOYED_FILTER: 140, PACKET: 140, ENVELOPE: 14, RAI_TEXT: 500}
    fields = 90 if layout.startswith("rai/") else 1000
    assert covered.total == len(branches(layout)) > least.get(layout, fields)


def reached(layout) -> dict[str, set[Branch]]:
    """Follow the vectors of a layout, but for the longest: what each of its groups reaches."""
    groups: dict[str, set[Branch]] = {}
    for vector in load(layout):
        if len(vector.data) < 10_000:
            groups.setdefault(vector.group, set()).update(kind(layout).trace(layout, vector.data).branches)
    return groups


OTHERWISE_REACHED = {"chains", "pairs"}
"""Families that reach nothing alone: they are there for what meets."""


@pytest.mark.slow
@EACH
def test_without_a_group_something_is_not_reached_and_all_that_is_is_listed(layout):
    groups, listed = reached(layout), set(branches(layout))
    for group, found in groups.items():
        assert found <= listed, group  # the total is no accident
    # Those by hand have no families; of small layouts they reach most of what there is.
    groups = {name: found for name, found in groups.items() if name not in {each.name for each in curated(layout)}}
    families = {each for each in kind(layout).families if any(name.endswith(f"-{each}") for name in groups)}
    families -= OTHERWISE_REACHED
    missing = set()
    everything = set().union(*groups.values())
    for family in sorted(families):
        left = [found for name, found in groups.items() if not name.endswith(f"-{family}")]
        lost = everything.difference(*left)
        assert lost, family
        missing |= lost
    lost_names = {branch.name for branch in missing}
    in_json = {"cut", "beyond 64 bits", "unknown field", "minus zero", "wrong type: null"}
    in_text = {"ends too early", "ends within a character", "trailing", "not UTF-8", "%x21 > end"}
    # Any other object is refused for an unknown field too, where no union looks at members before.
    in_json -= set() if isinstance(getattr(tree(layout).frame, "node", None), JsonUnion) else {"unknown field"}
    expected = {JSON: in_json, LANGUAGE: in_text}.get(kind(layout), {"cut", "out of range", "2 bytes", "maximum"})
    # Two fields of a fixed width have their largest numbers in pairs as well.
    expected -= {"maximum"} if layout == ENVELOPE else set()
    assert lost_names >= expected & {branch.name for branch in listed}


def test_a_vector_that_alone_reaches_a_branch_is_missed():
    layout = "zenoh/network-message"
    there = [vector.data for vector in load(layout) if len(vector.data) < 10_000]
    wanted = Branch("REQUEST.body.QUERY.consolidation", "out of range")
    assert wanted not in cover(layout, there).unreached
    root = place_tree(layout)
    assert wanted in cover(layout, [data for data in there if wanted not in trace(root, data).branches]).unreached


@EACH
def test_curated_vectors_are_kept(layout):
    shipped = {vector.id: vector for vector in load(layout)}
    first = list(shipped)
    kept = [entry for group in curated(layout) for entry in group.vectors]
    assert first[: len(kept)] == [entry.id for entry in kept]
    for entry in kept:
        vector = shipped[entry.id]
        assert (vector.comment, vector.result, vector.rules, vector.flags) == (
            entry.comment,
            entry.result,
            entry.rules,
            entry.flags,
        )


@pytest.mark.parametrize("protocol", sorted({layout.partition("/")[0] for layout in layouts()}))
def test_curated_vectors_are_judged_alike_or_say_why_not(protocol):
    about = notes(protocol)
    plain = msgspec.structs.replace(about, exceptions={})
    otherwise = set()
    for layout in layouts():
        for group in curated(layout) if layout.startswith(f"{protocol}/") else ():
            for entry in group.vectors:
                expected, _ = expect(layout, entry.data)
                assert list(differences(about, entry, expected)) == []
                if list(differences(plain, entry, expected)):
                    otherwise.add(entry.id)
    assert otherwise == set(about.exceptions)
    assert all(len(why) > 20 for why in about.exceptions.values())


@pytest.mark.parametrize("layout", layouts())
def test_curated_files_are_written_as_files_are(layout):
    protocol, _, name = layout.partition("/")
    source = files("vectors").joinpath(protocol, "curated", f"{name}.json").read_text()
    file = msgspec.json.decode(source, type=VectorFile)
    assert (
        render(layout, notes(layout.partition("/")[0]), {group.name: list(group.vectors) for group in file.groups})
        == source
    )


def test_vectors_are_worth_their_place():
    """Files that people can open, vectors that say something, comments in words."""
    for layout in layouts():
        content = files("vectors").joinpath(f"{layout}.json").read_bytes()
        assert len(content) < 3_000_000
        assert max(len(line) for line in content.splitlines()) < 6_000
        vectors = load(layout)
        # There are many more ways to spoil a text of JSON than a binary frame, and each field has all of them.
        assert sum(vector.result == "valid" for vector in vectors) > len(vectors) / (9 if kind(layout).respells else 3)
        assert all(vector.comment.isprintable() and len(vector.comment) < 200 for vector in vectors)


BINARY = [
    *(Reason.TRUNCATED, Reason.OUT_OF_RANGE, Reason.UNKNOWN_ID, Reason.BAD_TEXT),
    *(Reason.RESERVED, Reason.TRAILING, Reason.TOO_LONG, Reason.BAD_VALUE),
]


IN_JSON = [
    *(Reason.TRUNCATED, Reason.OUT_OF_RANGE, Reason.UNKNOWN_ID, Reason.BAD_TEXT, Reason.TRAILING, Reason.TOO_LONG),
    *(Reason.BAD_SYNTAX, Reason.DUPLICATE_NAME, Reason.WRONG_TYPE, Reason.MISSING_FIELD, Reason.UNKNOWN_FIELD),
]

IN_TEXT = [Reason.TRUNCATED, Reason.TRAILING, Reason.BAD_SYNTAX, Reason.BAD_TEXT, Reason.TOO_LONG]


@EACH
def test_every_reason_occurs(layout):
    wanted = set({JSON: IN_JSON, LANGUAGE: IN_TEXT}.get(kind(layout), BINARY))
    # A batch goes on to its end: nothing can be left over behind it.
    wanted -= {Reason.TRAILING} if layout == BATCH else set()
    # A packet is fields of a fixed width; its bits have a meaning each, and there is no text.
    wanted &= {Reason.TRUNCATED, Reason.TRAILING, Reason.TOO_LONG} if layout == PACKET else wanted
    # An envelope is any operation and a text; what is behind is its payload.
    wanted &= {Reason.TRUNCATED, Reason.BAD_TEXT, Reason.TOO_LONG} if layout == ENVELOPE else wanted
    # Where no text of JSON is one of some.
    if kind(layout) is JSON and not any(isinstance(part, JsonText) and part.names for part in walk(tree(layout).root)):
        wanted -= {Reason.UNKNOWN_ID}
    assert {vector.reason for vector in load(layout)} - {None} == {reason.value for reason in wanted}


@cache
def shortened_text() -> str:
    """A small file: some groups of a shipped one."""
    content = json.loads(files("vectors").joinpath("zenoh/network-message.json").read_bytes())
    wanted = ("interest-ids", "interest-key", "wire-expr", "declare-extensions")
    content["groups"] = [group for group in content["groups"] if group["name"] in wanted]
    used = {flag for group in content["groups"] for vector in group["vectors"] for flag in vector.get("flags", ())}
    content["flags"] = {flag: words for flag, words in content["flags"].items() if flag in used}
    return json.dumps(content)


def shortened() -> dict:
    return json.loads(shortened_text())


def find(content: dict, result: str, **having) -> dict:
    return next(
        vector
        for group in content["groups"]
        for vector in group["vectors"]
        if vector["result"] == result and all(vector.get(name) == value for name, value in having.items())
    )


def problems(content: dict) -> list[str]:
    return [str(problem) for problem in verify(json.dumps(content).encode(), "mine.json")]


def test_a_right_file_is_verified():
    assert problems(shortened()) == []


def plant_id(content):
    find(content, "valid")["id"] = "0123456789abcdef"
    return "0123456789abcdef (Current, id 0, S), id: by its bytes it is "


def plant_bytes(content):
    find(content, "valid")["bytes"] = "1907"
    return "id: by its bytes it is "


def plant_reason(content):
    find(content, "invalid", reason="truncated")["reason"] = "bad-value"
    return "reason: the engines say truncated, not bad-value"


def plant_value(content):
    find(content, "valid")["value"]["id"] += 1
    return 'value: the engines read {"type": "INTEREST"'


def plant_canonical(content):
    find(content, "acceptable", flags=["overlong-vle"])["canonical"] = "39"
    return "canonical: the engines write 390002, not 39"


def plant_result(content):
    vector = find(content, "valid")
    vector |= {"result": "invalid", "reason": "truncated"}
    del vector["value"]
    return "result: it is 'valid', not 'invalid'"


def plant_a_flag(content):
    find(content, "acceptable", flags=["overlong-vle"])["flags"] = ["empty-key", "overlong-vle"]
    return "flags: by notes.toml they are overlong-vle, not empty-key, overlong-vle"


def plant_an_order(content):
    find(content, "acceptable", flags=["empty-key", "empty-suffix"])["flags"].reverse()
    return "flags: are not in order"


def plant_a_missing_explanation(content):
    del content["flags"]["empty-suffix"]
    return "flags.empty-suffix: vectors carry this flag, and nothing explains it"


def plant_an_explanation(content):
    content["flags"]["not-so"] = "Nobody knows."
    return "flags.not-so: is explained, and no vector carries it"


def plant_other_words(content):
    content["flags"]["empty-suffix"] = "Something else."
    return "flags.empty-suffix: other words than in notes.toml"


def plant_a_twin(content):
    group = content["groups"][0]["vectors"]
    group.append(group[0])
    return "id: is in group interest-ids as well"


def plant_a_group(content):
    content["groups"].append(content["groups"][0])
    return "group interest-ids: there are two groups of this name"


def plant_a_field(content):
    find(content, "valid")["colour"] = "red"
    return "group interest-ids, vector "


def plant_a_type(content):
    find(content, "valid")["comment"] = 5
    return "comment: "


def plant_a_layout(content):
    content["layout"] = "zenoh/nothing"
    return "layout: no layout with notes is called 'zenoh/nothing'"


PLANTED = [plant for name, plant in sorted(globals().items()) if name.startswith("plant_")]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("with_jsonschema", [True, False])
def test_planted_errors_are_found(plant, with_jsonschema, monkeypatch):
    if not with_jsonschema:
        monkeypatch.setitem(sys.modules, "jsonschema", None)
    content = shortened()
    words = plant(content)
    found = problems(content)
    assert any(words in each and each.startswith("mine.json: ") for each in found), found


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"schema": 1, "schema": 2}', b"\xff"])
def test_what_is_no_file_of_vectors_is_told(content):
    assert verify(content, "mine.json")


def test_engines_that_disagree_stop_the_build(monkeypatch):
    """A second engine that reads one frame otherwise is named, with the frame and both answers."""

    def lying(data: bytes, refuse: bool = False):
        value = decode("zenoh/network-message", data)
        return {**value, "id": 6} if data == bytes.fromhex("1905") else value

    first = next(iter(golden.present("zenoh/network-message")))
    liar = Engine("liar", lambda layout: Codec(lying, first.codec(layout).encode))
    monkeypatch.setattr(golden, "engines", lambda layout: [first, liar])
    with pytest.raises(
        NotConfirmed, match=r"frame 73385bab225a7ed0 \(1905\): reference says .*'id': 5.*; liar says .*'id': 6"
    ):
        build("zenoh/network-message")


def test_one_engine_is_not_enough(monkeypatch):
    only = list(golden.present(BATCH))[:1]
    monkeypatch.setattr(golden, "present", lambda layout: only)
    with pytest.raises(NotConfirmed, match="need two engines"):
        build(BATCH)


# Layouts that no protocol has, for what the reasoning of coverage says of them.

EXTENSION = Struct("header" / Bits(Z=7, kind=(1, 0)), "value" / Switch(this.header.kind, {0: VLE(8), 1: Blob(8)}))
ONE = "ONE" / Struct("header" / Header(1, F=5, G=(7, 6)), "there" / If(this.header.F, VLE(16)))
TWO = "TWO" / Struct("header" / Header(2), "size" / VLE(8), "data" / Bytes(this.size + 1))
THREE = "THREE" / Struct("header" / Header(0x1C, F=5), "there" / If(this.header.F, VLE(8)))
FOUR = "FOUR" / Struct("header" / Header(0x1D), "number" / Unsigned(1), "more" / Switch(this.number, {7: VLE(8)}))
ALWAYS = "ALWAYS" / Struct(
    "header" / Header(3, K=(7, 6, 2)),
    "never" / If(this.header.K == 1, VLE(16)),
    "always" / If(this.header.K == 2, Text(16)),
    "one" / Switch(this.header.K, {1: VLE(8), 2: VLE(16)}, default=Refused("not this")),
)


def made_up(grammar) -> list[Branch]:
    return list(list_branches(place_tree_of(lay_out(grammar, "made/up"), {})))


def names(grammar, path: str) -> set[str]:
    return {branch.name for branch in made_up(grammar) if branch.path == path}


def test_what_cannot_happen_is_not_asked_for():
    grammar = OneOf(ONE, TWO, ALWAYS)
    assert names(grammar, "ONE.there") >= {"present", "absent", "3 bytes", "out of range"}
    assert names(grammar, "ALWAYS.never") == {"absent"}
    assert "absent" not in names(grammar, "ALWAYS.always")
    assert names(grammar, "ALWAYS.one") >= {"case 2", "maximum"}
    assert not names(grammar, "ALWAYS.one") & {"case 1", "default", "refused"}
    assert names(grammar, "ALWAYS.header") == {"K=2", "id is not 0", "X=0", "X is not 0"}
    assert "missing" not in names(grammar, "ONE.header")
    assert names(grammar, "") == {"missing", "is ONE", "is TWO", "is ALWAYS", "unknown id"}


def test_a_number_that_decides_is_no_proof_unless_all_were_tried():
    big = Struct("n" / VLE(32), "x" / Switch(this.n * 3, {1: VLE(8)}, default=VLE(7)))
    assert names(big, "x") >= {"case 1", "default"}, "2**32 values were not tried"
    small = Struct("n" / VLE(8), "x" / Switch(this.n * 3, {1: VLE(8)}, default=VLE(7)))
    assert "case 1" not in names(small, "x")


def test_limits_of_lists_follow_from_the_room():
    grammar = OneOf("A" / Struct("header" / Header(1), "chain" / ChainOf(EXTENSION, most=5)))
    assert {"full", "too many"} <= names(grammar, "A.chain")
    assert not {"full", "too many"} & names(LimitedTo(5, grammar), "A.chain")
    assert names(LimitedTo(6, grammar), "A.chain") >= {"full", "too many"}
    assert names(LimitedTo(9, grammar), "") >= {"too long", "full"}
    assert "full" not in names(LimitedTo(100, OneOf(ONE)), "")
    every = Messages(OneOf(ONE), to_end=True, most=5)
    assert names(LimitedTo(5, every), "") == {"none", "one", "more", "full", "too long"}
    assert names(LimitedTo(6, every), "") >= {"too many"}
    assert "trailing" not in {branch.name for branch in made_up(every)}
    assert "another byte follows" in names(Messages(OneOf(ONE)), "")


def test_numbers_of_64_bits_are_always_in_range():
    assert "out of range" not in names(Struct("n" / VLE(64)), "n")
    assert names(Struct("n" / VLE(64)), "n") >= {"9 bytes", "maximum", "overlong"}
    assert names(Struct("n" / VLE(7)), "n") == {
        *("zero", "1 byte", "maximum", "overlong", "out of range", "missing", "cut"),
    }


def test_a_part_that_is_not_known_is_refused():
    class Strange(Part, frozen=True):
        pass

    with pytest.raises(CannotCover, match="Strange"):
        place_tree_of(Layout("made/up", Strange()), {})


EMPTY = ProtocolNotes(flags={}, overlong_flag="", nine_bytes_flag="", spare_flag="")


@pytest.mark.parametrize(
    "grammar",
    [
        OneOf(ONE, TWO, ALWAYS),
        LimitedTo(40, Messages(OneOf(ONE, TWO), to_end=True, most=999)),
        OneOf("A" / Struct("header" / Header(1, Z=7), "chain" / If(this.header.Z, ChainOf(EXTENSION, most=30)))),
        OneOf("A" / Struct("header" / Header(1), "inner" / Messages(OneOf(THREE, FOUR), most=30), "text" / Text(16))),
        LimitedTo(300, OneOf("A" / Struct("header" / Header(1), "number" / Unsigned(2), "blob" / Blob(16)))),
        Struct("flags" / Bits(A=0, B=(3, 1)), "rest" / Switch(this.flags.B, {0: RestText(), 1: Rest()}, VLE(64))),
    ],
)
def test_layouts_that_nobody_wrote_notes_for(grammar, monkeypatch):
    """The generator knows nothing of a protocol: made-up grammars are covered too, and read as the reference reads."""
    root = place_tree_of(lay_out(grammar, "made/up"), {})
    wanted = set(list_branches(root))
    monkeypatch.setattr("vectors.binary.specimens.place_tree", lambda layout: root)
    monkeypatch.setattr("vectors.binary.specimens.branches", lambda layout: tuple(wanted))
    met = set()
    for specimen in specimens("made/up", EMPTY):
        found = trace(root, specimen.data)
        met |= found.branches
        assert (found.value, found.reason, found.offset) == said(grammar, specimen.data), specimen
    assert {str(branch) for branch in wanted - met} == set()
    assert met <= wanted


DECIDED = JsonOneOf(
    "one" / JsonObjectOf("a" / JsonEnum("x"), "b" / JsonEnum("y", "z"), "n" / JsonOptional(JsonInt(-7, 7))),
    JsonOneOf(
        "two" / JsonObjectOf("a" / JsonEnum("x"), "b" / JsonEnum("u"), "c" / JsonEnum("v", "w"), "t" / JsonString()),
        "three" / JsonObjectOf("a" / JsonEnum("x"), "b" / JsonEnum("u"), "c" / JsonEnum("")),
        by=("c",),
    ),
    "four" / JsonObjectOf("b" / JsonEnum("y"), "a" / JsonEnum('q"'), "o" / JsonObjectOf("a" / JsonBoolean())),
    by=("a", "b"),
)
OPTIONAL = [f"o{n}" / JsonOptional(JsonInt(3, 9)) for n in range(6)]


@pytest.mark.parametrize(
    "grammar",
    [
        JsonString(),
        LimitedTo(600, JsonEnum("one", "two")),
        JsonArrayOf(JsonAnyOf(JsonBoolean(), JsonNumeric(least=5), JsonMapOf(JsonInt(0, 255)))),
        JsonAnyOf(JsonArrayOf(JsonString()), JsonNumeric(), JsonString()),
        JsonObjectOf(
            "list" / JsonArrayOf(JsonObjectOf("t" / JsonString(), "u" / JsonOptional(JsonBoolean()))),
            "x y" / JsonNumeric(0),
        ),
        LimitedTo(900, JsonObjectOf("first" / JsonString(), *OPTIONAL, "map" / JsonMapOf(JsonMapOf(JsonString())))),
        LimitedTo(5000, DECIDED),
        JsonObjectOf("data" / JsonOptional(JsonMapOf(JsonAnything())), "other" / JsonAnything()),
        JsonMapOf(JsonObjectOf("d" / DECIDED, "e" / JsonOptional(JsonInt()))),
    ],
)
def test_layouts_of_json_that_nobody_wrote_notes_for(grammar):
    root = json_places.place_tree_of(lay_out(grammar, "made/up"), ())
    wanted = set(json_coverage.list_branches(root))
    met = set()
    for specimen in json_specimens.made(root, EMPTY):
        found = json_coverage.trace(root, specimen.data)
        met |= found.branches
        read = (found.value, found.reason, found.offset)
        assert repr(read) == repr(said(grammar, specimen.data)), specimen
    assert {str(branch) for branch in wanted - met} == set()
    assert {str(branch) for branch in met - wanted} == set()


def said(grammar, data: bytes) -> tuple:
    try:
        return decode(grammar, data), None, 0
    except DecodeError as error:
        return None, error.reason, error.offset


def test_plain_frames_are_plain():
    assert compose(place_tree("zenoh/network-message"), {"": "INTEREST"}).data.hex() == "390500"
    assert compose(place_tree(BATCH), {"": 2, "[1]": "KEEP_ALIVE"}).data.hex() == "000504"


def test_covering_arrays_cover():
    sizes = (2, 2, 3, 4, 2)
    factors = [
        Factor(str(n), tuple(Option(f"{n}{value}", n, ()) for value in range(size)), flag=n < 3)
        for n, size in enumerate(sizes)
    ]
    rows = list(covering([Arrangement(tuple(() for _ in sizes), {})], factors))
    labels = [{option.label for option in row.options} for row in rows]
    for strength, these in ((2, factors), (3, factors[:3])):
        for group in combinations(these, strength):
            for options in product(*(factor.options for factor in group)):
                wanted = {option.label for option in options}
                assert any(wanted <= row for row in labels), wanted
    assert len(rows) < 20, "as few as can be: the largest pair alone has 12"


def test_what_cannot_meet_is_left_out_of_covering_arrays():
    apart = [Arrangement((("present",), ("absent",)), {}), Arrangement((("absent",), ("present",)), {})]
    factors = [Factor(str(n), tuple(Option(f"{n}{v}", n, ("present",)) for v in range(2))) for n in range(2)]
    assert list(covering(apart, factors)) == []


@pytest.mark.parametrize(
    ("text", "fields", "holds"),
    [
        ("a == 0 and not b", {"a": 0, "b": ""}, True),
        ("a == 0 and not b", {"a": 0, "b": "x"}, False),
        ("a == 0 and not b", {"a": 0}, False),
        ("a.b > 3 or a.c in (1, 2)", {"a": {"b": 3, "c": 2}}, True),
        ("value >= 2", {"value": None}, False),
        ("0 < value < 5", {"value": 5}, False),
        ("x != None", {"x": None}, False),
    ],
)
def test_conditions(text, fields, holds):
    assert condition(text)(fields) is holds


@pytest.mark.parametrize("text", ["print(1)", "a + 1", "[a for a in b]", "a if b else c", "lambda: 0", "a['b']"])
def test_conditions_that_are_more(text):
    with pytest.raises(BadNotes):
        condition(text)


def test_patterns():
    assert matches("*.key_suffix", "DECLARE.declaration.D_TOKEN.key_suffix")
    assert matches("*INTEREST.extensions[]", "[].FRAME.messages[].INTEREST.extensions[]")
    assert not matches("*INTEREST.id", "INTEREST_FINAL.id")
    assert not matches("a.b", "axb")


def test_notes_that_are_missing():
    with pytest.raises(BadNotes, match=r"vectors/nothing/notes\.toml"):
        notes("nothing")


@pytest.mark.parametrize(
    ("key", "frame"),
    [
        ("overlong_flag", "198500"),  # INTEREST_FINAL with the id 5 in two bytes
        ("spare_flag", "1e4105"),  # a U_KEYEXPR with a reserved bit
    ],
)
def test_a_flag_that_the_notes_lack_is_named(key, frame, monkeypatch):
    lacking = msgspec.structs.replace(notes("zenoh"), **{key: ""})
    monkeypatch.setattr("vectors.golden.build.notes", lambda protocol: lacking)
    with pytest.raises(BadNotes, match=rf"vectors/zenoh/notes\.toml: {key} is missing, and .*network-message, frame"):
        expect("zenoh/network-message", bytes.fromhex(frame))


def test_a_protocol_need_make_no_exception_of_nine_bytes(monkeypatch):
    frame = bytes.fromhex("9e21" + "ff" * 9 + "0105")  # a DECLARE with QoS, whose value is 2**64 - 1
    assert "vle-nine-bytes" in expect("zenoh/network-message", frame)[0].flags
    lacking = msgspec.structs.replace(notes("zenoh"), nine_bytes_flag="")
    monkeypatch.setattr("vectors.golden.build.notes", lambda protocol: lacking)
    assert not {"vle-nine-bytes", ""} & set(expect("zenoh/network-message", frame)[0].flags)


# The commands.


def run(*arguments: str):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def build_once():
    """``build``, of which each layout is built once for the tests below."""
    return cache(golden.build)


def test_build_writes_what_is_shipped(tmp_path, build_once, monkeypatch):
    monkeypatch.setattr(golden, "build", build_once)
    result = run("build", TRANSPORT, "--out", tmp_path, "--coverage")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "zenoh" / "transport-message.json").read_bytes() == files("vectors").joinpath(
        "zenoh/transport-message.json"
    ).read_bytes()
    assert [path.name for path in (tmp_path / "zenoh").iterdir()] == ["transport-message.json"]
    assert "zenoh/transport-message: 1345 of 1345 branches (100 %)" in result.output


def test_build_tells_what_is_stale(tmp_path, build_once, monkeypatch):
    monkeypatch.setattr(golden, "build", build_once)
    target = tmp_path / "zenoh" / "transport-message.json"
    result = run("build", TRANSPORT, "--out", tmp_path, "--check")
    assert (result.exit_code, target.exists()) == (1, False)
    assert "stale: zenoh/transport-message" in result.output
    assert "goldwire vectors build" in result.output
    run("build", TRANSPORT, "--out", tmp_path)
    assert run("build", TRANSPORT, "--out", tmp_path, "--check").exit_code == 0
    target.write_text(target.read_text() + "\n")
    assert run("build", TRANSPORT, "--out", tmp_path, "--check").exit_code == 1


def test_verify_tells_what_is_wrong(tmp_path):
    content = shortened()
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(content))
    result = run("verify", file)
    assert (result.exit_code, result.output) == (0, f"{file}: right\n")
    words = plant_reason(content)
    file.write_text(json.dumps(content))
    result = run("verify", file)
    assert result.exit_code == 1
    assert words in result.output
    assert f"{file}: 1 problems" in result.output


def test_coverage_lists_what_is_missing(monkeypatch):
    result = run("coverage", TRANSPORT)
    assert (result.exit_code, result.output) == (0, "zenoh/transport-message: 1345 of 1345 branches (100 %)\n")
    monkeypatch.setattr("vectors.vectors_command.frames", lambda name: dict(islice(frames(name).items(), 19)))
    result = run("coverage", TRANSPORT)
    assert result.exit_code == 1
    assert "not reached: INIT.version: maximum\n" in result.output
    assert "(100 %)" not in result.output


def test_unknown_layouts():
    for name in ("build", "coverage"):
        result = run(name, "zenoh/nothing")
        assert result.exit_code == 2
        assert "zenoh/batch" in result.output


@pytest.mark.parametrize(
    ("layout", "step"),
    [(DEPLOYED, 1), (TRANSPORT, 5), pytest.param(TRANSPORT, 1, marks=pytest.mark.slow)],  # lines are much alike
)
def test_requests_of_the_pipe_are_of_its_schema(layout, step, tmp_path):
    [path] = export([layout], "pipe", tmp_path)
    validator = jsonschema.Draft202012Validator(json.loads(files("vectors").joinpath("pipe.schema.json").read_text()))
    frames, values = [], 0
    with path.open() as lines:
        for number, line in enumerate(lines, 1):
            request = json.loads(line)
            if number % step == 0 and len(line) < 100_000:  # of half a megabyte, the validator makes 40 MB
                validator.validate(request)
            assert request["id"] == number
            frames += request.get("frames", ())
            values += len(request.get("values", ()))
    vectors = load(layout)
    assert frames == [vector.data.hex() for vector in vectors]
    assert values == sum(vector.result != "invalid" and vector.reason is None for vector in vectors)


# Batches have the longest vectors, whose values take 60 MB.
@pytest.mark.parametrize("layout", [TRANSPORT, DEPLOYED, pytest.param(BATCH, marks=pytest.mark.slow)])
def test_parquet(layout, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = run("export", layout, "--format", "parquet", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    path = tmp_path / f"{layout}.parquet"
    table = parquet.read_table(path)
    vectors = load(layout)
    assert table.column("id").to_pylist() == [vector.id for vector in vectors]
    assert table.column("bytes").to_pylist() == [vector.data for vector in vectors]
    assert table.column("context").to_pylist() == [vector.context or None for vector in vectors]
    assert [tuple(flags) for flags in table.column("flags").to_pylist()] == [vector.flags for vector in vectors]
    assert str(table.schema.field("rules").type) == "list<element: string>"
    values = [
        None if value is None else golden.revive(json.loads(value)) for value in table.column("value").to_pylist()
    ]
    assert values == [vector.value for vector in vectors]
    again = path.read_bytes()
    export([layout], "parquet", tmp_path)
    assert path.read_bytes() == again


def test_parquet_without_pyarrow(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("export", BATCH, "--format", "parquet", "--out", tmp_path)
    assert result.exit_code == 1
    assert "pip install 'goldwire[arrow]'" in result.output
    assert list(tmp_path.iterdir()) == []


def test_files_are_replaced_whole(tmp_path):
    path = tmp_path / "a" / "file"
    golden.write(path, b"one")
    golden.write(path, b"two")
    assert path.read_bytes() == b"two"
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="file"):
        golden.write(path, b"three")
    assert [each.name for each in path.parent.iterdir()] == ["file"]


PIECES = [
    *(b"{", b"}", b"[", b"]", b",", b":", b"true", b"nul", b" ", b'"a"', b'"b":', b'"'),
    *(b"1", b"0", b"-", b".", b"e", b"+", b"99999999999999999999", b"1e400", b"\x00"),
    *(b"\\", b"\\u", b"00", b"d83d", rb"\ude00", rb"\u0000"),
    *(b"\xc3", b"\xa9", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f", b"\x98\x80"),
]


def test_the_reader_of_json_agrees_with_the_one_of_the_engines():
    """Both were written from the RFC; they agree over texts that are put together at random as well."""
    source = random.Random(4711)
    seeds = [vector.data for vector in load(MESSAGE)[::7] if len(vector.data) < 300]
    outcomes = set()
    for _ in range(8_000):
        data = b"".join(source.choices(PIECES, k=source.randint(1, 8)))
        if source.random() < 0.5:
            seed = source.choice(seeds)
            at = source.randint(0, len(seed))
            data = seed[:at] + data[: source.randint(0, 8)] + seed[at + source.randint(0, 3) :]
        answer = own(data)
        assert answer == by_the_engines(data), data
        outcomes.add(answer[0])
    assert len(outcomes) > 6


def own(data: bytes) -> tuple:
    try:
        return "read", repr(json_reading.JsonReader(data).whole().plain)
    except json_reading.NotJson as error:
        return error.reason, error.offset


def by_the_engines(data: bytes) -> tuple:
    def plain(node):
        if isinstance(node.value, dict):
            return {name: plain(member.node) for name, member in node.value.items()}
        return [plain(item) for item in node.value] if isinstance(node.value, list) else node.value

    try:
        return "read", repr(plain(parse(data)))
    except DecodeError as error:
        return error.reason, error.offset


def test_ids():
    assert identify("zenoh/network-message", bytes.fromhex("1905")) == "73385bab225a7ed0"
    assert Path(files("vectors").joinpath("schema.json")).is_file()


class ContextEntry(msgspec.Struct):
    """What a vector says of its messages."""

    id: str
    hex: Hex = msgspec.field(name="bytes")
    rules: tuple[str, ...] = ()
    context: str = ""


class ContextGroup(msgspec.Struct):
    """Vectors that belong together."""

    vectors: tuple[ContextEntry, ...]


class ContextFile(msgspec.Struct):
    """A file of vectors, without their values."""

    contexts: dict[str, str]
    groups: tuple[ContextGroup, ...]


@pytest.mark.parametrize("layout", [TRANSPORT, "zenoh/network-message"])
def test_vectors_of_messages_that_no_rule_speaks_of_say_so(layout):
    about = notes("zenoh").contexts["deployed"]
    content = files("vectors").joinpath(f"{layout}.json").read_bytes()
    # No more of a file than what is asked for, as its values take 20 MB of a worker; and to follow the longest frames
    # takes 30 MB more: ``vectors verify`` does that.
    file = msgspec.json.decode(content, type=ContextFile)
    assert file.contexts == {"deployed": about.words}
    told = 0
    for group in file.groups:
        for vector in group.vectors:
            data = joined(vector.hex)
            if len(data) >= 10_000:
                continue
            messages = set(traced(layout, data).members.values())
            around = bool(messages) and messages <= set(about.messages) and not vector.rules
            assert vector.context == ("deployed" if around else ""), vector.id
            told += bool(vector.context)
    assert told > 1000


def test_a_wrong_context_is_found():
    content = shortened()
    find(content, "valid")["context"] = "deployed"
    assert "by notes.toml it is none, not deployed" in problems(content)[0]
    find(content, "valid")["context"] = "elsewhere"
    assert any("nothing explains it" in problem for problem in problems(content))
