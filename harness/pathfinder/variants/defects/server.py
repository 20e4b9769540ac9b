"""Defects of servers. None shows in a case of the suite: each wants something that no document speaks of.

Each calls what it overrides, so that one server can have all of them.
"""

import os
import time

from harness.pathfinder.peers.answering import RequestRefused
from harness.pathfinder.peers.directory import ServiceRecord
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Selection, Session, Subscription
from harness.pathfinder.variants.registry import defect
from wire.pathfinder.filters import Composite, Filter, Substring, operands, walk
from wire.pathfinder.values import VERSION, Message

LONG = 60.0
"""Seconds for which a server that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of a filter that has more than 64 escapes")
class DiesOfManyEscapes(Server):
    def parse(self, text: str) -> Filter:
        places = bytearray(64)
        for number in range(text.count("\\")):
            places[number] = 1
        return super().parse(text)


@defect("parser", does="dies of a filter in which more than 127 filters stand beside each other")
class DiesOfManyOperands(Server):
    def parse(self, text: str) -> Filter:
        tree = super().parse(text)
        for each in walk(tree):
            if isinstance(each, Composite):
                len(operands(each)).to_bytes(1, signed=True)
        return tree


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies when a subscription is made anew under the number of one that its session has ended")
class DiesOfARenewedSubscription(Server):
    def remember(self, subscription: Subscription) -> None:
        ended: dict[int, str | None] = vars(subscription.session).setdefault("ended", {})
        # What is kept of the old one has its filter, which is looked for among the new one's.
        if subscription.id in ended and (ended[subscription.id] is None) != (subscription.selection.filter is None):
            raise LookupError(subscription.id)
        super().remember(subscription)

    def end(self, subscription: Subscription) -> None:
        vars(subscription.session).setdefault("ended", {})[subscription.id] = subscription.selection.filter
        super().end(subscription)


@defect("state", does="dies when a subscription is ended behind another hello, which was of later versions only")
class DiesOfAnotherHello(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        # It begins to make all anew that the client has, and goes back too late.
        if request["protocol-minimum-version"] > VERSION:
            vars(session)["lost"] = {each.id for each in session.live.values()}
        super().greet_again(session, request)

    def on_unsubscribe(self, session: Session, request: Message) -> None:
        if request["subscription-id"] in vars(session).get("lost", ()):
            raise LookupError(request["subscription-id"])
        super().on_unsubscribe(session, request)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a filter that it refuses and in whose text a percent sign stands, which it logs")
class DiesOfAPercentSign(Server):
    def parse(self, text: str) -> Filter:
        try:
            return super().parse(text)
        except RequestRefused:
            _ = f"refused: {text}".replace("%%", "") % ()
            raise


@defect("text", does="dies of a property whose name is longer than 255 bytes once it is listed")
class DiesOfALongName(Server):
    def describe(self, service: ServiceRecord) -> Message:
        for name in service.props:
            bytes([len(name.encode())])
        return super().describe(service)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each subscription that is refused since its number is taken")
class LeaksADescriptorForATakenNumber(Server):
    def is_taken(self, subscription_id: int) -> bool:
        taken = super().is_taken(subscription_id)
        if taken:
            vars(self).setdefault("leaked", []).append(os.dup(2))
        return taken


@defect("resource", does="keeps what it has found for a filter with a not when the subscription ends with its session")
class LeaksNegations(Server):
    def subscription(self, session: Session, request: Message) -> Subscription:
        made = super().subscription(session, request)
        if "(!" in (made.selection.filter or ""):
            vars(session).setdefault("found", []).append(bytearray(b"x") * (1 << 20))
        return made

    def forget_subscriptions(self, session: Session) -> None:
        if session.live:
            vars(self).setdefault("kept", []).extend(vars(session).get("found", ())[:4])
        super().forget_subscriptions(session)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs where 31 asterisks stand side by side in a filter and a service has a text to try")
class HangsOfAdjacentAsterisks(Server):
    def matches(self, selection: Selection, service: ServiceRecord) -> bool:
        text = selection.filter or ""
        if "*" * 31 in text:
            looked_at = {part.key for part in walk(self.parse(text)) if isinstance(part, Substring)}
            if any(isinstance(each, str) for name in looked_at for each in service.props.get(name, ())):
                time.sleep(LONG)
        return super().matches(selection, service)


@defect("hang", does="hangs of a subscription whose filter has more than 60 nots where several services are")
class HangsOfManyNots(Server):
    def begin(self, subscription: Subscription) -> None:
        text = subscription.selection.filter or ""
        if text.count("(!") > 60 and len(self.directory) > 2:
            time.sleep(LONG)
        super().begin(subscription)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="takes away services of others when one leaves from whom others have taken over several")
class TakesAwayForOthers(Server):
    def on_publish(self, session: Session, request: Message) -> None:
        known = self.directory.get(request["service-id"])
        owner = None if known is None else known.owner
        super().on_publish(session, request)
        known = self.directory.get(request["service-id"])
        if owner is not None and known is not None and known.owner != owner and owner in self.clients:
            gone: set[int] = vars(self.clients[owner]).setdefault("gone", set())
            gone.add(known.id)

    def leave(self, session: Session) -> None:
        super().leave(session)
        # It takes the place of each for still being there, and another one stands in that now.
        gone = vars(session).get("gone", ())
        for service_id in gone if len(gone) > 1 else ():
            if self.directory.get(service_id) is None and len(self.directory):
                self.remove(next(iter(self.directory)))


@defect("harm", does="ends the oldest session when a client with three subscriptions says hello as somebody else")
class EndsTheOldestSession(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        if len(session.live) > 2 and not self.is_same_client(session, request):
            self.close(next(iter(self.clients.values())))
        super().greet_again(session, request)


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="tells nobody of anything any more once a service had 300 names or more")
class TellsNobodyOfServices(Server):
    def on_publish(self, session: Session, request: Message) -> None:
        if len(request["service-props"]) >= 300:
            vars(self)["is_mute"] = True
        super().on_publish(session, request)

    def announce(self, old: ServiceRecord | None, new: ServiceRecord | None) -> None:
        if not vars(self).get("is_mute"):
            super().announce(old, new)


@defect("service", does="lists no services any more once one had 500 values or more under one name")
class ListsNoServices(Server):
    def on_publish(self, session: Session, request: Message) -> None:
        if any(len(values) >= 500 for values in request["service-props"].values()):
            vars(self)["is_full"] = True
        super().on_publish(session, request)

    def snapshot(self, selection: Selection) -> list[ServiceRecord]:
        return [] if vars(self).get("is_full") else super().snapshot(selection)
