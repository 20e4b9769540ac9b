"""Drawing: what the servers of a client's domain do, each move chosen by what they have told by then."""

from conformance.histories.drawing import Chooser
from conformance.histories.moves import Together
from conformance.pathfinder.histories.domain_moves import (
    EXISTS,
    IDS,
    ClientBegins,
    DomainMove,
    ServerAnswers,
    ServerDrops,
    ServerErrs,
    ServerObliges,
    ServerReturns,
    ServerTells,
    ServerVanishes,
    ServiceMatch,
)
from conformance.pathfinder.server_offences import BEHIND_THE_END, NESTING, REQUESTS, STRAYS, no_messages
from wire.json.strict import MOST

STEPS = (1, 1, 1, 2, 2**32)
"""By how much a change has a higher generation."""

LISTENING = ("subscribe", "subscribe", "subscribe-all")
"""The scenarios in which a client hears of services to the end."""

BUSY = {
    "answers": ("modify", "modify", "publish", "modify", "unpublish", "list", "unsubscribe", "many"),
    "refusals": ("subscribe", "publish", "subscribe", "modify"),
}
"""The scenarios in which a client asks for several things, by theme."""

REASONS = ("insufficient-resources", "permission-denied", None, EXISTS)

MALFORMED = tuple(each for each in no_messages(0) if each != NESTING)
"""Offences that are no messages; without one that takes long to read, and that cases look after."""

LIFE = {"answers": 10, "refusals": 10, "offences": 30}
"""After how many moves a client is started anew, by theme; else never."""

LOSING = {"domains": 14, "answers": 22, "refusals": 15, "offences": 8}
"""How many of a hundred moves end a connection, by theme."""


class DomainGenerator:
    """Draws the moves of one history, and keeps account of what each server has told and which of them are there."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        self.choose, self.number = chooser.choice, chooser.randint
        self.theme = theme
        self.messages, self.malformed = chooser.dealt((*STRAYS, *REQUESTS)), chooser.dealt(MALFORMED)
        """What a server says that none may say, by turns: messages, and what is none."""
        self.is_busy = theme in BUSY
        """Whether it is about what a client asks, with servers that answer late; else about what it hears."""
        self.scenarios = chooser.dealt(BUSY.get(theme, LISTENING))
        if theme == "offences":
            self.scenarios[1:] = ["unsubscribe"]
        self.beginning = self.begin()

    def begin(self) -> ClientBegins:
        """Draw what the client is started with."""
        least = 2 if self.theme == "domains" else 1
        # Two servers most often: three are needed where two are to agree and one is not.
        self.servers = self.choose((1, 1, 2) if self.is_busy else (least, 2, 2, 3))
        self.scenario = self.scenarios[0]
        self.scenarios.append(self.scenarios.pop(0))
        if self.scenario == "many":
            self.servers = 1
        self.silent = {each for each in range(self.servers) if self.is_busy and self.number(0, 3)}
        self.away: set[int] = set()
        self.known: list[dict[int, ServiceMatch]] = [{} for _ in range(self.servers)]
        self.latest: dict[int, int] = {}
        """The highest generation of each service that any server has told of."""
        self.age = 0
        return ClientBegins(self.scenario, self.servers, tuple(sorted(self.silent)))

    def opening(self) -> list[DomainMove]:
        """Draw the beginning."""
        return [self.beginning]

    def closing(self) -> list[DomainMove]:
        """Return nothing: all that the client is to say comes without being asked for."""
        return []

    def move(self) -> DomainMove | None:
        """Draw the next move."""
        self.age += 1
        if self.age > LIFE.get(self.theme, 99):
            return self.begin()
        dice = self.number(0, 99)
        if dice < LOSING[self.theme]:
            return self.lose()
        if self.away and dice < LOSING[self.theme] + 15:
            return self.come_back()
        if self.silent and dice < 85:
            return self.answer()
        if self.scenario not in LISTENING:
            # Nobody listens, so it is about what is asked: what is not under way is begun anew.
            return self.come_back() if self.away else self.lose() if self.is_busy else self.err()
        if self.theme == "offences" and dice > 50:
            return self.err()
        if dice > 84:
            return self.tell_together()
        return self.tell(self.number(0, self.servers - 1), list(IDS))

    # --- coming and going ---------------------------------------------------------------------------------

    def lose(self) -> DomainMove | None:
        """Draw a server that is lost, for a while or not."""
        there = [each for each in range(self.servers) if each not in self.away]
        if not there:
            return None
        server, reset = self.choose(there), self.choose((False, True))
        self.silent.discard(server)
        if self.number(0, 2):
            self.away.add(server)
            return ServerVanishes(server, reset)
        return ServerDrops(server, reset, self.is_silent(server))

    def come_back(self) -> DomainMove:
        """Draw a server that is back, with what it knew or without."""
        server = self.choose(sorted(self.away))
        self.away.remove(server)
        forgets = self.number(0, 3) == 0
        if forgets:
            self.known[server].clear()
        return ServerReturns(server, forgets, self.is_silent(server))

    def is_silent(self, server: int) -> bool:
        """Draw whether a server answers nothing at first."""
        if not self.is_busy or self.number(0, 1):
            return False
        self.silent.add(server)
        return True

    def answer(self) -> DomainMove:
        """Draw what a silent server answers."""
        server = self.choose(sorted(self.silent))
        if self.number(0, 4) == 0:
            self.silent.remove(server)
            return ServerObliges(server)
        refuses = self.number(0, 1 if self.theme == "refusals" else 5) == 0
        return ServerAnswers(server, self.number(0, 3), refuses, self.choose(REASONS) if refuses else None)

    def err(self) -> ServerErrs | None:
        """Draw what a server says that none may say."""
        there = [each for each in range(self.servers) if each not in self.away]
        if not there:
            return None
        if self.scenario == "unsubscribe":
            return ServerErrs(self.choose(there), BEHIND_THE_END)
        # What is a message, and stands in no transaction, comes less often than what is none: of that there is more.
        offences = self.choose((self.messages, self.malformed, self.malformed))
        offences.append(offences.pop(0))
        return ServerErrs(self.choose(there), offences[-1])

    # --- services -----------------------------------------------------------------------------------------

    def tell(self, server: int, services: list[int]) -> ServerTells | None:
        """Draw what a server tells: of one service, or of several at once."""
        if server in self.silent:
            return None
        told = []
        for _ in range(self.choose((1, 1, 1, 2, 4))):
            # Few services, so that servers tell of the same.
            match = self.match(server, self.choose(services[:3]) if self.number(0, 3) else self.choose(services))
            if match is not None:
                told.append(match)
        return ServerTells(server, tuple(told)) if told else None

    def tell_together(self) -> Together[ServerTells] | None:
        """Draw what several servers tell at once, each of services of its own."""
        shift = self.number(0, self.servers - 1)
        told = []
        for server in range(self.servers):
            mine = [each for each in IDS if (each + shift) % self.servers == server]
            if server not in self.away and (said := self.tell(server, mine)):
                told.append(said)
        return Together(tuple(told)) if len(told) > 1 else None

    def match(self, server: int, service: int) -> ServiceMatch | None:
        """Draw what becomes of a service on a server: servers follow each other, fall behind, or go on."""
        known, latest = self.known[server].get(service), self.latest.get(service)
        orphan, owner = self.number(0, 4) == 0, 1 if self.number(0, 5) == 0 else 0
        if known is None:
            # As it is elsewhere, or older, or newer; in a first generation where nobody has told of it.
            options = (0, 0, 0, 1, 2**53, MOST - 1) if latest is None else (latest, latest, latest - 1, latest + 1)
            match = ServiceMatch("appeared", service, max(0, min(MOST, self.choose(options))), orphan, owner)
        elif self.number(0, 2) == 0:
            match = ServiceMatch("disappeared", service)
        else:
            ahead = latest if latest is not None and latest > known.generation and self.number(0, 1) else None
            generation = known.generation + self.choose(STEPS) if ahead is None else ahead
            if self.number(0, 3) == 0:
                generation, orphan = known.generation, not known.orphan
            match = ServiceMatch("modified", service, min(MOST, generation), orphan, owner)
        if not match.follows(known):
            return None
        if match.what == "disappeared":
            del self.known[server][service]
        else:
            self.known[server][service] = match
            self.latest[service] = max(match.generation, latest or 0)
        return match
