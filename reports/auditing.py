"""Auditing: recorded sessions as the cases of a run, so that all that reports a run reports an audit."""

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import msgspec

from conformance.engine import Suite
from conformance.records import TRACES, CasePlayed
from conformance.rules import Profile
from conformance.run import Run
from conformance.settings import Settings
from conformance.summary import Circumstances
from conformance.verdicts import Judgement, Outcome, worst
from harness.pcapng import write_pcapng
from harness.trace import write_ndjson
from reports.judging import judge
from reports.recordings import MEANINGS, Loss, Recorded

RECORDINGS = "recordings.json"
FINE = (Outcome.PASS, Outcome.ODD)


class Told(msgspec.Struct, frozen=True):
    """What is said of one file: its packets, its sessions, how many of those were judged, and what was lost of it."""

    source: str
    packets: int
    sessions: int
    judged: int
    losses: tuple[Loss, ...]

    def lines(self) -> list[str]:
        """Say it in lines of text."""
        judged = "" if self.judged == self.sessions else f", {self.judged} of them judged"
        said = [f"{self.source}: {self.sessions} session{'' if self.sessions == 1 else 's'}{judged}"]
        return said + [f"  {loss}: {MEANINGS[loss.kind]}" for loss in self.losses]


class Audit(Run):
    """A run that plays nothing and judges what was recorded."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.recordings: list[Told] = []

    def circumstances(self) -> Circumstances:
        """Return what the records do not tell."""
        return msgspec.structs.replace(super().circumstances(), passive=True)

    def judge(self, recorded: Recorded, suite: Suite, profile: Profile, reproduce: str) -> CasePlayed:
        """Judge one session, and take it down."""
        began = time.monotonic()
        judgements = tuple(judge(recorded, suite, profile))
        return self.take(recorded, judgements, reproduce, time.monotonic() - began)

    def take(
        self, recorded: Recorded, judgements: Sequence[Judgement], reproduce: str, seconds: float = 0.0
    ) -> CasePlayed:
        """Take down a session that was judged; of one that is not all right, the trace is kept beside the report."""
        return self.take_down(case(recorded, judgements, reproduce, seconds), lambda: recorded)

    def take_down(self, record: CasePlayed, recorded: Callable[[], Recorded]) -> CasePlayed:
        """Take down what was said of a session, which is asked for only when its trace is to be kept."""
        trouble, report = "", self.settings.report
        if report is not None and record.outcome not in FINE and record.judgements:
            try:
                record = msgspec.structs.replace(record, trace=self._keep(recorded(), report / TRACES))
            except OSError as error:
                trouble = f"the trace of {record.case} could not be written: {error}"
        self.add(record, trouble)
        return record

    def tell(self, told: Told) -> None:
        """Take down what became of a file."""
        self.recordings.append(told)
        if self.settings.report is not None:
            try:
                (self.settings.report / RECORDINGS).write_bytes(
                    msgspec.json.format(msgspec.json.encode(self.recordings), indent=2) + b"\n"
                )
            except OSError as error:
                self.trouble.append(f"{RECORDINGS} could not be written: {error}")

    def _keep(self, recorded: Recorded, folder: Path) -> str:
        name = recorded.name.replace("#", "-")  # which would end the path in a link to it
        write_ndjson(recorded.trace, folder / f"{name}.ndjson")
        framings = import_module(f"harness.{self.settings.protocol}").FRAMINGS
        write_pcapng(recorded.trace, folder / f"{name}.pcapng", framings)
        return name


def case(
    recorded: Recorded, judgements: Sequence[Judgement], reproduce: str, seconds: float = 0.0, frames: int | None = None
) -> CasePlayed:
    """Return a session and what was said of it as a record; one of which nothing was said is inconclusive.

    ``frames`` is how many it has, where they are not in its trace.
    """
    frames = recorded.frames if frames is None else frames
    words = [f"{recorded.key}, {frames} frame{'' if frames == 1 else 's'}", *map(str, recorded.losses)]
    if recorded.side != "listening":
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
