"""The defects that are planted in Rai's router-caches: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator

import pytest
from brokers import need_broker
from shown_defects import ShownDefects, check_it_shows, parameters, planted

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import FuzzMove, Listens, NetworkTest, Opens, Says
from wire import envelope


def said(subject: str, members: str) -> FuzzMove:
    """Something that a session says at the one broker, as a publisher, or at the other, as a subscriber."""
    return Says("a", (envelope.data(subject, members.encode()),))


def says(*moves: FuzzMove) -> NetworkTest:
    """A session that says one thing after the other was acted on."""
    return (Opens("a"), *(each for move in moves for each in (Listens("a"), move)), Listens("a"))


def subscribed(subject: str) -> FuzzMove:
    return said(f"_SUB.START.{subject}", '{"return":1,"initial":true,"ack":true}')


def wildcard(verb: str, subject: str, pattern: str) -> FuzzMove:
    return said(f"_PSUB.{verb}.LAB", f'{{"subject":"{subject}","pattern":"{pattern}"}}')


OTHERS_PATTERN = "^LAB[.]x"

SHOWN: ShownDefects = {
    "cannot-pack-a-checksum": ("crash", says(subscribed("LAB.a"), said("LAB.a", '{"dict_csum":-1,"data":{"n":1}}'))),
    "dies-of-a-recap-of-nothing": (
        "crash",
        says(subscribed("LAB.none"), said("LAB.none", '{"type":"recap","status":"feed_switch","data":{"n":1}}')),
    ),
    "dies-of-a-mark-of-shells": ("crash", says(subscribed("LAB.a$"))),
    "leaks-for-patterns": ("growth", says(wildcard("START", "LAB.>", OTHERS_PATTERN))),
    "keeps-strange-answers": ("growth", says(said("_INBOX.$node.x", '{"type":"snap","subject":"LAB.a","data":{}}'))),
    "hangs-of-repetitions": ("hang", says(wildcard("START", "LAB.>", "^LAB[.](a)+"))),
    "ends-what-a-wildcard-matches": (
        "harm",
        says(
            wildcard("START", "LAB.b.>", "^LAB[.]b[.]"),
            wildcard("START", "LAB.>", OTHERS_PATTERN),
            wildcard("STOP", "LAB.>", OTHERS_PATTERN),
        ),
    ),
    "passes-nothing-on": (
        "service",
        says(subscribed("LAB.a"), said("LAB.a", '{"status":"temp_unavail","data":{"n":1}}')),
    ),
    "subscribes-to-nothing": (
        "service",
        says(subscribed("LAB.a"), said("LAB.a", '{"type":"drop","status":"relocate","text":"LAB.a"}')),
    ),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("rai", "router-cache")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    need_broker("nats")
    with goldwire.fuzzed_node("rai", "peer:router-cache") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_router_cache_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("rai", "router-cache", name, *SHOWN[name], healthy)
