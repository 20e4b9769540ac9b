"""What the gate says of a mutant: it plays the cases that come by the changed line, until one notices.

In memory and virtual time, as the kill matrix is computed. What a mutant makes endless is ended by the processor time
that it takes, so that it does not matter what else the machine does.
"""

import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Literal

import msgspec

from conformance.cases import Case
from conformance.catalogue.rules import Profile
from conformance.engine.play import play
from conformance.hypothesis_settings import without_shrinking
from conformance.selfcheck.mutation.loading import PrivateModules, modules_of
from conformance.selfcheck.mutation.operators import Mutant
from conformance.selfcheck.peers import fitting
from conformance.suite import Suite
from conformance.verdicts import Outcome

Fate = Literal["killed", "endless", "only inconclusive", "survived", "never played", "does not load"]
"""Accused; ended by the clock; what the original passes is inconclusive or an error of ours, and nobody is accused; no
difference is seen; the changed line is in no play; there is no peer at all."""

KILLED: Fate = "killed"
ENDLESS: Fate = "endless"

PATIENCE = 10.0
"""Seconds of processor time for one play: the longest play of an original takes a tenth of it."""


class PlayedMutant(msgspec.Struct, frozen=True):
    """What became of a mutant, what noticed it, and the case in whose play that was."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    case: str = ""


class TooLong(BaseException):
    """A play has used up its processor time; no Exception, so that neither peers nor cases take it for their own."""


class Reached(msgspec.Struct, frozen=True):
    """What the original's plays come by, so that a mutant plays no case that cannot see it.

    ``cases`` are the places of cases, by module and line; ``unjudged`` are, by place, the rules that do not pass then;
    ``seconds`` of processor time are what each play took.
    """

    cases: dict[str, dict[int, frozenset[int]]]
    unjudged: dict[int, frozenset[str]]
    seconds: dict[int, float]


class Gate:
    """The cases for one role whose name or rules hold a pattern, to be played against the mutants of its peer."""

    def __init__(self, protocol: str, role: str, profile: Profile = "document", pattern: str = "") -> None:
        self.suite = Suite(protocol)
        self.role = role
        self.profile: Profile = profile
        self.cases: list[Case] = fitting(self.suite, role, pattern)
        self.sources = {name: (path.read_bytes(), str(path)) for name, path in modules_of(protocol, role).items()}
        self._codes = {name: compile(text, path, "exec") for name, (text, path) in self.sources.items()}
        self._kills = [0] * len(self.cases)

    def reached(self) -> Reached:
        """Play the original and return what its plays come by."""
        files = {path: name for name, (_, path) in self.sources.items()}
        found: dict[str, dict[int, set[int]]] = {name: {} for name in self.sources}
        at = -1
        always = range(len(self.cases))

        def line(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                lines = found[files[frame.f_code.co_filename]]
                lines.setdefault(frame.f_lineno, set()).update(always if at < 0 else (at,))
            return line

        def call(frame: FrameType, event: str, argument: Any) -> Any:
            return line(frame, event, argument) if frame.f_code.co_filename in files else None

        before = sys.gettrace()
        sys.settrace(call)
        try:
            world = self._world(self._codes)
            unjudged: dict[int, frozenset[str]] = {}
            seconds: dict[int, float] = {}
            for at, case in enumerate(self.cases):
                if not world.alive():
                    world.restart()
                began = time.process_time()
                result = play(case, world, self.suite, profile=self.profile, number=at + 1)
                seconds[at] = time.process_time() - began
                unjudged[at] = frozenset(
                    rule for rule, outcome in result.by_rule().items() if outcome is not Outcome.PASS
                )
        finally:
            sys.settrace(before)
        cases = {name: {at: frozenset(places) for at, places in lines.items()} for name, lines in found.items()}
        return Reached(cases, unjudged, seconds)

    def _world(self, codes: Mapping[str, CodeType]) -> Any:
        peer = PrivateModules(codes).peer(self.suite.harness.roles[self.role])
        return self.suite.harness.world(peer.of, self.role, profile=self.profile)

    def play(self, mutant: Mutant, reached: Reached, first: str = "") -> PlayedMutant:
        """Play a mutant until a case notices it; ``first`` names the case that is tried before all others."""
        source, path = self.sources[mutant.module]
        lines = range(mutant.line, mutant.line + source[mutant.start : mutant.end].count(b"\n") + 1)
        places = {place for number in lines for place in reached.cases[mutant.module].get(number, ())}
        if not places:
            return PlayedMutant(mutant, "never played")
        noticed = ""
        try:
            with at_most(PATIENCE):
                world = self._world({**self._codes, mutant.module: compile(mutant.apply(source), path, "exec")})
        except TooLong:
            return PlayedMutant(mutant, "endless")
        except Exception as error:
            return PlayedMutant(mutant, "does not load", f"{type(error).__name__}: {error}")

        # What has killed most so far for the time that it takes: most mutants are noticed by most cases, and a history
        # takes ten times as long as a case.
        def worth(place: int) -> tuple[bool, float, int]:
            return self.cases[place].name != first, -(self._kills[place] + 1) / reached.seconds[place], place

        for place in sorted(places, key=worth):
            if not world.alive():
                world.restart()
            case = self.cases[place]
            try:
                with at_most(PATIENCE), without_shrinking():
                    result = play(case, world, self.suite, profile=self.profile, number=place + 1)
            except TooLong:
                return PlayedMutant(mutant, "endless", case.name, case.name)
            for judgement in result.judgements:
                if judgement.outcome.accuses:
                    self._kills[place] += 1
                    by = f"{judgement.rule} {judgement.case} ({judgement.by})"
                    return PlayedMutant(mutant, "killed", by, case.name)
                if judgement.outcome is not Outcome.PASS and judgement.rule not in reached.unjudged[place]:
                    noticed = noticed or f"{judgement.rule} {judgement.case}: {judgement.outcome.value}"
        return PlayedMutant(mutant, "only inconclusive" if noticed else "survived", noticed)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what takes more processor time than so many seconds with ``TooLong``; in the main thread alone."""

    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
