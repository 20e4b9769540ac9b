"""Sessions of a test with a Pathfinder client: connections that it has made to the tester's servers."""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress

from fuzz.net.moves import EndVerb, Level
from fuzz.pathfinder.answers import REASONS
from fuzz.pathfinder.messages import HERE
from fuzz.pathfinder.playbill import FUZZED, GREETING, OBLIGING, SERVERS, PlayedScenario, playbill_of
from fuzz.pathfinder.sending import FrameSender
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.links.transports import framing_of
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain, NotCome, match
from harness.pathfinder.tester.transactions import Transaction
from harness.trace import Direction, Trace

FEW = 3
"""From so many on, things are not counted any further: states are to be few."""

BACK = 3.0
"""Seconds of the protocol in which a client is back that was cut off, and says hello."""

POLL = 0.001
"""Seconds between two looks at what the application was told, which no link wakes us for."""

UNHEARD = 0.003
"""Seconds in which a client acts on what it is told, where nothing shows that it has."""

LAST_EVENTS = 2000
"""Among so many events, the last ones, a certain one is looked for."""

_COMMAND = re.compile(rb'"ta-cmd"\s*:\s*"(\w*)"')
_TA = re.compile(rb'("ta-id"\s*:\s*)%d(?=\s*[,}])' % HERE)


class ServedClient:
    """A client in one test, and the tester's servers that it finds."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance, self.trace = instance, trace
        self.domain: Domain | None = None
        self.sessions: list[ServerSession] = []
        self.heard = len(instance.events())
        """Up to where it is known what the application was told."""

    @property
    def conversations(self) -> Iterator[Conversation]:
        """The conversations of all connections."""
        if self.domain is not None:
            yield from (connection.conversation for connection in self.domain.connections)

    def session(self, scenario: str, manner: str) -> "ServerSession":
        """Return the client's next connection to a server that has none; the first one says what is played."""
        playing = self._play(scenario)
        taken = {each.connection.server for each in self.sessions if not each.is_over}
        server = next((each for each in range(FUZZED) if each not in taken), None)
        if server is None or self.domain is None:
            raise NotCome("the client is connected to all servers of a test")
        session = ServerSession(self, came(self.domain, server, obliges=manner == OBLIGING), manner, playing)
        self.sessions.append(session)
        return session

    def _play(self, scenario: str) -> PlayedScenario:
        bill, transport = playbill_of(self.instance), self.trace.transport
        if self.domain is None or bill.playing is None:
            bill.play(self.instance, scenario, transport)
            self.domain = domain_of(self.instance, self.trace)
            self.heard = len(self.instance.events())
        assert bill.playing is not None
        return bill.playing

    def news(self) -> list[str]:
        """Return what the application was told since this was called last."""
        events = self.instance.events()
        news, self.heard = events[self.heard :], len(events)
        return news

    def close(self) -> None:
        """End all connections."""
        if self.domain is not None:
            self.domain.close()


def domain_of(instance: Instance, trace: Trace) -> Domain:
    """Return the servers of a client, whose connections are written into a trace."""
    return Domain(instance, trace, Labels().next, SERVERS, instance.timing.of_a_play())


def came(domain: Domain, server: int, *, obliges: bool = True, patience: float | None = None) -> AcceptedConnection:
    """Return the client's next connection to a server on which it says hello; ``NotCome`` when there is none.

    It may have given up others meanwhile, at which nobody has looked. ``patience`` in seconds of the clock.
    """
    timing = domain.timing
    deadline = domain.now() + (timing.quiet(BACK) + timing.window if patience is None else patience)
    while True:
        left = max(0.0, deadline - domain.now())
        connection = domain.accept(server, within=left * timing.tempo / timing.scale, obliges=obliges)
        while not connection.asked("hello") and not connection.ended and domain.now() < deadline:
            connection.take(deadline)
        # Behind the hello of one that was given up stands its end.
        connection.take(domain.now())
        if connection.asked("hello") and not connection.ended:
            return connection
        domain.connections.remove(connection)
        connection.drop()
        if domain.now() >= deadline:
            raise NotCome(f"the client does not say hello to server {server}")


def is_told(domain: Domain, text: str) -> bool:
    """Tell whether the application was told something of late."""
    return text in domain.instance.events()[-LAST_EVENTS:]


def wait_for(connection: AcceptedConnection, done: Callable[[], bool], until: float) -> bool:
    """Serve a connection until something holds; ``False`` when it did not by then, or the connection has ended."""
    while not done():
        now = connection.domain.now()
        if connection.ended or now >= until:
            return done()
        connection.take(min(until, now + POLL))
    return True


class ServerSession:
    """A session of a test, in which the tester is the server: where the client has cut it off, it goes on when it is
    back, and has more to say.
    """

    def __init__(
        self, client: ServedClient, connection: AcceptedConnection, manner: str, playing: PlayedScenario
    ) -> None:
        self.client, self._manner, self._playing = client, manner, playing
        self._framing = framing_of(FRAMINGS, client.trace.transport)
        self._has_left = False
        """Whether nobody is waited for here any more."""
        self._said: list[str] = []
        self._serve(connection)

    def _serve(self, connection: AcceptedConnection) -> None:
        """Begin on a new connection: let the client do what it does there, as far as this server answers it."""
        self.connection = connection
        self._sender = FrameSender(connection.exchange, connection.conversation, self._framing)
        self._place = self._seen = 0
        self._told_end = False
        self._asked = ""
        self._told: set[object] = set()
        self._published: set[object] = set()
        if self._manner == GREETING:
            connection.grant(connection.asked("hello")[0])
        if self._manner in (OBLIGING, GREETING):
            timing, command = connection.domain.timing, self._playing.command
            until = connection.domain.now() + (timing.window if command else timing.stretched(UNHEARD))
            wait_for(connection, lambda: bool(command) and self._has_asked(connection), until)

    def _has_asked(self, connection: AcceptedConnection) -> bool:
        return len(connection.asked(self._playing.command)) >= self._playing.times

    def _go_on(self) -> None:
        """Take the client's next connection where it has ended this one."""
        connection = self.connection
        if not connection.ended or self._has_left:
            return
        # What was said on the one before is told as well.
        self._said += self.answers()
        try:
            self._serve(came(connection.domain, connection.server, obliges=self._manner == OBLIGING))
        except HarnessError:
            self._has_left = True

    @property
    def is_over(self) -> bool:
        return bool(self.connection.ended)

    # --- what is said ---------------------------------------------------------------------------------------

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        # Whether it still listens: what is said behind what has ended a connection is said to nobody.
        self.catch_up(self.connection.domain.timing.stretched(POLL))
        self._go_on()
        # Who does not take what is sent is looked at by the service: here it is no matter.
        with suppress(HarnessError):
            for each in data:
                if level == "raw":
                    self._sender.raw(each, cut)
                elif (said := self._in_place(each) if level == "message" else each) is not None:
                    self._sender.frame(said, cut)

    def _in_place(self, message: bytes) -> bytes | None:
        """Return a message as an answer to a transaction that waits for it, unless it names one; ``None`` for none."""
        command = _COMMAND.search(message)
        if _TA.search(message) is None or command is None:
            return message
        asked = [each for each in self.connection.asked(command[1].decode()) if not each.is_over]
        if not asked:
            return None
        return _TA.sub(lambda found: found[1] + b"%d" % _number(asked[-1]), message, count=1)

    # --- what is read ---------------------------------------------------------------------------------------

    def catch_up(self, seconds: float = 0.0) -> None:
        until = self.connection.domain.now() + seconds
        while self.connection.take(until) and not self.connection.ended:
            pass

    def ask(self) -> None:
        subscriptions = self.connection.subscriptions
        self._asked = ""
        if self.is_over or not subscriptions:
            return
        # Of a service that nobody else knows: its application is told, and has forgotten it when that is over.
        service = new_id()
        with suppress(HarnessError):
            for what in ("appeared", "disappeared"):
                self.connection.answer(subscriptions[-1], "notify", match(what, service))
        self._asked = f"disappeared {service}"

    def listen(self, until: float) -> bool:
        if self.is_over:
            return True
        if not self._asked:
            self.catch_up(self.connection.domain.timing.stretched(UNHEARD))
            return True
        heard = wait_for(self.connection, lambda: is_told(self.connection.domain, self._asked), until)
        return heard or self.is_over

    def end(self, verb: EndVerb) -> None:
        self._has_left = True
        with suppress(HarnessError):
            if verb == "close":
                # The protocol has no goodbye: who closes has let the other side hear all that it was told.
                self.ask()
                self.listen(self.connection.domain.now() + self.connection.domain.timing.glance)
            if verb == "abort":
                self.connection.abort()
            else:
                self.connection.drop()

    # --- what has come --------------------------------------------------------------------------------------

    def answers(self) -> Sequence[str]:
        self._note()
        events, said = self.connection.conversation.events, self._said
        self._said = []
        for event in events[self._place :]:
            if event.direction is Direction.RECEIVED:
                said.append(f"{event.form[0] or 'something'}{'' if event.error is None else ', odd'}")
        self._place = len(events)
        for text in self.client.news():
            what, about, why = (*text.split(" "), "", "")[:3]
            # Which service it is says nothing; of what has failed it says what, and why if the document has that.
            more = f" {about} {why if why in REASONS else ''}" if what == "failed" else ""
            said.append(f"tells {what}{more}".rstrip())
        if self.connection.ended and not self._told_end:
            self._told_end = True
            said.append(f"end: {self.connection.ended}")
        return said

    def _note(self) -> None:
        """Take note of what was said, as far as it changes what is between the two sides."""
        events = self.connection.conversation.events
        for event in events[self._seen :]:
            service = _key(event.fields.get("service-id"))
            match event.form[:3], event.direction:
                case ("subscribe", "notify", "disappeared"), Direction.SENT:
                    self._told.discard(service)
                case ("subscribe", "notify", _), Direction.SENT:
                    self._told.add(service)
                case ("publish", "request", _), Direction.RECEIVED:
                    self._published.add(service)
        self._seen = len(events)

    def state(self) -> Hashable:
        connection = self.connection
        waiting = [each for each in connection.requests if not each.is_over]
        return (
            any(each.completed for each in connection.asked("hello")),
            min(len(connection.subscriptions), FEW),
            min(len(waiting), FEW),
            min(len(self._told), FEW),
            min(len(self._published), FEW),
            self.is_over,
        )


def _number(transaction: Transaction) -> int:
    """Return the identifier of a transaction: those without one are none."""
    return -1 if transaction.ta is None else transaction.ta


def _key(value: object) -> object:
    """Return what an identifier is known by, whatever stands in its place."""
    return value if isinstance(value, int | str | float) else repr(value)
