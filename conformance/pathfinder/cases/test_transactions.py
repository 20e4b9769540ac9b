"""Pathfinder, "Transactions": requests and what answers them, several at once."""

from collections.abc import Iterator

from conformance.cases import Inconclusive, judging, rule
from conformance.pathfinder.answers import granted, listed, values_of
from conformance.pathfinder.roles import SERVER
from conformance.pathfinder.stimuli import TA
from conformance.pathfinder.waiting import wait_until
from harness.pathfinder.tester.driver import Driver, new_id
from harness.pathfinder.tester.node_under_test import NodeUnderTest
from harness.pathfinder.tester.transactions import Transaction
from wire.json.strict import MOST

# Any server should have room for these; a bound is what another case is about.
SOME = 20
"""Subscriptions that any server has room for at once."""

# More than fits one packet, or the transactions that most servers allow a client.
MANY = 150


def answer_types(transaction: Transaction) -> list[str]:
    """Return the types of all messages that came under a request's identifier, also behind its end."""
    return [event.type for event in (*transaction.answers, *transaction.late)]


def single(node: NodeUnderTest) -> Iterator[Transaction]:
    """Play every command that has one response, so that it is carried out and so that it is not."""
    # Versions that nobody speaks: this hello must fail.
    yield node.connect().hello(minimum=1000, maximum=2000)
    yield node.main.hello()
    service = node.service(name=["x"])
    # A higher generation first, so that the second publish must fail; then the service once and once more.
    yield node.main.publish(service.newer())
    yield node.main.publish(service)
    for _ in range(2):
        yield node.main.unpublish(service.id)
    watch = node.main.subscribe(node.mine)
    for _ in range(2):
        yield node.main.unsubscribe(watch.request.fields["subscription-id"])
    yield node.main.ping()


def subscriptions(session: Driver) -> list[object]:
    """Return the identifiers that are listed of subscriptions, everybody's."""
    return [fields.get("subscription-id") for fields in session.sure(session.subscriptions()).notifications]


@rule("PF-008", roles=SERVER)
def test_an_identifier_is_free_again(node: NodeUnderTest) -> None:
    """Ping three times under one ta-id, one after the other; subscribe, unsubscribe and ping under another.

    Each request is answered: what was used before is free.
    """
    # Three: the second shows that it is free, the third that being used twice changed nothing.
    for _ in range(3):
        assert node.main.finish(node.main.begin("ping", ta=TA)).completed, "a ta-id is not free behind its complete"
    id = new_id()
    # A subscription holds its ta-id longest, and ends by another request than its own.
    watch = node.main.begin("subscribe", {"subscription-id": id, "filter": node.mine}, ta=TA + 1)
    node.main.sure(node.main.answered(watch))
    node.main.sure(node.main.unsubscribe(id))
    node.main.sure(node.main.finish(watch))
    assert node.main.finish(node.main.begin("ping", ta=TA + 1)).completed, (
        "the ta-id of a past subscription is not free"
    )


@rule("PF-008", roles=SERVER)
def test_the_identifier_of_a_refused_request(node: NodeUnderTest) -> None:
    """Make a request of each kind that must fail, then ping and subscribe under its ta-id.

    Both are answered: with its fail a transaction is over.
    """
    service = node.service(name=["x"], generation=5)
    node.other.sure(node.other.publish(service))
    taken = node.other.sure(node.other.subscribe(node.mine)).request.fields["subscription-id"]
    session = node.session()
    for command, fields in (
        # No filter in any reading; an identifier that is taken; what is not there; a lower generation.
        ("subscribe", {"subscription-id": new_id(), "filter": "(a=b"}),
        ("subscribe", {"subscription-id": taken, "filter": node.mine}),
        ("services", {"filter": "(a=b"}),
        ("publish", service.replace(generation=4).fields),
        ("unpublish", {"service-id": new_id()}),
        ("unsubscribe", {"subscription-id": new_id()}),
    ):
        ta = session.take_ta()
        refused = session.begin(command, fields, ta=ta)
        session.answered(refused)
        if session.ended:
            session = node.session()
        if not refused.failed or refused.is_closed:
            continue  # whether it fails, and how, is for other cases to judge
        ping = session.finish(session.begin("ping", ta=ta))
        assert ping.completed, f"the ta-id of a {command} that failed is not free: {ping}"
        id = new_id()
        watch = session.answered(session.begin("subscribe", {"subscription-id": id, "filter": node.mine}, ta=ta))
        assert watch.accepted, f"the ta-id of a {command} that failed is not free: {watch}"
        # A server may have room for few.
        session.sure(session.unsubscribe(id))


@rule("PF-008", roles=SERVER)
def test_an_identifier_of_another_connection(node: NodeUnderTest) -> None:
    """Somebody subscribes under a ta-id; others ping, list and subscribe under the same.

    Identifiers are a connection's own.
    """
    watch = node.main.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}, ta=TA)
    node.main.sure(node.main.answered(watch))
    assert node.other.finish(node.other.begin("ping", ta=TA)).completed, "a ta-id is refused that another client uses"
    services = node.other.finish(node.other.begin("services", {"filter": node.mine}, ta=TA))
    assert services.completed, "a ta-id is refused that another client uses"
    assert not watch.is_over, "a subscription is ended by what another client does"


@rule("PF-084", roles=SERVER)
def test_every_answer_names_its_request(node: NodeUnderTest) -> None:
    """Send requests of all commands at once, under scattered ta-ids.

    Every answer has the ta-id and the ta-cmd of one of them.
    """
    service, id = node.service(name=["x"]), new_id()
    asked = [
        ("ping", {}),
        ("subscribe", {"subscription-id": id, "filter": node.mine}),
        ("publish", service.fields),
        ("publish", service.newer(ttl=30).fields),
        ("services", {"filter": node.mine}),
        ("subscriptions", {}),
        ("clients", {}),
        ("publish", service.fields),
        ("unpublish", {"service-id": service.id}),
        ("unpublish", {"service-id": service.id}),
        ("unsubscribe", {"subscription-id": id}),
        ("unsubscribe", {"subscription-id": id}),
        ("services", {"filter": "(a=b"}),
        ("ping", {}),
    ]
    session = node.session()
    # Scattered, so that whoever counts transactions instead of reading the number is found out.
    begun = [session.begin(command, fields, ta=TA ^ number * 7919) for number, (command, fields) in enumerate(asked)]
    for transaction in begun:
        session.finish(transaction)
    own = {(each.ta, each.command) for each in session.conversation.transactions}
    strange = [(event.ta, event.command) for event in session.received() if (event.ta, event.command) not in own]
    assert not strange, "an answer has the ta-id and ta-cmd of no request"


@rule("PF-085", roles=SERVER)
def test_nothing_comes_unasked(node: NodeUnderTest) -> None:
    """Connect and wait while another client publishes; then say hello and ping.

    Nothing comes before hello's answer, and nothing between the two.
    """
    session = node.connect()
    node.other.sure(node.other.publish(node.service(name=["x"])))
    node.other.barrier()
    # The ping bounds the time in which anything else could come.
    session.sure(session.hello())
    session.barrier()
    said = [event.command for event in session.received()]
    assert said == ["hello", "ping"], "the server says something that nobody asked for"


@rule("PF-086", roles=SERVER, needs=("PF-120",))
def test_transactions_end_with_their_connection(node: NodeUnderTest) -> None:
    """Subscribe, end the connection, and come back as the same client.

    The subscription is not listed, its identifier is free, and what is published is told once.
    """
    for end in ("close", "abort"):
        # Both ways in which a connection can end.
        session, id = node.session(), new_id()
        session.sure(session.subscribe(node.mine, id=id))
        getattr(session, end)()
        session = node.back(session.client_id)
        assert wait_until(node, lambda id=id: id not in subscriptions(node.main)), (  # type: ignore[misc]
            "a subscription is listed whose connection has ended"
        )
        watch = session.subscribe(node.mine, id=id)
        assert watch.accepted, "a subscription-id is not free when its connection has ended"
        service = node.service(name=["x"])
        node.main.sure(node.main.publish(service))
        session.receives(watch, "appeared", service.id)
        session.barrier()
        # By service-id: the new subscription's own snapshot may tell of other services.
        told = [event for event in session.received() if event.fields.get("service-id") == service.id]
        assert len(told) <= 1, "a subscription of a connection that has ended is told of a service"


@rule("PF-087", roles=SERVER, needs=("PF-098",))
def test_many_transactions_at_once(node: NodeUnderTest) -> None:
    """Open some subscriptions, then send fifty pings and three listings at once behind them.

    All are answered, and the subscriptions stay open.
    """
    session = node.session()
    watches = [session.subscribe(node.mine) for _ in range(SOME)]
    if any(watch.reason == "insufficient-resources" for watch in watches):
        raise Inconclusive(f"the server has no room for {SOME} subscriptions of one client")
    assert all(watch.accepted for watch in watches), "a transaction is refused while others are open"
    # Behind the pings: answers of many messages behind answers of one.
    listings = ("services", "subscriptions", "clients")
    begun = [session.begin("ping") for _ in range(50)] + [session.begin(command) for command in listings]
    for transaction in begun:
        session.finish(transaction)
    if any(each.reason == "insufficient-resources" for each in begun):
        raise Inconclusive("the server has no room for so many transactions of one client")
    assert all(each.completed for each in begun), "a transaction is not completed while others are open"
    assert not any(watch.is_over for watch in watches), "a subscription is ended by other transactions"


@rule("PF-088", roles=SERVER, needs=("PF-120",))
def test_a_bound_on_transactions(node: NodeUnderTest) -> None:
    """Subscribe many times on one connection, or until that is refused.

    What was accepted stays: a service is told on each of them.
    """
    session = node.session()
    # All sent before any answer is read, so that they are open at once from the server's side, too.
    begun = [session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}) for _ in range(MANY)]
    for each in begun:
        session.answered(each)
    assert not session.ended, "a bound on transactions ends the connection"
    refused = [each.reason for each in begun if each.failed]
    assert set(refused) <= {None, "insufficient-resources"}, "a bound on transactions is given another reason"
    assert session.ping().ending, "behind a bound on transactions nothing is answered"
    service, open_ones = node.service(name=["x"]), [each for each in begun if each.accepted]
    node.other.sure(node.other.publish(service))
    for each in open_ones:
        assert session.receives(each, "appeared", service.id), "a subscription that was accepted is told nothing"


@rule("PF-087", "PF-137", roles=SERVER, needs=("PF-120",))
def test_behind_many_transactions(node: NodeUnderTest) -> None:
    """Subscribe many times on one connection, as often as is granted; behind them do all else that a client does.

    Each request is carried out. Each subscription is listed, can be ended, the last one first, and is completed then.
    """
    session = node.session()
    begun = [session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}) for _ in range(MANY)]
    watches = [each for each in begun if session.answered(each).accepted]
    if len(watches) < SOME or session.ended:
        raise Inconclusive(f"the server grants {len(watches)} subscriptions of one client")
    service = node.service(name=["x"])
    asked = {
        "publish": session.begin("publish", service.fields),
        "publish it again": session.begin("publish", service.newer(ttl=30).fields),
        "list services": session.begin("services", {"filter": node.mine}),
        "list subscriptions": session.begin("subscriptions"),
        "list clients": session.begin("clients"),
        "ping": session.begin("ping"),
        "unpublish": session.begin("unpublish", {"service-id": service.id}),
    }
    session.finish_all(list(asked.values()))
    if any(each.reason == "insufficient-resources" for each in asked.values()):
        raise Inconclusive(f"the server has no room for more beside {len(watches)} subscriptions")
    with judging("PF-087"):
        for what, each in asked.items():
            assert each.completed, f"behind {len(watches)} subscriptions, {what} is not completed: {each}"
        told = {fields.get("subscription-id") for fields in asked["list subscriptions"].notifications}
        assert all(id_of(each) in told for each in watches), "a subscription is not listed"
        # What they are told of it is open: of what came and went at once nothing need be told.
        assert not any(each.is_over for each in watches), "a subscription is ended by other transactions"
    with judging("PF-137"):
        ending = [session.begin("unsubscribe", {"subscription-id": id_of(each)}) for each in reversed(watches)]
        session.finish_all(ending)
        assert all(each.completed for each in ending), f"of {len(watches)} subscriptions one cannot be ended"
        for each in watches:
            assert session.finish(each).completed, f"one of {len(watches)} subscriptions is ended, and not completed"
        left = {id_of(each) for each in watches} & set(subscriptions(session))
        assert not left, f"of {len(watches)} subscriptions that were ended, {len(left)} are listed"


def id_of(watch: Transaction) -> object:
    """Return the identifier of the subscription that a transaction began."""
    return watch.request.fields["subscription-id"]


@rule("PF-092", roles=SERVER)
def test_any_identifier_will_do(node: NodeUnderTest) -> None:
    """Say hello under ta-id 0, then ping under 1, 2^63-1 and 5.

    Each is answered under its number.
    """
    session = node.connect()
    assert session.hello().completed, "hello is refused under ta-id 0"
    # The largest and two that are out of order: identifiers need not count up.
    for ta in (1, MOST, 5):
        assert session.finish(session.begin("ping", ta=ta)).completed, "a ping is refused for its ta-id"


@rule("PF-094", roles=SERVER)
def test_single_requests_are_answered(node: NodeUnderTest) -> None:
    """Play each command of one response rightly, and so that it must fail.

    Each is answered by complete or fail.
    """
    for transaction in single(node):
        assert transaction.ending is not None, "a request is answered neither by complete nor by fail"


@rule("PF-095", roles=SERVER)
def test_single_requests_are_answered_once(node: NodeUnderTest) -> None:
    """Play each command of one response, rightly and wrongly; then ping.

    Nothing but one complete or one fail has come to each.
    """
    played = list(single(node))
    node.main.barrier()
    for transaction in played:
        # Nothing at all is judged by the case above.
        types = answer_types(transaction)
        assert types in ([], ["complete"], ["fail"]), "a request that has one response has another one as well"


@rule("PF-096", roles=SERVER, needs=("PF-157",))
def test_what_failed_was_not_done(node: NodeUnderTest) -> None:
    """Publish generation 5, then 4 with other properties, then take it back.

    What fails changes nothing, and what completes does.
    """
    # Above 0, so that there is an older generation to publish.
    service = node.service(name=["x"], generation=5)
    node.other.sure(node.other.publish(service))
    older = node.other.publish(service.replace(generation=4, props=node.service(name=["y"]).props))
    fields = listed(node, service)
    state = fields.get("generation"), values_of(fields, "name")
    # Whether it may complete is another rule (PF-165); here the answer and the state have to agree.
    expected = (4, ["y"]) if older.completed else (5, ["x"])
    assert state == expected, "what became of a service is not what the answer said"
    unpublish = node.other.unpublish(service.id)
    assert (service.id in node.listed()) is not unpublish.completed, "an unpublish did not do what its answer says"


@rule("PF-098", roles=SERVER)
def test_multiple_responses_begin_with_accept(node: NodeUnderTest) -> None:
    """Ask for everything of which there is something to tell, and with a filter that is none.

    The first answer is accept or fail; behind a fail nothing comes.
    """
    node.other.sure(node.other.publish(node.service(name=["x"])))
    node.main.sure(watch := node.main.subscribe(node.mine))
    played = [
        watch,
        node.main.services(node.mine),
        node.main.subscriptions(),
        node.main.clients(),
        # No filter in any reading, the only failure that these two commands share.
        node.main.subscribe("(a=b"),
        node.main.services("(a=b"),
    ]
    node.main.barrier()
    for transaction in played:
        types = answer_types(transaction)
        assert types[:1] in (["accept"], ["fail"]), "the first answer is neither accept nor fail"
        assert types[0] == "accept" or len(types) == 1, "something comes behind a fail"


@rule("PF-099", roles=SERVER, needs=("PF-157",))
def test_none_or_many_notifications(node: NodeUnderTest) -> None:
    """List services when none matches, and when a hundred and fifty do.

    Between accept and complete come none, and a hundred and fifty.
    """
    # First, while none of the play's services exists.
    empty = node.main.services(node.mine)
    assert granted(empty), f"a listing of nothing is refused, or has no end: {empty}"
    services = [node.service(n=[number]) for number in range(MANY)]
    for published in node.other.finish_all([node.other.begin("publish", service.fields) for service in services]):
        node.other.sure(published)
    full = node.main.services(node.mine)
    assert granted(full), f"a long listing is refused, or has no end: {full}"
    assert len(full.notifications) == MANY, "a long listing has another length"


@rule("PF-100", roles=SERVER)
def test_complete_follows_accept(node: NodeUnderTest) -> None:
    """List services when none matches; subscribe and unsubscribe when none matches.

    Each complete has an accept before it.
    """
    watch = node.main.subscribe(node.mine)
    played = [node.main.services(node.mine), watch]
    node.main.unsubscribe(watch.request.fields["subscription-id"])
    node.main.finish(watch)
    for transaction in played:
        types = answer_types(transaction)
        assert "complete" not in types or types[0] == "accept", "a complete comes without an accept"


@rule("PF-101", roles=SERVER, needs=("PF-120",))
def test_nothing_comes_behind_the_end(node: NodeUnderTest) -> None:
    """List everything, subscribe and unsubscribe; then others publish, subscribe and connect.

    Nothing more comes in those transactions, and none had two accepts.
    """
    watch = node.main.sure(node.main.subscribe(node.mine))
    service = node.service(name=["x"])
    node.other.sure(node.other.publish(service))
    node.main.receives(watch, "appeared", service.id)
    node.main.sure(node.main.unsubscribe(watch.request.fields["subscription-id"]))
    node.main.finish(watch)
    played = [watch, node.main.services(node.mine), node.main.subscriptions(), node.main.clients()]
    # A change, a new service, a new subscription and a new client: each is news to one of the four that ended.
    node.other.sure(node.other.publish(service.newer(ttl=30)))
    node.other.sure(node.other.publish(node.service(name=["y"])))
    node.session().subscribe(node.mine)
    node.other.barrier()
    node.main.barrier()
    for transaction in played:
        assert not transaction.late, "something comes in a transaction that is over"
        assert answer_types(transaction).count("accept") <= 1, "a request is accepted more than once"


@rule("PF-230", roles=SERVER)
def test_a_request_under_an_identifier_in_use(node: NodeUnderTest) -> None:
    """Subscribe, then ping under the subscription's ta-id.

    The ping is completed, or fails, or ends the connection; it is not passed over.
    """
    session = node.session()
    watch = session.begin("subscribe", {"subscription-id": new_id(), "filter": node.mine}, ta=TA)
    session.sure(session.answered(watch))
    ping = session.begin("ping", ta=TA)
    session.wait_until(lambda: ping.is_over or watch.is_over)
    if session.ended:
        node.shows("PF-230", "R18", "A")
        return
    ends = [event.type for event in session.received() if event.ta == TA and event.type in ("complete", "fail")]
    assert ends, "a request under a ta-id in use is passed over in silence"
    node.shows("PF-230", "R18", "B" if ends[0] == "complete" else "C")
    assert session.is_served() or session.ended, "behind a request under a ta-id in use nothing is answered"
