"""Moves: what can happen in a history, as values that print as what a tester would write."""

import msgspec

from conformance.histories.moves import SessionEnds, SessionOpens, Together, calls
from conformance.pathfinder.histories.actions import HistoryRequest
from conformance.pathfinder.histories.unspecified import GuestMove


class ClientReturns(msgspec.Struct, frozen=True):
    """A client that has left is back under its identifier; it publishes its services again, as it must, or not."""

    who: str
    republishes: bool = True

    def __str__(self) -> str:
        again = f"; {self.who} publishes again what it has" if self.republishes else ""
        return f"{self.who} = node.back({self.who}.client_id){again}"


class ClientBlinks(msgspec.Struct, frozen=True):
    """A client's connection ends, it is back at once and publishes again what it has, stays a moment, and leaves.

    The TTLs of its services begin with the second loss, and not on from the first.
    """

    who: str
    verb: str = "close"

    def __str__(self) -> str:
        return f"{self.who}.{self.verb}(); {ClientReturns(self.who)}; a moment later {self.who}.{self.verb}()"


class ClientAsks(msgspec.Struct, frozen=True):
    """A client sends requests, all of them before it reads any answer."""

    who: str
    requests: tuple[HistoryRequest, ...]

    def __str__(self) -> str:
        return calls(self.who, self.requests, "without waiting")


class ClientsRace(msgspec.Struct, frozen=True):
    """Several clients ask for something about one service at once: which of them is first is not said.

    So any order is right that explains all answers and what is listed afterwards; and it holds from then on.
    """

    asked: tuple[ClientAsks, ...]

    def __str__(self) -> str:
        return "in a race: " + "; ".join(map(str, self.asked))


HistoryMove = (
    SessionOpens
    | SessionEnds
    | ClientReturns
    | ClientBlinks
    | ClientAsks
    | Together[ClientAsks]
    | ClientsRace
    | GuestMove
)
"""What clients ask together is about services and subscriptions of their own, so that no order matters."""
