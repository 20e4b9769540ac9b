"""The Urbit monitors: the truth is kept, each lie is seen, and what may be due to the record accuses nobody."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.trace import Direction, Entry, EntryKind, Trace
from harness.urbit.ships import PUBLISHER, SUBSCRIBER, key_of
from wire.urbit.signatures import SigningKey, cancellation_input, promise_input, request_input, response_input
from wire.urbit.values import (
    Body,
    Cancellation,
    HeartbeatRequest,
    HeartbeatResponse,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    Ship,
    with_checksum,
    write,
)

PATH = b"/chat/34"
ID = 0x9E3779B97F4A7C15
NEXT = 0x0123456789ABCDEF

Line = tuple[float, Packet | bytes]
"""What is said, and when in seconds; of whom it is stands in it, or it is the subscriber's."""

Keys = Callable[[Ship], SigningKey]


def ask(path: bytes = PATH, fragment: int = 1, key: Keys = key_of) -> Packet:
    signature = key(SUBSCRIBER).sign(request_input(path, fragment))
    return Packet(ScryRequest(path, fragment, signature), SUBSCRIBER, PUBLISHER)


def cancel(path: bytes = PATH, fragment: int = 1, key: Keys = key_of) -> Packet:
    signature = key(SUBSCRIBER).sign(cancellation_input(path, fragment))
    return Packet(Cancellation(path, fragment, signature), SUBSCRIBER, PUBLISHER)


def beat(number: int, id: int = ID) -> Packet:
    return Packet(HeartbeatRequest(id, number), SUBSCRIBER, PUBLISHER)


def promise(id: int = ID, path: bytes = PATH, fragment: int = 1, key: Keys = key_of) -> Packet:
    signature = key(PUBLISHER).sign(promise_input(id, path, fragment))
    return Packet(Promise(id, path, fragment, signature), PUBLISHER, SUBSCRIBER)


def tell(path: bytes = PATH, data: bytes = b"hello", key: Keys = key_of) -> Packet:
    signature = key(PUBLISHER).sign(response_input(path, 1, data))
    return Packet(ScryResponse(path, 1, signature, 1, data), PUBLISHER, SUBSCRIBER)


def answer(number: int, id: int = ID, *, live: bool = True, padding: int = 0) -> Packet:
    return Packet(HeartbeatResponse(id, number, live, padding), PUBLISHER, SUBSCRIBER)


def told(key: Keys = key_of) -> list[Line]:
    """Return a session from its beginning to its end, and the beginning of another one."""
    return [
        (0.0, ask(key=key)),
        (0.1, promise(key=key)),
        (0.2, beat(1)),
        (0.3, answer(1)),
        (25.2, beat(2)),
        (25.3, answer(2)),
        (30.0, tell(key=key)),
        (30.1, cancel(key=key)),
        (50.2, beat(3)),
        (50.3, answer(3, live=False)),
        (51.0, ask(b"/chat/35", key=key)),
        (51.1, promise(NEXT, b"/chat/35", key=key)),
        (51.2, beat(1, NEXT)),
        (51.3, answer(1, NEXT)),
        (76.2, beat(2, NEXT)),
        (76.3, answer(2, NEXT)),
    ]


def accused(story: Sequence[Line], role: str) -> set[str]:
    """Return the rules that one side of a story is accused of breaking."""
    trace = Trace("urbit", "udp")
    for time, said in story:
        frame = said if isinstance(said, bytes) else write(said)
        is_publishers = frame[0] & 1 == 1
        direction = Direction.RECEIVED if is_publishers == (role == "publisher") else Direction.SENT
        trace.add(Entry(time, "a", EntryKind.FRAME, direction, frame))
    suite = Suite("urbit")
    judged = judge_conversations(suite.harness.conversations(trace).values(), suite, "document", "")
    return {each.rule for each in judged if each.outcome not in (Outcome.PASS, Outcome.ODD)}


def but(place: int, *lines: Packet | bytes) -> list[Line]:
    """Return the story with something else in a place."""
    story = told()
    time = story[place][0]
    return [*story[:place], *((time, line) for line in lines), *story[place + 1 :]]


def other_body(packet: Packet, body: Callable[[bytes], bytes]) -> bytes:
    frame = write(packet)
    return with_checksum(frame[:9] + body(frame[9:]))


@pytest.mark.parametrize("role", ["publisher", "subscriber"])
def test_a_session_accuses_nobody(role: str) -> None:
    assert accused(told(), role) == set()


@pytest.mark.parametrize("role", ["publisher", "subscriber"])
@pytest.mark.parametrize("lost", range(len(told())))
def test_a_datagram_that_is_lost_accuses_no_subscriber(lost: int, role: str) -> None:
    """What the node says may not arrive; what it is told is always in a record of its own side."""
    story = told()
    frame = write(story[lost][1])  # type: ignore[arg-type]
    is_its_own = (frame[0] & 1 == 1) == (role == "publisher")
    if is_its_own:
        assert accused(but(lost), role) == set()


@pytest.mark.parametrize("role", ["publisher", "subscriber"])
def test_datagrams_that_come_twice_accuse_nobody(role: str) -> None:
    story = [(time + again, said) for time, said in told() for again in (0.0, 0.01)]
    assert accused(story, role) == set()


@pytest.mark.parametrize("begin", range(4, len(told())))
def test_a_record_that_begins_later_accuses_no_subscriber(begin: int) -> None:
    assert accused(told()[begin:], "subscriber") == set()


@pytest.mark.parametrize("role", ["publisher", "subscriber"])
def test_ships_with_other_keys_are_accused_of_nothing(role: str) -> None:
    """Keys follow from numbers in tests only: in a real network no signature says anything here."""
    story = told(lambda ship: SigningKey.named(f"{ship.number} at home"))
    assert accused(story, role) == set()
    # All else is judged there as well.
    place = 0 if role == "subscriber" else 1
    time, said = story[place]
    assert isinstance(said, Packet)
    story[place] = time, replace(said, checksum=1)
    assert accused(story, role) == {"URB-150"}


PUBLISHERS_LIES: dict[str, tuple[str, list[Line]]] = {
    "another checksum": ("URB-150", but(1, replace(promise(), checksum=7))),
    "another version": ("URB-006", but(1, replace(promise(), version=2))),
    "a rank that is too high": ("URB-006", but(1, replace(promise(), sender=Ship(PUBLISHER.number, 1)))),
    "ticks as they were": ("URB-011", but(3, replace(answer(1), sender_tick=2))),
    "an answer to somebody else": ("URB-012", but(3, replace(answer(1), receiver=Ship.of(70)))),
    "a heartbeat response with a signature": ("URB-014", but(3, other_body(answer(1), lambda body: body + bytes(64)))),
    "a heartbeat response without live": ("URB-014", but(3, other_body(answer(1), lambda body: body[:16]))),
    "padding": ("URB-015", but(3, answer(1, padding=2))),
    "a promise without signature": ("URB-017", but(1, other_body(promise(), lambda body: body[:8] + body[72:]))),
    "a byte behind a path": ("URB-018", but(1, other_body(promise(), lambda body: body + b"\0"))),
    "a byte above 127": ("URB-019", but(1, promise(path=b"/chat/\xb4"))),
    "a response that ends early": ("URB-021", but(6, other_body(tell(), lambda body: body[:40]))),
    "a fragment from the other end": ("URB-022", but(1, promise(fragment=1 << 24))),
    "a promise of something else": ("URB-034", but(1, promise(path=b"/chat/36"))),
    "a promise that is not signed": ("URB-036", but(1, replace(promise(), body=Promise(ID, PATH, 1, bytes(64))))),
    "a promise whose signature covers no session": (
        "URB-036",
        but(1, replace(promise(), body=Promise(ID, PATH, 1, key_of(PUBLISHER).sign(cancellation_input(PATH, 1))))),
    ),
    "a session again behind another": ("URB-037", but(14, ask(), promise())),
    "another number": ("URB-061", but(5, answer(7))),
    "a value for who has said nothing": ("URB-156", but(6, replace(tell(), receiver=Ship.of(70)))),
    "two answers to each heartbeat": (
        "URB-075",
        [line for line in told() for _ in range(1 + isinstance(line[1].body, HeartbeatResponse))],  # type: ignore[union-attr]
    ),
}

SUBSCRIBERS_LIES: dict[str, tuple[str, list[Line]]] = {
    "heartbeats in another's name": ("URB-001", but(2, replace(beat(1), sender=Ship.of(70)))),
    "a type one bit higher": ("URB-002", but(2, bytes((0b1000,)) + write(beat(1))[1:])),
    "a type of something else": ("URB-002", but(2, bytes((write(beat(1))[0] | 0b010,)) + write(beat(1))[1:])),
    "a heartbeat that is signed": ("URB-013", but(2, other_body(beat(1), lambda body: body + bytes(64)))),
    "a cancellation without a path": ("URB-016", but(7, other_body(cancel(), lambda body: body[:68]))),
    "a path that is cut short": ("URB-018", but(7, other_body(cancel(), lambda body: body[:-1]))),
    "a request without signature": ("URB-020", but(0, other_body(ask(), lambda body: body[64:]))),
    "a number from the other end": ("URB-022", but(2, beat(1 << 56))),
    "an id from the other end": (
        "URB-022",
        but(2, beat(1, int.from_bytes(ID.to_bytes(8, "little"), "big"))),
    ),
    "a number 0": ("URB-092", but(2, beat(0))),
    "a second session that begins with 3": ("URB-092", [*but(12, beat(3, NEXT))[:14], (76.2, beat(4, NEXT))]),
    "numbers in twos": ("URB-093", [*told()[:2], *((25.0 * step, beat(1 + 2 * step)) for step in range(5))]),
    "one number": ("URB-093", [*told()[:2], *((25.0 * step, beat(1)) for step in range(3))]),
    "numbers that begin anew": (
        "URB-093",
        [*told()[:2], *((25.0 * step, beat(1 + step % 3)) for step in range(4))],
    ),
    "a cancellation signed as a request": (
        "URB-111",
        but(7, replace(cancel(), body=Cancellation(PATH, 1, key_of(SUBSCRIBER).sign(request_input(PATH, 1))))),
    ),
    "a request signed as a cancellation": (
        "URB-151",
        but(10, replace(ask(), body=ScryRequest(PATH, 1, key_of(SUBSCRIBER).sign(cancellation_input(PATH, 1))))),
    ),
    "an id with one more": ("URB-153", but(4, beat(2, ID + 1))),
    "an id in 63 bits": ("URB-153", but(4, beat(2, ID & 2**63 - 1))),
}


@pytest.mark.parametrize("lie", PUBLISHERS_LIES)
def test_a_publishers_lie_is_seen(lie: str) -> None:
    rule, story = PUBLISHERS_LIES[lie]
    assert rule in accused(story, "publisher")


@pytest.mark.parametrize("lie", SUBSCRIBERS_LIES)
def test_a_subscribers_lie_is_seen(lie: str) -> None:
    rule, story = SUBSCRIBERS_LIES[lie]
    assert rule in accused(story, "subscriber")


@pytest.mark.parametrize(("late", "is_accused"), [(0.1, True), (0.4, False), (30.0, False)])
def test_a_session_that_is_dead_at_once_is_seen(late: float, is_accused: bool) -> None:
    """A regression: whose promise was read late, by a tester without a core, was said to have died at once."""
    story: list[Line] = []
    for number in range(3):
        at, id, path = 100.0 * number, ID ^ number, PATH + b"/%d" % number
        story += [
            (at, ask(path)),
            (at + late, promise(id, path)),
            (at + late + 0.1, beat(1, id)),
            (at + late + 0.2, answer(1, id, live=False)),
        ]
    assert ("URB-060" in accused(story, "publisher")) is is_accused


def test_who_is_told_of_what_it_asked_elsewhere_accuses_nobody() -> None:
    """A subscriber that has moved is told here of what it has asked for from another address."""
    story: list[Line] = [(0.0, beat(2)), (0.1, answer(2)), (5.0, tell()), (5.1, cancel())]
    assert accused(story, "publisher") == set()


def test_packets_of_ames_are_nobodys() -> None:
    """A packet of today's Ames looks like a request that is cut short, but for the bit that says what it is."""
    frame = bytearray(write(ask()))
    frame[0] &= ~0b1000
    assert accused([*told(), (80.0, with_checksum(bytes(frame[:60])))], "subscriber") == set()


@pytest.mark.parametrize("body", [HeartbeatRequest(ID, 1), HeartbeatResponse(ID, 1, live=False)])
def test_damage_is_nobodys(body: Body) -> None:
    """Of a datagram that is cut short, with the checksum of the whole, nobody says that it was sent so."""
    frame = write(Packet(body, SUBSCRIBER, PUBLISHER))
    for role in ("publisher", "subscriber"):
        assert accused([*told(), (80.0, frame[:-3])], role) == set()


def test_a_number_that_looks_swapped_is_sent_as_it_came() -> None:
    """A fragment so far ahead is asked for and promised under one and the same number: nobody has swapped it."""
    far = 1 << 24
    asked, promised = ask(fragment=far), promise(fragment=far)
    assert "URB-022" not in accused([(0.0, asked), (0.1, promised)], "publisher")
    assert "URB-022" in accused([(0.0, ask(fragment=1)), (0.1, promised)], "publisher")
