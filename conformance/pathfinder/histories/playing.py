"""Playing: one history, on the server under test and on the model side by side, compared after every move.

Order is assumed along one connection only, and between a publish that is completed and a list that is asked for later.
What subscriptions are told is waited for by a deadline. One client, the witness, watches everything: what it finds
listed shows when the server has taken note of the end of a connection, which nobody else can be asked about.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from conformance.histories.budget import BUDGET
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.histories.waiting import still_missing
from conformance.pathfinder.answers import EXCUSES
from conformance.pathfinder.histories.abilities import PathfinderPlay, ServerAbilities
from conformance.pathfinder.histories.actions import (
    HistoryRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    SubscribeRequest,
    UnpublishRequest,
)
from conformance.pathfinder.histories.comparison import AnswerComparison
from conformance.pathfinder.histories.departures import SHORT, Departures
from conformance.pathfinder.histories.guests import Guests
from conformance.pathfinder.histories.knowledge import SubscriptionWatch
from conformance.pathfinder.histories.legality import is_possible
from conformance.pathfinder.histories.model import DirectoryModel, state_in
from conformance.pathfinder.histories.moves import ClientAsks, ClientBlinks, ClientReturns, ClientsRace, HistoryMove
from conformance.pathfinder.histories.orphan_times import TICK
from conformance.pathfinder.histories.races import explaining_order
from conformance.pathfinder.histories.unspecified import GuestGreets, GuestMove, GuestsCrowd, GuestSends, GuestsMeet
from harness.clock import VirtualClock
from harness.errors import HarnessError, NotAnswered
from harness.pathfinder.tester.driver import DELAY, Driver, new_id, notification_of
from harness.pathfinder.tester.node_under_test import MARK, NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from vectors.pathfinder.filter_samples import Properties
from wire.json.strict import MOST

WITNESS = "witness"
WITNESSED = 0
"""The number of the witness's subscription."""

NEAR = 2**30
"""How far from the ends of their range identifiers are that stand for its ends: so two testers do not meet there."""

LISTS = PlainRequest("clients"), PlainRequest("subscriptions"), ServicesRequest()
"""What the witness asks when somebody is back."""

LOW, HIGH = 7, 8
"""The numbers of what has identifiers near the ends of their range."""

LONG = 3600
"""The longest TTL, in seconds, of an orphan that is left to itself at the end of a play."""

HALF = 0.5
"""The part of an orphan's TTL after which a history ends: nobody can tell any more when the server lets it go."""


class PlayNames:
    """The identifiers of one play: the same number for a service and for a subscription, as these do not meet.

    They differ in their last bits: whoever keeps them in floating point takes one for another.
    """

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        self._ids: dict[int, int] = {}

    def service(self, number: int) -> int:
        """Return the identifier of a service."""
        if number not in self._ids:
            id = new_id()
            self._ids[number] = {LOW: id % NEAR, HIGH: MOST - id % NEAR}.get(number, id)
        return self._ids[number]

    def subscription(self, number: int) -> int:
        """Return the identifier of a subscription."""
        return self.service(number)

    def props(self, props: Properties) -> Mapping[str, Any]:
        """Return properties with the one that all services of a play have."""
        return {MARK: [self.node.play], **props}

    def filter(self, filter: str) -> str:
        """Return a filter for those of the play's services that match another one."""
        return self.node.narrow(filter) if filter else self.node.mine


class DirectoryPlay(PathfinderPlay[HistoryMove, ServerAbilities]):
    """One history in the course of being played; ``judged`` counts what was compared, by rule."""

    def __init__(self, node: NodeUnderTest, abilities: ServerAbilities) -> None:
        super().__init__(abilities)
        self.node = node
        self.names = PlayNames(node)
        self.model = DirectoryModel(profile=node.profile, reclaims_at_hello=abilities.reclaims_at_hello)
        # A server in memory reads this machine's clock, which is a fine one.
        tick = 0.0 if isinstance(node.instance.clock, VirtualClock) else TICK
        self.comparison = AnswerComparison(self.model, self.judged, deployed=node.profile == "deployed", tick=tick)
        self.clients: dict[str, Driver] = {}
        self.away: dict[str, int] = {}
        """The identifiers of the clients that have left."""
        self.watches: dict[int, SubscriptionWatch] = {}
        self.lost: dict[int, float] = {}
        """When contact to the owner of each orphan was lost."""
        self.before: dict[int, int] = {}
        """How many changes of each service there were before this step."""

    def begin(self) -> None:
        """Have the witness come and watch everything; raises ``Mismatch``."""
        self.do(SessionOpens(WITNESS))
        self.do(ClientAsks(WITNESS, (SubscribeRequest(WITNESSED),)))

    def fits(self, move: HistoryMove) -> bool:
        """Tell whether a move can be made: what others prepared may not have come about."""
        if self.is_over or any(self.now() > end for end in self.lost.values()):
            return False
        return is_possible(move, self)

    @property
    def live(self) -> dict[str, list[int | None]]:
        """The identifiers of the transactions that go on, by whose they are."""
        found: dict[str, list[int | None]] = {}
        for who, driver in self.clients.items():
            found[who] = [watch.transaction.ta for watch in self.watches.values() if watch.driver is driver]
        return found

    def now(self) -> float:
        """Return the time of the node's clock, in seconds of the protocol's time."""
        return self.node.instance.clock.now() * self.node.tempo

    def make(self, move: HistoryMove) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``."""
        self.comparison.begin()
        self.before = {service: len(log) for service, log in self.model.log.items()}
        for watch in self.watches.values():
            watch.is_new = False
        match move:
            case SessionOpens(who):
                self.clients[who] = self.admitted(self.node.connect(), "PF-027")
                self.join(self.clients[who])
            case SessionEnds(who, verb):
                self.leave(who, verb)
            case ClientBlinks(who, verb):
                self.blink(who, verb)
                if self.is_over:
                    return
            case ClientReturns(who, republishes):
                self.return_as(who, republishes=republishes)
            case ClientAsks(who, requests):
                self.settle_answers([(who, *each) for each in self.ask(who, requests)])
            case Together(asked):
                begun = [(each.who, *one) for each in asked for one in self.ask(each.who, each.requests)]
                self.settle_answers(begun, is_ordered=False)
            case ClientsRace(asked):
                self.race([(each.who, *one) for each in asked for one in self.ask(each.who, each.requests)])
            case GuestSends() | GuestGreets() | GuestsMeet() | GuestsCrowd():
                self.receive_guest(move)
        self.compare()

    # --- requests -----------------------------------------------------------------------------------------

    def ask(self, who: str, requests: tuple[HistoryRequest, ...]) -> list[tuple[HistoryRequest, Transaction]]:
        """Send requests and wait for nothing."""
        driver = self.clients[who]
        return [
            (
                request,
                driver.begin(
                    request.command, {**request.fields(self.names), **self.own(driver, request)}, ta=request.ta
                ),
            )
            for request in requests
        ]

    def own(self, driver: Driver, request: HistoryRequest) -> dict[str, Any]:
        """Return the fields that say who asks."""
        return {"client-id": driver.client_id} if request.command == "hello" else {}

    def settle_answers(self, begun: list[tuple[str, HistoryRequest, Transaction]], *, is_ordered: bool = True) -> None:
        """Wait for all answers, and compare them in the order of the requests, which is that of their effects."""
        for who, _, transaction in begun:
            driver = self.clients[who]
            driver.answered(transaction) if transaction.command == "subscribe" else driver.finish(transaction)
        since, ended = dict(self.before), []
        for who, request, transaction in begun:
            driver = self.clients[who]
            is_done = self.comparison.judge(who, driver.client_id, request, transaction)
            if isinstance(request, SubscribeRequest) and is_done:
                if is_ordered:
                    since = {service: len(log) for service, log in self.model.log.items()}
                self.watch(request, driver, transaction, since)
            elif request.command == "unsubscribe" and is_done:
                ended.append(self.unwatch(transaction))
            elif isinstance(request, PublishRequest | UnpublishRequest) and is_done:
                self.lost.pop(self.names.service(request.service), None)

        # Not before the model knows all: what another client has done at the same time may have been told as well.
        for watch in ended:
            watch.hear()

    def race(self, begun: list[tuple[str, HistoryRequest, Transaction]]) -> None:
        """Wait for the answers to requests about one service, and take them in an order that explains them."""
        for who, _, transaction in begun:
            self.clients[who].finish(transaction)
        # A service without properties is in the list of all only.
        is_bare = any(isinstance(request, PublishRequest) and request.bare for _, request, _ in begun)
        filter = None if is_bare else self.node.mine
        listing = self.clients[WITNESS].sure(self.clients[WITNESS].services(filter))
        service = begun[0][2].request.fields["service-id"]
        listed = next((state_in(each) for each in listing.notifications if each.get("service-id") == service), None)
        entrants = [(self.clients[who].client_id, request, transaction) for who, request, transaction in begun]
        order = explaining_order(entrants, self.model, self.comparison, listed)
        names = {transaction: who for who, _, transaction in begun}
        ordered = begun if order is None else [(names[each[2]], *each[1:]) for each in order]
        # Where no order explains them, the first one says what is wrong.
        self.settle_answers(ordered)
        if order is None:
            shown = "witness.services(node.mine)"
            listed_by_model = self.model.listed(filter)
            self.comparison.compare_services(listing, listed_by_model, shown, filter=None if is_bare else "")
            raise Mismatch("PF-210", f"no order explains what is answered: {[each[2] for each in begun]}")
        self.judged["PF-210"] += 1

    def watch(
        self, request: SubscribeRequest, driver: Driver, transaction: Transaction, since: Mapping[int, int]
    ) -> None:
        """Begin to hold against the model what a subscription is told."""
        subscription = self.model.subscriptions[transaction.request.fields["subscription-id"]]
        self.watches[subscription.id] = SubscriptionWatch(
            # As the moves have it: what the filter of the wire names besides, differs from play to play.
            f"w{request.subscription} ({'no filter' if request.filter is None else request.filter or 'node.mine'})",
            driver,
            transaction,
            self.model,
            subscription.selection,
            since,
            is_ours=request.filter is not None,
        )

    def unwatch(self, unsubscribed: Transaction) -> SubscriptionWatch:
        """End a subscription, whose transaction is over as well; returns what was told by it."""
        watch = self.watches.pop(unsubscribed.request.fields["subscription-id"])
        watch.driver.finish(watch.transaction)
        if not watch.transaction.completed:
            raise Mismatch("PF-137", f"{watch.name} is unsubscribed, and not completed: {watch.transaction}")
        self.judged["PF-137"] += 1
        return watch

    def receive_guest(self, move: GuestMove) -> None:
        """Have a guest come and go; afterwards all is as it was."""
        Guests(self.node, self.names).come(move)
        witness = self.clients[WITNESS]
        listing = witness.services(self.node.mine)
        if witness.ended or not listing.completed:
            raise Mismatch("PF-215", f"the witness is not served after a guest has left: {listing}")
        self.comparison.compare_services(listing, self.model.listed(self.node.mine), "witness.services()", filter="")
        self.judged.update([move.rule, "PF-215"])

    # --- coming and going ---------------------------------------------------------------------------------

    def admitted(self, driver: Driver, rule: str) -> Driver:
        """Say hello on a connection; raises ``Mismatch`` where it is refused, and not for want of room."""
        hello = driver.hello()
        if not hello.completed and hello.reason not in EXCUSES and self.clients:
            raise Mismatch(rule, f"a client is not let in beside {len(self.clients)} others: {hello}")
        driver.sure(hello)
        return driver

    def join(self, driver: Driver) -> None:
        """Take note of who is there now, and where it connects from."""
        self.model.joins(driver.client_id)
        self.comparison.ports[driver.client_id] = driver.link.ports[0]
        self.comparison.ours.add(driver.link.ports[0])

    def leave(self, who: str, verb: str) -> None:
        """End the connection of a client, and wait until the server has taken note."""
        client_id = self.clients[who].client_id
        began = self.now()
        ended = self.end_connection(who, verb)
        departures = Departures(self.node, self.model, self.comparison, self.clients[WITNESS])
        departures.settle(client_id, ended, began)
        for service in self.model.directory.owned(client_id):
            self.lost[service.id] = began + HALF * service.ttl
        self.judged.update(["PF-049", "PF-086"])

    def blink(self, who: str, verb: str) -> None:
        """End the connection of a client that is back before anything expires; let some time pass, and end it again."""
        shortest = min((each.ttl for each in self.model.directory.owned(self.clients[who].client_id)), default=SHORT)
        if shortest >= SHORT:
            began = self.now()
            self.end_connection(who, verb)
            self.return_as(who, republishes=True)
            if self.now() > began + HALF * shortest:
                # Too late to know whether something has expired meanwhile.
                self.is_over = True
                return
            self.clients[WITNESS].read(HALF * SHORT)
        self.leave(who, verb)

    def end_connection(self, who: str, verb: str) -> list[int]:
        """End the connection of a client; returns its subscriptions, which end with it."""
        driver = self.clients.pop(who)
        self.away[who] = driver.client_id
        self.comparison.forget_client(driver.client_id)
        ended = [id for id, watch in self.watches.items() if watch.driver is driver]
        for id in ended:
            del self.watches[id]
        owned = [service.id for service in self.model.directory.owned(driver.client_id) if not service.is_orphan]
        self.comparison.orphans.lose(owned, self.comparison.orphans.now())
        {"close": driver.close, "abort": driver.abort, "break_off": driver.break_off}[verb]()
        self.model.leaves(driver.client_id)
        return ended

    def return_as(self, who: str, *, republishes: bool) -> None:
        """Connect as a client that has left."""
        client_id = self.away.pop(who)
        try:
            driver = self.clients[who] = self.node.back(client_id)
        except NotAnswered as error:
            raise Mismatch("PF-229", f"{who} is not let in when it comes back: {error}") from error
        self.join(driver)
        owned = list(self.model.directory.owned(client_id))
        if self.abilities.reclaims_at_hello:
            for service in owned:
                self.lost.pop(service.id, None)
        if republishes:
            again = [self.model.republished(service) for service in owned]
            begun = [(fields, driver.begin("publish", fields)) for fields in again]
            for fields, transaction in begun:
                driver.finish(transaction)
                if not transaction.completed:
                    raise Mismatch("PF-047", f"{who} is back, and may not publish its service again: {transaction}")
                self.model.asks(client_id, transaction.request.fields)
                self.lost.pop(fields["service-id"], None)
            self.judged["PF-047"] += 1
        # Who is there, and from where, has changed with it.
        self.settle_answers([(WITNESS, *each) for each in self.ask(WITNESS, LISTS)])

    # --- what subscriptions are told ----------------------------------------------------------------------

    def compare(self) -> None:
        """Wait until all subscriptions were told what they must be, and look at what came beside it."""
        changed = {
            service: self.before.get(service, 0)
            for service, log in self.model.log.items()
            if len(log) > self.before.get(service, 0)
        }
        for watch in self.watches.values():
            driver, timing = watch.driver, watch.driver.timing
            missing = partial(watch.missing, changed)
            patience = timing.however_late(DELAY)
            began = driver.now()
            difference = still_missing(missing, driver.wait_until, timing, now=began, patience=patience)
            if difference is None and watch.heard:
                timing.told(driver.now() - began)
            if difference is not None and driver.ended:
                raise Mismatch("PF-215", f"the connection of {watch.name} was ended ({driver.ended})")
            if difference is not None:
                raise difference
        self.catch_up()
        for watch in self.watches.values():
            watch.hear()
            if watch.transaction.is_over:
                raise Mismatch("PF-137", f"{watch.name} has ended, and nobody unsubscribed it: {watch.transaction}")
            for what, count in watch.heard.items():
                self.judged[HEARD[what]] += count
                watch.driver.timing.awaited(notification_of(what), True)
            watch.heard.clear()

    def catch_up(self) -> None:
        """Make sure that what was sent to any client by now has come: all are asked at once, and then waited for."""
        drivers = {id(watch.driver): watch.driver for watch in self.watches.values()}
        asked = [(driver, driver.begin("ping")) for driver in drivers.values()]
        for driver, ping in asked:
            if not driver.finish(ping).completed and not driver.ended:
                raise Mismatch("PF-227", f"a ping is not completed: {ping}")

    # --- the end ------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Take back what was published, each owner its own, and end all connections."""
        with BUDGET.aside():
            self.bring_back()
            for driver, transactions in [(driver, list(self.take_back(driver))) for driver in self.clients.values()]:
                for transaction in transactions:
                    driver.finish(transaction)
            for driver in self.clients.values():
                driver.close()

    def bring_back(self) -> None:
        """Come back as those who have left orphans that would stay for long: their owner alone may be let take them."""
        for who, client_id in list(self.away.items()):
            if any(service.ttl > LONG for service in self.model.directory.owned(client_id)):
                # What hinders it is for histories to say, and not for their end.
                with suppress(HarnessError):
                    self.clients[who] = self.node.back(client_id)

    def take_back(self, driver: Driver) -> Iterator[Transaction]:
        """Begin to take back what a client owns, and what nobody does: a server may let its owner only."""
        for service in self.model.directory:
            is_orphan = service.owner not in self.model.links
            if not driver.ended and (service.owner == driver.client_id or is_orphan):
                yield driver.begin("unpublish", {"service-id": service.id})


HEARD = {"appeared": "PF-121", "modified": "PF-122", "disappeared": "PF-123"}
"""The rules that are judged by what is told."""
