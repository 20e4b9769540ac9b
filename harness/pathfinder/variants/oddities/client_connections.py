"""Unusual clients: how they come, go and number what they ask."""

from collections.abc import Iterable
from typing import Any

from harness.pathfinder.peers.account import Account, ClientRequest
from harness.pathfinder.peers.client import Client
from harness.pathfinder.variants.registry import oddity
from wire.json.strict import MOST


@oddity("PF-046", "PF-220", does="comes back two seconds after a loss")
class ComesBackSlowly(Client):
    def reconnects_after(self, account: Account) -> float:
        return 2.0


@oddity("PF-046", "PF-220", does="comes back at once, always")
class ComesBackAtOnce(Client):
    def reconnects_after(self, account: Account) -> float:
        return 0.001


@oddity("PF-009", "PF-042", does="connects to one server after the other, from behind")
class ConnectsFromBehind(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for place, account in enumerate(reversed(self.accounts)):
            account.dial_at = 0.4 * place + 0.001


@oddity("PF-223", does="ends the connection on which its hello was refused, and tries again on another")
class LeavesWhenRefused(Client):
    def greet_again(self, account: Account, now: float) -> None:
        self.hang_up(account, now)
        self.try_again(account, now)


@oddity("PF-219", does="says hello twice on each connection, and means it")
class SaysHelloTwice(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.again: set[int | None] = set()

    def on_greeted(self, account: Account, now: float) -> None:
        if account.link not in self.again:
            self.again.add(account.link)
            super().on_greeted(account, now)
            self.greet(account, now)


@oddity("PF-113", does="offers the versions 1 to 5")
class OffersManyVersions(Client):
    def hello_range(self) -> tuple[int, int]:
        return 1, 5


@oddity("PF-046", does="subscribes before it publishes, and publishes its newest service first")
class PublishesFromBehind(Client):
    def on_greeted(self, account: Account, now: float) -> None:
        account.queue.extendleft([*self.republish(account), *self.subscribe_anew(account)])


@oddity("PF-089", does="has at most two transactions under way")
class AsksSlowly(Client):
    def most_transactions(self) -> int:
        return 2


@oddity("PF-091", does="numbers its transactions from above")
class CountsDown(Client):
    def pick_ta(self, account: Account) -> int:
        account.next_ta += 1
        return MOST - account.next_ta


@oddity("PF-091", does="uses the smallest number that is free")
class ReusesFreeNumbers(Client):
    def pick_ta(self, account: Account) -> int:
        return next(ta for ta in range(len(account.live) + 1) if ta not in account.live)


@oddity("PF-031", does="is back long before half of the ttl has passed")
class ComesBackEarly(Client):
    def half_life(self, records: Iterable[Any]) -> float:
        return super().half_life(records) / 10


@oddity("PF-142", "PF-149", "PF-174", "PF-181", does="asks for more than it was told to")
class AsksOnTheSide(Client):
    def on_greeted(self, account: Account, now: float) -> None:
        super().on_greeted(account, now)
        asked = ("ping", "clients", "services", "subscriptions")
        account.queue.extend(ClientRequest(command) for command in asked)


@oddity("PF-046", does="gives a server up that has not answered for three seconds")
class ImpatientClient(Client):
    def patience(self) -> float:
        return 3.0
