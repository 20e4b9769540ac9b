"""Findings of campaigns and golden vectors, as rows of a lake.

Findings are folders that ``goldwire fuzz codec`` or ``goldwire fuzz net`` has written: one, or a folder of them, of
both kinds where they stand together. Whatever cannot be read of a set is a loss with a name, and costs only itself.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from fuzz.findings import FINDING, NETWORK, BadFinding, KeptFinding, kind, read
from fuzz.net.campaign import BESIDE_FINDINGS
from fuzz.net.finding import NetworkFinding, read_finding
from harness.captures.losses import Losses, Missing
from reports.lake.lake import Staging
from reports.lake.network_findings import network_row
from reports.lake.schemas import FINDINGS, VECTORS
from vectors.golden import loader

HEAD = 4096
MARK = b'"goldwire-vectors-'
"""What stands near the beginning of a file of vectors, whatever its version."""

REFERENCE = "reference"

BASELINE = "(reads the frame) as "
"""In the traits of round trips: what the others are compared with, and not an opinion."""


class BadVectors(Exception):
    """A file of vectors that cannot be taken in; the message names it and says why."""


def holds_findings(folder: Path) -> bool:
    """Tell whether a folder is that of a finding, or one of such folders."""
    return (folder / FINDING).is_file() or any(folder.glob(f"*/{FINDING}"))


def holds_vectors(path: Path) -> bool:
    """Tell whether a file is one of golden vectors."""
    with path.open("rb") as file:
        # By what it says of itself, as vectors are JSON like traces and anything else.
        return MARK in file.read(HEAD)


def digest_of(path: Path) -> str:
    """Return the digest of what a folder of findings holds, wherever it stands and in whatever order it was filled."""
    digest = hashlib.sha256()
    for folder in _folders(path):
        for file in sorted(each for each in folder.iterdir() if each.suffix in (".json", ".bin")):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            # Names of folders and files are part of it, their place is not: a copy on another machine is the same set.
            digest.update(f"{folder.name if folder != path else ''}/{file.name} {content}\n".encode())
    return digest.hexdigest()


def ingest_findings(staging: Staging, path: Path, protocol: str, losses: Losses) -> None:
    """Take in the findings of a protocol that a folder holds.

    Findings of other protocols and those that cannot be read are losses. Raises BadFinding if there is nothing else.
    """
    rows, troubles = [], []
    for folder in _folders(path):
        try:
            found = read_finding(folder) if kind(folder) == NETWORK else read(folder)
        except BadFinding as error:
            troubles.append(error)
            losses.add(Missing.UNREADABLE, what=str(error).replace(str(folder), folder.name))
            continue
        # A campaign over all layouts leaves one folder: whoever takes in one protocol gets its findings.
        layout = found.layout if isinstance(found, NetworkFinding) else found.finding.layout
        if layout.partition("/")[0] != protocol:
            losses.add(Missing.FOREIGN, what=layout)
            continue
        name = folder.name if folder != path else ""
        if isinstance(found, NetworkFinding):
            rows.append(network_row(staging.batch.id, found, folder, name))
        else:
            rows.append(row(staging.batch.id, found, name))
    if not rows:
        # The first trouble names a file; that nothing was found there would only be its consequence.
        raise troubles[0] if troubles else BadFinding(f"{path} holds no finding of {protocol}")
    staging.write(FINDINGS, FINDINGS.rows(rows))


def ingest_vectors(staging: Staging, path: Path, protocol: str) -> None:
    """Take in a file of golden vectors; BadVectors if it is of another protocol, or not of this version's shape."""
    try:
        file = loader.read(path)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadVectors(f"{path} is no file of vectors that can be read: {error}") from None
    if file.layout.partition("/")[0] != protocol:
        raise BadVectors(f"{path} has vectors of {file.layout}, not of {protocol}")
    staging.write(
        VECTORS,
        VECTORS.rows(
            {
                "source": staging.batch.id,
                "id": entry.id,
                "group": group.name,
                "bytes": entry.data,
                "result": entry.result,
                "reason": entry.reason,
                "rules": " ".join(entry.rules),
                "comment": entry.comment,
                "flags": " ".join(entry.flags),
                "protocol": protocol,
                "layout": file.layout,
            }
            for group in file.groups
            for entry in group.vectors
        ),
    )


def row(source: str, kept: KeptFinding, folder: str = "") -> dict[str, object]:
    """Return a finding as a row of the table; ``folder`` is the name of its own within what was taken in."""
    finding, difference = kept.finding, kept.finding.difference
    digest = hashlib.sha256(msgspec.json.encode(finding))
    # With lengths, so that two inputs cannot be confused with one that is both.
    for data in (kept.data, kept.minimised):
        digest.update(b"\0" if data is None else b"\1%d:" % len(data) + data)
    return {
        "source": source,
        "signature": finding.signature,
        "kind": difference.kind,
        "engines": ", ".join(finding.engines),
        "rule": "",
        "what": "; ".join(f"{who} {lines[0] if lines else ''}".strip() for who, lines in difference.says),
        "seed": finding.origin.seed,
        "time": finding.origin.time,
        "input": kept.data,
        "minimised": kept.minimised,
        "goldwire": finding.goldwire,
        "protocol": finding.layout.partition("/")[0],
        "layout": finding.layout,
        "digest": digest.hexdigest()[:16],
        "place": difference.place,
        "trait": "; ".join(difference.trait),
        "apart": ", ".join(apart(finding.engines, difference.trait)),
        "refuse": difference.refuse,
        "python": finding.python,
        "origin": finding.origin.engine,
        "number": finding.origin.number,
        "value": finding.value,
        "folder": folder,
    }


def apart(engines: Sequence[str], trait: Sequence[str]) -> tuple[str, ...]:
    """Return the engines that stand alone against the rest, by what makes two differences the same (``trait``).

    The rest are the largest group that says the same; of equals the one that the reference is in, or else the first
    engine. Nobody when the trait names no engine.
    """
    by_engine = dict(_opinions(engines, trait))
    if not by_engine:
        return ()
    opinions = {name: by_engine.get(name, "") for name in engines}
    sizes = Counter(opinions.values())
    trusted = REFERENCE if REFERENCE in opinions else engines[0]
    # The majority is trusted, and in a tie the reference: it is interpreted from the grammar, so it is wrong most
    # rarely.
    rest = max(sizes, key=lambda opinion: (sizes[opinion], opinion == opinions[trusted]))
    return tuple(name for name, opinion in opinions.items() if opinion != rest)


def _opinions(engines: Sequence[str], trait: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give what each engine says, as far as the trait has it: all that it says, if that is more than one thing."""
    collected: dict[str, list[str]] = {}
    for each in trait:
        if BASELINE in each:
            continue
        # The longest that fits, as one engine's name may begin another's.
        name = max((one for one in engines if each == one or each.startswith(f"{one} ")), key=len, default=None)
        if name is not None:
            collected.setdefault(name, []).append(_opinion(each[len(name) + 1 :] or "differs", name))
    for name, opinions in collected.items():
        yield name, "; ".join(sorted(set(opinions)))


def _opinion(text: str, name: str) -> str:
    """Return what is said without whose value it is said of (``python (value of reference) writes``)."""
    return text.partition(") ")[2] if text.startswith("(") else text


def _folders(path: Path) -> list[Path]:
    """Return the folders of findings: the one that ``path`` is, or all in it."""
    if (path / FINDING).is_file():
        return [path]
    # What a campaign keeps beside its findings is none, and changes while it goes on.
    others = [each for each in path.iterdir() if not each.name.startswith(".") and each.name not in BESIDE_FINDINGS]
    return sorted(each for each in others if each.is_dir())
