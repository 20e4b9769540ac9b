"""Urbit, "Overview of a Solution": a session lives for a minute after each heartbeat, and leaves nothing behind."""

from conformance.cases import judging, rule
from conformance.urbit.roles import PUBLISHER
from conformance.urbit.sessions import LEASE, lives, may_be_dead, require_lease, sleep, tell, told
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber, unknown_session

APART = 45.0
"""Seconds between two heartbeats that keep a session alive: more than the 25 of the document, and less than 60."""

OFTEN = 12.0
"""Seconds between what does not keep a session alive."""

LATE = 5.0
"""Seconds by which a last repeat may be late."""


def is_dead(asking: TestSubscriber, session: int) -> bool:
    """Tell by a heartbeat whether a session is dead."""
    return not asking.heartbeat(session).live


@rule("URB-064", "URB-056", "URB-078", roles=PUBLISHER, needs=("URB-040",))
def test_heartbeats_three_quarters_of_a_minute_apart(node: NodeUnderTest) -> None:
    """Send heartbeats 45 seconds apart, in a session with promises and in one whose only promise was cancelled.

    Both live; what was promised in the beginning is told minutes later.
    """
    waiting, idle, names = node.main, node.other, ("soon", "later", "last")
    for name in names:
        waiting.promised(name)
    idle.promised("cancelled")
    idle.cancel("cancelled")
    for each in (waiting, idle):
        each.heartbeat()
    for name in names:
        idle.pause(APART)
        with judging("URB-064"):
            assert lives(node, waiting), "a session is dead though heartbeats come in time"
        with judging("URB-056"):
            assert lives(node, idle), "a session without promises is dead though heartbeats come in time"
        with judging("URB-078"):
            assert tell(node, waiting, name), "a value is not told in a session that heartbeats have kept alive"
            waiting.cancel(name)


@rule("URB-057", "URB-068", "URB-080", "URB-152", roles=PUBLISHER, needs=("URB-063", "URB-064"))
def test_what_keeps_no_session_alive(node: NodeUnderTest) -> None:
    """For more than a minute, send requests and cancellations, old heartbeats, or nothing after a promise; and
    heartbeats as two other ships, one of them at the address of one that is silent.

    The sessions are dead, but for those of these two.
    """
    silent, asking, old, never, far = (node.subscriber() for _ in range(5))
    near = node.neighbour(silent)
    sessions = {each: each.promised("first").session for each in (silent, asking, old, never, near, far)}
    for each in (silent, asking, old, near, far):
        each.heartbeat()
        each.heartbeat()
    renewed, count = node.trace.now(), 0
    while not may_be_dead(node, renewed):
        for each in (near, far):
            each.beat_on()
        old.send_beat(1)
        old.send_beat(old.number)
        asking.send(asking.request_for(f"more/{count}"))
        asking.say(asking.cancellation_of("first"))
        count += 1
        near.pause(OFTEN)
    for each in (near, far):
        with judging("URB-064"):
            assert lives(node, each), "a session is dead though heartbeats come in time"
    with judging("URB-080"):
        assert is_dead(silent, sessions[silent]), "heartbeats of other ships keep a session alive"
    with judging("URB-057"):
        assert is_dead(asking, sessions[asking]), "requests and cancellations keep a session alive"
    with judging("URB-152"):
        assert is_dead(old, sessions[old]), "old heartbeats keep a session alive"
    with judging("URB-068"):
        answer = never.heartbeat(sessions[never])
    node.shows("URB-068", "A19", "B" if answer.live else "A")


@rule("URB-063", "URB-053", "URB-055", "URB-065", "URB-066", "URB-079", roles=PUBLISHER, needs=("URB-042",))
def test_what_ends_with_a_session(node: NodeUnderTest) -> None:
    """Be silent in sessions for more than a minute, with promises and with a notification that nobody cancels.

    They are dead, their promises forgotten and their repeats at an end; whoever asks anew has a new session.
    """
    gone, back, beating, telling = (node.subscriber() for _ in range(4))
    for each, name in ((gone, "gone"), (back, "old"), (beating, "beating"), (telling, "repeated")):
        each.promised(name)
        each.heartbeat()
        each.heartbeat()
    # Far ahead of the numbers of its next session.
    back.send_beat(1000)
    ended = {each: each.id for each in (gone, back, beating)}
    renewed = node.trace.now()
    telling.pause(40)
    telling.beat_on()
    node.grow("repeated")
    telling.surely(told(node, telling, "repeated"), "notification")
    # Read where it is repeated: what is not read has no time.
    sleep(node, telling, renewed)
    with judging("URB-063"):
        for each, session in ended.items():
            assert is_dead(each, session), "a session lives on without heartbeats"
    sleep(node, telling, telling.renewed)
    telling.pause(APART)
    with judging("URB-066"):
        late = LEASE + node.slack + LATE
        ends = [node.elapsed(telling.renewed, event.time) for event in telling.notifications("repeated")]
        assert max(ends) <= late, "a notification is repeated after the end of its session"
    for _ in range(2):
        with judging("URB-079"):
            assert is_dead(beating, ended[beating]), "a dead session lives again after heartbeats"
    with judging("URB-055"):
        assert back.promised("new").session != ended[back], "the session after a dead one has the same id"
    with judging("URB-065"):
        answer = back.beat()
        if answer is None or not answer.live:
            require_lease(node, back.renewed)
        assert answer is not None, "the heartbeat with the number 1 is not answered in the session after a dead one"
        assert answer.live, "the session after a dead one is dead itself"
    with judging("URB-079"):
        assert is_dead(back, ended[back]), "a dead session lives again when its subscriber has another one"
    for name in ("gone", "old", "beating"):
        node.grow(name)
    # What was promised in the new session comes, and behind it nothing else would.
    back.surely(tell(node, back, "new"), "notification")
    for each, name, id in ((gone, "gone", "URB-053"), (back, "old", "URB-065"), (beating, "beating", "URB-079")):
        with judging(id):
            each.settle()
            assert not each.notifications(name), "a value is told that was promised in a session that is dead"


@rule("URB-079", roles=PUBLISHER)
def test_heartbeats_make_no_session(node: NodeUnderTest) -> None:
    """Send heartbeats of sessions that nobody has opened, with growing numbers; be promised something then.

    Each gets a nack, and the promise has another id.
    """
    for asking in (node.main, node.galaxy()):
        unknown = unknown_session()
        for number in (1, 2, 3):
            answer = asking.heartbeat(unknown, number=number)
            assert not answer.live, "heartbeats have made a session of an id that nobody had"
        assert asking.promised("none/yet").session != unknown, "a session has the id of heartbeats that came before"
        assert not asking.heartbeat(unknown, number=4).live, "an id that got a nack is that of a session later"
