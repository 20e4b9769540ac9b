"""Sessions of Urbit told again: other ships, paths and ids, and still signed and whole, unless they were not."""

from random import Random

import msgspec
import pytest

from conformance.engine.play import play
from conformance.suite import Suite
from harness.captures.recordings import Recording
from harness.trace import Direction
from harness.urbit.ships import PUBLISHER, SUBSCRIBER, key_of
from harness.urbit.tester.conversation import is_genuine, signed_part
from reports.traffic.interleaving import InterleavedCapture
from reports.traffic.playback import Template, TemplatePlayer, variation_of
from reports.traffic.variation import VariedFrames
from wire.urbit.signatures import SIZE
from wire.urbit.values import HeartbeatRequest, Packet, Promise, ScryRequest, ScryResponse, Ship, read, write

URBIT = variation_of("urbit")
PATH = b"/~pub/chat/34"


def packet(body, sender=SUBSCRIBER, receiver=PUBLISHER, **more):
    """Return a packet that its sender has signed."""
    if (signed := signed_part(body)) is not None:
        body = msgspec.structs.replace(body, signature=key_of(sender).sign(signed))
    return Packet(body, sender, receiver, **more)


def varied(*packets, seed=1):
    """Return packets told again."""
    frames = VariedFrames([(each.sender == SUBSCRIBER, write(each)) for each in packets], URBIT).frames(Random(seed))
    return [read(frame) for frame in frames]


SESSION = (
    packet(ScryRequest(PATH, 1, b"")),
    packet(Promise(7, PATH, 1, b""), PUBLISHER, SUBSCRIBER),
    packet(HeartbeatRequest(7, 1)),
    packet(ScryResponse(PATH, 1, b"", 1, b"hello"), PUBLISHER, SUBSCRIBER),
)


def test_what_was_the_same_is_the_same():
    """Ships, ids and paths by others, but for what is counted; signed by who says it, with the right checksum."""
    asked, promised, beat, told = again = varied(*SESSION)
    assert [is_genuine(each) for each in again] == [True, True, None, True]
    assert {each.checksum for each in again} == {None}
    assert (asked.sender, asked.receiver) == (promised.receiver, promised.sender) == (beat.sender, beat.receiver)
    assert asked.sender.number - asked.receiver.number == SUBSCRIBER.number - PUBLISHER.number
    assert asked.body.path == promised.body.path == told.body.path != PATH
    assert promised.body.session == beat.body.session != 7
    assert (beat.body.number, told.body.fragment, told.body.total) == (1, 1, 1)
    assert len(told.body.data) == 5
    assert told.body.data != b"hello"


def test_no_two_sessions_are_the_same():
    sessions = [tuple(write(each) for each in varied(*SESSION, seed=seed)) for seed in range(50)]
    assert len(set(sessions)) == 50
    assert len({frames[1] for frames in sessions}) == 50


@pytest.mark.parametrize("rank", range(4))
def test_ships_keep_their_rank(rank):
    """The largest of a rank stays what it is, and one that has the wrong rank has it afterwards."""
    largest = Ship((1 << (16 << rank)) - 1, rank)
    for ship in (largest, Ship(largest.number - 1000, rank), Ship(5, rank)):
        for seed in range(20):
            [again] = varied(packet(HeartbeatRequest(7, 1), sender=ship), seed=seed)
            assert (again.sender.rank, again.sender.fits) == (rank, ship.fits)


def test_what_is_forged_or_damaged_stays_so():
    forged = msgspec.structs.replace(SESSION[0], body=msgspec.structs.replace(SESSION[0].body, signature=bytes(SIZE)))
    by_another = packet(Promise(7, PATH, 1, b""), PUBLISHER, SUBSCRIBER)
    by_another = msgspec.structs.replace(by_another, sender=Ship.of(300))
    damaged = msgspec.structs.replace(SESSION[2], checksum=5)
    wrong = packet(ScryRequest(b"/a//\xff", 1, b""))
    again = varied(forged, by_another, damaged, wrong)
    assert [is_genuine(each) for each in again] == [False, False, None, True]
    assert [each.checksum for each in again] == [None, None, 5, None]
    assert again[3].body.path == b"/a//\xff"


def test_plays_are_the_same_each_time():
    """Ids, ships and paths too: other processes make the same templates."""
    suite = Suite("urbit")
    case = next(each for each in suite.cases if each.name.endswith("test_some_request_is_promised"))

    def said():
        URBIT.begin()
        world = suite.harness.world(lambda chosen: suite.harness.roles["publisher"](**URBIT.SETTINGS), "publisher")
        return [entry.data for entry in play(case, world, suite, profile="document").trace]

    assert said() == said()


def test_datagrams_come_back(tmp_path):
    """Sessions are told apart, and nothing is missing from any."""
    frames = tuple((0.5 * number, each.sender == SUBSCRIBER, write(each)) for number, each in enumerate(SESSION))
    template = Template(
        name="x", fault="", declared=(), rules=(), frames=frames, lasted=2.0, ended_by_dialler=True, is_reset=False
    )
    player, random, path = TemplatePlayer(template, URBIT, None), Random(1), tmp_path / "x.pcap"
    with InterleavedCapture(path, random) as capture:
        begun = dict(capture.take((number, player.play(random)) for number in range(120)))
    source = Recording(path, "urbit")
    back = {each.number: each for each in source}
    assert back.keys() == begun.keys()
    assert (capture.packets, capture.frames, source.losses.all()) == (480, 480, ())
    for session in back.values():
        entries = session.trace.entries[1:]
        assert [entry.direction is Direction.SENT for entry in entries] == [by_dialler for _, by_dialler, _ in frames]
        assert (session.sound, session.losses) == (5, ())
