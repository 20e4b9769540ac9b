"""What becomes of publishers in a history of a subscriber: they leave, come back, and ask what is subscribed."""

from conformance.histories.mismatch import Mismatch
from conformance.rai.feeds import starts
from conformance.rai.histories.subscriber_moves import (
    GoesQuiet,
    Inquires,
    Renews,
)
from conformance.rai.histories.subscriber_scene import MARK, Scene
from conformance.rai.histories.subscriber_sources import Source
from harness.rai.tester.driver import TestSession
from harness.rai.tester.node_under_test import NodeUnderTest
from wire.rai.values import (
    GET_SUBS,
    START,
    GetSubs,
    Subs,
    SubStart,
    WildStart,
    inbox,
    owner_of,
)
from wire.subjects import matches

LATER = 2_000_000
"""Microseconds by which a subscription has to be later than a greeting, to be one of those since."""


class Coming(Scene):
    """A history in which publishers come and go."""

    def _renew(self, move: Renews) -> None:
        source = self.sources[move.who]
        old = source.now
        old.stop_beating()
        if move.bye == "before":
            old.bye()
        since = self.node.source.place
        self._doubt(old.session)
        source.begin()
        if move.bye == "after":
            old.bye()
        self._said_again(since, source)

    def _fall_silent(self, move: GoesQuiet) -> None:
        source = self.sources[move.who]
        session = source.now
        session.stop_beating()
        self.node.source.pause(move.seconds)
        self._doubt(session.session)
        session.beats = True
        session.beat()
        source.prove_again()

    def _doubt(self, session: str) -> None:
        """Take note that what a session has told of may be stale from now on."""
        for value in self.telling.values.values():
            if session in value.sources:
                value.cause = "RAI-156", "the end of a session"
                value.doubt()

    def _said_again(self, since: int, source: Source) -> None:
        """Demand that all that is subscribed is said to a publisher that is new, where that is done at all."""
        if "restarts" in self.can.lacks:
            return
        # Of what another publisher has told, it need not hear: that one is there.
        wanted = [*(each for each in self._wanted if self._owner(each) is source), *self._wild]
        missing = list(wanted)

        def is_complete() -> bool:
            said = _started_since(self.node, since)
            missing[:] = [each for each in wanted if each not in said]
            return not missing

        broker = self.node.source
        broker.read_until(is_complete, broker.now() + self.node.timing.patience)
        if missing:
            raise Mismatch("RAI-203", f"{missing[0]} is not said to be subscribed to a new session of {source.user}")
        self.judged["RAI-203"] += 1
        for name, verb in self._wanted.items():
            value = self.telling.values[name]
            if (
                self._owner(name) is source
                and verb == "subscribe"
                and value.told
                and value.told[0] == "stale"
                and not _images_since(self.node, since, name)
            ):
                raise Mismatch(
                    "RAI-203", f"{name} is stale, and is started without asking a new publisher for an image"
                )

    def _outage(self) -> None:
        for source in self.sources.values():
            source.now.stop_beating()
        self.node.outage()
        self._looked_at = 0
        self._greetings = []
        for value in self.telling.values.values():
            value.cause = "RAI-204", "an outage of the broker"
            value.doubt()
        self._witness.is_serving = False
        for source in self.sources.values():
            source.is_holding = False
            source.begin()
        for source in self.sources.values():
            self._said_again(0, source)

    # --- questions for subscriptions ----------------------------------------------------------------------

    def _inquire(self, move: Inquires) -> None:
        source = self.sources[move.who]
        to, _ = self.node.greeted(self.node.source)
        last_seen = self._greetings[-move.beats] if move.beats else 0
        returned = f"asked.{source.now.new_return()}"
        since = self.node.source.place
        source.now.say(inbox(to, GET_SUBS), GetSubs(return_=returned, last_seen=last_seen, wildcard=move.wildcard))
        everything = {*self._wanted, *self._wild, MARK}
        wanted = {
            name
            for name in (*self._wanted, *(self._wild if move.wildcard == ">" else ()))
            if (name in self._wild or matches(move.wildcard, name)) and self._since[name] > last_seen + self._margin()
        }

        def named() -> set[str]:
            return _listed_since(self.node, since, source.now)

        broker = self.node.source
        broker.read_until(lambda: named() >= wanted, broker.now() + self.node.timing.patience)
        if missing := wanted - named():
            rule = "RAI-126" if last_seen else "RAI-128"
            raise Mismatch(rule, f"{min(missing)} is subscribed, and is not sent to who asks for {move.wildcard}")
        self.judged["RAI-126"] += 1
        self._settle()
        for name in named() - self._limbo - self._wild.keys():
            if name not in everything:
                raise Mismatch("RAI-126", f"{name} is sent to who asks for subscriptions, and is not subscribed")
            if not matches(move.wildcard, name):
                raise Mismatch("RAI-130", f"{name} is sent to who asks for {move.wildcard}")

    def _margin(self) -> int:
        return LATER + round(self.node.slack * 1_000_000)


def _started_since(node: NodeUnderTest, since: int) -> set[str]:
    """Return what the node has said to be subscribed."""
    said: set[str] = set()
    for event in node.source.received(SubStart, WildStart, Subs, since=since):
        if isinstance(event.body, WildStart):
            said.add(event.body.subject)
        elif isinstance(event.body, Subs):
            said.update(event.body.subs)
        else:
            said.add(event.subject.removeprefix(START))
    return said


def _images_since(node: NodeUnderTest, since: int, name: str) -> bool:
    """Tell whether the node has asked for an image of a subject."""
    return any(
        starts(event, name) and getattr(event.body, "initial", False)
        for event in node.source.received(SubStart, Subs, since=since)
    )


def _listed_since(node: NodeUnderTest, since: int, to: TestSession) -> set[str]:
    """Return what the node has answered to a publisher that has asked for its subscriptions."""
    listed = {
        name
        for event in node.source.received(Subs, since=since)
        if owner_of(event.subject) == to.session
        for name in getattr(event.body, "subs", ())
    }
    return listed | {
        event.body.subject
        for event in node.source.received(WildStart, since=since)
        if isinstance(event.body, WildStart)
    }
