"""Abilities: what a server does at all, so that histories accuse nobody of doing wrongly what it never does."""

from collections.abc import Sequence

import msgspec

from conformance.histories.moves import SessionEnds, SessionOpens
from conformance.pathfinder.histories.actions import (
    HelloRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
    UnsubscribeRequest,
)
from conformance.pathfinder.histories.moves import ClientAsks, ClientReturns, HistoryMove


class ServerAbilities(msgspec.Struct, frozen=True):
    """What a server does not do, with the rules that ask for it, and how it reads what may be read in several ways.

    ``reclaims_at_hello``: whether an orphan has its owner back as soon as that says hello (R24).
    """

    complaints: Sequence[tuple[str, str]] = ()
    blocked: str = ""
    reclaims_at_hello: bool = True

    @property
    def lacking(self) -> frozenset[str]:
        """The rules that it was told once to break."""
        return frozenset(rule for rule, _ in self.complaints)


S1 = PublishRequest(1, 0, 60, {"kind": ["x"]})

BASIS: tuple[HistoryMove, ...] = (
    SessionOpens("a"),
    SessionOpens("b"),
    ClientAsks("a", (S1,)),
    ClientAsks("b", (ServicesRequest(),)),
)
"""Without these there is nothing that any history could look at."""

PROBES: tuple[tuple[HistoryMove, ...], ...] = (
    (ClientAsks("b", (SubscribeRequest(1, "(kind=x)"),)), ClientAsks("b", (UnsubscribeRequest(1),))),
    (ClientAsks("b", (SubscribeRequest(2, None), ServicesRequest(None), UnsubscribeRequest(2))),),
    (ClientAsks("a", (S1,)),),
    (ClientAsks("a", (PublishRequest(1, 1, 30, {"kind": ["x"]}),)),),
    (ClientAsks("a", (PublishRequest(1, 3, 30, {"kind": ["y", "z"], "number": [5]}),)),),
    (ClientAsks("a", (PublishRequest(2), UnpublishRequest(2))),),
    (ClientAsks("a", (PlainRequest("subscriptions"), PlainRequest("clients"), PlainRequest("ping"), HelloRequest())),),
    (ClientAsks("b", (PublishRequest(1, 4, 30, {"kind": ["y", "z"], "number": [5]}),)),),
    (SessionEnds("b"), ClientReturns("b")),
    (SessionEnds("a", "abort"), ClientReturns("a")),
)
"""The things that a server does, each tried behind the basis."""

TRIED = frozenset(
    {
        "PF-047",
        "PF-049",
        "PF-109",
        "PF-121",
        "PF-122",
        "PF-123",
        "PF-137",
        "PF-157",
        "PF-158",
        "PF-224",
        "PF-226",
        "PF-227",
    }
)
"""The rules that are put to the test by these."""

LEFT_ALONE: tuple[HistoryMove, ...] = (*BASIS, SessionEnds("a"))
"""What leaves an orphan, whose owner then comes back and says nothing."""
