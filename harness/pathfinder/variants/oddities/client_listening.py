"""Unusual clients: what they make of what they hear, and how they tell it."""

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import KnownService, MatchedService, MatchSource
from harness.pathfinder.peers.server_state import ServerState
from harness.pathfinder.tester.scripted_servers import match
from harness.pathfinder.variants.lenient import salvaged
from harness.pathfinder.variants.registry import oddity
from wire.errors import DecodeError, EncodeError
from wire.pathfinder.values import read, write

# Longer than a barrier takes, and shorter than patience.
DELAY = 0.4
"""Seconds by which a slow client tells its application later."""


@oddity("PF-221", does="overlooks what is no message, and keeps the connection")
class OverlooksBreaches(Client):
    def on_breach(self, state: ServerState, now: float) -> None:
        """Do nothing."""


@oddity("PF-079", "PF-081", does="overlooks fields that it does not know, and takes the last of a doubled one")
class OverlooksFields(Client):
    known = {"ta-cmd", "ta-id", "msg-type", "orphan-since", *match("appeared", 0)}

    def received(self, link: int, frame: bytes, now: float) -> None:
        try:
            read(frame, deployed=self.deployed)
        except DecodeError:
            fields = salvaged(frame) or {}
            with suppress(EncodeError):
                # What lacks a field is still no message, and handed on as it came.
                frame = write({name: each for name, each in fields.items() if name in self.known})
        super().received(link, frame, now)


@oddity("PF-042", "PF-043", "PF-044", does="tells its application later")
class TellsLater(Client):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.held: list[tuple[float, str]] = []

    def hold(self, now: float) -> None:
        """Keep what there is to be told for a while."""
        self.held += [(now + DELAY, text) for text in self.events]
        self.events.clear()

    def received(self, link: int, frame: bytes, now: float) -> None:
        super().received(link, frame, now)
        self.hold(now)

    def tick(self, now: float) -> None:
        super().tick(now)
        self.hold(now)
        self.events += [text for at, text in self.held if at <= now]
        self.held = [(at, text) for at, text in self.held if at > now]

    def next_tick(self) -> float | None:
        at, held = super().next_tick(), self.held[0][0] if self.held else None
        return min((each for each in (at, held) if each is not None), default=None)


@oddity("PF-044", does="forgets at once what it knows from a lost server only")
class ForgetsLostServers(Client):
    def keeps_unconfirmed(self, known: KnownService) -> float:
        # Not 0: a doubt is due at a time that is still to come.
        return 0.001


@oddity("PF-044", does="remembers what it knows from a lost server for an hour")
class RemembersLostServers(Client):
    def keeps_unconfirmed(self, known: KnownService) -> float:
        return 3600.0


@oddity("PF-041", "PF-044", does="counts a match of an older generation as an appearance, which it does not tell")
class CountsOldMatches(Client):
    def see(self, service: int, source: MatchSource, latest: MatchedService, match_type: str) -> None:
        super().see(service, source, latest, match_type)
        self.view.add(service, source)


@oddity("PF-043", does="tells as modified only what a server calls so, and not that the generation alone has changed")
class TellsContentsOnly(Client):
    def is_news(self, known: KnownService, latest: MatchedService, match_type: str) -> bool:
        before = replace(known.seen, generation=latest.generation)
        if latest.generation > known.seen.generation:
            # Told or not: it has received that generation, and a lower one is outdated from now on (PF-041).
            known.seen = latest
        return match_type == "modified" and before != latest
