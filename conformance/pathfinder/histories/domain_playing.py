"""Playing with a client: one history, in which the tester is all servers of its domain.

What a client asks is held against what it has begun on each server (``undertakings``), what its application is told
against what servers have told it (``application``). Nothing is assumed of the order between connections: after each
move every server that told something tells of one service more, and when that has come through the rest has been dealt
with.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import count

from msgspec.structs import replace

from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import Together
from conformance.pathfinder.histories.abilities import ClientAbilities, PathfinderPlay
from conformance.pathfinder.histories.application import ServicePicture, Untold
from conformance.pathfinder.histories.domain_moves import (
    IDS,
    SERVERS,
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
    reason_for,
)
from conformance.pathfinder.histories.undertakings import Undertakings
from conformance.pathfinder.server_offences import REQUESTS, offences, rule_of_offence
from harness.pathfinder.peers.scenarios import scenario
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, Domain, NotCome

MOST_WAITING = 100
"""Transactions that the scenarios allow at once."""

MARKS = 1 << 41
"""From this number on are services that only show how far a client has come."""

OF_MATCHES = {"appeared": "PF-042", "modified": "PF-043", "disappeared": "PF-044"}
"""The rules that are judged by what is told."""

SOON = 0.5
"""Seconds of the protocol's time in which a client asks for what it has to ask for, if for anything."""

MOMENT = 0.05
"""Seconds of the protocol's time in which more comes of what is sent without waiting."""

MOST_ROUNDS = 2000
"""Messages of a client that are waited for in one step: several times as many as any scenario has."""

OFTEN = 3
"""Times that a client may end its connection to each server by itself in one step."""


class DomainPlay(PathfinderPlay[DomainMove, ClientAbilities]):
    """One history in the course of being played; ``judged`` counts what was compared, by rule."""

    def __init__(self, node: NodeUnderTest, abilities: ClientAbilities) -> None:
        super().__init__(abilities)
        self.node = node
        self.domain: Domain | None = None
        self.offence = ""
        """What was said in this step that no server may say."""
        self.left = 0
        """How often the client has ended a connection by itself, in this step."""
        self._marks, self._marked = count(MARKS), set[int]()

    def begin(self) -> None:
        """Do nothing yet: a history says itself what the client is started with."""

    # --- what can be done ---------------------------------------------------------------------------------

    def fits(self, move: DomainMove) -> bool:
        """Tell whether a move can be made as things are."""
        if self.is_over:
            return False
        if isinstance(move, ClientBegins):
            return move.scenario not in self.node.instance.not_offered
        if self.domain is None:
            return False
        if isinstance(move, Together):
            return all(map(self.fits, move.sends))
        if move.server >= self.domain.servers:
            return False
        connection = self.connections[move.server]
        match move:
            case ServerTells(server, matches):
                known = dict(self.directories[server])
                return self.can_tell(server) and all(_takes(known, each) for each in matches)
            case ServerReturns():
                return connection is None
            case ServerObliges() | ServerAnswers():
                return connection is not None and not connection.obliges
            case ServerErrs(_, offence):
                return connection is not None and connection.obliges and offence in offences(connection)
            case _:
                return connection is not None

    def can_tell(self, server: int) -> bool:
        """Tell whether a server can tell of services, or is away and may do so later."""
        connection = self.connections[server]
        return connection is None or (connection.obliges and bool(connection.subscriptions))

    # --- what is done -------------------------------------------------------------------------------------

    def make(self, move: DomainMove) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``."""
        self.offence, self.left = "", 0
        match move:
            case ClientBegins():
                self.start(move)
            case ServerTells():
                self.tell([move])
            case Together(told):
                self.tell(told)
            case ServerDrops(server, reset, silent):
                self.end(server, reset=reset)
                self.let_in(server, silent=silent)
            case ServerVanishes(server, reset):
                self.the_domain.refuse(server)
                self.end(server, reset=reset)
                self.connections[server] = None
            case ServerReturns(server, forgets, silent):
                if forgets:
                    self.directories[server].clear()
                self.the_domain.admit(server)
                self.let_in(server, silent=silent)
            case ServerAnswers():
                self.answer(move)
            case ServerObliges(server):
                self.oblige(self.at(server))
            case ServerErrs():
                self.err(move)
        self.settle()

    @property
    def the_domain(self) -> Domain:
        """The servers that the client was started with."""
        assert self.domain is not None
        return self.domain

    def at(self, server: int) -> AcceptedConnection:
        """Return the connection to a server that is there."""
        connection = self.connections[server]
        assert connection is not None
        return connection

    def start(self, move: ClientBegins) -> None:
        """Start the client anew: whatever it knew is over."""
        if self.domain is not None:
            self.domain.close()
        self.domain = self.node.begin(move.scenario, servers=move.servers)
        self.undertakings = Undertakings(scenario(move.scenario), move.servers)
        self.connections: list[AcceptedConnection | None] = [None] * move.servers
        self.directories: list[dict[int, ServiceMatch]] = [{} for _ in range(move.servers)]
        self.pictures = {number: ServicePicture(id) for number, id in IDS.items()}
        self.seen = 0
        for server in range(move.servers):
            self.connections[server] = self.the_domain.accept(server, obliges=server not in move.silent)

    # --- coming and going ---------------------------------------------------------------------------------

    def end(self, server: int, *, reset: bool) -> None:
        """End the connection to a server."""
        connection = self.at(server)
        self.undertakings.read(connection)
        connection.abort() if reset else connection.drop()
        self.lose(server)

    def lose(self, server: int) -> None:
        """Take note that a connection has ended."""
        self.undertakings.lose(server)
        for picture in self.pictures.values():
            picture.lose(server)

    def let_in(self, server: int, *, silent: bool = False) -> None:
        """Let the client in; a server that is there tells what it has, once the client has subscribed."""
        try:
            connection = self.the_domain.accept(server, obliges=not silent)
            # Not one that it gave up while nobody answered.
            while connection.ended:
                connection = self.the_domain.accept(server, obliges=not silent)
        except NotCome as error:
            if not self.abilities.comes_back:
                raise
            rule = "PF-221" if self.offence else "PF-046"
            raise Mismatch(rule, f"the client does not come back to {SERVERS[server]}: {error}") from error
        self.connections[server] = connection
        if not silent:
            self.tell_all(server)

    def tell_all(self, server: int) -> None:
        """Tell what a server has, where the client has subscribed anew."""
        self.bring_up_to_date()
        if not self.at(server).subscriptions:
            # What it is not to say it would say first of all, behind its hello; with a subscription marks show that.
            self.the_domain.wait_until(self.is_left, self.the_domain.after(MOMENT))
        known = [replace(each, what="appeared") for each in self.directories[server].values()]
        if known and self.can_tell(server):
            self.hear([(server, each) for each in known])

    def revive(self) -> bool:
        """Let the client in again where it has ended its connection itself; tell whether it has."""
        lost = [each for each in self.connections if each is not None and each.ended]
        for connection in lost:
            self.left += 1
            if self.left > OFTEN * self.the_domain.servers:
                what = f"the client ends its connection to {SERVERS[connection.server]} again and again"
                raise Mismatch("PF-221", what) if self.offence else NotCome(what)
            self.undertakings.read(connection)
            self.lose(connection.server)
            self.let_in(connection.server, silent=not connection.obliges)
        return bool(lost)

    # --- requests -----------------------------------------------------------------------------------------

    def answer(self, move: ServerAnswers) -> None:
        """Answer one of the requests that wait."""
        connection = self.at(move.server)
        self.the_domain.wait_until(lambda: bool(connection.waiting or connection.ended), self.the_domain.after(SOON))
        if not connection.waiting or connection.ended:
            return
        asked = connection.waiting[move.place % len(connection.waiting)]
        if not move.refuses:
            connection.grant(asked)
            return
        known = len(self.the_domain.events)
        reason = reason_for(asked.command, move.reason)
        connection.answer(asked, "fail", {} if reason is None else {"fail-reason": reason})
        if asked.command == "hello":
            return
        text = f"failed {asked.command} {reason or '-'}"
        if not self.the_domain.wait_until(lambda: text in self.the_domain.events[known:] or bool(connection.ended)):
            raise Mismatch("PF-104", f"the application is not told: {text}")
        self.judged["PF-104"] += 1

    def oblige(self, connection: AcceptedConnection) -> None:
        """Grant all that waits, the latest first, and whatever is asked from now on."""
        connection.obliges = True
        for asked in reversed(connection.waiting):
            connection.grant(asked)
        self.tell_all(connection.server)

    def settle(self) -> None:
        """Wait until the client has said all that it has to say, and look at what its application was told beside."""
        self.bring_up_to_date()
        if any(each is not None and not each.obliges for each in self.connections):
            # What is said to a server that is silent is read as well.
            self.the_domain.wait_until(self.is_left, self.the_domain.after(MOMENT))
        for connection in self.connections:
            if connection is not None and not connection.obliges and len(connection.waiting) > MOST_WAITING:
                raise Mismatch("PF-089", f"{len(connection.waiting)} transactions wait at once")
        self.conclude({})

    def bring_up_to_date(self) -> None:
        """Wait until the client has said on each connection that is there what it has to say."""
        for _ in range(MOST_ROUNDS):
            # As long as it goes on saying something it may take its time.
            said = self.said()
            self.the_domain.wait_until(partial(self.has_news, said))
            if not self.revive() and (self.unsaid() is None or self.said() == said):
                break
        if difference := self.unsaid():
            raise difference
        self.judged.update(["PF-046", "PF-038"])

    def has_news(self, said: int) -> bool:
        """Tell whether the client has said all that it has to say, or more than ``said`` messages; or has left."""
        return self.said() > said or self.is_left() or self.unsaid() is None

    def said(self) -> int:
        """Return how many messages the client has sent."""
        return sum(len(each.conversation.events) for each in self.the_domain.connections)

    def is_left(self) -> bool:
        """Tell whether the client has ended a connection."""
        return any(each is not None and each.ended for each in self.connections)

    def unsaid(self) -> Mismatch | None:
        """Return what the client has yet to say."""
        there = [each for each in self.connections if each is not None and not each.ended]
        for connection in there:
            self.undertakings.read(connection)
        missing = (self.undertakings.missing(each) for each in there if each.obliges)
        return next((each for each in missing if each is not None), None)

    # --- what its application is told ---------------------------------------------------------------------

    def tell(self, told: Sequence[ServerTells]) -> None:
        """Have servers tell of services, all before the client is looked at; one that is away tells when it is back."""
        said = []
        for server, each in [(move.server, each) for move in told for each in move.matches]:
            _takes(self.directories[server], each)
            if self.connections[server] is not None:
                said.append((server, each))
        self.hear(said)

    def hear(self, said: Sequence[tuple[int, ServiceMatch]]) -> None:
        """Tell the client, and wait until its application was told what it must be."""
        heard: dict[int, list[tuple[int, ServiceMatch]]] = defaultdict(list)
        for server, each in said:
            connection = self.at(server)
            for subscription in connection.subscriptions:
                connection.answer(
                    subscription, "notify", each.fields(is_filtered=self.undertakings.end.filter is not None)
                )
            heard[each.service].append((server, each))
        self.the_domain.wait_until(lambda: self.untold(heard) is None or self.is_left())
        if difference := self.untold(heard):
            raise difference
        for server in dict.fromkeys(server for server, _ in said):
            self.mark(self.at(server))
        self.conclude(heard)
        self.judged.update(OF_MATCHES[each.what] for _, each in said)

    def untold(self, heard: dict[int, list[tuple[int, ServiceMatch]]]) -> Untold | None:
        """Return what the application has yet to be told."""
        events = self.news()
        for service, said in heard.items():
            try:
                self.pictures[service].copy().explain(said, events.get(IDS[service], []))
            except Untold as difference:
                return difference
        return None

    def news(self) -> dict[int, list[str]]:
        """Return what the application was told since it was looked at, by service."""
        found: dict[int, list[str]] = defaultdict(list)
        for event in self.the_domain.events[self.seen :]:
            what, number, *_ = event.split()
            if what != "failed":
                found[int(number) if number.isdecimal() else -1].append(event)
        return found

    def mark(self, connection: AcceptedConnection) -> None:
        """Make sure that the client has dealt with all that was said on a connection."""
        mark = next(self._marks)
        self._marked.add(mark)
        connection.notify("appeared", mark)
        text = f"appeared {mark} 0"
        if not self.the_domain.wait_until(lambda: text in self.the_domain.events or bool(connection.ended)):
            raise Mismatch("PF-221" if self.offence else "PF-042", "the application is told of no service any more")

    def conclude(self, heard: dict[int, list[tuple[int, ServiceMatch]]]) -> None:
        """Take all that the application was told by now."""
        count, events = len(self.the_domain.events), self.news()
        self.seen = count
        for service, picture in self.pictures.items():
            picture.explain(heard.get(service, ()), events.pop(picture.id, []))
        if alien := [event for number, told in events.items() if number not in self._marked for event in told]:
            rule = rule_of_offence(self.offence) if self.offence else "PF-201"
            raise Mismatch(rule, f"the application is told: {alien[0]}; no subscription was told of it")

    # --- what no server may say ---------------------------------------------------------------------------

    def err(self, move: ServerErrs) -> None:
        """Say what no server may say, and make sure that the client goes on."""
        self.offence, connection = move.offence, self.at(move.server)
        said = len(connection.messages)
        connection.say(offences(connection)[move.offence])
        if connection.subscriptions:
            self.mark(connection)
        else:
            self.the_domain.wait_until(lambda: bool(connection.ended), self.the_domain.after(SOON))
        if move.offence in REQUESTS and any(each.type != "request" for each in connection.messages[said:]):
            raise Mismatch("PF-083", "the client answers a request")
        self.revive()
        self.judged.update(["PF-221", "PF-222", "PF-083"])


def _takes(directory: dict[int, ServiceMatch], match: ServiceMatch) -> bool:
    """Put what a server tells into what it has; ``False`` when it cannot tell that."""
    if not match.follows(directory.get(match.service)):
        return False
    if match.what == "disappeared":
        del directory[match.service]
    else:
        directory[match.service] = match
    return True
