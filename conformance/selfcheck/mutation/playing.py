"""What the gate says of a mutant: it plays the cases that come by the changed line, until one notices.

In memory and virtual time, as the kill matrix is computed. What a mutant makes endless is ended by the processor time
that it takes, so that it does not matter what else the machine does.
"""

import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Literal, get_args

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
from harness.protocol import load

Fate = Literal[
    "killed",
    "endless",
    "error",
    "nothing proven",
    "lacks the basic",
    "only inconclusive",
    "survived",
    "never played",
    "does not load",
    "listed",
]
"""Accused; ended by the clock; an error of the tester and no accusation; a peer of which nothing can be judged, which
fails a run; a peer that does not do what other rules rest on, which fails it as well; what the original passes is
inconclusive; no difference is seen; the changed line is in no play; there is no peer at all; not played, as the list
explains it."""

NOTICED: tuple[Fate, ...] = ("killed", "endless", "nothing proven", "lacks the basic")
"""What makes ``goldwire test`` end with status 1 for a reason in the node: who stumbles has noticed nothing."""

FATES: tuple[Fate, ...] = get_args(Fate)

PATIENCE = 10.0
"""Seconds of processor time for one play: the longest play of an original takes a tenth of it."""


class PlayedMutant(msgspec.Struct, frozen=True):
    """What became of a mutant, what noticed it, and the case in whose play that was."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    case: str = ""

    @property
    def is_noticed(self) -> bool:
        """Whether the gate says that something is wrong."""
        return self.fate in NOTICED


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
    """The cases for one role whose name or rules hold a pattern, to be played against the mutants of its peer.

    ``shared`` has it play mutants of what its peer shares with those of roles before it, too.
    """

    def __init__(
        self, protocol: str, role: str, profile: Profile = "document", pattern: str = "", *, shared: bool = False
    ) -> None:
        self.suite = Suite(protocol)
        self.role = role
        self.profile: Profile = profile
        self.cases: list[Case] = fitting(self.suite, role, pattern)
        modules = modules_of(protocol, role, shared=shared)
        self.sources = {name: (path.read_bytes(), str(path)) for name, path in modules.items()}
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
        inconclusive = stumbled = lacking = ""
        is_proven = len(places) < len(self.cases)  # the others pass as before
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
                what = f"{judgement.rule} {judgement.case}: {judgement.outcome.value}"
                is_proven = is_proven or judgement.outcome is Outcome.PASS
                if judgement.outcome is Outcome.ERROR:
                    stumbled = stumbled or what
                elif judgement.outcome is not Outcome.PASS and judgement.rule not in reached.unjudged[place]:
                    inconclusive = inconclusive or what
                    lacking = lacking or (what if case.marks.is_basic and judgement.by == "case" else "")
        if stumbled:
            return PlayedMutant(mutant, "error", stumbled)
        if not is_proven:
            return PlayedMutant(mutant, "nothing proven")
        if lacking:
            return PlayedMutant(mutant, "lacks the basic", lacking)
        return PlayedMutant(mutant, "only inconclusive" if inconclusive else "survived", inconclusive)


class Gates:
    """The gate of a role, and those of the roles after it whose peers are made of the same modules.

    What a gate leaves alive of these the next one plays: a client dials, and who serves never comes by what that takes.
    """

    def __init__(self, protocol: str, role: str, profile: Profile = "document", pattern: str = "") -> None:
        self.first = Gate(protocol, role, profile, pattern)
        roles = list(load(protocol).roles)
        others = [Gate(protocol, other, profile, pattern, shared=True) for other in roles[roles.index(role) + 1 :]]
        self._all = (self.first, *(gate for gate in others if gate.sources.keys() & self.first.sources.keys()))

    def reached(self) -> list[Reached]:
        """Play the originals and return what the plays of each gate come by."""
        return [gate.reached() for gate in self._all]

    def play(self, mutant: Mutant, reached: Sequence[Reached], first: str = "") -> PlayedMutant:
        """Play a mutant until a case of some gate notices it; ``first`` names the case that is tried first in each."""
        seen = []
        for gate, known in zip(self._all, reached, strict=True):
            if mutant.module in gate.sources:
                seen.append(gate.play(mutant, known, first))
                if seen[-1].is_noticed or seen[-1].fate == "does not load":
                    return seen[-1]
        # The most that anybody saw of it.
        return min(seen, key=lambda each: FATES.index(each.fate))


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
