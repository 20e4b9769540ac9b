"""Pathfinder's servers as they are fuzzed: what is said to them, how the service is tried, what each defect shows."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from shown_defects import planted

from conformance.suite import Suite
from fuzz.net.moves import EndsSession, FuzzMove, Listens, NetworkTest, Opens, Says
from fuzz.net.playing import TestPlayer
from fuzz.net.targets import ServiceBroken
from fuzz.pathfinder import messages
from fuzz.pathfinder.filters import NAMES, TEXTS, broken_filter, filter_text, unusual_filter
from fuzz.pathfinder.network import SILENT, TARGETS
from fuzz.pathfinder.sessions import PathfinderSession
from harness.pathfinder.peers.answering import RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.variants.defects import server as defects
from harness.peers.peer import Peer, PeerSettings
from harness.peers.variants import together
from harness.trace import Direction, EntryKind, Trace
from wire.errors import DecodeError
from wire.pathfinder.filters import FilterError, parse
from wire.pathfinder.grammar import LARGEST
from wire.pathfinder.values import Message, read, read_loosely

SUITE = Suite("pathfinder")
TARGET = TARGETS["server"]
DEFECTS = SUITE.harness.defects
assert DEFECTS is not None


def server(peer: type[Peer] = Server, made: list[Peer] | None = None) -> Any:
    """A server in memory; ``made`` is told what it is made of."""

    def make(settings: PeerSettings) -> Peer:
        each = peer.of(settings)
        if made is not None:
            made.append(each)
        return each

    return SUITE.harness.world(make, "server")


def a_trace(instance: Any) -> Trace:
    return Trace("pathfinder", SUITE.harness.usual_transport, instance.clock)


def play(instance: Any, *moves: FuzzMove) -> Any:
    return TestPlayer(TARGET, instance, "pathfinder", SUITE.harness.usual_transport).play(tuple(moves))


def request(command: str, **fields: Any) -> bytes:
    names = {name.replace("_", "-"): value for name, value in fields.items()}
    return encode_message({"ta-cmd": command, "ta-id": messages.HERE, "msg-type": "request", **names})


def publish(number: int, generation: int = 0, **props: Any) -> bytes:
    return request("publish", service_id=number, generation=generation, service_props=props, ttl=60)


def subscribe(number: int, *filter: str) -> bytes:
    return request("subscribe", subscription_id=number, **({"filter": filter[0]} if filter else {}))


def hello(client: int, least: int = 2) -> bytes:
    return request("hello", client_id=client, protocol_minimum_version=least, protocol_maximum_version=least)


def says(*data: bytes, who: str = "a") -> NetworkTest:
    return (Says(who, data), Listens(who))


# --- what is said -----------------------------------------------------------------------------------------------------


def drawn(draw: Callable[[Random], bytes], count: int = 600) -> list[bytes]:
    random = Random(1)
    return [draw(random) for _ in range(count)]


def is_message(data: bytes) -> bool:
    try:
        read(data)
    except DecodeError:
        return False
    return True


def is_filter(text: str) -> bool:
    try:
        parse(text)
    except FilterError:
        return False
    return True


def test_messages_are_what_somebody_might_say() -> None:
    said = drawn(TARGET.message)
    assert all(map(is_message, said))
    assert {read(each)["ta-cmd"] for each in said} >= {
        "publish",
        "subscribe",
        "unsubscribe",
        "hello",
        "clients",
        "ping",
    }


def test_messages_have_to_do_with_each_other() -> None:
    published = [read(each) for each in drawn(TARGET.message) if read(each)["ta-cmd"] == "publish"]
    common = sum(each["service-id"] in messages.IDS for each in published)
    assert common > 0.9 * len(published)


def test_names_and_values_that_few_think_of_are_said_in_messages_that_are_right() -> None:
    """A regression: a name of more than 255 bytes was hardly ever published, but where the text was broken anyway."""
    said = [read(each) for each in drawn(TARGET.message, 3000)]
    props = [each["service-props"] for each in said if each["ta-cmd"] == "publish"]
    values = [value for each in props for several in each.values() for value in several if isinstance(value, str)]
    for texts in ([name for each in props for name in each], values):
        unusual = [each for each in texts if each not in (*NAMES, *TEXTS)]
        assert 0.01 < len(unusual) / len(texts) < 0.1
        assert max(len(each.encode()) for each in unusual) > 1024
        assert any(each.endswith(messages.STRANGE) for each in unusual)


def test_broken_texts_leave_most_messages_whole() -> None:
    """A session whose first message cannot be read at all is ended, and shows nothing else."""
    said = drawn(TARGET.text)
    assert 0.5 * len(said) < sum(map(is_message, said)) < len(said)


def test_filters_are_right_until_they_are_broken() -> None:
    random = Random(1)
    assert all(is_filter(filter_text(random)) for _ in range(300))
    unusual = [unusual_filter(random) for _ in range(300)]
    assert all(map(is_filter, unusual))
    # What few think of: very deep, very wide, very long.
    assert max(each.count("(!") for each in unusual) > 60
    assert max(each.count(")(") for each in unusual) > 60
    assert max(map(len, unusual)) > 1000
    assert 20 < sum(is_filter(broken_filter(random)) for _ in range(300)) < 280


def test_frames_fit_and_are_drawn_alike_for_a_seed() -> None:
    frames = drawn(TARGET.frame, 200)
    assert max(map(len, frames)) == LARGEST
    assert frames == drawn(TARGET.frame, 200)


def test_transactions_that_are_under_way_are_informed() -> None:
    """A regression: no frame was of a type that later versions have, and none about any transaction but the first."""
    random = Random(1)
    frames = [json.loads(messages._of_another_type(messages.Speech(random))) for _ in range(2000)]
    assert {each["ta-id"] for each in frames if each["msg-type"] == "inform"} > {1, 2, 3}


def test_the_messages_of_a_frame_are_said_in_their_turn() -> None:
    ping = encode_message({"ta-cmd": "ping", "ta-id": 77, "msg-type": "request"})
    assert TARGET.messages_of(ping) == [request("ping")]
    assert TARGET.messages_of(hello(1)) == []
    assert TARGET.messages_of(ping.replace(b"request", b"complete")) == []
    assert TARGET.messages_of(b"nothing") == []


class Newer(Server):
    versions = (2, 3)


def faulty(name: str) -> type[Peer]:
    return SUITE.harness.faults.all[name].peer


@pytest.mark.parametrize(
    ("peer", "least", "most", "is_judged"),
    [
        *((Server, 0, 3, True), (Newer, 0, 3, False), (Newer, 0, 2, True)),
        *((faulty("presumptuous"), 0, 2, True), (faulty("lowest-version"), 0, 2, True)),
        (faulty("lowest-version"), 0, 1, False),
    ],
)
def test_who_has_agreed_on_another_version_is_not_judged_by_this_one(
    peer: type[Peer], least: int, most: int, is_judged: bool
) -> None:
    """A regression: a server that speaks version 3 as well was accused of the fields that this one does not have."""
    said = request("hello", client_id=1, protocol_minimum_version=least, protocol_maximum_version=most)
    played = play(server(peer), Opens("a", SILENT), *says(said))
    assert [each.is_clean for each in played.node.conversations] == [is_judged]


def sent(played: Any) -> list[Any]:
    frames = [each.data for each in played.trace if each.what is EntryKind.FRAME and each.direction is Direction.SENT]
    return [read_loosely(each) for each in frames]


def test_a_session_keeps_its_identifiers_right() -> None:
    lie = encode_message({"ta-cmd": "ping", "ta-id": 99, "msg-type": "request"})
    said = sent(play(server(), Opens("a"), Says("a", (request("ping"), lie, request("ping"), hello(messages.HERE)))))
    assert [each["ta-id"] for each in said] == [0, 1, 99, 2, 3, 4]
    assert said[4]["client-id"] == said[0]["client-id"]


def test_ways_to_open_a_session() -> None:
    said = sent(play(server(), Opens("a", "1"), Opens("b", SILENT), Says("b", (request("ping"),))))
    assert [(each["ta-cmd"], each.get("client-id")) for each in said][:2] == [("hello", 1), ("ping", None)]


def test_states_and_answers_tell_what_a_test_has_come_to() -> None:
    instance = server()
    node = TARGET.node(instance, a_trace(instance))
    session = TARGET.session(node, "")
    assert isinstance(session, PathfinderSession)
    session.say([publish(1, a=["x"]), subscribe(1), request("unsubscribe", subscription_id=9)], "message", 0)
    session.ask()
    assert session.listen(instance.clock.now() + 1)
    answers = [
        *("hello complete", "publish complete", "subscribe accept", "subscribe notify appeared"),
        *("unsubscribe fail non-existent-subscription-id", "ping complete"),
    ]
    assert session.answers() == answers
    assert session.state() == (True, 1, 1, 1, False)
    session.end("drop")
    assert session.is_over
    assert session.state() == (True, 1, 1, 1, True)
    node.close()


def test_nothing_is_left_of_a_test() -> None:
    instance = server()
    play(instance, Opens("a"), *says(publish(1), publish(2, a=["x"])), EndsSession("a", "drop"))
    node = TARGET.node(instance, a_trace(instance))
    assert node.session().services().notifications == []
    node.close()


# --- the service ------------------------------------------------------------------------------------------------------


def broken(instance: Any, *moves: FuzzMove) -> str:
    """Return what the service says of a server on which a test was played; nothing where all is well."""
    service = TARGET.service(instance, a_trace(instance))
    service.begin()
    try:
        for _ in range(5):  # of each sort
            service.check()
        play(instance, *moves)
        for _ in range(5):
            service.check()
    except ServiceBroken as found:
        return found.kind
    finally:
        service.end()
    return ""


MUCH = (*map(publish, (1, 2, 3)), *map(subscribe, (1, 2, 3)))
"""Three services, and three subscriptions, to each of which they are told."""

TAKEN_OVER = (
    *says(*MUCH),
    Opens("b"),
    *says(*map(publish, (2, 3, 4, 5, 6)), *map(subscribe, (4, 5, 6)), who="b"),
    *says(*map(publish, (2, 3, 4))),
)
"""Two clients with three subscriptions each, and services of which they have taken some over from each other."""

SHOWN: dict[str, tuple[str, NetworkTest]] = {
    "dies-of-many-escapes": ("crash", says(subscribe(1, "(a=" + r"\*" * 65 + ")"))),
    "dies-of-many-operands": ("crash", says(request("services", filter="(|" + "(a=x)" * 128 + ")"))),
    "dies-of-a-renewed-subscription": (
        "crash",
        says(subscribe(1), request("unsubscribe", subscription_id=1), subscribe(1, "(a=x)")),
    ),
    "dies-of-another-hello": (
        "crash",
        says(subscribe(1), hello(messages.HERE, 3), request("unsubscribe", subscription_id=1)),
    ),
    "dies-of-a-percent-sign": ("crash", says(subscribe(1, "(a=%s"))),
    "dies-of-a-long-name": ("crash", says(publish(1, **{"a" * 256: ["x"]}), subscribe(1))),
    "leaks-a-descriptor-for-a-taken-number": ("growth", says(subscribe(1), subscribe(1))),
    "leaks-negations": ("growth", (*says(subscribe(1, "(!(a=x))")), EndsSession("a", "drop"))),
    "hangs-of-adjacent-asterisks": ("hang", says(publish(1, a=["x"]), subscribe(1, "(a=" + "*" * 31 + ")"))),
    "hangs-of-many-nots": (
        "hang",
        says(publish(1), publish(2), publish(3), subscribe(1, "(!" * 61 + "(a=x)" + ")" * 61)),
    ),
    "takes-away-for-others": (
        "harm",
        (
            *says(publish(1), publish(2)),
            Opens("b"),
            *says(publish(1), publish(2), request("unpublish", service_id=1), who="b"),
            EndsSession("a", "drop"),
        ),
    ),
    "ends-the-oldest-session": ("harm", says(subscribe(1), subscribe(2), subscribe(3), hello(4))),
    "tells-nobody-of-services": ("service", says(publish(1, **{f"n{each}": ["x"] for each in range(300)}))),
    "lists-no-services": ("service", says(publish(1, a=["x"] * 500))),
    "dies-of-a-subscription-that-ends": ("crash", says(*MUCH, request("unsubscribe", subscription_id=1))),
    "dies-of-a-list-behind-changes": ("crash", says(*MUCH, request("services"))),
    "ends-the-oldest-behind-an-end": ("harm", (*says(*MUCH), EndsSession("a", "drop"))),
    "dies-of-an-end-beside-a-taker": ("crash", (*TAKEN_OVER, *says(request("unsubscribe", subscription_id=1)))),
    "dies-of-one-more-beside-a-taker": ("crash", (*TAKEN_OVER, *says(subscribe(7)))),
    "ends-the-oldest-beside-a-taker": ("harm", (*TAKEN_OVER, EndsSession("a", "drop"))),
}
"""What each defect shows, and a test that makes it do so."""


def test_the_service_of_a_healthy_server_works() -> None:
    tests = [test for _, test in SHOWN.values()]
    for test in tests:
        assert broken(server(), Opens("a"), *test) == ""


class SilencesTwins(Server):
    """Tells a subscription nothing more once somebody was refused another of its number."""

    def on_subscribe(self, session: Session, request: Message) -> None:
        known = self.subscriptions.get(request["subscription-id"])
        try:
            super().on_subscribe(session, request)
        except RequestRefused:
            if known is not None:
                self.subscribers.remove(known.id, known.selection.anchors)
            raise


def test_who_listens_is_not_to_be_harmed_by_a_twin() -> None:
    """A regression: the subscription of who listens had a number that no test could say."""
    twins = says(*map(subscribe, messages.EDGES))
    assert broken(server(SilencesTwins), Opens("a"), *twins) == "service"
    assert broken(server(), Opens("a"), *twins) == ""


def test_each_defect_is_known_here() -> None:
    assert SHOWN.keys() == planted("pathfinder", "server")


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_defect_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(defects.time, "sleep", slept.append)
    monkeypatch.setattr(defects.os, "dup", lambda descriptor: descriptor)
    made: list[Peer] = []
    instance = server(DEFECTS.all[name].peer, made)
    kind, test = SHOWN[name]
    shows = broken(instance, Opens("a"), *test)
    if not instance.alive():
        shows = "crash"
    elif slept:
        shows = "hang"
    elif any(vars(made[0]).get(what) for what in ("leaked", "kept")):
        shows = "growth"
    assert shows == kind


def test_all_defects_of_one_server_show() -> None:
    having_all = together(DEFECTS.of_role("server"))
    for name in ("tells-nobody-of-services", "ends-the-oldest-session", "takes-away-for-others"):
        kind, test = SHOWN[name]
        assert broken(server(having_all), Opens("a"), *test) == kind


def test_a_test_is_a_file() -> None:
    for _, test in SHOWN.values():
        assert msgspec.json.decode(msgspec.json.encode(test), type=NetworkTest) == test
