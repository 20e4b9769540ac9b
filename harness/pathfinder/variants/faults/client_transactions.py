"""Faults of a client against Pathfinder, "Transactions"."""

from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.variants.faults.client_messages import RewritesRequests
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message, read_loosely


@fault("PF-083", does="answers the requests of a server")
class AnswersRequests(Client):
    def received(self, link: int, frame: bytes, now: float) -> None:
        fields = read_loosely(frame) or {}
        if fields.get("msg-type") == "request":
            # Under the number that the server has given.
            self.out.append((link, encode_message({**fields, "msg-type": "complete"})))
        else:
            super().received(link, frame, now)


@fault("PF-089", does="begins all its transactions at once")
class AllAtOnce(Client):
    def most_transactions(self) -> int:
        # More than the scenario has services.
        return 10_000


@fault("PF-091", does="gives every number to two transactions")
class NumbersForTwo(Client):
    def most_transactions(self) -> int:
        # Two under one number count as one here, so eighty wait: still fewer than the scenario allows (PF-089).
        return 40

    def pick_ta(self, state: ServerState) -> int:
        state.next_ta += 1
        # Two in a row have the same half.
        return state.next_ta // 2


@fault("PF-093", does="begins a ping with accept")
class AcceptsItsPing(RewritesRequests):
    asking = "ping"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"msg-type": "accept"}


@fault("PF-097", does="begins its listing of services with notify")
class NotifiesItsListing(RewritesRequests):
    asking = "services"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"msg-type": "notify"}
