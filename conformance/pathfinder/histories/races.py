"""Races: clients that ask for something about one service at once, and in which order that was carried out."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import permutations

from conformance.pathfinder.histories.actions import HistoryRequest
from conformance.pathfinder.histories.comparison import AnswerComparison
from conformance.pathfinder.histories.model import DirectoryModel, ServiceState
from harness.pathfinder.tester.transactions import Transaction

Entrant = tuple[int, HistoryRequest, Transaction]
"""Who asked, by its client-id, for what, and what was answered."""


def explaining_order(
    entrants: Sequence[Entrant], model: DirectoryModel, comparison: AnswerComparison, listed: ServiceState | None
) -> tuple[Entrant, ...] | None:
    """Return an order in which the model gives the same answers and ends in the state that is listed, if there is one.

    The document has no word on which of several connections is read first; by its answers a server says which it was.
    """
    for order in permutations(entrants):
        # A copy of all there is: races are few, and a model can take nothing back.
        copied = deepcopy(model)
        if all(_agrees(entrant, copied, comparison) for entrant in order):
            service = entrants[0][2].request.fields["service-id"]
            if copied.state(service) == listed:
                return order
    return None


def _agrees(entrant: Entrant, model: DirectoryModel, comparison: AnswerComparison) -> bool:
    """Carry out a request on a model, and tell whether that answers as the server did."""
    client_id, request, transaction = entrant
    fields = transaction.request.fields
    known = model.directory.get(fields["service-id"])
    is_theirs = known is not None and known.owner != client_id
    if transaction.failed and comparison.is_excused(client_id, request, transaction, is_theirs=is_theirs):
        return True
    told = model.asks(client_id, {**fields})
    return bool(told) and (told[-1]["msg-type"] == "fail") == transaction.failed
