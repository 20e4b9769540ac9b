"""The node on trial: an implementation that runs, with a service beside the tests, and all that shows it sick."""

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from conformance.catalogue.rules import Profile
from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.verdicts import Judgement
from fuzz.net.coverage import CoverageMap
from fuzz.net.crash_signs import signs_of, with_reports
from fuzz.net.expected_findings import ExpectedFindings
from fuzz.net.growth_trial import GrowthTrial
from fuzz.net.growth_watch import GrowthWatch, SuspectedGrowth
from fuzz.net.moves import NetworkTest
from fuzz.net.playing import UNHURRIED, PlayedTest, TestInPlay, TestPlayer
from fuzz.net.resources import Resources, members_of, resources
from fuzz.net.starvation import UNTOLD, CoreAccount, unless_starved
from fuzz.net.symptoms import Symptom, crash
from fuzz.net.targets import FuzzTarget, ServiceBroken, ServiceProbe
from harness.errors import HarnessError, StartFailed, Unsupported
from harness.iuts.description import Description
from harness.iuts.instance import Instance
from harness.timing import ANSWER
from harness.trace import Direction, EntryKind, Trace

SUSPICION = 1.5
"""Seconds without an answer that are suspicious; that nobody answers is said after the time that all have."""

CHECKS = 50
"""Checks of the service, the last ones that it has stood, by which it is known how quick it is."""

LATE = 10.0
"""How many times the slowest of them an answer may take, before it is late: a busy machine has slowed them as well."""

SOONEST = 0.15
"""What share of what is waited otherwise is waited however quick they were."""

RENEWED = 200
"""Tests after which those who use the service come anew: what is kept of them would grow."""

RECOUNTED = 50
"""Tests after which it is looked which processes the implementation consists of."""

PROOFS = 2
"""How often the service is tried before all tests: what it leaves behind might disturb it."""

DEATH = 0.3
"""Seconds after which a process is dead that has died while the service was tried: its connections end before it does.

A third of them, where it was tried for long; a fifth, where that took as long as nobody is waited for.
"""


UNHEARD = 5.0
"""Seconds after which somebody may be cut off who did not listen: the service does not, while a test is played.

Where a test takes so long, mostly since the machine is busy, it is not the node that harms.
"""


class NodeOnTrial:
    """An instance of an implementation, its service, and the player of tests.

    A broken rule that is ``expected``, or that ``is_known``, is counted, and shows no more than that: what else is
    wrong would not be seen.
    ``patience`` in seconds for one answer, before it is stretched as all waits are. Where there is a map for its
    ``coverage``, it is told of it, and what code a test has run is among its features.
    """

    def __init__(
        self,
        suite: Suite,
        description: Description,
        target: FuzzTarget,
        *,
        profile: Profile,
        transport: str,
        coverage: CoverageMap | None = None,
        expected: ExpectedFindings | None = None,
    ) -> None:
        description = with_reports(description)
        if coverage is not None:
            description = coverage.told_to(description)
        self.suite, self.description, self.target = suite, description, target
        self.profile, self.transport, self._coverage = profile, transport, coverage
        self._expected = expected or ExpectedFindings()
        self.expected_rules = 0
        """Tests that have shown a broken rule that is expected."""
        self.is_known: Callable[[Symptom], bool] = lambda symptom: False
        self.known_rules = 0
        """Tests that have shown a broken rule that is known, and none that is not."""
        self.instance: Instance = suite.harness.instance(description, profile=profile, transport=transport)
        self._player = TestPlayer(target, self.instance, suite.protocol, transport)
        self.played = 0
        """Tests since it was started last."""
        self.restarts = 0
        self.restart_took = 0.0
        """Seconds that the last one took."""
        self.patience = SUSPICION
        self._checks = deque[float](maxlen=CHECKS)
        self._service: ServiceProbe | None = None
        self._served = 0
        self._listened = 0.0
        """When the service was last there to listen."""
        self._service_trace = self._trace()
        self.growth = GrowthWatch()
        self._taken = Resources()
        self._members: list[str] = []

    # --- life -------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Start the implementation anew; ``StartFailed`` when it does not come up."""
        self._end_service()
        self._kill()
        began = time.monotonic()
        self.instance.restart()
        self.restart_took = time.monotonic() - began
        self.restarts += 1
        self.played, self._taken = 0, Resources()
        self.growth.begin()

    def stop(self) -> None:
        """End it."""
        self._end_service()
        self._kill()
        self.instance.stop()

    def _kill(self) -> None:
        # Who hangs would be waited for, to say goodbye; and nobody's goodbyes are looked at here.
        if self.instance.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.instance.process, signal.SIGKILL)

    def prove_service(self) -> None:
        """Try the service before anything is done to it; ``StartFailed`` where it is not served even then.

        Whoever fails here offers something else than what is tried, and would be accused after each test.
        """
        self.patience = ANSWER
        for _ in range(PROOFS):
            try:
                sick = self._ready() or self._unserved() or self._died()
            except Unsupported as error:
                raise StartFailed(f"{error}: without them nothing of it can be tried") from None
            if sick is not None:
                what = "what is tried after each test does not work on a fresh instance"
                raise StartFailed(f"{self.description.label}: {what}: {sick.what}; what does goldwire test say?")

    def take_time(self) -> None:
        """Wait for answers as long as they may take, in tests too: nobody looks into what is seen, as a campaign does.

        A test that was not heard out shows nothing, and whoever is at fault would seem to be mended.
        """
        self.patience = ANSWER
        self._player.settling = UNHURRIED

    def hurried(self, seconds: float) -> float:
        """Return the patience for who looks for a suspicion: so many seconds, or fewer where answers come quickly.

        Whether nobody answers is told by who is more patient.
        """
        if len(self._checks) < CHECKS:
            return seconds
        return min(seconds, max(SOONEST * seconds, LATE * max(self._checks)))

    # --- trials -----------------------------------------------------------------------------------------------

    def play(self, test: NetworkTest) -> tuple[PlayedTest | None, Symptom | None]:
        """Play a test, and look at the node; ``None`` for the test where nothing could be played."""
        if sick := self._ready():
            return None, sick
        if self._coverage is not None:
            self._coverage.clear()
        played = self._player.play(test)
        if self._coverage is not None:
            # Before the service is tried, which runs the same code each time.
            played.names.update(self._coverage.features())
        return played, self.look_at(played)

    def begin(self) -> TestInPlay | Symptom:
        """Begin a test whose moves come one after the other; a symptom where nothing can be played."""
        return self._ready() or self._player.begin()

    def _ready(self) -> Symptom | None:
        # Who has just been started may take the time that all have, and what it takes then for a test as well: some
        # are slow until they are warm.
        self.instance.timing.answer = ANSWER
        began = self.instance.clock.now()
        sick = self._patiently(self._begin_service)
        took = 0.0 if self.played else self.instance.clock.now() - began
        self.instance.timing.answer = min(max(self.patience, took), ANSWER)
        return sick

    def look_at(self, played: PlayedTest) -> Symptom | None:
        """Look at the node after a test that was played on it."""
        self.played += 1
        self._taken = self._quick_look()
        return self._died() or self._unserved() or self._broken_rule(played)

    def serves_again(self) -> bool:
        """Tell whether others are served like before: those who were harmed are not there any more."""
        self.patience = ANSWER
        self._end_service()
        return self._ready() is None and self._unserved() is None

    def _died(self, since: float | None = None) -> Symptom | None:
        if since is not None:
            now = self.instance.clock.now()
            is_in_vain = now - since >= self.instance.timing.patience
            self._let_die(DEATH / 5 if is_in_vain else max(since + DEATH - now, DEATH / 3))
        return None if self.instance.alive() else crash(self.instance.last_output(), signs_of(self.description))

    def _let_die(self, seconds: float) -> None:
        """Wait for a process to be dead, for so many seconds in which it has not waited for a core."""
        clock, process = self.instance.clock, self.instance.process
        began, account = clock.now(), CoreAccount(members_of(process) if process is not None else ())
        while self.instance.alive():
            took = clock.now() - began
            if took >= seconds + UNTOLD or (took >= seconds and took >= seconds + account.waited()):
                return
            threading.Event().wait(0.01)

    def _unserved(self) -> Symptom | None:
        """Try the service; who has died serves nobody, and is told to have died."""
        return self._patiently(lambda: self._begin_service() or self._check_service())

    def _patiently(self, look: Callable[[], Symptom | None]) -> Symptom | None:
        # Who is in a hurry does not say whether nobody is answered.
        if self.patience < ANSWER or self.instance.process is None:
            return look()
        process = self.instance.process
        return unless_starved(look, lambda: members_of(process))

    def _check_service(self) -> Symptom | None:
        assert self._service is not None
        began = self.instance.clock.now()
        unheard = began - self._listened
        try:
            self._service.check()
        except ServiceBroken as broken:
            self._end_service()
            if died := self._died(began):
                return died
            if broken.kind == "harm" and unheard > UNHEARD * self.instance.timing.scale:
                return None
            return Symptom(broken.kind, broken.what, output=self.instance.last_output())
        self._listened = self.instance.clock.now()
        self._checks.append(self._listened - began)
        self._served += 1
        if self._served >= RENEWED:
            self._end_service()
        return None

    def _begin_service(self) -> Symptom | None:
        if self._service is not None:
            return None
        self._service_trace = self._trace()
        self._service = self.target.service(self.instance, self._service_trace)
        began = self.instance.clock.now()
        try:
            self._service.begin()
        except HarnessError as error:
            self._end_service()
            return self._died(began) or Symptom("hang", f"nobody is served any more: {error}")
        self._listened = self.instance.clock.now()
        self._served = 0
        return None

    def _end_service(self) -> None:
        service, self._service = self._service, None
        if service is not None:
            with suppress(HarnessError):
                service.end()

    def expects(self, symptom: Symptom) -> bool:
        """Tell whether a symptom is expected of it."""
        version, role = self.instance.version, self.description.role
        return self._expected.accept(symptom, self.suite, version, role, self.profile)

    def _broken_rule(self, played: PlayedTest) -> Symptom | None:
        expected = known = 0
        for each in self._broken_rules(played):
            if self.expects(each):
                expected += 1
            elif self.is_known(each):
                known += 1
            # Who hands on to one session what another has said wrong says what the tester has said.
            elif not any(own.rule == each.rule and own.outcome.accuses for own in self.judged_of_tester(played)):
                return each
        self.expected_rules += expected > 0
        self.known_rules += known > 0
        return None

    def judged_of_tester(self, played: PlayedTest) -> Iterator[Judgement]:
        """Yield what the monitors say of the tester in a test, as if it were the implementation."""
        turned = self._trace()
        turned.entries = [msgspec.structs.replace(each, direction=each.direction.other) for each in played.trace]
        yield from judge_conversations(
            self.suite.harness.conversations(turned).values(), self.suite, self.profile, "fuzz net"
        )

    def _broken_rules(self, played: PlayedTest) -> Iterator[Symptom]:
        # Of bytes that were put into the stream as they are, nobody knows what the implementation took them for.
        strange = {
            each.link for each in played.trace if each.what is EntryKind.RAW and each.direction is Direction.SENT
        }
        # Where the tester itself left the document nobody is judged: in most sessions, which need not be read again.
        left = strange | {each.link for each in played.node.conversations if not each.is_clean}
        kept = self._trace()
        kept.entries = [entry for entry in played.trace if entry.link not in left]
        known = self.suite.harness.conversations(kept).values()
        for judged in judge_conversations(known, self.suite, self.profile, "fuzz net"):
            if judged.outcome.accuses:
                yield Symptom("rule", judged.what, judged.rule)

    # --- growth -----------------------------------------------------------------------------------------------

    def _quick_look(self) -> Resources:
        process = self.instance.process
        if process is None:
            return Resources()
        if self.played % RECOUNTED == 1:
            self._members = members_of(process)
        return resources(process, self._members) or Resources()

    def grown(self, test: NetworkTest) -> SuspectedGrowth | None:
        """Tell by what the implementation has grown, once that shows; call it after each test."""
        return self.growth.note(test, self._taken) if self._taken.memory else None

    def takes(self) -> Resources:
        """Return what the implementation takes now."""
        process = self.instance.process
        return (resources(process) if process is not None else None) or Resources()

    def _trace(self) -> Trace:
        return Trace(self.suite.protocol, self.transport, self.instance.clock)


class Reproduced(msgspec.Struct, frozen=True):
    """A symptom that showed again, and the trace of the test that it showed in.

    It ``is_unplayed`` where it shows of a fresh instance, if that comes up at all, before anything is played.
    """

    symptom: Symptom
    trace: Trace | None
    is_unplayed: bool = False


def _start(node: NodeOnTrial) -> Symptom | None:
    """Start the implementation anew; a symptom where it does not come up, nor does when that is tried once more."""
    failed = None
    # Where the machine is busy, a start may take too long: whoever cannot start any more cannot then either.
    for _ in range(2):
        try:
            node.restart()
        except StartFailed as error:
            failed = Symptom("hang", f"it does not start any more: {error}")
        else:
            return None
    return failed


def reproduce(
    node: NodeOnTrial, test: NetworkTest, *, times: int = 1, fresh: bool = True, deadline: float = math.inf
) -> Reproduced | None:
    """Play a test as often as said, on a fresh instance by default; return the symptom that shows.

    Nothing has shown where that takes until after a ``deadline``, of ``time.monotonic()``, and does not seem to grow.
    """
    if fresh and (failed := _start(node)) is not None:
        return Reproduced(failed, None, is_unplayed=True)
    trial, played = GrowthTrial(node.takes, times), None
    for number in trial.rounds():
        played, symptom = node.play(test)
        if symptom is not None:
            is_unplayed = fresh and number == 0 and played is None
            return Reproduced(symptom, None if played is None else played.trace, is_unplayed)
        if time.monotonic() > deadline and not trial.seems_to_grow:
            return None
    return None if trial.symptom is None else Reproduced(trial.symptom, None if played is None else played.trace)
