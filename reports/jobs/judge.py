"""The job ``judge``: what the monitors say of every recorded session, as rows of the table ``verdicts``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from conformance.catalogue.rules import Profile
from conformance.recordings import judge
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome
from harness.captures.recorded_session import RecordedSession
from reports.lake.rows import recorded_in, source_of
from reports.lake.schemas import VERDICTS

MOST = 10_000
"""Verdicts that are collected before they are passed on: one batch of Arrow costs as much as hundreds of its rows."""

OWN = ("rule", "by", "what", "reading", "evidence", "entry")
"""What a judgement says of itself, beside its outcome."""

OWN_OF = attrgetter(*OWN)

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

        Who was described listened, unless their role dials; in the trace of a run the listening side stands for them.
        """
        dials = self.kind != "run" and self.role in suite.harness.dials
        own = "dialling" if dials else "listening"
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
    side: str = "listening",
) -> Iterator[pa.RecordBatch]:
    """Yield the verdicts on sessions of which these are the rows of frames, in the order of session and place.

    Judged is one ``side`` of each session.
    """
    suite = suite_of(protocol)
    rows = _VerdictRows(profile=profile, protocol=protocol)
    for session, heard in recorded_in(batches, protocol):
        recorded = heard.seen_from(side)
        said = judge(recorded, suite, profile)
        source = source_of(session)
        origin = origins.get(source, SessionOrigin()).seen_from(side, suite)
        rows.add(said, recorded, session=session, source=source, origin=origin)
        if len(rows) >= MOST:
            yield rows.batch()
            rows = _VerdictRows(profile=profile, protocol=protocol)
    if len(rows):
        yield rows.batch()


class _VerdictRows:
    """Verdicts while they are collected.

    A session has two dozen of them, of which most columns are the same: those are kept once, and repeated by Arrow.
    """

    def __init__(self, profile: Profile, protocol: str) -> None:
        self._same = {
            "origin": "judged", "trace": "", "attempts": 1, "flaky": "", "profile": profile, "protocol": protocol,
        }  # fmt: skip
        self._sessions: dict[str, list[Any]] = {name: [] for name in OF_A_SESSION}
        self._of_session: list[int] = []
        self._own: dict[str, list[Any]] = {name: [] for name in ("outcome", *OWN)}
        self._own_columns = [self._own[name] for name in OWN]

    def __len__(self) -> int:
        return len(self._of_session)

    def add(
        self, said: Sequence[Judgement], recorded: RecordedSession, *, session: str, source: str, origin: SessionOrigin
    ) -> None:
        """Take what was said of a session."""
        transport = recorded.trace.transport
        of_session = (source, origin.kind, session, recorded.name, origin.name, origin.version, origin.role, transport)
        for column, value in zip(self._sessions.values(), of_session, strict=True):
            column.append(value)
        self._of_session += [len(self._sessions["session"]) - 1] * len(said)
        # What most come to is not asked for its value, which for an Enum is a call.
        good = Outcome.PASS
        self._own["outcome"] += ["pass" if each.outcome is good else each.outcome.value for each in said]
        for column, values in zip(self._own_columns, zip(*map(OWN_OF, said), strict=True), strict=False):
            column += values

    def batch(self) -> pa.RecordBatch:
        """Return all of them as rows."""
        places = pa.array(self._of_session, pa.int32())

        def column(field: pa.Field) -> pa.Array:
            if field.name in self._same:
                return pa.repeat(pa.scalar(self._same[field.name], field.type), len(self))
            if field.name in self._sessions:
                return pa.array(self._sessions[field.name], field.type).take(places)
            return pa.array(self._own[field.name], field.type)

        return pa.RecordBatch.from_arrays([column(field) for field in VERDICTS.schema], schema=VERDICTS.schema)
