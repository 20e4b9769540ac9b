"""Brokers as they are fuzzed: what is said to them, how their deaths are told apart, that healthy ones are well."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from brokers import need_broker
from with_scapy import TCP, packets_of

from conformance.suite import Suite
from fuzz.net.finding import TRACE, NetworkFinding, NetworkOrigin, write_finding
from fuzz.net.moves import EndsSession, Listens, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.symptoms import Symptom, crash
from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, on_trial
from fuzz.rai import nats_speech, redis_speech
from fuzz.rai.nats_speech import NatsSide
from fuzz.rai.redis_speech import RedisSide
from wire import envelope
from wire.envelope import Envelope

LISTENS, SAYS = Envelope(envelope.LISTEN, "LAB.>"), Envelope(envelope.DATA, "LAB.a", b"{}")


def test_an_envelope_is_said_as_its_broker_is_told_it() -> None:
    nats, redis = NatsSide(""), RedisSide("")
    assert nats.spelt(LISTENS) == b"SUB LAB.> 1\r\n"
    assert nats.spelt(SAYS) == b"PUB LAB.a 2\r\n{}\r\n"
    assert redis.spelt(LISTENS) == b"*2\r\n$10\r\nPSUBSCRIBE\r\n$5\r\nLAB.*\r\n"
    assert redis.spelt(SAYS) == b"*3\r\n$7\r\nPUBLISH\r\n$5\r\nLAB.a\r\n$2\r\n{}\r\n"


def test_the_answer_to_a_question_is_counted_and_is_no_answer_to_the_test() -> None:
    nats, redis = NatsSide(""), RedisSide("resp-2")
    assert nats.question() == b"PING\r\n"
    assert list(nats.heard(b"-ERR 'Unknown Protocol Operation'\r\nPONG\r\n")) == ["error Unknown Protocol Operation"]
    assert nats.answered == 1
    asked = redis.question()
    text = asked.split(b"\r\n")[-2]
    assert list(redis.heard(b"-ERR unknown command 'x'\r\n*2\r\n$4\r\npong\r\n$%d\r\n%b\r\n" % (len(text), text))) == [
        "error ERR unknown command "
    ]
    assert redis.answered == 1


@pytest.mark.parametrize("speech", [nats_speech, redis_speech])
def test_much_is_drawn_and_all_of_it_is_bytes(speech: object) -> None:
    random = Random(1)
    drawn = {draw(random) for _ in range(500) for draw in (speech.message, speech.stream)}  # type: ignore[attr-defined]
    assert len(drawn) > 800


def test_a_panic_and_an_assertion_say_where_they_happened() -> None:
    panic = crash(
        "it ended with status 2; panic: runtime error: index out of range [5] with length 3\n\n"
        "goroutine 50 [running]:\npanic({0x7f, 0x1})\n\t/usr/lib/go/src/runtime/panic.go:884 +0x212\n"
        "runtime.goPanicIndex(0x5, 0x3)\n\t/usr/lib/go/src/runtime/panic.go:113 +0x60\n"
        "nats/server.(*client).processSub(0xc000)\n\t/build/nats-server/server/client.go:2345 +0x1d\n"
    )
    assert panic.place == "client.go:2345"
    assert "index out of range" in panic.what
    failed = crash("=== REDIS BUG REPORT START\n1:M # ==> networking.c:123 'c->x == 1' is not true\n")
    assert failed.place == "networking.c:123"
    killed = crash(
        "1:M # Redis 7.0.15 crashed by signal: 11, si_code: 1\n------ STACK TRACE ------\nEIP:\n"
        "/usr/bin/redis-server 127.0.0.1:6379(stringmatchlen+0x1f)[0x55]\n"
    )
    assert "stringmatchlen" in killed.place


TESTS: dict[str, tuple[NetworkTest, ...]] = {
    "nats": (
        (Opens("a"), Says("a", (envelope.listen(">"), envelope.data("LAB.a", b"{}"))), Listens("a"), EndsSession("a")),
        (Opens("a"), Says("a", (b"PUB LAB.a 99999999\r\n",), "frame"), Says("a", (b"PING\r\n",)), Listens("a")),
        (Opens("a", "silent"), Says("a", (b"\0\xff", b"SUB\r\n"), "frame"), Listens("a")),
    ),
    "redis": (
        (Opens("a"), Says("a", (envelope.listen(">"), envelope.data("LAB.a", b"{}"))), Listens("a"), EndsSession("a")),
        (Opens("a", "resp-2"), Says("a", (b"*1\r\n$-5\r\n",), "frame"), Says("a", (b"PING\r\n",)), Listens("a")),
        (Opens("a"), Says("a", (b'PSUBSCRIBE "\r\n', b"\0"), "frame"), Listens("a")),
    ),
}


def on_trial_as(kind: str) -> Iterator[NodeOnTrial]:
    need_broker(kind)
    role = f"{kind}-broker"
    job = FuzzJob(protocol="rai", iut=f"{kind}-server", role=role, seconds=1, seed=1, out="")
    suite = Suite("rai")
    description, transport = on_trial(job, suite)
    node = NodeOnTrial(suite, description, load("rai")[role], profile="document", transport=transport)
    try:
        yield node
    finally:
        node.stop()


@pytest.mark.parametrize("kind", list(TESTS))
def test_a_healthy_broker_is_not_accused(kind: str) -> None:
    for node in on_trial_as(kind):
        # As if it were far: answers are waited for however busy the machine is.
        node.restart()
        node.instance.timing.took(0.25)
        for test in TESTS[kind]:
            played, symptom = node.play(test)
            assert symptom is None, test
            assert played is not None
            assert played.features


@pytest.mark.parametrize(("kind", "said"), [("nats", b"SUB > 1\r\nPUB LAB.a 2\r\n{}\r\n"), ("redis", b"PUBLISH")])
def test_in_the_capture_of_a_finding_its_clients_dial_the_broker(kind: str, said: bytes, tmp_path: Path) -> None:
    """A regression: it was taken for a capture of Rai's, in which the broker is the tester's."""
    for node in on_trial_as(kind):
        played, _ = node.play(TESTS[kind][0])
        assert played is not None
        finding = NetworkFinding(
            signature="",
            protocol="rai",
            role=f"{kind}-broker",
            iut=f"{kind}-server",
            version="",
            transport=kind,
            profile="document",
            layout="rai/envelope",
            symptom=Symptom("crash", "it died"),
            test=TESTS[kind][0],
            found=TESTS[kind][0],
            times=1,
            origin=NetworkOrigin(0, 0, 1, 1.0, "2026-01-01T00:00:00+00:00"),
        )
        folder, _ = write_finding(tmp_path, finding, played.trace)
        opening, *packets = packets_of(folder / TRACE)
        assert opening[TCP].flags == "S"
        clients = b"".join(bytes(each[TCP].payload) for each in packets if each[TCP].sport == opening[TCP].sport)
        assert said in clients
