"""Playing with a subscriber: its application changes its mind, publishers come and go, and somebody forges.

What the application is told is held against what it may have been told by then.
"""

from contextlib import suppress

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.subscriber_moves import (
    Answers,
    ComesAgain,
    Gives,
    GoesQuiet,
    Holds,
    Inquires,
    IsEnded,
    IsForged,
    LooksOnce,
    Outage,
    Proves,
    Renews,
    SaysStatus,
    Shows,
    SubscriberMove,
    Subscribes,
    SubscribesAll,
    TimePasses,
    Unsubscribes,
    UnsubscribesAll,
    Updates,
)
from conformance.rai.histories.subscriber_publishers import Coming
from conformance.rai.histories.subscriber_publishing import Speaking
from conformance.rai.histories.subscriber_sources import OWNERS
from conformance.rai.histories.subscriber_values import NONE, ToldValue
from harness.errors import ControlFailed
from wire.rai.values import (
    SNAP,
    STOP,
    SnapRequest,
    SubStart,
    SubStop,
)

AHEAD = {"SNAPPED": 1}
"""What a snapshot may have beyond what was published."""


class SubscriberPlay(Speaking, Coming):
    """A history in the course of being played."""

    def fits(self, move: SubscriberMove) -> bool:
        """Tell whether a move can be made as things are."""
        match move:
            case _ if self._has_ended:
                return False
            case Subscribes(name=name):
                return name not in self._wanted and name not in self._limbo
            case Unsubscribes(name=name):
                return name in self._wanted or name in self._limbo
            case SubscribesAll(wildcard=wildcard):
                return wildcard not in self._wild and "wildcards" not in self.can.lacks
            case UnsubscribesAll(wildcard=wildcard):
                return wildcard in self._wild
            case LooksOnce(name=name):
                # Of two questions for one subject that are open, an answer may be taken for either's.
                return "snapshots" not in self.can.lacks and not self._asked_snaps[name]
            case IsForged(name=name):
                return self._is_told(name)
            case SaysStatus(name=name) | Shows(name=name):
                return name in self._owner(name).values
            case Gives(name=name, new=new):
                is_free = not new or (new not in self._wanted and new not in self._limbo)
                return name in self._owner(name).values and name in self._wanted and is_free
            case ComesAgain(name=name):
                return bool(self._sent.get(name))
            case Inquires(beats=beats):
                return "lists" not in self.can.lacks and beats < len(self._greetings)
            case Holds(who=who):
                return not self.sources[who].is_holding
            case Answers(who=who):
                return self.sources[who].is_holding
            case _:
                return True

    def do(self, move: SubscriberMove) -> None:
        """Make a move and compare; raises ``Mismatch``."""
        match move:
            case Subscribes():
                self._want(move)
            case Unsubscribes(name=name):
                self._leave(name)
            case SubscribesAll(wildcard=wildcard):
                self._want_all(wildcard)
            case UnsubscribesAll(wildcard=wildcard):
                self._leave_all(wildcard)
            case LooksOnce():
                self._snap(move)
            case Updates():
                self._update(move)
            case SaysStatus():
                self._say(move)
            case Shows():
                self._show(move)
            case Gives():
                self._give(move)
            case Inquires():
                self._inquire(move)
            case Renews():
                self._renew(move)
            case GoesQuiet():
                self._fall_silent(move)
            case Proves(who=who):
                self.sources[who].prove_again()
                self.judged["RAI-087"] += 1
            case ComesAgain():
                self._replay(move)
            case IsForged(name=name, ways=ways):
                for way in ways:
                    self._forge(name, way)
            case Holds(who=who):
                self.sources[who].hold()
            case Answers(who=who, is_reversed=is_reversed):
                self._answer(self.sources[who], is_reversed)
            case TimePasses(seconds=seconds):
                self.node.source.pause(seconds)
                self._let_wait()
            case Outage():
                self._outage()
                self._let_wait()
            case IsEnded():
                self._end()
        self._settle()

    # --- the application ----------------------------------------------------------------------------------

    def _want(self, move: Subscribes) -> None:
        name = move.name
        since = self.node.source.place
        value = self.telling.values.get(name)
        # What a wildcard has brought may still be known, or be asked for anew.
        self.telling.values[name] = ToldValue([*(value.states if value else ()), NONE])
        self._since[name] = self._witness.broker.utc()
        self.node.command(move.verb, name)
        self._wanted[name] = move.verb
        start = self._witness.started(name, since=since)
        if start is None:
            raise Mismatch("RAI-001", f"{name} is subscribed and not started", thing="a start")
        self.judged["RAI-001"] += 1
        if isinstance(start.body, SubStart) and start.body.ack and not self._owner(name).is_holding:
            self.telling.expect_ack(name, "start")

    def _leave(self, name: str) -> None:
        since = self.node.source.place
        is_sure = name in self._wanted
        # What was dropped for good may be subscribed no more.
        with suppress(*(() if is_sure else (ControlFailed,))):
            self.node.command("unsubscribe", name)
        self._wanted.pop(name, None)
        # What was dropped for good, and a wildcard brings: it may have been told of since, and be known.
        if not self._is_wild(name):
            self._limbo.discard(name)
            self.telling.values.pop(name, None)
        elif name not in self._limbo:
            value = self.telling.values.setdefault(name, ToldValue())
            value.lose()
        if not is_sure:
            return
        stop = self.node.source.wait_for(
            lambda event: event.form is SubStop and event.subject == STOP + name, since=since, thing="a stop"
        )
        if stop is None:
            raise Mismatch("RAI-005", f"{name} is unsubscribed and not stopped", thing="a stop")
        if isinstance(stop.body, SubStop) and stop.body.ack and not self._owner(name).is_holding:
            self.telling.expect_ack(name, "stop")

    def _want_all(self, wildcard: str) -> None:
        since = self.node.source.place
        self._since[wildcard] = self._witness.broker.utc()
        self.node.command("psubscribe", wildcard)
        self._wild[wildcard] = self._since[wildcard]
        if self._witness.started_wild(wildcard, since=since) is None:
            raise Mismatch("RAI-119", f"{wildcard} is subscribed and not started", thing="a start of a wildcard")

    def _leave_all(self, wildcard: str) -> None:
        self.node.command("punsubscribe", wildcard)
        del self._wild[wildcard]
        for name in [each for each in self.telling.values if each not in self._wanted and not self._is_wild(each)]:
            del self.telling.values[name]

    def _snap(self, move: LooksOnce) -> None:
        source = self._owner(move.name)
        if move.is_ahead and move.name in source.values:
            fields, _ = source.values[move.name]
            self._ahead = {move.name: fields | AHEAD}
        since = self.node.source.place
        self._asked_snaps[move.name] += 1
        self.node.command("snapshot", move.name)
        asked = self.node.source.wait_for(
            lambda event: event.form is SnapRequest and event.subject == SNAP + move.name, since=since, thing="a snap"
        )
        if asked is None:
            raise Mismatch("RAI-196", f"a snapshot of {move.name} is not asked for", thing="a snap")

    def _end(self) -> None:
        self.node.command("end")
        self._has_ended = True
        self._wanted.clear()
        self._wild.clear()
        self._limbo.clear()
        self.telling.values.clear()
        self.node.source.read(self.node.timing.glance)
        for name in OWNERS:
            self._publish(name, self._owner(name).now, self._fresh())
