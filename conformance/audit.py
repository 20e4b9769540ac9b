"""Audits: recorded sessions as the cases of a run, so that everything that reports a run also reports an audit."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from conformance.catalogue.rules import Profile
from conformance.evidence import with_messages
from conformance.recordings import judge
from conformance.run.kept_traces import keep_trace
from conformance.run.recorder import RunRecorder
from conformance.run.records import TRACES, CasePlayed
from conformance.run.settings import RunSettings
from conformance.run.summary import Circumstances
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome, worst
from harness.captures.losses import MEANINGS, Loss
from harness.captures.recorded_session import RecordedSession
from harness.protocol import load
from wire.files import write_file

RECORDINGS = "recordings.json"
FINE = (Outcome.PASS, Outcome.ODD)


class RecordingAudit(msgspec.Struct, frozen=True):
    """What came of one file: its packets, its sessions, how many of those were judged, and what was lost of it."""

    source: str
    packets: int
    sessions: int
    judged: int
    losses: tuple[Loss, ...]

    def lines(self) -> list[str]:
        """Return what there is to say of it, a line for each kind of loss below the first."""
        judged = "" if self.judged == self.sessions else f", {self.judged} of them judged"
        lines = [f"{self.source}: {self.sessions} session{'' if self.sessions == 1 else 's'}{judged}"]
        return lines + [f"  {loss}: {MEANINGS[loss.kind]}" for loss in self.losses]


class Audit(RunRecorder):
    """A run that plays nothing and judges what was recorded."""

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        self.recordings: list[RecordingAudit] = []

    def circumstances(self) -> Circumstances:
        """Return what the records do not tell."""
        return msgspec.structs.replace(super().circumstances(), passive=True)

    def judge(self, recorded: RecordedSession, suite: Suite, profile: Profile, reproduce: str) -> CasePlayed:
        """Judge one session, and add it to the run."""
        began = time.monotonic()
        judgements = tuple(judge(recorded, suite, profile))
        return self.take(recorded, judgements, reproduce, time.monotonic() - began)

    def take(
        self, recorded: RecordedSession, judgements: Sequence[Judgement], reproduce: str, seconds: float = 0.0
    ) -> CasePlayed:
        """Add a session that was judged to the run; keep its trace beside the report unless all is right."""
        return self.add_case(case(recorded, judgements, reproduce, seconds), lambda: recorded)

    def add_case(self, record: CasePlayed, recorded: Callable[[], RecordedSession]) -> CasePlayed:
        """Add what was said of a session to the run; ``recorded`` is called only if its trace is to be kept."""
        trouble, report = "", self.settings.report
        if report is not None and record.outcome not in FINE and record.judgements:
            try:
                session = recorded()
                shown = with_messages(record.judgements, session.trace, load(self.settings.protocol))
                trace = self._keep(session, report / TRACES)
                record = msgspec.structs.replace(record, judgements=shown, trace=trace)
            except OSError as error:
                trouble = f"the trace of {record.case} could not be written: {error.strerror or error}"
        return self.add(record, trouble)

    def add_recording(self, recording: RecordingAudit) -> None:
        """Add what came of a file."""
        self.recordings.append(recording)
        if self.settings.report is not None:
            try:
                about = msgspec.json.format(msgspec.json.encode(self.recordings), indent=2)
                write_file(self.settings.report / RECORDINGS, about + b"\n")
            except OSError as error:
                self.trouble.append(f"{RECORDINGS} could not be written: {error.strerror or error}")

    def _keep(self, recorded: RecordedSession, folder: Path) -> str:
        name = recorded.name.replace("#", "-")  # which would end the path in a link to it
        return keep_trace(recorded.trace, self.settings.protocol, folder, name)


def case(
    recorded: RecordedSession,
    judgements: Sequence[Judgement],
    reproduce: str,
    seconds: float = 0.0,
    frames: int | None = None,
) -> CasePlayed:
    """Return a session and its judgements as a record; one without any judgement is inconclusive.

    ``frames`` is how many it has, where they are not in its trace.
    """
    frames = recorded.frames if frames is None else frames
    words = [f"{recorded.key}, {frames} frame{'' if frames == 1 else 's'}", *map(str, recorded.losses)]
    if recorded.side != recorded.usual:
        words.insert(1, f"the {recorded.side} side")
    return CasePlayed(
        case=recorded.name,
        sentence="; ".join(words),
        file=recorded.source,
        line=recorded.number,
        rules=tuple(dict.fromkeys(each.rule for each in judgements)),
        outcome=worst(each.outcome for each in judgements),
        judgements=tuple(judgements),
        seconds=seconds,
        reproduce=reproduce,
    )
