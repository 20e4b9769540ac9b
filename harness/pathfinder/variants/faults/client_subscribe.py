"""Faults of a client against Pathfinder, "Subscribe Command" and "Unsubscribe Command"."""

from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import MatchedService, MatchSource
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.variants.faults.client_messages import RewritesRequests
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


class Deaf(Client):
    """A client that overlooks some matches."""

    def receives(self, match: Message) -> bool:
        """Tell whether the client takes note of a match."""
        return True

    def on_match(self, source: MatchSource, match: Message) -> None:
        if match["match-type"] == "disappeared" or self.receives(match):
            super().on_match(source, match)


@fault("PF-005", does="overlooks services whose properties are not plain ASCII")
class HearsAsciiOnly(Deaf):
    def receives(self, match: Message) -> bool:
        return str(match["service-props"]).isascii()


@fault("PF-013", does="overlooks services that have no properties")
class HearsPropertiesOnly(Deaf):
    def receives(self, match: Message) -> bool:
        return bool(match["service-props"])


@fault("PF-077", does="understands JSON only as it spells it itself")
class HearsOneSpelling(Client):
    def received(self, link: int, frame: bytes, now: float) -> None:
        # Line breaks and the escape of an s are what the cases' other spellings have.
        if b"\n" not in frame and b"\\u0073" not in frame:
            super().received(link, frame, now)


@fault("PF-104", does="overlooks orphans")
class HearsNoOrphans(Deaf):
    def receives(self, match: Message) -> bool:
        return "orphan-since" not in match


@fault("PF-201", does="reads numbers as floating point")
class HearsFloatingPoint(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        # To a double and back: integers from 2**53 on become others.
        super().see(int(float(service)), source, latest, match_type)


@fault("PF-124", does="subscribes without the filter that it was given")
class SubscribesWithoutFilter(RewritesRequests):
    asking = "subscribe"

    def rewrite(self, message: dict[str, Any]) -> Message:
        message.pop("filter", None)
        return message


@fault("PF-124", does="subscribes with an empty filter where it was given none")
class SubscribesWithEmptyFilter(RewritesRequests):
    asking = "subscribe"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return {"filter": ""} | message


@fault("PF-125", does="leaves the subscription-id out")
class SubscribesWithoutId(RewritesRequests):
    asking = "subscribe"

    def rewrite(self, message: dict[str, Any]) -> Message:
        del message["subscription-id"]
        return message


@fault("PF-135", does="ends its subscriptions on all servers at the first one")
class EndsAllAtTheFirst(Client):
    def unsubscribe(self, state: ServerState, now: float) -> None:
        super().unsubscribe(state, now)
        first = self.server_states[0]
        # What was to be ended at this server is asked of the first.
        if state is not first:
            first.queue.extend(state.queue)
            state.queue.clear()
            self.go_on(first, now)


@fault("PF-136", does="adds the filter to its unsubscribe")
class UnsubscribesFilters(RewritesRequests):
    asking = "unsubscribe"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"filter": "(name=goldwire)"}
