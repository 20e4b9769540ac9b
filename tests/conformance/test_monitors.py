"""The walk over a session: who is called when, and what is counted without a call."""

from collections.abc import Hashable, Iterator

import pytest

import conformance.monitors as walking
from conformance.monitors import (
    KEPT,
    Finding,
    Monitors,
    Observation,
    Selector,
    SessionEnd,
    SessionFindings,
    Visited,
    broken,
    follows,
)
from harness.trace import Direction

SENT, RECEIVED = Direction.SENT, Direction.RECEIVED


class Said:
    """A message of a protocol that has words only."""

    def __init__(self, direction: Direction, form: Hashable, entry: int) -> None:
        self.direction, self.form, self.entry = direction, form, entry


class Session:
    """A conversation: ``<word`` was received, ``>word`` sent."""

    def __init__(self, *words: str, role: str = "server") -> None:
        self.role = role
        self.events = [
            Said(SENT if word.startswith(">") else RECEIVED, word[1:], entry) for entry, word in enumerate(words)
        ]


class Words:
    """The state: the words so far."""

    def __init__(self, session: Session) -> None:
        self.role = session.role
        self.before: list[Hashable] = []

    def see(self, event: Visited) -> None:
        self.before.append(event.form)

    def ending(self) -> Iterator[Visited]:
        yield SessionEnd(0.0)


def on(*forms: Hashable, direction: Direction = RECEIVED, role: str = "") -> Selector:
    return lambda its, way, form: way is direction and form in forms and role in ("", its)


def seen(event: Said, state: Words) -> Finding:
    """Cite whatever is visited."""
    return broken(event.entry, "seen")


def entries(monitors: Monitors[Words], session: Session) -> dict[str, list[int]]:
    found = monitors.watch(session).findings
    return {rule: [finding.entry for finding in findings] for rule, findings in found.items()}


def test_a_monitor_is_called_for_its_direction_and_its_forms() -> None:
    monitors = Monitors(Words)

    @monitors("A", on=on("x"))
    def received(event: Said, state: Words) -> Finding:
        return broken(event.entry, "x")

    @monitors("B", on=on("x", "y", direction=SENT))
    def sent(event: Said, state: Words) -> Finding | None:
        return broken(event.entry, "y") if event.form == "y" else None

    session = Session("<x", ">x", ">y", "<y", "<x")
    assert entries(monitors, session) == {"A": [0, 4], "B": [2]}
    assert [each.name for each in monitors.visitors("", RECEIVED, "x")] == ["received"]


def test_visitors_see_the_state_before_the_message() -> None:
    monitors = Monitors(Words)
    states = []

    @monitors("A", on=on("y"))
    def look(event: Said, state: Words) -> None:
        states.append(list(state.before))

    monitors.watch(Session(">x", "<y", "<y"))
    assert states == [["x"], ["x", "y"]]


def test_the_end_is_visited_when_all_was_seen_and_several_findings_are_one_rules() -> None:
    monitors = Monitors(Words)

    @monitors("A", on=on("x"))
    def each_time(event: Said, state: Words) -> Observation:
        return broken(event.entry, "x") if event.entry else KEPT

    @monitors("A", on=on(SessionEnd))
    def in_the_end(end: SessionEnd, state: Words) -> Iterator[Finding]:
        yield from (broken(len(state.before), "over") for _ in range(2))
        yield 3

    found = monitors.watch(Session("<x", "<y", "<x"))
    assert found.kept == {"A": 4}
    assert [(each.ok, each.entry) for each in found.findings["A"]] == [(False, 2), (False, 3), (False, 3)]


def test_a_rule_is_seen_kept_once_or_several_times() -> None:
    monitors = Monitors(Words)
    monitors("A", on=on("x"))(lambda event, state: KEPT)
    monitors("B", on=on("x"))(lambda event, state: 2)
    monitors("C", on=on("x"))(lambda event, state: [KEPT, follows(event.entry, "R01", "B"), KEPT])
    found = monitors.watch(Session("<x", "<x"))
    assert found.kept == {"A": 2, "B": 4, "C": 4}
    assert [(each.ok, each.entry, each.reading, each.option) for each in found.findings["C"]] == [
        (True, 0, "R01", "B"),
        (True, 1, "R01", "B"),
    ]


def test_what_shows_at_the_end_is_nothing_that_was_said() -> None:
    """It is visited, and the state takes no note of it."""
    monitors, states = Monitors(Words), []
    monitors("A", on=on(SessionEnd))(lambda end, state: states.append(state))
    monitors.watch(Session("<x"))
    assert [state.before for state in states] == [["x"]]


def test_what_keeps_a_rule_by_its_form_is_counted_without_a_call() -> None:
    monitors = Monitors(Words)
    shared = on("x", "y")

    @monitors("A", on=on("z"), kept_by=shared)
    def first(event: Said, state: Words) -> Finding:
        return broken(event.entry, "z")

    @monitors("B", on=on("z"), kept_by=shared)
    def second(event: Said, state: Words) -> None: ...

    found = monitors.watch(Session("<x", "<y", ">x", "<z"))
    assert found.kept == {"A": 2, "B": 2}
    assert [*found.findings] == ["A"]


def test_a_rule_on_which_nothing_was_found_is_not_there() -> None:
    monitors = Monitors(Words)
    monitors("A", on=on("x"), kept_by=on("y"))(lambda event, state: None)
    monitors("B", on=on("x"))(lambda event, state: ())
    assert monitors.watch(Session("<x", ">y")) == SessionFindings({}, {})


def test_a_role_has_monitors_of_its_own() -> None:
    monitors = Monitors(Words)

    monitors("A", on=on("x", role="client"))(seen)
    assert entries(monitors, Session("<x")) == {}
    assert entries(monitors, Session("<x", role="client")) == {"A": [0]}
    assert entries(monitors, Session("<x")) == {}


def test_forms_that_a_peer_makes_up_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MOST_PLANS", 5)
    monitors = Monitors(Words)
    asked = []

    def selects(role: Hashable, direction: Direction, form: Hashable) -> bool:
        asked.append(form)
        return form == "word 9"

    monitors("A", on=selects)(seen)
    session = Session(*(f"<word {number}" for number in range(10)))
    assert entries(monitors, session) == {"A": [9]}
    asked.clear()
    assert entries(monitors, session) == {"A": [9]}
    assert "word 0" not in asked
    assert "word 9" in asked


def test_a_monitor_that_is_registered_later_is_called_too() -> None:
    monitors = Monitors(Words)
    monitors("A", on=on("x"))(seen)
    assert entries(monitors, Session("<x")) == {"A": [0]}
    monitors("B", on=on("x"))(seen)
    assert entries(monitors, Session("<x")) == {"A": [0], "B": [0]}
