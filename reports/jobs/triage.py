"""The job ``triage``: findings and failures, each once, in clusters, the gravest first.

::

    findings ──► by signature                          ──┐ same layout, engines, kind, place, trait; or inputs
                                                         ├──► that reach nearly the same ──► clusters, ranked
    verdicts ──► by implementation, rule, what came    ──┤ same entries of the traces; or nearly the same words
                                                         │
    findings of networks: the broken rules as verdicts ──┤
                          by implementation and kind   ──┘ where it happens; or how it shows, and what was said

One cluster is, as far as can be told from outside, one fault.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from conformance.verdicts import Outcome
from fuzz.findings import FATAL
from fuzz.net.symptoms import KINDS
from reports.jobs import deduplication as dedupe
from reports.jobs import network_faults
from reports.jobs.reproduction import Sources
from reports.jobs.similarity import NEAR, NEAR_TEXTS, branches, clustered, jaccard, paths, words
from reports.jobs.sweep_programs import TROUBLE
from reports.jobs.versions import ordered
from reports.lake.lake import Lake
from vectors.checks.foreign import WrongAnswer

GRAVITIES = (
    *("crash", "hang", "harm", "service", "growth"),
    *("accepts", "violation", "value", "deviation", "reason", "other"),
)
"""What clusters are ranked by first: what ends a process; what an implementation does to others, or not any more
(``fuzz.net.symptoms.KINDS``); what is taken though the reference refuses it; a rule that is broken; what is read or
written differently; a recommendation that is not kept; why something is refused."""

OF_KIND = {
    **dict.fromkeys((*FATAL, "breaks"), "crash"),
    "accept": "accepts",
    **dict.fromkeys(("value", "equality", "encode", "mute", "bytes", "round-trip"), "value"),
    **dict.fromkeys(("reason", "offset"), "reason"),
    # Of programs behind the pipe.
    **dict.fromkeys((WrongAnswer.PARTIAL_LINE.value, TROUBLE), "crash"),
    WrongAnswer.ACCEPTED.value: "accepts",
    **dict.fromkeys(
        (WrongAnswer.VALUE.value, WrongAnswer.REFUSED.value, WrongAnswer.BYTES.value, WrongAnswer.INEXPRESSIBLE.value),
        "value",
    ),
    **dict.fromkeys((WrongAnswer.MISPLACED.value, WrongAnswer.GARBAGE.value), "value"),
    **dict.fromkeys((WrongAnswer.REASON.value, WrongAnswer.OFFSET.value), "reason"),
}
OF_OUTCOME = {Outcome.CRASH.value: "crash", Outcome.VIOLATION.value: "violation", Outcome.DEVIATION.value: "deviation"}

REFUSES = "reference refuses"


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of codecs, or findings and failures of an implementation, that are probably one fault.

    ``gravity`` is one of ``GRAVITIES``; ``where`` the layout and the field, or the rule, or where an implementation
    dies, or what it was told last; ``who`` the engines that stand
    alone, or the implementation with its role. ``count`` is how many findings or judgements there are, ``different``
    how many of them differ (``signatures``, or texts). ``versions`` are those of goldwire, or of the implementation, in
    which it was seen, the oldest first; ``first`` and ``last`` are times (ISO 8601 in UTC), empty where unknown.
    ``size`` is that of the smallest input in bytes; ``what``, ``example`` and ``repeat`` (a command, empty if there is
    none) are those of the example.
    """

    rank: int = 0
    gravity: str
    protocol: str
    where: str
    who: str
    what: str
    count: int
    different: int
    kinds: tuple[str, ...]
    signatures: tuple[str, ...]
    versions: tuple[str, ...]
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    profile: str = ""
    first: str
    last: str
    size: int | None = None
    example: str
    repeat: str


def triage(lake: Lake, spark: Any) -> list[Cluster]:
    """Return the clusters of a lake's findings and failures, ranked; empty when there are none."""
    sources = Sources(lake)
    found = [*_of_findings(lake, dedupe.findings(lake, spark), sources)]
    on_network = dedupe.network_findings(lake, spark)
    failures = [*dedupe.failures(lake, spark), *network_faults.as_failures(on_network)]
    found += _of_failures(failures, sources)
    found += map(_network_cluster, network_faults.faults(on_network))
    return ranked(found)


def ranked(clusters: Iterable[Cluster]) -> list[Cluster]:
    """Return clusters with their ranks: the gravest first, then what is frequent, new, small."""
    found = sorted(clusters, key=lambda each: (each.protocol, each.where, each.who, each.signatures))
    # Sorted by the least important key first: sorts are stable, so each later one keeps the order among its equals.
    found.sort(key=lambda each: each.size or 0)
    found.sort(key=lambda each: each.first, reverse=True)
    found.sort(key=lambda each: (GRAVITIES.index(each.gravity), -each.count))
    return [msgspec.structs.replace(each, rank=rank) for rank, each in enumerate(found, 1)]


class _Finding(msgspec.Struct, frozen=True):
    """The findings with one signature; ``row`` is that of the smallest."""

    row: dict[str, Any]
    count: int
    versions: frozenset[str]
    first: str
    last: str

    @property
    def key(self) -> tuple[str, str]:
        return self.row["source"], self.row["digest"]


def _of_findings(lake: Lake, rows: Sequence[dict[str, Any]], sources: Sources) -> Iterable[Cluster]:
    by_signature: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_signature.setdefault((row["layout"], row["signature"]), []).append(row)
    found = [_one(same) for same in by_signature.values()]
    # A fixed order whatever order the rows came in: clusters, and their example, are the same on Spark.
    found.sort(key=lambda each: (*_order(each.row), each.row["layout"], each.row["signature"]))
    # Read once for all findings: inputs are in files of Parquet, from which a single one costs as much as all.
    data = dict(dedupe.inputs(lake, (each.key for each in found)))

    def features(same: Sequence[_Finding]) -> frozenset[str]:
        """Return what the smallest input of findings reaches."""
        row = same[0].row
        # A finding of a value has no bytes; its paths are what is comparable about it.
        if same[0].key in data:
            return branches(row["layout"], data[same[0].key], row["place"])
        return paths(row["value"]) if row["value"] else frozenset()

    for cluster in clustered(found, _key, _family, features, lambda one, other: jaccard(one, other) >= NEAR):
        yield _finding_cluster(cluster, sources)


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in dedupe.SMALLEST)


def _one(rows: list[dict[str, Any]]) -> _Finding:
    return _Finding(
        min(rows, key=_order),
        sum(row["count"] for row in rows),
        frozenset(row["goldwire"] for row in rows),
        min((row["first"] for row in rows if row["first"]), default=""),
        max(row["last"] for row in rows),
    )


def _family(each: _Finding) -> tuple[str, ...]:
    """Return what near inputs have to share: two engines that are wrong are two faults, to take and to refuse too."""
    return each.row["layout"], each.row["apart"] or each.row["engines"], _gravity(each.row)


def _key(each: _Finding) -> tuple[str, ...]:
    return (*_family(each), each.row["kind"], each.row["place"], each.row["trait"])


def _finding_cluster(cluster: list[_Finding], sources: Sources) -> Cluster:
    row = cluster[0].row
    return Cluster(
        gravity=_gravity(row),
        protocol=row["protocol"],
        where=f"{row['layout']} {row['place']}".strip(),
        who=row["apart"] or row["engines"],
        what=f"{row['kind']}: {row['what']}",
        count=sum(each.count for each in cluster),
        different=len(cluster),
        kinds=tuple(sorted({each.row["kind"] for each in cluster})),
        signatures=tuple(sorted(each.row["signature"] for each in cluster)),
        versions=tuple(ordered(version for each in cluster for version in each.versions if version)),
        first=min((each.first for each in cluster if each.first), default=""),
        last=max(each.last for each in cluster),
        size=row["size"],
        example=row["folder"] or row["digest"],
        repeat=row["repeat"] or sources.replay(row["source"], row["folder"]),
    )


def _gravity(row: dict[str, Any]) -> str:
    # Taken by the reference and refused by an engine: strict is wrong too, but opens nothing to an attacker.
    if row["kind"] == "accept" and REFUSES not in row["trait"]:
        return "value"
    return OF_KIND.get(row["kind"], "other")


def _of_failures(rows: Sequence[dict[str, Any]], sources: Sources) -> Iterable[Cluster]:
    found = sorted(rows, key=lambda row: tuple(row[name] for name in (*dedupe.OF_FAILURE, *dedupe.FIRST)))
    clusters = clustered(found, _key_of_failure, _family_of_failure, _FailureFeatures, _FailureFeatures.like)
    for cluster in network_faults.joined(clusters):
        yield _failure_cluster(cluster, sources)


def _family_of_failure(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in network_faults.OF_TRIAL)


def _key_of_failure(row: dict[str, Any]) -> tuple[str, ...]:
    return (*_family_of_failure(row), row["rule"], row["shape"])


class _FailureFeatures:
    """What failures with the same rule and words look like: the words, and where they were seen.

    Of each case of a run, and of each recording, the first place is known. ``are_all`` tells whether these are all
    sessions: a case is a session of its own, a recording may have had several.
    """

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rule = rows[0]["rule"]
        self.words = words(rows[0]["shape"])
        self.sessions = {(row["source"], row["case"], row["session"]) for row in rows}
        self.are_all = all(row["case"] or row["count"] == 1 for row in rows)
        self.entries = {(row["source"], row["case"], row["session"], row["entry"]) for row in rows if row["entry"] >= 0}

    def like(self, other: "_FailureFeatures") -> bool:
        """Tell whether failures of one implementation are probably one fault.

        They are if the same entries of the same traces show both, whatever rules that breaks; and of one rule, if
        nearly the same words are said, or one never comes without the other, as far as all sessions are known.
        """
        # One message that breaks three rules is one fault.
        if jaccard(self.entries, other.entries) >= NEAR:
            return True
        if self.rule != other.rule:
            return False
        if jaccard(self.words, other.words) >= NEAR_TEXTS:
            return True
        # Of a recording with several sessions only the first is known: that two rules came together there may be
        # chance.
        if not (self.are_all and other.are_all):
            return False
        return self.sessions <= other.sessions or other.sessions <= self.sessions


def _failure_cluster(cluster: list[dict[str, Any]], sources: Sources) -> Cluster:
    versions = ordered(row["version"] for row in cluster)
    times = sorted(time for row in cluster if (time := row.get("time") or sources.time(row["source"])))
    # One fault may show as a crash here and as a violation there: the cluster is as grave as its worst.
    worst = max((Outcome(row["outcome"]) for row in cluster), key=lambda outcome: outcome.rank)
    # A case can be played again at once; and against the newest version that has the fault.
    row = min(
        cluster,
        # The gravest judgement, of a case if there is one, else of a finding, against the newest version.
        key=lambda row: (
            row["outcome"] != worst.value,
            not row["case"],
            not network_faults.is_of_network(row),
            -versions.index(row["version"]),
            _place(row),
        ),
    )
    # The different texts, of which a cluster of one fault may have several.
    forms = {_key_of_failure(row) for row in cluster}
    return Cluster(
        gravity=OF_OUTCOME[worst.value],
        protocol=row["protocol"],
        where=row["rule"] or "-",
        rules=tuple(sorted({row["rule"] for row in cluster} - {""})),
        who=" ".join(part for part in (row["name"], row["role"]) if part) or "unnamed",
        what=row["what"],
        count=sum(row["count"] for row in cluster),
        different=len(forms),
        kinds=tuple(sorted({row["outcome"] for row in cluster})),
        signatures=tuple(sorted(_digest(*each) for each in forms)),
        versions=tuple(version for version in versions if version),
        cases=tuple(sorted({row["case"] for row in cluster} - {""})),
        profile=row["profile"],
        first=times[0] if times else "",
        last=times[-1] if times else "",
        example=sources.example(row),
        repeat=sources.repeat(row),
    )


def _network_cluster(cluster: list[dict[str, Any]]) -> Cluster:
    versions = ordered(row["version"] for row in cluster)
    times = sorted(row["time"] for row in cluster if row["time"])
    # The newest version that has the fault, as with failures.
    row = min(cluster, key=lambda row: (-versions.index(row["version"]), row["signature"], row["digest"]))
    return Cluster(
        gravity=row["kind"] if row["kind"] in KINDS else "other",
        protocol=row["protocol"],
        where=row["place"] or row["about"] or "-",
        who=" ".join(part for part in (row["name"], row["role"]) if part) or "unnamed",
        what=row["what"],
        count=len(cluster),
        different=len({network_faults.key(each) for each in cluster}),
        kinds=(row["kind"],),
        signatures=tuple(sorted({each["signature"] for each in cluster})),
        versions=tuple(version for version in versions if version),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        example=row["folder"] or row["digest"],
        repeat=row["repeat"],
    )


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*dedupe.FIRST, "source"))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
