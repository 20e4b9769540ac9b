"""Zenoh's clients as they are fuzzed: they dial the tester, which speaks as their router, and are told to act."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from threading import Thread
from weakref import WeakKeyDictionary

from fuzz.net.moves import GivesCommand
from fuzz.net.targets import ServiceBroken, ServiceProbe, expect
from fuzz.zenoh import messages
from fuzz.zenoh.openings import LISTENERS, USUAL, Opening, ways
from fuzz.zenoh.sessions import ZenohSession, network_messages
from harness.errors import Deadline, HarnessError, Unsupported
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.trace import Trace
from harness.zenoh.peers.transport import Settings
from harness.zenoh.tester.conversation import Conversation
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.node_under_test import LEASE
from harness.zenoh.tester.snapshots import declared, subscriber, undeclared
from wire.zenoh.values import EntityKind, Mode, Request, ResponseFinal, WireExpr
from wire.zenoh.values_transport import NETWORK, WhatAmI

NAMES = ("n1", "n2", "n3")
"""Of what a client is told to declare and to ask for."""

KINDS = tuple(each.value for each in EntityKind)

SERVED = "goldwire/service"
NAME = "served"
"""What the service has the client declare is called so."""

DIALLING = 1.0
"""Seconds in which a client that is told to has dialled, in a test: that it never does is the service's matter."""

CLOSING = 0.01
"""Seconds in which a session ends that is closed by a client which has answered that it does so."""

NOWHERE = "@goldwire/barrier"
"""A key that no wildcard stands for, and so nothing that a test has a client declare."""

_QUERIES = itertools.count(1_000_000)
"""Far above the ids that tests have for queries."""

_ZIDS = itertools.count(1)

_met: WeakKeyDictionary[Instance, int | None] = WeakKeyDictionary()
"""Of each instance the process that has had a session."""


class RoutedClient:
    """A client in one test or service: it has one session at a time, and is told to open the next one."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance, self.trace = instance, trace
        self.timing = instance.timing.of_a_play()
        self.sessions: list[Driver] = []
        self._labels = Labels()
        self._names: dict[str, str] = {}
        self._is_mute = False
        self._refusal: HarnessError | None = None

    @property
    def conversations(self) -> Iterator[Conversation]:
        """The conversations of all sessions."""
        return (session.conversation for session in self.sessions)

    def session(self, opening: Opening = USUAL, patience: float | None = None) -> Driver:
        """Have the client open another session; ``HarnessError`` when it does not, in so many seconds."""
        patience = self.timing.patience if patience is None else patience
        asking: Thread | None = None
        if _met.get(self.instance) == self.instance.process:
            # Meanwhile it is let in: who has lost a session may be dialling for it, and first wants an answer to that.
            asking = self._begin("reopen")
        else:
            # It has dialled since it was started, or is about to, and takes no commands before that.
            _met[self.instance] = self.instance.process
            patience = self.timing.dialling
        deadline = self.instance.clock.now() + patience
        try:
            while True:
                session = self._accept(opening, deadline)
                if session is not None and self._is_last(session, asking):
                    return session
        except HarnessError:
            # Nobody is asked for anything while he owes an answer.
            self._is_mute = asking is not None and asking.is_alive()
            raise

    def _accept(self, opening: Opening, deadline: float) -> Driver | None:
        """Shake hands with the client where it dials next; ``None`` where it has given that up, an error at the end."""
        left = max(0.0, deadline - self.instance.clock.now())
        link = self.instance.link(self.trace, self._labels.next(), self.trace.transport, patience=left)
        zid = opening.zid or b"gw-route\x00" + next(_ZIDS).to_bytes(7, "little")
        whatami = opening.whatami or WhatAmI.ROUTER
        # Whatever it asks for is agreed to.
        settings = Settings(zid, whatami, LEASE, opening.initial_sn, opening.sizes, least_batch=0)
        session = Driver(link, self.trace, settings, timing=self.timing)
        self.sessions.append(session)
        try:
            return session.open(opener=False)
        except HarnessError:
            has_ended = bool(session.exchange.ended)
            session.drop()
            if not has_ended or self.instance.clock.now() >= deadline:
                raise
            return None

    def _is_last(self, session: Driver, asking: Thread | None) -> bool:
        """Tell whether a session is the one that was asked for, and not one that is closed for its sake."""
        if asking is None or not asking.is_alive():
            return True
        self._finish(asking)
        session.read(self.timing.stretched(CLOSING))
        return not session.ended

    def command(self, verb: str, *arguments: str) -> None:
        """Tell the client to act; ``HarnessError`` when it does not."""
        if verb in ("declare", "ask"):
            undo, name = ("undeclare", arguments[1]) if verb == "declare" else ("end", arguments[0])
            # A name stands for one thing at a time.
            if name in self._names:
                self._take_back(name)
            self._names[name] = undo
        elif verb in ("undeclare", "end") and arguments:
            self._names.pop(arguments[0], None)
        self._finish(self._begin(verb, *arguments))

    def _begin(self, verb: str, *arguments: str) -> Thread:
        """Begin to tell the client something: its answer is not waited for as long as where nobody breaks it."""
        if self._is_mute:
            raise Deadline("it has not answered before")

        def tell() -> None:
            self._refusal = None
            try:
                self.instance.command(verb, *arguments)
            except HarnessError as error:
                self._refusal = error

        telling = Thread(target=tell, daemon=True)
        telling.start()
        return telling

    def _finish(self, telling: Thread) -> None:
        telling.join(self.timing.patience)
        if telling.is_alive():
            self._is_mute = True
            raise Deadline("it does not answer")
        if self._refusal is not None:
            raise self._refusal

    def _take_back(self, name: str) -> None:
        with suppress(HarnessError):
            self.command(self._names[name], name)
        self._names.pop(name, None)

    def close(self) -> None:
        """Have the client take back what it was told to do, and end all sessions."""
        for name in list(self._names):
            self._take_back(name)
        for session in self.sessions:
            session.drop()


class ClientSession(ZenohSession):
    """A session of a test with a client: of interests there are clients that ignore all that their router asks."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver)
        self._query = 0
        self._since = 0

    def ask(self) -> None:
        # A query of which nobody knows anything is answered by its end, behind all that was said before.
        self._query, self._since = next(_QUERIES), self.driver.place
        with suppress(HarnessError):
            self.driver.send(Request(self._query, WireExpr(NOWHERE)))

    def listen(self, until: float) -> bool:
        if not self._query or self.is_over:
            return True
        with suppress(HarnessError):
            return self.driver.wait_for(self._is_its_end, since=self._since, until=until) is not None or self.is_over
        return True

    def _is_its_end(self, event: Event) -> bool:
        return isinstance(event.message, ResponseFinal) and event.message.id == self._query


class ZenohClientService:
    """A client that comes when it is told to, and whose router is told what its application declares and publishes."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance, self.trace = instance, trace
        self.checks = 0

    def begin(self) -> None:
        """Begin nothing: a client has one session at a time, and each check is one."""

    def check(self) -> None:
        self.checks += 1
        client = RoutedClient(self.instance, self.trace)
        try:
            self.look_at(client, f"{SERVED}/{self.checks}")
        except Unsupported:
            raise
        except HarnessError as error:
            raise ServiceBroken("hang", "the client does not do any more what it is told") from error
        finally:
            client.close()

    def look_at(self, client: RoutedClient, key: str) -> None:
        """Have the client do what it is there for, on a fresh session."""
        session = self.fresh(client)
        asking = ClientSession(session)
        asking.ask()
        answered = asking.listen(session.now() + session.patience) and not session.ended
        expect(answered, "hang", "the client answers nothing on a fresh session")
        session.interest(Mode.CURRENT_FUTURE, EntityKind.SUBSCRIBER, key=f"{SERVED}/**")
        client.command("declare", "subscriber", NAME, key)
        heard = session.receives_under_any_id(declared(subscriber(key)))
        expect(bool(heard), "service", "what the client declares is not told to its router")
        client.command("put", key, "text")
        sent = (key, b"text")
        expect(session.wait_until(lambda: sent in session.data()), "service", "what the client publishes is not sent")
        client.command("undeclare", NAME)
        gone = session.receives_under_any_id(undeclared(subscriber(key)))
        expect(bool(gone), "service", "what the client takes back is not told to its router")

    def fresh(self, client: RoutedClient) -> Driver:
        """Return a fresh session."""
        try:
            return client.session()
        except HarnessError as error:
            raise ServiceBroken("hang", "the client does not open a session any more") from error

    def end(self) -> None:
        """End nothing."""


class ZenohClientTarget:
    """A Zenoh client: a session is the next one that it opens, with a router or with a peer."""

    layout = NETWORK
    ways = ways(LISTENERS)
    message = staticmethod(messages.message)
    text = staticmethod(messages.text)
    frame = staticmethod(messages.frame)
    series = staticmethod(messages.series)
    chain = staticmethod(messages.chain)

    def node(self, instance: Instance, trace: Trace) -> RoutedClient:
        return RoutedClient(instance, trace)

    def session(self, node: RoutedClient, how: str) -> ClientSession:
        return ClientSession(node.session(LISTENERS.get(how, USUAL), node.timing.stretched(DIALLING)))

    def command(self, random: Random) -> GivesCommand:
        name, key = random.choice(NAMES), messages.KEYS.text(random)
        match random.choices(range(6), (5, 3, 4, 2, 3, 3))[0]:
            case 0:
                return GivesCommand("declare", (random.choice((*KINDS, "keyexpr")), name, key))
            case 1:
                return GivesCommand("undeclare", (name,))
            case 2:
                mode = random.choice(("current", "future", "currentfuture", "currentfuture"))
                return GivesCommand("ask", (name, mode, random.choice(KINDS), key))
            case 3:
                return GivesCommand("end", (name,))
            case 4:
                return GivesCommand("put", (key, "text"))
            case _:
                return GivesCommand("get", (key,))

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        return network_messages(frame)

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        return ZenohClientService(instance, trace)
