"""Moves: what can happen in a history, as values that print as what a tester would write."""

import msgspec

from conformance.pathfinder.histories.actions import HistoryRequest
from conformance.pathfinder.histories.unspecified import GuestMove

SHOWN = 10
"""Requests that are shown of many that are sent at once."""


class ClientComes(msgspec.Struct, frozen=True):
    """A client connects for the first time and says hello."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} = node.session()"


class ClientLeaves(msgspec.Struct, frozen=True):
    """A client's connection ends, closed or reset."""

    who: str
    reset: bool = False

    def __str__(self) -> str:
        return f"{self.who}.{'abort' if self.reset else 'close'}()"


class ClientReturns(msgspec.Struct, frozen=True):
    """A client that has left is back under its identifier; it publishes its services again, as it must, or not."""

    who: str
    republishes: bool = True

    def __str__(self) -> str:
        again = f"; {self.who} publishes again what it has" if self.republishes else ""
        return f"{self.who} = node.back({self.who}.client_id){again}"


class ClientAsks(msgspec.Struct, frozen=True):
    """A client sends requests, all of them before it reads any answer."""

    who: str
    requests: tuple[HistoryRequest, ...]

    def __str__(self) -> str:
        shown = self.requests if len(self.requests) <= SHOWN else (*self.requests[:2], self.requests[-1])
        said = "; ".join(f"{self.who}.{request}" for request in shown)
        if len(self.requests) > SHOWN:
            return f"without waiting, {len(self.requests)} requests like {said}"
        return f"without waiting: {said}" if len(self.requests) > 1 else said


class ClientsAsk(msgspec.Struct, frozen=True):
    """Several clients send requests before anybody reads an answer: the server may take them in any order.

    They are about services and subscriptions of their own, so that the order does not matter for what is answered.
    """

    asked: tuple[ClientAsks, ...]

    def __str__(self) -> str:
        return "at once: " + "; ".join(str(each) for each in self.asked)


HistoryMove = ClientComes | ClientLeaves | ClientReturns | ClientAsks | ClientsAsk | GuestMove
