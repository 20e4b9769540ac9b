"""The defects that are planted in Rai's publishers: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator

import pytest
from brokers import need_broker
from shown_defects import ShownDefects, check_it_shows, parameters, planted

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import FuzzMove, Listens, NetworkTest, Opens, Says
from wire import envelope


def says(*said: tuple[str, str]) -> NetworkTest:
    """A session that publishes something, and waits until it is acted on."""
    return (Opens("a"), published(*said), Listens("a"))


def published(*said: tuple[str, str], who: str = "a") -> FuzzMove:
    return Says(who, tuple(envelope.data(subject, members.encode()) for subject, members in said))


def wildcard(subject: str, pattern: str = "^LAB[.]", verb: str = "START") -> tuple[str, str]:
    return f"_PSUB.{verb}.LAB", f'{{"subject":"{subject}","pattern":"{pattern}"}}'


def listed(*subjects: str, returns: str = "") -> tuple[str, str]:
    names = ",".join(f'"{each}"' for each in subjects)
    return "_INBOX.$node.subs", f'{{"last_seen":$seen,"wildcard":">","ack":true,"subs":[{names}]{returns}}}'


def heartbeat(interval: int, more: str = "") -> tuple[str, str]:
    return "_SESSION.HB", f'{{{more}"time":$now,"interval":{interval},"cnonce":"$cnonce"}}'


MUCH = (
    *((f"_SUB.START.LAB.{subject}", "{}") for subject in "abcde"),
    *(wildcard("LAB.>", f"^LAB[.]{letter}") for letter in "abcd"),
)
"""Five subjects, and four wildcards."""

STOPPED = (
    *MUCH,
    wildcard("LAB.>", "^LAB[.]e"),
    *((f"_SUB.STOP.LAB.{subject}", "{}") for subject in "ab"),
    *(wildcard("LAB.>", f"^LAB[.]{letter}", "STOP") for letter in "ab"),
)
"""Three of each are left of them."""

SHOWN: ShownDefects = {
    "dies-of-depth": ("crash", says(("_SUB.START.LAB.a", '{"x":' + "[" * 13 + "]" * 13 + "}"))),
    "dies-of-a-checksum": (
        "crash",
        says(("_INBOX.$node.dict", '{"dictionary":"fields","dict_csum":4294967296,"return":1}')),
    ),
    "dies-of-a-port": ("crash", says(heartbeat(10, '"ucast_url":"pgm://host:x",'))),
    "dies-of-a-stop-of-a-list": (
        "crash",
        says(listed("LAB.a", "LAB.c", returns=',"subs_return":[1]'), ("_SUB.STOP.LAB.c", "{}")),
    ),
    "dies-of-another-interval": ("crash", says(wildcard("LAB.>"), heartbeat(3))),
    "dies-of-a-bracket": ("crash", says(wildcard("LAB.[a"))),
    "dies-of-an-alphabet": ("crash", says(("_SNAP.LAB.a", '{"return":"\u0430"}'))),
    "leaks-for-dictionaries": (
        "growth",
        says(("_INBOX.$node.dict", '{"dictionary":"other","dict_csum":1,"return":1}')),
    ),
    "leaks-images-of-bad-names": ("growth", says(("_SUB.START.LAB.>", '{"initial":true,"return":1}'))),
    "hangs-of-two-ways": ("hang", says(wildcard("LAB.>", "(a|a)*"))),
    "hangs-of-a-repeating-list": ("hang", says(listed(*["LAB.c"] * 20))),
    "hangs-of-no-interval": ("hang", says(("_SUB.START.LAB.a", "{}"), heartbeat(0))),
    "stops-for-the-user": ("harm", says(("_SUB.STOP.LAB.a", '{"return":1}'))),
    "distrusts-the-user": ("harm", (*says(("_SESSION.BYE", "{}")), Opens("b", "returning"), Listens("b"))),
    "runs-out-of-slots": ("service", says(*[("_SNAP.LAB.a", '{"return":">"}')] * 4)),
    "falls-mute-of-a-long-subject": ("service", says(("_SUB.START.LAB." + "a" * 300, "{}"))),
    "forgets-wildcards": ("harm", says(wildcard("LAB.>", "("), wildcard("LAB.>", "(", "STOP"))),
    "dies-of-an-end": ("crash", says(*MUCH, ("_SESSION.BYE", "{}"))),
    "forgets-wildcards-with-one": ("harm", says(*MUCH, ("_SUB.STOP.LAB.a", "{}"))),
    "dies-of-a-stop-behind-stops": ("crash", says(*STOPPED, ("_SUB.STOP.LAB.c", "{}"))),
    "forgets-wildcards-behind-two": ("harm", says(*STOPPED, wildcard("LAB.>", "^LAB[.]c", "STOP"))),
    "falls-mute-behind-stops": ("service", says(*STOPPED, ("_SNAP.LAB.c", '{"return":1}'))),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("rai", "publisher")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    need_broker("nats")
    with goldwire.fuzzed_node("rai", "peer:publisher") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_publisher_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("rai", "publisher", name, *SHOWN[name], healthy)
