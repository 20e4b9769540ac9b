"""The application of a client: what it must, may and must not be told of a service that several servers tell of.

What the document leaves open is allowed: whether a change within one generation is told where several servers have the
service, which may disagree, and one of the generation alone; whether an appearance in a higher generation is a change;
whether an appearance counts that is outdated; how long a service is kept that was seen on a lost server only; whether
one that is gone may come back in a lower generation.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.domain_moves import SERVERS, ServiceMatch
from wire.json.strict import MOST

Heard = Sequence[tuple[int, ServiceMatch]]
"""What servers said of one service, in order: the server's number, and what it said."""


class Untold(Mismatch):
    """The application was not told what it must be; it may be yet."""


class ServicePicture:
    """One service: where it is, as the client was told, and what its application was told last."""

    def __init__(self, service_id: int) -> None:
        self.id = service_id
        self.certain: set[int] = set()
        """The servers on which it has appeared."""
        self.doubtful: set[int] = set()
        """The servers on which it may be, for all that the client can know: it may count them, or not."""
        self.told: ServiceMatch | None = None
        self.received = -1
        """The highest generation that was received since the application knows it."""
        self.ever = -1
        """The highest generation that was ever received."""
        self.latest: tuple[Any, ...] = ()
        """What the latest match said, but for the generation."""

    def copy(self) -> "ServicePicture":
        """Return a picture like it."""
        like = ServicePicture(self.id)
        like.certain, like.doubtful = set(self.certain), set(self.doubtful)
        like.told, like.received, like.ever, like.latest = self.told, self.received, self.ever, self.latest
        return like

    def lose(self, server: int) -> None:
        """Take note that the connection to a server was lost: that is no disappearance."""
        if server in self.certain:
            self.certain.remove(server)
            self.doubtful.add(server)

    def explain(self, heard: Heard, events: Sequence[str]) -> None:
        """Hold what the application was told against what servers said.

        Raises ``Untold`` when something is still to come, and ``Mismatch`` when something came that must not.
        """
        left = deque(events)
        for server, match in heard:
            self._give_up(left)
            self._take(server, match, left)
        self._give_up(left)
        if left:
            raise self._surplus(left[0], heard)

    # --- one match ----------------------------------------------------------------------------------------

    def _take(self, server: int, match: ServiceMatch, left: deque[str]) -> None:
        if match.what == "disappeared":
            self._disappears(server, left)
        elif match.what == "appeared":
            self._appears(server, match, left)
        else:
            self._changes(server, match, left)
        self.ever = max(self.ever, match.generation)
        if match.what != "disappeared" and match.generation >= self.received:
            self.latest = match.contents

    def _appears(self, server: int, match: ServiceMatch, left: deque[str]) -> None:
        if self.told is None:
            # By the letter a lower generation is ignored, also that of a service which was gone in between.
            if match.generation >= self.ever or (left and left[0] == self._text("appeared", match)):
                self._must(self._text("appeared", match), left, self._rule(match), f"{SERVERS[server]} has it")
                self.told, self.received = match, match.generation
                self.certain, self.doubtful = {server}, self.doubtful - {server}
            else:
                self.doubtful.add(server)
        elif match.generation < self.received:
            # Whether what is ignored is an appearance all the same is open.
            self.doubtful.add(server)
        else:
            self._may_change(match, left)
            self.certain.add(server)
            self.doubtful.discard(server)

    def _changes(self, server: int, match: ServiceMatch, left: deque[str]) -> None:
        if self.told is None:
            # It was ignored when it appeared there: then it is not known there, or appears with this.
            if left and left[0] == self._text("appeared", match):
                left.popleft()
                self.told, self.received = match, match.generation
                self.doubtful.add(server)
        elif self._is_newer(server, match) and server in self.certain and self._is_change(match):
            self._must(self._text("modified", match), left, "PF-043", f"{SERVERS[server]} has it so")
            self.told, self.received = match, match.generation
        elif match.generation >= self.received:
            self._may_change(match, left)

    def _is_newer(self, server: int, match: ServiceMatch) -> bool:
        """Tell whether a match is later than all that was received: where one server alone has the service, all are."""
        is_alone = self.certain == {server} and not self.doubtful
        return match.generation >= self.received if is_alone else match.generation > self.received

    def _is_change(self, match: ServiceMatch) -> bool:
        """Tell whether a service is another than it was told to be, and than it was known to be."""
        return self.told is not None and match.contents not in (self.told.contents, self.latest)

    def _may_change(self, match: ServiceMatch, left: deque[str]) -> None:
        """Take a change that may be told."""
        assert self.told is not None
        self.received = max(self.received, match.generation)
        if match.state != self.told.state and left and left[0] == self._text("modified", match):
            left.popleft()
            self.told = match

    def _disappears(self, server: int, left: deque[str]) -> None:
        self.certain.discard(server)
        self.doubtful.discard(server)
        if self.told is not None and not self.certain and not self.doubtful:
            self._must(f"disappeared {self.id}", left, "PF-044", f"{SERVERS[server]} was the last that had it")
            self.told, self.received = None, -1

    def _give_up(self, left: deque[str]) -> None:
        """Take it that the client gives up what only lost servers had: when it does that is open."""
        if left and left[0] == f"disappeared {self.id}" and self.told is not None and not self.certain:
            left.popleft()
            self.told, self.received = None, -1
            self.doubtful.clear()

    # --- what is wrong ------------------------------------------------------------------------------------

    def _text(self, what: str, match: ServiceMatch) -> str:
        return f"{what} {self.id} {match.generation}"

    def _must(self, text: str, left: deque[str], rule: str, why: str) -> None:
        if not left:
            raise Untold(rule, f"the application is not told: {text}; {why}")
        if left[0] != text:
            raise self._surplus(left[0], (), instead=text)
        left.popleft()

    def _rule(self, match: ServiceMatch) -> str:
        """Return what is broken when an appearance is not told: of what is unusual about it, if something is."""
        if match.orphan:
            return "PF-104"
        return "PF-201" if 2**53 < max(self.id, match.generation) <= MOST else "PF-042"

    def _surplus(self, event: str, heard: Heard, *, instead: str = "") -> Mismatch:
        """Return what is wrong with an event."""
        what, *numbers = event.split()
        more = f", and not {instead}" if instead else ""
        if what == "disappeared":
            where = ", ".join(SERVERS[each] for each in sorted(self.certain))
            return Mismatch("PF-044", f"the application is told: {event}{more}; it is there on {where or 'no server'}")
        generation = int(numbers[-1]) if numbers[-1].isdecimal() else -1
        if self.told is not None and generation < self.received:
            return Mismatch("PF-041", f"the application is told: {event}{more}, behind generation {self.received}")
        if self.told is None and not heard and not instead:
            return Mismatch("PF-044", f"the application is told: {event}, though nobody has told of it again")
        rule = "PF-042" if what == "appeared" else "PF-043"
        known = f"it knows {self.told.what} {self.id} {self.told.generation}" if self.told else "it does not know it"
        return Mismatch(rule, f"the application is told: {event}{more}; {known}")
