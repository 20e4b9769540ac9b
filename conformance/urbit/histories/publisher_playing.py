"""Playing with a publisher: moves are made, and what each subscriber is told is compared with what it has to be told.

The comparison knows whose session lives for certain and whose is dead for certain, by when heartbeats were sent and
answered; in between either is right. What comes is accounted for as it comes: nobody is sent what it has not asked for.
"""

from collections import Counter

import msgspec

from conformance.histories.mismatch import Mismatch
from conformance.urbit.histories.abilities import Abilities
from conformance.urbit.histories.listening import listen
from conformance.urbit.histories.moves import (
    Beats,
    BeatsAgain,
    Borrows,
    Cancels,
    Grows,
    PublisherMove,
    Readdresses,
    Requests,
    Waits,
)
from conformance.urbit.sessions import PROMPT
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.ships import OTHER
from harness.urbit.tester.events import Event
from harness.urbit.tester.node_under_test import NodeUnderTest
from harness.urbit.tester.subscriber import TestSubscriber
from wire.urbit.signatures import request_input
from wire.urbit.values import HeartbeatRequest, HeartbeatResponse, Promise, ScryResponse

Datum = tuple[str, int]
"""A path's name within the play, and a fragment."""

LEASE = 60.0
LIVES, DIES = 50.0, 75.0
"""Seconds since a heartbeat up to which a session lives for certain, and from which it is dead for certain: clocks have
grains, and machines stand still for moments."""

WHO = ("a", "b", "c")
SIGNS = ("URB-152", "URB-080", "URB-057")
"""Rules by which something keeps no session alive: old heartbeats, those of others, what is no heartbeat."""


class Promised(msgspec.Struct):
    """What a subscriber was promised; ``session`` is the id under which, ``told`` when its value came first."""

    session: int
    told: float | None = None


class KnownSubscriber(msgspec.Struct):
    """What is known of one subscriber: its addresses, its session, what it has asked for and what it was promised.

    ``sent`` and ``answered`` are when the last heartbeat that counts was sent and answered, or the promise that opened
    the session was asked for and came; ``beaten`` whether there was a heartbeat.
    """

    at: list[TestSubscriber]
    looked_at: list[int]
    session: int | None = None
    beaten: bool = False
    sent: float = 0.0
    answered: float = 0.0
    numbers: set[tuple[int, int]] = msgspec.field(default_factory=set)
    asked: dict[Datum, float] = msgspec.field(default_factory=dict)
    promised: dict[Datum, Promised] = msgspec.field(default_factory=dict)
    cancelled: dict[Datum, float] = msgspec.field(default_factory=dict)
    dead: set[int] = msgspec.field(default_factory=set)
    signs: set[str] = msgspec.field(default_factory=set)
    """What else was heard of it since the last heartbeat that counts: rules by which that keeps no session alive."""

    @property
    def here(self) -> TestSubscriber:
        """Where it speaks from now."""
        return self.at[-1]


class PublisherPlay:
    """A history in the course of being played."""

    def __init__(self, node: NodeUnderTest, can: Abilities) -> None:
        self.node = node
        self.can = can
        self.judged = Counter[str]()
        self.known: dict[str, KnownSubscriber] = {}
        self.grown: dict[str, bytes] = {}
        self.growing: dict[str, float] = {}
        self._ids: dict[int, str] = {}

    def begin(self) -> None:
        """Have subscribers, of whom nobody has asked for anything."""
        for who in WHO:
            self.known[who] = KnownSubscriber([self.node.subscriber()], [0])

    def fits(self, move: PublisherMove) -> bool:
        """Tell whether a move can be made as things are."""
        match move:
            case BeatsAgain(who=who) | Readdresses(who=who):
                # Another address is somebody else to who knows ships by theirs.
                return self.known[who].session is not None and not self.can.knows_addresses
            case Beats(who=who):
                return self.known[who].session is not None
            case Borrows(whose=whose):
                return self.known[whose].session is not None
            case Grows(name=name):
                return name not in self.grown
            case _:
                return True

    def do(self, move: PublisherMove) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        match move:
            case Requests():
                self._request(move)
            case Cancels():
                self._cancel(move)
            case Beats():
                self._beat(self.known[move.who], move.step)
            case BeatsAgain():
                self._beat_again(self.known[move.who], zero=move.zero)
            case Borrows():
                self._borrow(self.known[move.who], self.known[move.whose])
            case Readdresses():
                its = self.known[move.who]
                its.at.append(self.node.elsewhere(its.here))
                its.looked_at.append(0)
            case Grows():
                self._grow(move)
            case Waits():
                self._listen(self.node.timing.quiet(move.seconds))
        self._account()

    # --- time ---------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return self.node.trace.now()

    def _lives(self, its: KnownSubscriber, until: float | None = None) -> bool:
        """Tell whether a subscriber's session lives for certain, at a time of the trace or now."""
        return its.session is not None and self.node.elapsed(its.sent, until) + self.node.slack < LIVES

    def _is_dead(self, its: KnownSubscriber, since: float | None = None) -> bool:
        """Tell whether a subscriber's session was dead for certain, at a time of the trace or now."""
        # One that never had a heartbeat may wait for the first (reading A19).
        return its.beaten and self.node.elapsed(its.answered, since) - self.node.slack > DIES

    def _listen(self, seconds: float) -> None:
        listen([driver for its in self.known.values() for driver in its.at], seconds)

    def _until(self, its: KnownSubscriber, *wanted: object, seconds: float | None = None) -> Event | None:
        """Read until an answer comes to a subscriber that is one of some kinds and about some things.

        ``seconds`` of the clock, if it may come later than an answer does.
        """
        caught: list[Event] = []
        drivers = [driver for each in self.known.values() for driver in each.at]
        places = [driver.place for driver in its.at]

        def found() -> bool:
            for number, driver in enumerate(its.at):
                while places[number] < driver.place and not caught:
                    event = driver.conversation.events[places[number]]
                    places[number] += 1
                    if _subject(driver, event) in wanted:
                        caught.append(event)
            return bool(caught)

        listen(drivers, self.node.timing.patience if seconds is None else seconds, found)
        return caught[0] if caught else None

    # --- moves --------------------------------------------------------------------------------------------

    def _request(self, move: Requests) -> None:
        its, began = self.known[move.who], self._now()
        its.signs.add("URB-057")
        for name in move.names:
            its.asked[name, move.fragment] = began
            its.here.send(its.here.request_for(name, move.fragment))
        for name in move.names:
            datum = name, move.fragment
            if name in self.grown:
                if move.fragment > self._fragments(name):
                    continue  # silence, or a response of nothing: nobody says
                rule = "URB-031"
                answer = self._answered(its, ("value", *datum))
                if answer is None:
                    raise Mismatch(rule, f"{move.who} asked for {name}, which has a value, and was not sent it")
                self.judged[rule] += 1
                continue
            lives, repeated = self._lives(its), datum in its.promised
            answer = self._answered(its, ("promise", *datum))
            if answer is None:
                # Nobody has to promise (URB-030), but in a session each new path; what is repeated may be passed over.
                # Of fragments only the first is there for certain.
                if lives and not repeated and move.fragment == 1 and self._lives(its):
                    raise Mismatch("URB-059", f"{move.who} asked for {name} during a session and was promised nothing")
                continue
            self._take_promise(move.who, its, datum, answer, began)

    def _answered(self, its: KnownSubscriber, wanted: object) -> Event | None:
        """Return the answer to what was just asked: it may have come while another one was waited for."""
        for driver in its.at:
            for event in reversed(driver.conversation.events[-64:]):
                asked = its.asked.get((wanted[1], wanted[2])) if isinstance(wanted, tuple) else None
                if asked is not None and event.time >= asked and _subject(driver, event) == wanted:
                    return event
        return self._until(its, wanted)

    def _take_promise(self, who: str, its: KnownSubscriber, datum: Datum, answer: Event, began: float) -> None:
        promise = answer.packet.body
        assert isinstance(promise, Promise)
        id = promise.session
        if id == its.session:
            if self._is_dead(its, began):
                raise Mismatch("URB-055", f"{who} is promised {datum[0]} under the id of a session that is dead")
        else:
            if self._lives(its):
                raise Mismatch("URB-037", f"{who} is promised {datum[0]} under another id than that of its session")
            if id in its.dead:
                raise Mismatch("URB-055", f"{who} is promised {datum[0]} under the id of a session that was dead")
            if self._ids.get(id, who) != who:
                raise Mismatch("URB-039", f"{who} is promised {datum[0]} under the id of {self._ids[id]}'s session")
            self._bury(its)
            its.session, its.beaten, its.sent, its.answered = id, False, began, answer.time
            self._ids[id] = who
            for driver in its.at:
                driver.follow(id)
        self.judged["URB-037"] += 1
        its.cancelled.pop(datum, None)
        its.promised.setdefault(datum, Promised(id))

    def _bury(self, its: KnownSubscriber) -> None:
        """Take note that a session is dead: what was promised in it is forgotten."""
        if its.session is not None:
            its.dead.add(its.session)
        for datum in [*its.promised]:
            its.cancelled[datum] = self._now()
        its.promised, its.session = {}, None

    def _beat(self, its: KnownSubscriber, step: int) -> None:
        id, here = its.session, its.here
        assert id is not None
        number = max((each for session, each in its.numbers if session == id), default=0) + step
        its.numbers.add((id, number))
        began = self._now()
        dead, lived = self._is_dead(its), self._lives(its)
        here.number = number
        here.send(HeartbeatRequest(id, number))
        answer = self._until(its, ("beat", id, number))
        lives = lived and self._lives(its)
        if answer is None:
            raise Mismatch("URB-060" if lives else "URB-062", "a heartbeat is not answered")
        body = answer.packet.body
        assert isinstance(body, HeartbeatResponse)
        if lives and not body.live:
            rule = "URB-064" if its.beaten else "URB-060"
            raise Mismatch(rule, f"a heartbeat of a session that had {_age(its)} is answered by a nack")
        if dead and body.live:
            # Whatever else was heard of it: of several things that one which a publisher may have some right to count.
            rule = next((each for each in SIGNS if each in its.signs), "URB-063")
            raise Mismatch(rule, "a heartbeat of a session that has had none for 75 seconds finds it live")
        self.judged["URB-064" if lives else "URB-063"] += 1
        if body.live:
            its.beaten, its.sent, its.answered = True, began, answer.time
            its.signs.clear()
        else:
            self._bury(its)

    def _beat_again(self, its: KnownSubscriber, *, zero: bool) -> None:
        id = its.session
        assert id is not None
        number = 0 if zero else max((each for session, each in its.numbers if session == id), default=0)
        its.numbers.add((id, number))
        its.signs.add("URB-152")
        replaying = self.node.elsewhere(its.here)
        its.at.insert(0, replaying)
        its.looked_at.insert(0, 0)
        replaying.send(HeartbeatRequest(id, number))
        replaying.read()

    def _borrow(self, its: KnownSubscriber, others: KnownSubscriber) -> None:
        assert others.session is not None
        others.signs.add("URB-080")
        # As unlike its own numbers as can be: the session that it is of is not to take it for one of these.
        number = 1 << 40 | len(its.numbers)
        its.numbers.add((others.session, number))
        its.here.send(HeartbeatRequest(others.session, number))
        self._until(its, ("beat", others.session, number))

    def _cancel(self, move: Cancels) -> None:
        its = self.known[move.who]
        its.signs.add("URB-057")
        for name in move.names:
            datum = name, move.fragment
            cancellation = its.here.cancellation_of(name, move.fragment)
            match move.forged:
                case "the request's":
                    signature = its.here.sign(request_input(cancellation.path, cancellation.fragment))
                    cancellation = msgspec.structs.replace(cancellation, signature=signature)
                case "another ship's":
                    cancellation = its.here.cancellation_of(name, move.fragment, OTHER)
                case "flipped":
                    flipped = bytes((cancellation.signature[0] ^ 1,)) + cancellation.signature[1:]
                    cancellation = msgspec.structs.replace(cancellation, signature=flipped)
                case _:
                    its.promised.pop(datum, None)
                    its.cancelled[datum] = self._now()
            its.here.send(cancellation)
        # Long enough for it to be acted upon: a path that grows at once is another question.
        self._listen(self.node.timing.window)

    def _grow(self, move: Grows) -> None:
        text = f"{move.name} has a value".ljust((move.fragments - 1) * FRAGMENT + 20, ".")
        self.grown[move.name] = text.encode()
        began = self.growing[move.name] = self._now()
        self.node.grow(move.name, text)
        waiting = [
            (who, its, datum)
            for who, its in self.known.items()
            for datum in its.promised
            if datum[0] == move.name and datum[1] <= move.fragments
        ]
        for who, its, datum in waiting:
            sure = self._lives(its)
            # A value may be told a while after it is there (URB-155).
            seconds = self.node.timing.within(PROMPT)
            answer = self._told_since(its, datum, began) or self._until(its, ("value", *datum), seconds=seconds)
            if answer is None:
                if sure and self._lives(its):
                    promises = sum(each[0] == move.name for each in its.promised)
                    others = f", with {promises - 1} more of its fragments" if promises > 1 else ""
                    rule = "URB-041" if len({each for each, _, _ in waiting}) > 1 else "URB-040"
                    raise Mismatch(rule, f"{who} was promised {datum[0]}{others}, and is not told when it has a value")
                continue
            self.judged["URB-040"] += 1
            its.promised[datum].told = answer.time

    def _told_since(self, its: KnownSubscriber, datum: Datum, since: float) -> Event | None:
        return next(
            (
                event
                for driver in its.at
                for event in driver.conversation.events
                if event.time >= since and _subject(driver, event) == ("value", *datum)
            ),
            None,
        )

    def _fragments(self, name: str) -> int:
        return max(1, -(-len(self.grown[name]) // FRAGMENT))

    # --- what comes ---------------------------------------------------------------------------------------

    def _account(self) -> None:
        """Look at all that has come since the last move: each of it must have been asked for."""
        for who, its in self.known.items():
            for number, driver in enumerate(its.at):
                events = driver.conversation.events[its.looked_at[number] :]
                its.looked_at[number] = driver.place
                for event in events:
                    subject = _subject(driver, event)
                    if subject is not None:
                        self._account_for(who, its, event, subject)

    def _account_for(self, who: str, its: KnownSubscriber, event: Event, subject: tuple[str, object, int]) -> None:
        match event.packet.body:
            case Promise():
                if (subject[1], subject[2]) not in its.asked:
                    raise Mismatch("URB-034", f"{who} is promised {subject[1]}, which it has not asked for")
            case HeartbeatResponse(session=id, number=number):
                if (id, number) not in its.numbers:
                    raise Mismatch("URB-061", f"{who} is answered a heartbeat that it has not sent")
            case ScryResponse(data=data):
                self._account_for_value(who, its, event, (str(subject[1]), subject[2]), data)

    def _account_for_value(self, who: str, its: KnownSubscriber, event: Event, datum: Datum, data: bytes) -> None:
        name, fragment = datum
        if name not in {asked for asked, _ in its.asked}:
            raise Mismatch("URB-156", f"{who} is sent {name}, which it has not asked for")
        if name not in self.grown:
            raise Mismatch("URB-031", f"{who} is sent a value of {name}, which has none")
        if fragment <= self._fragments(name):
            expected = self.grown[name][(fragment - 1) * FRAGMENT : fragment * FRAGMENT]
            if data != expected:
                raise Mismatch("URB-054", f"{who} is sent another value of {name} than there is")
        if datum not in its.asked:
            return  # another fragment of what was asked for, which reading A29 allows
        grace = self.node.timing.patience
        if event.time <= its.asked[datum] + grace or datum in its.promised:
            return
        cancelled = its.cancelled.get(datum)
        if cancelled is not None and event.time > cancelled + self.node.timing.window:
            told = "again " if self.growing[name] < cancelled else ""
            rule = "URB-044" if told else "URB-045"
            if its.dead and its.session is None:
                rule = "URB-066" if told else "URB-053"
            raise Mismatch(rule, f"{who} is sent {name} {told}after it has cancelled it, or its session has died")


def _subject(driver: TestSubscriber, event: Event) -> tuple[str, object, int] | None:
    """Return what a packet that has come is about; ``None`` for what the tester has sent itself."""
    if event.direction.value == "sent":
        return None
    match event.packet.body:
        case Promise(path=path, fragment=fragment):
            return "promise", _name(driver, path), fragment
        case ScryResponse(path=path, fragment=fragment):
            return "value", _name(driver, path), fragment
        case HeartbeatResponse(session=session, number=number):
            return "beat", session, number
        case _:
            return None


def _name(driver: TestSubscriber, path: bytes) -> str:
    inner = path.removeprefix(driver.namespace)
    return inner.decode("ascii", "replace") if inner != path else repr(path)


def _age(its: KnownSubscriber) -> str:
    return "one less than 50 seconds before" if its.beaten else "begun less than 50 seconds before"
