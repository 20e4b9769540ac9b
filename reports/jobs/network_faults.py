"""What network campaigns have found, told apart as faults; broken rules join what the gate says of them.

::

    findings ──► a rule is broken ──► failures, like those of the gate and of recordings
             └─► all else         ──► by implementation, kind, and where it happens or else what was said ──► clusters
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reports.jobs.similarity import clustered

Row = dict[str, Any]

OF_NODE = ("protocol", "name", "role")
OF_TRIAL = (*OF_NODE, "profile")
"""Whose failures are looked at together: under another profile other things are broken."""


def faults(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the findings in which no rule is broken as clusters, each in the order of the rows.

    In one cluster are findings of an implementation, in whatever version, that happen at the same place; where nothing
    says where, those that show in the same way when the same is said, or some of it.
    """
    others = [row for row in rows if not row["rule"]]
    return clustered(others, key, _family, lambda same: same[0], _alike)


def key(row: Row) -> tuple[str, ...]:
    """Return by what two findings are the same."""
    return (*_family(row), *((row["place"],) if row["place"] else ("", row["shape"], row["about"])))


def _family(row: Row) -> tuple[str, ...]:
    return (*(row[name] for name in OF_NODE), row["kind"])


def _alike(one: Row, other: Row) -> bool:
    if one["place"] or other["place"] or one["shape"] != other["shape"]:
        return False
    said, said_there = (set(row["about"].split(" + ")) - {""} for row in (one, other))
    # Of a test that could not be made as small as the other, some of what is said has nothing to do with it.
    return bool(said and said_there) and (said <= said_there or said_there <= said)


def as_failures(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the findings in which a rule is broken as failures of an implementation."""
    for row in rows:
        if row["rule"]:
            # Each is a conversation of its own, in which nothing else was seen.
            where = {"case": "", "session": row["digest"], "example": row["folder"], "entry": -1, "trace": ""}
            yield row | where | {"count": 1}


def is_of_network(row: Row) -> bool:
    """Tell whether a failure was found by a network campaign."""
    return bool(row.get("digest"))


def joined(clusters: Sequence[list[Row]]) -> list[list[Row]]:
    """Return clusters of failures, with what only campaigns say of a rule beside what others say of it.

    A case and a monitor have different words for one fault. Where others tell several faults by one rule, it is not
    known which of them a finding is, and it stays alone.
    """
    alone = [each for each in clusters if all(map(is_of_network, each))]
    others = [list(each) for each in clusters if not all(map(is_of_network, each))]
    by_rule: dict[tuple[str, ...], list[list[Row]]] = {}
    for each in others:
        for rule in dict.fromkeys(map(_rule, each)):
            by_rule.setdefault(rule, []).append(each)
    for each in alone:
        match by_rule.get(_rule(each[0]), []):
            case [only]:
                only += each
            case _:
                others.append(each)
    return others


def _rule(row: Row) -> tuple[str, ...]:
    return (*(row[name] for name in OF_TRIAL), row["rule"])
