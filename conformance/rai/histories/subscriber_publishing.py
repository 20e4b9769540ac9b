"""What publishers say of subjects in a history of a subscriber, and what somebody forges."""

from typing import Any

from msgspec.structs import replace

from conformance.histories.mismatch import Mismatch
from conformance.rai.feeds import starts
from conformance.rai.histories.subscriber_moves import (
    ComesAgain,
    Gives,
    SaysStatus,
    Shows,
    Updates,
)
from conformance.rai.histories.subscriber_scene import MARK, Scene
from conformance.rai.histories.subscriber_sources import FORGER, OWNERS, unproven
from conformance.rai.histories.subscriber_telling import FORGED
from conformance.rai.histories.subscriber_values import NONE, OPEN, VERIFY, ToldValue
from wire.rai.values import (
    Published,
    encoded,
    object_of,
)

AGAIN = 35.0
"""Seconds within which what was dropped for want of subscribers is started again."""

MOST_REPLAYED = 8
"""Messages of a subject that are replayed together."""


class Speaking(Scene):
    """A history in which publishers tell of subjects."""

    def _update(self, move: Updates) -> None:
        for _ in range(move.times):
            for name in move.names:
                source = self._owner(name)
                fields, status = source.values.get(name, ({}, "ok"))
                news = self._fresh()
                changed = {key: news[key] for key in (("BID",), ("ASK", "BID"), tuple(news))[self._number % 3]}
                if move.is_null:
                    changed = {next(iter(fields), "BID"): None, "LAST": self._number}
                disturbed = move.status if move.status in ("stale", "feed_down") else status
                source.values[name] = fields | changed, disturbed
                self._publish(name, source.now, changed, **({"status": move.status} if move.status else {}))
                if value := self._value(name):
                    value.cause = "RAI-155", f"an update{f' with status {move.status}' * bool(move.status)}"
                    value.update(changed, move.status, source.now.session)

    def _say(self, move: SaysStatus) -> None:
        source = self._owner(move.name)
        fields, _ = source.values[move.name]
        members: dict[str, Any] = {"type": move.type, "status": move.status} if move.type else {"status": move.status}
        value = self._value(move.name)
        if value and (move.status == "temp_unavail" or all(each.fields is None for each in value.states)):
            self.telling.expect_status(move.name, move.status)
        self._publish(move.name, source.now, **members)
        if move.status in ("stale", "feed_down"):
            source.values[move.name] = fields, move.status
        if value:
            value.cause = "RAI-156", f"a message with status {move.status} and no data"
            if move.status in ("stale", "feed_down", "feed_switch", "temp_unavail"):
                value.mark(move.status)

    def _show(self, move: Shows) -> None:
        source = self._owner(move.name)
        fields, _ = source.values[move.name]
        news = dict(list(fields.items())[1:]) | self._fresh()
        is_disturbed = move.status in ("stale", "feed_down")
        source.values[move.name] = news, move.status if is_disturbed else "ok"
        members: dict[str, Any] = {"type": move.type} | ({"status": move.status} if move.status else {})
        self._publish(move.name, source.now, news, **members)
        if value := self._value(move.name):
            value.cause = "RAI-158", f"an image of type {move.type}{f' and status {move.status}' * bool(move.status)}"
            value.early = {}
            how = OPEN if move.status == "feed_switch" else VERIFY if "verify" in (move.type, move.status) else "ok"
            value.image(news, "stale" if is_disturbed else how, source.now.session)

    def _give(self, move: Gives) -> None:
        source = self._owner(move.name)
        name, since = move.name, self.node.source.place
        truth = source.values[name]
        if move.status != "nosubscribers":
            del source.values[name]
        if move.new:
            source.values[move.new] = truth
        members: dict[str, Any] = {"text": move.new, "subject": move.new} if move.new else {}
        self.telling.expect_drop(name, move.status, move.new)
        self._publish(name, source.now, type="drop", status=move.status, **members)
        value = self._value(name)
        if move.status in ("expired", "relocate"):
            self._limbo.add(name)
            verb = self._wanted.pop(name)
            self.telling.values.pop(name, None)
            if move.new and "renames" not in self.can.lacks:
                self._follow(move.new, verb, since)
            return
        if value:
            value.lose()
        if move.status == "nosubscribers":
            self._started_again(name, since)

    def _follow(self, new: str, verb: str, since: int) -> None:
        brought = self._is_wild(new)
        now = self._witness.broker.utc()
        start = self.node.source.wait_for(
            lambda event: starts(event, new), since=since, thing="a start of what was renamed"
        )
        if start is None:
            if not brought:
                raise Mismatch("RAI-195", f"what has become {new} is not followed, as it is at other times")
            return
        self._wanted[new] = verb if getattr(start.body, "initial", False) else "listen"
        self._since[new] = now
        before = self.telling.values.get(new)
        self.telling.values[new] = ToldValue([*(before.states if before else ()), NONE])
        self.judged["RAI-195"] += 1

    def _started_again(self, name: str, since: int) -> None:
        found = self.node.source.wait_for(
            lambda event: starts(event, name),
            since=since,
            seconds=self.node.timing.within(AGAIN),
            thing="a start after a drop",
        )
        if found is None:
            raise Mismatch(
                "RAI-013", f"{name}, which was dropped for want of subscribers, is not started again", thing="restart"
            )
        self.judged["RAI-013"] += 1

    # --- what counts for nothing --------------------------------------------------------------------------

    def _replay(self, move: ComesAgain) -> None:
        sent = self._sent[move.name]
        again = sent[-MOST_REPLAYED:] if move.place is None else [sent[max(0, len(sent) - 1 - move.place)]]
        self.telling.blame(move.name, "RAI-073", "a message that was published again")
        for message in again:
            self._witness.send(message)

    def _forge(self, name: str, way: str) -> None:
        session = self._owner(name).now
        body = Published(format="json", data=object_of({FORGED: way}))
        match way:
            case "digest":
                message = session.message(name, body, digest="A" * 22)
            case "key":
                message = session.message(name, body, key=self._witness.key)
            case "subject":
                session.send(session.message(MARK + ".other", body), name)
                return
            case "data":
                message = replace(session.message(name, Published(format="json")), signed=encoded(body), body=body)
            case "seqno":
                made = session.message(name, body)
                message = replace(made, seqno=made.seqno + 9)
            case "stranger":
                message = self.node.source_session("mallory").message(name, body)
            case _:
                user = FORGER if way == "other" else OWNERS[name]
                message = unproven(self.node, user, greets=way != "unmet").message(name, body)
        session.send(message)
