"""The job ``judge``: what the monitors say of every recorded session, as rows of the table ``verdicts``."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from conformance.catalogue.rules import Profile
from conformance.findings import SessionVerdicts
from conformance.recordings import verdicts
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.captures.recorded_session import RecordedSession
from reports.lake.rows import recorded_in, source_of
from reports.lake.schemas import VERDICTS

MOST = 10_000
"""Verdicts that are collected before they are passed on: one batch of Arrow costs as much as hundreds of its rows."""

OWN = ("rule", "by", "what", "reading", "evidence", "entry", "nth", "field")
"""What a judgement says of itself, beside its outcome."""

KEPT_ROW = {
    "outcome": Outcome.PASS.value, "by": "monitor", "what": "", "reading": "", "entry": None, "nth": 0, "field": "",
}  # fmt: skip
"""What a row says of a rule that was only kept, beside the rule and how often."""

OF_A_SESSION = ("source", "kind", "session", "case", "name", "version", "role", "transport")
"""The columns that all verdicts on a session have in common."""


class SessionOrigin(msgspec.Struct, frozen=True):
    """What is known of the source that a session came with (the table ``runs``)."""

    kind: str = ""
    name: str = ""
    version: str = ""
    role: str = ""

    def seen_from(self, side: str, suite: Suite) -> "SessionOrigin":
        """Return what is known of one side: of the other one than was described, only which it is.

        Who was described listened, unless their role dials; in the trace of a run the usual side stands for them.
        """
        dials = self.kind != "run" and self.role in suite.harness.dials
        own = "dialling" if dials else suite.harness.usual_side
        return self if side == own else SessionOrigin(self.kind, role=side)


@cache
def suite_of(protocol: str) -> Suite:
    """Return a protocol's rules and monitors, loaded once in a process."""
    return Suite(protocol)


def judged(
    batches: Iterable[pa.RecordBatch],
    protocol: str,
    profile: Profile,
    origins: Mapping[str, SessionOrigin],
    side: str,
) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on sessions of which these are the rows of frames, in the order of session and place.

    Judged is one ``side`` of each session.
    """
    suite = suite_of(protocol)
    rows = _VerdictRows(profile=profile, protocol=protocol)
    for session, heard in recorded_in(batches, protocol):
        recorded = heard.seen_from(side)
        said = verdicts(recorded, suite, profile)
        source = source_of(session)
        origin = origins.get(source, SessionOrigin()).seen_from(side, suite)
        rows.add(said, recorded, session=session, source=source, origin=origin)
        if len(rows) >= MOST:  # between sessions: what is said of one stands in one batch
            yield rows.batch()
            rows = _VerdictRows(profile=profile, protocol=protocol)
    if len(rows):
        yield rows.batch()


class _VerdictRows:
    """Verdicts while they are collected: as columns, since rows are many and say little.

    A session has two dozen verdicts. Most of what stands in their rows is the same for all of the session, and kept
    once for each (``_sessions``). Most say that a rule was kept, and nothing more: those are two columns, of rules and
    of counts, and stand before the others, which are judgements (``_cited``).
    """

    def __init__(self, profile: Profile, protocol: str) -> None:
        self._same = {
            "origin": "judged", "trace": "", "attempts": 1, "flaky": "", "profile": profile, "protocol": protocol,
        }  # fmt: skip
        self._sessions: list[tuple[str, ...]] = []
        self._kept_in: list[int] = []
        """The places in ``_sessions`` of the sessions in which the rules were kept; so for what is cited."""
        self._rules: list[str] = []
        self._counts: list[int] = []
        self._cited_in: list[int] = []
        self._cited: list[Judgement] = []

    def __len__(self) -> int:
        return len(self._rules) + len(self._cited)

    def add(
        self, said: SessionVerdicts, recorded: RecordedSession, *, session: str, source: str, origin: SessionOrigin
    ) -> None:
        """Take what was said of a session."""
        place = len(self._sessions)
        transport = recorded.trace.transport
        self._sessions.append(
            (source, origin.kind, session, recorded.name, origin.name, origin.version, origin.role, transport)
        )
        self._kept_in += [place] * len(said.kept)
        self._rules += said.kept
        self._counts += said.kept.values()
        self._cited_in += [place] * len(said.cited)
        self._cited += said.cited

    def batch(self) -> pa.RecordBatch:
        """Return all of them as rows."""
        places = pa.array(self._kept_in + self._cited_in, pa.int32())
        sessions = dict(zip(OF_A_SESSION, zip(*self._sessions, strict=True), strict=True))
        own: dict[str, list[Any]] = {"rule": self._rules, "evidence": self._counts}

        def column(field: pa.Field) -> pa.Array:
            if field.name in self._same:
                return _repeated(self._same[field.name], field, len(self))
            if field.name in sessions:
                values = sessions[field.name]
                # Taking texts by their places costs more than all else here, and most are the same in a whole capture.
                is_same = values.count(values[0]) == len(values)
                return _repeated(values[0], field, len(self)) if is_same else pa.array(values, field.type).take(places)
            cited: list[Any] = [getattr(each, field.name) for each in self._cited]
            if field.name == "outcome":
                cited = [outcome.value for outcome in cited]
            if field.name in own:
                return pa.array(own[field.name] + cited, field.type)
            kept = _repeated(KEPT_ROW[field.name], field, len(self._rules))
            return pa.concat_arrays([kept, pa.array(cited, field.type)])

        return pa.RecordBatch.from_arrays([column(field) for field in VERDICTS.schema], schema=VERDICTS.schema)


def _repeated(value: object, field: pa.Field, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, field.type), size)
