"""Playing with a publisher: moves are made, and what everybody is told is compared with what they have to be told.

After each move a session that does nothing else asks for a snapshot: what comes of the move comes before the answer.
"""

from collections import Counter
from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.publisher_accounts import Accounts
from conformance.rai.histories.publisher_ages import Ages
from conformance.rai.histories.publisher_commands import Commanding
from conformance.rai.histories.publisher_model import (
    AskedFor,
    KnownGuest,
    KnownInterest,
    PublisherModel,
)
from conformance.rai.histories.publisher_moves import (
    BeatsOn,
    Ends,
    FallsMute,
    Forges,
    Intrudes,
    Joins,
    Leaps,
    Leaves,
    Lists,
    Pauses,
    PublisherMove,
    Reclaims,
    Replays,
    Snaps,
    SourceActs,
    Starts,
    StartsWild,
    Stops,
    StopsWild,
)
from conformance.rai.histories.publisher_offences import Offences
from harness.errors import Unsupported
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import SERVED
from wire.rai.values import (
    Bye,
    Message,
    Published,
    Reply,
    inbox,
)

WHO = {"a": "tess", "b": "toby", "c": "tara", "d": "tess"}
"""The sessions of a history, and their users: two are of one."""

WATCHING = "dora"
LONGEST = 45.0
"""Seconds of silence within which a session is asked for its subscriptions, if ever (R16)."""


class PublisherPlay:
    """A history in the course of being played."""

    def __init__(self, node: NodeUnderTest, can: Abilities) -> None:
        self.node = node
        self.can = can
        self.judged = Counter[str]()
        self.model = PublisherModel()
        self.accounts = Accounts(node, self.model)
        self.guests = self.accounts.guests
        self.source = Commanding(node, self.model, self.accounts, can)
        self.offences = Offences(self.accounts)
        self.ages = Ages(self.accounts)
        self._has_ended = False

    def begin(self) -> None:
        """Have sessions that nobody knows anything of yet, and one that watches."""
        self.node.greeted(self.node.broker)
        self.watching = self.node.session(WATCHING).met()
        for who in WHO:
            self._join(who)

    def fits(self, move: PublisherMove) -> bool:
        """Tell whether a move can be made as things are."""
        if self._has_ended:
            return False
        match move:
            case SourceActs():
                return self.source.fits(move)
            case Joins(who=who):
                return not self.guests[who].is_here
            case BeatsOn(who=who):
                return self.guests[who].is_here and not self.guests[who].driver.beats
            case Leaves(who=who):
                return self.guests[who].is_here
            case Pauses() | Intrudes() | Ends():
                return True
        guest = self.guests[move.who]
        if not (guest.is_here and guest.is_sure):
            return False
        match move:
            case StartsWild(who=who, wildcard=wildcard):
                return "wildcards" not in self.can.lacks and (who, wildcard) not in self.model.wild
            case Replays(name=name, what=what):
                return (what, name) in guest.said
            case Forges(who=who, name=name):
                return (who, name) in self.model.named and guest.last is not None
            case Lists():
                return "questions" not in self.can.lacks and not self._is_denied(guest)
            case FallsMute():
                return guest.driver.beats
            case Reclaims():
                return self._is_denied(guest)
            case _:
                return True

    def do(self, move: PublisherMove) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        self.accounts.begin_move()
        try:
            self._make(move)
        except Unsupported:
            assert isinstance(move, SourceActs)
            self.source.unable.add(move.verb)
            return
        if self._has_ended:
            return
        self._settle()
        self.ages.grow()
        self.accounts.await_dues()
        self.judged.update(each.rule for each in self.accounts.dues)
        self.source.judge_recaps()
        self.accounts.check_beat()
        self.ages.bury()

    def _make(self, move: PublisherMove) -> None:
        match move:
            case SourceActs():
                self.source.do(move)
            case Starts():
                self._start(move)
            case Stops():
                self._stop(move)
            case StartsWild(who=who, wildcard=wildcard, expires=expires):
                self.guests[who].driver.start_wild(SERVED + wildcard, expires=expires)
                self.model.wild[who, SERVED + wildcard] = KnownInterest(self._now(), {expires})
            case StopsWild(who=who, wildcard=wildcard):
                self._stop_wild(who, wildcard)
            case Snaps(who=who, name=name):
                self._snap(self.guests[who], name)
            case Lists():
                self._list(move)
            case Reclaims():
                self._reclaim(move)
            case FallsMute(who=who):
                self.guests[who].driver.beat()
                self.guests[who].driver.stop_beating()
            case BeatsOn(who=who):
                self._wake(self.guests[who])
            case Leaves(who=who):
                self._leave(self.guests[who])
            case Joins(who=who):
                self._join(who)
            case Replays():
                self.offences.replay(move)
            case Forges():
                self.offences.forge(move)
            case Intrudes():
                self.offences.intrude(move, self._settle)
            case Leaps(who=who):
                self._leap(self.guests[who])
            case Pauses(seconds=seconds):
                self.node.broker.pause(seconds)
            case Ends():
                self._end()

    # --- time -----------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return self.node.trace.now()

    def _settle(self) -> None:
        self.watching.surely(self.watching.snapshot(f"{SERVED}settled"), "snapshot")

    # --- subscriptions --------------------------------------------------------------------------------------

    def _is_denied(self, guest: KnownGuest) -> bool:
        return guest.driver.user in self.model.denied

    def _return(self, guest: KnownGuest, asked: AskedFor, *, long: bool = False) -> Any:
        number: Any = guest.driver.new_return()
        returned = f"of.some.{number}" if long else number
        guest.asked[str(returned)] = asked
        return returned

    def _expect(self, guest: KnownGuest, returned: Any, rule: str, what: str, *, ack: bool) -> None:
        subject = inbox(guest.driver.session, returned)

        def is_it(event: Event) -> bool:
            return event.subject == subject and isinstance(event.body, Reply) and (event.body.state == "ack") == ack

        self.accounts.due(rule, what, is_it)

    def _start(self, move: Starts) -> None:
        guest, name = self.guests[move.who], move.name
        asked = AskedFor(name, "start", move.ack, move.initial)
        members: dict[str, Any] = {"expires": move.expires}
        returned: Any = None
        if move.ack or move.initial:
            returned = self._return(guest, asked, long=move.long)
            members["return_"] = returned
        guest.started[name] = self.node.broker.utc()
        self._said(
            guest, "start", name, guest.driver.start(SERVED + name, ack=move.ack, initial=move.initial, **members)
        )
        if self._is_denied(guest):
            if move.initial:
                self._expect(guest, returned, "RAI-148", f"{move.who}, who may see nothing, is not told so", ack=False)
            return
        self._subscribe(move.who, name, move.expires)
        if move.ack:
            self._expect(guest, returned, "RAI-109", f"{move.who} gets no ack of its start of {name}", ack=True)
        if move.initial:
            self._expect(guest, returned, "RAI-108", f"{move.who} gets no answer to its start of {name}", ack=False)

    def _subscribe(self, who: str, name: str, expires: int | None) -> None:
        self.model.counts[who, name] += 1
        before = self.model.named.get((who, name))
        others = before.expires if before is not None else set()
        self.model.named[who, name] = KnownInterest(self._now(), others | {expires})

    def _said(self, guest: KnownGuest, what: str, name: str, message: Message) -> None:
        guest.said[what, name] = guest.last = message

    def _stop(self, move: Stops) -> None:
        guest, name, model = self.guests[move.who], move.name, self.model
        asked = AskedFor(name, "stop", move.ack)
        members = {"return_": self._return(guest, asked), "ack": True} if move.ack else {}
        self._said(guest, "stop", name, guest.driver.stop(SERVED + name, **members))
        its = model.named.get((move.who, name))
        model.counts[move.who, name] -= 1
        if its is None:
            return
        if move.ack and its.sure and not self._is_denied(guest):
            self._expect(
                guest, members["return_"], "RAI-116", f"{move.who} gets no ack of its stop of {name}", ack=True
            )
        if model.counts[move.who, name] > 0:
            # Whether starts are counted is open (R64).
            its.sure = its.firm = False
            return
        model.counts[move.who, name] = 0
        del model.named[move.who, name]
        self._expect_drop(name, its, "RAI-137", "RAI-006")

    def _expect_drop(self, name: str, its: KnownInterest, rule: str, blame: str) -> None:
        model = self.model
        self.accounts.blame[name] = blame
        if its.sure and its.firm and name in model.values and not self.model.has_takers(name):
            subject = SERVED + name
            self.accounts.due(
                rule,
                f"{name} is not dropped when its last subscriber has left",
                lambda event: (
                    event.subject == subject and isinstance(event.body, Published) and event.body.kind == "drop"
                ),
            )

    def _stop_wild(self, who: str, wildcard: str) -> None:
        self.guests[who].driver.stop_wild(SERVED + wildcard)
        self.model.wild.pop((who, SERVED + wildcard), None)
        for name in self.model.values:
            self.accounts.blame[name] = "RAI-123"

    def _snap(self, guest: KnownGuest, name: str) -> None:
        returned = self._return(guest, AskedFor(name, "snap", image=True))
        guest.last = guest.driver.snapshot_request(SERVED + name, returned)
        what = f"{guest.who} gets no answer to its request for a snapshot of {name}"
        self._expect(guest, returned, "RAI-148" if self._is_denied(guest) else "RAI-134", what, ack=False)

    def _list(self, move: Lists) -> None:
        guest, driver = self.guests[move.who], self.guests[move.who].driver
        guest.question = None
        driver.beat()
        driver.stop_beating()
        broker = self.node.broker
        broker.wait_for(self._is_question(guest), since=broker.place, seconds=broker.timing.within(LONGEST))
        self.ages.grow()
        self.accounts.look()
        question = guest.question
        if question is None:
            self._wake(guest)
            return
        names = [name for who, name in self.model.named if who == move.who]
        if move.newest:
            names = [name for name in names if guest.started.get(name, 0) > question.last_seen]
        told = ["OTHER.subject", *(SERVED + name for name in names)]
        returns = [self._return(guest, AskedFor(name, "start", True, True)) for name in ("", *names)]
        driver.send_list(told, returns, question.return_, last_seen=question.last_seen, wildcard=question.wildcard)
        driver.beats = True
        driver.beat()
        for name, returned in zip(names, returns[1:], strict=True):
            what = f"in the list of {move.who}'s subscriptions"
            self._expect(guest, returned, "RAI-132", f"{name} {what} gets no ack", ack=True)
            self._expect(guest, returned, "RAI-132", f"{name} {what} gets no image", ack=False)
            self._subscribe(move.who, name, None)
        for (who, name), its in self.model.named.items():
            if who == move.who and name not in names:
                # A list since then says nothing of what was there before; one of all may be taken for the whole.
                is_old = 0 < guest.started.get(name, 0) <= question.last_seen
                its.sure, its.firm = its.sure and is_old, its.firm and is_old
                self.accounts.blame[name] = "RAI-007"
        self._settle()
        guest.is_sure = True
        self.ages.begin_anew(guest)

    def _is_question(self, guest: KnownGuest) -> Any:
        own = inbox(guest.driver.session, "get_subs")
        return lambda event: event.subject == own

    def _reclaim(self, move: Reclaims) -> None:
        guest = self.guests[move.who]
        returned = self._return(guest, AskedFor(move.name, "start", True, True))
        guest.last = guest.driver.send_list([SERVED + move.name], [returned], f"{guest.driver.user}.subs")

    # --- sessions -------------------------------------------------------------------------------------------

    def _join(self, who: str) -> None:
        driver = self.node.session(WHO[who]).met()
        self._settle()
        self.guests[who] = KnownGuest(who, driver, self._now(), self._now())

    def _leave(self, guest: KnownGuest) -> None:
        guest.driver.bye()
        guest.is_here = False
        ended = [(name, its) for (who, name), its in self.model.named.items() if who == guest.who]
        kept = {name for name, _ in ended if self.model.watchers(name)}
        self.model.forget(guest.who)
        for key in [key for key in self.model.counts if key[0] == guest.who]:
            del self.model.counts[key]
        for name, its in ended:
            if name not in kept:
                self._expect_drop(name, its, "RAI-102", "RAI-102")

    def _wake(self, guest: KnownGuest) -> None:
        driver = guest.driver
        driver.beats = True
        driver.beat()
        for again in (False, True):
            if again:
                # A heartbeat need not begin the exchange anew (R12).
                driver.hello()
            self._settle()
            self._settle()
            if self._is_answered(guest):
                self.ages.grow()
                guest.is_sure = True
                return
        self._leave(guest)

    def _is_answered(self, guest: KnownGuest) -> bool:
        returned = self._return(guest, AskedFor("settled", "snap", image=True))
        since = self.node.broker.place
        guest.driver.snapshot_request(f"{SERVED}settled", returned)
        return guest.driver.reply(returned, since=since, thing="a snapshot") is not None

    def _leap(self, guest: KnownGuest) -> None:
        # There has to be a number to compare with.
        self._is_answered(guest)
        guest.driver.seqno = (guest.driver.seqno | 0xFFFF_FFFF) + 1
        if not self._is_answered(guest):
            raise Mismatch("RAI-183", f"{guest.who} is not answered any more when its seqnos have passed 32 bits")

    def _end(self) -> None:
        self._has_ended = True
        broker = self.node.broker
        self.node.command("end")
        bye = broker.wait_for(lambda event: event.form is Bye, thing="BYE")
        if bye is None:
            return
        broker.pause(15.0)
        late = [
            each for each in broker.received() if each.entry > bye.entry and each.message.session == bye.message.session
        ]
        if late:
            raise Mismatch("RAI-177", f"after BYE there is something on {late[0].subject}")
        self.judged["RAI-177"] += 1
