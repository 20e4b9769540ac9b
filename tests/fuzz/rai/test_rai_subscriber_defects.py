"""The defects that are planted in Rai's subscribers: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator

import pytest
from brokers import need_broker
from shown_defects import ShownDefects, check_it_shows, parameters, planted

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import FuzzMove, GivesCommand, Listens, NetworkTest, Opens, Says
from wire import envelope


def published(*said: tuple[str, str], who: str = "a") -> FuzzMove:
    return Says(who, tuple(envelope.data(subject, members.encode()) for subject, members in said))


def says(*said: tuple[str, str]) -> NetworkTest:
    """A publisher of what the application wants that says something, and waits until it is acted on."""
    return (Opens("a"), Listens("a"), published(*said), Listens("a"))


def told(members: str) -> tuple[str, str]:
    return "LAB.a", members


def asked(members: str) -> tuple[str, str]:
    return "_INBOX.$node.get_subs", members


def shown(members: str) -> tuple[str, str]:
    """An answer under what the subscriber has asked last."""
    return "_INBOX.$node.$returned", members


SNAPSHOT = GivesCommand("snapshot", ("LAB.b",))
TWICE = ('{"type":"snap","subject":"LAB.b","data":{"n":1}}', '{"type":"snap","subject":"LAB.b","status":"x","data":{}}')

SHOWN: ShownDefects = {
    "dies-of-their-checksum": ("crash", says(told('{"type":"initial","dict_csum":-1,"data":{"n":1}}'))),
    "dies-of-arrays": ("crash", says(told('{"type":"initial","data":{"n":1}}'), told('{"data":{"n":[[1]]}}'))),
    "dies-of-two-sources": (
        "crash",
        (
            *says(told('{"type":"drop","status":"ok"}')),
            Opens("b"),
            published(told('{"type":"initial","data":{"n":2}}'), told('{"data":{"n":3}}'), who="b"),
            Listens("b"),
        ),
    ),
    "dies-of-a-second-snapshot": ("crash", (Opens("a", "idle"), SNAPSHOT, *says(*map(shown, TWICE))[1:])),
    "dies-of-a-line-in-a-name": ("crash", says(told('{"type":"initial","data":{"a\\nb":1}}'))),
    "dies-of-a-status": ("crash", says(told('{"status":"$","data":{"n":1}}'))),
    "leaks-for-their-dictionaries": (
        "growth",
        says(("_INBOX.$node.x", '{"dictionary":"other","dict_csum":1,"data":{}}')),
    ),
    "keeps-lists": ("growth", says(asked('{"return":"x","last_seen":0,"wildcard":"A.>.B"}'))),
    "hangs-of-a-circle": ("hang", says(told('{"type":"drop","status":"relocate","text":"LAB.a"}'))),
    "hangs-of-a-wildcard": ("hang", says(asked('{"return":">","last_seen":0,"wildcard":">"}'))),
    "forgets-wildcards-of-drops": ("harm", says(told('{"type":"drop","status":"cache_full","subject":"LAB.b"}'))),
    "forgets-what-was-before": ("harm", says(asked('{"return":"x","last_seen":1,"wildcard":">"}'))),
    "hands-over-no-values": ("service", says(told('{"type":"initial","data":{"":1}}'))),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("rai", "subscriber")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    need_broker("nats")
    with goldwire.fuzzed_node("rai", "peer:subscriber") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_subscriber_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("rai", "subscriber", name, *SHOWN[name], healthy)
