"""What a publisher says in a history, held against what is known: what comes must be right, what is due come."""

from collections.abc import Callable
from typing import Any

import msgspec

from conformance.histories.mismatch import Mismatch
from conformance.histories.waiting import still_missing
from conformance.rai.histories.publisher_model import BAD, AskedFor, KnownGuest, PublisherModel
from conformance.rai.telling import fields, told
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.users import SERVED
from wire.rai.values import Auth, Dict, GetSubs, Hello, Published, Reply, Told, inbox, owner_of, tail_of

UNAVAILABLE = ("temp_unavail", "temp_unvail")
WHOLE = ("start", "initial", "verify")

BEAT = 20.0
"""Seconds between two heartbeats at most: one may come a whole interval late (R37)."""


class Due(msgspec.Struct):
    """Something that has to come of a move."""

    rule: str
    what: str
    is_it: Callable[[Event], bool]
    has_come: bool = False


class Accounts:
    """What has come since the last move, and what has to."""

    def __init__(self, node: NodeUnderTest, model: PublisherModel) -> None:
        self.node = node
        self.broker = node.broker
        self.model = model
        self.guests: dict[str, KnownGuest] = {}
        self.dues: list[Due] = []
        self.refreshing: set[str] = set()
        """Subjects of which images may come to whoever has asked for one before (R60)."""
        self.dropping: dict[str, str] = {}
        """The status with which each subject is dropped in this move."""
        self.several: set[str] = set()
        """Subjects of which several updates have become one."""
        self.recapped: dict[str, dict[str, Any]] = {}
        self.has_recap: set[str] = set()
        self.silent: dict[str, str] = {}
        """Sessions that are to be answered nothing in this move, with the rule that this would break."""
        self.blame: dict[str, str] = {}
        """By which rule the last thing that was done to a subject's subscriptions leaves the others alone."""
        self.releasing = False
        self._looked = 0
        self._beat: float | None = None

    @property
    def margin(self) -> float:
        """Seconds of the protocol on either side of each time."""
        return self.node.slack + 2.0

    def due(self, rule: str, what: str, is_it: Callable[[Event], bool]) -> None:
        """Have something be due."""
        self.dues.append(Due(rule, what, is_it))

    def begin_move(self) -> None:
        """Have nothing be due."""
        self.dues, self.refreshing, self.dropping, self.several = [], set(), {}, set()
        self.recapped, self.has_recap, self.silent, self.releasing = {}, set(), {}, False

    # --- what comes -----------------------------------------------------------------------------------------

    def look(self) -> None:
        """Judge what has come since; raises ``Mismatch``."""
        events = self.broker.received(since=self._looked)
        self._looked = self.broker.place
        for event in events:
            self._judge(event)
            for due in self.dues:
                if not due.has_come and due.is_it(event):
                    due.has_come = True

    def await_dues(self) -> None:
        """Read until all that is due has come; raises ``Mismatch``."""

        def missing() -> Mismatch | None:
            self.look()
            due = next((each for each in self.dues if not each.has_come), None)
            return None if due is None else Mismatch(due.rule, due.what, thing=due.rule)

        if difference := missing():
            timing = self.node.timing
            late = still_missing(missing, self._until, timing, now=self.broker.now(), patience=timing.patience)
            if late is not None:
                raise difference

    def _until(self, done: Callable[[], bool], until: float) -> bool:
        self.broker.read_until(done, until)
        return done()

    def _judge(self, event: Event) -> None:
        body = event.body
        match body:
            case Hello():
                self._judge_beat(event)
            case GetSubs():
                for each in self.guests.values():
                    if owner_of(event.subject) == each.driver.session:
                        each.question = body
            case Auth() | Dict():
                for session, rule in self.silent.items():
                    if rule == "RAI-161" and event.subject.startswith(inbox(session, "")):
                        raise Mismatch(rule, "a heartbeat or HELLO of long ago is answered by an auth message")
            case Reply():
                self._judge_reply(event, body)
            case Published() if event.subject.startswith(SERVED):
                self._judge_published(event, body, event.subject.removeprefix(SERVED))

    def _judge_beat(self, event: Event) -> None:
        if self._beat is not None and self.node.elapsed(self._beat, event.time) > BEAT + self.margin:
            raise Mismatch(
                "RAI-100", f"a heartbeat follows another after {self.node.elapsed(self._beat, event.time):.0f} s"
            )
        self._beat = event.time

    def check_beat(self) -> None:
        """See that the last heartbeat is not too long ago."""
        if self._beat is not None and self.node.elapsed(self._beat) > BEAT + self.margin:
            raise Mismatch("RAI-081", f"no heartbeat has come for {self.node.elapsed(self._beat):.0f} seconds")

    # --- replies --------------------------------------------------------------------------------------------

    def _judge_reply(self, event: Event, body: Reply) -> None:
        owner = owner_of(event.subject)
        for session, rule in self.silent.items():
            if owner == session:
                raise Mismatch(rule, f"it is answered to {session.partition('.')[0]} ({body.kind}, {body.state})")
        guest = next((each for each in self.guests.values() if each.driver.session == owner), None)
        if guest is None or not guest.is_here:
            return
        asked = guest.asked.get(tail_of(event.subject))
        if asked is None:
            if body.subject in {SERVED + each for each in self.refreshing}:
                return
            raise Mismatch("RAI-098", f"{guest.who} is answered at {tail_of(event.subject)}, which it has not given")
        if body.state == "ack":
            if not asked.ack:
                rule = "RAI-117" if asked.kind == "stop" else "RAI-110"
                raise Mismatch(rule, f"{guest.who} is sent an ack of {asked.name} that it has not asked for")
        elif guest.driver.user in self.model.denied:
            if body.has_data:
                raise Mismatch("RAI-148", f"{guest.who}, who may see nothing any more, is shown {asked.name}")
        elif asked.name not in self.refreshing and not asked.image and body.has_data:
            raise Mismatch("RAI-111", f"{guest.who} is shown {asked.name}, and has asked for no image")
        elif asked.image:
            if body.subject is not None and body.subject != SERVED + asked.name:
                raise Mismatch(
                    "RAI-098", f"{guest.who} is answered about {body.subject} where {asked.name} is asked for"
                )
            self.judge_image(asked.name, event, "RAI-134" if asked.kind == "snap" else "RAI-108", asked)

    def judge_image(self, name: str, event: Event, rule: str, asked: AskedFor | None = None) -> None:
        """See whether an image is right; ``rule`` is what it breaks where no other says more."""
        model, body = self.model, told(event)
        value = model.values.get(name)
        if name in model.blocked and asked is not None and name not in self.refreshing:
            if body.has_data or (body.state not in UNAVAILABLE and not model.is_down):
                raise Mismatch("RAI-147", f"{name}, whose source does not answer, is shown with {_shown(body)}")
            return
        if value is None:
            if name in model.warm and asked is not None:
                self._judge_verify(name, event, asked)
            elif body.has_data or body.state == "ok":
                raise Mismatch("RAI-138", f"{name}, which has no value, is shown with {_shown(body)}")
            return
        if not body.has_data:
            if not (value.is_new or (model.is_down and body.state in BAD)):
                raise Mismatch(rule, f"{name}, which has a value, is not shown: {_shown(body)}")
            return
        if not value.allows(fields(event), whole=True):
            raise Mismatch(rule, f"{name} is shown with {fields(event)}, and has {value.fields}")
        # Of what is published to all, answers tell how far it can be relied on.
        if asked is not None or value.state == "ok":
            self._judge_state(name, body, rule)
        self._judge_dictionary(name, body)

    def _judge_verify(self, name: str, event: Event, asked: AskedFor) -> None:
        body = told(event)
        if asked.kind == "snap":
            return
        if "verify" not in (body.kind, body.state):
            raise Mismatch("RAI-017", f"{name}, which is about to come, is answered by {_shown(body)}")
        if fields(event) not in ({}, self.model.warm[name]):
            raise Mismatch("RAI-017", f"a verify of {name} has {fields(event)}")

    def _judge_state(self, name: str, body: Told, rule: str) -> None:
        value = self.model.values[name]
        if body.state == "feed_switch":
            if value.state == "bad":
                value.state = "up"
            return
        is_bad = body.state in BAD
        if value.state == "bad" and not is_bad:
            why = "RAI-018" if self.model.is_down else "RAI-066"
            raise Mismatch(why, f"{name}, which is stale, is shown with {_shown(body)}")
        if value.state == "ok" and body.state not in ("ok", "verify"):
            raise Mismatch(rule, f"{name}, which is whole, is shown with {_shown(body)}")
        if value.state == "up" and not value.is_new:
            if body.state == "feed_down":
                raise Mismatch("RAI-018", f"{name} is shown with {_shown(body)} when the feed is up again")
            value.state = "bad" if is_bad else "ok"

    def _judge_dictionary(self, name: str, body: Told) -> None:
        model = self.model
        if not model.dictionary:
            return
        if body.dictionary != model.dictionary:
            raise Mismatch("RAI-149", f"an image of {name} names the dictionary {body.dictionary}")
        model.names[model.version] = model.dictionary
        known = model.checksums.setdefault(model.version, body.dict_csum)
        if known != body.dict_csum:
            raise Mismatch("RAI-150", f"images name {known} and {body.dict_csum} for one version of a dictionary")
        for version, checksum in model.checksums.items():
            if version != model.version and model.names[version] == model.dictionary and checksum == known:
                raise Mismatch("RAI-150", f"two versions of a dictionary have the checksum {known}")

    # --- what is published ----------------------------------------------------------------------------------

    def _judge_published(self, event: Event, body: Published, name: str) -> None:
        if name not in self.model.values and name not in self.dropping and body.kind != "drop":
            if body.has_data and name not in self.model.warm:
                raise Mismatch("RAI-009", f"{name}, which has no value, is published with {_shown(body)}")
            return
        if body.kind == "drop":
            self._judge_drop(event, body, name)
        elif name not in self.model.values:
            return
        elif body.kind in WHOLE and body.has_data:
            self.judge_image(name, event, "RAI-011")
        elif body.kind == "recap":
            self.has_recap.add(name)
            self._judge_fields(event, name, "RAI-022")
            self.recapped.setdefault(name, {}).update(fields(event))
        elif body.has_data:
            self._judge_update(event, body, name)
        elif body.state in BAD and self.model.values[name].state == "ok":
            raise Mismatch("RAI-014", f"{name}, which is whole, is said to be {body.state}")

    def _judge_fields(self, event: Event, name: str, rule: str) -> None:
        if not self.model.values[name].allows(fields(event), whole=False):
            raise Mismatch(rule, f"{name} is published with {fields(event)}, and has {self.model.values[name].fields}")

    def _judge_update(self, event: Event, body: Published, name: str) -> None:
        self._judge_fields(event, name, "RAI-023" if self.releasing else "RAI-009")
        if self.model.values[name].state != "ok":
            return
        if body.state in BAD:
            raise Mismatch("RAI-139", f"an update of {name}, which is whole, says {body.state}")
        if name in self.several and body.state != "conflated":
            raise Mismatch("RAI-023", f"of {name} several updates have become one, which says {body.state}")

    def _judge_drop(self, event: Event, body: Published, name: str) -> None:
        if body.state != "nosubscribers":
            if self.dropping.get(name) != body.state:
                raise Mismatch("RAI-142", f"{name} is dropped with {body.state}")
            return
        model = self.model
        for who in model.holders(name):
            its, guest = model.named[who, name], self.guests[who]
            is_early = self.node.elapsed(guest.heard, event.time) < its.least - self.margin
            if its.sure or (its.firm and is_early):
                rule = self.blame.get(name, "RAI-137")
                raise Mismatch(rule, f"{name} is dropped, though {who} has subscribed it")
        for who in model.holders(name):
            del model.named[who, name]


def _shown(body: Told) -> str:
    data = " and data" if body.has_data else ""
    return f"type {body.kind}, status {body.state}{data}"
