"""Unusual clients: how they come, go and number what they ask."""

from collections.abc import Iterable
from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.server_state import ClientRequest, ServerState
from harness.pathfinder.variants.registry import oddity
from wire.json.strict import MOST


@oddity("PF-046", "PF-220", does="comes back two seconds after a loss")
class ComesBackSlowly(Client):
    # Longer than the reference ever waits.
    def reconnects_after(self, state: ServerState) -> float:
        return 2.0


@oddity("PF-046", "PF-220", does="comes back at once, always")
class ComesBackAtOnce(Client):
    def reconnects_after(self, state: ServerState) -> float:
        # As soon as can be, without spinning in virtual time.
        return 0.001


@oddity("PF-009", "PF-042", does="connects to one server after the other, from behind")
class ConnectsFromBehind(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for place, state in enumerate(reversed(self.server_states)):
            # Far enough apart to be seen as one after the other.
            state.dial_at = 0.4 * place + 0.001


@oddity("PF-223", does="ends the connection on which its hello was refused, and tries again on another")
class LeavesWhenRefused(Client):
    def greet_again(self, state: ServerState, now: float) -> None:
        self.hang_up(state, now)
        self.try_again(state, now)


@oddity("PF-219", does="says hello twice on each connection, and means it")
class SaysHelloTwice(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.again: set[int | None] = set()

    def on_greeted(self, state: ServerState, now: float) -> None:
        if state.link not in self.again:
            self.again.add(state.link)
            super().on_greeted(state, now)
            self.greet(state, now)


@oddity("PF-113", does="offers the versions 1 to 5")
class OffersManyVersions(Client):
    def hello_range(self) -> tuple[int, int]:
        return 1, 5


@oddity("PF-046", does="subscribes before it publishes, and publishes its newest service first")
class PublishesFromBehind(Client):
    def on_greeted(self, state: ServerState, now: float) -> None:
        # extendleft turns the order round: subscriptions come first, and the newest service.
        state.queue.extendleft([*self.republish(state), *self.resubscribe(state)])


@oddity("PF-089", does="has at most two transactions under way")
class AsksSlowly(Client):
    def most_transactions(self) -> int:
        return 2


@oddity("PF-091", does="numbers its transactions from above")
class CountsDown(Client):
    def pick_ta(self, state: ServerState) -> int:
        state.next_ta += 1
        return MOST - state.next_ta


@oddity("PF-091", does="uses the smallest number that is free")
class ReusesFreeNumbers(Client):
    def pick_ta(self, state: ServerState) -> int:
        return next(ta for ta in range(len(state.live) + 1) if ta not in state.live)


@oddity("PF-031", does="is back long before half of the ttl has passed")
class ComesBackEarly(Client):
    def half_life(self, records: Iterable[Any]) -> float:
        return super().half_life(records) / 10


@oddity("PF-142", "PF-149", "PF-174", "PF-181", does="asks for more than it was told to")
class AsksOnTheSide(Client):
    def on_greeted(self, state: ServerState, now: float) -> None:
        super().on_greeted(state, now)
        asked = ("ping", "clients", "services", "subscriptions")
        # With what it finds out it does nothing: only that it may ask is the point.
        state.queue.extend(ClientRequest(command) for command in asked)


@oddity("PF-046", does="gives a server up that has not answered for three seconds")
class ImpatientClient(Client):
    def patience(self) -> float:
        return 3.0
