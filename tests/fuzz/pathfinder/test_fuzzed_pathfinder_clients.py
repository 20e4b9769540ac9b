"""Pathfinder's clients as they are fuzzed: what servers say to them, and what each planted defect shows."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from shown_defects import ShownDefects, check_it_shows, parameters, planted, seen_of

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import EndsSession, Listens, NetworkTest, Opens, Says
from fuzz.pathfinder.messages import HERE
from fuzz.pathfinder.network import TARGETS
from fuzz.pathfinder.playbill import BRIEF, LONG, SCENARIOS, scenario_of_test
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.scripted_servers import match
from wire.errors import DecodeError
from wire.pathfinder.values import read

TARGET = TARGETS["client"]


def answer(command: str, type: str, **fields: Any) -> bytes:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return encode_message({"ta-cmd": command, "ta-id": HERE, "msg-type": type, **named})


def told(what: str, service: int, generation: int = 0, **changes: Any) -> bytes:
    return answer("subscribe", "notify", **match(what, service, generation, **changes))


def says(*data: bytes, who: str = "a") -> NetworkTest:
    return (Says(who, data), Listens(who))


# --- what is said -----------------------------------------------------------------------------------------------------


def is_message(data: bytes) -> bool:
    try:
        read(data)
    except DecodeError:
        return False
    return True


def drawn(draw: Callable[[Random], bytes], count: int = 600) -> list[bytes]:
    random = Random(1)
    return [draw(random) for _ in range(count)]


def test_answers_are_what_a_server_might_say() -> None:
    said = drawn(TARGET.message)
    assert all(map(is_message, said))
    assert all(read(each)["msg-type"] != "request" for each in said)


def test_broken_texts_leave_most_answers_whole() -> None:
    said = drawn(TARGET.text)
    assert 0.3 * len(said) < sum(map(is_message, said)) < len(said)


def test_the_answers_of_a_recording_are_said_in_their_place() -> None:
    accepted = encode_message({"ta-cmd": "subscribe", "ta-id": 7, "msg-type": "accept"})
    assert [json.loads(each)["ta-id"] for each in TARGET.messages_of(accepted)] == [HERE]
    assert TARGET.messages_of(accepted.replace(b"accept", b"request")) == []


def test_tests_in_a_row_are_for_one_scenario() -> None:
    names = [scenario_of_test(number).name for number in range(2 * (LONG + BRIEF))]
    assert set(names[:LONG]) == {next(iter(SCENARIOS))}
    assert len(set(names[LONG : LONG + BRIEF])) == 1
    assert names[LONG] != names[2 * LONG + BRIEF]


# --- what it shows ----------------------------------------------------------------------------------------------------

FIRST = "subscribe-all obliging"
ORPHAN = {"orphan_since": 1}

SHOWN: ShownDefects = {
    "dies-of-many-values": ("crash", says(told("appeared", 1, service_props={"a": ["x"] * 128}))),
    "dies-of-a-late-orphan": ("crash", says(told("appeared", 1, orphan_since=1e300))),
    "dies-of-anothers-disappearance": (
        "crash",
        (
            Opens("b"),
            *says(told("appeared", 1), who="b"),
            *says(*[told("disappeared", 1)] * 3),
        ),
    ),
    "dies-of-an-ended-subscription": (
        "crash",
        says(
            told("appeared", 1, **ORPHAN),
            told("appeared", 2),
            told("appeared", 3),
            answer("subscribe", "complete"),
        ),
    ),
    "dies-of-a-long-reason": (
        "crash",
        (
            EndsSession("a", "drop"),
            Opens("a", "subscribe-all greeting"),
            *says(answer("subscribe", "fail", fail_reason="x" * 1024)),
        ),
    ),
    "dies-of-a-wide-name": ("crash", says(told("appeared", 1, service_props={"\u00e9" * 101: ["x"]}))),
    "leaks-a-descriptor-for-a-fraction": ("growth", says(told("appeared", 1, orphan_since=0.5))),
    # It goes, and is forgotten: known from the play before, it would be modified in the usual way.
    "leaks-modifications": ("growth", says(told("modified", 1), told("disappeared", 1))),
    "hangs-of-many-names": (
        "hang",
        says(told("appeared", 1), told("modified", 1, service_props={f"n{each}": ["x"] for each in range(64)})),
    ),
    "hangs-of-a-later-generation": ("hang", says(told("appeared", 1), told("appeared", 1, 1 << 53))),
    "hangs-up-everywhere": ("harm", (Says("a", (b" " * (129 << 10),), "frame"), Listens("a"))),
    "forgets-all-subscriptions": (
        "service",
        (
            EndsSession("a", "drop"),
            Opens("a", "subscribe-all greeting"),
            *says(answer("subscribe", "fail", fail_reason="")),
        ),
    ),
    "tells-its-application-nothing": ("service", says(told("appeared", 1, orphan_since=1 << 53))),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("pathfinder", "client")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("pathfinder", "peer:client") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_client_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    kind, moves = SHOWN[name]
    check_it_shows("pathfinder", "client", name, kind, (Opens("a", FIRST), *moves), healthy)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_client_is_well_whatever_it_plays(scenario: str, healthy: FuzzedNode) -> None:
    assert seen_of(healthy, (Opens("a", f"{scenario} obliging"), Listens("a")), "") == ""
