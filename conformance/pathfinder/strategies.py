"""Hypothesis strategies for what clients do, for filters and properties.

Filters and properties keep to what every reading takes alike: names stand for texts or for integers, never for both;
small letters only; nothing empty, nothing twice. Characters that servers stumble over have cases of their own and are
left out here, so that a known stumble does not hide the rest.
"""

from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from conformance.corruption import corrupted
from harness.pathfinder.tester.driver import encode_message
from vectors.pathfinder.filter_samples import Properties, matching_props, near_props, near_valid, sample
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
from wire.pathfinder.values import Message

CLIENTS = 3
"""Clients of a play: an owner, another who takes its services over, and one who only looks on."""

SERVICES = 4
"""Services of a play: one more than clients, so that somebody owns two."""

NUMBERS = ("n", "version")
TEXTS = ("a", "name", "two words", "*")
STUMBLES = dict.fromkeys(map(ord, "!}\n"))
"""Special characters that not all take for such (PF-069, PF-071), and the end of a line in a substring (PF-212)."""

BITS_64 = 2**63 - 1
"""The largest integer of the document, which has them signed."""


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
    # Not hash(), which differs from process to process: a play must be the same when it is played again.
    return names[sum(map(ord, key)) % len(names)]


def _plain(text: str) -> str:
    return text.translate(STUMBLES).lower()


def _bounded(text: str) -> str:
    # Within 64 bits on either side of zero: beyond, servers may refuse a filter for its number.
    return str(max(-BITS_64, min(BITS_64, int(text))))


class Sample(NamedTuple):
    """A filter's text, and properties that it matches or just does not."""

    filter: str
    contents: tuple[Properties, ...]


def sampled(rng: Random) -> Sample:
    # Four items and three levels: enough for every operator below every other, and short enough to be read.
    tree = plain(sample(rng, deployed=True, items=4, depth=3))
    # One that does not match between two that do: a server that matches all or nothing is seen either way.
    made = [matching_props(rng, tree), near_props(rng, tree), matching_props(rng, tree)]
    contents = tuple(plain_props(props) for props in made if props is not None)
    return Sample(spell(tree, deployed=True), contents)


samples = st.randoms(use_true_random=False).map(sampled)


def is_no_filter(text: str) -> bool:
    """Tell whether a text is a filter in no reading, and may stand in a message all the same."""
    # Not every string type holds these; messages with them have cases of their own.
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


# Much is published, as everything else needs something that is there; the rest is as frequent as it is telling.
WEIGHTS = {"publish": 5, "services": 2, "subscribe": 1, "unsubscribe": 1, "unpublish": 1, "leave": 2, "return": 2}
VERBS = [verb for verb, weight in WEIGHTS.items() for _ in range(weight)]

numbers = st.integers(0, 8)
clients = st.integers(0, CLIENTS - 1)
openings = st.tuples(*[numbers] * (CLIENTS + 2), clients).map(
    lambda drawn: [
        *(Step("publish", one, one, number=drawn[one]) for one in range(CLIENTS)),
        Step("subscribe", drawn[-1], number=drawn[CLIENTS]),
        Step("services", drawn[-1], number=drawn[CLIENTS + 1]),
    ]
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Draw what a client does, with services mostly what their first publisher does."""
    verb, service = draw(st.sampled_from(VERBS)), draw(st.integers(0, SERVICES - 1))
    # Three times in four: takeovers by other clients are to happen, but not to prevail.
    is_own = verb in ("publish", "unpublish") and draw(st.integers(0, 3))
    client = service % CLIENTS if is_own else draw(clients)
    # Mostly the next generation, which is taken; the same, an older one and a gap to see how they are told apart.
    by, ttl = draw(st.sampled_from([1, 1, 0, -1, 2])), draw(st.sampled_from([60, 30]))
    return Step(verb, client, service, by, draw(numbers), ttl)


plans = st.tuples(openings, st.lists(steps(), min_size=6, max_size=20)).map(lambda drawn: drawn[0] + drawn[1])
"""Whole plays: somebody publishes, watches and lists in any case."""


# --- what is no message -----------------------------------------------------------------------------------


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw a request with bits flipped, bytes put in, taken out, or repeated."""
    fields: dict[str, Any] = {
        "hello": {"client-id": 1, "protocol-minimum-version": 2, "protocol-maximum-version": 2},
        # A TTL of 0: what survives the corruption as a right request is gone as soon as the connection is.
        "publish": {"service-id": draw(st.integers(0, BITS_64)), "generation": 0, "service-props": {}, "ttl": 0},
        "subscribe": {"subscription-id": draw(st.integers(0, BITS_64)), "filter": "(&(name=x)(n>5))"},
        "services": {"filter": "(|(name=x*y)(!(n<5)))"},
        "unsubscribe": {"subscription-id": 1},
        "ping": {},
    }
    command = draw(st.sampled_from(list(fields)))
    message: Message = {"ta-cmd": command, "ta-id": 7, "msg-type": "request", **fields[command]}
    return corrupted(draw, encode_message(message), b'{"a":[', 50)
