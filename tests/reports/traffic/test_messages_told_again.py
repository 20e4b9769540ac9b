"""Sessions of Rai told again: other nonces, times and subjects, and still signed, unless they were not."""

from random import Random

import pytest

from conformance.engine.play import play
from conformance.suite import Suite
from harness.captures.recordings import Recording
from harness.rai.tester.conversation import is_genuine
from harness.rai.users import PROFILE, secret_of
from harness.trace import Direction
from reports.traffic.interleaving import InterleavedCapture
from reports.traffic.playback import Template, TemplatePlayer, variation_of
from reports.traffic.variation import VariedFrames
from wire import envelope
from wire.rai.values import (
    AUTH,
    HELLO,
    START,
    WILD_START,
    Auth,
    Hello,
    Published,
    Reply,
    SubStart,
    WildStart,
    inbox,
    nonce_of,
    object_of,
    of,
    read,
    user_of,
    write,
)
from wire.rai.wildcards import pattern_of_rv, published_prefix

RAI = variation_of("rai")
SUB, PUB = "sam.AAAAAAAAAAAAAAAAAAAAAQ", "paul.BBBBBBBBBBBBBBBBBBBBBA"
SUBS_CNONCE, PUBS_CNONCE = "EBESExQVFhcYGRobHB0eHw", "ICEiIyQlJicoKSorLC0uLw"
TIME = 1_700_000_000_000_000


def signed(session, seqno, subject, body, key=None):
    """Return a frame with a message that its session has signed."""
    message = of(subject, session, seqno, body)
    if key is None:
        key = PROFILE.session_key(secret_of(user_of(session)), nonce_of(session))
    digest = PROFILE.digest(key, seqno, subject, message.signed)
    return envelope.data(subject, write(of(subject, session, seqno, body, digest)))


def auth(session, to, seqno, answered, cnonce, body):
    key = PROFILE.auth_key(secret_of(user_of(session)), nonce_of(session), answered, cnonce)
    return signed(session, seqno, inbox(to, AUTH), body, key)


SESSION = (
    signed(SUB, 1, HELLO, Hello(time=TIME, interval=10, cnonce=SUBS_CNONCE)),
    auth(PUB, SUB, 5, TIME, SUBS_CNONCE, Auth(auth_time=TIME, time=TIME + 7, cnonce=PUBS_CNONCE)),
    auth(SUB, PUB, 2, TIME + 7, PUBS_CNONCE, Auth(auth_time=TIME + 7, time=TIME + 9, cnonce=SUBS_CNONCE)),
    signed(SUB, 3, START + "LAB.A", SubStart(return_=1, ack=True)),
    signed(PUB, 6, inbox(SUB, 1), Reply(type="start", subject="LAB.A", status="ack")),
    signed(PUB, 7, "LAB.A", Published(data=object_of({"BID": 17.5}))),
    signed(SUB, 4, WILD_START + "LAB._", WildStart(subject="LAB.>", pattern=r"(?s)\ALAB\..+\Z")),
)
OWN = (True, False, True, True, False, False, True)


def varied(*frames, seed=1):
    """Return frames told again, as messages."""
    again = VariedFrames([(True, frame) for frame in frames], RAI).frames(Random(seed))
    return [read(said.subject, said.payload) for said in map(envelope.read, again)]


def is_proof(message, answered):
    secret = secret_of(user_of(message.session))
    key = PROFILE.auth_key(secret, nonce_of(message.session), answered.time, answered.cnonce)
    return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


def test_what_was_the_same_is_the_same():
    """Sessions, times and subjects by others, and signed with what they answer."""
    hello, proof, answer, start, ack, update, _ = again = varied(*SESSION)
    assert [is_genuine(each) for each in again] == [True, False, False, True, True, True, True]
    assert is_proof(proof, hello.body)
    assert is_proof(answer, proof.body)
    assert {each.session for each in (hello, answer, start)} == {hello.session} != {SUB}
    assert {each.session for each in (proof, ack, update)} == {proof.session} != {PUB}
    assert [user_of(each.session) for each in (hello, proof)] == ["sam", "paul"]
    assert proof.subject == inbox(hello.session, AUTH)
    assert ack.subject == inbox(hello.session, 1)
    assert START + ack.body.subject == START + update.subject == start.subject != START + "LAB.A"
    assert proof.body.auth_time == hello.body.time != TIME
    assert (proof.body.time - hello.body.time, answer.body.auth_time - hello.body.time) == (7, 7)
    assert hello.body.cnonce == answer.body.cnonce != SUBS_CNONCE
    assert start.seqno - hello.seqno == 2
    assert bytes(update.body.data) == b'{"BID":17.5}'


def test_no_two_sessions_are_the_same():
    sessions = [tuple(map(write, varied(*SESSION, seed=seed))) for seed in range(50)]
    assert len(set(sessions)) == 50
    assert len({frames[0] for frames in sessions}) == 50


def test_what_is_forged_or_damaged_stays_so():
    forged = signed(SUB, 8, "LAB.A", Published(status="stale"), key=bytes(32))
    false_proof = auth(SUB, PUB, 9, TIME + 7, SUBS_CNONCE, Auth(auth_time=TIME + 7, time=TIME, cnonce=SUBS_CNONCE))
    of_nobody = signed("mallory.AAAAAAAAAAAAAAAAAAAAAQ", 1, "LAB.A", Published(), key=bytes(32))
    *others, two, three, four = varied(*SESSION, forged, false_proof, of_nobody)
    assert [is_genuine(each) for each in (two, three, four)] == [False] * 3
    assert not is_proof(three, others[1].body)
    strange = [envelope.data("LAB.A", b'{ "session": "x" }'), envelope.listen("A.>"), b"", b"\xff"]
    assert VariedFrames([(True, each) for each in strange], RAI).frames(Random(1)) == strange


@pytest.mark.parametrize("nonce", ["x", "AAAA*", "AAAAAAAAAAAAAAAAAAAAAB", ""])
def test_what_is_no_nonce_of_ours_is_left_alone(nonce):
    [again] = varied(signed(f"sam.{nonce}", 1, HELLO, Hello(time=TIME, interval=10, cnonce=nonce)))
    assert (again.session, again.body.cnonce) == (f"sam.{nonce}", nonce)
    assert is_genuine(again)


def test_patterns_follow_their_wildcards():
    """One that is spelt in another way than ours is left alone, with its wildcard."""
    frames = [
        signed(SUB, 1, WILD_START + published_prefix("LAB.*.C"), WildStart(subject="LAB.*.C", pattern=pattern))
        for pattern in (pattern_of_rv("LAB.*.C"), r"LAB\.[a-z]+\.C")
    ]
    plain, other = varied(*frames)
    assert plain.body.subject != "LAB.*.C"
    assert plain.body.pattern == pattern_of_rv(plain.body.subject)
    assert plain.subject == WILD_START + published_prefix(plain.body.subject)
    assert (other.body.subject, other.body.pattern) == ("LAB.*.C", r"LAB\.[a-z]+\.C")
    assert is_genuine(plain)
    assert is_genuine(other)


def test_plays_of_nodes_are_the_same_each_time():
    """Nonces and times too: other processes make the same templates."""
    suite = Suite("rai")
    case = next(each for each in suite.cases if "start_is_acked" in each.name)

    def said():
        RAI.begin()
        world = suite.harness.world(suite.harness.roles["publisher"].of, "publisher")
        return [entry.data for entry in play(case, world, suite, profile="document").trace]

    assert said() == said()


def test_connections_with_a_broker_come_back(tmp_path):
    """Sessions are told apart, and nothing is missing from any; who dials is who is judged."""
    frames = tuple((0.5 * number, own, frame) for number, (own, frame) in enumerate(zip(OWN, SESSION, strict=True)))
    template = Template(
        name="x", fault="", declared=(), rules=(), frames=frames, lasted=4.0, ended_by_dialler=True, is_reset=False
    )
    framing = Suite("rai").harness.usual_framing
    player, random, path = TemplatePlayer(template, RAI, framing), Random(1), tmp_path / "x.pcap"
    with InterleavedCapture(path, random) as capture:
        begun = dict(capture.take((number, player.play(random)) for number in range(120)))
    source = Recording(path, "rai")
    back = {each.number: each for each in source}
    assert back.keys() == begun.keys()
    assert (capture.frames, source.losses.all()) == (840, ())
    for session in back.values():
        entries = session.trace.entries[1:-1]
        assert [entry.direction is Direction.RECEIVED for entry in entries] == list(OWN)
        assert (session.sound, session.losses) == (9, ())
