"""Faults of a client against Pathfinder, "Hello Command"."""

from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.server_state import ClientRequest, ServerState
from harness.pathfinder.variants.faults.client_messages import RewritesRequests
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-063", does="makes two connections to each server")
class TwoConnections(Client):
    def dials(self, now: float) -> list[int]:
        # Every dial twice, so that two connections are made at once.
        return [server for server in super().dials(now) for _ in range(2)]

    def reached(self, server: int, link: int, now: float) -> None:
        # The second connection is kept, and nothing is said on it.
        if self.server_states[server].link is None:
            super().reached(server, link, now)


@fault("PF-107", does="pings before its hello")
class PingsFirst(Client):
    def greet(self, state: ServerState, now: float) -> None:
        self.begin(state, ClientRequest("ping"), now)
        super().greet(state, now)


@fault("PF-112", does="leaves its minimum version out")
class OffersNoMinimum(RewritesRequests):
    asking = "hello"

    def rewrite(self, message: dict[str, Any]) -> Message:
        del message["protocol-minimum-version"]
        return message


@fault("PF-113", does="offers the versions 3 to 4")
class OffersLaterVersions(Client):
    def hello_range(self) -> tuple[int, int]:
        return 3, 4


@fault("PF-218", does="sends its first commands together with hello")
class PipelinesBehindHello(Client):
    def greet(self, state: ServerState, now: float) -> None:
        super().greet(state, now)
        if state.step == 0:
            self.on_settled(state, now)
            state.greeted = True
            self.go_on(state, now)
            state.greeted = False

    def on_greeted(self, state: ServerState, now: float) -> None:
        if len(state.live) == 0:
            super().on_greeted(state, now)


@fault("PF-219", does="says hello again with another client-id, once it was completed")
class ChangesItsName(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.renamed: set[int | None] = set()

    def on_greeted(self, state: ServerState, now: float) -> None:
        if state.link in self.renamed:
            return
        self.renamed.add(state.link)
        super().on_greeted(state, now)
        least, most = self.hello_range()
        fields = {"client-id": self.id ^ 1, "protocol-minimum-version": least, "protocol-maximum-version": most}
        self.begin(state, ClientRequest("hello", fields), now)


@fault("PF-223", does="takes a refused hello for a completed one")
class HearsNoRefusal(Client):
    def greet_again(self, state: ServerState, now: float) -> None:
        state.greeted = True
        self.on_greeted(state, now)
