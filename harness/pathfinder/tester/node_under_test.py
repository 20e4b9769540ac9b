"""What a case works with: the server under test and connections to it, or the client under test and its servers."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from harness.errors import HarnessError, NotOffered
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.driver import TTL, Driver, Service, begin_ids, new_id
from harness.pathfinder.tester.scripted_servers import Domain
from harness.trace import Direction, Trace
from wire.pathfinder.filters import escape
from wire.pathfinder.values import Message

MARK = "play"
"""The property that says which play a service belongs to."""


class NodeUnderTest:
    """The implementation in one play; ``readings`` collects what it was seen to follow.

    Plays share a server, so every service of a play has a property that no other play's has: ``mine`` is the filter
    for it, ``narrow`` puts another filter beside it, ``listed`` looks at these services only.
    """

    def __init__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "tcp"
    ) -> None:
        self.instance = instance
        self.trace = trace
        self.profile = profile
        self.transport = transport
        # One for all sessions: a node that is slow on one is waited for on all of them.
        self.timing = instance.timing.of_a_play()
        self.tempo = instance.tempo
        self.readings: list[tuple[str, str, str]] = []
        begin_ids()
        # Two runs of one suite give the same namespaces: the identifier tells their services apart.
        self.play = f"{namespace}{new_id():016x}"
        self.sessions: list[Driver] = []
        self.domains: list[Domain] = []
        self._heard: list[Driver] = []
        self._met: list[Domain] = []
        self._labels = Labels()
        self._main: Driver | None = None
        self._other: Driver | None = None

    @property
    def role(self) -> str:
        """The role that the implementation plays."""
        return self.instance.role

    def shows(self, rule: str, reading: str, option: str) -> None:
        """Note which option of a reading the node was seen to follow; the profile decides what that means."""
        self.readings.append((rule, reading, option))

    # --- a server under test ------------------------------------------------------------------------------

    def connect(self, *, client_id: int | None = None, transport: str = "", source: str = "") -> Driver:
        """Make a connection and say nothing on it; ``source`` is one of ``other_hosts`` to make it from."""
        link = self.instance.link(self.trace, self._labels.next(), transport or self.transport, source=source)
        session = Driver(
            link,
            self.trace,
            client_id=client_id,
            timing=self.timing,
            deployed=self.profile == "deployed",
        )
        self.sessions.append(session)
        self._heard.append(session)
        return session

    @property
    def other_hosts(self) -> tuple[str, ...]:
        """Other hosts of this machine that connections can come from."""
        return self.instance.other_hosts(self.transport)

    @property
    def patience(self) -> float:
        """Seconds after which an answer is taken not to come."""
        return self.timing.patience

    def session(self, *, client_id: int | None = None, transport: str = "") -> Driver:
        """Make a connection and say hello on it; ``NotAnswered`` when that does not complete."""
        return self.connect(client_id=client_id, transport=transport).open()

    def open_together(self, sessions: Sequence[Driver]) -> Sequence[Driver]:
        """Say hello on several connections at once; ``NotAnswered`` when one of the hellos does not complete."""
        hellos = [session.begin_hello() for session in sessions]
        for session, hello in zip(sessions, hellos, strict=True):
            session.sure(session.finish(hello))
        return sessions

    def back(self, client_id: int, *, within: float = 2.0) -> Driver:
        """Come back as a client whose connection has just ended, within some seconds of the protocol's time.

        A server may take a moment to notice the end; ``NotAnswered`` when it takes longer, or refuses otherwise.
        """
        deadline = self.instance.clock.now() + self.timing.quiet(within)
        while True:
            session = self.connect(client_id=client_id)
            hello = session.hello()
            # A refusal for this reason says that the end has not been noticed yet; one for no reason may mean the same.
            is_early = hello.failed and hello.reason in ("client-id-exists", None)
            if not is_early or self.instance.clock.now() >= deadline:
                session.sure(hello)
                return session
            session.read(0.1)
            session.close()

    @property
    def main(self) -> Driver:
        """The client that most plays speak as; connected when it is first needed."""
        if self._main is None:
            self._main = self.session()
        return self._main

    @property
    def other(self) -> Driver:
        """Another client; connected when it is first needed."""
        if self._other is None:
            self._other = self.session()
        return self._other

    def service(self, *, generation: int = 0, ttl: int = TTL, **props: list[str | int]) -> Service:
        """Return a service of this play, with an unused identifier; it is not published yet."""
        return Service(new_id(), {MARK: [self.play], **props}, generation, ttl)

    @property
    def mine(self) -> str:
        """The filter that matches the services of this play."""
        return f"({MARK}={escape(self.play)})"

    def narrow(self, filter: str) -> str:
        """Return a filter that matches the services of this play which match another one."""
        return f"(&{self.mine}{filter})"

    def listed(self, filter: str | None = None, *, session: Driver | None = None) -> dict[int, Message]:
        """Return what the server lists of this play's services, by their ids; ``NotAnswered`` when it does not."""
        asking = session or self.main
        text = self.mine if filter is None else self.narrow(filter)
        found = asking.sure(asking.services(text)).notifications
        return {fields["service-id"]: fields for fields in found if "service-id" in fields}

    def probe(self) -> None:
        """Make sure that the server still answers, on a fresh connection; raises what goes wrong."""
        session = self.connect()
        try:
            session.open().barrier()
        finally:
            session.close()

    def measure(self) -> None:
        """Measure nothing more than answers do: how late a notification may be, the document says."""

    # --- a client under test ------------------------------------------------------------------------------

    def offers(self, what: str) -> None:
        """Make sure that the client offers a scenario, or another thing; ``NotOffered`` when it does not."""
        if what in self.instance.not_offered:
            raise NotOffered(f"the client does not offer {what!r}")

    def begin(self, scenario: str, *, servers: int = 1) -> Domain:
        """Restart the client with a scenario, and with a number of servers of one domain to dial.

        ``NotOffered`` when it does not play that scenario.
        """
        self.offers(scenario)
        self.instance.begin(scenario, servers, self.transport)
        deployed = self.profile == "deployed"
        domain = Domain(self.instance, self.trace, self._labels.next, servers, self.timing, deployed)
        self.domains.append(domain)
        self._met.append(domain)
        return domain

    # --- both ---------------------------------------------------------------------------------------------

    @contextmanager
    def scene(self) -> Iterator["NodeUnderTest"]:
        """Play a scene of its own within this play: fresh connections, services that are its own."""
        scene = copy.copy(self)
        begin_ids()
        scene.play = f"{self.play}.{new_id():016x}"
        scene.sessions, scene.domains, scene._main, scene._other = [], [], None, None
        try:
            yield scene
        finally:
            scene.close()

    @property
    def conversations(self) -> list[Conversation]:
        """The conversations of all connections, as far as they were read."""
        connections = [connection.conversation for domain in self._met for connection in domain.connections]
        return [session.conversation for session in self._heard] + connections

    @property
    def evidence(self) -> int:
        """How much the implementation did: messages that it sent, connections that it ended."""
        said = sum(event.direction is Direction.RECEIVED for each in self.conversations for event in each.events)
        return said + sum(each.closed_by is Direction.RECEIVED for each in self.conversations)

    def close(self) -> None:
        """Take back what was published, and end all connections."""
        with suppress(HarnessError):
            self._tidy()
        for session in self.sessions:
            session.close()
        for domain in self.domains:
            domain.close()

    def _tidy(self) -> None:
        """Take back what was published: a server that takes what it should not would show it to the plays to come."""
        for session in self.sessions:
            # Its own connection first: a server may let nobody else take a service back.
            taking = next((each for each in (session, *self.sessions) if not each.ended), None)
            left = session.left
            if not left:
                continue
            if taking is None:
                # All have left: so its owner comes back, else its orphans would stay for others to see.
                taking = self.back(session.client_id)
            # All at once: what is far away is to be asked once, and not for each.
            asked = [taking.begin("unpublish", {"service-id": service_id}) for service_id in left]
            # Who goes on without an answer to these gives none: it would be waited for in every play.
            if not taking.ping().completed:
                return  # nobody answers here
            taking.wait_until(lambda a=asked: all(each.is_over for each in a), taking.now() + taking.timing.glance)  # type: ignore[misc]
