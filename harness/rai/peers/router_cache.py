"""The reference router-cache: a subscriber on one broker, a publisher on another, and a cache between the two.

::

    source's broker ──► front (a subscriber) ──► cache ──► back (a publisher) ──► subscribers' broker

What is asked of the back and is not in the cache is asked of the source by the front; until that answers, it waits.
"""

from collections.abc import Iterator
from typing import Any

from harness.peers.peer import Dialler, PeerSettings
from harness.rai.peers.cache import OK, Record
from harness.rai.peers.interests import Subscription
from harness.rai.peers.known import Known
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.subscriber import WHOLE, Subscriber, Wanted
from harness.rai.users import ROUTER
from wire.rai.values import Message, Publish, Reply, Return, Told, WildStart

PATIENCE = 5.0
"""Seconds for the source to answer, before who asks is told that the subject is not available for now."""

SOURCE, SUBSCRIBERS = 0, 1
"""The brokers, as they are numbered."""


class Back(Publisher):
    """The half of a router-cache that publishes: its source is the front."""

    user = ROUTER
    verbs = ()
    front: "Front"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.waiting: dict[str, list[tuple[str, Known, Return, float]]] = {}
        """Who waits for an image of a subject: the type of the answer, who, where to, and until when."""

    def subscribe(self, subject: str, subscription: Subscription, other: Known, now: float) -> None:
        super().subscribe(subject, subscription, other, now)
        if subject not in self.front.wanted:
            self.front.subscribe(subject, now)

    def show(self, kind: str, subject: str, returned: Return, other: Known, now: float) -> None:
        if subject in self.records or self.refusal(subject, other):
            super().show(kind, subject, returned, other, now)
            return
        self.waiting.setdefault(subject, []).append((kind, other, returned, now + PATIENCE))
        # Who subscribes has made the front ask already.
        if kind == "snap":
            self.front.do_snapshot(now, subject)

    def answered(self, subject: str, status: str, body: Told) -> None:
        """Take an answer of the source's: whoever waits for it has it."""
        for kind, other, returned, _ in self.waiting.pop(subject, []):
            if self.others.get(other.session) is other:
                given: dict[str, Any] = {"status": None if status == OK else status}
                if body.has_data:
                    given |= {"format": body.format, "data": body.data, "dictionary": body.dictionary}
                    given |= {"dict_csum": body.dict_csum}
                self.reply(other, returned, Reply(type=kind, subject=subject, **given))

    def start_wild(self, body: WildStart, other: Known, now: float) -> None:
        super().start_wild(body, other, now)
        if self.interests.wild and body.subject not in self.front.wild:
            self.front.subscribe_wild(body.subject, now)

    def end_wild(self, other: Known, wildcard: tuple[str, str]) -> None:
        super().end_wild(other, wildcard)
        is_wanted = any(wildcard[0] == subject for its in self.interests.wild.values() for subject, _ in its)
        if not is_wanted and wildcard[0] in self.front.wild:
            self.front.unsubscribe_wild(wildcard[0])

    def drop_unwanted(self, subject: str) -> None:
        super().drop_unwanted(subject)
        if not self.interests.is_wanted(subject) and subject in self.front.wanted:
            # What nobody keeps up to date is not kept at all.
            self.records.pop(subject, None)
            self.front.unsubscribe(subject)

    def lost(self, now: float) -> None:
        super().lost(now)
        self.waiting.clear()

    def timers(self) -> Iterator[float]:
        yield from super().timers()
        for waiting in self.waiting.values():
            yield from (until for *_, until in waiting)

    def tick(self, now: float) -> None:
        super().tick(now)
        for subject in [each for each, waiting in self.waiting.items() if any(now >= until for *_, until in waiting)]:
            self.answered(subject, "temp_unavail", Reply())


class Front(Subscriber):
    """The half of a router-cache that subscribes: it has no application but the back."""

    user = ROUTER
    verbs = ()
    back: Back

    def tell(self, *words: str) -> None:
        """Tell nobody: what is to be known is known to the back."""

    def apply(self, subject: str, wanted: Wanted, body: Told, other: Known, now: float) -> None:
        super().apply(subject, wanted, body, other, now)
        fields, record = body.fields, wanted.record
        if fields is None or record is None:
            return
        known = self.back.records.get(subject)
        if body.kind in WHOLE:
            kept = self.back.records[subject] = Record(dict(record.fields), record.status)
            kept.changed = dict.fromkeys(kept.fields, now)
            if known is not None:
                self.back.refresh(subject)
            self.back.answered(subject, record.status, body)
        else:
            if known is None:
                known = self.back.records[subject] = Record({}, record.status)
            known.update(fields, now)
            known.status = record.status
            self.back.publish_if_wanted(subject, self.passed_on(body))

    def passed_on(self, body: Told) -> Publish:
        """Return what the back publishes of an update."""
        return Publish(type=body.type, status=body.status, data=body.data)

    def take_reply(self, message: Message, body: Reply, other: Known, now: float) -> None:
        super().take_reply(message, body, other, now)
        what, subject = self.asked.get(message.subject.rpartition(".")[2], ("", ""))
        if what == "snapshot":
            self.back.answered(subject, body.state, body)

    def take_status(self, subject: str, wanted: Wanted, body: Told) -> None:
        super().take_status(subject, wanted, body)
        self.back.answered(subject, body.state, body)

    def mark(self, subject: str, wanted: Wanted, status: str) -> None:
        is_news = wanted.record is not None and wanted.record.status != status
        super().mark(subject, wanted, status)
        if is_news:
            self.back.tell_state(subject, status)

    def take_drop(self, subject: str, wanted: Wanted, body: Publish, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        if body.state != "nosubscribers":
            self.back.end_subject(subject, Publish(type="drop", status=body.status, text=body.text))
            self.wanted.pop(subject, None)


class RouterCache(Dialler):
    """A router-cache; ``command`` takes the verbs of docs/rai.md."""

    role = "router-cache"
    verbs = ("end",)
    front_half: type[Front] = Front
    back_half: type[Back] = Back

    def __init__(
        self,
        *,
        profile: str = "document",
        scenario: str = "",
        servers: int = 2,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        # Each half is a session of its own, and no two sessions are alike.
        self.front = self.front_half(profile=profile, seed=seed, **settings)
        self.back = self.back_half(profile=profile, seed=None if seed is None else ~seed, **settings)
        self.front.back, self.back.front = self.back, self.front
        self._halves = (self.front, self.back)
        self._of_link: dict[int, Front | Back] = {}

    @classmethod
    def of(cls, settings: PeerSettings) -> "RouterCache":
        return cls(profile=settings.profile, epoch=settings.epoch, seed=settings.seed)

    def dials(self, now: float) -> list[int]:
        return [server for server, half in enumerate(self._halves) if half.dials(now)]

    def refused(self, server: int, now: float) -> None:
        self._halves[server].refused(0, now)

    def reached(self, server: int, link: int, now: float) -> None:
        self._of_link[link] = self._halves[server]
        self._halves[server].reached(0, link, now)

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        """Take note of nothing: it is told which broker it has reached."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        self._of_link[link].received(link, frame, now)

    def disconnected(self, link: int, now: float) -> None:
        self._of_link.pop(link).disconnected(link, now)

    def tick(self, now: float) -> None:
        for half in self._halves:
            half.tick(now)

    def next_tick(self) -> float | None:
        return min((at for half in self._halves if (at := half.next_tick()) is not None), default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        for half in self._halves:
            yield from half.drain(now)

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        if verb != "end":
            return super().command(verb, arguments, now)
        for half in self._halves:
            half.end(now)
        return ""
