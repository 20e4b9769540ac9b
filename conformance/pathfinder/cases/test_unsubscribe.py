"""Pathfinder, "Unsubscribe Command": how subscriptions end."""

from conformance.cases import judging, rule
from conformance.pathfinder.answers import granted
from conformance.pathfinder.roles import SERVER
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction

MANDATORY = {"ta-cmd", "ta-id", "msg-type"}


def fields_of(transaction: Transaction) -> set[str]:
    """Return the names of the fields of what ended a transaction."""
    return set(transaction.ending.fields) if transaction.ending is not None else set()


@rule("PF-132", "PF-137", "PF-138", roles=SERVER)
def test_unsubscribe_what_was_subscribed(node: NodeUnderTest) -> None:
    """Subscribe and unsubscribe; both transactions are completed, by messages without fields of their own.

    The subscription is not listed any more, and its identifier is free.
    """
    id = new_id()
    watch = node.main.sure(node.main.subscribe(node.mine, id=id))
    unsubscribe = node.main.unsubscribe(id)
    node.main.finish(watch)
    with judging("PF-137"):
        assert granted(unsubscribe), f"unsubscribe is not completed: {unsubscribe}"
        assert watch.completed, f"the transaction of a subscription that was ended goes on: {watch}"
        # Which of the two ends first is open: noted, and not judged.
        order = [event for event in node.main.received() if event in (unsubscribe.ending, watch.ending)]
        node.shows("PF-137", "R15", "A" if order[0] is unsubscribe.ending else "B")
        listed = node.main.sure(node.main.subscriptions()).notifications
        assert id not in [fields.get("subscription-id") for fields in listed], "a subscription is listed that was ended"
        assert granted(node.main.subscribe(node.mine, id=id)), (
            "the identifier of a subscription that was ended is taken"
        )
    with judging("PF-132"):
        assert fields_of(watch) == MANDATORY, "the complete of a subscription has not the mandatory fields alone"
    with judging("PF-138"):
        assert fields_of(unsubscribe) == MANDATORY, "the complete of unsubscribe has not the mandatory fields alone"


@rule("PF-140", roles=SERVER)
def test_unsubscribe_what_is_not_there(node: NodeUnderTest) -> None:
    """Unsubscribe under an identifier that was never used, and one that was unsubscribed before.

    Both fail; the reason, if any, is that there is no such subscription.
    """
    used = new_id()
    node.main.sure(node.main.subscribe(node.mine, id=used))
    node.main.sure(node.main.unsubscribe(used))
    for id in (new_id(), used):
        unsubscribe = node.main.unsubscribe(id)
        granted(unsubscribe)
        assert unsubscribe.failed, f"a subscription is ended that there is not: {unsubscribe}"
        assert unsubscribe.reason in (None, "non-existent-subscription-id")


@rule("PF-216", roles=SERVER, needs=("PF-120",))
def test_unsubscribe_what_is_another_clients(node: NodeUnderTest) -> None:
    """Somebody unsubscribes under the identifier of another client's subscription.

    That is not done, and the subscription goes on.
    """
    id = new_id()
    watch = node.main.sure(node.main.subscribe(node.mine, id=id))
    # A client that has no part in it, so that it is not the owner's right that is refused.
    stranger = node.session()
    unsubscribe = stranger.unsubscribe(id)
    assert unsubscribe.refused, "a client ends the subscription of another"
    reading = {"permission-denied": "A", "non-existent-subscription-id": "B"}.get(str(unsubscribe.reason), "C")
    node.shows("PF-216", "R08", reading)
    service = node.service()
    node.other.sure(node.other.publish(service))
    assert node.main.receives(watch, "appeared", service.id), (
        "a subscription is deaf since another client unsubscribed it"
    )
