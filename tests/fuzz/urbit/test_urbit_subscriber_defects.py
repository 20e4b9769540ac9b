"""The defects that are planted in Urbit's subscribers: by which moves each shows, and that a healthy one bears them."""

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from shown_defects import ShownDefects, check_it_shows, parameters, planted

import goldwire
from fuzz.net.fuzzed_node import FuzzedNode
from fuzz.net.moves import GivesCommand, Listens, NetworkTest, Opens, Says
from fuzz.urbit import answers
from fuzz.urbit.messages import BY_ANOTHER, GENUINE, HELD, LAST, MINE, NEXT, ROOT
from fuzz.urbit.subscribers import UrbitSubscriberNode
from harness.errors import ControlUnanswered
from harness.urbit.ships import PUBLISHER, SUBSCRIBER
from wire.urbit.values import Body, HeartbeatResponse, Packet, Promise, ScryResponse, read, write


def say(*bodies: Body) -> NetworkTest:
    """What a publisher says, until it is acted on."""
    return (Says("a", tuple(write(Packet(each, PUBLISHER, SUBSCRIBER)) for each in bodies)), Listens("a"))


def path(name: str) -> bytes:
    return ROOT + b"/" + name.encode()


def tell(name: str, data: bytes = b"x", *, total: int = 1, signature: bytes = GENUINE) -> ScryResponse:
    return ScryResponse(path(name), 1, signature, total, data)


def promise(name: str, *, session: int = MINE, fragment: int = 1) -> Promise:
    return Promise(session, path(name), fragment, GENUINE)


def application(verb: str, name: str) -> GivesCommand:
    return GivesCommand(verb, (path(name).decode(),))


OPENS = Opens("a")

SHOWN: ShownDefects = {
    "dies-of-many-fragments": ("crash", (OPENS, *say(tell("a", total=1 << 31)))),
    "dies-of-what-is-wanted-again": (
        "crash",
        (
            *(OPENS, *say(promise("a")), application("drop", "a"), application("want", "a")),
            *say(promise("a", session=77), tell("a")),
        ),
    ),
    "dies-of-a-later-fragment": (
        "crash",
        (OPENS, *say(promise("a"), promise("b", session=77), promise("a", session=LAST, fragment=2))),
    ),
    "dies-of-an-escape": ("crash", (OPENS, *say(tell("a", b"\x1b[2J")))),
    "dies-of-an-unwanted-format": ("crash", (OPENS, *say(tell("%n")))),
    "leaks-for-later-fragments": ("growth", (OPENS, *say(promise("a", fragment=2)))),
    "keeps-what-is-forged": ("growth", (OPENS, *say(tell("a", signature=BY_ANOTHER)))),
    "hangs-of-a-number-far-ahead": (
        "hang",
        (OPENS, *say(promise("a")), *say(HeartbeatResponse(MINE, 1 << 32, live=True))),
    ),
    "hangs-of-many-segments": ("hang", (OPENS, *say(promise("a/" * 70 + "a")))),
    "takes-a-folder": ("harm", (OPENS, *say(tell(HELD)))),
    "hands-over-nothing": ("service", (OPENS, *say(tell("a", b"", total=0)))),
}


def test_it_is_known_of_each_defect_what_it_shows() -> None:
    assert SHOWN.keys() == planted("urbit", "subscriber")


@pytest.fixture(scope="module")
def healthy() -> Iterator[FuzzedNode]:
    with goldwire.fuzzed_node("urbit", "peer:subscriber") as node:
        yield node


@pytest.mark.parametrize("name", parameters(SHOWN))
def test_a_defect_shows_and_a_healthy_subscriber_bears_the_same(name: str, healthy: FuzzedNode) -> None:
    check_it_shows("urbit", "subscriber", name, *SHOWN[name], healthy)


def test_what_is_drawn_are_packets_of_the_publisher_mostly() -> None:
    random = Random(1)
    drawn = [read(answers.message(random)) for _ in range(300)]
    assert {each.sender for each in drawn} == {PUBLISHER}
    assert len({type(each.body) for each in drawn}) >= 6
    for _ in range(300):
        assert answers.text(random)
        assert answers.frame(random) is not None


def test_a_message_is_said_in_the_session_that_there_is_and_is_signed() -> None:
    known = answers.PublishersSessions(7)
    known.number = 4
    said = read(answers.spelt(say(HeartbeatResponse(MINE, NEXT, live=True))[0].data[0], b"/1", known, b""))  # type: ignore[union-attr]
    assert said.body == HeartbeatResponse(7, 4, live=True)
    data = answers.spelt(say(promise("a"))[0].data[0], b"/0000001", known, b"")  # type: ignore[union-attr]
    assert answers.unspelt(data) == (write(Packet(promise("a"), PUBLISHER, SUBSCRIBER)),)


def test_what_is_wanted_is_dropped_though_nobody_said_that_it_is() -> None:
    """An answer that came too late for a test in a hurry left what was wanted to all tests behind it."""
    node = UrbitSubscriberNode.__new__(UrbitSubscriberNode)
    given = list[str]()

    def command(*words: str) -> None:
        given.append(" ".join(words))
        raise ControlUnanswered("within 1.5 s")

    stand_in: Any = SimpleNamespace(command=command, root=b"/1234567")
    node.instance = node.ground = stand_in
    node.wanted, node._strangers = set(), []
    with pytest.raises(ControlUnanswered):
        node.command("want", f"{ROOT.decode()}/a")
    node.close()
    assert given == ["want /1234567/a", "drop /1234567/a"]
