"""What a case works with: the node under test, sessions with it, and another declarer."""

import copy
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.links.link import Labels
from harness.trace import Trace
from harness.zenoh.peers.transport import Settings
from harness.zenoh.tester.conversation import Conversation
from harness.zenoh.tester.driver import Driver
from harness.zenoh.tester.snapshots import EntitySet, InterestHandle, live_entities, subscriber
from wire.zenoh.values import EntityKind, Extensions, Mode, WireExpr
from wire.zenoh.values_transport import Sizes, WhatAmI

SAMPLES = 3
"""Updates by which it is measured how late they come: one may be early by chance."""

# Milliseconds. Long, so that no session expires in the middle of a play on a busy machine.
LEASE = 60_000
# Another id for each session: one that a node knows already would be a second link of the same node.
_ZIDS = itertools.count(1)


class Declarer(Protocol):
    """A declarer other than the asking session: another session, or the node itself by control lines."""

    def declare(self, kind: EntityKind, key: str, id: int | None = None) -> int:
        """Declare an entity and return its id."""
        ...

    def undeclare(self, kind: EntityKind, id: int) -> None:
        """Undeclare it."""
        ...

    def declare_subscriber(self, key: str) -> int: ...

    def declare_queryable(self, key: str) -> int: ...

    def declare_token(self, key: str) -> int: ...

    def undeclare_subscriber(self, id: int) -> None: ...

    def undeclare_queryable(self, id: int) -> None: ...

    def undeclare_token(self, id: int) -> None: ...

    def barrier(self) -> None:
        """Make sure that the node has acted on what was declared."""
        ...


class ByControl:
    """The node itself, made to declare by control lines.

    ``numbers`` are those of its names: the same for all who speak to one node at a time.
    """

    def __init__(self, instance: Instance, namespace: str, numbers: Iterator[int] | None = None) -> None:
        self._instance = instance
        self._namespace = namespace
        self._numbers = numbers or itertools.count(1)
        self._live: list[int] = []
        self.unsettled = False

    def declare(self, kind: EntityKind, key: str, id: int | None = None) -> int:
        """Tell the node to declare an entity."""
        number = next(self._numbers)
        # Before it is told: a node that answers too late has done it all the same.
        self._live.append(number)
        self._instance.command("declare", kind.value, f"n{number}", f"{self._namespace}{key}")
        return number

    def undeclare(self, kind: EntityKind, id: int) -> None:
        """Tell the node to undeclare it."""
        self._instance.command("undeclare", f"n{id}")
        self._live = [each for each in self._live if each != id]

    def take_back(self) -> None:
        """Tell the node to undeclare what a play has left: the next one is to find nothing of it."""
        for id in self._live:
            # Each by itself: what the node has lost already is no reason to leave the others.
            with suppress(HarnessError):
                self._instance.command("undeclare", f"n{id}")
        self._live = []

    def declare_subscriber(self, key: str) -> int:
        """Tell the node to declare a subscriber."""
        return self.declare(EntityKind.SUBSCRIBER, key)

    def declare_queryable(self, key: str) -> int:
        """Tell the node to declare a queryable."""
        return self.declare(EntityKind.QUERYABLE, key)

    def declare_token(self, key: str) -> int:
        """Tell the node to declare a token."""
        return self.declare(EntityKind.TOKEN, key)

    def undeclare_subscriber(self, id: int) -> None:
        """Tell the node to undeclare a subscriber."""
        self.undeclare(EntityKind.SUBSCRIBER, id)

    def undeclare_queryable(self, id: int) -> None:
        """Tell the node to undeclare a queryable."""
        self.undeclare(EntityKind.QUERYABLE, id)

    def undeclare_token(self, id: int) -> None:
        """Tell the node to undeclare a token."""
        self.undeclare(EntityKind.TOKEN, id)

    def barrier(self) -> None:
        """Do nothing: a control line is answered when it is done."""


class NodeUnderTest:
    """The implementation in one play; ``readings`` collects what it was seen to follow."""

    def __init__(
        self, instance: Instance, trace: Trace, *, profile: str, namespace: str, transport: str = "tcp"
    ) -> None:
        self.instance = instance
        # One for all sessions: a node that is slow on one is waited for on all of them.
        self.timing = instance.timing.of_a_play()
        self.trace = trace
        self.profile = profile
        self.namespace = namespace
        self.transport = transport
        self.readings: list[tuple[str, str, str]] = []
        self.sessions: list[Driver] = []
        self._heard: list[Driver] = []
        self._labels = Labels()
        self._names = itertools.count(1)
        self._undo: dict[tuple[str, str], None] = {}
        self._scenes = 0
        self._main: Driver | None = None
        self._other: Driver | ByControl | None = None
        if instance.dials:
            instance.restart()

    @property
    def role(self) -> str:
        """The role that the implementation plays."""
        return self.instance.role

    def session(
        self,
        *,
        transport: str = "",
        whatami: WhatAmI | None = None,
        lease: int = LEASE,
        initial_sn: int = 0,
        sizes: Sizes | None = None,
        zid: bytes | None = None,
    ) -> Driver:
        """Open another session with the node; ``lease`` in milliseconds."""
        session = self._link(transport, whatami, lease, initial_sn, sizes, zid)
        return session.open(opener=not self.instance.dials)

    def open_together(self, count: int) -> list[Driver]:
        """Open several sessions with a node that listens, at once."""
        sessions = [self._link() for _ in range(count)]
        for session in sessions:
            session.begin_open()
        # By turns, so that no session waits for its second answer until another one has had both.
        for session in sessions:
            session.await_init()
        return [session.finish_open() for session in sessions]

    def offend_together(self, offences: Sequence[bytes]) -> None:
        """Send each offence on a session of its own, and read what comes of them for one window."""
        sessions = self.open_together(len(offences))
        for session, offence in zip(sessions, offences, strict=True):
            session.send_bytes(offence)
        # A window each would make the case take as many times as long; it is over for all of them at the same time.
        deadline = self.instance.clock.now() + self.timing.window
        for session in sessions:
            session.read(deadline - session.now())

    def _link(
        self,
        transport: str = "",
        whatami: WhatAmI | None = None,
        lease: int = LEASE,
        initial_sn: int = 0,
        sizes: Sizes | None = None,
        zid: bytes | None = None,
    ) -> Driver:
        """Make a link for a session, whose handshake is still to come."""
        opener = not self.instance.dials
        settings = Settings(
            # 16 bytes, the most that an id may have.
            zid or b"gw-test\x00" + next(_ZIDS).to_bytes(8, "little"),
            # A client, to which routers push nothing unasked; one that dials looks for a router.
            whatami if whatami is not None else WhatAmI.CLIENT if opener else WhatAmI.ROUTER,
            lease,
            initial_sn,
            sizes,
        )
        # The label of each link once, in the order in which they are made.
        link = self.instance.link(self.trace, self._labels.next(), transport or self.transport)
        session = Driver(link, self.trace, settings, namespace=self.namespace, timing=self.timing)
        session.deployed = self.profile == "deployed"
        self.sessions.append(session)
        self._heard.append(session)
        return session

    @property
    def patience(self) -> float:
        """Seconds after which an answer is taken not to come."""
        return self.timing.patience

    @property
    def main(self) -> Driver:
        """The session that asks; opened when it is first needed."""
        if self._main is None:
            self._main = self.session()
        return self._main

    def fresh(self) -> Driver:
        """Open another session; where the node dials, there is only the main one."""
        return self.main if self.instance.dials else self.session()

    @property
    def other(self) -> Driver | ByControl:
        """Somebody else who declares: a second session with a router, or the node itself in other roles."""
        if self._other is None:
            if self.instance.dials:
                _ = self.main  # a node that dials takes no control lines before its session is open
            # Not together with the main one: a node may tell a session of nothing that was declared before it opened.
            is_told = self.role != "router"
            self._other = ByControl(self.instance, self.namespace, self._names) if is_told else self.session()
        return self._other

    def command(self, verb: str, *arguments: str) -> str:
        """Tell the node to act, by a control line; what it declares or asks is taken back when the play ends."""
        match verb, arguments:
            case "declare", (_, name, *_):
                self._undo["undeclare", name] = None
            case "ask", (name, *_):
                self._undo["end", name] = None
        answer = self.instance.command(verb, *arguments)
        # Only what was done: what was refused, stays to be taken back.
        self._undo.pop((verb, arguments[0] if arguments else ""), None)
        return answer

    def _take_back(self) -> None:
        """Tell the node to undo what cases told it to do."""
        for verb, name in self._undo:
            with suppress(HarnessError):
                self.instance.command(verb, name)
        self._undo.clear()

    def settle(self) -> None:
        """Wait until the node has acted on everything that any session has sent, and has told whom it concerns."""
        unsettled = [session for session in self.sessions if session.unsettled and not session.ended]
        barriers = [(session, session.send_barrier(), session.now()) for session in unsettled]
        for session, barrier, began in barriers:
            session.await_barrier(barrier)
            self.timing.took(session.now() - began)
        # Time passes for all of them alike.
        for session in unsettled[-1:]:
            session.await_stragglers()

    def interest(
        self,
        mode: Mode,
        *kinds: EntityKind,
        key: str | WireExpr | None = None,
        aggregate: bool = False,
        keyexprs: bool = False,
        id: int | None = None,
        extensions: Extensions = (),
        session: Driver | None = None,
    ) -> InterestHandle:
        """Ask, on the main session by default, once everything declared before has been acted on."""
        # Between two sessions nothing is ordered: what one declared might come after what the other asks.
        self.settle()
        asking = session or self.main
        return asking.interest(
            mode, *kinds, key=key, aggregate=aggregate, keyexprs=keyexprs, id=id, extensions=extensions
        )

    def listed(self, *kinds: EntityKind) -> EntitySet:
        """Return what a snapshot lists now: on a fresh session, or on the only one that a node which dials has."""
        if self.instance.dials:
            return self.interest(Mode.CURRENT_FUTURE, *kinds).snapshot().declared
        asking = self.session()
        listed = self.interest(Mode.CURRENT_FUTURE, *kinds, session=asking).snapshot().declared
        asking.close()
        return listed

    def shows(self, rule: str, reading: str, option: str) -> None:
        """Note which option of a reading the node was seen to follow; the profile decides what that means."""
        self.readings.append((rule, reading, option))

    @contextmanager
    def scene(self) -> Iterator["NodeUnderTest"]:
        """Play a scene of its own within this play: fresh sessions, a namespace below this one's."""
        self._scenes += 1
        if self.instance.dials:
            self.instance.restart()  # a node that dials comes once per start
        scene = copy.copy(self)
        scene.namespace = f"{self.namespace}{self._scenes}/"
        # `_heard` stays shared: monitors read the sessions of all scenes.
        scene.sessions, scene._main, scene._other, scene._undo = [], None, None, {}
        try:
            yield scene
        finally:
            scene.close()

    def key(self, key: str) -> str:
        """Return a key as it stands on the wire: inside the namespace."""
        return self.namespace + key

    @property
    def conversations(self) -> list[Conversation]:
        """The conversations of all sessions, as far as they were read."""
        return [session.conversation for session in self._heard]

    @property
    def evidence(self) -> int:
        """How much the node did above the handshake: messages that it sent, sessions that it ended."""
        said = sum(len(session.received()) for session in self._heard)
        return said + sum(bool(session.ended) and not session.is_dropped for session in self._heard)

    def probe(self) -> None:
        """Make sure that the node still answers, on a fresh session; raises what goes wrong."""
        before = len(self.sessions)
        try:
            self.session().barrier()
        finally:
            for session in self.sessions[before:]:
                session.close()

    def measure(self) -> None:
        """See how far behind later answers a node tells of what has changed."""
        declarer, listener = self.session(), self.session()
        listener.interest(Mode.CURRENT_FUTURE, EntityKind.SUBSCRIBER).snapshot()
        for number in range(SAMPLES):
            key = f"goldwire/lag/{number}"
            declarer.declare_subscriber(key)
            declarer.barrier()
            listener.barrier()
            # What stands before the answer has no lag, though it takes some microseconds to look for it.
            if subscriber(key) in live_entities(listener):
                continue
            since = listener.now()
            if not listener.wait_until(lambda key=key: subscriber(key) in live_entities(listener)):  # type: ignore[misc]
                return  # it may tell of nothing at all, which is for the cases to judge
            self.timing.lag = max(self.timing.lag, listener.now() - since)

    def close(self) -> None:
        """End all sessions, those that declared nothing first: what the others' ends bring is no part of the play."""
        # One that dials is started anew for the next play, and has nothing to take back.
        if not self.instance.dials:
            self._take_back()
            if isinstance(self._other, ByControl):
                self._other.take_back()
        for session in sorted(self.sessions, key=lambda session: session.has_declared):
            try:
                session.close()
            # The play is over: that one session cannot say goodbye must not keep the others open.
            except HarnessError:
                session.drop()
