"""The defects that are planted in Urbit's publishers: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from investigated import ALL, investigation_of, look_into, put_on_trial
from shown_defects import ShownDefects, check_it_shows, parameters, planted, seen_of

import goldwire
from fuzz.net.campaign import findings_in
from fuzz.net.finding import read_finding
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens, Says
from fuzz.urbit.messages import BY_ANOTHER, GENUINE, HELD, ME, MINE, NEXT, ROOT
from harness.urbit.peers.ship import FRAGMENT
from harness.urbit.ships import PUBLISHER
from wire.urbit.values import (
    LONGEST_PATH,
    Body,
    Cancellation,
    HeartbeatRequest,
    Origin,
    Packet,
    Promise,
    ScryRequest,
    ScryResponse,
    write,
)


def say(*bodies: Body, who: str = "a", **more: Any) -> NetworkTest:
    """What a ship says, until it is acted on; ``more`` is of the packet."""
    return (Says(who, tuple(write(Packet(each, ME, PUBLISHER, **more)) for each in bodies)), Listens(who))


def ask(name: str, fragment: int = 1, signature: bytes = GENUINE) -> ScryRequest:
    return ScryRequest(path(name), fragment, signature)


def cancel(name: str, fragment: int = 1) -> Cancellation:
    return Cancellation(path(name), fragment, GENUINE)


def path(name: str) -> bytes:
    return ROOT + b"/" + name.encode()


def grow(name: str, size: int) -> GivesCommand:
    return GivesCommand("grow", (path(name).decode(), "v" * size))


OPENS = Opens("a")
IN_A_SESSION = (OPENS, *say(ask("b")))
"""Somebody who was promised something."""
BEATS = HeartbeatRequest(MINE, NEXT)
OF_TWO = (*IN_A_SESSION, *say(ask("c"), HeartbeatRequest(MINE, 300)), grow("b", 1))
"""Somebody who was promised two things, of which one was kept, and has counted to 300."""
LONGEST = "a" * (LONGEST_PATH - len(path("")))

SHOWN: ShownDefects = {
    "dies-of-nowhere": ("crash", (*IN_A_SESSION, *say(BEATS, origin=Origin(0, 0)))),
    "dies-of-no-fragments": ("crash", (OPENS, *say(ScryResponse(path("a"), 1, GENUINE, 0, b"")))),
    "dies-of-a-left-address": (
        "crash",
        # Somebody else stays at that address: else it would be forgotten.
        (
            *(*IN_A_SESSION, Opens("c", "neighbour"), *say(ask("c"), who="c")),
            *(Opens("b", "moved"), *say(BEATS, who="b"), *say(cancel("b"))),
        ),
    ),
    "dies-behind-the-last-number": ("crash", (*IN_A_SESSION, *say(HeartbeatRequest(MINE, (1 << 64) - 1), BEATS))),
    "dies-of-a-format": ("crash", (*IN_A_SESSION, *say(cancel("%n")))),
    "dies-of-many-segments": ("crash", (OPENS, *say(ask("a/" * 130 + "a")))),
    "dies-of-the-longest-path": ("crash", (*IN_A_SESSION, *say(cancel(LONGEST)))),
    "leaks-descriptors": ("growth", (OPENS, *say(ask("a", signature=BY_ANOTHER)))),
    "keeps-what-it-has-read": ("growth", (OPENS, *say(cancel("a")))),
    "hangs-of-a-dot": ("hang", (OPENS, *say(ask("./a")))),
    "hangs-of-a-far-fragment": ("hang", (OPENS, grow("a", 2 * FRAGMENT), *say(ask("a", 1 << 31)))),
    "cancels-for-others": ("harm", (OPENS, *say(cancel(HELD, 3)))),
    "cancels-by-pattern": ("harm", (*IN_A_SESSION, *say(cancel("*")))),
    "knows-ships-by-their-ends": ("harm", (Opens("a", "alike"), *say(ask("a")))),
    "tells-nobody": ("service", (*IN_A_SESSION, grow("b", 33 * FRAGMENT))),
    "believes-in-newer-keys": ("hang", (*IN_A_SESSION, *say(BEATS, receiver_tick=15))),
    "promises-nothing": (
        "service",
        (*IN_A_SESSION, grow("a", 1), *say(Promise(MINE, path("a"), 1, GENUINE))),
    ),
    "tells-nobody-more": ("service", (*OF_TWO, grow("c", 1))),
    "dies-of-an-early-cancellation": ("crash", (*OF_TWO, *say(cancel("c")))),
    "forgets-with-one": ("harm", (*OF_TWO, grow("c", 1), *say(cancel("b")))),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("urbit", "publisher")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("urbit", "peer:publisher") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_publisher_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("urbit", "publisher", name, *SHOWN[name], healthy)


def test_who_dies_of_one_defect_does_with_that_alone() -> None:
    """A regression: a pattern that somebody without a session cancels was looked at as another defect has it."""
    with goldwire.fuzzed_node("urbit", "peer:publisher", options=ALL) as node:
        assert seen_of(node, (OPENS, *say(cancel("%n*"))), "crash") == ""


@pytest.mark.slow(seconds=20)  # two tests are made small
def test_who_forgets_by_six_steps_is_another_than_who_does_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: both forget what others were promised behind a cancellation, and the second was never found."""
    monkeypatch.setattr("fuzz.net.investigation.ENOUGH", 0.0)
    node = put_on_trial("urbit", "publisher", *ALL)
    investigation = investigation_of("urbit", "publisher", node, tmp_path)
    kept = (*IN_A_SESSION, *say(ask("c"), HeartbeatRequest(MINE, 1)), grow("b", 1), grow("c", 1))
    try:
        for test in (OPENS, *say(cancel(HELD, 3))), (*kept, *say(cancel("b"))):
            look_into(investigation, node, test)
    finally:
        node.stop()
    assert investigation.counts.found == 2
    assert len({read_finding(each.parent).symptom.rough for each in findings_in(tmp_path)}) == 1
