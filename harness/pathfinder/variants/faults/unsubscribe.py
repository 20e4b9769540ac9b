"""Faults against Pathfinder, "Unsubscribe Command": how subscriptions end."""

from harness.pathfinder.peers.answering import NON_EXISTENT_SERVICE_ID, NON_EXISTENT_SUBSCRIPTION_ID
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session, Subscription
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-132", does="repeats the subscription-id when a subscription ends")
class NamesWhatEnds(Lenient):
    def end(self, subscription: Subscription) -> None:
        self.complete(subscription.session, subscription.request, {"subscription-id": subscription.id})


@fault("PF-137", does="leaves the transaction of a subscription open that was ended")
class LeavesTransactionsOpen(Server):
    def end(self, subscription: Subscription) -> None:
        pass


@fault("PF-137", does="lists a subscription that was ended, and keeps its identifier")
class KeepsEndedSubscriptions(Server):
    def on_unsubscribe(self, session: Session, request: Message) -> None:
        ended = self.subscriptions.get(request["subscription-id"])
        super().on_unsubscribe(session, request)
        if ended is not None:
            self.subscriptions[ended.id] = ended

    def end(self, subscription: Subscription) -> None:
        self.ended = {*getattr(self, "ended", ()), subscription.id}
        super().end(subscription)

    def forget(self, subscription: Subscription) -> None:
        if subscription.id not in getattr(self, "ended", ()):
            super().forget(subscription)


@fault("PF-138", does="repeats the subscription-id in what an unsubscribe is answered")
class UnsubscribeNamesWhatEnded(Lenient):
    def complete(self, session: Session, request: Message, fields: Message | None = None) -> None:
        if request["ta-cmd"] == "unsubscribe":
            fields = {"subscription-id": request["subscription-id"]}
        super().complete(session, request, fields)


@fault("PF-140", does="says of a subscription that is not there what is said of a service")
class MistakesSubscriptionsForServices(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        wrong = reason == NON_EXISTENT_SUBSCRIPTION_ID
        super().fail(session, request, NON_EXISTENT_SERVICE_ID if wrong else reason)


@fault("PF-140", does="completes the end of a subscription that is not there")
class EndsWhatIsNotThere(Server):
    def on_unsubscribe(self, session: Session, request: Message) -> None:
        if request["subscription-id"] in self.subscriptions:
            super().on_unsubscribe(session, request)
        else:
            self.complete(session, request)


@fault("PF-216", does="lets everybody end any subscription")
class AnybodyUnsubscribes(Server):
    def may_unsubscribe(self, session: Session, subscription: Subscription) -> bool:
        return True


@fault("PF-216", does="refuses to end another client's subscription, and ends it")
class RefusesAndEnds(Server):
    def may_unsubscribe(self, session: Session, subscription: Subscription) -> bool:
        if subscription.session is not session:
            # Filed under nothing: it is there, and is told nothing.
            self.subscribers.remove(subscription.id, subscription.selection.anchors)
            self.subscribers.add(subscription.id, ())
        return subscription.session is session
