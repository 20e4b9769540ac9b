"""Rai's publishers as they are fuzzed: what is said of a test's messages, and what the service sees."""

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from brokers import need_broker

from conformance.suite import Suite
from fuzz.net.confirming import TIMES
from fuzz.net.moves import EndsSession, Listens, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import NodeOnTrial, reproduce
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from fuzz.rai import messages
from fuzz.rai.network import RaiPublisherTarget
from fuzz.rai.saying import filled, signed_part, with_header
from fuzz.rai.sessions import RaiAtTheBroker
from fuzz.rai.subjects import GLOBS, subject
from harness.errors import ControlUnanswered
from harness.protocol import load as protocol
from harness.rai.tester.conversation import is_genuine
from harness.rai.users import PROFILE, secret_of
from harness.timing import ANSWER
from harness.trace import Trace
from wire import envelope
from wire.envelope import Envelope
from wire.errors import DecodeError
from wire.rai.values import START, DictRequest, SubStart, inbox, of, read, write
from wire.subjects import is_legal

SESSION = "tess.AAECAwQFBgcICQoLDA0ODw"
NODE = "paul.AAECAwQFBgcICQoLDA0OEA"


def says(subject: str, members: bytes) -> Says:
    return Says("a", (envelope.data(subject, members),))


# --- what is said -----------------------------------------------------------------------------------------------------


def test_messages_are_signed_as_their_reader_reads_them() -> None:
    key = PROFILE.session_key(secret_of("tess"), SESSION.partition(".")[2])
    for members in (
        b"{}",
        b'{"return":1,"ack":true}',
        b'{ return : 1, "ack" : true, }',
        b'{"x":[1.50]}',
    ):
        digest = PROFILE.digest(key, 7, "_SUB.START.LAB.a", signed_part(members))
        message = read("_SUB.START.LAB.a", with_header(members, SESSION, 7, digest))
        assert is_genuine(message), members
        assert (message.session, message.seqno) == (SESSION, 7)


@pytest.mark.parametrize("members", [b'{"return":', b"{", b"{]", b'{"a":1}}', b'{"a":"\xff"}', b'{"a" 1}'])
def test_what_is_no_json_is_said_as_it_is(members: bytes) -> None:
    payload = with_header(members, SESSION, 7, "x")
    assert payload.startswith(b'{"session":"tess.')
    assert payload.endswith(members[1:])


def test_words_stand_for_what_is_made_anew() -> None:
    values = {"node": lambda: NODE, "now": lambda: 17}
    assert filled(b'_INBOX.$node.dict {"time":$now} $nowhere $', values) == (
        b"_INBOX." + NODE.encode() + b'.dict {"time":17} $nowhere $'
    )


def test_messages_of_a_frame_are_those_that_a_session_could_say() -> None:
    target = RaiPublisherTarget()
    start = of(START + "LAB.a", SESSION, 3, SubStart(return_=1, ack=True), "digest")
    assert target.messages_of(envelope.data(start.subject, write(start))) == (
        envelope.data(START + "LAB.a", b'{"return":1,"ack":true}'),
    )
    answer = of(inbox(NODE, "dict"), SESSION, 4, DictRequest(dictionary="d"), "digest")
    assert target.messages_of(envelope.data(answer.subject, write(answer))) == (
        envelope.data("_INBOX.$node.dict", b'{"dictionary":"d"}'),
    )
    assert target.messages_of(envelope.listen(">")) == ()
    assert target.messages_of(b"\xff") == ()
    assert target.messages_of(envelope.data("LAB.a", b"no object")) == ()


def test_all_that_is_drawn_is_an_envelope() -> None:
    random, subjects = Random(1), set[str]()
    for _ in range(1500):
        for draw in (messages.message, messages.text, messages.frame):
            said = envelope.read(draw(random))
            assert said.operation == envelope.DATA
            subjects.add(said.subject)
    assert len(subjects) > 100


def test_most_messages_are_such_as_a_publisher_reads() -> None:
    def is_read(said: Envelope) -> bool:
        members = said.payload.replace(b"$now", b"1").replace(b"$asked", b"1").replace(b"$seen", b"1")
        try:
            read(said.subject, with_header(members, SESSION, 1, "x"))
        except DecodeError:
            return False
        return True

    random = Random(2)
    drawn = [envelope.read(messages.message(random)) for _ in range(500)]
    assert sum(map(is_read, drawn)) > 400


def test_subjects_are_few_and_once_in_a_while_long_or_of_many_segments() -> None:
    """A regression: of a thousand tests hardly one subscribed to a subject of more than 255 bytes that is right."""
    random = Random(3)
    drawn = [subject(random) for _ in range(2000)]
    unusual = [each for each in drawn if len(each) > 40]
    assert 20 < len(unusual) < 200
    assert any(len(each) > 255 for each in unusual)
    assert any(each.count(".") > 30 for each in unusual)
    assert all(is_legal(each) for each in drawn)


def test_what_a_session_has_stopped_is_part_of_what_it_has_come_to() -> None:
    """A regression: states that only sessions come to that have stopped something were no others than before."""
    instance = Suite("rai").harness.world(protocol("rai").roles["publisher"].of, "publisher")
    instance.restart()
    node = RaiPublisherTarget().node(instance, Trace("rai", "nats", clock=instance.clock))
    session = RaiPublisherTarget().session(node, "")

    def state(subject: str, members: bytes) -> tuple[int, ...]:
        """Say something and return how many subjects and wildcards there are, and how many were stopped."""
        session.say([envelope.data(subject, members)], "message", 0)
        state = session.state()
        assert isinstance(state, tuple)
        return state[2:5]

    assert state("_SUB.START.LAB.a", b"{}") == (1, 0, 0)
    assert state("_INBOX.$node.subs", b'{"last_seen":$seen,"wildcard":">","subs":["LAB.a","LAB.b"]}') == (2, 0, 0)
    assert state("_PSUB.START.LAB", b'{"subject":"LAB.>","pattern":"^LAB"}') == (2, 1, 0)
    assert state("_SUB.STOP.LAB.c", b"{}") == (2, 1, 0)
    assert state("_SUB.STOP.LAB.a", b"{}") == (1, 1, 1)
    assert state("_PSUB.STOP.LAB", b'{"subject":"LAB.>","pattern":"^LAB"}') == (1, 0, 2)
    node.close()


@pytest.mark.parametrize(
    ("said", "goes_silently"),
    [
        ([("_SUB.START.LAB.a", b"{}")], True),
        ([("_SUB.START.LAB.a", b'{"expires":4294967296}')], False),
        ([("_PSUB.START.LAB", b'{"expires":60,"subject":"LAB.>","pattern":"^LAB"}')], False),
        ([("_SESSION.HB", b'{"time":$now,"interval":1000000,"cnonce":"$cnonce"}')], False),
        ([(f"_SUB.START.LAB.{number}", b"{}") for number in range(20)], False),
    ],
)
def test_who_would_be_remembered_for_long_says_goodbye(said: list[tuple[str, bytes]], goes_silently: bool) -> None:
    """A regression: a healthy publisher was accused of growth, which kept what it had been told to keep for an age."""
    instance = Suite("rai").harness.world(protocol("rai").roles["publisher"].of, "publisher")
    instance.restart()
    node = RaiPublisherTarget().node(instance, Trace("rai", "nats", clock=instance.clock))
    session = RaiPublisherTarget().session(node, "brief")
    for name, members in said:
        session.say([envelope.data(name, members)], "message", 0)
    session.clear()
    assert session._has_said_bye is not goes_silently
    node.close()


def test_trust_is_awaited_as_long_as_any_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: on a busy machine a session went on without trust, and a defect did not show that another had."""
    instance = Suite("rai").harness.world(protocol("rai").roles["publisher"].of, "publisher")
    instance.restart()
    node, waits = RaiPublisherTarget().node(instance, Trace("rai", "nats", clock=instance.clock)), list[float]()
    wait = node.read_until

    def read_until(done: Any, until: float) -> None:
        waits.append(until - instance.clock.now())
        wait(done, until)

    monkeypatch.setattr(node, "read_until", read_until)
    RaiPublisherTarget().session(node, "")
    assert max(waits) == pytest.approx(instance.timing.patience)
    node.close()


def test_a_command_that_is_not_answered_ends_no_test() -> None:
    """A session raises nothing for what the implementation does; in a hurry a second without an answer is enough."""
    instance: Any = SimpleNamespace(command=Mock(side_effect=ControlUnanswered("within 1.5 s")))
    RaiAtTheBroker(instance, Trace("rai", "nats")).tell_something()
    instance.command.assert_called_once()


# --- what was found of our own publisher, and is mended ---------------------------------------------------------------


@pytest.mark.parametrize("members", [b'"expires":5.', b'"expires":007', b'"x":%b1%b' % (b"[" * 3000, b"]" * 3000)])
@pytest.mark.parametrize("subject", ["_SUB.START.LAB.a", "_INBOX.paul.x.subs", "LAB.a"])
def test_odd_numbers_and_depth_are_refused(subject: str, members: bytes) -> None:
    with pytest.raises(DecodeError):
        read(subject, b'{"session":"tess.x","seqno":1,"digest":"x",%b}' % members)


def test_brackets_of_broken_globs_are_often_not_closed() -> None:
    """A regression: 3 in 100 were, so that few tests met who looks for the end of one."""
    random = Random(1)
    broken = [GLOBS.broken(random) for _ in range(4000)]
    assert sum(each.rfind(b"[") > each.rfind(b"]") for each in broken) > 250


@pytest.fixture
def healthy() -> Iterator[NodeOnTrial]:
    yield from node()


def node(*options: str) -> Iterator[NodeOnTrial]:
    need_broker("nats")
    job = FuzzJob(protocol="rai", iut="peer:publisher", role="publisher", seconds=1, seed=1, out="", options=options)
    suite = Suite("rai")
    description, transport = on_trial(job, suite)
    made = NodeOnTrial(suite, description, load("rai")["publisher"], profile="document", transport=transport)
    try:
        yield made
    finally:
        made.stop()


TESTS: tuple[NetworkTest, ...] = (
    (Opens("a"), says("_SUB.START.LAB.a", b'{"return":1,"ack":true}'), Listens("a"), EndsSession("a")),
    # Where a broker ends the link of who says too long a subject, or would say another.
    (Opens("a"), says("_SUB.START.LAB.a", b'{"return":"%b","ack":true}' % (b"a" * 5000)), Listens("a")),
    (Opens("a"), says("_SUB.START.LAB.a", b'{"return":"a b","ack":true}'), Listens("a")),
    (
        Opens("a"),
        says("_INBOX.$node.subs", b'{"last_seen":0,"subs":["LAB.a b","LAB.%b"]}' % (b"a" * 5000)),
        EndsSession("a"),
    ),
    *((Opens("a", how), says("_SNAP.LAB.a", b'{"return":1}'), Listens("a")) for how in RaiPublisherTarget.ways),
)


def test_a_healthy_publisher_is_not_accused(healthy: NodeOnTrial) -> None:
    # As if it were far: answers are waited for however busy the machine is.
    healthy.restart()
    healthy.instance.timing.took(0.25)
    for test in TESTS:
        played, symptom = healthy.play(test)
        assert symptom is None, test
        assert played is not None
        opened = test[0]
        assert isinstance(opened, Opens)
        # Who is not known hears at most what is published to all, and need not wait for that.
        assert played.features or opened.how in ("silent", "stranger")


DEFECTS: dict[str, NetworkTest] = {
    "dies-of-an-alphabet": (Opens("a"), says("_SNAP.LAB.a", '{"return":"\u0430"}'.encode())),
    "stops-for-the-user": (Opens("a"), says("_SUB.STOP.LAB.a", b'{"return":1}')),
    "forgets-wildcards": (Opens("a"), says("_PSUB.STOP._", b'{"subject":">","pattern":"("}')),
    "runs-out-of-slots": (Opens("a"), *(says("_SNAP.LAB.a", b'{"return":">"}'),) * 4),
    "falls-mute-of-a-long-subject": (Opens("a"), says("_SUB.START.LAB." + "a" * 300, b"{}")),
}
KINDS = ("crash", "harm", "harm", "service", "service")


@pytest.mark.parametrize(("name", "kind"), list(zip(DEFECTS, KINDS, strict=True)))
def test_the_service_sees_defects(name: str, kind: str) -> None:
    for sick in node("--defect", name):
        _, symptom = sick.play(DEFECTS[name])
        assert symptom is not None
        assert symptom.kind == kind


def test_there_are_defects_of_all_kinds() -> None:
    defects = protocol("rai").defects
    assert defects is not None
    kinds = [rule for each in defects.all.values() for rule in each.rules]
    for kind in ("parser", "state", "text", "resource", "hang", "harm", "service"):
        assert kinds.count(kind) >= 2


@pytest.mark.slow(seconds=3)  # it is played thirty times
def test_many_answers_in_each_session_are_no_growth(healthy: NodeOnTrial) -> None:
    """A regression: of the inboxes that each session has, sixteen thousand were remembered as NATS spells them."""
    asked = tuple(envelope.data(f"_SNAP.LAB.a.{number}", b'{"return":%d}' % number) for number in range(1, 130))
    healthy.patience = ANSWER
    assert reproduce(healthy, (Opens("a"), Says("a", asked), Listens("a")), times=TIMES) is None
