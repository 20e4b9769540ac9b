"""Legality: whether a move can be made as things are, by who is there and what is under way."""

from collections.abc import Collection, Mapping
from typing import Protocol

from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.pathfinder.histories.actions import HistoryRequest, SubscribeRequest, UnsubscribeRequest
from conformance.pathfinder.histories.moves import ClientAsks, ClientBlinks, ClientReturns, ClientsRace, HistoryMove

MOST_SUBSCRIPTIONS = 3
"""Subscriptions of one client at a time: servers may have room for so few."""


class PlayState(Protocol):
    """Who is there in a play, and what goes on."""

    @property
    def clients(self) -> Collection[str]:
        """Who is connected."""
        ...

    @property
    def away(self) -> Collection[str]:
        """Who was connected once."""
        ...

    @property
    def live(self) -> Mapping[str, Collection[int | None]]:
        """The identifiers of the transactions that go on, by whose they are."""
        ...


def is_possible(move: HistoryMove, play: PlayState) -> bool:
    """Tell whether a move can be made."""
    match move:
        case SessionOpens(who):
            return who not in play.clients and who not in play.away
        case ClientReturns(who):
            return who in play.away
        case SessionEnds(who) | ClientBlinks(who):
            return who in play.clients
        case ClientAsks(who, requests):
            return who in play.clients and are_free(requests, who, play)
        case Together(asked) | ClientsRace(asked):
            return all(is_possible(each, play) for each in asked)
        case _:
            return True


def are_free(requests: tuple[HistoryRequest, ...], who: str, play: PlayState) -> bool:
    """Tell whether the identifiers of some transactions are free, and there is room for what they begin."""
    live = play.live.get(who, ())
    ended = {request.subscription for request in requests if isinstance(request, UnsubscribeRequest)}
    begins = sum(isinstance(each, SubscribeRequest) and each.subscription not in ended for each in requests)
    named = [request.ta for request in requests if request.ta is not None]
    return (
        len(live) + begins <= MOST_SUBSCRIPTIONS and len(set(named)) == len(named) and not set(named).intersection(live)
    )
