"""The engine: plays a case against an implementation and says what that means for each rule.

``play`` is one play of one case against an instance that runs. ``Tester`` owns an instance, starts it anew when it
has died, and confirms every non-pass on a fresh one before anybody is accused.
"""

import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import msgspec
from hypothesis.errors import Flaky

from conformance.cases import Broken, Case, Inconclusive
from conformance.monitors import Monitor
from conformance.rules import Catalogue, Profile, load
from conformance.verdicts import Judgement, Outcome, when_broken, worst
from conformance.weighing import followed, watched
from harness.errors import HarnessError, Unsupported
from harness.instances import Instance
from harness.iut import Launched, Remote, resolve
from harness.trace import Trace


class Result(msgspec.Struct, frozen=True):
    """One play of one case: what it says of each rule, the trace, and the seconds that it took."""

    case: str
    judgements: tuple[Judgement, ...]
    trace: Trace
    seconds: float
    settled: bool = False

    @property
    def outcome(self) -> Outcome:
        """The worst that the case itself came to."""
        return worst(judgement.outcome for judgement in self.judgements)

    def by_rule(self) -> dict[str, Outcome]:
        """Return the worst outcome of each rule that was judged."""
        rules = {judgement.rule for judgement in self.judgements}
        return {rule: worst(j.outcome for j in self.judgements if j.rule == rule) for rule in sorted(rules)}


class Confirmed(msgspec.Struct, frozen=True):
    """A result that was confirmed: after how many plays, and how plays differed if they did."""

    result: Result
    attempts: int = 1
    flaky: str = ""


class Suite:
    """What a protocol brings: its catalogue, its monitors, and the harness's side of it."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.catalogue: Catalogue = load(protocol)
        self.harness: Any = import_module(f"harness.{protocol}")
        self.monitors: list[Monitor] = list(import_module(f"conformance.{protocol}.monitors").MONITORS)

    def broken(self, rule: str) -> Outcome:
        """Return the outcome of a rule that is broken."""
        return when_broken(self.catalogue.rules[rule].strength)


def play(
    case: Case, instance: Instance, suite: Suite, *, profile: Profile, transport: str = "tcp", number: int = 1
) -> Result:
    """Play a case once; never raises for what the implementation does."""
    began = time.monotonic()
    trace = Trace(suite.protocol, transport, instance.clock)
    judge = _Judge(case, suite, profile)
    namespace = f"g{number}/"
    try:
        node = suite.harness.NodeUnderTest(instance, trace, profile=profile, namespace=namespace, transport=transport)
    except HarnessError as error:
        judge.inconclusive(f"the node could not be set up: {error}")
        return Result(case.name, tuple(judge.judgements), trace, time.monotonic() - began)
    settled = judge.call(node)
    readings, evidence = list(node.readings), node.evidence
    if case.marks.monitored:
        judge.watch(node.conversations)
    node.close()
    death = _death(node, instance)
    if death:
        judge.crashed(death)
    elif not judge.failed:
        judge.passed(evidence, readings)
    judgements = tuple(
        msgspec.structs.replace(each, what=each.what.replace(namespace, "")) for each in judge.judgements
    )
    return Result(case.name, judgements, trace, time.monotonic() - began, settled)


DIED = "the node has died, or answers nobody any more"


def _death(node: Any, instance: Instance) -> str:
    """Return what is wrong with the node after a play, or nothing; how it shows is a matter of moments."""
    if instance.alive() and not instance.dials:
        try:
            node.probe()
        except HarnessError as error:
            return f"{DIED}\n{error}\n{instance.epitaph()}".rstrip()
    return "" if instance.alive() else f"{DIED}\n{instance.epitaph()}".rstrip()


class _Judge:
    """Collects judgements during one play."""

    def __init__(self, case: Case, suite: Suite, profile: Profile) -> None:
        self.case = case
        self.suite = suite
        self.profile = profile
        self.judgements: list[Judgement] = []
        self.failed = False

    def call(self, node: Any) -> bool:
        """Run the case's function; returns whether a replay cannot change an inconclusive outcome."""
        try:
            self.case.function(node=node)
        except Broken as error:
            self.broken(error.ids, str(error))
        except AssertionError as error:
            self.broken(self.case.marks.rules, str(error))
        except (Inconclusive, Unsupported) as error:
            self.inconclusive(str(error))
            return True
        except HarnessError as error:
            self.inconclusive(str(error))
        except Flaky as error:
            self.inconclusive(f"the same stimulus was answered differently: {error}")
        except Exception:
            self.add(self.case.marks.rules, Outcome.ERROR, traceback.format_exc())
        return False

    def add(self, rules: tuple[str, ...], outcome: Outcome, what: str, evidence: int = 0) -> None:
        """Judge some rules alike."""
        self.failed = True
        for rule in rules:
            self.judgements.append(Judgement(rule, outcome, self.case.name, "case", what, "", evidence))

    def broken(self, rules: tuple[str, ...], what: str) -> None:
        """Judge rules as broken; the case's others were not reached."""
        for rule in rules:
            self.add((rule,), self.suite.broken(rule), first_lines(what), 1)
        others = tuple(rule for rule in self.case.marks.rules if rule not in rules)
        self.add(others, Outcome.INCONCLUSIVE, f"not reached: {', '.join(rules)} broke first")

    def inconclusive(self, cause: str) -> None:
        """Judge all of the case's rules as inconclusive."""
        self.add(self.case.marks.rules, Outcome.INCONCLUSIVE, cause)

    def crashed(self, what: str) -> None:
        """Judge all of the case's rules as a crash, whatever else was seen."""
        self.judgements.clear()
        self.add(self.case.marks.rules, Outcome.CRASH, what, 1)

    def passed(self, evidence: int, readings: list[tuple[str, str, str]]) -> None:
        """Judge all of the case's rules as kept, as far as the readings that were seen are accepted."""
        if not evidence:
            self.add(self.case.marks.rules, Outcome.ERROR, "the case passed without any evidence")
            return
        seen = {rule: followed(rule, reading, option, self.suite, self.profile) for rule, reading, option in readings}
        for rule in self.case.marks.rules:
            outcome, what, reading = seen.get(rule, (Outcome.PASS, "", ""))
            self.judgements.append(Judgement(rule, outcome, self.case.name, "case", what, reading, evidence))

    def watch(self, conversations: list[Any]) -> None:
        """Let every monitor look at every link that the tester kept clean, as far as the case has read it.

        What comes later, while sessions are torn down, comes or does not come by chance.
        """
        self.judgements += watched(conversations, self.suite, self.profile, self.case.name)


def first_lines(text: str, count: int = 4, width: int = 240) -> str:
    """Return the telling part of an assertion: its first lines, without pytest's account of where values are from."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("+ ")]
    return "\n".join(shortened(line, width) for line in lines[:count]) or "the requirement does not hold"


def shortened(line: str, width: int) -> str:
    """Cut a long line, and say so."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


class Tester:
    """Plays cases against one implementation, on an instance of its own."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    def __init__(
        self,
        iut: str,
        protocol: str,
        *,
        profile: Profile = "document",
        transport: str = "tcp",
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.suite = Suite(protocol)
        self.profile = profile
        self.transport = transport
        self.description = resolve(iut, protocol)
        self.is_shared = isinstance(self.description.source, Remote)
        self._progress = progress
        self._count = 0
        self._has_crashed = False
        source = self.description.source
        self._every_case = isinstance(source, Launched) and source.program.restart == "every-case"
        self.instance: Instance = self.suite.harness.instance(self.description, profile=profile)

    def play(self, case: Case) -> Confirmed:
        """Play a case; a non-pass is played again on a fresh instance, and a third time if that differs."""
        plays = [self._play(case)]
        if not needs_confirmation(plays[0]):
            return Confirmed(plays[0])
        while len(plays) < 3:
            self._progress(f"{case.name}: confirming on a fresh instance")
            self._renew()
            plays.append(self._play(case))
            if len(plays) == 2 and not unsteady(plays):
                return Confirmed(plays[0], 2)
        return merged(plays)

    def _play(self, case: Case) -> Result:
        # A node that answers nobody any more may look alive; the next case is not to be about that.
        if not self.instance.alive() or self._has_crashed or (self._every_case and self._count):
            self._renew()
        self._count += 1
        result = play(
            case,
            self.instance,
            self.suite,
            profile=self.profile,
            transport=self.transport,
            number=self._count,
        )
        self._has_crashed = result.outcome is Outcome.CRASH
        return result

    def _renew(self) -> None:
        self.instance.restart()
        self._has_crashed = False

    def close(self) -> None:
        """End the implementation."""
        self.instance.stop()


def needs_confirmation(result: Result) -> bool:
    """Tell whether a fresh instance might change what a play says."""
    outcomes = [judgement.outcome for judgement in result.judgements]
    if any(outcome.accuses for outcome in outcomes):
        return True
    return Outcome.INCONCLUSIVE in outcomes and not result.settled


def merged(plays: list[Result]) -> Confirmed:
    """Sum up plays that differ: a rule that did not come to the same each time is inconclusive, with counts."""
    wavering = unsteady(plays)
    judgements = tuple(_steadied(plays, wavering))
    flaky = "; ".join(f"{rule}: {counts}" for rule, counts in sorted(wavering.items()))
    return Confirmed(msgspec.structs.replace(plays[0], judgements=judgements), len(plays), flaky)


def unsteady(plays: list[Result]) -> dict[str, str]:
    """Return the rules that did not come to the same whenever they were judged, with counts."""
    seen: dict[str, list[Outcome]] = {}
    for one in plays:
        for rule, outcome in one.by_rule().items():
            seen.setdefault(rule, []).append(outcome)
    return {rule: _counts(outcomes) for rule, outcomes in sorted(seen.items()) if len(set(outcomes)) > 1}


def _steadied(plays: list[Result], wavering: dict[str, str]) -> Iterator[Judgement]:
    for judgement in plays[0].judgements:
        if judgement.rule not in wavering:
            yield judgement
    for rule, counts in wavering.items():
        telling = max((j for one in plays for j in one.judgements if j.rule == rule), key=lambda j: j.outcome.rank)
        what = f"flaky: {counts}; {telling.what}"
        yield msgspec.structs.replace(telling, outcome=Outcome.INCONCLUSIVE, what=what)


def _counts(seen: list[Outcome]) -> str:
    named = [outcome.value for outcome in seen]
    return ", ".join(f"{name} in {named.count(name)} of {len(named)}" for name in sorted(set(named)))
