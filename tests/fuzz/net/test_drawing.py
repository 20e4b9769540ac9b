"""What is drawn can be played: of each protocol's targets, fresh tests and those that are made of others."""

import ast
from random import Random

import msgspec
import pytest

from conformance.suite import Suite
from fuzz.net.drawing import LONGEST, NAMES, USUAL, TestDrawer
from fuzz.net.moves import (
    EndsSession,
    GivesCommand,
    Listens,
    NetworkTest,
    Opens,
    Says,
    WaitsAWhile,
    in_words,
    spelled_out,
)
from fuzz.net.playing import TestPlayer
from fuzz.net.targets import CommandedTarget, SerialTarget, StagedTarget, load
from fuzz.urbit.messages import PATHS
from fuzz.zenoh.messages import KEYS
from harness.links.transports import framing_of
from harness.protocol import load as load_protocol
from wire.engines import live
from wire.zenoh.keys import well_formed

TARGETS = [(protocol, role) for protocol in ("zenoh", "pathfinder", "urbit", "rai") for role in load(protocol)]

SERIAL = [
    *(("zenoh", "router"), ("zenoh", "peer"), ("zenoh", "client"), ("pathfinder", "server")),
    *(("urbit", "publisher"), ("rai", "publisher")),
]
"""Those of which a session may say much that is alike."""


def drawer(protocol: str, role: str, seed: int) -> TestDrawer:
    definition = load_protocol(protocol)
    transport = next((each for each in definition.framings if each in ("tcp", "udp")), "")
    framing = None
    if transport == "tcp" and not definition.is_brokered:
        framing = framing_of(definition.framings, transport)
    return TestDrawer(load(protocol)[role], Random(seed), framing)


def check(test: NetworkTest, protocol: str, role: str, *, has_stream: bool) -> None:
    """Check that each move is one that can be made."""
    target = load(protocol)[role]
    assert 0 < len(test) <= LONGEST
    assert msgspec.json.decode(msgspec.json.encode(test), type=NetworkTest) == test
    for move in test:
        match move:
            case Opens(who, how):
                assert who in NAMES
                # A target that stages its tests says more in it than a way.
                is_staged = isinstance(target, StagedTarget)
                assert how in ("", *target.ways) or (is_staged and {*how.split()} & {*target.ways})
            case Says(who, data, level, cut):
                assert who in NAMES
                assert data
                assert all(isinstance(each, bytes) for each in data)
                assert cut >= 0
                assert level != "raw" or has_stream
            case Listens(who) | EndsSession(who):
                assert who in NAMES
            case WaitsAWhile(seconds):
                assert 0 < seconds <= 0.05
            case GivesCommand():
                assert isinstance(target, CommandedTarget)


@pytest.mark.parametrize(("protocol", "role"), TARGETS)
def test_every_test_that_is_drawn_can_be_played(protocol: str, role: str) -> None:
    made = drawer(protocol, role, 1)
    has_stream = made._framing is not None
    for _ in range(40):
        test = made.test()
        check(test, protocol, role, has_stream=has_stream)
        assert isinstance(test[0], Opens)
        assert spelled_out(test) == test, "each session is opened before it does anything"


@pytest.mark.parametrize(("protocol", "role"), TARGETS)
def test_every_test_that_is_made_of_others_can_be_played(protocol: str, role: str) -> None:
    made = drawer(protocol, role, 2)
    has_stream = made._framing is not None
    test, changes = made.test(), 0
    for _ in range(60):
        other = made.changed(test, made.test())
        changes += other != test
        check(other, protocol, role, has_stream=has_stream)
        test = other
    assert changes > 30


@pytest.mark.parametrize("test", [(), (Opens("a"),), (Listens("a"),), (Says("a", (b"x",)),)])
def test_whatever_is_changed_there_is_a_test(test: NetworkTest) -> None:
    made = drawer("zenoh", "router", 3)
    for _ in range(200):
        check(made.changed(test, test), "zenoh", "router", has_stream=True)


def test_about_half_of_what_was_kept_is_gone_on_with_where_it_came_to() -> None:
    """A regression: little was said behind a state that few come to, and texts that harm came late."""
    made = drawer("zenoh", "router", 8)
    said = (Says("a", (bytes([each]),)) for each in range(40))
    kept: NetworkTest = (Opens("a"), Listens("a"), *said)
    further = [test for test in (made.changed(kept, kept) for _ in range(400)) if test[:21] == kept[:21]]
    fresh = [[move for move in test if isinstance(move, Says) and move not in kept] for test in further]
    assert sum(len(each) > 5 for each in fresh) > 60


def test_texts_that_few_think_of_are_of_the_language_all_the_same() -> None:
    texts = {KEYS.unusual(Random(seed)) for seed in range(300)}
    assert all(well_formed(each) for each in texts)
    assert any(each.count("**") >= 8 for each in texts)
    assert any("\U0001f980" in each for each in texts)
    assert any(max(map(len, each.split("/"))) >= 4096 for each in texts)
    paths = [PATHS.text(Random(seed)) for seed in range(3000)]
    assert max(map(len, paths)) <= PATHS.longest


@pytest.mark.parametrize(("protocol", "role"), SERIAL)
def test_of_a_series_each_message_is_one(protocol: str, role: str) -> None:
    target = load(protocol)[role]
    assert isinstance(target, SerialTarget)
    sizes = set()
    for seed in range(60):
        series = target.series(Random(seed))
        sizes.add(len(series))
        for data in series:
            live(target.layout).decode(target.layout, data)
        assert sum(map(len, series)) < 1 << 20, "one test is not to keep a healthy node busy for seconds"
    assert len(sizes) > 5


@pytest.mark.parametrize(("protocol", "role"), SERIAL)
def test_series_are_drawn_however_calm_a_test_is(protocol: str, role: str) -> None:
    made = drawer(protocol, role, 6)
    # More than is said at once otherwise.
    made.temper = 0.0
    assert any(len(made.says("a").data) > 5 for _ in range(300))


def test_much_is_broken_in_some_tests_however_much_harm_is_done() -> None:
    """A regression: where a quarter of the tests did known harm, hardly any text was broken in the others."""
    made = drawer("zenoh", "router", 6)
    made.harmful = 1.0
    broken = list[float]()
    for _ in range(200):
        made.test()
        broken.append(made.temper)
    assert 0.05 < sum(each >= USUAL for each in broken) / 200 < 0.3


def test_a_seed_gives_the_same_tests() -> None:
    one, two = drawer("zenoh", "router", 4), drawer("zenoh", "router", 4)
    for _ in range(10):
        test = one.test()
        assert two.test() == test
        assert one.changed(test, test) == two.changed(test, test)


def test_what_is_drawn_is_borne_by_a_healthy_router_in_memory() -> None:
    suite = Suite("zenoh")
    transport = suite.harness.usual_transport
    world = suite.harness.world(suite.harness.roles["router"].of, "router")
    player = TestPlayer(load("zenoh")["router"], world, "zenoh", transport)
    made = drawer("zenoh", "router", 5)
    features: set[int] = set()
    for _ in range(30):
        features |= player.play(made.test()).features
    assert world.alive()
    assert len(features) > 40


def test_text_is_shown_as_text_and_other_bytes_in_hex() -> None:
    said = b'{"ta-cmd":"ping\xff"}'
    assert in_words(Says("a", (said, b"\x19\x00", b"["))) == f"a.say({said!r}, '1900', '5b')"
    assert in_words(Says("a", (b"[" * 988,), "frame")) == f"a.send_frame({b'[' * 80!r}… 988 bytes)"
    assert in_words(Says("a", (bytes(100),), "raw")) == f"a.send_raw({'00' * 24!r}… 100 bytes)"
    assert ast.literal_eval(in_words(Says("a", (said * 99,)), whole=True).removeprefix("a.say")) == said * 99
