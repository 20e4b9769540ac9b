"""Confirming: a suspicion becomes a finding when a fresh instance shows it again."""

from collections.abc import Sequence

import msgspec

from fuzz.net.moves import NetworkTest, joined
from fuzz.net.node_on_trial import SUSPICION, NodeOnTrial, Reproduced, reproduce
from fuzz.net.symptoms import Symptom
from fuzz.net.targets import without_what_is_kept
from harness.timing import ANSWER

BEFORE = (1, 2, 4, 8, 16)
"""How many of the last tests are played together, until the symptom shows."""

TIMES = 30
"""How often a test is played that is suspected to let a process grow: little, each time, shows then."""

LASTING = 100
"""How often it is played, and three times as often where it seems to grow, before that is said of anybody.

What keeps so many things and no more grows until it has as many, as a broker's client of ours did for 120 times.
"""

LAST = 2 * BEFORE[-1]
"""Tests that are remembered for it."""

CERTAIN = ("crash", "rule")
"""The kinds of symptoms that are certain when they were shown once: of others a busy machine may be the reason."""


class ConfirmedSuspicion(msgspec.Struct, frozen=True):
    """What a fresh instance has shown: the smallest test found, how often to play it, the symptom and its trace.

    ``tests`` are those that it was joined of. It ``is_known`` where a known finding was seen to explain it, in a hurry.
    """

    test: NetworkTest
    times: int
    reproduced: Reproduced
    tests: tuple[NetworkTest, ...] = ()
    is_known: bool = False

    @property
    def symptom(self) -> Symptom:
        """What it shows."""
        return self.reproduced.symptom


def confirm(node: NodeOnTrial, last: Sequence[NetworkTest], suspected: Symptom) -> ConfirmedSuspicion | None:
    """Show a symptom again on a fresh instance, by the last tests that were played; ``None`` when nothing shows.

    In a hurry: what is not certain by that is shown in full once it is small. What is suspected of growth is played so
    often that it would meet a busy moment. Where only something else shows, that is returned (``may_be``).
    """
    node.patience = ANSWER if suspected.kind == "growth" else node.hurried(SUSPICION)
    times = TIMES if suspected.kind == "growth" else 1
    if suspected.kind == "growth":
        last = [without_what_is_kept(node.target, each) for each in last]
    other = None
    for count in BEFORE:
        if count > 1 and count // 2 >= len(last):
            break
        tests = tuple(last[-count:])
        test = joined(tests)
        if (shown := reproduce(node, test, times=times)) is None:
            continue
        if shown.is_unplayed:
            # It may have been a moment.
            node.patience = ANSWER
            if (shown := reproduce(node, test, times=times)) is None:
                continue
        if shown.is_unplayed:
            # Who does not come up any more may have been brought to it by any of them, and by what he died of.
            symptom = suspected if suspected.kind == "crash" else shown.symptom
            return ConfirmedSuspicion(joined(last), 1, Reproduced(symptom, None, is_unplayed=True), tuple(last))
        again = times
        # Suspected of growth, it may have shown something else, for which once is enough.
        is_else = times > 1 and shown.symptom.kind != "growth"
        if is_else and (once := shown_again(node, test, shown, 1)) is not None:
            again, shown = 1, once
        found = ConfirmedSuspicion(test, again, shown, tests)
        if may_be(shown.symptom, suspected):
            return found
        # A test that breaks a rule, say, does so alone; what it died of may need the one before.
        other = other or found
    return other


def shown_again(node: NodeOnTrial, test: NetworkTest, found: Reproduced, times: int) -> Reproduced | None:
    """Return what a test shows on a fresh instance that plays it so often, if that is what was found."""
    shown = reproduce(node, test, times=times)
    return shown if shown is not None and is_again(shown, found) else None


def shown_in_full(node: NodeOnTrial, test: NetworkTest, times: int) -> Reproduced | None:
    """Return what a test shows on fresh instances that are waited for as long as an answer may take.

    Twice, but for what is certain, and for growth, for which it is played more often than that: what shows once may be
    somebody's busy moment. That it is not what was seen in a hurry is as may be: who hangs in a moment may die in a
    second.
    """
    shown = reproduce(node, test, times=LASTING if times > 1 else times)
    if shown is None or shown.symptom.kind in (*CERTAIN, "growth"):
        return shown
    return shown_again(node, test, shown, times)


def is_again(shown: Reproduced, found: Reproduced) -> bool:
    """Tell whether a test has shown again what was found: who does not come up hangs whatever is to be played."""
    return shown.is_unplayed == found.is_unplayed and is_same(shown.symptom, found.symptom)


def is_same(one: Symptom, other: Symptom) -> bool:
    """Tell whether two symptoms may be one: who hangs may do so for whoever asks first, and that is as it comes."""
    return one.rough == other.rough or (one.kind == other.kind == "hang" and not (one.says_where or other.says_where))


def may_be(shown: Symptom, suspected: Symptom) -> bool:
    """Tell whether what shows may be what was suspected.

    What is suspected in a hurry, of somebody who is silent or does not serve, may be anything but a broken rule.
    """
    return is_same(shown, suspected) or (suspected.kind not in CERTAIN and shown.kind != "rule")
