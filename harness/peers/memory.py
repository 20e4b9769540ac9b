"""A peer in memory: its links are calls and its time is virtual, so that nothing waits and every play is the same."""

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec

from harness.clock import VirtualClock
from harness.errors import ControlFailed, ControlUnanswered, Deadline, LinkClosed, NotYet, Unreachable, Unsupported
from harness.links.addresses import OTHER_LOOPBACK
from harness.links.link import Link, RecordedLink
from harness.links.network_path import Fates, NetworkPath
from harness.peers.peer import HANG_UP, Dialler, PeerMaker, PeerSettings
from harness.timing import Timing
from harness.trace import Direction, Entry, EntryKind, Trace

EPOCH = 1_700_000_000.0
"""Seconds from 1970 to the beginning of virtual time: some day of 2023, the same in every play."""

BUSY = 10_000
"""Times that a peer acts for one time which is over, before it is taken for busy with nothing."""
A_MOMENT = 0.01
"""Seconds that pass for each time more: a real machine's time goes on as well."""

FIRST_PORT = 40000
"""Before the first of the made-up ports that links come from: a peer can say where each comes from, as over sockets."""


class MemoryLink(RecordedLink):
    """The tester's end of a link into a world."""

    def __init__(self, world: "World", number: int, label: str, trace: Trace | None) -> None:
        opened = Direction.RECEIVED if world.dials else Direction.SENT
        super().__init__(label, world.clock, trace, "memory", (port_of(number), 0), opened)
        self._world = world
        self.number = number
        """What the peer calls it; where frames are datagrams, what the tester calls its address."""

    def send(self, frame: bytes) -> Entry:
        """Hand one frame to the peer."""
        if self._how is not None:
            raise LinkClosed(self._how)
        entry = self._record(EntryKind.FRAME, Direction.SENT, frame)
        self._world.give(self, frame)
        return entry

    def send_raw(self, data: bytes) -> Entry:
        """Hand bytes to the peer as one frame: there is no framing in memory."""
        return self.send(data)

    def receive(self, deadline: float) -> Entry:
        """Return the next frame, letting virtual time pass until there is one."""
        while not self._frames:
            if self._how is not None:
                raise LinkClosed(self._how)
            # Only the peer's timers can bring a frame now: all that it had to say to what was sent it has said at once.
            if not self._world.wait(deadline):
                raise Deadline(f"nothing arrived on link {self.label} in time")
        return self._frames.popleft()

    def close(self) -> None:
        """End the link."""
        if self._how is None:
            self._end("closed")
            self._world.cut(self.number)

    def arrive(self, frame: bytes | None) -> None:
        """Take what the peer put out: a frame, or its hanging up."""
        if frame is HANG_UP:
            self._end("fin")
        elif self._how is None:
            self._arrived(frame)


class Arrival:
    """A link that the peer has dialled and nobody has accepted yet; what the peer puts out waits."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.frames: list[bytes | None] = []

    def arrive(self, frame: bytes | None) -> None:
        """Keep what the peer put out."""
        self.frames.append(frame)


class World:
    """One peer, the links to it, and their time; an instance (``harness.iuts.instance``) that runs in memory.

    ``make`` makes a fresh peer at each start. With ``dials`` the links that are asked for are the peer's own: once each
    if it is no ``Dialler``, which dials whenever it likes. With a ``path`` what is sent and what ends a link takes
    its time; what a control line says does not, as it goes over no network. Where frames are ``datagrams`` a link is
    an address and nothing more: nobody is told of its end, and one that the peer has forgotten is new to it again.
    """

    version = ""
    tempo = 1.0
    epoch = EPOCH

    @property
    def loses(self) -> bool:
        """Whether what is sent once may not arrive."""
        return self._path is not None and self._path.loses

    @property
    def repeats(self) -> bool:
        """Whether what is sent once may arrive twice."""
        return self._path is not None and self._path.repeats

    def __init__(
        self,
        make: PeerMaker,
        role: str,
        *,
        profile: str = "document",
        dials: bool = False,
        path: NetworkPath | None = None,
        datagrams: bool = False,
    ) -> None:
        self.role = role
        self.dials = dials
        self.not_offered: frozenset[str] = frozenset()
        self.has_served: bool | None = None
        self.process: int | None = None
        self._make = make
        self._settings = PeerSettings(profile, epoch=EPOCH)
        self._starts = 0
        self._path = path
        self._datagrams = datagrams
        # Longer than over sockets: waiting costs nothing here.
        self.timing = Timing(answer=5.0, is_virtual=True)
        self.clock = VirtualClock()
        self.restart()

    def restart(self) -> None:
        """Restart with a fresh peer."""
        self.has_served = self.has_served or None
        self._starts += 1
        # By its number, so that no two starts are alike, and every run is.
        self._peer = self._make(msgspec.structs.replace(self._settings, seed=self._starts))
        self._links: dict[int, MemoryLink | Arrival] = {}
        self._left: set[int] = set()
        """Addresses that are no more, from which something came all the same."""
        self._arrivals: list[deque[Arrival]] = [deque() for _ in range(self._settings.servers)]
        self._shut: set[int] = set()
        self._events: list[str] = []
        self._count = 0
        self._death = ""
        self._fates = None if self._path is None else Fates(self._path)
        self._overdue: tuple[float, int] = (0.0, 0)
        """The last time of the peer's that was over when it acted, and how often it has acted for it."""
        self._under_way: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        # One that dials by itself wants to do so before anything else happens.
        self._do(lambda: None)

    def begin(
        self, scenario: str, servers: int = 1, transport: str = "", meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Restart with a fresh peer that plays a scenario with a number of servers."""
        self._settings = msgspec.structs.replace(self._settings, scenario=scenario, servers=servers)
        self._leave()
        meanwhile()
        self.restart()

    def _leave(self) -> None:
        """Have the peer be gone, for those who are there when another one comes."""

    def link(
        self,
        trace: Trace,
        label: str,
        transport: str = "tcp",
        server: int = 0,
        patience: float | None = None,
        source: str = "",
    ) -> MemoryLink:
        """Connect to the peer, or be dialled by it: virtual time passes until a peer that dials at will does so."""
        if self._death:
            raise Unreachable(f"the node has died: {self._death}")
        if isinstance(self._peer, Dialler):
            return self._accept(server, self.timing.dialling if patience is None else patience, label, trace)
        return self._made(label, trace, source, dialled=self.dials)

    def strange_link(self, trace: Trace, label: str, beside: Link) -> MemoryLink:
        """Make a link to where another leads, from an address that the peer has not met."""
        if not self._datagrams:
            raise Unsupported("nobody can speak on a connection but those who made it")
        if self._death:
            raise Unreachable(f"the node has died: {self._death}")
        return self._made(label, trace, "", dialled=False)

    def _made(self, label: str, trace: Trace, source: str, *, dialled: bool) -> MemoryLink:
        self._count += 1
        link = MemoryLink(self, self._count, label, trace)
        # Nobody hears of an address before something is sent from it, unless he dials it.
        if dialled or not self._datagrams:
            self._links[link.number] = link
            self._send_on(link.number, lambda: self._meet(link.number, source, dialled=dialled))
        return link

    def _meet(self, number: int, source: str = "", *, dialled: bool = False) -> None:
        address = f"memory:{source}:{port_of(number)}" if source else f"memory:{port_of(number)}"
        self._peer.connected(number, self.clock.now(), dialled=dialled, address=address)

    def other_hosts(self, transport: str = "tcp") -> tuple[str, ...]:
        """Return what stands for another host that the peer can be dialled from."""
        return () if self.dials else (OTHER_LOOPBACK,)

    def _accept(self, server: int, patience: float, label: str, trace: Trace) -> MemoryLink:
        deadline = self.clock.now() + patience
        while not self._arrivals[server]:
            if not self.wait(deadline):
                if self._death:
                    raise Unreachable(f"the node has died: {self._death}")
                raise Deadline(f"the node did not dial server {server} in {patience:g} s")
        arrival = self._arrivals[server].popleft()
        link = MemoryLink(self, arrival.number, label, trace)
        # The peer may have ended it while it waited.
        if arrival.number in self._links:
            self._links[arrival.number] = link
        for frame in arrival.frames:
            link.arrive(frame)
        return link

    def refuse(self, server: int = 0) -> None:
        """Refuse the peer's dials to a server from now on; those that were not accepted are cut."""
        # From now on, and what waits as well: a link that nobody has accepted is one that a listener would reset.
        self._shut.add(server)
        while self._arrivals[server]:
            arrival = self._arrivals[server].popleft()
            if arrival.number in self._links:
                self.cut(arrival.number)

    def admit(self, server: int = 0) -> None:
        """Let the peer's dials to a server in again."""
        self._shut.discard(server)

    def events(self) -> list[str]:
        """Return the notifications to the peer's application since it began."""
        return list(self._events)

    def command(self, verb: str, *arguments: str) -> str:
        """Tell the peer to act; virtual time passes while it cannot yet."""
        answers: list[str] = []
        deadline = self.clock.now() + self.timing.control
        while True:
            try:
                self._do(lambda: answers.append(self._peer.command(verb, list(arguments), self.clock.now())))
                break
            except NotYet as cause:
                if not self.wait(deadline):
                    what = f"{verb!r} was not answered in {self.timing.control:g} s"
                    raise ControlUnanswered(f"{what}: {cause}") from cause
        if not answers:
            raise ControlFailed(f"{verb!r} was not answered: the node has died: {self._death}")
        return answers[0]

    def give(self, link: MemoryLink, frame: bytes) -> None:
        """Hand a frame to the peer."""
        if self._datagrams and self._fates is not None and not self.dials and self._fates.moves():
            self._moved(link)
        number = link.number
        self._later(number, False, lambda: self._do(lambda: self._receive(link, number, frame)), certain=False)

    def _moved(self, link: MemoryLink) -> None:
        """Have a link come from another address: what goes to the one before is lost."""
        self._links.pop(link.number, None)
        self._count += 1
        link.number = self._count

    def _receive(self, link: MemoryLink, number: int, frame: bytes) -> None:
        # The peer has never heard of the address, or has forgotten it, maybe while the frame was under way.
        if self._datagrams and number not in self._links and number not in self._left:
            if number == link.number:
                self._links[number] = link
            else:
                self._left.add(number)
            self._meet(number)
        self._peer.received(number, frame, self.clock.now())

    def cut(self, number: int) -> None:
        """Report to the peer that a link has ended, where an end is told."""
        self._links.pop(number, None)
        if not self._datagrams:
            self._send_on(number, lambda: self._peer.disconnected(number, self.clock.now()))

    def wait(self, deadline: float) -> bool:
        """Let time pass up to the peer's next action, or the next arrival; ``False`` when the deadline comes first."""
        # No polling: virtual time jumps to the next of them, or to the deadline when that comes first.
        at = None
        if not self._death:
            try:
                at = self._peer.next_tick()
            except Exception as error:
                self._die(error)
                return True
        if self._under_way and (at is None or self._under_way[0][0] <= at):
            at = self._under_way[0][0]
            if at <= deadline:
                self.clock.time = max(self.clock.time, at)
                heapq.heappop(self._under_way)[2]()
                return True
        if at is not None and at <= self.clock.time:
            at = self._now_that_it_is_overdue(at)
        if at is None or at > deadline:
            # To wait in vain takes time as well.
            self.clock.time = max(self.clock.time, deadline)
            return False
        # A timer may be overdue; time never goes back.
        self.clock.time = max(self.clock.time, at)
        self._do(lambda: self._peer.tick(self.clock.now()))
        return True

    def _now_that_it_is_overdue(self, at: float) -> float:
        """Return when the peer acts for a time that is over: at once, unless it is busy with nothing."""
        self._overdue = (at, self._overdue[1] + 1) if at == self._overdue[0] else (at, 0)
        return self.clock.time + A_MOMENT if self._overdue[1] > BUSY else at

    def alive(self) -> bool:
        """Tell whether the peer has not died."""
        return not self._death

    def last_output(self) -> str:
        """Return what the peer died of."""
        return self._death

    def stop(self) -> None:
        """End the world: nothing runs that would have to be stopped."""

    def _send_on(self, number: int, act: Callable[[], None]) -> None:
        """Let the peer see, once it has arrived, what the tester did on a link."""
        self._later(number, False, lambda: self._do(act))

    def _later(self, number: int, outgoing: bool, arrive: Callable[[], None], *, certain: bool = True) -> None:
        """Let something arrive at the end of its way over a link: at once, if there is no path to speak of."""
        if self._fates is None:
            arrive()
            return
        for at in self._fates.arrivals(number, outgoing, self.clock.now(), certain=certain):
            heapq.heappush(self._under_way, (at, next(self._order), arrive))

    def _do(self, act: Callable[[], None]) -> None:
        if self._death:
            return
        try:
            act()
            self._deliver()
            self._events += self._peer.take_events()
            if isinstance(self._peer, Dialler):
                for server in self._peer.dials(self.clock.now()):
                    self._dialled(self._peer, server)
        # An answer to a control line, and no way to die.
        except ControlFailed:
            raise
        except Exception as error:
            self._die(error)

    def _die(self, error: Exception) -> None:
        """Take note that the node has died: one that fails has, whatever the reason."""
        self._death = f"{type(error).__name__}: {error}"
        for number, link in self._links.items():
            self._later(number, True, partial(link.arrive, HANG_UP))
        # After a death nothing of the peer is called any more, so no link may lead to it.
        self._links.clear()

    def _deliver(self) -> None:
        for number, frame in self._peer.drain(self.clock.now()):
            link = self._links.get(number)
            if link is not None:
                if frame is HANG_UP:
                    del self._links[number]
                    if self._datagrams:
                        continue  # the peer has forgotten the address, which the tester cannot see
                self._later(number, True, partial(self._arrive, number, link, frame), certain=frame is HANG_UP)

    def _arrive(self, number: int, link: "MemoryLink | Arrival", frame: bytes | None) -> None:
        # An arrival that was accepted while the frame was under way is a link by now.
        self._links.get(number, link).arrive(frame)

    def _dialled(self, dialler: Dialler, server: int) -> None:
        # Told through `_do` like everything else: the dialler may dial again at once.
        if server in self._shut:
            self._do(lambda: dialler.refused(server, self.clock.now()))
            return
        self._count += 1
        arrival = self._links[self._count] = Arrival(self._count)
        self._arrivals[server].append(arrival)
        self._do(lambda: dialler.reached(server, arrival.number, self.clock.now()))


def port_of(number: int) -> int:
    """Return the port that a link comes from: another for each, and again the first when there are no more."""
    return FIRST_PORT + number % (2**16 - FIRST_PORT)
