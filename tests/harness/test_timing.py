"""Timing: every wait is longer where a node is far away, and all of them where its description says that it is slow."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from harness.errors import Deadline, HarnessError
from harness.links.network_path import NetworkPath
from harness.protocol import load
from harness.timing import (
    ANSWER,
    CONFIRMED,
    CONNECT,
    CONTROL,
    DIAL,
    ENOUGH,
    GLANCE,
    HASTE,
    HASTY_CONTROL,
    IN_A_ROW,
    LATE,
    MARGIN,
    PROMPT,
    SEND,
    SLOWER,
    WINDOW,
    Timing,
)
from harness.trace import Trace

ROOT = Path(__file__).parents[2]


def test_a_play_waits_as_long_as_its_node_is_waited_for_now():
    node = Timing(answer=1.0)
    play, another = node.of_a_play(), node.of_a_play()
    node.answer = 0.5
    assert (play.patience, play.of_a_play().patience) == (0.5, 0.5)
    another.answer = 7.0
    assert (another.patience, node.patience, play.patience) == (7.0, 0.5, 0.5)


def test_a_slow_node_is_waited_for_longer_by_its_scale_and_by_its_round_trips():
    near, far = Timing(), Timing(scale=3.0, round_trip=0.4)
    assert (near.patience, near.window, near.glance, near.dialling) == (ANSWER, WINDOW, GLANCE, DIAL)
    assert (far.patience, far.window, far.glance, far.dialling) == pytest.approx(
        [3 * floor + MARGIN * 0.4 for floor in (ANSWER, WINDOW, GLANCE, DIAL)]
    )
    assert (near.connecting, near.sending) == (CONNECT, SEND)
    assert (far.connecting, far.sending) == pytest.approx([3 * floor + MARGIN * 0.4 for floor in (CONNECT, SEND)])
    assert (near.control, far.control) == (CONTROL, 3 * CONTROL)


def test_who_is_waited_for_less_than_usual_has_less_time_for_control_lines_and_as_much_for_all_else():
    node = Timing(scale=2.0)
    node.answer = ANSWER / 2
    assert (node.control, node.sending, node.connecting) == pytest.approx((CONTROL, 2 * SEND, 2 * CONNECT))
    node.answer = 0.01
    assert node.control == 2 * HASTY_CONTROL
    node.answer = 4 * ANSWER
    assert node.control == 2 * CONTROL


def test_the_protocols_seconds_go_by_tempo_and_scale_and_what_has_to_come_has_its_way_as_well():
    timing = Timing(scale=2.0, tempo=20.0, round_trip=0.1)
    assert timing.quiet(10.0) == pytest.approx(1.0 + MARGIN * 0.1)
    assert timing.within(10.0) == pytest.approx(1.0 + timing.patience)
    # Half a second of the clock is no time for a machine that is busy.
    assert timing.ample(10.0) == timing.patience


def test_plays_begin_with_the_fastest_answer_and_one_slow_answer_is_of_one_play():
    of_the_node, probe = Timing(), Timing()
    for seconds in (0.5, 0.2, 0.3):
        probe.took(seconds)
    of_the_node.begin_with(probe)
    play = of_the_node.of_a_play()
    assert play.round_trip == 0.2
    play.took(4.0)
    assert play.round_trip == 4.0
    assert of_the_node.of_a_play().round_trip == 0.2


def test_of_another_instance_of_a_node_is_taken_over_what_was_measured_and_not_what_it_left_out():
    measured, other = Timing(round_trip=0.3), Timing(scale=2.0, tempo=3.0)
    measured.lag = 0.1
    for _ in range(CONFIRMED):
        measured.of_a_play().awaited("an answer", came=False)
    other.take_over(measured)
    assert (other.round_trip, other.lag, other.scale, other.tempo) == (0.3, 0.1, 2.0, 3.0)
    assert not other.silences.is_known("an answer")


def test_what_two_plays_have_waited_for_in_vain_is_waited_for_no_longer_than_a_window():
    node = Timing()
    first, second = node.of_a_play(), node.of_a_play()
    for _ in range(3):
        first.awaited("an answer", came=False)
    # However often: one play may have met a busy moment.
    assert second.patience_for("an answer") == second.patience
    second.awaited("an answer", came=False)
    assert node.of_a_play().patience_for("an answer") == WINDOW
    assert node.of_a_play().patience_for("another answer") == ANSWER
    # By what was measured of the node: its slowest answer.
    slow = node.of_a_play()
    slow.took(1.0)
    assert slow.patience_for("an answer") == WINDOW + MARGIN * 1.0


def test_what_came_once_however_late_is_waited_for_as_ever():
    node = Timing()
    for came in (False, False, True, False, False):
        node.of_a_play().awaited("an answer", came)
    assert node.of_a_play().patience_for("an answer") == ANSWER


def test_what_came_before_and_is_left_out_in_several_plays_in_a_row_is_awaited_anew_when_it_comes_again():
    node = Timing()
    node.of_a_play().awaited("an answer", came=True)
    for _ in range(IN_A_ROW):
        assert node.of_a_play().patience_for("an answer") == ANSWER
        node.of_a_play().awaited("an answer", came=False)
    assert node.of_a_play().patience_for("an answer") == WINDOW
    node.of_a_play().awaited("an answer", came=True)
    assert node.of_a_play().patience_for("an answer") == ANSWER


def test_what_a_play_has_waited_for_twice_in_vain_it_waits_for_no_longer_than_a_window():
    """Whatever came in plays before: it is played again, and begins anew there."""
    node = Timing()
    node.of_a_play().awaited("an answer", came=True)
    play = node.of_a_play()
    for _ in range(CONFIRMED):
        assert play.patience_for("an answer", 9.0) == 9.0
        play.awaited("an answer", came=False)
    assert play.patience_for("an answer", 9.0) == WINDOW
    assert node.of_a_play().patience_for("an answer", 9.0) == 9.0


def test_what_a_play_has_waited_for_as_long_as_for_two_answers_it_waits_for_no_longer():
    play = Timing().of_a_play()
    play.awaited("a notification", came=False, seconds=2 * ANSWER - 0.1)
    assert not play.is_in_vain("a notification")
    play = Timing().of_a_play()
    play.awaited("a notification", came=False, seconds=2 * ANSWER)
    assert play.is_in_vain("a notification")


def test_a_rule_that_shows_by_waiting_is_in_vain_for_the_rest_of_its_play_or_once_two_plays_have_shown_it():
    node = Timing()
    play = node.of_a_play()
    for known in (False, False, True):
        assert play.is_in_vain("ZD-083") is known
        play.showed("ZD-083")
    assert not node.of_a_play().is_in_vain("ZD-083")
    node.silences.broken.add("ZD-083")
    assert node.of_a_play().is_in_vain("ZD-083")


def test_who_was_proven_to_leave_things_out_is_waited_for_as_its_slowest_answer_asks():
    node = Timing()
    play = node.of_a_play()
    for seconds in (0.15, *[0.001] * (ENOUGH - 1)):
        assert node.of_a_play().patience == ANSWER
        play.took(seconds)
    node.silences.proven = CONFIRMED - 1
    assert node.of_a_play().patience == ANSWER
    node.silences.proven = CONFIRMED
    assert node.of_a_play().patience == pytest.approx(SLOWER * 0.15)
    # Never longer than others, and never as short as a window; what was slow once is forgotten.
    play.took(60.0)
    assert node.of_a_play().patience == ANSWER
    for _ in range(ENOUGH):
        play.took(0.001)
    assert node.of_a_play().patience == HASTE > WINDOW
    # In virtual time nothing is gained by it, and each play is to be the same whatever was played before.
    node.is_virtual = True
    assert node.of_a_play().patience == ANSWER


def test_who_leaves_things_out_and_is_never_late_is_not_given_the_time_to_be_late():
    node = Timing()
    late = node.within(30.0)
    for _ in range(PROMPT):
        assert node.of_a_play().however_late(30.0) == late
        node.of_a_play().told(0.01)
    # Who keeps to all that was waited for may yet take the time that the document gives.
    assert node.of_a_play().however_late(30.0) == late
    node.silences.proven = 1
    assert node.of_a_play().however_late(30.0) == node.patience
    # What is told when a time is over is late by that. More than that, and all may be: those that are among the last.
    for _ in range(int(PROMPT * LATE) + 1):
        node.of_a_play().told(WINDOW)
    assert node.of_a_play().however_late(30.0) == node.patience
    node.of_a_play().told(WINDOW)
    assert node.of_a_play().however_late(30.0) == late
    for _ in range(ENOUGH):
        node.of_a_play().told(0.01)
    assert node.of_a_play().however_late(30.0) == node.patience
    # In virtual time nothing is gained by it.
    node.is_virtual = True
    assert node.of_a_play().however_late(30.0) == late


def test_a_play_knows_whether_it_has_waited_in_full():
    play = Timing().of_a_play()
    play.waited(WINDOW)
    assert not play.waited_in_full
    play.waited(ANSWER)
    assert play.waited_in_full


def test_a_node_that_never_answered_was_not_measured():
    timing = Timing()
    timing.begin_with(Timing())
    assert timing.round_trip == 0.0


@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder"])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_the_scale_stretches_what_is_waited_for_in_vain(protocol, scale):
    """Answers and windows alike."""
    definition = load(protocol)
    role, make = next(iter(definition.roles.items()))

    class Deaf(make):
        def received(self, link, frame, now):
            pass

    world = definition.world(Deaf.of, role)
    world.timing = Timing(scale=scale)
    node = definition.node_under_test(world, Trace(protocol, "tcp", world.clock), profile="document", namespace="g1/")
    with suppress(HarnessError):
        node.probe()
    assert world.clock.now() == pytest.approx(ANSWER * scale)


@pytest.mark.parametrize("protocol", ["zenoh", "pathfinder"])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_the_scale_stretches_the_window_behind_an_offence(protocol, scale):
    definition = load(protocol)
    role, make = next(iter(definition.roles.items()))

    class Fading(make):
        is_deaf = False

        def received(self, link, frame, now):
            if not self.is_deaf:
                super().received(link, frame, now)

    world = definition.world(Fading.of, role)
    world.timing = Timing(scale=scale)
    node = definition.node_under_test(world, Trace(protocol, "tcp", world.clock), profile="document", namespace="g1/")
    session, Fading.is_deaf = node.main, True
    began = world.clock.now()
    session.offend(b"?")
    assert world.clock.now() - began == pytest.approx(WINDOW * scale)


@pytest.mark.parametrize("round_trip", [0.0, 0.5])
def test_a_client_is_as_far_away_as_its_first_request_says(round_trip):
    definition = load("pathfinder")
    world = definition.world(definition.roles["client"].of, "client", path=NetworkPath(round_trip))
    trace = Trace("pathfinder", "tcp", world.clock)
    node = definition.node_under_test(world, trace, profile="document", namespace="g1/")
    node.begin("publish").asks(node.domains[0].accept(), "publish")
    assert node.timing.round_trip == pytest.approx(round_trip, abs=0.01)


def test_the_scale_stretches_the_time_to_dial():
    definition = load("pathfinder")

    class Still(definition.roles["client"]):
        def dials(self, now):
            return []

        def next_tick(self):
            return None

    world = definition.world(Still.of, "client")
    world.timing = Timing(scale=4.0)
    with pytest.raises(Deadline):
        world.link(Trace("pathfinder", "tcp", world.clock), "a")
    assert world.clock.now() == DIAL * 4.0


NUMBER = re.compile(r"(?:\.read|\.wait_for|\.wait_until|\.offend|sleep)\(.*(?<![\w.])0?\.\d+")


@pytest.mark.parametrize("file", sorted(ROOT.glob("conformance/zenoh/cases/*.py")), ids=lambda file: file.stem)
def test_no_case_of_a_protocol_without_seconds_names_any(file):
    """Zenoh's documents speak of no time but the lease, so a number of seconds in a case would be ours alone."""
    assert not [line for line in file.read_text().splitlines() if NUMBER.search(line)]
