"""The walk over a session: who is called when, and what is counted without a call."""

from collections.abc import Hashable, Iterator

import pytest

import conformance.monitors as walking
from conformance.monitors import Finding, Monitors, Selector, SessionEnd, Visited, broken, kept
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


def entries(monitors: Monitors[Words], session: Session) -> dict[str, list[int]]:
    return {found.rule: [finding.entry for finding in found.findings] for found in monitors.watch(session)}


def test_a_monitor_is_called_for_its_direction_and_its_forms() -> None:
    monitors = Monitors(Words)

    @monitors("A", on=on("x"))
    def received(event: Said, state: Words) -> Finding:
        return kept(event.entry)

    @monitors("B", on=on("x", "y", direction=SENT))
    def sent(event: Said, state: Words) -> Finding | None:
        return broken(event.entry, "y") if event.form == "y" else None

    session = Session("<x", ">x", ">y", "<y", "<x")
    assert entries(monitors, session) == {"A": [0, 4], "B": [2]}
    assert [each.name for each in monitors.visitors("", RECEIVED, "x")] == ["received"]


def test_visitors_see_the_state_before_the_message() -> None:
    monitors = Monitors(Words)
    seen = []

    @monitors("A", on=on("y"))
    def look(event: Said, state: Words) -> None:
        seen.append(list(state.before))

    monitors.watch(Session(">x", "<y", "<y"))
    assert seen == [["x"], ["x", "y"]]


def test_the_end_is_visited_when_all_was_seen_and_several_findings_are_one_rules() -> None:
    monitors = Monitors(Words)

    @monitors("A", on=on("x"))
    def each_time(event: Said, state: Words) -> Finding:
        return kept(event.entry)

    @monitors("A", on=on(SessionEnd))
    def in_the_end(end: SessionEnd, state: Words) -> Iterator[Finding]:
        yield from (broken(len(state.before), "over") for _ in range(2))

    (found,) = monitors.watch(Session("<x", "<y"))
    assert [(each.ok, each.entry) for each in found.findings] == [(True, 0), (False, 2), (False, 2)]


def test_what_keeps_a_rule_by_its_form_is_counted_without_a_call() -> None:
    monitors = Monitors(Words)
    shared = on("x", "y")

    @monitors("A", on=on("z"), kept_by=shared)
    def first(event: Said, state: Words) -> Finding:
        return broken(event.entry, "z")

    @monitors("B", on=on("z"), kept_by=shared)
    def second(event: Said, state: Words) -> None: ...

    one, two = monitors.watch(Session("<x", "<y", ">x", "<z"))
    assert (one.rule, one.kept, len(one.findings), one.evidence) == ("A", 2, 1, 3)
    assert (two.rule, two.kept, two.findings, two.evidence) == ("B", 2, [], 2)


def test_a_rule_on_which_nothing_was_found_is_not_there() -> None:
    monitors = Monitors(Words)
    monitors("A", on=on("x"), kept_by=on("y"))(lambda event, state: None)
    assert monitors.watch(Session("<x", ">y")) == []


def test_a_role_has_monitors_of_its_own() -> None:
    monitors = Monitors(Words)

    @monitors("A", on=on("x", role="client"))
    def clients(event: Said, state: Words) -> Finding:
        return kept(event.entry)

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

    @monitors("A", on=selects)
    def found(event: Said, state: Words) -> Finding:
        return kept(event.entry)

    session = Session(*(f"<word {number}" for number in range(10)))
    assert entries(monitors, session) == {"A": [9]}
    asked.clear()
    assert entries(monitors, session) == {"A": [9]}
    assert "word 0" not in asked
    assert "word 9" in asked


def test_a_monitor_that_is_registered_later_is_called_too() -> None:
    monitors = Monitors(Words)
    monitors("A", on=on("x"))(lambda event, state: kept(event.entry))
    assert entries(monitors, Session("<x")) == {"A": [0]}
    monitors("B", on=on("x"))(lambda event, state: kept(event.entry))
    assert entries(monitors, Session("<x")) == {"A": [0], "B": [0]}
