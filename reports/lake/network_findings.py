"""Findings of network campaigns, as rows of a lake: who shows what, by which moves, and how it is tried again."""

import hashlib
import shlex
from pathlib import Path

import msgspec

from conformance.suite import Suite
from conformance.verdicts import Outcome
from fuzz.findings import NETWORK
from fuzz.net.finding import NetworkFinding, annotated
from fuzz.net.symptoms import Symptom


def network_row(source: str, finding: NetworkFinding, folder: Path, name: str = "") -> dict[str, object]:
    """Return a finding as a row of the table; ``name`` is that of its folder within what was taken in."""
    symptom = finding.symptom
    return {
        "source": source,
        "signature": finding.signature,
        "kind": symptom.kind,
        "engines": "",
        "rule": symptom.rule,
        "what": symptom.what,
        "seed": finding.origin.seed,
        "time": finding.origin.time,
        "goldwire": finding.goldwire,
        "protocol": finding.protocol,
        "layout": finding.layout,
        "digest": hashlib.sha256(msgspec.json.encode(finding)).hexdigest()[:16],
        "place": symptom.place,
        "trait": "",
        "apart": "",
        "python": finding.python,
        "origin": NETWORK,
        "folder": name,
        "repeat": shlex.join([*finding.replay_command.split(), str(folder.resolve())]),
        "iut": finding.iut,
        "name": finding.implementation or finding.iut,
        "version": finding.version,
        "role": finding.role,
        "profile": finding.profile,
        "transport": finding.transport,
        "outcome": _outcome(finding.protocol, symptom),
        "about": " + ".join(symptom.about),
        "tests": finding.origin.tests,
        "times": finding.times,
        "moves": "\n".join(line for move in finding.test for line in annotated(move, finding.layout)),
        "printed": symptom.output,
    }


def _outcome(protocol: str, symptom: Symptom) -> str | None:
    """Return how grave it is that a rule is broken; ``None`` where none is."""
    if not symptom.rule:
        return None
    try:
        return Suite(protocol).broken(symptom.rule).value
    except KeyError:
        # Of a catalogue that is not ours: the graver, so that nobody overlooks it.
        return Outcome.VIOLATION.value
