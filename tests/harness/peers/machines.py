"""Nodes of the tests' own: one that echoes, and one that dials."""

import threading

from harness.errors import Unsupported
from harness.iuts.description import Description, Embedded
from harness.links.framing import JsonStream, LengthPrefixed
from harness.peers.peer import HANG_UP, Dialler, Peer
from harness.peers.variants import Variants
from harness.protocol import WireProtocol

FRAMINGS = {
    "tcp": LengthPrefixed(4, "big", 1 << 18),
    "tls": LengthPrefixed(4, "big", 1 << 18),
    "tcp-stream": JsonStream(),
}


def described(role, *transports):
    """The description of an embedded node."""
    return Description(
        name="machine",
        protocol="test",
        role=role,
        roles=("echo", "caller"),
        source=Embedded(),
        dials=("caller",),
        transports=transports or ("tcp",),
    )


class Echo(Peer):
    """Says everything twice, and obeys a few words."""

    role = "echo"
    verbs = ("say",)

    def __init__(self, *, profile="document"):
        self.links = []
        self.frames = 0
        self.drained = 0
        self.asked = 0
        self.out = []
        self.events = []
        self.at = None
        self.entered, self.gate = threading.Event(), threading.Event()

    def connected(self, link, now, *, dialled=False, address=""):
        self.links.append(link)
        self.events.append(f"connected {link}")

    def received(self, link, frame, now):
        self.frames += 1
        match frame:
            case b'"bye"':
                self.out += [(link, b'"farewell"'), (link, HANG_UP)]
                self.links.remove(link)
            case b'"later"':
                self.at = now + 200.0
                self.waiting = link
            case b'"die"':
                raise RuntimeError("told to die")
            case b'"much"':
                self.out.append((link, b"x" * (1 << 18)))
            case b'"too much"':
                self.out.append((link, b"x" * (1 << 18) + b"x"))
            case b'"evict"':
                self.entered.set()
                assert self.gate.wait(20.0)
                self.out += [(each, HANG_UP) for each in self.links if each != link] + [(link, frame)]
                self.links = [link]
            case b'"all"':
                self.out += [(each, b'"to all"') for each in self.links]
            case _:
                self.out.append((link, frame))

    def disconnected(self, link, now):
        self.links.remove(link)
        self.events.append(f"disconnected {link}")

    def tick(self, now):
        if self.at is not None and now >= self.at:
            self.at = None
            self.out.append((self.waiting, b'"now"'))

    def next_tick(self):
        self.asked += 1
        return self.at

    def take_events(self):
        events, self.events = self.events, []
        return events

    def drain(self, now):
        self.drained += 1
        out, self.out = self.out, []
        yield from out

    def command(self, verb, arguments, now):
        if verb != "say":
            raise Unsupported(verb)
        self.out += [(link, " ".join(arguments).encode()) for link in self.links]
        return str(len(self.links))


class Caller(Echo, Dialler):
    """Dials its servers, and dials again half a second after a loss or a refusal."""

    role = "caller"

    def __init__(self, *, profile="document", scenario="", servers=1):
        super().__init__()
        self.scenario = scenario
        self.wanted = dict.fromkeys(range(servers), 0.0)
        self.servers = {}

    def dials(self, now):
        due = [server for server, at in self.wanted.items() if at <= now]
        for server in due:
            del self.wanted[server]
        return due

    def refused(self, server, now):
        self.events.append(f"refused {server}")
        self.wanted[server] = now + 0.5

    def reached(self, server, link, now):
        self.links.append(link)
        self.servers[link] = server
        self.events.append(f"reached {server}")
        self.out.append((link, f'{{"{self.scenario}": {server}}}'.encode()))

    def received(self, link, frame, now):
        super().received(link, frame, now)
        if link not in self.links:
            self.lost(link, now)

    def disconnected(self, link, now):
        self.links.remove(link)
        self.lost(link, now)

    def lost(self, link, now):
        server = self.servers.pop(link)
        self.events.append(f"lost {server}")
        self.wanted[server] = now + 0.5

    def next_tick(self):
        return min(self.wanted.values(), default=None)


PROTOCOL = WireProtocol(
    name="machine",
    layout="pathfinder/message",
    framings=FRAMINGS,
    roles={"echo": Echo, "caller": Caller},
    dials=frozenset({"caller"}),
    node_under_test=None,
    conversations=None,
    probe=None,
    faults=Variants("machines"),
    oddities=Variants("machines"),
)
