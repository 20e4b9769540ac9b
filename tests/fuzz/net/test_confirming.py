"""Confirming: what was shown once is not said of anybody, unless it is certain."""

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.suite import Suite
from fuzz.net import confirming
from fuzz.net.confirming import ConfirmedSuspicion, confirm, made_small
from fuzz.net.moves import NetworkTest, Opens, Says
from fuzz.net.node_on_trial import Reproduced
from fuzz.net.symptoms import KINDS, Symptom
from fuzz.net.targets import load

TEST: NetworkTest = (Opens("a"), Says("a", (b"x", b"y")))


def small(symptom: Symptom, monkeypatch: pytest.MonkeyPatch, *, shown: int) -> ConfirmedSuspicion | None:
    """Return what comes of a symptom that was shown once, and is shown again in so many of the tries."""
    left = [Reproduced(symptom, None)] * shown

    def reproduce(node: Any, test: NetworkTest, **how: Any) -> Reproduced | None:
        return left.pop() if left and test == TEST else None

    monkeypatch.setattr(confirming, "reproduce", reproduce)
    node: Any = SimpleNamespace(
        hurried=lambda seconds: 0.0, restart_took=0.0, target=load("zenoh")["router"], suite=Suite("zenoh")
    )
    return made_small(node, ConfirmedSuspicion(TEST, 1, Reproduced(symptom, None)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_shown_again_is_said_of_nobody_unless_it_is_certain(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: a service that was missing once, when there was no core, was a finding."""
    found = small(Symptom(kind, "what"), monkeypatch, shown=0)
    assert (found is not None) == (kind in ("crash", "rule"))
    assert found is None or found.test == TEST


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_again_by_nothing_smaller_stays_as_it_is(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = small(Symptom(kind, "what"), monkeypatch, shown=1)
    assert found is not None
    assert found.test == TEST


def test_what_is_shown_by_one_test_of_many_and_one_message_of_it_is_no_more_than_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A regression: the last sixteen tests, which a hang took to show, were a finding of two thousand lines.

    Whom a hang meets first is as it comes.
    """
    fresh_ones = list[bool]()

    def reproduce(node: Any, test: NetworkTest, *, times: int = 1, fresh: bool = True) -> Reproduced | None:
        fresh_ones.append(fresh)
        said = {each for move in test if isinstance(move, Says) for each in move.data}
        symptom = Symptom("hang", "nobody is answered" if len(test) % 2 else "nobody is served")
        return Reproduced(symptom, None) if said >= {b"bad", b"worse"} else None

    monkeypatch.setattr(confirming, "reproduce", reproduce)
    harmless: NetworkTest = (Opens("a"), *(Says("a", (b"%d" % number,)) for number in range(60)))
    culprit: NetworkTest = (Opens("a"), Says("a", (b"bad",)), *harmless[1:], Says("a", (b"y", b"worse", b"z")))
    node: Any = SimpleNamespace(
        hurried=lambda seconds: 0.0, restart_took=0.0, target=load("zenoh")["router"], suite=Suite("zenoh")
    )
    tests = [harmless, culprit, *[harmless] * 12]
    # Suspected of growth, for which it was played thirty times.
    found = confirm(node, tests, Symptom("growth", "it takes more"))
    assert found is not None
    assert (len(found.tests), found.times) == (14, 1)
    small = made_small(node, found)
    assert small is not None
    assert len(small.test) <= 4
    assert sum(len(move.data) for move in small.test if isinstance(move, Says)) <= 3
    assert all(fresh_ones), "who has heard much may not show again what a fresh one does"
