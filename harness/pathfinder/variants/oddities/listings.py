"""Unusual, legal ways to list what there is."""

import time
from typing import Any

from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, NO_REASON
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.filters import parse, spell
from wire.pathfinder.values import Message


@oddity("PF-144", "PF-153", "PF-176", does="lists everything in the reverse order")
class ReverseLists(Server):
    def enumerate(self, session: Session, request: Message, found: list[Message]) -> None:
        super().enumerate(session, request, found[::-1])


@oddity("PF-148", does="lists filters as it spells them itself")
class RespelledFilters(Server):
    def describe_subscription(self, subscription: Subscription) -> Message:
        fields = dict(super().describe_subscription(subscription))
        if "filter" in fields:
            fields["filter"] = spell(parse(fields["filter"], deployed=self.deployed), deployed=self.deployed)
        return fields


@oddity("PF-225", does="lists addresses in another form")
class OtherAddresses(Server):
    def describe_client(self, session: Session) -> Message:
        fields = dict(super().describe_client(session))
        for name in ("client-addr", "client-address"):
            if name in fields:
                fields[name] = f"<{fields[name]}> via eth0"
        return fields


@oddity("PF-156", does="says of a bad filter in a list that the permission is denied")
class DeniesBadFilters(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        common = request["ta-cmd"] == "services" and reason in (NO_REASON, INVALID_FILTER_SYNTAX)
        super().fail(session, request, "permission-denied" if common else reason)


@oddity("PF-177", "PF-228", does="has a clock that is two minutes ahead")
class ClockAhead(Server):
    def __init__(self, **settings: Any) -> None:
        # Within what cases allow for clocks that differ.
        super().__init__(**settings, wall=lambda: time.time() + 120)
