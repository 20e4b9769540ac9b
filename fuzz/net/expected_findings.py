"""Expected findings: what is known of an implementation, so that a campaign need not tell it again.

Rules that it breaks are expected as the gate expects them (``[[expect]]``, docs/iut.md). What only a fuzzer sees, the
breach of a rule by what no case says among it, has entries of its own in the same file::

    [[finding]]
    kind = "crash"                     # crash, hang, service, harm, growth, rule
    signature = "8c1f02ab"             # the last part of its folder's name; what happened, in words; a rule's id
    reason = "upstream issue 123"
    versions = "<1.11"                 # PEP 440; of all versions if it is left out

Unlike a gate, a campaign that does not come by what is expected has not shown that it is mended.
"""

import tomllib
from collections.abc import Collection
from datetime import date
from pathlib import Path

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from conformance.catalogue.rules import Profile
from conformance.contract.expectations import (
    OF_CAMPAIGNS,
    BadExpectations,
    Expectation,
    find_expectations,
    parse_expectations,
)
from conformance.suite import Suite
from fuzz.net.symptoms import KINDS, Symptom, normal
from harness.complaints import place_and_complaint
from harness.iuts.description import Description


class ExpectedFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry: which symptom is known, and why."""

    kind: str
    signature: str
    reason: str
    versions: str = ""

    def accepts(self, symptom: Symptom, version: str) -> bool:
        """Tell whether this is what was seen."""
        if self.kind != symptom.kind or not self._applies(version):
            return False
        # A place as it is: another line of a file is another crash.
        known = self.signature in {symptom.digest, symptom.place, symptom.rule} - {""}
        return known or normal(self.signature) == normal(symptom.what)

    def _applies(self, version: str) -> bool:
        if not (self.versions and version):
            return True
        try:
            return SpecifierSet(self.versions).contains(Version(version), prereleases=True)
        except InvalidVersion:
            return False


class ExpectedFindings(msgspec.Struct, frozen=True):
    """All that is expected of an implementation."""

    rules: tuple[Expectation, ...] = ()
    findings: tuple[ExpectedFinding, ...] = ()

    def accept(self, symptom: Symptom, suite: Suite, version: str, role: str, profile: Profile) -> bool:
        """Tell whether a symptom is known of a version in a role, by a profile."""
        if symptom.rule:
            broken, today = suite.broken(symptom.rule), date.today()
            for each in self.rules:
                is_about = each.names(symptom.rule) and each.applies(version, role, profile)
                if is_about and each.accepts(broken, symptom.what) and (each.until is None or each.until >= today):
                    return True
        return any(each.accepts(symptom, version) for each in self.findings)

    def but_for_rule(self, rule: str) -> "ExpectedFindings":
        """Return all of them that are about something else than a rule."""
        return self.but_for(Symptom("rule", "", rule)) if rule else self

    def but_for(self, symptom: Symptom) -> "ExpectedFindings":
        """Return all of them that are about something else than a symptom."""
        return ExpectedFindings(
            tuple(each for each in self.rules if not symptom.rule or not each.names(symptom.rule)),
            tuple(each for each in self.findings if not each.accepts(symptom, "")),
        )


def load_expected(path: Path, roles: Collection[str]) -> ExpectedFindings:
    """Read a file of expectations, of rules and of findings; ``BadExpectations`` names what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise BadExpectations(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadExpectations(f"{path}: not TOML: {error}") from None
    entries = table.get(OF_CAMPAIGNS, [])
    if not isinstance(entries, list):
        raise BadExpectations(f"{path}: 'finding' is not an array of tables; write [[finding]]")
    rules = parse_expectations(text, path).entries
    for number, entry in enumerate(rules, 1):
        for role in set(entry.roles) - set(roles):
            raise BadExpectations(f"{path}, entry {number}: key 'roles': {role!r} is not one of {', '.join(roles)}")
    return ExpectedFindings(rules, tuple(_entry(path, number, raw) for number, raw in enumerate(entries, 1)))


def expected_of(description: Description, given: Path | None = None) -> ExpectedFindings:
    """Return what is expected of an implementation: by a file that is given, or else by that of the gate, if any."""
    path = find_expectations(description.name, description.protocol, description.expectations, given)
    return ExpectedFindings() if path is None else load_expected(path, description.roles)


def _entry(path: Path, number: int, raw: object) -> ExpectedFinding:
    where = f"{path}, finding {number}"
    try:
        entry = msgspec.convert(raw, ExpectedFinding)
        SpecifierSet(entry.versions)
    except msgspec.ValidationError as error:
        key, what = place_and_complaint(error, ExpectedFinding)
        raise BadExpectations(f"{where}: " + (f"key {key!r}: {what}" if key else what)) from None
    except InvalidSpecifier:
        raise BadExpectations(f"{where}: key 'versions': {raw!r} holds no version specifier; write '>=1.9'") from None
    if entry.kind not in KINDS:
        raise BadExpectations(f"{where}: key 'kind': {entry.kind!r} is not one of {', '.join(KINDS)}")
    return entry
