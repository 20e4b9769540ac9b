"""Investigation: from a symptom that a test has shown to a finding, or to nothing new.

Whatever is seen is on disk before anything else is done with it, so that nobody loses it who kills the campaign.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec

from fuzz.net.confirming import ConfirmedSuspicion, confirm, may_be
from fuzz.net.explaining import said_in, shows_with_less, without
from fuzz.net.finding import NetworkFinding, NetworkOrigin, stamped, write_finding
from fuzz.net.known_findings import KnownFindings
from fuzz.net.making_small import made_small
from fuzz.net.moves import NetworkTest
from fuzz.net.node_on_trial import NodeOnTrial, reproduce
from fuzz.net.suspects import Suspects
from fuzz.net.symptoms import GROWS, REPETITIVE, Symptom

AGAIN = 12
"""How often a symptom is looked into that does not say where it happens: several defects may show in the same way.

What brings no new finding counts twice. Behind that it is looked into more and more seldom.
"""

LONG, LEAST, MOST = 600.0, 0.25, 4.0
"""Seconds of a campaign that has the usual time for making a test small; a shorter one has less, a longer one more.

Who has few minutes is better served with more findings than with smaller ones; who has an hour wants to read them.
"""

DOUBT = 0.1
"""How often a symptom is looked into all the same that a known finding seems to explain."""

ENOUGH = 0.5
"""How often it is enough for it to seem so that a test shows nothing without what the known finding is about."""


class InvestigationCounts(msgspec.Struct):
    """What came of symptoms: new findings, known ones met again, expected ones, what no fresh instance showed again."""

    found: int = 0
    again: int = 0
    expected: int = 0
    unconfirmed: int = 0


class Investigation:
    """Looks into the symptoms of one node, in a campaign of some seconds.

    ``expect`` is the file of what is expected of it, where the user has named one; ``doing`` is told what it is at,
    ``origin`` says where a finding is from.
    """

    def __init__(
        self,
        node: NodeOnTrial,
        known: KnownFindings,
        out: Path,
        random: Random,
        *,
        iut: str,
        seconds: float,
        options: tuple[str, ...],
        expect: str,
        origin: Callable[[], NetworkOrigin],
        doing: Callable[[str], None],
    ) -> None:
        self.counts = InvestigationCounts()
        self._node, self._known, self._out = node, known, out
        self._random, self._iut, self._options, self._expect = random, iut, options, expect
        # What is known is passed over, as far as it hides what else is wrong: a rule that each test breaks would.
        node.is_known = known.has
        self._thorough = min(MOST, max(LEAST, seconds / LONG))
        self._origin, self._doing = origin, doing
        self._suspects = Suspects(out)
        self._tried: Counter[str] = Counter()

    def look_into(self, last: Sequence[NetworkTest], symptom: Symptom, *, is_new: bool = False) -> None:
        """Confirm what the last of some tests has shown, and write it as a finding, unless it is known or expected.

        Whether it is known was asked before, and need not be again, where it ``is_new``.
        """
        is_played = False
        if self._node.expects(symptom):
            self.counts.expected += 1
        elif (not is_new and self.is_known(symptom)) or self._suspects.others_look_into(symptom):
            self._meet(symptom)
        else:
            suspect = self._suspects.write(last, symptom)
            is_explained = not (is_new or symptom.says_where) and self._is_explained(last[-1], symptom)
            self._suspects.done(suspect, confirmed=is_explained or self._confirm(last, symptom))
            is_played = True
        # Who is at fault is not what he was; who has broken a rule still is, and so is who serves others again. Growth
        # shows only of who lives for a while. And nobody is what he was after what was played to look into it.
        is_well = symptom.kind == "rule" or (symptom.kind in ("harm", "service") and self._node.serves_again())
        if is_played or not is_well:
            self._node.restart()

    def look_into_files(self, suspects: Sequence[Path]) -> None:
        """Look into what others have left who were killed."""
        for path in suspects:
            if (suspect := self._suspects.read(path)) is not None:
                self._suspects.done(path, confirmed=self._confirm(suspect.tests, suspect.symptom))
                self._node.restart()

    def _confirm(self, last: Sequence[NetworkTest], symptom: Symptom) -> bool:
        """Tell whether fresh instances show it again; then it is known. What else they show is looked into as well."""
        self._tried[symptom.rough] += 2
        self._doing("confirming")
        found = confirm(self._node, last, symptom)
        # A rule that is known by now does not show any more: somebody else was quicker.
        is_confirmed = (
            may_be(found.symptom, symptom) if found is not None else (symptom.rule != "" and self._known.has(symptom))
        )
        if found is not None and self._node.expects(found.symptom):
            self.counts.expected += 1
        elif found is not None and found.symptom.says_where and self._known.has(found.symptom):
            self._meet(found.symptom)
        elif found is not None:
            self._doing("making small")
            small = made_small(self._node, found, thorough=self._thorough, is_known=self._is_known_early)
            if small is None:
                is_confirmed = False
            else:
                # Who takes his time to die hangs in a hurry.
                is_confirmed = is_confirmed or may_be(small.symptom, symptom)
                before = self.counts.found
                self._keep(small, found.test)
                self._tried[symptom.rough] -= self.counts.found - before
        self.counts.unconfirmed += not is_confirmed
        return is_confirmed

    def _keep(self, small: ConfirmedSuspicion, found: NetworkTest) -> None:
        symptom, node = small.symptom, self._node
        # What a test is about is known when it is small, and with it by what it is recognised.
        if node.expects(symptom):
            self.counts.expected += 1
            return
        if small.is_known or self._is_known_by_now(small):
            self._meet(symptom)
            return
        finding = stamped(
            NetworkFinding(
                signature=symptom.digest,
                protocol=node.suite.protocol,
                role=node.description.role,
                iut=self._iut,
                implementation=node.description.name,
                version=node.instance.version,
                transport=node.transport,
                profile=node.profile,
                layout=node.target.layout,
                symptom=symptom,
                test=small.test,
                found=found,
                times=small.times,
                options=self._options,
                expect=self._expect,
                origin=self._origin(),
            )
        )
        folder, is_new = write_finding(self._out, finding, small.reproduced.trace)
        self._known.add_folder(folder)
        self.counts.found += is_new

    def _is_known_by_now(self, small: ConfirmedSuspicion) -> bool:
        """Tell whether what a small test shows is known: to others as well, who may have found it meanwhile."""
        self._known.look()
        symptom = small.symptom
        return self._known.has(symptom) or any(
            each.symptom.about
            and set(each.symptom.about) <= set(symptom.about)
            and shows_with_less(self._node, small.test, symptom, each, small.times)
            for each in self._known.alike(symptom)
        )

    def _is_known_early(self, small: ConfirmedSuspicion) -> bool:
        """Tell whether what was shown in a hurry, by a short sequence, is taken for known: mostly, and not always.

        In full it may be something else. Never where something is said again and again: that may be no part of it, as
        shows when the message is made small as well.
        """
        is_final = not any(each.startswith(REPETITIVE) for each in small.symptom.about)
        return is_final and self._random.random() >= DOUBT and self._is_known_by_now(small)

    def _meet(self, symptom: Symptom) -> None:
        self.counts.again += 1
        self._known.met[symptom.key] += 1

    def is_known(self, symptom: Symptom) -> bool:
        """Tell whether nothing new would come of looking into a symptom; by chance, where it does not say where."""
        if symptom.says_where:
            return self._known.has(symptom)
        tried = self._tried[symptom.rough]
        return tried >= AGAIN and self._random.random() > (AGAIN / tried) ** 2

    def unexplained(self, tests: Sequence[NetworkTest], symptom: Symptom) -> tuple[NetworkTest, ...]:
        """Return those of some tests in which something is missing of what each known finding is about."""
        alike = self._known.alike(symptom)
        if symptom == Symptom("growth", GROWS.format("memory")):
            # Whoever keeps a descriptor or a thread takes memory for it.
            alike = [each for each in self._known if each.symptom.kind == "growth"]
        known = [set(each.symptom.about) for each in alike if each.symptom.about]
        said = {test: said_in(self._node, test) for test in tests}
        return tuple(test for test in tests if not any(each <= said[test] for each in known))

    def _is_explained(self, test: NetworkTest, symptom: Symptom) -> bool:
        """Tell whether a known finding explains a symptom: without what that is about, the test does not show it.

        That is enough half of the time: else it is to show it with what that says alone.
        """
        known = self._known.alike(symptom)
        if not known or self._random.random() < DOUBT:
            return False
        for each in known:
            less = without(self._node, test, set(each.symptom.about))
            # On a fresh instance each: who has shown something would show it whatever is said.
            if less == test or reproduce(self._node, less) is not None:
                continue
            if self._random.random() < ENOUGH or shows_with_less(self._node, test, symptom, each, 1):
                self._meet(each.symptom)
                return True
        return False
