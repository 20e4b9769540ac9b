"""The service of a Pathfinder server: what is published is told and found, and goes with who published it."""

import itertools
from contextlib import suppress

from fuzz.net.targets import ServiceBroken, expect
from fuzz.pathfinder.messages import EDGES
from harness.errors import HarnessError
from harness.pathfinder.tester.driver import TTL, Driver, Service, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Match, Transaction, match_of

NAME = "goldwire"
"""The property of the services here; tests have others."""

SERVED = f"(&({NAME}=served)(!(n<0)))"
"""What the one who listens is told of."""

EVERY = 4
"""One check in so many is about a service that outlives its owner, which takes more of them to end."""


_IDS = itertools.cycle(each for each in EDGES if 0 < each < 1 << 53)
"""Of the subscriptions of who listens, which any server takes: each time another, as an earlier one may not be over."""


class PathfinderService:
    """Services that are told to whom they concern, and listed; those of two sessions that stay, and of a fresh one."""

    def __init__(self, node: NodeUnderTest) -> None:
        self.node = node
        self.checks = 0
        self.place = 0
        """Up to where the notifications are known, of the one who listens."""

    def begin(self) -> None:
        self.listener, self.holder = self.node.session(), self.node.session()
        self.held = Service(new_id(), {NAME: ["held"]})
        self.holder.sure(self.holder.publish(self.held))
        # Tests say it too: whoever has that refused is to do no harm to this one.
        self.watch = self.listener.sure(self.listener.subscribe(SERVED, id=next(_IDS)))

    def check(self) -> None:
        self.checks += 1
        self.look_at_those_who_stay()
        # What has no TTL is gone with its owner.
        ttl = 0 if self.checks % EVERY else TTL
        service = Service(new_id(), {NAME: ["served"], "n": [self.checks]}, ttl=ttl)
        fresh = self.fresh()
        try:
            self.publish(fresh, service)
            self.look_it_up(fresh, service)
        finally:
            self.node.sessions.remove(fresh)
            fresh.close()
        if ttl:
            lost = self.is_told("modified", service, "that its owner has gone is not told of what somebody published")
            expect(lost is not None and lost.is_orphan, "service", "what has lost its owner is no orphan")
            self.done(self.holder.unpublish(service.id), self.holder, "an orphan cannot be taken back")
        self.is_told("disappeared", service, "the end of a session does not end what it published")

    def fresh(self) -> Driver:
        """Return a fresh session."""
        try:
            return self.node.session()
        except HarnessError as error:
            raise ServiceBroken("hang", "nobody gets a session any more") from error

    def publish(self, fresh: Driver, service: Service) -> None:
        """Publish something, of which the one who listens is to be told."""
        self.done(fresh.publish(service), fresh, "a fresh session cannot publish anything")
        self.is_told("appeared", service, "what a fresh session publishes is not told to whom it concerns")

    def look_it_up(self, fresh: Driver, service: Service) -> None:
        """Look for all that is published here, and for whoever is there."""
        # All at once: what is far away is to be asked once.
        asked = [fresh.begin("services", {"filter": f"({NAME}=*)"}), *map(fresh.begin, ("subscriptions", "clients"))]
        fresh.finish_all(asked)
        for listing in asked:
            self.done(listing, fresh, f"a fresh session gets no list of {listing.command}")
        services, subscriptions, clients = (listing.notifications for listing in asked)
        found = {each.get("service-id"): each for each in services}
        expect(service.id in found, "service", "what is published is not listed")
        held = found.get(self.held.id)
        whole = held is not None and held.get("client-id") == self.holder.client_id and "orphan-since" not in held
        expect(whole, "harm", "what somebody else published is not there any more, or not his")
        subscribers = {each.get("client-id") for each in subscriptions}
        here = self.listener.client_id in subscribers
        expect(here, "harm", "the subscription of somebody else is not there any more")
        everybody = {fresh.client_id, self.listener.client_id, self.holder.client_id}
        is_whole = everybody <= {each.get("client-id") for each in clients}
        expect(is_whole, "service", "who is there is not listed")

    # --- what is expected -----------------------------------------------------------------------------------

    def done(self, transaction: Transaction, session: Driver, what: str) -> Transaction:
        """Return what completed; who is not answered is served no longer, and who is refused not as he should be."""
        if not transaction.completed:
            self.look_at_those_who_stay()
            raise ServiceBroken("service" if transaction.is_over or session.ended else "hang", what)
        return transaction

    def is_told(self, how: str, service: Service, what: str) -> Match | None:
        """Return what the one who listens is told of a service; ``ServiceBroken`` when that never comes."""
        # All of it would be read again and again: of a few hundred services there is much.
        place = self.place
        found: Match | None = None

        def is_there() -> bool:
            nonlocal place, found
            answers = self.watch.answers
            while place < len(answers) and found is None:
                match = match_of(answers[place])
                found = match if (match.what, match.service_id) == (how, service.id) else None
                place += 1
            return found is not None

        self.listener.wait_for_notification(is_there, how)
        self.place = place
        self.look_at_those_who_stay()
        expect(found is not None, "service", what)
        return found

    def look_at_those_who_stay(self) -> None:
        """Raise ``ServiceBroken`` when a session that did nothing wrong, or its subscription, has ended."""
        for session in (self.listener, self.holder):
            session.exchange.read_until(lambda: False, session.now())
            expect(not session.ended, "harm", "the session of somebody who did nothing wrong was ended")
        expect(not self.watch.is_over, "harm", "the subscription of somebody who did nothing wrong was ended")

    def end(self) -> None:
        with suppress(HarnessError):
            self.node.close()
