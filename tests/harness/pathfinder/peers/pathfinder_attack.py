"""Attacks on a Pathfinder server: the server as a process, clients, and bystanders who must not notice."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from harness.clock import RealClock
from harness.errors import Deadline, LinkClosed
from harness.links.connected import ConnectedLink
from harness.links.transports import dial, free_addresses
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.driver import encode_message, new_id

CLOCK = RealClock()
ANSWER_TIMEOUT = 20.0
"""Seconds in which an attacker gets an answer, or is sent away."""

PROMPT = 4.0
"""Seconds in which a bystander gets an answer, whatever happens: other work may keep the machine busy."""

FRAMED = FRAMINGS["tcp"]


class Served:
    """``goldwire peer pathfinder`` in a process of its own."""

    def __init__(self, *transports: str, options: tuple[str, ...] = (), code: str = "") -> None:
        places = free_addresses(transports)
        self.addresses: dict[str, str] = {place.transport: str(place) for place in places}
        self.every = [str(place) for place in places]
        listen = [word for place in places for word in ("--listen", str(place))]
        main = f"{code}\nfrom harness.command import main\nmain()"
        self.process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", main, "peer", "pathfinder", *listen, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready"), self.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End it, and return its status and what it complained of."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, complaints = self.process.communicate(timeout=ANSWER_TIMEOUT)
        return self.process.returncode, complaints

    def resident(self) -> int:
        """Return the bytes of memory that it holds."""
        return _kilobytes(self.process.pid, "VmRSS")

    def peak(self) -> int:
        """Return the most bytes of memory that it has held since ``forget_peak``."""
        return _kilobytes(self.process.pid, "VmHWM")

    def forget_peak(self) -> None:
        """Let ``peak`` begin anew from what it holds now."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def effort(self) -> float:
        """Return the seconds of processor time that it has taken: other work on the machine does not count."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def files(self) -> int:
        """Return how many files and sockets it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def _kilobytes(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise AssertionError(f"process {pid} is gone")


class Client:
    """One connection, in the fewest words."""

    def __init__(self, address: str, client_id: int | None = None) -> None:
        link = dial(address, FRAMINGS, CLOCK, timeout=ANSWER_TIMEOUT)
        assert isinstance(link, ConnectedLink)
        self.link = link
        self.client_id = new_id() if client_id is None else client_id
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.link.close()

    def greet(self) -> Self:
        """Say hello."""
        assert self.ask("hello", **greeting(self.client_id))["msg-type"] == "complete"
        return self

    def request(self, command: str, **fields: Any) -> bytes:
        """Spell a request; underscores stand for hyphens, and values may be spelled already."""
        self.count += 1
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        return encode_message({"ta-cmd": command, "ta-id": self.count, "msg-type": "request", **named})

    def begin(self, command: str, **fields: Any) -> int:
        """Send a request and return the identifier of its transaction."""
        self.link.send(self.request(command, **fields))
        return self.count

    def ask(self, command: str, *, within: float = ANSWER_TIMEOUT, **fields: Any) -> dict[str, Any]:
        """Send a request and return the last of its answers; that to a subscription is the first."""
        return self.answers(command, within=within, **fields)[-1]

    def answers(self, command: str, *, within: float = ANSWER_TIMEOUT, **fields: Any) -> list[dict[str, Any]]:
        """Send a request and return what answers it, until it is over; of a subscription, until it is accepted."""
        number, deadline = self.begin(command, **fields), CLOCK.now() + within
        answers: list[dict[str, Any]] = []
        ends = ("accept", "complete", "fail") if command == "subscribe" else ("complete", "fail")
        while not answers or answers[-1]["msg-type"] not in ends:
            message = self.next(deadline)
            if message["ta-id"] == number:
                answers.append(message)
        return answers

    def next(self, deadline: float | None = None) -> dict[str, Any]:
        """Return the next message, by a deadline."""
        message: dict[str, Any] = json.loads(
            self.link.receive(CLOCK.now() + ANSWER_TIMEOUT if deadline is None else deadline).data
        )
        return message

    def fate(self) -> str:
        """Return the type of the next message; ``ended`` when the connection ends without one, else ``silence``."""
        try:
            return str(self.next()["msg-type"])
        except LinkClosed:
            return "ended"
        except Deadline:
            return "silence"


def greeting(client_id: int) -> dict[str, Any]:
    """Return the fields of a hello."""
    return {"client_id": client_id, "protocol_minimum_version": 2, "protocol_maximum_version": 2}


def service(number: int, generation: int = 0, /, *, ttl: int = 60, **props: list[Any]) -> dict[str, Any]:
    """Return the fields of a publish; the properties are given by name."""
    return {"service_id": number, "generation": generation, "service_props": props or {"n": [generation]}, "ttl": ttl}


class Bystanders:
    """A subscriber, a publisher and a pinger on connections of their own, who go about their business in a thread.

    Whatever is not answered within ``PROMPT`` seconds is what ``trouble`` says.
    """

    def __init__(self, address: str) -> None:
        self.rounds = 0
        self.slowest = 0.0
        self.trouble = ""
        self._service = new_id()
        self._stack = ExitStack()
        self._over = threading.Event()
        self._round = threading.Condition()
        self._subscriber, self._publisher, self._pinger = (
            self._stack.enter_context(Client(address)).greet() for _ in range(3)
        )
        mine = f"(bystanders={self._service})"
        assert self._subscriber.ask("subscribe", subscription_id=new_id(), filter=mine)["msg-type"] == "accept"
        self._thread = threading.Thread(target=self._go_about)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.go_on()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.go_on()
        finally:
            self._leave()

    def _leave(self) -> None:
        self._over.set()
        self._thread.join()
        self._stack.close()

    def go_on(self) -> None:
        """Wait until a whole round has been begun and served from now on."""
        with self._round:
            after = self.rounds + 2
            self._round.wait_for(lambda: self.rounds >= after or self.trouble, 10 * PROMPT)
            assert not self.trouble, f"after {self.rounds} rounds, the slowest of {self.slowest:.2f} s: {self.trouble}"
            assert self.rounds >= after

    def _go_about(self) -> None:
        while not self.trouble and not self._over.wait(0.01):
            began = CLOCK.now()
            with self._round:
                generation = self.rounds
            trouble = self._serve_round(generation)
            with self._round:
                self.slowest = max(self.slowest, CLOCK.now() - began)
                self.rounds += 1
                self.trouble = trouble
                self._round.notify_all()

    def _serve_round(self, generation: int) -> str:
        step = "the ping"
        try:
            self._pinger.ask("ping", within=PROMPT)
            step = "the publish"
            fields = service(self._service, generation, bystanders=[str(self._service)], n=[generation])
            answer = self._publisher.ask("publish", within=PROMPT, **fields)
            if answer["msg-type"] != "complete":
                return f"the publish was answered with {answer}"
            step = "the notification"
            told = self._subscriber.next(CLOCK.now() + PROMPT)
            expected = ("modified" if generation else "appeared", generation)
            if (told.get("match-type"), told.get("generation")) != expected:
                return f"told was {told}, and expected {expected}"
        except (Deadline, LinkClosed) as error:
            return f"{step}: {type(error).__name__}: {error}"
        return ""


def raw(address: str) -> socket.socket:
    """Connect to a TCP or ``ux`` address, and do no more."""
    transport, _, place = address.partition("/")
    if transport == "ux":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.connect(f"\0{place}")
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = place.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=ANSWER_TIMEOUT)


@contextmanager
def stuffing(client: Client, frames: bytes) -> Iterator[None]:
    """Send in a thread, as long as the other side takes it."""

    def send() -> None:
        with suppress(OSError, Deadline, LinkClosed):
            client.link.send_raw(frames)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        thread.join()
