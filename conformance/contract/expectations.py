"""Expectations: a contract about what is known to be wrong with an implementation.

Each ``[[expect]]`` in ``expectations/<iut>.toml`` names rules (or cases) and what they come to;
whatever else happens fails the gate. ``conformance.contract.comparison`` compares a run with it.
"""

import re
import tomllib
from collections.abc import Collection
from datetime import date
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from conformance.contract.signatures import signature
from conformance.verdicts import Outcome
from harness.complaints import place_and_complaint

# Not pass or odd, which need no contract, and not error, which is our own defect and nobody's to expect.
EXPECTABLE = (Outcome.INCONCLUSIVE, Outcome.DEVIATION, Outcome.VIOLATION, Outcome.CRASH)
PROFILES = ("document", "deployed")
OF_CAMPAIGNS = "finding"
"""Entries about what no gate sees, ``[[finding]]``: campaigns of fuzzing read them."""

_GLOB = re.compile(r"[*?[]")


class BadExpectations(Exception):
    """An expectation file that cannot be used; the message names file, entry and key."""


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry: exactly one of ``rule`` and ``case`` is a name or a glob.

    The entry applies to ``versions`` (PEP 440), ``roles`` and ``profile`` where they are given. ``signature``
    is compared in its normalised form. After the day ``until`` the entry fails the gate. What shows in ``histories``
    alone need not show in every run.
    """

    outcome: Outcome
    reason: str
    rule: str = ""
    case: str = ""
    signature: str = ""
    versions: str = ""
    roles: tuple[str, ...] = ()
    profile: str = ""
    link: str = ""
    until: date | None = None
    histories: bool = False

    @property
    def pattern(self) -> str:
        """The name or glob, of a rule or of a case."""
        return self.rule or self.case

    @property
    def is_glob(self) -> bool:
        """Whether the pattern may stand for several names."""
        return _GLOB.search(self.pattern) is not None

    @property
    def title(self) -> str:
        """How to call the entry in a message."""
        return f"{'rule' if self.rule else 'case'} = {self.pattern!r}"

    def names(self, name: str) -> bool:
        """Tell whether a rule's or case's name is meant."""
        return fnmatchcase(name, self.pattern) if self.is_glob else name == self.pattern

    def accepts(self, outcome: Outcome, what: str) -> bool:
        """Tell whether this is what was expected."""
        same = not self.signature or signature(self.signature) == signature(what)
        return outcome is self.outcome and same

    def applies(self, version: str, role: str, profile: str) -> bool:
        """Tell whether the entry is about this implementation; one of unknown version is of every version."""
        if self.versions and version:
            try:
                if not SpecifierSet(self.versions).contains(Version(version), prereleases=True):
                    return False
            except InvalidVersion:
                # "nightly" is within no range: better a failure that is looked at than one that is waved through.
                return False
        return (not self.roles or role in self.roles) and self.profile in ("", profile)


class Expectations(msgspec.Struct, frozen=True):
    """The entries of a file in its order; ``path`` is None when there is no file."""

    path: Path | None = None
    entries: tuple[Expectation, ...] = ()

    def applying(self, version: str, role: str, profile: str) -> tuple[Expectation, ...]:
        """Return the entries that are about this implementation."""
        return tuple(entry for entry in self.entries if entry.applies(version, role, profile))


def find_expectations(name: str, protocol: str, own: Path | None = None, given: Path | None = None) -> Path | None:
    """Return the expectation file of an implementation, None if there is none.

    ``given`` by the user goes first, then what the implementation's description names (``own``), then
    ``expectations/NAME.toml`` here, then the one that comes with goldwire.
    """
    if given is not None:
        return given
    candidates = [local_path(name)] if own is None else [own, local_path(name)]
    shipped = files("conformance").joinpath(protocol, "expectations", f"{file_name(name)}.toml")
    candidates.append(Path(str(shipped)))
    return next((path for path in candidates if path.is_file()), None)


def local_path(name: str) -> Path:
    """Return where the user's own expectation file of an implementation stands."""
    return Path("expectations") / f"{file_name(name)}.toml"


def file_name(name: str) -> str:
    """Return an implementation's name as the name of a file: the slash and colon of an address become ``_``."""
    return re.sub(r"[^\w.+-]", "_", name)


def load_expectations(path: Path, roles: Collection[str] = ()) -> Expectations:
    """Return the expectations in a file; BadExpectations names the entry and key that is wrong.

    ``roles`` are those that the protocol has, if that is known: an entry for another would never apply.
    """
    try:
        found = parse_expectations(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise BadExpectations(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadExpectations(f"{path}: not UTF-8; save it as UTF-8") from None
    for number, entry in enumerate(found.entries, 1):
        for role in set(entry.roles) - set(roles or entry.roles):
            where = f"{path}, entry {number} ({entry.pattern})"
            raise BadExpectations(f"{where}: key 'roles': {role!r} is not one of {', '.join(roles)}")
    return found


def parse_expectations(text: str, path: Path) -> Expectations:
    """Return the expectations in the text of a file; BadExpectations as in ``load``."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadExpectations(f"{path}: not TOML: {error}") from None
    for key in table.keys() - {"expect", OF_CAMPAIGNS}:
        raise BadExpectations(f"{path}: unknown key {key!r}: a file consists of [[expect]] entries")
    entries = table.get("expect", [])
    if not isinstance(entries, list):
        raise BadExpectations(f"{path}: 'expect' is not an array of tables; write [[expect]]")
    return Expectations(path, tuple(_entry(path, number, raw) for number, raw in enumerate(entries, 1)))


def _entry(path: Path, number: int, raw: Any) -> Expectation:
    name = str(raw.get("rule") or raw.get("case") or "") if isinstance(raw, dict) else ""
    where = f"{path}, entry {number}" + (f" ({name})" if name else "")
    known = [field.encode_name for field in msgspec.structs.fields(Expectation)]
    if isinstance(raw, dict):
        for key in sorted(raw.keys() - set(known)):
            raise BadExpectations(f"{where}: unknown key {key!r}: known are {', '.join(known)}")
        for key in ("outcome", "reason"):
            if not raw.get(key):
                raise BadExpectations(f"{where}: key {key!r} is missing or empty")
        if raw["outcome"] not in [outcome.value for outcome in EXPECTABLE]:
            allowed = ", ".join(outcome.value for outcome in EXPECTABLE)
            raise BadExpectations(f"{where}: key 'outcome': {raw['outcome']!r} is not one of {allowed}")
    try:
        entry = msgspec.convert(raw, Expectation)
    except msgspec.ValidationError as error:
        key, what = place_and_complaint(error, Expectation)
        raise BadExpectations(f"{where}: " + (f"key {key!r}: {what}" if key else what)) from None
    if bool(entry.rule) == bool(entry.case):
        raise BadExpectations(f"{where}: name either 'rule' or 'case'")
    if entry.profile and entry.profile not in PROFILES:
        raise BadExpectations(f"{where}: key 'profile': {entry.profile!r} is not one of {', '.join(PROFILES)}")
    try:
        SpecifierSet(entry.versions)
    except InvalidSpecifier:
        raise BadExpectations(
            f"{where}: key 'versions': {entry.versions!r} is no version specifier; write '>=1.9,<2'"
        ) from None
    return entry
