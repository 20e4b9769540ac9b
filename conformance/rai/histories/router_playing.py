"""Playing with a router-cache: several subscribers on one side, and a source on the other that changes its values.

What is published on two brokers is in no order: so a subscription is looked at when the router-cache has asked the
source something behind it, and a value that is not subscribed may be seen a moment later than it changed.
"""

from collections import Counter

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.router_moves import (
    Begins,
    BeginsWild,
    Changes,
    Disturbs,
    Finishes,
    LooksAt,
    Quits,
    QuitsWild,
    Restores,
    Rests,
    RouterMove,
)
from conformance.rai.telling import fields, told
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import Published
from wire.subjects import matches

SUBSCRIBERS = 3

DISTURBED = ("stale", "feed_down", "feed_switch")

TRIES = 3
"""Times that a value is looked at which may change a moment later."""

MOMENT = 2.0
"""Seconds between these."""


class RouterPlay:
    """A history in the course of being played."""

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        self.judged = Counter[str]()
        self._sessions: list[TestSession] = []
        self._named: set[tuple[int, str]] = set()
        self._wild: set[tuple[int, str]] = set()
        self._stale: set[str] = set()
        """Subjects of which nobody can have been shown a sound value since they were disturbed."""
        self._unsure: set[str] = set()
        """Those that were subscribed anew since: the source may have been asked for a value, or the cache."""
        self._marks = 0

    def begin(self) -> None:
        """Have subscribers on the one side, and a source on the other."""
        self._source = self.node.publisher
        self._sessions = [self.node.subscriber() for _ in range(SUBSCRIBERS)]

    def fits(self, move: RouterMove) -> bool:
        """Tell whether a move can be made as things are."""
        match move:
            case Quits(who=who, name=name):
                return (who, name) in self._named
            case QuitsWild(who=who, wildcard=wildcard):
                return (who, wildcard) in self._wild
            case Disturbs(name=name) | Restores(name=name) | Finishes(name=name):
                return self._is_named(name) and self._subject(name) in self._source.values
            case _:
                return True

    def do(self, move: RouterMove) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        match move:
            case Begins():
                self._begin(move)
            case Quits(who=who, name=name):
                self._named.discard((who, name))
                if not self._is_named(name):
                    self._doubt(name)
                self._sessions[who].stop(self._subject(name))
            case BeginsWild(who=who, wildcard=wildcard):
                self._wild.add((who, wildcard))
                self._sessions[who].start_wild(self._subject(wildcard))
                self._settle()
            case QuitsWild(who=who, wildcard=wildcard):
                self._wild.discard((who, wildcard))
                self._sessions[who].stop_wild(self._subject(wildcard))
            case LooksAt(who=who, name=name):
                self._look(self._sessions[who], name)
            case Changes(name=name):
                self._change(name)
            case Disturbs():
                self._disturb(move)
            case Restores(name=name):
                self._restore(name)
            case Finishes(name=name):
                self._finish(name)
            case Rests(seconds=seconds):
                self.node.broker.pause(seconds)

    # --- what is known ------------------------------------------------------------------------------------

    def _subject(self, name: str) -> str:
        return self.node.subject(name)

    def _is_named(self, name: str) -> bool:
        return any(each == name for _, each in self._named)

    def _is_wanted(self, name: str) -> bool:
        return self._is_named(name) or any(matches(each, name) for _, each in self._wild)

    def _mark(self) -> int:
        self._marks += 1
        return self._marks

    def _settle(self) -> None:
        """Read until the router-cache has asked the source something behind all that was said to it."""
        session = self._sessions[0]
        session.surely(session.snapshot(self._subject(f"settled.{self._mark()}")), "snapshot")

    # --- moves of subscribers -----------------------------------------------------------------------------

    def _begin(self, move: Begins) -> None:
        session, subject = self._sessions[move.who], self._subject(move.name)
        self._named.add((move.who, move.name))
        self._doubt(move.name)
        if move.with_image:
            if session.image(subject) is None:
                raise Mismatch("RAI-206", f"no image of {move.name} is shown, nor why there is none")
            self.judged["RAI-206"] += 1
        else:
            session.subscribed(subject)
        self._settle()

    def _doubt(self, name: str) -> None:
        """Hold nobody to it that a value is stale: the source may be asked for it, and what it shows is whole."""
        if name in self._stale:
            self._stale.discard(name)
            self._unsure.add(name)

    def _mend(self, name: str) -> None:
        """Have a value be sound, or be no more."""
        self._stale.discard(name)
        self._unsure.discard(name)

    def _look(self, session: TestSession, name: str) -> None:
        publisher, subject = self._source, self._subject(name)
        if name in self._stale:
            # What the source would say of it now is another matter.
            publisher.is_serving = False
            shown = session.snapshot(subject)
            publisher.is_serving = True
            if shown is not None and told(shown).has_data and told(shown).state not in DISTURBED:
                raise Mismatch("RAI-208", f"{name} is shown as {told(shown).state}, which is stale")
            self.judged["RAI-208"] += 1
            return
        wanted = publisher.values.get(subject)
        for _ in range(TRIES):
            shown = session.snapshot(subject)
            if shown is None:
                raise Mismatch("RAI-206", f"a snapshot of {name} is not answered")
            found = fields(shown)
            if (found == wanted) if wanted is not None else not told(shown).has_data:
                break
            self.node.broker.pause(MOMENT)
        else:
            rule = "RAI-209" if wanted is None else "RAI-206"
            raise Mismatch(rule, f"{name} is shown with {found}, and its source has {wanted}")
        self.judged["RAI-206"] += 1

    # --- moves of the source ------------------------------------------------------------------------------

    def _change(self, name: str) -> None:
        since, mark = self.node.broker.place, self._mark()
        self._source.update(self._subject(name), BID=mark)
        if self._is_wanted(name):
            self._expect("RAI-205", name, since, f"an update of {name} does not come out", mark=mark)

    def _disturb(self, move: Disturbs) -> None:
        since, subject = self.node.broker.place, self._subject(move.name)
        members: dict[str, object] = {"status": "stale"}
        if move.with_data:
            members["data"] = {"BID": self._mark()}
            self._source.values[subject].update(BID=self._marks)
        self._source.publish(subject, **members)
        has_been_said = move.name in self._stale | self._unsure
        self._unsure.discard(move.name)
        self._stale.add(move.name)
        if has_been_said and not move.with_data:
            return
        self._expect("RAI-208", move.name, since, f"nobody is told that {move.name} is stale", states=DISTURBED)

    def _restore(self, name: str) -> None:
        since, subject = self.node.broker.place, self._subject(name)
        mark = self._mark()
        data = {"BID": mark, f"F{mark % 3}": mark}
        self._source.values[subject] = data
        self._source.publish(subject, type="initial", format="json", data=data)
        self._expect("RAI-205", name, since, f"a whole value of {name} does not come out", mark=mark)
        self._mend(name)

    def _finish(self, name: str) -> None:
        since, subject = self.node.broker.place, self._subject(name)
        del self._source.values[subject]
        self._source.publish(subject, type="drop", status="expired")
        self._expect("RAI-209", name, since, f"{name} is not dropped, which has ended", states=("expired",))
        self._named = {each for each in self._named if each[1] != name}
        self._mend(name)

    def _expect(
        self, rule: str, name: str, since: int, what: str, *, mark: int | None = None, states: tuple[str, ...] = ()
    ) -> None:
        """Read until a subject is told of with a mark, or a status; raises ``Mismatch`` when it is not."""
        subject = self._subject(name)
        inboxes = tuple(f"_INBOX.{each.session}." for each in self._sessions)

        def is_such(event: Event) -> bool:
            is_told = event.form is Published and event.subject == subject
            if not is_told and not (event.subject.startswith(inboxes) and told(event).subject == subject):
                return False
            return (mark is None or fields(event).get("BID") == mark) and (not states or told(event).state in states)

        if self.node.broker.wait_for(is_such, since=since, thing="what is passed on") is None:
            raise Mismatch(rule, what)
        self.judged[rule] += 1
