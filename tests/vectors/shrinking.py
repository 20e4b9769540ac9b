"""Where Hypothesis ends when it shrinks what the strategies make; run by test_generators.py, by itself."""

import pytest
from hypothesis import find, settings
from test_generators import ARTIFICIAL, ONCE, artificial, mappings, refusal

from vectors import strategies
from wire import reference
from wire.catalogue import layout
from wire.engines import engine
from wire.errors import Reason


def smallest(strategy, predicate):
    return find(strategy, predicate, settings=settings(ONCE, max_examples=5000))


def remarkable(value):
    """Return the numbers, bytes and texts in a value that are not zero or empty; flags and names do not count."""
    records = [each for each in mappings(value) if "header" in each]
    leaves = [part for each in records for name, part in each.items() if name not in ("type", "header", "options")]
    return [each for each in leaves if each and not isinstance(each, dict | list)]


NETWORK = "zenoh/network-message"


def test_values_shrink_to_the_first_message():
    value = smallest(strategies.values(layout(NETWORK)), lambda value: True)
    assert engine("python").encode(NETWORK, value) == bytes.fromhex("1900")


@pytest.mark.parametrize(("name", "frame"), [("D_TOKEN", "1e060000"), ("U_KEYEXPR", "1e0100"), ("D_FINAL", "1e1a")])
def test_a_declaration_shrinks_to_nothing_but_itself(name, frame):
    value = smallest(
        strategies.values(layout(NETWORK)), lambda value: any(each.get("type") == name for each in mappings(value))
    )
    assert engine("python").encode(NETWORK, value).hex() == frame


def test_a_text_shrinks_to_the_letter_that_matters():
    value = smallest(
        strategies.values(layout(NETWORK)),
        lambda value: any("q" in (each.get("key_suffix") or "") for each in mappings(value)),
    )
    assert remarkable(value) == ["q"]
    assert not any(each.get("extensions") for each in mappings(value))


def test_an_extension_shrinks_to_the_number_that_matters():
    value = smallest(
        strategies.values(layout(NETWORK)),
        lambda value: any(isinstance(each.get("value"), int) and each["value"] > 1 << 32 for each in mappings(value)),
    )
    assert remarkable(value) == [(1 << 32) + 1]
    chains = [each["extensions"] for each in mappings(value) if each.get("extensions")]
    assert [dict(each["header"]) for chain in chains for each in chain] == [{"Z": 0, "encoding": 1, "M": 0, "id": 0}]


def test_a_list_shrinks_to_the_item_that_matters():
    frame = smallest(
        strategies.frames(artificial("list")),
        lambda frame: any(
            each.get("value", 0) >= 200 for each in mappings(reference.decode(ARTIFICIAL["list"], frame))
        ),
    )
    assert frame.hex() == "02c801"


@pytest.mark.parametrize(
    ("reason", "length"),
    [
        (Reason.TRUNCATED, 2),
        (Reason.UNKNOWN_ID, 2),
        (Reason.TRAILING, 4),
        (Reason.OUT_OF_RANGE, 6),
        (Reason.RESERVED, 8),
        (Reason.BAD_TEXT, 10),
    ],
)
def test_mutated_frames_shrink_to_what_is_wrong(reason, length):
    frame = smallest(strategies.mutated(layout(NETWORK)), lambda frame: refusal(NETWORK, frame) is reason)
    assert len(frame) <= length
