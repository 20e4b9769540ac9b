"""One play of one case against an instance that runs, and what it means for each rule."""

import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
from hypothesis.errors import Flaky

from conformance.cases import Blocks, Case, Inconclusive, NotPlayed, RuleBroken, RulesBroken, TooLate, following
from conformance.catalogue.rules import Profile
from conformance.engine.assertions import cited, complaint
from conformance.engine.death import blamed, fatal_stimulus, told
from conformance.findings import judge_conversations, judge_reading
from conformance.suite import Suite
from conformance.verdicts import Judgement, Outcome, worst
from harness.errors import HarnessError, NeverDialled, NotOffered, StartFailed, Unsupported
from harness.iuts.instance import Instance
from harness.protocol import Judgeable, NodeInPlay
from harness.trace import Trace


class PlayResult(msgspec.Struct, frozen=True):
    """One play of one case: what it says of each rule, the trace, and the seconds that it took.

    ``settled`` says that the case itself found that it cannot be judged, so that another play would not help;
    ``not_played`` why it was left out, if it was; ``until`` is how many entries the trace had when the case ended and
    what is looked at besides began, or when a history showed what is wrong; ``is_in_vain`` says that it waited for what
    the node is known never to do, ``waited_in_full`` that it waited for something until patience ended,
    ``was_late`` that the tester was too slow to judge anything.
    """

    case: str
    judgements: tuple[Judgement, ...]
    trace: Trace
    seconds: float
    settled: bool = False
    not_played: str = ""
    until: int = 0
    is_in_vain: bool = False
    waited_in_full: bool = False
    was_late: bool = False

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all judgements."""
        return worst(judgement.outcome for judgement in self.judgements)

    def by_rule(self) -> dict[str, Outcome]:
        """Return the worst outcome of each rule that was judged."""
        rules = {judgement.rule for judgement in self.judgements}
        return {rule: worst(j.outcome for j in self.judgements if j.rule == rule) for rule in sorted(rules)}


def play(
    case: Case, instance: Instance, suite: Suite, *, profile: Profile, transport: str = "tcp", number: int = 1
) -> PlayResult:
    """Play a case once; never raises for what the implementation does.

    ``number`` counts the plays on this instance: each has a namespace of its own, so that what an earlier one has
    left behind is not taken for an answer.
    """
    began = time.monotonic()
    trace = Trace(suite.protocol, transport, instance.clock)
    judge = _Judge(case, suite, profile)
    namespace = f"g{number}/"
    # Before the node of the play is made, which takes over what is measured here.
    last = get_to_know(instance, suite, profile, f"g{number}p/", transport)
    if last is not None:
        stimulus = fatal_stimulus(last, len(last), suite.harness)
        judge.crashed(case.marks.rules, told(stimulus, suite.harness), stimulus.index if stimulus else None)
        return PlayResult(case.name, tuple(judge.judgements), last, time.monotonic() - began, until=len(last))
    try:
        node = suite.harness.node_under_test(instance, trace, profile=profile, namespace=namespace, transport=transport)
    except NeverDialled:
        raise
    except HarnessError as error:
        judge.inconclusive(f"the node could not be set up: {error}")
        return PlayResult(case.name, tuple(judge.judgements), trace, time.monotonic() - began)
    blocks = Blocks(lambda: len(trace))
    try:
        with following(blocks):
            settled = judge.call(node)
    except KeyboardInterrupt:
        # Others may use the node: it is left as it was, also by a run that somebody ends.
        node.close()
        raise
    if instance.dials and not instance.timing.round_trip:
        # One that dials can be asked nothing before the first play.
        instance.timing.begin_with(node.timing)
    ended = len(trace)
    until = ended if judge.until is None else judge.until
    # All of this before the sessions are torn down: what comes meanwhile, comes or does not come by chance.
    readings, evidence = list(node.readings), node.evidence
    node.close()
    death = _death(node, instance)
    # From the trace, and all of it: whoever judges a recording of this play has nothing else, and is to say the same.
    judge.watch(suite.harness.conversations(trace).values())
    if death is not None:
        stimulus = fatal_stimulus(trace, ended, suite.harness)
        what = f"{told(stimulus, suite.harness)}\n{death}".rstrip()
        judge.crashed(blamed(case.marks.rules, blocks, stimulus), what, stimulus.index if stimulus else None)
    elif not judge.failed:
        judge.passed(evidence, readings)
    # Without the namespace, which differs from play to play: signatures and confirmations compare these texts.
    judgements = tuple(
        msgspec.structs.replace(each, what=each.what.replace(namespace, "")) for each in judge.judgements
    )
    return PlayResult(
        case.name,
        judgements,
        trace,
        time.monotonic() - began,
        settled,
        judge.not_played,
        until,
        is_in_vain=node.timing.met_silence,
        waited_in_full=node.timing.waited_in_full,
        was_late=judge.was_late,
    )


def get_to_know(instance: Instance, suite: Suite, profile: Profile, namespace: str, transport: str) -> Trace | None:
    """Take note of whether the node answers at all, and how far away it is, before the first play.

    Returns what was said to it if it has died of that and does not come back; ``StartFailed`` when it only does not.
    """
    # Once after each start: a node that answers nobody would have to be waited for before each play.
    if instance.has_served is not None or instance.dials:
        return None
    instance.has_served = False
    # With links of its own, as what it brings is no evidence of the play.
    trace = Trace(suite.protocol, transport, instance.clock)
    node = suite.harness.node_under_test(instance, trace, profile=profile, namespace=namespace, transport=transport)
    is_measured = False
    with suppress(HarnessError):
        node.probe()
        instance.has_served = True
        node.measure()
        is_measured = True
    instance.timing.begin_with(node.timing)
    node.close()
    if instance.has_served:
        # What was tried may have left something behind, and fresh instances, on which a play is confirmed or repeated,
        # are to be as this one is.
        try:
            instance.restart()
        except StartFailed:
            if is_measured:
                raise
            return trace
    return None


def _death(node: NodeInPlay, instance: Instance) -> str | None:
    """Return what is known of the node's death after a play; ``None`` when it lives.

    A process that is about to die, or that has lost its only thread, still looks alive for moments or for ever; so it
    is asked for an answer as well. One that dials cannot be asked: it answers nobody whom it has not called. And who
    never answered has not died of this play.
    """
    if instance.alive() and instance.has_served:
        try:
            node.probe()
        except HarnessError as error:
            return f"{error}\n{instance.last_output()}"
    return None if instance.alive() else instance.last_output()


class _Judge:
    """Collects judgements during one play."""

    def __init__(self, case: Case, suite: Suite, profile: Profile) -> None:
        self.case = case
        self.suite = suite
        self.profile = profile
        self.rules = case.marks.rules
        """Those that a pass judges; of a history, those that it says it came to."""
        self.judgements: list[Judgement] = []
        self.failed = False
        self.not_played = ""
        self.was_late = False
        self.until: int | None = None
        """How many entries the trace had when what is wrong showed, where the play went on."""

    def call(self, node: Any) -> bool:
        """Run the case's function; returns whether another play could not change an inconclusive outcome."""
        # From the most exact to the least: RuleBroken is an AssertionError, Unsupported a HarnessError.
        try:
            judged = self.case.function(node=node)
            if self.case.marks.is_history and isinstance(judged, frozenset):
                self.rules = tuple(sorted(judged))
        except RulesBroken as error:
            for each in error.each:
                self.broken(each.ids, str(each))
        except AssertionError as error:
            self.failed_requirement(error)
        except (NotPlayed, NotOffered) as error:
            self.failed, self.not_played = True, str(error)
            return True
        except (Inconclusive, Unsupported) as error:
            self.inconclusive(str(error))
            self.was_late = isinstance(error, TooLate)
            return True
        except NeverDialled:
            # That is no play at all: the next would wait as long in vain.
            raise
        except HarnessError as error:
            # A time-out or a lost connection on which no requirement was stated: no proof of anything.
            self.inconclusive(str(error))
        except Flaky as error:
            # Hypothesis replays what fails; an implementation that answers otherwise then has its reasons (load,
            # order), and the case has no proof.
            self.inconclusive(f"the same stimulus was answered differently: {error}")
        except Exception:
            self.add(self.case.marks.rules, Outcome.ERROR, traceback.format_exc())
        return False

    def failed_requirement(self, error: AssertionError) -> None:
        """Judge the rules as broken that an assertion is about; what it says becomes text here and nowhere else."""
        rules = error.ids if isinstance(error, RuleBroken) else self.case.marks.rules
        if isinstance(error, RuleBroken) and error.is_whole:
            self.broken(rules, str(error), shown_by=error.shown_by)
            self.until = error.until
            return
        entries = cited(error)
        what = complaint(error, self.case.requirement or self.case.sentence)
        self.broken(rules, what, entries[-1] if entries else None)

    def add(self, rules: tuple[str, ...], outcome: Outcome, what: str, evidence: int = 0, **more: Any) -> None:
        """Judge some rules alike; ``more`` is what else a judgement says."""
        self.failed = True
        for rule in rules:
            self.judgements.append(Judgement(rule, outcome, self.case.name, "case", what, "", evidence, **more))

    def broken(self, rules: tuple[str, ...], what: str, entry: int | None = None, shown_by: str = "") -> None:
        """Judge rules as broken, and the case's others as inconclusive: the case has ended before it came to them."""
        for rule in rules:
            self.add((rule,), self.suite.broken(rule), what, 1, entry=entry, shown_by=shown_by)
        if self.case.marks.is_history:
            return  # it says nothing of rules that it did not come to
        self.cut_short(rules, f"{', '.join(rules)} broke first")

    def inconclusive(self, cause: str) -> None:
        """Judge all of the case's rules as inconclusive."""
        self.add(self.case.marks.rules, Outcome.INCONCLUSIVE, cause)

    def crashed(self, rules: tuple[str, ...], what: str, entry: int | None) -> None:
        """Judge rules as a crash, whatever else was seen: it may be a symptom of the same defect."""
        self.judgements.clear()
        self.add(rules, Outcome.CRASH, what, 1, entry=entry)
        self.cut_short(rules, "the node died first")

    def cut_short(self, rules: tuple[str, ...], why: str) -> None:
        """Judge all other rules of the case as inconclusive: it has ended before it came to them, or had done so."""
        others = tuple(rule for rule in self.case.marks.rules if rule not in rules)
        self.add(others, Outcome.INCONCLUSIVE, f"not reached: {why}", is_cut_short=True)

    def passed(self, evidence: int, readings: list[tuple[str, str, str]]) -> None:
        """Judge all of the case's rules as kept, as far as the readings that were seen are accepted."""
        if not evidence:
            # A case that saw nothing would pass against an implementation that does nothing.
            self.add(self.case.marks.rules, Outcome.ERROR, "the case passed without any evidence")
            return
        seen: dict[str, tuple[Outcome, str, str]] = {}
        for rule, reading, option in readings:
            judged = judge_reading(rule, reading, option, self.suite, self.profile)
            # Of several that it follows the worst counts, whichever was seen last.
            if rule not in seen or judged[0].rank > seen[rule][0].rank:
                seen[rule] = judged
        for rule in self.rules:
            outcome, what, reading = seen.get(rule, (Outcome.PASS, "", ""))
            self.judgements.append(Judgement(rule, outcome, self.case.name, "case", what, reading, evidence))

    def watch(self, conversations: Iterable[Judgeable]) -> None:
        """Let every monitor judge every link on which the tester itself kept to the document."""
        self.judgements += judge_conversations(conversations, self.suite, self.profile, self.case.name)
