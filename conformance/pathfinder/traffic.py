"""Traffic: Hypothesis strategies for what clients do, for filters and properties, and the model's answer.

Filters and properties keep to what every reading takes alike: names stand for texts or for integers, never for both;
small letters only; nothing empty, nothing twice.
"""

from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from harness.memory import World
from harness.pathfinder.driver import spelled
from harness.pathfinder.server import Server
from harness.pathfinder.under_test import NodeUnderTest
from harness.trace import Trace
from wire.pathfinder.filter_samples import Properties, matching_props, near_props, near_valid, sample
from wire.pathfinder.filters import (
    And,
    Equal,
    Filter,
    FilterError,
    Greater,
    Less,
    Not,
    Or,
    Present,
    Substring,
    parse,
    spell,
)
from wire.pathfinder.frames import Message

CLIENTS = 3
SERVICES = 4
NUMBERS = ("n", "version")
TEXTS = ("a", "name", "two words", "!")
BITS_64 = 2**63 - 1


# --- filters and properties -------------------------------------------------------------------------------


def plain(tree: Filter) -> Filter:
    """Return a filter of the same shape about which no two readings differ."""
    match tree:
        case And(filters):
            return And(tuple(map(plain, filters)))
        case Or(filters):
            return Or(tuple(map(plain, filters)))
        case Not(below):
            return Not(plain(below))
        case Greater(key, value):
            return Greater(_one_of(NUMBERS, key), _bounded(value))
        case Less(key, value):
            return Less(_one_of(NUMBERS, key), _bounded(value))
        case Equal(key, value):
            return Equal(_one_of(TEXTS, key), _plain(value) or "x")
        case Substring(key, initial, middles, final):
            parts = tuple(filter(None, map(_plain, middles)))
            text = Substring(_one_of(TEXTS, key), _plain(initial), parts, _plain(final))
            return text if text.initial or text.any or text.final else Present(text.key)
        case _:
            return Present(_one_of(TEXTS + NUMBERS, tree.key))


def plain_props(props: Properties) -> Properties:
    """Return properties about which no two readings differ."""
    kept: Properties = {}
    for name, values in props.items():
        if name in NUMBERS:
            numbers: list[str | int] = [value for value in values if isinstance(value, int)]
            kept[name] = list(dict.fromkeys(numbers))
        else:
            kept[name] = list(dict.fromkeys(_plain(value) or "x" for value in values if isinstance(value, str)))
    return {name: values for name, values in kept.items() if values}


def _one_of(names: tuple[str, ...], key: str) -> str:
    return names[sum(map(ord, key)) % len(names)]


def _plain(text: str) -> str:
    return text.replace("}", "").lower()


def _bounded(text: str) -> str:
    return str(max(-BITS_64, min(BITS_64, int(text))))


class Sample(NamedTuple):
    """A filter's text, and properties that it matches or just does not."""

    filter: str
    contents: tuple[Properties, ...]


def _sampled(rng: Random) -> Sample:
    tree = plain(sample(rng, deployed=True, items=4, depth=3))
    made = [matching_props(rng, tree), near_props(rng, tree), matching_props(rng, tree)]
    contents = tuple(plain_props(props) for props in made if props is not None)
    return Sample(spell(tree, deployed=True), contents)


samples = st.randoms(use_true_random=False).map(_sampled)


def is_no_filter(text: str) -> bool:
    """Tell whether a text is a filter in no reading, and may stand in a message all the same."""
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        return False
    try:
        parse(text.replace("}", "x"))  # by the letter everything is taken that anybody takes, but for the brace
    except FilterError:
        return True
    return False


no_filters = st.randoms(use_true_random=False).map(lambda rng: near_valid(rng, deployed=True).text).filter(is_no_filter)


# --- what clients do --------------------------------------------------------------------------------------


class Step(NamedTuple):
    """What one client does: a verb, and whatever the verb needs of the rest.

    ``service`` and ``number`` are places in what there is, ``by`` is added to the generation that is known.
    """

    verb: str
    client: int
    service: int = 0
    by: int = 1
    number: int = 0
    ttl: int = 60


VERBS = ("publish", "publish", "publish", "unpublish", "subscribe", "unsubscribe", "services", "leave", "return")

steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(VERBS),
        st.integers(0, CLIENTS - 1),
        st.integers(0, SERVICES - 1),
        st.sampled_from([1, 1, 2, 0, -1]),
        st.integers(0, 8),
        st.sampled_from([60, 60, 30]),
    ),
    min_size=1,
    max_size=14,
)


# --- what is no message -----------------------------------------------------------------------------------


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw a request with bits flipped, bytes put in, taken out, or repeated."""
    fields: dict[str, Any] = {
        "hello": {"client-id": 1, "protocol-minimum-version": 2, "protocol-maximum-version": 2},
        "publish": {"service-id": draw(st.integers(0, BITS_64)), "generation": 0, "service-props": {}, "ttl": 0},
        "subscribe": {"subscription-id": draw(st.integers(0, BITS_64)), "filter": "(&(name=x)(n>5))"},
        "services": {"filter": "(|(name=x*y)(!(n<5)))"},
        "unsubscribe": {"subscription-id": 1},
        "ping": {},
    }
    command = draw(st.sampled_from(list(fields)))
    message: Message = {"ta-cmd": command, "ta-id": 7, "msg-type": "request", **fields[command]}
    data = bytearray(spelled(message))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["flip", "insert", "delete", "repeat", "nest"])):
            case "flip" if data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                data.insert(place, draw(st.integers(0, 255)))
            case "delete" if data:
                del data[place]
            case "repeat":
                data += data[place:]
            case _:
                data[place:place] = b'{"a":[' * draw(st.integers(1, 50))
    return bytes(data)


def model(profile: str) -> NodeUnderTest:
    """Return the reference server as a node under test of its own, in memory."""
    world = World(lambda: Server(profile=profile), "server")
    return NodeUnderTest(world, Trace("pathfinder", clock=world.clock), profile=profile, namespace="model/")
