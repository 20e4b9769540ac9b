"""The player: owns the tester of this process, plays cases and keeps the traces of those that do not pass.

With a node that is far away it has them played side by side (``conformance.gate.lanes``).
"""

import inspect
import os
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from conformance.cases import Case
from conformance.engine import tester
from conformance.evidence import with_messages
from conformance.gate.lanes import LaneLost, Lanes, lanes_for
from conformance.gate.messages import ImplementationNotStarted, Message, Played
from conformance.run.kept_traces import keep_trace
from conformance.run.known_deviations import KnownDeviations
from conformance.run.records import TRACES, CasePlayed
from conformance.run.settings import RunSettings
from conformance.verdicts import Outcome
from harness.errors import HarnessError, StartFailed
from harness.protocol import load
from harness.timing import Timing


class Player:
    """Owns the tester of this process: made when the first case is played, closed with the session.

    ``known`` is what was measured of another instance of the implementation.
    """

    def __init__(self, settings: RunSettings, progress: Callable[[str], None], known: Timing | None = None) -> None:
        self.settings = settings
        self.ahead: Sequence[Case] = ()
        """The cases that are still to be played, where several of them may be played at once."""
        self._progress = progress
        self._known = known
        self._lanes: Lanes | None = None
        self._tester: tester.Tester | None = None
        self._not_started = ""
        self.known = KnownDeviations(settings)

    def play(self, case: Case) -> Message:
        """Play one case and keep its trace if it did not pass."""
        # One attempt per process: what does not start costs its whole time-out, and would cost it once per case.
        if self._not_started:
            return ImplementationNotStarted(self._not_started)
        try:
            # Made with the first case: a session that selects none starts no process.
            if self._tester is None and self._lanes is None:
                self._tester = self._start()
            if self.ahead and self._tester is not None:
                self._divide(case, self._tester)
            if self._tester is None:
                return self._played_in_a_lane(case)
            confirmed = self._tester.play(case)
        except StartFailed as error:
            self._not_started = str(error)
            return ImplementationNotStarted(self._not_started)
        except Exception:
            # A defect of ours, which is reported with the case; the cases after it can still be played.
            return Played(self._record(case, outcome=Outcome.ERROR, error=traceback.format_exc()))
        result = confirmed.result
        record = self._record(
            case,
            outcome=result.outcome,
            judgements=with_messages(result.judgements, result.trace, load(self.settings.protocol), result.until),
            attempts=confirmed.attempts,
            seconds=result.seconds,
            not_played=result.not_played,
        )
        # Of what passes nobody reads the trace, and all of them together would fill a disk.
        if self.settings.report is None or _is_fine(record) or not record.attempts:
            return Played(record)
        try:
            trace = keep_trace(result.trace, self.settings.protocol, self.settings.report / TRACES, case.name)
        except OSError as error:
            return Played(record, f"the trace of {case.name} could not be written: {error.strerror or error}")
        return Played(msgspec.structs.replace(record, trace=trace))

    def close(self) -> None:
        """Stop the implementation; once is enough."""
        lanes, self._lanes = self._lanes, None
        if lanes is not None:
            lanes.close()
        ended, self._tester = self._tester, None
        if ended is not None:
            ended.close()

    def _divide(self, case: Case, alone: tester.Tester) -> None:
        """Leave the cases from this one on to several lanes, if the node is far away."""
        self.ahead = self.ahead[self.ahead.index(case) :] if case in self.ahead else ()
        known = alone.measured()
        side_by_side = load(self.settings.protocol).side_by_side
        count = max(lanes_for(known.round_trip, len(self.ahead)), min(side_by_side, len(self.ahead)))
        if count == 1:
            return
        # Before the lanes begin: its threads would stand still in them, and not end.
        alone.close()
        self._tester = None
        make = partial(Player, self.settings, known=known)
        away = f"{known.round_trip * 1000:.0f} ms away: " if count > side_by_side else ""
        self._progress(f"{away}{count} cases at once")
        self._lanes = Lanes(make, self.ahead, count, self._progress)

    def _played_in_a_lane(self, case: Case) -> Message:
        assert self._lanes is not None
        try:
            said = self._lanes.play(case)
        except LaneLost as error:
            return Played(self._record(case, outcome=Outcome.ERROR, error=str(error)))
        if isinstance(said, ImplementationNotStarted):
            self._not_started = said.message
        return said

    def _start(self) -> tester.Tester:
        try:
            return tester.Tester(
                self.settings.iut,
                self.settings.protocol,
                profile=self.settings.profile,
                transport=self.settings.transport,
                progress=self._progress,
                known=self._known,
                path=self.settings.path,
            )
        except StartFailed:
            raise
        except HarnessError as error:
            # Whatever keeps an instance from coming up is the same to the user: status 3, and nothing was learnt.
            raise StartFailed(str(error)) from error

    def _record(self, case: Case, **fields: Any) -> CasePlayed:
        function = inspect.unwrap(case.function)
        return CasePlayed(
            case=case.name,
            sentence=case.sentence,
            file=os.path.relpath(inspect.getsourcefile(function) or ""),
            line=inspect.getsourcelines(function)[1],
            rules=case.marks.rules,
            reproduce=self.settings.command(case.name),
            **fields,
        )


def _is_fine(record: CasePlayed) -> bool:
    return record.outcome in (Outcome.PASS, Outcome.ODD) and not record.error
