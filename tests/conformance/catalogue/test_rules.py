"""The catalogues are complete, true to the documents and free of their words; bad ones are refused."""

import os
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from conformance.catalogue.documents import closest, render, updated
from conformance.catalogue.documents import main as take_over
from conformance.catalogue.loading import CatalogueError, load_catalogue, protocols
from conformance.catalogue.rules import Catalogue
from conformance.catalogue.rules_command import rules as rules_command
from conformance.verdicts import Strength

# Per protocol: how many rules there are at least, the roles that they bind, and the documents by the rules' letters.
SHAPES = {
    "pathfinder": (190, {"server", "client", "both", "transport"}, {"PF": "pathfinder"}),
    "rai": (180, {"publisher", "subscriber", "router-cache", "node"}, {"RAI": "rai"}),
    "urbit": (100, {"publisher", "subscriber", "both"}, {"URB": "urbit"}),
    "zenoh": (
        173,
        {"codec", "requester", "declarer", "receiver", "sender", "router", "both"},
        {"ZI": "zenoh-interests", "ZD": "zenoh-declarations"},
    ),
}
KEYWORDS = {
    "MUST NOT": Strength.MUST_NOT,
    "MUST": Strength.MUST,
    "SHOULD": Strength.SHOULD,
    "MAY": Strength.MAY,
}

PLAIN = {
    Strength.MUST: re.compile(r"\bmust\b"),
    Strength.SHOULD: re.compile(r"\bshould\b"),
    Strength.MAY: re.compile(r"\b(can|may)\b"),
}
"""What is the word for a strength in a document without keywords; for the others there is none."""

# A keyword that is used, wherever the line breaks; one in quotation marks is only mentioned.
KEYWORD = re.compile(r'(?<!")\b(MUST\s+NOT|MUST|SHOULD|MAY)\b(?!")')
RULING = re.compile(r"[-| ]*-\|-[-| ]*")

every_protocol = pytest.mark.parametrize("catalogue", [load_catalogue(name) for name in protocols()], ids=protocols())


@pytest.fixture(scope="module")
def texts() -> Path:
    """The folder with the documents, which are not part of the repository."""
    folder = os.environ.get("GOLDWIRE_DOCUMENTS")
    if not folder:
        pytest.skip("GOLDWIRE_DOCUMENTS names no folder with the documents")
    return Path(folder)


def lines_of(catalogue: Catalogue, name: str, texts: Path) -> list[str]:
    found = closest(catalogue.documents[name], texts)
    assert found is not None, f"{name} is not in {texts}"
    return found[1].decode().split("\n")


def letters_of(rule: str) -> str:
    return rule.partition("-")[0]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def runs(text: str, length: int = 8) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}


def keywords(lines: list[str]) -> list[tuple[int, str]]:
    """Return number and keyword of each line on which a keyword begins."""
    text = "\n".join(lines)
    return [(text.count("\n", 0, found.start()) + 1, " ".join(found[1].split())) for found in KEYWORD.finditer(text)]


def table_rows(lines: list[str]) -> list[int]:
    """Return the numbers of the rows of all tables that have a ruling below their header."""
    rows, inside = [], False
    for number, line in enumerate(lines, 1):
        if RULING.fullmatch(line):
            inside = True
        elif inside and "|" in line:
            rows.append(number)
        else:
            inside = False
    return rows


@every_protocol
def test_its_shape_is_the_one_that_is_meant(catalogue: Catalogue) -> None:
    least, roles, documents = SHAPES[catalogue.protocol]
    assert len(catalogue.rules) >= least
    letters = list(documents)
    assert list(catalogue.rules) == sorted(catalogue.rules, key=lambda rule: (letters.index(letters_of(rule)), rule))
    assert {rule.binds for rule in catalogue.rules.values()} == roles
    assert {letters_of(rule.id): rule.document for rule in catalogue.rules.values()} == documents
    assert list(catalogue.documents) == list(documents.values())


@every_protocol
def test_every_normative_line_is_covered(catalogue: Catalogue) -> None:
    assert catalogue.uncovered() == []
    assert all(document.normative for document in catalogue.documents.values())


@every_protocol
def test_every_rule_is_verified_and_has_its_own_gist(catalogue: Catalogue) -> None:
    assert all(rule.verified for rule in catalogue.rules.values())
    assert len({rule.gist for rule in catalogue.rules.values()}) == len(catalogue.rules)


@every_protocol
def test_every_keyword_line_has_a_rule_with_a_keyword(catalogue: Catalogue) -> None:
    for name, document in catalogue.documents.items():
        for number, line in document.normative.items():
            strengths = {
                rule.strength
                for rule in catalogue.rules.values()
                if rule.document == name and number in rule.line_numbers
            }
            assert line.kind != "keyword" or strengths & set(KEYWORDS.values()), f"{name}, line {number}"


@every_protocol
def test_every_reading_is_used(catalogue: Catalogue) -> None:
    used = {reading for rule in catalogue.rules.values() for reading in rule.readings}
    assert used == set(catalogue.readings)


@every_protocol
def test_digests_are_those_of_the_texts(catalogue: Catalogue, texts: Path) -> None:
    for name, document in catalogue.documents.items():
        found = closest(document, texts)
        assert found is not None, name
        assert catalogue.check_text(name, found[1]) == []
        assert updated(document, found[1], document.file) == (document, [])


@every_protocol
def test_each_keyword_and_each_row_is_normative(catalogue: Catalogue, texts: Path) -> None:
    for name, document in catalogue.documents.items():
        lines = lines_of(catalogue, name, texts)
        kinds = {number: line.kind for number, line in document.normative.items()}
        stated = {number for number, _ in keywords(lines)}
        assert stated == {number for number, kind in kinds.items() if kind == "keyword"}
        assert [number for number in table_rows(lines) if number not in kinds] == []


@every_protocol
def test_each_keyword_is_cited_by_a_rule_of_its_strength(catalogue: Catalogue, texts: Path) -> None:
    for name in catalogue.documents:
        lines = lines_of(catalogue, name, texts)
        for number, keyword in keywords(lines):
            citing = {
                rule.strength
                for rule in catalogue.rules.values()
                if rule.document == name and number in rule.line_numbers
            }
            assert KEYWORDS[keyword] in citing, f"{name}, line {number}: {keyword}"
        for rule in catalogue.rules.values():
            if rule.document == name and rule.strength in KEYWORDS.values():
                cited = " ".join(lines[number - 1] for number in rule.line_numbers)
                # A document without any keyword says in plain words how strongly it binds.
                stated = re.compile(rule.strength.value.replace("-", " ").upper())
                assert (stated if keywords(lines) else PLAIN[rule.strength]).search(cited), rule.id


@every_protocol
def test_sections_are_headings_above_a_cited_line(catalogue: Catalogue, texts: Path) -> None:
    for rule in catalogue.rules.values():
        above = lines_of(catalogue, rule.document, texts)[: max(rule.line_numbers)]
        assert rule.section in (line.strip().lstrip("# ") for line in above), rule.id


@every_protocol
def test_no_words_of_the_documents(catalogue: Catalogue, texts: Path) -> None:
    theirs = set[tuple[str, ...]]()
    for name in catalogue.documents:
        theirs |= runs(" ".join(lines_of(catalogue, name, texts)))
    for rule in catalogue.rules.values():
        assert not runs(rule.gist) & theirs, rule.id
        assert not runs(rule.reason) & theirs, rule.id
    for reading in catalogue.readings.values():
        for text in (reading.question, *reading.options.values()):
            assert not runs(text) & theirs, reading.id


# A catalogue of three lines, and what is wrong with its variants.

TEXT = b"Title\nA node MUST greet.\nIt may wave."
RULES = """
[XX-001]
document = "greetings"
section = "Title"
lines = "2-3"
strength = "must"
binds = "both"
gist = "Nodes greet each other."
verified = ["wire"]
readings = ["R01"]
"""
READINGS = """
[R01]
question = "Who first?"
document = ["A"]
deployed = ["B", "A"]
[R01.options]
A = "either"
B = "nobody"
"""
DOCUMENTS = """
[greetings]
title = "Greetings"
file = "greetings.txt"
sha256 = "2c90c5c3ca2d4d9f8b4ec6ed2e1ed4b9a80a2b4c2a4f1b7a0b8f1d1c6a7e3f55"
lines = 3
[greetings.normative]
2 = "keyword 0123456789abcdef"
3 = "statement 0123456789abcdee"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a small catalogue."""
    (tmp_path / "rules.toml").write_text(RULES)
    (tmp_path / "readings.toml").write_text(READINGS)
    (tmp_path / "documents.toml").write_text(DOCUMENTS)
    return tmp_path


def test_a_small_catalogue_loads(small: Path) -> None:
    catalogue = load_catalogue("greetings", small)
    rule = catalogue.rules["XX-001"]
    assert rule.line_numbers == (2, 3)
    assert rule.strength is Strength.MUST
    assert catalogue.readings["R01"].accepted("deployed") == ("B", "A")
    assert catalogue.readings["R01"].accepted("document") == ("A",)
    assert catalogue.uncovered() == []


def test_uncovered_lines_are_named(small: Path) -> None:
    (small / "rules.toml").write_text(RULES.replace("2-3", "2"))
    assert load_catalogue("greetings", small).uncovered() == [("greetings", 3)]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("rules.toml", 'gist = "', 'color = "red"\ngist = "', r"\[XX-001\] unknown key 'color': use one of"),
        ("rules.toml", 'binds = "both"\n', "", r"\[XX-001\] key 'binds' is missing"),
        ("rules.toml", '"must"', '"shall"', r"\[XX-001\] key 'strength': Invalid enum value 'shall'"),
        ("rules.toml", '["wire"]', '["smell"]', r"key 'verified': Invalid enum value 'smell'"),
        ("rules.toml", '["wire"]', '["paper"]', r"key 'reason' is missing: say why"),
        ("rules.toml", '["wire"]', '["paper", "wire"]\nreason = "x"', r"key 'verified': paper stands alone"),
        ("rules.toml", '["wire"]', '["wire"]\nreason = "x"', r"key 'reason': only a rule on paper"),
        ("rules.toml", '["wire"]', '["wire"]\nfollows = "x"', r"key 'follows': only an implied rule has one"),
        ("rules.toml", '["wire"]', '["wire"]\ntaste = "x"', r"key 'taste': only an implied rule has one"),
        ("rules.toml", '"must"', '"implied"', r"\[XX-001\] an implied rule has either 'follows' .* or 'taste'"),
        ("rules.toml", '"must"', '"implied"\nfollows = "x"\ntaste = "y"', r"either 'follows' .* or 'taste'"),
        ("rules.toml", '"R01"', '"R09"', r"key 'readings': 'R09' is unknown"),
        ("rules.toml", "2-3", "2-4", r"key 'lines': line 4 is not in greetings, which has 3 lines"),
        ("rules.toml", "2-3", "3-2", r"key 'lines': '3-2' cites nothing"),
        ("rules.toml", "2-3", "2;3", r"key 'lines': '2;3' is ill-formed"),
        ("rules.toml", '"greetings"', '"farewells"', r"key 'document': 'farewells' is unknown"),
        ("rules.toml", "Nodes greet each other.", " ", r"key 'gist': empty"),
        ("rules.toml", "[XX-001]", "[X-1]", r"rules.toml: \[X-1\] ill-formed id"),
        ("rules.toml", RULES, RULES + RULES, r"rules.toml: not valid TOML: .*XX-001"),
        ("rules.toml", "\n[XX-001]", "stray = 1\n[XX-001]", r"rules.toml: 'stray' is not a table"),
        ("readings.toml", '["B", "A"]', "[]", r"readings.toml: \[R01\] key 'deployed': empty"),
        ("readings.toml", '["B", "A"]', '["C"]', r"\[R01\] key 'deployed': no option 'C'"),
        ("readings.toml", "R01", "Q1", r"\[Q1\] ill-formed id: a reading is called by a letter and two digits"),
        (
            "documents.toml",
            "2 = ",
            "4 = ",
            r"documents.toml: \[greetings\] key 'normative': line 4 is not in",
        ),
        ("documents.toml", "keyword", "riddle", r"key 'normative': Invalid enum value 'riddle'"),
        ("documents.toml", "abcdef", "xyz", r"key 'normative': 2 = 'keyword 0123456789xyz'; write"),
        ("documents.toml", '"2c90', '"', r"key 'sha256': not 64 hexadecimal digits"),
    ],
)
def test_bad_catalogues_are_refused(small: Path, file: str, old: str, new: str, message: str) -> None:
    text = (small / file).read_text()
    assert old in text
    (small / file).write_text(text.replace(old, new))
    with pytest.raises(CatalogueError, match=message) as caught:
        load_catalogue("greetings", small)
    assert str(caught.value).startswith(file)


def test_a_missing_file_is_named(small: Path) -> None:
    (small / "readings.toml").unlink()
    with pytest.raises(CatalogueError, match=r"readings\.toml: not found in"):
        load_catalogue("greetings", small)


def test_a_changed_text_is_reported_and_taken_over(small: Path) -> None:
    before = load_catalogue("greetings", small)
    document, changes = updated(before.documents["greetings"], TEXT, "new.txt")
    assert [change.partition(":")[0] for change in changes] == ["line 2 (keyword)", "line 3 (statement)"]
    (small / "documents.toml").write_text(render({"greetings": document}))
    after = load_catalogue("greetings", small)
    assert after.documents["greetings"] == document
    assert after.check_text("greetings", TEXT) == []
    assert after.check_text("greetings", TEXT.replace(b"wave", b"nod"))[1:] == ["line 3 (statement) changed"]
    assert after.check_text("greetings", b"New\n" + TEXT)[1:] == [
        "4 lines, the catalogue has 3",
        "line 2 (keyword) moved to line 3",
        "line 3 (statement) moved to line 4",
    ]
    assert after.check_text("greetings", TEXT[:-13])[2:] == ["line 3 (statement) gone"]
    assert after.check_text("greetings", TEXT + b"\n")[1:] == ["4 lines, the catalogue has 3"]


def test_the_closest_file_is_found(small: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    document, _ = updated(load_catalogue("greetings", small).documents["greetings"], TEXT, "x")
    folder = tmp_path_factory.mktemp("texts")
    (folder / "a.txt").write_bytes(b"Nothing of the kind.")
    assert closest(document, folder) is None
    (folder / "b.txt").write_bytes(TEXT.replace(b"Title", b"Other"))
    assert closest(document, folder) == (folder / "b.txt", TEXT.replace(b"Title", b"Other"))
    (folder / "c.txt").write_bytes(TEXT)
    assert closest(document, folder) == (folder / "c.txt", TEXT)


# The command.


@every_protocol
def test_the_table_is_complete_in_a_pipe(catalogue: Catalogue) -> None:
    result = CliRunner().invoke(rules_command, [catalogue.protocol])
    assert result.exit_code == 0, result.output
    for rule in catalogue.rules.values():
        assert re.search(rf"^{rule.id}  .*{re.escape(rule.gist)}$", result.output, re.MULTILINE)
        assert (f"on paper: {rule.id}: " in result.output) == ("paper" in rule.verified)
    assert re.search(r"(\d+) of \1 normative lines covered", result.output)


@every_protocol
def test_json_holds_the_rules(catalogue: Catalogue) -> None:
    result = CliRunner().invoke(rules_command, [catalogue.protocol, "--json"])
    answer = msgspec.json.decode(result.output)
    assert answer["uncovered"] == answer["unverified"] == []
    assert [rule["id"] for rule in answer["rules"]] == list(catalogue.rules)
    assert sum(answer["strength"].values()) == answer["count"]


def test_without_a_protocol_each_has_a_line() -> None:
    result = CliRunner().invoke(rules_command, [])
    assert result.exit_code == 0
    assert [line.partition(":")[0] for line in result.output.splitlines()] == protocols()


def test_an_unknown_protocol_is_wrong_usage() -> None:
    result = CliRunner().invoke(rules_command, ["morse"])
    assert result.exit_code == 2
    assert "unknown protocol 'morse': known are " in result.output
    assert "zenoh" in result.output


@every_protocol
def test_documents_that_are_missing_are_reported(catalogue: Catalogue, tmp_path: Path) -> None:
    result = CliRunner().invoke(rules_command, [catalogue.protocol, "--documents", str(tmp_path)])
    assert result.exit_code == 1
    for name in catalogue.documents:
        assert f"{name}: no file in {tmp_path} has its SHA-256" in result.output


@every_protocol
def test_documents_are_compared(catalogue: Catalogue, texts: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(rules_command, [catalogue.protocol, "--documents", str(texts)])
    assert result.exit_code == 0, result.output
    for name, document in catalogue.documents.items():
        found = closest(document, texts)
        assert found is not None
        text = found[1].split(b"\n")
        text[min(document.normative) - 1] += b" Or so."
        (tmp_path / name).write_bytes(b"\n".join(text))
    result = CliRunner().invoke(rules_command, [catalogue.protocol, "--documents", str(tmp_path)])
    assert result.exit_code == 1
    for name, document in catalogue.documents.items():
        first = min(document.normative)
        assert f"{name}: {name}: line {first} ({document.normative[first].kind}) changed" in result.output


@every_protocol
def test_taking_over_unknown_texts_changes_nothing(catalogue: Catalogue, tmp_path: Path) -> None:
    result = CliRunner().invoke(take_over, [str(tmp_path), catalogue.protocol])
    assert result.exit_code == 1
    assert "no file in" in result.output
    assert load_catalogue(catalogue.protocol).documents == catalogue.documents
