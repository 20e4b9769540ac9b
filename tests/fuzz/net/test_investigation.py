"""Suspicions: who is quick is suspected soon; what a known finding explains is not looked into again."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import investigated
import msgspec
import pytest
from brokers import need_broker
from investigated import ALL, look_into

from fuzz.net.campaign import findings_in
from fuzz.net.confirming import ConfirmedSuspicion
from fuzz.net.finding import finding_name, read_finding
from fuzz.net.investigation import AGAIN, Investigation
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import CHECKS, SOONEST, SUSPICION, NodeOnTrial, Reproduced
from fuzz.net.suspects import UNCONFIRMED, Suspects
from fuzz.net.symptoms import GROWS, Symptom
from harness.errors import StartFailed
from wire import envelope


def investigation_of(node: NodeOnTrial, out: Path) -> Investigation:
    return investigated.investigation_of("rai", "publisher", node, out)


def put_on_trial(*options: str) -> NodeOnTrial:
    need_broker("nats")
    return investigated.put_on_trial("rai", "publisher", *options)


def says(*said: tuple[str, str]) -> NetworkTest:
    return (Opens("a"), Says("a", tuple(envelope.data(each, members.encode()) for each, members in said)), Listens("a"))


def listed(*subjects: str) -> tuple[str, str]:
    names = ",".join(f'"{each}"' for each in subjects)
    return "_INBOX.$node.subs", f'{{"last_seen":$seen,"wildcard":">","ack":true,"subs":[{names}]}}'


NOBODY: Any = SimpleNamespace(
    target=SimpleNamespace(layout=""),
    suite=SimpleNamespace(harness=SimpleNamespace(layout="")),
    expects=lambda symptom: False,
    restart=lambda: None,
)
"""A node that is not played on."""


def know(investigation: Investigation, symptom: Symptom) -> None:
    """Have it be known that something shows."""
    finding: Any = SimpleNamespace(symptom=symptom)
    investigation._known._by_folder[finding_name("rai", "publisher", symptom)] = finding


def small(symptom: Symptom) -> ConfirmedSuspicion:
    return ConfirmedSuspicion((Opens("a"),), 1, Reproduced(symptom, None))


TWO_WAYS = "_PSUB.START.LAB", '{"subject":"LAB.>","pattern":"(a|a)*"}'
STOPPED_IN_VAIN = "_SUB.STOP.LAB.a", '{"return":1}'


def test_who_has_always_been_quick_is_suspected_sooner_and_not_at_once() -> None:
    node = put_on_trial()
    try:
        assert node.hurried(SUSPICION) == SUSPICION
        for _ in range(CHECKS):
            assert node.play(says(listed("LAB.a")))[1] is None
        assert SOONEST * SUSPICION <= node.hurried(SUSPICION) <= SUSPICION
    finally:
        node.stop()


@pytest.mark.slow(seconds=20)  # answers that never come are waited for, and tests made small
def test_of_several_known_findings_each_is_tried_on_a_fresh_node(tmp_path: Path) -> None:
    """A regression: the second one was tried on a node that hung since the first one was."""
    node = put_on_trial(*ALL)
    investigation = investigation_of(node, tmp_path)
    try:
        look_into(investigation, node, says(listed(*["LAB.c"] * 20)))
        look_into(investigation, node, says(TWO_WAYS))
        assert investigation.counts.found == 2
        look_into(investigation, node, says(listed("LAB.c"), TWO_WAYS))
        assert (investigation.counts.found, investigation.counts.again) == (2, 1)
    finally:
        node.stop()
    shown = {read_finding(path.parent).symptom.rough for path in findings_in(tmp_path)}
    assert len(shown) == 1, "otherwise the one could not be taken for the other"


@pytest.mark.slow(seconds=8)  # a test is made small
def test_who_serves_others_again_is_not_started_anew(tmp_path: Path) -> None:
    """Who harms somebody now and then would never live long enough to be seen growing."""
    node = put_on_trial(*ALL)
    investigation = investigation_of(node, tmp_path)
    try:
        look_into(investigation, node, says(STOPPED_IN_VAIN))
        restarts = node.restarts
        investigation._tried.update({each.symptom.rough: 1000 * AGAIN for each in investigation._known})
        look_into(investigation, node, says(STOPPED_IN_VAIN))
        assert (investigation.counts.again, node.restarts) == (1, restarts)
        assert node.play(says(listed("LAB.a")))[1] is None
    finally:
        node.stop()


@pytest.mark.parametrize(("tried", "least", "most"), [(AGAIN - 1, 200, 200), (2 * AGAIN, 30, 70), (20 * AGAIN, 0, 4)])
def test_what_does_not_say_where_it_happens_is_looked_into_less_and_less_often(
    tried: int, least: int, most: int, tmp_path: Path
) -> None:
    """A regression: behind six hangs of one kind no other hang was looked into in the rest of a campaign."""
    investigation = investigation_of(NOBODY, tmp_path)
    hang = Symptom("hang", "nobody's greeting is answered any more")
    investigation._tried[hang.rough] = tried
    assert least <= sum(not investigation.is_known(hang) for _ in range(200)) <= most


@pytest.mark.parametrize(
    ("about", "least", "most"), [(("_PSUB.START",), 160, 199), (("repetitive _PSUB.START",), 0, 0), (("_SNAP",), 0, 0)]
)
def test_what_was_shown_in_a_hurry_is_mostly_taken_for_known(
    about: tuple[str, ...], least: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In full it may be something else, and what is said again and again in it may be no part of it."""
    investigation = investigation_of(NOBODY, tmp_path)
    for what in ("", "repetitive "):
        know(investigation, Symptom("hang", "nobody is answered", about=(f"{what}_PSUB.START",)))
    monkeypatch.setattr("fuzz.net.investigation.shows_with_less", lambda *what: True)
    shown = small(Symptom("hang", "nobody is answered", about=about))
    assert least <= sum(investigation._is_known_early(shown) for _ in range(200)) <= most


@pytest.mark.parametrize("is_enough", [False, True])
def test_what_needs_more_than_a_known_finding_says_is_another(
    is_enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: who forgot all that others were promised, by six steps, was taken for who did by one of them."""
    investigation = investigation_of(NOBODY, tmp_path)
    harm = Symptom("harm", "a promise is gone", about=("cancellation",))
    know(investigation, harm)
    monkeypatch.setattr("fuzz.net.investigation.shows_with_less", lambda *what: is_enough)
    shown = small(msgspec.structs.replace(harm, about=("request", "heartbeat", "cancellation")))
    assert investigation._is_known_by_now(shown) is is_enough
    assert not investigation._is_known_by_now(small(msgspec.structs.replace(harm, about=("request",))))


@pytest.mark.parametrize(
    ("without_it", "is_enough", "least", "most"),
    [(None, True, 160, 199), (None, False, 60, 130), (Symptom("harm", "a promise is gone"), True, 0, 0)],
)
def test_what_a_known_finding_seems_to_explain_is_looked_into_now_and_then(
    without_it: Symptom | None, is_enough: bool, least: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Often where what that says is not enough for it."""
    investigation = investigation_of(NOBODY, tmp_path)
    know(investigation, Symptom("harm", "a promise is gone", about=("cancellation",)))
    shown = None if without_it is None else Reproduced(without_it, None)
    monkeypatch.setattr("fuzz.net.investigation.without", lambda node, test, names: test[:1])
    monkeypatch.setattr("fuzz.net.investigation.reproduce", lambda node, test: shown)
    monkeypatch.setattr("fuzz.net.investigation.shows_with_less", lambda *what: is_enough)
    harm = Symptom("harm", "a promise is gone")
    explained = sum(investigation._is_explained(says(TWO_WAYS), harm) for _ in range(200))
    assert least <= explained <= most
    assert investigation.counts.again == explained


def test_what_was_asked_before_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: of growth that was looked for for seconds most was left at that, as the dice were thrown again."""
    anybody: Any = SimpleNamespace(restart=lambda: None, serves_again=lambda: True, expects=lambda symptom: False)
    investigation = investigation_of(anybody, tmp_path)
    growth = Symptom("growth", "it takes more")
    investigation._tried[growth.rough] = 1000 * AGAIN
    looked_into = list[Symptom]()
    monkeypatch.setattr(investigation, "_confirm", lambda last, symptom: bool(looked_into.append(symptom)))
    investigation.look_into([says(TWO_WAYS)], growth)
    assert not looked_into
    # Played once, no test lets anybody grow: whatever is left out of it, that would explain it.
    monkeypatch.setattr(investigation, "_is_explained", lambda test, symptom: True)
    investigation.look_into([says(TWO_WAYS)], growth, is_new=True)
    assert looked_into == [growth]


def test_for_the_memory_that_descriptors_take_nobody_looks_into_it_again(tmp_path: Path) -> None:
    """A regression: each time that it took enough, another known leak of descriptors was looked into for seconds."""
    investigation = investigation_of(NOBODY, tmp_path)
    know(investigation, Symptom("growth", GROWS.format("descriptors"), about=("command keep",)))
    tests = [(GivesCommand("keep"),), (GivesCommand("other"),)]
    resources = ("descriptors", "memory", "threads")
    left = [investigation.unexplained(tests, Symptom("growth", GROWS.format(each))) for each in resources]
    assert left == [(tests[1],), (tests[1],), tuple(tests)]


CRASH, BROKEN = Symptom("crash", "at a.c:1", place="a.c:1"), Symptom("rule", "it is broken", "ZI-018")


def test_what_else_a_test_shows_does_not_stand_for_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: of who broke a known rule in each test no crash was kept that wanted several tests."""
    investigation = investigation_of(NOBODY, tmp_path)
    know(investigation, BROKEN)
    shown = [small(BROKEN), small(CRASH)]
    monkeypatch.setattr("fuzz.net.investigation.confirm", lambda node, last, symptom: shown.pop(0))
    monkeypatch.setattr(investigation, "_keep", lambda small, found: know(investigation, small.symptom))
    monkeypatch.setattr("fuzz.net.investigation.made_small", lambda node, found, **how: found)
    investigation.look_into([says(TWO_WAYS)], CRASH)
    assert (investigation.counts.again, investigation.counts.unconfirmed) == (1, 1)
    assert len(list((tmp_path / UNCONFIRMED).iterdir())) == 1, "it is there for who wants to look at it"
    investigation.look_into([says(TWO_WAYS)], CRASH)
    assert (investigation.counts.again, investigation.counts.unconfirmed) == (1, 1)
    assert investigation.is_known(CRASH)


def test_what_was_known_in_a_hurry_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: it was asked for again, and if it was not known then, it was written though never shown in full."""
    investigation = investigation_of(NOBODY, tmp_path)
    monkeypatch.setattr(investigation, "_is_known_by_now", lambda small: False)
    early = msgspec.structs.replace(small(Symptom("hang", "nobody is answered")), is_known=True)
    investigation._keep(early, early.test)
    assert (investigation.counts.again, investigation.counts.found) == (1, 0)
    assert findings_in(tmp_path) == []


def test_a_suspect_is_let_go_of_before_anything_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: who could not be started once, on a busy night, kept all others from what looked the same."""

    def fail() -> None:
        raise StartFailed("no port is free")

    anybody: Any = SimpleNamespace(restart=fail, expects=lambda symptom: False)
    investigation = investigation_of(anybody, tmp_path)
    monkeypatch.setattr("fuzz.net.investigation.confirm", lambda node, last, symptom: None)
    with pytest.raises(StartFailed):
        investigation.look_into([says(TWO_WAYS)], CRASH)
    assert not Suspects(tmp_path).others_look_into(CRASH)


def test_who_is_known_to_break_a_rule_is_seen_to_break_another(tmp_path: Path) -> None:
    node: Any = SimpleNamespace()
    investigation = investigation_of(node, tmp_path)
    know(investigation, BROKEN)
    assert node.is_known(BROKEN)
    assert not node.is_known(Symptom("rule", "it is broken", "ZI-021"))
