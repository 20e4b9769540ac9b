"""A Pathfinder client that goldwire can test: the scenarios of docs/pathfinder-client.md, without any library.

A thread per server; what the application knows is shared between them.
"""

import json
import os
import random
import socket
import struct
import sys
import threading
import time
from typing import Any

LARGEST = 262144  # bytes of a message
MOST = 100  # transactions at once
PATIENCE = 10.0  # seconds in which a server must answer
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 1.5  # seconds between attempts

Types = tuple[type, ...]
INT: Types = (int,)
TEXT: Types = (str,)
NUMBER: Types = (int, float)
PROPS: Types = (dict,)
SERVICE = {"service-id": INT, "generation": INT, "service-props": PROPS, "ttl": INT, "client-id": INT}
FIELDS: dict[tuple[str, str], dict[str, Types]] = {
    ("hello", "complete"): {"protocol-version": INT},
    ("services", "notify"): SERVICE,
    ("subscriptions", "notify"): {"subscription-id": INT, "client-id": INT},
    ("clients", "notify"): {"client-id": INT, "time": INT},
    ("subscribe", "appeared"): {"match-type": TEXT, **SERVICE},
    ("subscribe", "modified"): {"match-type": TEXT, **SERVICE},
    ("subscribe", "disappeared"): {"match-type": TEXT, "service-id": INT},
}
OPTIONAL: dict[str, Types] = {"orphan-since": NUMBER, "filter": TEXT, "fail-reason": TEXT}
OPTIONAL |= {"client-addr": TEXT, "client-address": TEXT}  # servers disagree on its name


class Broken(Exception):
    """The connection is of no use any more."""


def tell(*words: object) -> None:
    """Print what the application is told."""
    sys.stdout.write(" ".join(["event", *map(str, words)]) + "\n")
    sys.stdout.flush()


class Application:
    """What is the same on all servers: the identifiers, and the services that the subscriptions have seen."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.client_id = random.getrandbits(63)
        self.subscription_id = random.getrandbits(63)
        self.service_ids = [random.getrandbits(63) for _ in range(500)]
        self.known: dict[int, tuple[int, object]] = {}  # service: its generation and its state
        self.places: dict[int, dict[int, float]] = {}  # service: where it has appeared, and since when for certain

    def matched(self, server: int, message: dict[str, Any]) -> None:
        """Merge a match; a lower generation than the known one is ignored."""
        service, what = message["service-id"], message["match-type"]
        with self.lock:
            if what == "disappeared":
                self.gone(service, server)
                return
            state = [message["generation"], message["service-props"], message["ttl"], message["client-id"]]
            seen = (message["generation"], [*state, "orphan-since" in message])
            known = self.known.get(service)
            if known is None:
                self.known[service], self.places[service] = seen, {server: time.monotonic()}
                tell("appeared", service, seen[0])
            elif seen[0] >= known[0]:
                self.places[service][server] = time.monotonic()
                if seen[0] > known[0] or (what == "modified" and seen != known):
                    self.known[service] = seen
                    tell("modified", service, seen[0])

    def gone(self, service: int, server: int) -> None:
        """Take a service out of one server's picture; it has disappeared when that was the last."""
        if self.places.get(service, {}).pop(server, None) is not None and not self.places[service]:
            del self.known[service], self.places[service]
            tell("disappeared", service)

    def lost(self, server: int, ttl: dict[int, int]) -> None:
        """Give a server's services their TTL to be seen there again: a loss is no disappearance."""
        with self.lock:
            now = time.monotonic()
            for service in [service for service, places in self.places.items() if server in places]:
                pause = min(ttl.get(service, 0), 1_000_000)
                timer = threading.Timer(pause, self.unconfirmed, (service, server, now))
                timer.daemon = True
                timer.start()

    def unconfirmed(self, service: int, server: int, since: float) -> None:
        """Give up a service that was not seen again on a server."""
        with self.lock:
            if self.places.get(service, {}).get(server, since) < since:
                self.gone(service, server)


class Client(threading.Thread):
    """The connection to one server, again and again."""

    def __init__(self, application: Application, number: int, address: str, scenario: str) -> None:
        super().__init__()
        self.application, self.number, self.scenario = application, number, scenario
        host, _, port = address.partition("/")[2].rpartition(":")
        self.address = (host.strip("[]"), int(port))
        self.services: dict[int, dict[str, Any]] = {}  # what this server has to know
        self.subscriptions: dict[int, dict[str, Any]] = {}
        self.ttl: dict[int, int] = {}
        self.step = 0
        self.failures = 0

    def run(self) -> None:
        """Connect, play, and come back for ever."""
        while True:
            pause = 0.0
            try:
                self.live: dict[int, list[Any]] = {}  # transaction: command, fields, accepted
                self.next_ta = 0
                self.socket = socket.create_connection(self.address, timeout=PATIENCE)
                with self.socket:
                    self.hello()
                    self.ask([("publish", fields) for fields in self.services.values()])
                    self.ask([("subscribe", fields) for fields in self.subscriptions.values()])
                    pause = self.play()
            except (OSError, Broken):
                self.application.lost(self.number, self.ttl)
            time.sleep(pause or min(FIRST_PAUSE * 2 ** min(self.failures, 9), LONGEST_PAUSE))
            self.failures += 1

    def hello(self) -> None:
        """Say hello, until the server has nothing against it."""
        fields = {"client-id": self.application.client_id}
        fields |= {"protocol-minimum-version": 2, "protocol-maximum-version": 2}
        while not self.ask([("hello", fields)]):
            time.sleep(min(FIRST_PAUSE * 2 ** min(self.failures, 9), LONGEST_PAUSE))
            self.failures += 1
        self.failures = 0

    def play(self) -> float:
        """Play what is left of the scenario and stay; return how long to be away when it is the client that leaves."""
        steps = self.steps()
        while self.step < len(steps):
            step = steps[self.step]
            if isinstance(step, float):
                return step
            if step and step[0] == "change":
                service = self.services[self.application.service_ids[0]]
                service |= step[1] | {"generation": service["generation"] + 1}
                step = [("publish", service)]
            # What is published and subscribed is sent again after a loss; the rest is repeated if it got no answer.
            repeats = step[0][0] not in ("publish", "subscribe", "unsubscribe")
            self.step += not repeats
            self.ask(step)
            self.step += repeats
        while True:
            self.take(None)

    def steps(self) -> list[Any]:
        """Return the scenario: each step is commands to be sent together."""
        ids = self.application.service_ids
        subscription = {"subscription-id": self.application.subscription_id}
        filtered = {"filter": "(name=goldwire)"}
        scenarios: dict[str, list[Any]] = {
            "idle": [],
            "publish": [[self.publish(1), self.publish(2)]],
            "modify": [
                [self.publish(1)],
                ("change", {"service-props": {"name": ["goldwire-client"], "n": [2]}}),
                ("change", {"ttl": 90}),
            ],
            "unpublish": [[self.publish(1)], [("unpublish", {"service-id": ids[0]})]],
            "subscribe": [[("subscribe", subscription | filtered)]],
            "subscribe-all": [[("subscribe", subscription)]],
            "unsubscribe": [[("subscribe", subscription | filtered)], [("unsubscribe", subscription)]],
            "list": [[("services", filtered)], [("subscriptions", {})], [("clients", {})], [("ping", {})]],
            "transient": [[self.publish(1), self.publish(2, ttl=4)], 1.5],  # away for less than half of the lower TTL
            "many": [[self.publish(n) for n in range(1, 501)]],
        }
        return scenarios[self.scenario]

    def publish(self, n: int, ttl: int = 60) -> tuple[str, dict[str, Any]]:
        """Return the command that publishes the n-th service."""
        props = {"name": ["goldwire-client"], "n": [n]}
        service = self.application.service_ids[n - 1]
        return "publish", {"service-id": service, "generation": 0, "service-props": props, "ttl": ttl}

    def ask(self, commands: list[tuple[str, dict[str, Any]]]) -> bool:
        """Send commands, not too many at once, and wait for the answers; ``False`` when one was refused."""
        waiting, done = list(reversed(commands)), True
        while waiting or any(self.owes(*each) for each in self.live.values()):
            while waiting and len(self.live) < MOST:
                command, fields = waiting.pop()
                if command == "publish":
                    self.services[fields["service-id"]] = fields
                elif command == "unpublish":
                    self.services.pop(fields["service-id"], None)
                elif command == "subscribe":
                    self.subscriptions[fields["subscription-id"]] = fields
                elif command == "unsubscribe":
                    self.subscriptions.pop(fields["subscription-id"], None)
                self.live[self.next_ta] = [command, fields, False]
                self.send({"ta-cmd": command, "ta-id": self.next_ta, "msg-type": "request", **fields})
                self.next_ta += 1
            done = self.take(PATIENCE) and done
        return done

    def owes(self, command: str, fields: dict[str, Any], accepted: bool) -> bool:
        """Tell whether the server has something to say yet: an accepted subscription may stay as it is."""
        return not accepted or fields.get("subscription-id") not in self.subscriptions

    def take(self, patience: float | None) -> bool:
        """Take one message; ``False`` when it is a refusal, ``Broken`` when no server may say it."""
        self.socket.settimeout(patience)
        message = checked(self.receive())
        transaction = self.live.get(message["ta-id"])
        if transaction is None or transaction[0] != message["ta-cmd"]:
            raise Broken("an answer to nothing")
        command, fields, accepted = transaction
        kind = message["msg-type"]
        is_multiple = command in ("subscribe", "subscriptions", "services", "clients")
        if kind not in (("notify", "complete") if accepted else ("accept" if is_multiple else "complete", "fail")):
            raise Broken("an answer out of turn")
        if kind == "accept":
            transaction[2] = True
        elif kind == "notify" and fields.get("subscription-id") in self.subscriptions:
            self.ttl[message["service-id"]] = message.get("ttl", 0)
            self.application.matched(self.number, message)
        elif kind in ("complete", "fail"):
            del self.live[message["ta-id"]]
        if kind == "fail":
            reason = message.get("fail-reason", "-").encode("ascii", "replace").decode()
            tell("failed", command, "_".join(reason.split()) or "-")
        return bool(kind != "fail")

    def send(self, message: dict[str, Any]) -> None:
        """Send a message behind its length."""
        data = json.dumps(message).encode()
        self.socket.sendall(struct.pack(">I", len(data)) + data)

    def receive(self) -> bytes:
        """Receive a message; ``Broken`` when the server has gone, or sends too much."""
        (length,) = struct.unpack(">I", self.read(4))
        if length > LARGEST:
            raise Broken("too long")
        return self.read(length)

    def read(self, size: int) -> bytes:
        """Receive so many bytes, in whatever pieces they come."""
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise Broken("the server has gone")
            data += piece
        return data


def checked(data: bytes) -> dict[str, Any]:
    """Read a message; ``Broken`` when it is not one of the document's."""
    try:
        message = json.loads(data.decode(), object_pairs_hook=distinct, parse_constant=refused)
        command, kind = message["ta-cmd"], message["msg-type"]
        key = (command, message["match-type"] if (command, kind) == ("subscribe", "notify") else kind)
        fields = {"ta-cmd": TEXT, "msg-type": TEXT, "ta-id": INT, **FIELDS.get(key, {})}
        if fields.keys() - message.keys():
            raise Broken("a field is missing")
        for name, value in message.items():
            types = fields.get(name) or OPTIONAL[name]
            if type(value) not in types or (type(value) is int and not 0 <= value < 1 << 63):
                raise Broken(f"{name} has no such value")
        if not all(map(is_property, message.get("service-props", {}).values())):
            raise Broken("service-props has no such value")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Broken("not a message") from error
    if key == ("hello", "complete") and message["protocol-version"] != 2:
        raise Broken("another version of the protocol")
    return dict(message)


def is_property(values: Any) -> bool:
    """Tell whether something is what a property may have: strings and integers in an array."""
    return type(values) is list and all(
        "\0" not in each if type(each) is str else type(each) is int and -1 << 63 <= each < 1 << 63 for each in values
    )


def refused(name: str) -> None:
    """Refuse what Python takes for a number and JSON does not know."""
    raise Broken(f"{name} is no number")


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's members; a name that stands twice is an error."""
    if len(dict(pairs)) != len(pairs):
        raise Broken("a name stands twice")
    return dict(pairs)


def main() -> None:
    """Play the scenario on all servers of the domain until killed."""
    application = Application()
    for number, address in enumerate(os.environ["GOLDWIRE_CONNECT"].split(",")):
        Client(application, number, address, os.environ["GOLDWIRE_SCENARIO"]).start()


if __name__ == "__main__":
    main()
