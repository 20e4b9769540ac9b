"""Playing with a subscriber: its application changes its mind, and its publisher promises, tells, nacks and is silent.

What the subscriber says is accounted for as it comes, by what it was told and what its application wants.
"""

from collections import Counter

from conformance.histories.mismatch import Mismatch
from conformance.urbit.histories.listening import listen
from conformance.urbit.histories.moves import (
    Drops,
    FallsSilent,
    Nacks,
    Promises,
    SubscriberMove,
    Tells,
    Waits,
    Wants,
)
from harness.trace import Direction
from harness.urbit.ships import OTHER
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.publisher import TestPublisher
from wire.urbit.values import Cancellation, HeartbeatRequest, ScryRequest

BEAT = 25.0
NEARLY, LATE = 0.9, 1.1
"""What part of the time between two heartbeats has to pass, and how much of it may."""

STRANGE_SESSION = 0x5555_0000_1111_AAAA


class SubscriberPlay:
    """A history in the course of being played."""

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        self.judged = Counter[str]()
        self._wanted: dict[str, float | None] = {}
        """What the application wants, and when it was promised, if it was."""
        self._left: dict[str, float] = {}
        """When what was wanted before was got or dropped."""
        self._told: dict[str, float] = {}
        """When a path's value was sent last."""
        self._due: Counter[str] = Counter()
        """How often the application is to be given the value of a path."""
        self._dead: dict[int, float] = {}
        self._known: set[int] = set()
        self._last: tuple[int, int, float] | None = None
        """Session, number and time of the last heartbeat."""
        self._looked_at = 0
        self._idle_since: float | None = None
        self._has_rested = False
        """Whether nothing was pending at some time since the last heartbeat (reading A26)."""

    def begin(self) -> None:
        """Do nothing: the first that is wanted makes the subscriber dial."""

    def fits(self, move: SubscriberMove) -> bool:
        """Tell whether a move can be made as things are."""
        match move:
            case Drops(name=name):
                return name in self._wanted
            case Wants(names=names):
                return not set(names) & self._wanted.keys()
            case Tells(name=name, forged=True):
                return name in self._wanted
            case Nacks():
                return self._last is not None and bool(self._wanted)
            case _:
                return bool(self._known)

    def do(self, move: SubscriberMove) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        match move:
            case Wants():
                self._want(move)
            case Drops(name=name):
                self.node.drop(name)
                self._leave(name)
                self._publisher.read()
            case Tells():
                self._tell(move)
            case Nacks(strange=True):
                assert self._last is not None
                self._publisher.nack(self._last[1], STRANGE_SESSION)
                self._publisher.read()
            case Nacks():
                self._nack()
            case Promises():
                self._promise(move)
            case FallsSilent(silent=silent):
                self._publisher.answers = not silent
            case Waits(seconds=seconds):
                self._publisher.read(self.node.timing.quiet(seconds))
        self._account()

    # --- moves --------------------------------------------------------------------------------------------

    @property
    def _publisher(self) -> TestPublisher:
        return self.node.publisher

    def _now(self) -> float:
        return self.node.trace.now()

    def _want(self, move: Wants) -> None:
        for name in move.names:
            self.node.want(name)
            self._wanted[name] = None
            self._left.pop(name, None)
            self._idle_since = None
        publisher = self._publisher
        self._known.add(publisher.session)
        for name in move.names:
            since = self._looked_at
            if publisher.requested(name, since=since) is None:
                raise Mismatch("URB-020", f"{name} is wanted and not asked for")
            self.judged["URB-020"] += 1
            if publisher.path(name) in publisher.values:
                # Answered at once with its value, which it has to take.
                self._due[name] += 1
                self._told[name] = self._now()
                self._expect_delivery(name, since)
            else:
                self._wanted[name] = self._now()

    def _tell(self, move: Tells) -> None:
        publisher = self._publisher
        # What comes at once with what was told before may be taken for one with it.
        publisher.read()
        since = publisher.place
        path, text = publisher.path(move.name), f"the value of {move.name}"
        if move.forged:
            publisher.send(publisher.response_of(path, b"forged", signer=OTHER))
            publisher.read()
            if publisher.cancellations(move.name, since=since):
                raise Mismatch("URB-117", f"a value of {move.name} that somebody else has signed is cancelled")
            return
        if move.name in self._wanted:
            self._due[move.name] += 1
        for _ in range(move.times):
            publisher.tell(move.name, text)
        self._told[move.name] = self._now()
        self._expect_delivery(move.name, since)
        # For each copy that comes there is a cancellation; those of copies behind one another may be one.
        publisher.read()

    def _expect_delivery(self, name: str, since: int) -> None:
        publisher = self._publisher
        wanted = name in self._wanted
        if publisher.cancelled(name, since=since) is None:
            rule = "URB-100" if wanted else "URB-101" if name in self._left else "URB-102"
            raise Mismatch(rule, f"a value of {name} is not cancelled")
        self.judged["URB-100"] += 1
        if wanted:
            # What is told to the application goes another way, and may come a moment later.
            if not listen([publisher], self.node.timing.patience, lambda: len(self.node.got(name)) >= self._due[name]):
                raise Mismatch("URB-154", f"the value of {name}, which is wanted, is not given to the application")
            self.judged["URB-154"] += 1
            self._leave(name)

    def _leave(self, name: str) -> None:
        self._wanted.pop(name, None)
        self._left[name] = self._now()
        if not self._wanted:
            self._idle_since = self._now()
            self._has_rested = True

    def _nack(self) -> None:
        publisher = self._publisher
        # A heartbeat that nobody has answered: a nack with an older number may be passed over (reading A20).
        answers, publisher.answers = publisher.answers, False
        since = publisher.place
        seconds = self.node.timing.within(2 * BEAT)
        beat = publisher.beat_of(since=since, seconds=seconds)
        if beat is None:
            raise Mismatch("URB-091", "no heartbeat comes though something is pending")
        self._account()
        assert self._last is not None
        dead = publisher.session
        place = publisher.place
        publisher.die(self._last[1])
        self._dead[dead] = self._now()
        self._known.add(publisher.session)
        publisher.answers = answers
        self._looked_at = place
        for name in self._wanted:
            if publisher.requested(name, since=place) is None:
                raise Mismatch("URB-097", f"{name} is pending and not asked for after a nack")
            self._wanted[name] = self._now()
        self.judged["URB-097"] += 1
        beat = publisher.beat_of(since=place, seconds=seconds)
        if beat is None:
            raise Mismatch("URB-099", "no heartbeat comes of the session that is promised after a nack")
        self.judged["URB-099"] += 1

    def _promise(self, move: Promises) -> None:
        publisher = self._publisher
        path = publisher.path(move.name)
        if move.forged:
            publisher.send(publisher.promise_of(path, session=STRANGE_SESSION, signer=OTHER))
        else:
            publisher.send(publisher.promise_of(path))
        publisher.read()

    # --- what comes ---------------------------------------------------------------------------------------

    def _account(self) -> None:
        """Look at all that has come since the last move: each of it must have had its reason."""
        publisher = self._publisher
        events = publisher.conversation.events
        for place in range(self._looked_at, len(events)):
            if events[place].direction is Direction.RECEIVED:
                self._account_for(events[place])
        self._looked_at = len(events)
        self._account_for_pace()
        for name in self._due | Counter(self._told):
            got = len(self.node.got(name))
            if got > self._due[name]:
                raise Mismatch("URB-144", f"the value of {name} is given to the application {got} times")

    def _account_for(self, event: Event) -> None:
        match event.packet.body:
            case ScryRequest(path=path):
                self._account_for_request(event, self._name(path))
            case HeartbeatRequest(session=session, number=number):
                self._account_for_beat(event, session, number)
            case Cancellation(path=path):
                name = self._name(path)
                if name in self._wanted and name not in self._told:
                    raise Mismatch("URB-103", f"{name} is cancelled, which is wanted and was not told")

    def _account_for_request(self, event: Event, name: str) -> None:
        grace = self.node.timing.patience
        if name not in self._wanted:
            left = self._left.get(name)
            if left is None:
                raise Mismatch("URB-098", f"{name} is asked for, which nobody wants")
            if event.time > left + grace:
                raise Mismatch("URB-098", f"{name} is asked for, which has come or is of no interest any more")
        elif (promised := self._wanted[name]) is not None and event.time > promised + grace + self._lag():
            raise Mismatch("URB-110", f"{name} is asked for again, which was promised")

    def _lag(self) -> float:
        # Behind a nack all is asked for again, which a subscriber may do by and by.
        return 30.0 / self.node.tempo if self._dead else 0.0

    def _account_for_beat(self, event: Event, session: int, number: int) -> None:
        if session == STRANGE_SESSION:
            raise Mismatch("URB-104", "a heartbeat has the id of a promise that somebody else has signed")
        if session not in self._known:
            raise Mismatch("URB-153", "a heartbeat has an id that was never promised")
        died = self._dead.get(session)
        if died is not None:
            if event.time > died + self.node.timing.patience:
                raise Mismatch("URB-096", "a heartbeat comes of a session that was nacked")
            return
        last = self._last
        if last is None or last[0] != session:
            if number != 1:
                raise Mismatch("URB-092", f"the first heartbeat of a session has the number {number}")
        elif number != last[1] + 1:
            # Who ends a session when nothing is pending may begin it anew.
            if number != 1 or not self._has_rested:
                raise Mismatch("URB-093", f"heartbeat {number} follows heartbeat {last[1]}")
        else:
            pause = self.node.elapsed(last[2], event.time)
            idle = self._idle_since is not None or any(at > last[2] for at in self._left.values())
            if pause < NEARLY * BEAT - self.node.slack or (pause > LATE * BEAT + self.node.slack and not idle):
                raise Mismatch("URB-091", f"a heartbeat follows another after {pause:.0f} seconds")
            self.judged["URB-091"] += 1
        self._last = session, number, event.time
        self._has_rested = self._has_rested and not self._wanted

    def _account_for_pace(self) -> None:
        last = self._last
        if last is None or not self._wanted or self._idle_since is not None or last[0] in self._dead:
            return
        # One who rests begins again when he is promised something (reading A26).
        promised = [at for at in self._wanted.values() if at is not None]
        since = max([last[2], *(promised[:1] if len(promised) == len(self._wanted) else promised)])
        if promised and self.node.elapsed(since) > 2 * BEAT + self.node.slack:
            raise Mismatch("URB-095", f"no heartbeat has come for {self.node.elapsed(since):.0f} seconds")

    def _name(self, path: bytes) -> str:
        return path.removeprefix(self._publisher.namespace).decode("ascii", "replace")
