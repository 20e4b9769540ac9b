"""The reference Pathfinder server as a process, and more of everything than it should have to do with at once."""

import os
import resource
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from pathfinder_attack import (
    ANSWER_TIMEOUT,
    CLOCK,
    FRAMED,
    Bystanders,
    Client,
    Served,
    greeting,
    raw,
    service,
    stuffing,
)

from harness.pathfinder.tester.driver import new_id

TRANSPORTS: tuple[str, ...] = ("tcp", "tcp-stream", "ux", "tls")
CROWD = 10_000
MEBIBYTE = 1 << 20

pytestmark = pytest.mark.slow(seconds=1)  # each: one server works for several seconds for all of them


@pytest.fixture
def files() -> Iterator[int]:
    """As many files as this process may have open, for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server that must live until the last test is over, and has then nothing to complain of."""
    with Served(*TRANSPORTS) as served:
        yield served
        assert served.end() == (0, "")


@pytest.fixture
def others(served: Served) -> Iterator[Bystanders]:
    """Those who must not notice."""
    with Bystanders(served.addresses["tcp"]) as others:
        yield others


# --- crowds -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("transport", "size", "most"),
    [
        ("tcp", CROWD, 64),
        pytest.param("ux", 3_000, 64, marks=pytest.mark.slow),
        pytest.param("tls", 2_000, 128, marks=pytest.mark.slow),
    ],
)
def test_ten_thousand_connections_that_never_say_hello(
    served: Served, files: int, transport: str, size: int, most: int
) -> None:
    """All at once, as far as files go; whoever wants to talk gets in.

    Those over TLS do not even shake hands, and are fewer: each costs the server a thousand times as much as a plain
    one, so fewer of them show whether that is bounded. Those over UX are sent away by what sends those over TCP away,
    once they are six times as many as may wait.
    """
    at_once = min(size, files - 2_000)
    served.forget_peak()
    before = served.resident()
    with ExitStack() as stack:
        crowd: list[socket.socket] = []
        for count in range(size):
            if len(crowd) >= at_once:
                crowd.pop(0).close()
            crowd.append(stack.enter_context(raw(served.addresses[transport])))
            if count % (size // 4) == 0:
                with Client(served.addresses["tcp"]).greet() as late:
                    assert late.ask("ping")["msg-type"] == "complete"
        assert len(crowd) == at_once
        with Client(served.addresses[transport]).greet() as late:
            assert late.ask("ping")["msg-type"] == "complete"
        assert served.peak() - before < most * MEBIBYTE
        # Most were sent away to make room.
        sent_away, deadline = 0, CLOCK.now() + ANSWER_TIMEOUT
        while sent_away < at_once - 1_000:
            assert CLOCK.now() < deadline, f"{sent_away} were sent away"
            poll = select.poll()
            for each in crowd:
                poll.register(each, select.POLLIN)
            sent_away = len(poll.poll(1_000))


@pytest.mark.usefixtures("others")
def test_a_storm_of_connects_under_one_client_id(served: Served) -> None:
    number, deadline = new_id(), CLOCK.now() + 60
    for _ in range(500):
        client = Client(served.addresses["tcp"], number)
        # Until its end has been seen, the one before is still there.
        while (answer := client.ask("hello", **greeting(number)))["msg-type"] == "fail":
            assert answer["fail-reason"] == "client-id-exists"
            assert CLOCK.now() < deadline
        client.begin("subscribe", subscription_id=number)
        client.begin("publish", **service(number))
        client.link.abort()
    with Client(served.addresses["tcp"]).greet() as client:
        while True:
            left_behind = [each.get("client-id") for each in client.answers("clients")]
            if number not in left_behind:
                break
            assert CLOCK.now() < deadline
        assert client.ask("subscribe", subscription_id=number)["msg-type"] == "accept"


@pytest.mark.usefixtures("others")
def test_many_under_one_client_id_at_once(served: Served) -> None:
    number, results = new_id(), []

    def storm() -> None:
        for _ in range(100):
            with Client(served.addresses["tcp"], number) as client:
                results.append(client.ask("hello", **greeting(number)).get("fail-reason", "complete"))

    threads = [threading.Thread(target=storm) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 500
    assert set(results) <= {"complete", "client-id-exists"}
    assert results.count("complete") >= 5


# --- much at once -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    "transport", [pytest.param(each, marks=[] if each == "tcp" else [pytest.mark.slow]) for each in TRANSPORTS]
)
def test_ten_thousand_pings_at_once(served: Served, transport: str) -> None:
    with Client(served.addresses[transport]).greet() as client:
        frames = [client.request("ping") for _ in range(10_000)]
        if transport == "ux":
            for frame in frames:
                client.link.send(frame)
        else:
            encode = FRAMED.encode if transport != "tcp-stream" else bytes
            client.link.send_raw(b"".join(map(encode, frames)))
        answers = [client.next() for _ in frames]
        assert [answer["ta-id"] for answer in answers] == list(range(2, 10_002))
        assert {answer["msg-type"] for answer in answers} == {"complete"}


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    "transport", [pytest.param(each, marks=[] if each in ("tcp", "tls") else [pytest.mark.slow]) for each in TRANSPORTS]
)
def test_what_was_said_in_one_breath_before_leaving_counts(served: Served, transport: str) -> None:
    breath = new_id()
    with Client(served.addresses[transport]).greet() as client, Client(served.addresses["tcp"]).greet() as other:
        for _ in range(2_000):
            client.begin("publish", **service(new_id(), breath=[breath]))
        if transport == "tls":
            with suppress(ssl.SSLError):  # it is sent, and what comes back are answers
                client.link._socket.unwrap()  # type: ignore[attr-defined]
        else:
            client.link._socket.shutdown(socket.SHUT_WR)
        deadline = CLOCK.now() + ANSWER_TIMEOUT
        while (count := len(other.answers("services", filter=f"(breath={breath})")) - 2) < 2_000:
            assert CLOCK.now() < deadline, f"{count} were published"


@pytest.mark.usefixtures("others")
def test_two_hundred_clients_with_five_thousand_services(served: Served) -> None:
    """Each has a subscription that matches its neighbour's services; then all are told that half of them leave."""
    before = served.resident()
    base = new_id() << 1
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(served.addresses["tcp"]).greet()) for _ in range(200)]
        for at, client in enumerate(clients):
            answer = client.ask("subscribe", subscription_id=base + at, filter=f"(group={(at + 1) % 200})")
            assert answer["msg-type"] == "accept"
        for at, client in enumerate(clients):
            for n in range(25):
                client.begin("publish", **service(base + 25 * at + n, group=[at], name=[f"service {n}"]))
        for client in clients:
            said = [client.next() for _ in range(50)]
            assert [each["msg-type"] for each in said].count("complete") == 25
            assert [each.get("match-type") for each in said].count("appeared") == 25
        listed = clients[0].answers("services", filter="(name=service*)")
        assert len(listed) == 5_002
        assert len(clients[0].answers("services", filter="(&(group=7)(name=service 3))")) == 3
        for client in clients[1::2]:
            client.link.abort()
        for client in clients[::2]:
            for _ in range(25):
                told = client.next()
                assert told["match-type"] == "modified"
                assert "orphan-since" in told
        assert served.resident() - before < 64 * MEBIBYTE


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    "transport",
    # 80 MB for each.
    [pytest.param(each, marks=[] if each == "tcp" else [pytest.mark.slow]) for each in TRANSPORTS],
)
def test_one_that_stops_reading_while_it_is_told_everything(served: Served, transport: str) -> None:
    """It is held for a while, and then cut; others who are told the same read all of it."""
    served.forget_peak()
    before = served.resident()
    with ExitStack() as stack:
        deaf, reader, publisher = (
            stack.enter_context(Client(served.addresses[each]).greet()) for each in (transport, "tcp", "tcp")
        )
        for each in (deaf, reader):
            each.begin("subscribe", subscription_id=new_id(), filter="(loud=*)")
            assert each.next()["msg-type"] == "accept"
        number, text = new_id(), "x" * 250_000
        for generation in range(320):
            publisher.begin("publish", **service(number, generation, loud=[text, generation]))
            assert reader.next()["generation"] == generation
            assert publisher.next()["msg-type"] == "complete"
        assert deaf.client_id not in [each.get("client-id") for each in publisher.answers("clients")]
        assert publisher.ask("unpublish", service_id=number)["msg-type"] == "complete"
        assert served.peak() - before < 192 * MEBIBYTE


@pytest.mark.usefixtures("others")
def test_one_that_asks_and_asks_and_never_reads(served: Served) -> None:
    """What it asks for is not even read any more, once enough waits for it."""
    served.forget_peak()
    before = served.resident()
    with Client(served.addresses["tcp"]).greet() as publisher, Client(served.addresses["tcp"]).greet() as deaf:
        for _ in range(100):
            assert publisher.ask("publish", **service(new_id(), text=["x" * 10_000]))["msg-type"] == "complete"
        frames = b"".join(FRAMED.encode(deaf.request("services", filter="(text=*)")) for _ in range(20_000))
        with stuffing(deaf, frames):
            assert publisher.ask("ping")["msg-type"] == "complete"
        assert publisher.ask("ping")["msg-type"] == "complete"
        assert served.peak() - before < 64 * MEBIBYTE


# --- addresses --------------------------------------------------------------------------------------------


def test_addresses_of_several_kinds_are_one_domain() -> None:
    with Served(*TRANSPORTS, "tcp") as served, ExitStack() as stack:
        clients = [stack.enter_context(Client(address).greet()) for address in served.every]
        for client in clients:
            assert client.ask("subscribe", subscription_id=new_id(), filter="(domain=one)")["msg-type"] == "accept"
        number = new_id()
        clients[0].begin("publish", **service(number, domain=["one"]))
        for client in clients:
            told = client.next()
            if told["msg-type"] == "complete":
                told = client.next()
            assert (told["match-type"], told["service-id"]) == ("appeared", number)
        for client in clients[1:]:
            with Client(served.every[0], client.client_id) as double:
                assert double.ask("hello", **greeting(client.client_id))["fail-reason"] == "client-id-exists"
        listed = {each.get("client-id"): each.get("client-addr") for each in clients[2].answers("clients")[1:-1]}
        assert len(listed) == len(clients)
        for client, address in zip(clients, served.every, strict=True):
            transport = address.partition("/")[0]
            where = listed[client.client_id] or ""
            if transport == "ux":
                assert where.partition(":")[0] == "ux"  # the kernel may have given it a name, or not
            else:
                here = client.link.ports[0]
                assert where == f"{transport}:127.0.0.1:{here}"
        assert served.end() == (0, "")


# --- the end ----------------------------------------------------------------------------------------------


@pytest.mark.slow  # floods a server
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_amid_traffic(number: int) -> None:
    with Served(*TRANSPORTS) as served, ExitStack() as stack:
        crowd = [stack.enter_context(raw(served.addresses["tcp"])) for _ in range(100)]
        for transport in TRANSPORTS:
            watcher, asker = (stack.enter_context(Client(served.addresses[transport]).greet()) for _ in range(2))
            watcher.begin("subscribe", subscription_id=new_id())
            for generation in range(200):
                asker.begin("publish", **service(asker.client_id, generation, text=["x" * 10_000]))
            asker.begin("services")
        assert served.end(number) == (0, "")
        assert not os.path.exists(f"/proc/{served.process.pid}")
        for each in crowd:
            assert each.recv(1) == b""
        with pytest.raises((ConnectionRefusedError, FileNotFoundError)):
            raw(served.addresses["ux"])
        with pytest.raises(ConnectionRefusedError):
            raw(served.addresses["tcp"])


# --- limits -----------------------------------------------------------------------------------------------

LITTLE = """
from harness.pathfinder.protocol import PROTOCOL
from harness.pathfinder.peers.limits import Limits
from harness.pathfinder.peers.server import Server

class Small(Server):
    def __init__(self, **options):
        super().__init__(limits=Limits(clients=5, services=20, services_each=8, subscriptions_each=4, filter=100,
                                       filters=250, volume=100_000, message=50_000), **options)

PROTOCOL.roles["server"] = Small
"""


@pytest.mark.slow  # fills a server to its limits
def test_what_there_is_no_room_for_is_refused_and_nothing_else() -> None:
    """A server with little room, whose limits are reached one after the other; nobody who is inside is harmed."""
    with Served("tcp", code=LITTLE) as served, Bystanders(served.addresses["tcp"]), ExitStack() as stack:
        clients = [stack.enter_context(Client(served.addresses["tcp"])) for _ in range(3)]
        greedy, patient = clients[0].greet(), clients[1].greet()

        def refusal(client: Client, command: str, **fields: Any) -> str | None:
            reason: str | None = client.ask(command, **fields).get("fail-reason")
            return reason

        full = "insufficient-resources"
        assert refusal(clients[2], "hello", **greeting(clients[2].client_id)) == full
        names = [new_id() for _ in range(9)]
        assert [refusal(greedy, "publish", **service(name)) for name in names] == [None] * 8 + [full]
        assert refusal(greedy, "publish", **service(names[0], 1)) is None
        assert refusal(patient, "publish", **service(names[8])) is None
        ids = [new_id() for _ in range(5)]
        assert [refusal(greedy, "subscribe", subscription_id=each) for each in ids] == [None] * 4 + [full]
        assert refusal(greedy, "unsubscribe", subscription_id=ids[0]) is None
        assert refusal(greedy, "subscribe", subscription_id=ids[4], filter=f"({'a' * 97}=*)") == full
        assert refusal(greedy, "subscribe", subscription_id=ids[4], filter=f"({'a' * 96}=*)") is None
        long = f"({'b' * 96}=*)"
        texts = [refusal(patient, "subscribe", subscription_id=new_id(), filter=long) for _ in range(2)]
        assert texts == [None, full]
        assert refusal(patient, "publish", **service(new_id(), text=["x" * 60_000])) == full
        volume = [refusal(patient, "publish", **service(new_id(), text=["x" * 30_000])) for _ in range(4)]
        assert volume == [None, None, None, full]
        # That values repeat each other makes them no smaller.
        assert refusal(patient, "publish", **service(new_id(), text=["x" * 100] * 450)) == full
        clients[1].link.close()
        deadline = CLOCK.now() + ANSWER_TIMEOUT
        while refusal(clients[2], "hello", **greeting(clients[2].client_id)) == full:
            assert CLOCK.now() < deadline


# --- many who come and go ---------------------------------------------------------------------------------

SOAK = Path(__file__).parents[4] / "benchmarks" / "pathfinder_soak.py"


@pytest.mark.sweep
@pytest.mark.slow  # a soak
def test_memory_does_not_grow() -> None:
    """One MiB for 600 clients who come and go, each with several services; GOLDWIRE_SOAK has seconds for many more."""
    seconds = os.environ.get("GOLDWIRE_SOAK")
    length = ["--for", seconds] if seconds else ["--for", "60", "--cycles", "600"]
    command = [sys.executable, str(SOAK), *length, "--warm-up", "400", "--most", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
