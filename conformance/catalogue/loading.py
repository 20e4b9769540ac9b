"""Reading a protocol's catalogue: ``rules.toml``, ``readings.toml`` and ``documents.toml`` in its folder.

All is checked here and once, with the file, the table and the key in every message: who adds a rule sees at the first
command what is wrong with it, and nothing that reads a catalogue needs to doubt it.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import msgspec

from conformance.catalogue.rules import Catalogue, Document, Reading, Rule
from conformance.verdicts import Strength

RULE_ID = re.compile(r"[A-Z]{2,4}-\d{3}")
READING_ID = re.compile(r"[A-Z]\d{2}")
LINES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")

T = TypeVar("T", bound=msgspec.Struct)


class CatalogueError(Exception):
    """A catalogue that contradicts itself: the message names file, table, key and remedy."""

    def __init__(self, file: str, table: str, what: str) -> None:
        super().__init__(f"{file}: [{table}] {what}" if table else f"{file}: {what}")


def protocols() -> list[str]:
    """Return the names of the protocols that have a catalogue."""
    # By the file that every protocol needs, so that there is no list to be kept.
    return sorted(
        folder.name
        for folder in files("conformance").iterdir()
        if folder.is_dir() and folder.joinpath("rules.toml").is_file()
    )


def load_catalogue(protocol: str, directory: Traversable | None = None) -> Catalogue:
    """Return a protocol's catalogue, read from its folder or from another ``directory`` with such files.

    Raises CatalogueError for anything that is unknown, missing, ill-formed or contradictory.
    """
    folder = directory if directory is not None else files("conformance").joinpath(protocol)
    # In this order: rules cite lines of documents and name readings, and must find both.
    documents = {name: _document(name, table) for name, table in _tables(folder, "documents.toml").items()}
    readings = {key: _reading(key, table) for key, table in _tables(folder, "readings.toml").items()}
    rules = {key: _rule(key, table, readings, documents) for key, table in _tables(folder, "rules.toml").items()}
    _check_needs(rules)
    return Catalogue(protocol, rules, readings, documents)


def _tables(folder: Traversable, file: str) -> dict[str, dict[str, Any]]:
    try:
        tables = tomllib.loads(folder.joinpath(file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(file, "", f"not found in {folder}; a catalogue has this file") from None
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(file, "", f"not valid TOML: {error}; each id stands for one table") from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise CatalogueError(file, "", f"{name!r} is not a table; put it below a [header]")
    return tables


def _convert(file: str, key: str, table: dict[str, Any], shape: type[T]) -> T:
    # Unknown and missing keys are found here, as msgspec would name the type and not what may be written instead.
    fields = _fields(shape)
    # The first field is the table's header, so it is not among the keys that may be written.
    name, allowed = fields[0].encode_name, [field.encode_name for field in fields[1:]]
    for unknown in table.keys() - set(allowed):
        raise CatalogueError(file, key, f"unknown key {unknown!r}: use one of {', '.join(allowed)}")
    for field in fields[1:]:
        if field.required and field.encode_name not in table:
            raise CatalogueError(file, key, f"key {field.encode_name!r} is missing: add it")
    try:
        return msgspec.convert({name: key, **table}, shape)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        where = path.strip("`").removeprefix("$.").partition("[")[0]
        raise CatalogueError(file, key, f"key {where!r}: {what}; correct the value") from None


@cache  # msgspec reads all annotations of the class for each call: for hundreds of rules, longer than all else
def _fields(shape: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(shape)


def _document(name: str, table: dict[str, Any]) -> Document:
    file = "documents.toml"
    lines = table.get("normative", {})
    if not isinstance(lines, dict):
        raise CatalogueError(file, name, "key 'normative': not a table of line numbers; make it one")
    normative = {}
    for number, entry in lines.items():
        kind, _, digest = str(entry).partition(" ")
        # isascii first: str.isdigit is true of digits of other scripts, which int() takes as well.
        if not number.isascii() or not number.isdigit() or not re.fullmatch(r"[0-9a-f]{16}", digest):
            raise CatalogueError(
                file, name, f"key 'normative': {number} = {entry!r}; write NUMBER = \"KIND 16-HEX-DIGITS\""
            )
        normative[int(number)] = {"kind": kind, "digest": digest}
    document = _convert(file, name, {**table, "normative": normative}, Document)
    # Digests are checked in form, as a cut one would look like a document that has changed.
    if not re.fullmatch(r"[0-9a-f]{64}", document.sha256):
        raise CatalogueError(file, name, "key 'sha256': not 64 hexadecimal digits; give the file's SHA-256")
    for number in document.normative:
        _check_line(file, name, "normative", number, document)
    return document


def _reading(key: str, table: dict[str, Any]) -> Reading:
    file = "readings.toml"
    if not READING_ID.fullmatch(key):
        raise CatalogueError(file, key, "ill-formed id: a reading is called by a letter and two digits")
    reading = _convert(file, key, table, Reading)
    for profile, accepted in (("document", reading.document), ("deployed", reading.deployed)):
        if not accepted:
            raise CatalogueError(file, key, f"key {profile!r}: empty; each profile accepts an option")
        for option in accepted:
            if option not in reading.options:
                raise CatalogueError(file, key, f"key {profile!r}: no option {option!r}; add it to [{key}.options]")
    return reading


def _rule(key: str, table: dict[str, Any], readings: dict[str, Reading], documents: dict[str, Document]) -> Rule:
    file = "rules.toml"
    if not RULE_ID.fullmatch(key):
        raise CatalogueError(file, key, "ill-formed id: a rule is called by its document's letters and three digits")
    rule = _convert(file, key, table, Rule)
    if rule.document not in documents:
        raise CatalogueError(file, key, f"key 'document': {rule.document!r} is unknown; name one of {list(documents)}")
    if not LINES.fullmatch(rule.lines):
        raise CatalogueError(file, key, f"key 'lines': {rule.lines!r} is ill-formed; write \"96,133-135\"")
    if not rule.line_numbers:
        raise CatalogueError(file, key, f"key 'lines': {rule.lines!r} cites nothing; put the lower number first")
    for number in rule.line_numbers:
        _check_line(file, key, "lines", number, documents[rule.document])
    for text in ("section", "binds", "gist"):
        if not getattr(rule, text).strip():
            raise CatalogueError(file, key, f"key {text!r}: empty; fill it in")
    for reading in rule.readings:
        if reading not in readings:
            raise CatalogueError(file, key, f"key 'readings': {reading!r} is unknown; add it to readings.toml")
    _check_ways(file, rule)
    _check_implied(file, rule)
    return rule


def _check_ways(file: str, rule: Rule) -> None:
    # A rule on paper is one that nothing can show. If something can after all, it is not on paper.
    if "paper" in rule.verified:
        if len(rule.verified) > 1:
            raise CatalogueError(file, rule.id, "key 'verified': paper stands alone; drop it or the others")
        if not rule.reason:
            raise CatalogueError(file, rule.id, "key 'reason' is missing: say why the rule cannot be seen")
    elif rule.reason:
        raise CatalogueError(file, rule.id, "key 'reason': only a rule on paper has one; remove it")


def _check_implied(file: str, rule: Rule) -> None:
    # What we infer accuses people: each inference is argued for, one way or the other.
    if rule.strength is not Strength.IMPLIED:
        for text in ("follows", "taste"):
            if getattr(rule, text):
                raise CatalogueError(file, rule.id, f"key {text!r}: only an implied rule has one; remove it")
    elif bool(rule.follows.strip()) == bool(rule.taste.strip()):
        raise CatalogueError(
            file,
            rule.id,
            "an implied rule has either 'follows' (from which statements, by necessity) or 'taste' (what is left open);"
            " give one of them",
        )


def _check_needs(rules: dict[str, Rule]) -> None:
    file = "rules.toml"
    for rule in rules.values():
        for need in rule.needs:
            if need not in rules:
                raise CatalogueError(file, rule.id, f"key 'needs': {need!r} is unknown; name another rule")
    # Level by level from the most basic ones on; what never gets a level stands on itself.
    standing: set[str] = set()
    while ready := [key for key, rule in rules.items() if key not in standing and standing.issuperset(rule.needs)]:
        standing.update(ready)
    for key in rules.keys() - standing:
        raise CatalogueError(file, key, "key 'needs': it needs itself in the end; leave one of them out")


def _check_line(file: str, table: str, key: str, number: int, document: Document) -> None:
    if not 1 <= number <= document.lines:
        raise CatalogueError(
            file,
            table,
            f"key {key!r}: line {number} is not in {document.name}, which has {document.lines} lines; cite another",
        )
