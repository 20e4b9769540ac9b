"""The catalogue of a protocol as values: its rules, its readings where a document leaves room, its documents' digests.

The documents themselves are not in the repository, as their texts belong to others. Of each line that states
something its number, its kind and a digest are kept: enough to see that a document has changed, and where.
"""

import hashlib
from typing import Literal

import msgspec

from conformance.verdicts import Strength

Way = Literal["codec", "wire", "monitor", "paper"]
"""How a rule is verified: by golden vectors, by cases, by monitors, or not at all, with a reason."""

Profile = Literal["document", "deployed"]
"""Which answers to open questions are accepted: those of the document to the letter, or what the field settled on."""

LineKind = Literal["keyword", "table", "diagram", "flag", "statement"]
"""How a line of a document states something: by MUST or SHOULD, as a cell, in a drawing, by a flag's name, in prose."""


class Rule(msgspec.Struct, frozen=True):
    """One obligation or layout fact of a document, in our words.

    ``lines`` cites the document's file (``"96,133-135"``), ``binds`` is the role that has to keep the rule,
    ``reason`` says why a rule that is verified on ``paper`` cannot be seen on a wire. ``needs`` are the rules without
    which this one cannot be judged: who does not do what they ask for at all is told that, and nothing of this one.
    A rule that is only implied has either ``follows``, from which statements it follows by necessity, or ``taste``,
    what the document leaves open and we ask for all the same: a breach of the first fails, one of the second warns.
    """

    id: str
    document: str
    section: str
    lines: str
    strength: Strength
    binds: str
    gist: str
    verified: tuple[Way, ...]
    readings: tuple[str, ...] = ()
    reason: str = ""
    needs: tuple[str, ...] = ()
    follows: str = ""
    taste: str = ""

    @property
    def weight(self) -> str:
        """How strongly the rule binds, in words: its strength, and of an implied one whether it follows or is taste."""
        strength: str = self.strength.value
        if self.strength is not Strength.IMPLIED:
            return strength
        return f"{strength}, {'follows' if self.follows else 'taste'}"

    @property
    def line_numbers(self) -> tuple[int, ...]:
        """Every line number that ``lines`` cites, in ascending order."""
        numbers: set[int] = set()
        for part in self.lines.split(","):
            first, _, last = part.partition("-")
            numbers.update(range(int(first), int(last or first) + 1))
        return tuple(sorted(numbers))


class Reading(msgspec.Struct, frozen=True):
    """A question that a document leaves open, its known answers, and those that each profile accepts.

    The first accepted option is the one that the profile itself prefers.
    """

    id: str
    question: str
    document: tuple[str, ...]
    deployed: tuple[str, ...]
    options: dict[str, str]

    def accepted(self, profile: Profile) -> tuple[str, ...]:
        """Return the options that a profile accepts, its own preference first."""
        return self.document if profile == "document" else self.deployed


class NormativeLine(msgspec.Struct, frozen=True):
    """What is kept of a line that states something: ``digest`` is that of the stripped line."""

    kind: LineKind
    digest: str


class Document(msgspec.Struct, frozen=True):
    """What is kept of a document: its digest, its number of lines, and its normative lines by number."""

    name: str
    title: str
    file: str
    sha256: str
    lines: int
    normative: dict[int, NormativeLine]


class Catalogue(msgspec.Struct, frozen=True):
    """All that is known about a protocol's documents, by id or name and in the order of the files."""

    protocol: str
    rules: dict[str, Rule]
    readings: dict[str, Reading]
    documents: dict[str, Document]

    def needed_for(self, rule: str) -> list[str]:
        """Return all rules without which a rule cannot be judged, the most basic first."""
        found: dict[str, None] = {}
        for each in self.rules[rule].needs:
            found |= dict.fromkeys([*self.needed_for(each), each])
        return list(found)

    def uncovered(self) -> list[tuple[str, int]]:
        """Return document and number of each normative line that no rule cites."""
        cited = {(rule.document, line) for rule in self.rules.values() for line in rule.line_numbers}
        normative = [(name, line) for name, document in self.documents.items() for line in document.normative]
        return [place for place in normative if place not in cited]

    def check_text(self, document_name: str, text: bytes) -> list[str]:
        """Return how a text differs from the document of that name: empty if not at all.

        A digest that differs comes first, then each normative line that changed, went or moved, by number.
        """
        document = self.documents[document_name]
        digest = hashlib.sha256(text).hexdigest()
        if digest == document.sha256:
            return []
        # Line by line, so that the maintainer knows which rules to read again rather than only that something changed.
        differences = [f"SHA-256 is {digest}, the catalogue has {document.sha256}"]
        digests = line_digests(text)
        if len(digests) != document.lines:
            differences.append(f"{len(digests)} lines, the catalogue has {document.lines}")
        for number, line in document.normative.items():
            found = digests[number - 1] if number <= len(digests) else None
            if found == line.digest:
                continue
            # Of a line that occurs several times (a row of dashes) nobody can say which one it has become.
            if digests.count(line.digest) == 1:
                change = f"moved to line {digests.index(line.digest) + 1}"
            else:
                change = "gone" if found is None else "changed"
            differences.append(f"line {number} ({line.kind}) {change}")
        return differences


def line_digests(text: bytes) -> list[str]:
    """Return 16 hexadecimal digits for each line of a text: the start of the stripped line's SHA-256.

    Stripped, as editors change indentation and line ends and mean nothing by it. 64 bits are plenty for the few
    thousand lines of a document, and keep ``documents.toml`` readable.
    """
    return [hashlib.sha256(line.strip()).hexdigest()[:16] for line in text.split(b"\n")]
