"""The reference client in virtual time: the test is its servers, and its clock."""

import itertools
import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import BadDescription, Unsupported
from harness.pathfinder.peers.client import Client
from harness.pathfinder.peers.records import PublishedService
from harness.pathfinder.peers.scenarios import SCENARIOS, scenario
from harness.pathfinder.peers.server_state import ServerState
from harness.peers.peer import HANG_UP, Dialler
from wire.pathfinder.values import MULTIPLE, Message, read, write

FOO = 7001
"""A service that the tests' servers tell of."""


class Line:
    """One connection of the client: what it asked for. ``obliges``: whether the stage grants what is asked for."""

    def __init__(self, server: int, link: int, opened: float) -> None:
        self.server = server
        self.link = link
        self.opened = opened
        self.closed: float | None = None
        self.requests: list[Message] = []
        self.times: list[float] = []
        self.live: dict[int, Message] = {}
        self.most_live = 0

    def asked(self, command: str) -> list[Message]:
        """Return the requests of one command."""
        return [request for request in self.requests if request["ta-cmd"] == command]

    @property
    def commands(self) -> list[str]:
        """What was asked for, in order."""
        return [request["ta-cmd"] for request in self.requests]


class Stage:
    """A client, and its servers in the test's hands."""

    def __init__(
        self,
        scenario: str,
        servers: int = 1,
        *,
        grants: Callable[[Message], bool] = lambda request: True,
        make: type[Client] = Client,
        **settings: Any,
    ) -> None:
        self.client = make(scenario=scenario, servers=servers, **settings)
        self.grants = grants
        self.now = 0.0
        self.open = [True] * servers
        self.refusals: list[float] = []
        self.lines: list[Line] = []
        self.numbers = itertools.count(1)
        self.events: list[str] = []
        self.settle()

    def of(self, server: int) -> list[Line]:
        """Return the connections to one server."""
        return [line for line in self.lines if line.server == server]

    def line(self, server: int = 0) -> Line:
        """Return the connection to a server that is open now."""
        (line,) = [line for line in self.of(server) if line.closed is None]
        return line

    def news(self) -> list[str]:
        """Return the events since the last call."""
        self.settle()
        events, self.events = self.events, []
        return events

    # --- the course of things -----------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everything happen that needs no time."""
        busy = True
        while busy:
            busy = False
            for server in self.client.dials(self.now):
                busy = True
                self.dialled(server)
            for link, frame in self.client.drain(self.now):
                busy = True
                self.heard(link, frame)
            self.events += self.client.events
            self.client.events.clear()

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while (at := self.client.next_tick()) is not None and at <= end:
            self.now = max(self.now, at)
            self.client.tick(self.now)
            self.settle()
        self.now = end

    def dialled(self, server: int) -> None:
        if not self.open[server]:
            self.refusals.append(self.now)
            self.client.refused(server, self.now)
            return
        assert all(line.closed is not None for line in self.of(server)), "two connections to one server"
        line = Line(server, next(self.numbers), self.now)
        self.lines.append(line)
        self.client.reached(server, line.link, self.now)

    def heard(self, link: int, frame: bytes | None) -> None:
        (line,) = [line for line in self.lines if line.link == link]
        if line.closed is not None:
            return
        if frame is HANG_UP:
            line.closed = self.now
            return
        request = read(frame)
        assert request["msg-type"] == "request"
        assert request["ta-id"] not in line.live, f"{request} reuses a live identifier"
        line.requests.append(request)
        line.times.append(self.now)
        line.live[request["ta-id"]] = request
        line.most_live = max(line.most_live, len(line.live))
        if self.grants(request):
            self.grant(line, request)

    # --- what the servers say -----------------------------------------------------------------------------

    def say(self, line: Line, frame: bytes) -> None:
        """Send a frame."""
        self.client.received(line.link, frame, self.now)

    def answer(self, line: Line, request: Message, kind: str, **fields: Any) -> None:
        """Answer a request."""
        if kind in ("complete", "fail"):
            line.live.pop(request["ta-id"], None)
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        message = {"ta-cmd": request["ta-cmd"], "ta-id": request["ta-id"], "msg-type": kind, **named}
        self.say(line, write(message))

    def grant(self, line: Line, request: Message) -> None:
        """Answer a request as a server does that has nothing against it."""
        command = request["ta-cmd"]
        if command == "hello":
            self.answer(line, request, "complete", protocol_version=2)
        elif command == "subscribe":
            self.answer(line, request, "accept")
        elif command in MULTIPLE:
            self.answer(line, request, "accept")
            self.answer(line, request, "complete")
        else:
            self.answer(line, request, "complete")
            if command == "unsubscribe":
                for each in [each for each in line.live.values() if each["ta-cmd"] == "subscribe"]:
                    self.answer(line, each, "complete")

    def tell(self, what: str, generation: int = 0, *, server: int = 0, **changes: Any) -> None:
        """Notify the client's subscription on a server of the service."""
        fields: dict[str, Any] = {"match_type": what, "service_id": FOO}
        if what != "disappeared":
            fields |= {"generation": generation, "service_props": {"name": ["goldwire"]}, "ttl": 60, "client_id": 9}
        line = self.line(server)
        (request,) = [each for each in line.live.values() if each["ta-cmd"] == "subscribe"]
        self.answer(line, request, "notify", **fields, **changes)
        self.settle()

    def drop(self, server: int = 0) -> None:
        """End the connection from the server's side."""
        line = self.line(server)
        line.closed = self.now
        self.client.disconnected(line.link, self.now)
        self.settle()


def but(*commands: str) -> Callable[[Message], bool]:
    """Grant everything but some commands."""
    return lambda request: request["ta-cmd"] not in commands


def fields(message: Message) -> dict[str, Any]:
    """Return what is the command's own in a request."""
    return {name: value for name, value in message.items() if name not in ("ta-cmd", "ta-id", "msg-type")}


# --- the scenarios ----------------------------------------------------------------------------------------

N1 = {"name": ["goldwire-client"], "n": [1]}
N2 = {"name": ["goldwire-client"], "n": [2]}


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("idle", []),
        ("publish", ["publish", "publish"]),
        ("modify", ["publish", "publish", "publish"]),
        ("unpublish", ["publish", "unpublish"]),
        ("subscribe", ["subscribe"]),
        ("subscribe-all", ["subscribe"]),
        ("unsubscribe", ["subscribe", "unsubscribe"]),
        ("list", ["services", "subscriptions", "clients", "ping"]),
        ("many", ["publish"] * 500),
    ],
)
def test_what_a_scenario_asks_for(name: str, commands: list[str]) -> None:
    stage = Stage(name)
    stage.run(100)
    assert stage.line().commands == ["hello", *commands]
    assert stage.line().asked("hello")[0]["protocol-minimum-version"] == 2
    assert stage.line().asked("hello")[0]["protocol-maximum-version"] == 2
    assert stage.news() == []


def test_the_scenarios_are_all_tried() -> None:
    assert set(SCENARIOS) == {
        *("idle", "publish", "modify", "unpublish", "subscribe", "subscribe-all", "unsubscribe", "list"),
        *("transient", "many"),
    }
    assert isinstance(Client(), Dialler)


def test_published_services() -> None:
    one, two = Stage("publish").line().asked("publish")
    assert fields(one) == {"service-id": one["service-id"], "generation": 0, "service-props": N1, "ttl": 60}
    assert fields(two) == {"service-id": two["service-id"], "generation": 0, "service-props": N2, "ttl": 60}
    assert one["service-id"] != two["service-id"]


def test_each_change_has_the_next_generation() -> None:
    line = Stage("modify").line()
    assert [(each["generation"], each["service-props"], each["ttl"]) for each in line.asked("publish")] == [
        (0, N1, 60),
        (1, N2, 60),
        (2, N2, 90),
    ]
    assert len({each["service-id"] for each in line.asked("publish")}) == 1


def test_a_step_waits_for_the_answers_to_the_one_before() -> None:
    stage = Stage("modify", grants=but("publish"))
    for count in (1, 2, 3):
        publishes = stage.line().asked("publish")
        assert len(publishes) == count
        stage.answer(stage.line(), publishes[-1], "complete")
        stage.settle()
    assert len(stage.line().asked("publish")) == 3


def test_filters() -> None:
    assert Stage("subscribe").line().asked("subscribe")[0]["filter"] == "(name=goldwire)"
    assert "filter" not in Stage("subscribe-all").line().asked("subscribe")[0]
    assert Stage("list").line().asked("services")[0]["filter"] == "(name=goldwire)"


def test_unsubscribe_ends_the_subscription_that_was_made() -> None:
    line = Stage("unsubscribe").line()
    assert line.asked("unsubscribe")[0]["subscription-id"] == line.asked("subscribe")[0]["subscription-id"]


def test_nothing_is_sent_before_the_server_has_greeted() -> None:
    stage = Stage("publish", grants=but("hello"))
    assert stage.line().commands == ["hello"]


def test_an_unknown_scenario_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadDescription, match=r"unknown scenario 'mend': known are idle, publish, .*, many"):
        Client(scenario="mend")
    assert scenario("").name == "idle"


def test_a_client_takes_no_control_lines() -> None:
    with pytest.raises(Unsupported, match="plays the scenario"):
        Client().command("publish", [], 0.0)


def test_a_connection_that_it_did_not_ask_for_is_ended() -> None:
    client = Client()
    client.connected(1, 0.0)
    assert list(client.drain(0.0)) == [(1, HANG_UP)]


# --- many transactions ------------------------------------------------------------------------------------


def test_no_more_than_a_hundred_transactions_at_once() -> None:
    stage = Stage("many", grants=but("publish"))
    line = stage.line()
    answered = 0
    while answered < len(line.asked("publish")):
        assert len(line.live) == min(100, 500 - answered)
        stage.answer(line, line.asked("publish")[answered], "complete")
        stage.settle()
        answered += 1
    assert (answered, line.most_live) == (500, 100)
    assert len({each["service-id"] for each in line.asked("publish")}) == 500


def test_a_live_identifier_is_not_taken_again() -> None:
    client, state = Client(), ServerState(0)
    stage = Stage("subscribe")
    state.live = dict.fromkeys((0, 1, 3), next(iter(stage.client.server_states[0].live.values())))
    assert [client.pick_ta(state) for _ in range(3)] == [2, 4, 5]


# --- reconnecting -----------------------------------------------------------------------------------------


def test_it_comes_back_at_once_and_republishes_everything() -> None:
    stage = Stage("many")
    stage.run(30)
    stage.drop()
    stage.run(2)
    first, second = stage.lines
    assert second.opened - 30 <= 0.5
    assert second.commands == ["hello"] + ["publish"] * 500
    assert list(map(fields, second.requests)) == list(map(fields, first.requests))


def test_it_dials_for_ever_and_never_waits_longer_than_two_seconds() -> None:
    stage = Stage("publish")
    stage.open[0] = False
    stage.drop()
    stage.run(100)
    times = [0.0, *stage.refusals]
    assert times[1] <= 0.5
    assert max(b - a for a, b in itertools.pairwise(times)) <= 2
    assert len(times) < 200, "a server that is away is not to be stormed"
    stage.open[0] = True
    stage.run(2)
    assert stage.line().commands == ["hello", "publish", "publish"]


def test_the_first_pause_is_short_again_after_a_greeting() -> None:
    stage = Stage("idle")
    stage.open[0] = False
    stage.drop()
    stage.run(20)
    stage.open[0] = True
    stage.run(2)
    stage.drop()
    at = stage.now
    stage.run(0.5)
    assert stage.line().opened - at <= 0.5


def test_what_had_not_been_published_yet_is_published_after_the_loss() -> None:
    stage = Stage("many", grants=but("publish"))
    for request in stage.line().asked("publish")[:50]:
        stage.answer(stage.line(), request, "complete")
    stage.settle()
    stage.grants = but()
    stage.drop()
    stage.run(1)
    assert len({each["service-id"] for each in stage.line().asked("publish")}) == 500
    assert len(stage.line().asked("publish")) == 500


def test_a_change_that_was_cut_off_is_republished_and_the_next_follows() -> None:
    stage = Stage("modify", grants=lambda request: request.get("generation") != 1)
    stage.drop()
    stage.grants = but()
    stage.run(1)
    assert [each["generation"] for each in stage.line().asked("publish")] == [1, 2]
    stage.drop()
    stage.run(1)
    assert [each["generation"] for each in stage.line().asked("publish")] == [2]


def test_what_was_unpublished_stays_so() -> None:
    stage = Stage("unpublish", grants=but("unpublish"))
    stage.drop()
    stage.grants = but()
    stage.run(1)
    assert stage.line().commands == ["hello", "unpublish"]
    stage.drop()
    stage.run(1)
    assert stage.line().commands == ["hello"]


def test_a_listing_that_was_cut_off_is_asked_for_again() -> None:
    stage = Stage("list", grants=but("clients"))
    stage.drop()
    stage.grants = but()
    stage.run(1)
    assert stage.line().commands == ["hello", "clients", "ping"]


def test_it_subscribes_anew_with_the_same_identifier() -> None:
    stage = Stage("subscribe")
    stage.drop()
    stage.run(1)
    assert [fields(line.asked("subscribe")[0]) for line in stage.lines] == [
        fields(stage.lines[0].asked("subscribe")[0])
    ] * 2


def test_what_was_unsubscribed_stays_so() -> None:
    stage = Stage("unsubscribe")
    stage.drop()
    stage.run(1)
    assert stage.line().commands == ["hello"]


def test_the_client_is_the_same_after_the_loss() -> None:
    stage = Stage("idle")
    stage.drop()
    stage.run(1)
    assert len({line.asked("hello")[0]["client-id"] for line in stage.lines}) == 1


def test_a_transient_client_is_back_before_half_of_the_ttl() -> None:
    stage = Stage("transient")
    stage.run(30)
    visits = [line for line in stage.lines if line.closed is not None]
    assert len(visits) >= 15
    for before, after in itertools.pairwise(visits):
        assert before.closed is not None
        assert before.commands == ["hello", "publish", "publish"]
        assert [each["ttl"] for each in before.asked("publish")] == [60, 4]
        assert after.times[2] - before.closed <= 2  # half of the lower
        assert [*map(fields, after.requests[1:])] == [*map(fields, before.requests[1:])]


def test_a_transient_client_that_is_refused_keeps_trying() -> None:
    stage = Stage("transient")
    stage.open[0] = False
    stage.run(20)
    assert max(b - a for a, b in itertools.pairwise(stage.refusals)) <= 2
    stage.open[0] = True
    stage.run(2)
    assert stage.lines[-1].commands == ["hello", "publish", "publish"]


# --- several servers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "transient"])
def test_all_servers_hear_the_same(name: str) -> None:
    stage = Stage(name, 3)
    stage.run(1)
    first, second, third = (list(map(fields, stage.line(server).requests)) for server in range(3))
    assert first == second == third


def test_one_server_that_is_away_does_not_hold_up_the_other() -> None:
    stage = Stage("modify", 2, grants=but())
    stage.drop(1)
    stage.open[1] = False
    stage.drop(0)
    stage.run(5)
    assert [each["generation"] for each in stage.line(0).asked("publish")] == [2]
    stage.open[1] = True
    stage.run(2)
    assert [each["generation"] for each in stage.line(1).asked("publish")] == [2]


def test_appeared_once_modified_once_disappeared_at_the_last() -> None:
    stage = Stage("subscribe", 2)
    stage.tell("appeared", server=1)
    assert stage.news() == [f"appeared {FOO} 0"]
    stage.tell("appeared", server=0)
    assert stage.news() == []
    stage.tell("modified", 1, server=0)
    assert stage.news() == [f"modified {FOO} 1"]
    stage.tell("modified", 1, server=1)
    assert stage.news() == []
    stage.tell("disappeared", server=1)
    assert stage.news() == []
    stage.tell("disappeared", server=0)
    assert stage.news() == [f"disappeared {FOO}"]
    stage.tell("appeared", 0, server=0)
    assert stage.news() == [f"appeared {FOO} 0"]


def test_every_kind_of_change_is_told_once() -> None:
    stage = Stage("subscribe", 2)
    for server in (0, 1):
        stage.tell("appeared", server=server)
    assert stage.news() == [f"appeared {FOO} 0"]
    stage.tell("modified", orphan_since=100.5, server=0)
    stage.tell("modified", orphan_since=100.75, server=1)
    assert stage.news() == [f"modified {FOO} 0"]
    stage.tell("modified", server=1)
    stage.tell("modified", server=0)
    assert stage.news() == [f"modified {FOO} 0"]


@pytest.mark.parametrize("what", ["appeared", "modified"])
def test_a_lower_generation_is_ignored(what: str) -> None:
    stage = Stage("subscribe", 2)
    stage.tell("appeared", 5, server=0)
    stage.news()
    stage.tell(what, 4, server=1)
    assert stage.news() == []
    stage.tell("modified", 4, server=0)
    assert stage.news() == []
    stage.tell("modified", 6, server=1)
    assert stage.news() == [f"modified {FOO} 6"]
    stage.tell("modified", 5, server=0)
    assert stage.news() == []


def test_a_higher_generation_counts_as_modified_whoever_tells() -> None:
    stage = Stage("subscribe", 2)
    stage.tell("appeared", 0, server=0)
    stage.tell("appeared", 1, server=1)
    stage.tell("modified", 1, server=0)
    assert stage.news() == [f"appeared {FOO} 0", f"modified {FOO} 1"]


def test_disappearing_where_it_never_was_is_nothing() -> None:
    stage = Stage("subscribe", 2)
    stage.tell("disappeared", server=0)
    stage.tell("appeared", server=0)
    stage.tell("disappeared", server=1)
    assert stage.news() == [f"appeared {FOO} 0"]


def test_a_loss_is_no_disappearance_and_the_other_server_goes_on() -> None:
    stage = Stage("subscribe", 2)
    for server in (0, 1):
        stage.tell("appeared", server=server)
    stage.drop(0)
    stage.open[0] = False
    stage.tell("modified", 1, server=1)
    stage.tell("disappeared", server=1)
    stage.run(50)
    assert stage.news() == [f"appeared {FOO} 0", f"modified {FOO} 1"]
    stage.open[0] = True
    stage.run(2)
    stage.tell("appeared", 1, server=0)
    stage.run(1000)
    assert stage.news() == []
    stage.tell("disappeared", server=0)
    assert stage.news() == [f"disappeared {FOO}"]


def test_what_a_lost_server_does_not_tell_of_again_is_gone_after_its_ttl() -> None:
    stage = Stage("subscribe", 1)
    stage.tell("appeared")
    stage.run(10)
    stage.drop()
    stage.run(59)
    assert stage.news() == [f"appeared {FOO} 0"]
    stage.run(2)
    assert stage.news() == [f"disappeared {FOO}"]


def test_nothing_is_told_after_unsubscribing() -> None:
    stage = Stage("unsubscribe", grants=but("unsubscribe"))
    stage.tell("appeared")
    assert stage.line().commands[-1] == "unsubscribe"
    assert stage.news() == []


def test_two_clients_have_nothing_in_common() -> None:
    one, other = Stage("publish").line(), Stage("publish").line()
    assert one.asked("hello")[0]["client-id"] != other.asked("hello")[0]["client-id"]
    assert one.asked("publish")[0]["service-id"] != other.asked("publish")[0]["service-id"]


def test_a_seed_makes_the_same_client_again() -> None:
    one, other = (Stage("publish", seed=3).line().requests for _ in range(2))
    assert one == other


# --- servers that misbehave -------------------------------------------------------------------------------

OPEN = {"ta-cmd": "subscribe", "ta-id": 1}


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"garbage",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b'{"ta-cmd": "ping"',
        b"[" * 100_000,
        json.dumps({"ta-cmd": "subscribe", "ta-id": 1, "msg-type": "notify"}).encode(),
        json.dumps({"ta-cmd": "subscribe", "ta-id": 1, "msg-type": "complete", "more": 1}).encode(),
        json.dumps({"ta-cmd": "dance", "ta-id": 1, "msg-type": "complete"}).encode(),
        b'{"ta-cmd": "subscribe", "ta-id": 1, "ta-id": 1, "msg-type": "complete"}',
        b'{"ta-cmd": "subscribe", "ta-id": 1.0, "msg-type": "complete"}',
        b'{"ta-cmd": "subscribe", "ta-id": 9223372036854775808, "msg-type": "complete"}',
        write({**OPEN, "msg-type": "accept"}),
        write({**OPEN, "msg-type": "fail"}),
        write({**OPEN, "ta-id": 77, "msg-type": "complete"}),
        write({**OPEN, "ta-cmd": "services", "msg-type": "complete"}),
        write({"ta-cmd": "hello", "ta-id": 0, "msg-type": "complete", "protocol-version": 2}),
        write({"ta-cmd": "ping", "ta-id": 5, "msg-type": "request"}),
    ],
)
def test_what_no_server_may_say_ends_the_connection_and_nothing_else(frame: bytes) -> None:
    stage = Stage("subscribe", 2)
    bad, good = stage.line(0), stage.line(1)
    stage.say(bad, frame)
    stage.settle()
    assert (bad.closed, good.closed) == (stage.now, None)
    stage.run(2)
    assert stage.line(0).commands == ["hello", "subscribe"]
    stage.tell("appeared", server=0)
    assert stage.news() == [f"appeared {FOO} 0"]


@pytest.mark.parametrize("kind", ["notify", "complete"])
def test_a_subscription_must_be_accepted_first(kind: str) -> None:
    stage = Stage("subscribe", grants=but("subscribe"))
    line = stage.line()
    more = {"match_type": "disappeared", "service_id": FOO} if kind == "notify" else {}
    stage.answer(line, line.asked("subscribe")[0], kind, **more)
    stage.settle()
    assert line.closed == stage.now


def test_another_version_than_was_offered_ends_the_connection() -> None:
    stage = Stage("idle", grants=but("hello"))
    line = stage.line()
    stage.answer(line, line.requests[0], "complete", protocol_version=3)
    stage.settle()
    assert line.closed == stage.now
    stage.run(2)
    assert stage.line().commands == ["hello"]


def test_garbage_at_every_greeting_does_not_make_a_storm() -> None:
    stage = Stage("idle", grants=but("hello"))
    for _ in range(20):
        stage.say(stage.line(), b"garbage")
        stage.settle()
        stage.run(2)
    assert 20 <= len(stage.lines) <= 22


@pytest.mark.parametrize(
    ("name", "mute"),
    [("idle", "hello"), ("publish", "publish"), ("subscribe", "subscribe"), ("unsubscribe", "unsubscribe")],
)
def test_a_server_that_does_not_answer_is_left_after_ten_seconds(name: str, mute: str) -> None:
    stage = Stage(name, grants=but(mute))
    first = stage.line()
    stage.run(9.9)
    assert first.closed is None
    stage.run(2.1)
    assert first.closed == 10
    assert stage.line().commands[0] == "hello"


def test_a_listing_that_does_not_go_on_is_given_up() -> None:
    stage = Stage("list", grants=but("services"))
    line = stage.line()
    stage.run(8)
    stage.answer(line, line.asked("services")[0], "accept")
    stage.run(9)
    assert line.closed is None
    stage.run(2)
    assert line.closed == 18


def test_a_subscription_may_be_silent_for_long() -> None:
    stage = Stage("subscribe")
    stage.run(100_000)
    assert stage.line().commands == ["hello", "subscribe"]


@pytest.mark.parametrize(
    "reason", ["client-id-exists", "permission-denied", "unsupported-protocol-version", "insufficient-resources", None]
)
def test_a_refused_hello_is_tried_again(reason: str | None) -> None:
    stage = Stage("publish", grants=but("hello"))
    line = stage.line()
    for count in range(1, 6):
        assert line.commands == ["hello"] * count
        stage.answer(line, line.requests[-1], "fail", **({"fail_reason": reason} if reason else {}))
        stage.settle()
        assert line.commands == ["hello"] * count, "a refused client must not storm the server"
        assert stage.news() == [f"failed hello {reason or '-'}"]
        stage.run(2)
    stage.answer(line, line.requests[-1], "complete", protocol_version=2)
    stage.settle()
    assert line.commands[-2:] == ["publish", "publish"]


def test_a_refused_client_that_is_also_cut_off_comes_back() -> None:
    stage = Stage("publish", grants=but("hello"))
    line = stage.line()
    stage.answer(line, line.requests[0], "fail", fail_reason="client-id-exists")
    stage.drop()
    stage.grants = but()
    stage.run(2)
    assert stage.line().commands == ["hello", "publish", "publish"]


def test_a_failed_command_is_told_and_tried_again_when_that_may_help() -> None:
    stage = Stage("modify", grants=but("publish"))
    line = stage.line()
    stage.answer(line, line.requests[-1], "fail", fail_reason="insufficient-resources")
    stage.settle()
    assert stage.news() == ["failed publish insufficient-resources"]
    stage.grants = but()
    stage.run(5)
    assert [each["generation"] for each in line.asked("publish")] == [0, 0, 1, 2]


def test_a_failed_command_is_not_repeated_in_vain() -> None:
    stage = Stage("subscribe", grants=but("subscribe"))
    line = stage.line()
    stage.answer(line, line.requests[-1], "fail", fail_reason="invalid-filter-syntax")
    stage.run(100)
    assert stage.news() == ["failed subscribe invalid-filter-syntax"]
    assert line.commands == ["hello", "subscribe"]


def test_a_reason_is_one_word_whatever_the_server_says() -> None:
    stage = Stage("publish", grants=but("hello"))
    stage.answer(stage.line(), stage.line().requests[-1], "fail", fail_reason="no\nevent appeared é")
    stage.settle()
    assert stage.news() == ["failed hello no_event_appeared__"]


def test_a_subscription_that_the_server_ends_is_made_anew() -> None:
    stage = Stage("subscribe")
    line = stage.line()
    stage.tell("appeared")
    stage.answer(line, line.requests[-1], "complete")
    stage.run(3)
    assert [fields(each) for each in line.asked("subscribe")] == [fields(line.asked("subscribe")[0])] * 2
    stage.tell("appeared")
    stage.run(100)
    assert stage.news() == [f"appeared {FOO} 0"]


# --- decisions can be taken otherwise ---------------------------------------------------------------------


class Forgetful(Client):
    """Comes back with empty hands, or not at all."""

    def republish(self, state: ServerState) -> Any:
        return iter(())

    def reconnects_after(self, state: ServerState) -> float | None:
        return None if state.failures else 1.0


class Late(Client):
    """Stays away for the whole TTL."""

    def half_life(self, records: Any) -> float:
        return min((record.ttl for record in records), default=math.inf)


class Stuck(Client):
    """Changes nothing but the data."""

    def next_generation(self, record: PublishedService) -> int:
        return record.generation


def test_a_fault_is_one_override() -> None:
    forgetful = Stage("publish", make=Forgetful)
    forgetful.drop()
    forgetful.open[0] = False
    forgetful.run(100)
    assert forgetful.refusals == [1.0]
    forgetful = Stage("publish", make=Forgetful)
    forgetful.drop()
    forgetful.run(5)
    assert forgetful.line().commands == ["hello"]
    late = Stage("transient", make=Late)
    late.run(10)
    assert late.lines[0].closed is not None
    assert late.lines[1].opened - late.lines[0].closed > 2
    assert [each["generation"] for each in Stage("modify", make=Stuck).line().asked("publish")] == [0, 0, 0]


# --- whatever happens -------------------------------------------------------------------------------------

KINDS = ("accept", "notify", "complete", "fail")


def disturb(stage: Stage, chance: random.Random) -> None:
    """Do something to the client that servers, networks and time do, or should not."""
    server = chance.randrange(len(stage.open))
    lines = [line for line in stage.of(server) if line.closed is None]
    match chance.randrange(7), lines:
        case 0, _:
            stage.open[server] = not stage.open[server]
        case 1, [_]:
            stage.drop(server)
        case 2, [line]:
            stage.say(line, chance.randbytes(chance.randrange(20)))
        case 3 | 4, [line] if line.live:
            stage.grant(line, chance.choice(list(line.live.values())))
        case 5, [line] if line.live:
            request = chance.choice(list(line.live.values()))
            more: dict[str, Any] = {}
            if (kind := chance.choice(KINDS)) == "notify" and request["ta-cmd"] == "subscribe":
                what = chance.choice(["appeared", "modified", "disappeared"])
                more = {"match-type": what, "service-id": FOO}
                if what != "disappeared":
                    more |= {"generation": chance.randrange(3), "service-props": {}, "ttl": 5, "client-id": 9}
            message = {"ta-cmd": request["ta-cmd"], "ta-id": request["ta-id"], "msg-type": kind, **more}
            if kind in ("complete", "fail"):
                line.live.pop(request["ta-id"])
            stage.say(line, json.dumps(message).encode())
        case _:
            stage.run(chance.choice([0.1, 1, 12]))
    stage.settle()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(
    ("name", "published", "subscribed"),
    [("modify", [2], 0), ("publish", [0, 0], 0), ("unpublish", [], 0), ("subscribe", [], 1), ("list", [], 0)],
)
def test_it_finds_its_way_back(name: str, published: list[int], subscribed: int, seed: int) -> None:
    chance = random.Random(seed)
    stage = Stage(name, 2, grants=lambda request: chance.random() < 0.5)
    for _ in range(60):
        disturb(stage, chance)
    stage.grants = but()
    stage.open = [True, True]
    stage.run(30)
    for server in (0, 1):
        # Once more, so that all that the client wants the server to know is said on one connection.
        stage.drop(server)
        stage.run(10)
        line = stage.line(server)
        assert [each["generation"] for each in line.asked("publish")] == published
        assert len(line.asked("subscribe")) == subscribed
        assert all(each["ta-cmd"] == "subscribe" for each in line.live.values())
    if subscribed:
        stage.run(10)  # until nothing is left of what the servers said before
        stage.news()
        stage.tell("appeared", 3, server=1)
        assert stage.news() == [f"appeared {FOO} 3"]
