"""Confirming: a suspicion becomes a finding when a fresh instance shows it again."""

from collections.abc import Sequence

import msgspec

from fuzz.net.moves import NetworkTest, joined
from fuzz.net.node_on_trial import SUSPICION, NodeOnTrial, Reproduced, reproduce
from fuzz.net.symptoms import Symptom
from fuzz.net.targets import without_what_is_kept

BEFORE = (1, 2, 4, 8, 16)
"""How many of the last tests are played together, until the symptom shows."""

TIMES = 30
"""How often a test is played that is suspected to let a process grow: little, each time, shows then."""

CERTAIN = ("crash", "rule")
"""The kinds of symptoms that are certain when they were shown once: of others a busy machine may be the reason."""


class ConfirmedSuspicion(msgspec.Struct, frozen=True):
    """What is proven: the smallest test found, how often it is to be played, the symptom and its trace.

    ``tests`` are those that it was joined of.
    """

    test: NetworkTest
    times: int
    reproduced: Reproduced
    tests: tuple[NetworkTest, ...] = ()

    @property
    def symptom(self) -> Symptom:
        """What it shows."""
        return self.reproduced.symptom


def confirm(node: NodeOnTrial, last: Sequence[NetworkTest], suspected: Symptom) -> ConfirmedSuspicion | None:
    """Show a symptom again on a fresh instance, by the last tests that were played; ``None`` when it does not show.

    In a hurry: what is not certain by that is shown in full once it is small.
    """
    node.patience = node.hurried(SUSPICION)
    times = TIMES if suspected.kind == "growth" else 1
    if suspected.kind == "growth":
        last = [without_what_is_kept(node.target, each) for each in last]
    for count in BEFORE:
        if count > 1 and count // 2 >= len(last):
            break
        tests = tuple(last[-count:])
        test = joined(tests)
        if (shown := reproduce(node, test, times=times)) is not None:
            # Suspected of growth, it may have shown something else, for which once is enough.
            is_else = times > 1 and shown.symptom.kind != "growth"
            if is_else and (once := shown_again(node, test, shown, 1)) is not None:
                times, shown = 1, once
            return ConfirmedSuspicion(test, times, shown, tests)
    return None


def shown_again(node: NodeOnTrial, test: NetworkTest, found: Reproduced, times: int) -> Reproduced | None:
    """Return what a test shows on a fresh instance that plays it so often, if that is what was found."""
    shown = reproduce(node, test, times=times)
    return shown if shown is not None and is_same(shown.symptom, found.symptom) else None


def shown_in_full(node: NodeOnTrial, test: NetworkTest, found: ConfirmedSuspicion) -> Reproduced | None:
    """Return what a test shows on a fresh instance that is waited for: what was found, or what took its time to end."""
    shown = reproduce(node, test, times=found.times)
    is_proven = shown is not None and (shown.symptom.kind in CERTAIN or is_same(shown.symptom, found.symptom))
    return shown if is_proven else None


def is_same(one: Symptom, other: Symptom) -> bool:
    """Tell whether two symptoms may be one: who hangs may do so for whoever asks first, and that is as it comes."""
    return one.rough == other.rough or (one.kind == other.kind == "hang" and not (one.says_where or other.says_where))
