"""Frames of every kind of node that layouts can have (``tests/wire/alphabet.py``): sampled, shrunk, mutated."""

import sys
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from construct import Struct
from hypothesis import HealthCheck, given, settings

from vectors import strategies
from vectors.mutation import Mutator, mutations
from vectors.sampling import Sampler, stream
from wire import reference
from wire.errors import DecodeError, Reason
from wire.kinds.generators import Unsatisfiable
from wire.layout import lay_out
from wire.primitives import ArrayOf, Bytes, Header, OneOf, Unsigned

sys.path.insert(0, str(Path(__file__).parents[2] / "wire"))

from alphabet import GRAMMARS
from random_grammars import grammars

LAYOUTS = {name: lay_out(grammar, f"alphabet/{name}") for name, grammar in GRAMMARS.items()}
pytestmark = [pytest.mark.slow, pytest.mark.sweep]
"""Every kind of node, which seldom changes; test_binary_generators.py says so sooner of the protocols' layouts."""

FRAMES = 400
EXAMPLES = settings(
    max_examples=15, database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


def refusal(name: str, data: bytes) -> Reason | None:
    try:
        reference.decode(GRAMMARS[name], data)
    except DecodeError as error:
        return error.reason
    return None


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_frame_is_that_of_its_value(name):
    sampler = Sampler(LAYOUTS[name], Random(1))
    for number in range(FRAMES):
        overlong = number % 4 == 3
        value, data = sampler.pair(overlong=overlong)
        assert reference.decode(GRAMMARS[name], data) == value
        assert overlong or reference.encode(GRAMMARS[name], value) == data


IMPOSSIBLE = {
    # At least four bytes within as many as one bit says.
    (0, "random-12"),
    # More than five bytes within as many as the lowest bits of a byte say, behind a list to the end that is there if
    # the byte is more than five.
    (2, "random-3"),
}
"""Random grammars of which there is no frame."""


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_random_grammars_are_found_if_there_are_any(seed):
    for name, grammar in grammars(seed, 15).items():
        layout = lay_out(grammar, f"random/{name}")
        if (seed, name) in IMPOSSIBLE:
            with pytest.raises(Unsatisfiable):
                Sampler(layout, Random(1)).pair()
            continue
        sampler = Sampler(layout, Random(1))
        for _ in range(20):
            value, data = sampler.pair()
            assert reference.decode(grammar, data) == value, (name, data.hex())


def test_a_list_of_a_known_number_needs_the_bytes_of_its_items():
    """So a message in which it stands behind a list up to the end is never drawn: there is no frame of it."""
    grammar = OneOf(
        "NEVER" / Struct("header" / Header(1), "all" / ArrayOf(Unsigned(1)), "one" / ArrayOf(Unsigned(1), 1)),
        "ALWAYS" / Struct("header" / Header(2), "fixed" / Bytes(2)),
    )
    sampler = Sampler(lay_out(grammar, "random/known"), Random(1))
    assert {sampler.pair()[0]["type"] for _ in range(60)} == {"ALWAYS"}


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_hypothesis_draws_is_valid(name):
    @EXAMPLES
    @given(strategies.frames(LAYOUTS[name], overlong=True))
    def accepted(data):
        assert refusal(name, data) is None

    @EXAMPLES
    @given(strategies.values(LAYOUTS[name]))
    def written(value):
        assert reference.decode(GRAMMARS[name], reference.encode(GRAMMARS[name], value)) == value

    accepted()
    written()


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_fields_of_a_frame_are_found(name):
    """Up to its end, inner ones before outer ones."""
    sampler, known = Sampler(LAYOUTS[name], Random(2)), mutations(LAYOUTS[name])
    for _ in range(200):
        data = sampler.frame()
        assert max((span.end for span in known.spans(data)), default=0) == len(data)


@pytest.mark.parametrize(
    ("name", "mutation", "reason"),
    [
        ("words", "change header.sender", None),
        ("words", "flip header.relayed", None),
        ("words", "change magic.mark", Reason.UNKNOWN_ID),
        ("counted", "count more than there is in data", Reason.TRUNCATED),
        ("counted", "count less than there is in numbers", None),
        ("terminated", "NUL missing in name", Reason.TOO_LONG),
        ("terminated", "one byte beyond the bound of raw", Reason.TOO_LONG),
        ("padded", "padding that is not zero in pad", Reason.BAD_VALUE),
        ("padded", "without padding in number", Reason.TRUNCATED),
        ("selected", "unknown kind", Reason.UNKNOWN_ID),
        ("tails", "without the tail c", None),
        ("tree", "count less than there is in fields", Reason.TRUNCATED),
        ("tree", "unknown inner.fields.kind", Reason.UNKNOWN_ID),
        ("cases", "reserved kind", Reason.RESERVED),
        ("chained", "chain end missing in links", None),
        ("chained", "one more than fit in links", Reason.TOO_LONG),
    ],
)
def test_what_is_wrong_is_named(name, mutation, reason):
    """It comes up, and leads (also) to the refusal that it is about; ``None``: to any, or to none."""
    led = outcomes(name)
    assert mutation in led, sorted(led)
    assert reason is None or led[mutation][reason], led[mutation]


@cache
def outcomes(name: str) -> dict[str, Counter[Reason | None]]:
    """What comes of each mutation alone, over many frames."""
    sampler, mutator = Sampler(LAYOUTS[name], Random(3)), Mutator(LAYOUTS[name], Random(4))
    led: dict[str, Counter[Reason | None]] = {}
    recent = [sampler.frame() for _ in range(16)]
    for _ in range(6 * FRAMES):
        data, names = mutator.mutate(sampler.frame(), recent)
        if len(names) == 1:
            led.setdefault(names[0], Counter())[refusal(name, data)] += 1
    return led


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_same_seed_gives_the_same_frames(name):
    frames = [list(islice(stream(LAYOUTS[name], 5), 100)) for _ in range(2)]
    assert frames[0] == frames[1]
    assert sum(refusal(name, data) is None for data, names in frames[0] if not names) == 50
