"""The job ``judge``: what the monitors say of every recorded session, as rows of the table ``verdicts``."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from conformance.engine import Suite
from conformance.rules import Profile
from reports.judging import judge
from reports.lake.rows import recorded_in, source_of
from reports.lake.schemas import VERDICTS

MOST = 10_000
"""Verdicts that are collected before they are passed on."""

OWN = ("rule", "by", "what", "reading", "evidence", "entry")
"""What a judgement says of itself, beside its outcome."""


class Origin(msgspec.Struct, frozen=True):
    """What is known of the source that a session came with (the table ``runs``)."""

    kind: str = ""
    name: str = ""
    version: str = ""
    role: str = ""

    def seen_from(self, side: str, suite: Suite) -> "Origin":
        """Return what is known of one side: of the other one than was described, only which it is.

        Who was described listened, unless their role dials; in the trace of a run the listening side stands for them.
        """
        dials = self.kind != "run" and self.role in suite.harness.DIALS
        own = "dialling" if dials else "listening"
        return self if side == own else Origin(self.kind, role=side)


@cache
def suite_of(protocol: str) -> Suite:
    """Return a protocol's rules and monitors, loaded once in a process."""
    return Suite(protocol)


def judged(
    batches: Iterable[pa.RecordBatch],
    protocol: str,
    profile: Profile,
    origins: Mapping[str, Origin],
    side: str = "listening",
) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on sessions of which these are the rows of frames, in the order of session and place.

    Judged is one ``side`` of each session.
    """
    suite = suite_of(protocol)
    columns: dict[str, list[Any]] = {name: [] for name in VERDICTS.schema.names}
    for session, heard in recorded_in(batches, protocol):
        recorded = heard.seen_from(side)
        said = judge(recorded, suite, profile)
        source = source_of(session)
        origin = origins.get(source, Origin()).seen_from(side, suite)
        same = {
            "source": source,
            "kind": origin.kind,
            "origin": "judged",
            "session": session,
            "case": recorded.name,
            "trace": "",
            "attempts": 1,
            "flaky": "",
            "name": origin.name,
            "version": origin.version,
            "role": origin.role,
            "profile": profile,
            "transport": recorded.trace.transport,
            "protocol": protocol,
        }
        for name, value in same.items():
            columns[name] += [value] * len(said)
        columns["outcome"] += [each.outcome.value for each in said]
        for name in OWN:
            columns[name] += [getattr(each, name) for each in said]
        if len(columns["source"]) >= MOST:
            yield pa.RecordBatch.from_pydict(columns, VERDICTS.schema)
            columns = {name: [] for name in columns}
    if columns["source"]:
        yield pa.RecordBatch.from_pydict(columns, VERDICTS.schema)
