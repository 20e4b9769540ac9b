"""The reference server in memory and virtual time: every answer that the document gives, and hostile clients."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from harness.errors import ControlFailed
from harness.pathfinder.peers.limits import GENEROUS, Limits
from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.driver import Driver, Service, encode_message
from harness.pathfinder.tester.transactions import Transaction
from harness.peer_command import peer
from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.timing import Timing
from harness.trace import Trace
from wire.pathfinder.grammar import LARGEST
from wire.pathfinder.values import COMMANDS, MULTIPLE, read

EPOCH = 1_700_000_000.0
MOST = 2**63 - 1

FIELDS: dict[str, dict[str, Any]] = {
    "hello": {"client-id": 1, "protocol-minimum-version": 2, "protocol-maximum-version": 2},
    "subscribe": {"subscription-id": 1},
    "unsubscribe": {"subscription-id": 1},
    "publish": {"service-id": 1, "generation": 0, "service-props": {}, "ttl": 1},
    "unpublish": {"service-id": 1},
}


class House:
    """A server and its world, whose wall clock goes with the virtual one."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.world = World(self.make, "server")
        self.trace = Trace("pathfinder", clock=self.world.clock)
        self.count = 0

    def make(self, settings: PeerSettings) -> Server:
        self.server = Server(wall=lambda: EPOCH + self.world.clock.now(), **self.options)
        return self.server

    def connect(self, client_id: int | None = None) -> Driver:
        self.count += 1
        deployed = self.server.deployed
        link = self.world.link(self.trace, f"l{self.count}")
        return Driver(link, self.trace, client_id=client_id, timing=Timing(answer=0.01), deployed=deployed)

    def client(self, client_id: int | None = None) -> Driver:
        return self.connect(client_id).open()


@pytest.fixture
def house() -> Iterator[House]:
    """A server that must be alive when the test is over."""
    house = House()
    yield house
    assert not house.world.last_output()
    house.client().barrier()


def heard(watch: Transaction, *sessions: Driver) -> list[str]:
    """Read what has been said, and return what a subscription told: ``appeared 1``, ``modified 1, orphan`` …"""
    for session in sessions:
        session.read(0)
    return [repr(match) for match in watch.matches]


# --- the handshake ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "hello"])
def test_nothing_is_done_before_a_hello(house: House, command: str) -> None:
    session = house.connect()
    asked = session.finish(session.begin(command, FIELDS.get(command)))
    assert (asked.reason, asked.accepted) == ("no-hello", False)
    session.open()
    assert not len(house.server.directory)


@pytest.mark.parametrize(
    ("minimum", "maximum", "is_spoken"),
    [(2, 2, True), (0, MOST, True), (1, 2, True), (2, 3, True), (0, 1, False), (3, 9, False), (3, 1, False)],
)
def test_versions(house: House, minimum: int, maximum: int, is_spoken: bool) -> None:
    session = house.connect()
    hello = session.hello(minimum=minimum, maximum=maximum)
    assert hello.completed == is_spoken
    assert hello.ending is not None
    assert hello.reason == (None if is_spoken else "unsupported-protocol-version")
    assert hello.ending.fields.get("protocol-version") == (2 if is_spoken else None)
    assert session.hello().completed


def test_a_repeated_hello(house: House) -> None:
    session = house.client()
    again = session.hello(minimum=5, maximum=7)
    assert again.ending is not None
    assert again.ending.fields["protocol-version"] == 2
    assert session.hello(client_id=session.client_id + 1).reason == "permission-denied"
    assert session.is_served()


def test_a_client_id_is_one_clients_at_a_time(house: House) -> None:
    first = house.client(7)
    second = house.connect(7)
    assert second.hello().reason == "client-id-exists"
    first.close()
    assert second.hello().completed
    second.close()
    assert house.client(7).is_served()


def test_who_never_says_hello_is_sent_away(house: House) -> None:
    silent, rejected, polite = house.connect(), house.connect(), house.client()
    rejected.read(9)
    assert rejected.hello(minimum=3, maximum=3).failed
    silent.read(1.5)
    assert silent.ended
    rejected.read(8)
    assert not rejected.ended
    rejected.read(2)
    assert rejected.ended
    assert polite.is_served()
    assert not house.server.awaiting_hello


def test_the_one_that_waits_longest_makes_room() -> None:
    house = House(limits=Limits(awaiting_hello=100))
    polite = house.client()
    crowd = [house.connect() for _ in range(10_000)]
    for session in (crowd[0], crowd[9_899], crowd[9_900], crowd[-1]):
        session.read(0)
    assert [bool(crowd[at].ended) for at in (0, 9_899, 9_900, 9_999)] == [True, True, False, False]
    assert polite.is_served()
    assert crowd[-1].hello().completed
    assert (len(house.server.sessions), len(house.server.awaiting_hello)) == (101, 99)


# --- what is no request -----------------------------------------------------------------------------------

PING = '"ta-cmd":"ping","ta-id":1'


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"[]",
        b"ping",
        b"\xff\xfe",
        b'{"ta-cmd":"dance","ta-id":1,"msg-type":"request"}',
        f'{{{PING},"msg-type":"complete"}}'.encode(),
        f'{{{PING},"msg-type":"notify"}}'.encode(),
        f'{{{PING},"msg-type":"request","more":1}}'.encode(),
        f'{{{PING},"ta-id":1,"msg-type":"request"}}'.encode(),
        f"{{{PING}}}".encode(),
        f'{{{PING},"msg-type":"request"}} x'.encode(),
        f'\ufeff{{{PING},"msg-type":"request"}}'.encode(),
        b'{"ta-cmd":"ping","ta-id":-1,"msg-type":"request"}',
        b'{"ta-cmd":"ping","ta-id":9223372036854775808,"msg-type":"request"}',
        b'{"ta-cmd":"ping","ta-id":1.0,"msg-type":"request"}',
        b'{"ta-cmd":"subscribe","ta-id":1,"msg-type":"request","subscription-id":1,"filter":"\\u0000"}',
        b'{"ta-cmd":"subscribe","ta-id":1,"msg-type":"request","subscription-id":1,"filter":"\\ud800"}',
        b"[" * 100_000,
        b'{"ta-cmd":' * 20_000,
        b'{"ta-cmd":"ping","ta-id":1,"msg-type":' + b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b" " * (LARGEST + 1),
    ],
)
@pytest.mark.parametrize("greets", [True, False])
def test_what_is_no_request_ends_its_connection_only(house: House, frame: bytes, greets: bool) -> None:
    offender, other = house.client() if greets else house.connect(), house.client()
    said = len(offender.received())
    offender.offend(frame)
    assert offender.ended
    assert len(offender.received()) == said
    assert other.is_served()
    house.client(offender.client_id).barrier()


def test_a_live_transaction_is_not_begun_twice(house: House) -> None:
    session = house.client()
    watch = session.subscribe()
    assert session.is_served()
    session.begin("ping", ta=watch.ta)
    session.read(0)
    assert session.ended
    assert not house.server.subscriptions


def test_what_follows_an_end_is_not_read(house: House) -> None:
    session = house.client()
    session.send_bytes(b"{")
    house.world.give(
        session.link, encode_message({"ta-cmd": "publish", "ta-id": 9, "msg-type": "request", **FIELDS["publish"]})
    )
    assert not len(house.server.directory)


# --- services ---------------------------------------------------------------------------------------------


def test_generations(house: House) -> None:
    session = house.client()
    first = Service(1, {"a": ["x", 5]}, generation=3)
    assert session.publish(first).completed
    assert session.publish(first).completed
    assert session.publish(first.replace(props={"a": [5, "x", 5], "b": []})).completed
    assert session.publish(first.newer(by=-1)).reason == "old-generation"
    assert session.publish(first.replace(ttl=9)).reason == "same-generation-but-different"
    assert session.publish(first.replace(props={"a": ["x", "5"]})).reason == "same-generation-but-different"
    assert session.publish(first.newer(by=5, props={}, ttl=MOST)).completed
    (found,) = session.services().notifications
    assert (found["generation"], found["service-props"], found["ttl"]) == (8, {}, MOST)


def test_what_is_told(house: House) -> None:
    session, other = house.client(1), house.client(2)
    narrow, wide = other.subscribe("(a=1)"), other.subscribe()
    service = Service(1, {"a": [1]})
    session.publish(service)
    session.publish(service)  # nothing has changed
    session.publish(service.newer())  # only the generation has
    session.publish(service.newer(by=2, ttl=5))
    session.publish(service.newer(by=3, ttl=5, props={"a": ["2"]}))
    session.publish(service.newer(by=4, ttl=5, props={"a": ["1"]}))
    session.unpublish(1)
    assert heard(narrow, other) == ["appeared 1", "modified 1", "disappeared 1", "appeared 1", "disappeared 1"]
    assert heard(wide) == ["appeared 1", "modified 1", "modified 1", "modified 1", "disappeared 1"]
    assert session.unpublish(1).reason == "non-existent-service-id"


def test_ownership_moves(house: House) -> None:
    first, second, watcher = house.client(1), house.client(2), house.client(3)
    watch = watcher.subscribe()
    service = Service(1, {})
    first.publish(service)
    second.publish(service)
    first.close()
    assert heard(watch, watcher) == ["appeared 1", "modified 1"]
    assert watch.matches[-1].message["client-id"] == 2
    assert watcher.unpublish(1).completed
    assert heard(watch, watcher)[2:] == ["modified 1", "disappeared 1"]
    assert watch.matches[2].message["client-id"] == 3


def test_an_orphan_lives_for_its_ttl(house: House) -> None:
    owner, watcher = house.client(1), house.client(2)
    watch = watcher.subscribe()
    owner.publish(Service(1, {}, ttl=4))
    owner.publish(Service(2, {}, ttl=1))
    watcher.read(100)
    owner.close()
    assert heard(watch, watcher)[2:] == ["modified 1, orphan", "modified 2, orphan"]
    assert watch.matches[-1].message["orphan-since"] == EPOCH + 100
    watcher.read(3.9)
    assert [(match.what, match.service_id, match.time) for match in watch.matches[4:]] == [("disappeared", 2, 101.0)]
    (found,) = watcher.services().notifications
    assert (found["service-id"], found["client-id"], found["orphan-since"]) == (1, 1, EPOCH + 100)
    watcher.read(1)
    assert (watch.matches[-1].service_id, watch.matches[-1].time) == (1, 104.0)
    assert house.world.clock.now() > 104
    assert house.server.next_tick() is None


@pytest.mark.parametrize("ttl", [0, MOST])
def test_the_limits_of_a_ttl(house: House, ttl: int) -> None:
    owner, watcher = house.client(), house.client()
    owner.publish(Service(1, {}, ttl=ttl))
    owner.close()
    assert len(watcher.services().notifications) == (0 if ttl == 0 else 1)
    watcher.read(1e9)
    assert len(watcher.services().notifications) == (0 if ttl == 0 else 1)


@pytest.mark.parametrize("by", ["the owner", "another"])
def test_an_orphan_is_reclaimed(house: House, by: str) -> None:
    owner, watcher = house.client(1), house.client(2)
    watch = watcher.subscribe()
    service = Service(1, {}, ttl=4)
    owner.publish(service)
    owner.close()
    watcher.read(3)
    heir = house.client(1 if by == "the owner" else 3)
    assert heir.publish(service).completed
    watcher.read(10)
    assert heard(watch) == ["appeared 1", "modified 1, orphan", "modified 1"]
    heir.close()
    watcher.read(10)
    assert heard(watch)[3:] == ["modified 1, orphan", "disappeared 1"]
    assert watch.matches[-1].time == 17.0


def test_an_owner_that_is_back_keeps_its_services(house: House) -> None:
    owner, watcher = house.client(1), house.client(2)
    owner.publish(Service(1, {}, ttl=4))
    owner.close()
    back = house.client(1)
    watcher.read(10)
    (found,) = watcher.services().notifications
    assert "orphan-since" not in found
    assert back.is_served()


def test_an_orphan_is_unpublished_as_ones_own(house: House) -> None:
    owner, watcher = house.client(1), house.client(2)
    watch = watcher.subscribe()
    owner.publish(Service(1, {}))
    owner.close()
    watcher.unpublish(1)
    assert heard(watch, watcher) == ["appeared 1", "modified 1, orphan", "modified 1", "disappeared 1"]
    watcher.read(100)
    assert len(watch.matches) == 4


# --- subscriptions and lists ------------------------------------------------------------------------------


def test_a_subscription_from_beginning_to_end(house: House) -> None:
    session, other = house.client(1), house.client(2)
    session.publish(Service(1, {"a": ["x"]}))
    watch = session.subscribe("(a=x)", id=5)
    assert session.subscribe(id=5).reason == "subscription-id-exists"
    assert other.subscribe(id=5).reason == "subscription-id-exists"
    assert other.unsubscribe(5).reason == "permission-denied"
    assert other.unsubscribe(6).reason == "non-existent-subscription-id"
    (found,) = other.subscriptions().notifications
    assert {name: found[name] for name in ("subscription-id", "client-id", "filter")} == {
        "subscription-id": 5,
        "client-id": 1,
        "filter": "(a=x)",
    }
    assert session.unsubscribe(5).completed
    assert watch.completed
    other.publish(Service(2, {"a": ["x"]}))
    session.barrier()
    assert [answer.type for answer in watch.answers] == ["accept", "notify", "complete"]
    assert not watch.late
    assert session.subscribe(id=5).accepted


@pytest.mark.parametrize("text", ["", "(", "(a)", "(a=1))", "x", "(!" * 20_000, "(|)"])
@pytest.mark.parametrize("command", ["subscribe", "services"])
def test_filters_that_are_none(house: House, command: str, text: str) -> None:
    session = house.client()
    asked = session.subscribe(text) if command == "subscribe" else session.services(text)
    # By the letter, a list has no word for that.
    assert (asked.reason, asked.accepted) == ("invalid-filter-syntax" if command == "subscribe" else None, False)
    assert asked.failed


@pytest.mark.parametrize(
    "text",
    ["(!" * 20_000 + "(a=x)" + ")" * 20_000, "(&" * 20_000 + "(a=x)" + ")" * 20_000, "(a=" + "*x" * 50_000 + "*)"],
    ids=["not", "and", "substring"],
)
def test_filters_made_to_hurt(house: House, text: str) -> None:
    session = house.client()
    watch = session.subscribe(text)
    session.publish(Service(1, {"a": ["x" * 49_999]}))
    session.publish(Service(2, {"a": ["x"]}))
    assert len(session.services(text).notifications) == len(watch.matches) == (0 if "*" in text else 1)
    session.close()


def test_lists(house: House) -> None:
    one, two = house.client(1), house.client(2)
    gone = house.client(3)
    gone.close()
    found = one.clients().notifications
    assert [(each["client-id"], each["client-addr"], each["time"]) for each in found] == [
        (1, "memory:40001", EPOCH),
        (2, "memory:40002", EPOCH),
    ]
    for number in range(5):
        two.publish(Service(number, {"n": [number], "even": ["yes"] if number % 2 == 0 else []}))
    assert [each["service-id"] for each in one.services("(n=3)").notifications] == [3]
    assert [each["service-id"] for each in one.services("(n>2)").notifications] == [3, 4]
    assert [each["service-id"] for each in one.services("(!(even=*))").notifications] == [1, 3]
    for command in MULTIPLE:
        asked = one.begin(command, FIELDS.get(command))
        one.read(0)
        kinds = [answer.type for answer in asked.answers]
        assert kinds[0] == "accept"
        assert set(kinds[1:-1]) <= {"notify"}
        assert kinds[-1] == ("notify" if command == "subscribe" else "complete")


@pytest.mark.parametrize(("profile", "is_orphan"), [("document", False), ("deployed", True)])
def test_an_orphan_whose_owner_is_back_and_has_not_published_it(profile: str, *, is_orphan: bool) -> None:
    house = House(profile=profile)
    owner, service = house.client(1), Service(2, {"a": ["x"]}, ttl=5)
    owner.publish(service)
    owner.close()
    back = house.client(1)
    (found,) = back.services().notifications
    assert ("orphan-since" in found) is is_orphan
    back.publish(service)
    (found,) = back.services().notifications
    assert "orphan-since" not in found


def test_the_deployed_profile() -> None:
    house = House(profile="deployed")
    session = house.client()
    (found,) = session.clients().notifications
    assert found["client-address"] == "memory:40001"
    assert session.subscribe("(a>b)").reason == "invalid-filter-syntax"
    assert session.services("(a>b)").reason == "invalid-filter-syntax"
    assert House().client().subscribe("(a>b)").accepted


def test_the_address_is_what_the_runner_says() -> None:
    server = Server()
    server.connected(1, 0.0, address="tcp:127.0.0.1:4711")
    assert server.describe_client(server.sessions[1])["client-addr"] == "tcp:127.0.0.1:4711"
    with pytest.raises(ControlFailed):
        server.command("dance", [], 0.0)


# --- limits -----------------------------------------------------------------------------------------------


def publish_two(session: Driver) -> Transaction:
    session.publish(Service(1, {"a": ["x" * 400]}))
    return session.publish(Service(2, {"a": ["x" * 400]}))


def subscribe_two(session: Driver) -> Transaction:
    session.subscribe("(a=1234)", id=1)
    return session.subscribe("(a=1234)", id=2)


@pytest.mark.parametrize(
    ("limits", "act"),
    [
        (Limits(services=1), publish_two),
        (Limits(services_each=1), publish_two),
        (Limits(volume=1200), publish_two),
        (Limits(message=500), lambda session: session.publish(Service(1, {"a": ["x" * 500]}))),
        (Limits(), lambda session: session.publish(Service(1, {"a": ["x" * (LARGEST - 200)]}))),
        (Limits(subscriptions_each=1), subscribe_two),
        (Limits(filters=15), subscribe_two),
        (Limits(filter=7), subscribe_two),
        (Limits(transactions=1), subscribe_two),
        (Limits(), lambda session: session.services("(a=" + "x" * 131_072 + ")")),
    ],
)
def test_beyond_a_limit(limits: Limits, act: Callable[[Driver], Transaction]) -> None:
    house = House(limits=limits)
    session = house.client()
    assert act(session).reason == "insufficient-resources"
    for subscription in list(house.server.subscriptions):
        assert session.unsubscribe(subscription).completed
    for service in list(house.server.directory):
        assert session.unpublish(service.id).completed
    assert session.publish(Service(3, {"a": ["x"]})).completed
    assert not house.world.last_output()


def test_the_owner_may_publish_anew_at_the_limit_and_nobody_takes_over_beyond_it() -> None:
    house = House(limits=Limits(services=2, services_each=1, volume=600))
    one, two = house.client(), house.client()
    assert one.publish(Service(1, {"a": ["x"]})).completed
    assert one.publish(Service(1, {"a": ["y"]}, generation=1)).completed
    assert two.publish(Service(2, {"a": ["y"]})).completed
    assert two.publish(Service(1, {"a": ["y"]}, generation=1)).reason == "insufficient-resources"


def test_more_clients_than_there_is_room_for() -> None:
    house = House(limits=Limits(clients=1))
    first, second = house.client(), house.connect()
    assert second.hello().reason == "insufficient-resources"
    first.close()
    assert second.hello().completed


@pytest.mark.parametrize("letter", ["x", "\u0001", "\b", "é", "😀", "\\", "/", "\x7f"])
def test_the_largest_request_is_told_of(house: House, letter: str) -> None:
    owner, watcher = house.client(MOST), house.client(MOST - 1)
    watch = watcher.subscribe(id=MOST)
    watcher.read(0.1234567)
    service = Service(MOST, {"a": [""]}, MOST, MOST)
    empty = {**request("publish"), "ta-id": MOST, **service.fields}
    spare = Limits().message - len(encode_message(empty))
    service = service.replace(props={"a": [letter * (spare // len(encode_message({"a": letter})[6:-2]))]})
    assert owner.finish(owner.begin("publish", service.fields, ta=MOST)).completed
    owner.close()
    assert heard(watch, watcher) == [f"appeared {MOST}", f"modified {MOST}, orphan"]
    assert len(watcher.services().notifications) == 1


def test_the_largest_subscription_is_listed(house: House) -> None:
    session = house.client(MOST)
    filter = "(a=" + "\u0001" * 43_450 + ")"
    assert session.subscribe(filter, id=MOST).accepted
    (found,) = session.subscriptions().notifications
    assert found["filter"] == filter


def test_a_client_asks_for_no_more_lists_while_too_much_waits() -> None:
    server = Server(limits=Limits(answers=10_000))
    greet(server, 1)
    for number in range(100):
        server.received(1, encode_message({**request("publish"), "service-id": number}), 0.0)
    list(server.drain(0.0))
    for _ in range(2):
        server.received(1, encode_message(request("services")), 0.0)
    answers = [read(frame) for _, frame in server.drain(0.0) if frame is not None]
    assert [answer["msg-type"] for answer in answers].count("complete") == 1
    assert answers[-1]["fail-reason"] == "insufficient-resources"
    server.received(1, encode_message(request("services")), 0.0)
    assert len(list(server.drain(0.0))) == 102


def test_a_client_for_whom_too_much_waits_is_cut_off() -> None:
    server = Server(limits=Limits(backlog=10_000))
    greet(server, 1)
    greet(server, 2)
    server.received(2, encode_message(request("subscribe")), 0.0)
    for generation in range(100):
        server.received(1, encode_message({**request("publish"), "generation": generation, "ttl": generation}), 0.0)
    put = list(server.drain(0.0))
    assert (2, None) in put
    assert sum(len(frame) for link, frame in put if link == 2 and frame is not None) < 11_000
    assert (list(server.sessions), len(server.subscriptions)) == ([1], 0)


def request(command: str) -> dict[str, Any]:
    return {"ta-cmd": command, "ta-id": 1, "msg-type": "request", **FIELDS.get(command, {})}


def greet(server: Server, link: int) -> None:
    server.connected(link, 0.0)
    server.received(link, encode_message({**request("hello"), "client-id": link}), 0.0)


def test_the_patience_with_those_who_never_say_hello_can_be_said() -> None:
    assert Server.of(PeerSettings(hello_patience=2.5)).limits.hello_patience == 2.5
    assert Server.of(PeerSettings()).limits.hello_patience == GENEROUS.hello_patience
    wrong = CliRunner().invoke(
        peer, ["pathfinder", "--role", "client", "--connect", "tcp/127.0.0.1:7", "--hello-patience", "2"]
    )
    assert (wrong.exit_code, "no --hello-patience" in wrong.output) == (2, True)
