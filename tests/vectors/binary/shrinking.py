"""Where Hypothesis ends when it shrinks what the strategies make; run by test_binary_generators.py, by itself."""

import re

import pytest
from hypothesis import find, settings
from test_binary_generators import ARTIFICIAL, ONCE, artificial, mappings, refusal

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
    """To one of few bytes; which is a matter of where Hypothesis begins.

    It orders what it draws by how many choices were made, and then by these, never by bytes. From one kind of message,
    or of mutation, to another it gets by lowering one choice and trying three times what comes by chance behind it. A
    mutation that needs a choice to be higher, in a simpler message, is not tried: there it ends.
    """
    frame = smallest(strategies.mutated(layout(NETWORK)), lambda frame: refusal(NETWORK, frame) is reason)
    assert len(frame) <= length


FILTER = "pathfinder/filter"


@pytest.mark.parametrize(
    ("wanted", "shortest"),
    [
        (r"", "(=*)"),
        (r"\(&", "(&(=*))"),
        (r"\\[*]", r"(\*=*)"),
        (r"!.*!", "(!(!(=*)))"),
        (r"[^\0-~]", "(\x7f=*)"),
        (r"\*a\*", "(=*a*)"),
        (r"\)\(", "(|(=*)(=*))"),
    ],
)
def test_a_filter_shrinks_to_what_matters(wanted, shortest):
    """To one as short as any, which of them is a matter of luck."""
    frame = smallest(strategies.frames(layout(FILTER)), lambda frame: re.search(wanted, frame.decode()))
    assert len(frame.decode()) <= len(shortest)


def test_the_value_of_a_filter_shrinks_to_what_matters():
    value = smallest(
        strategies.values(layout(FILTER)), lambda value: any(len(part.get("any", ())) > 1 for part in value)
    )
    assert value == [{"type": "substring", "key": "", "initial": "", "any": ["", ""], "final": ""}]


@pytest.mark.parametrize(
    ("reason", "length"),
    [(Reason.TRUNCATED, 3), (Reason.TRAILING, 7), (Reason.BAD_SYNTAX, 3), (Reason.BAD_TEXT, 6)],
)
def test_mutated_filters_shrink_to_what_is_wrong(reason, length):
    frame = smallest(strategies.mutated(layout(FILTER)), lambda frame: refusal(FILTER, frame) is reason)
    assert len(frame) <= length


MESSAGE = "pathfinder/message"
PING = b'{"ta-cmd":"ping","ta-id":0,"msg-type":"request"}'


def test_texts_of_json_shrink_to_the_canonical_spelling():
    frame = smallest(strategies.frames(layout(MESSAGE), overlong=True), lambda frame: b"reason" in frame)
    command = reference.decode(MESSAGE, frame)["ta-cmd"]
    assert frame.decode() == f'{{"ta-cmd":"{command}","ta-id":0,"msg-type":"fail","fail-reason":""}}'


def test_a_message_of_json_shrinks_to_nothing_but_itself():
    assert smallest(strategies.frames(layout(MESSAGE), overlong=True), lambda frame: b'"ping"' in frame) == PING


def test_a_property_shrinks_to_the_text_that_matters():
    value = smallest(
        strategies.values(layout(MESSAGE)),
        lambda value: any("q" in str(each) for each in value.get("service-props", {}).values()),
    )
    assert [*value["service-props"].values()] == [["q"]]
    assert remarkable_of(value) == []


def remarkable_of(value):
    """Return the numbers of a message that are not zero, and its optional members."""
    numbers = [each for each in value.values() if isinstance(each, int | float) and each]
    return numbers + [name for name in ("filter", "fail-reason", "orphan-since") if name in value]


def test_a_number_of_json_shrinks_to_the_boundary():
    value = smallest(strategies.values(layout(MESSAGE)), lambda value: value.get("ttl", 0) > 1 << 53)
    assert value["ttl"] == (1 << 53) + 1
    assert remarkable_of({**value, "ttl": 0}) == []


@pytest.mark.parametrize(
    ("reason", "length"),
    [
        (Reason.BAD_SYNTAX, 80),
        (Reason.TRUNCATED, 80),
        (Reason.TRAILING, 130),
        (Reason.DUPLICATE_NAME, 100),
        (Reason.WRONG_TYPE, 90),
        (Reason.MISSING_FIELD, 80),
        (Reason.UNKNOWN_FIELD, 80),
        (Reason.UNKNOWN_ID, 80),
        (Reason.OUT_OF_RANGE, 150),
        (Reason.BAD_TEXT, 90),
    ],
)
def test_mutated_texts_shrink_to_what_is_wrong(reason, length):
    """One small message, and one thing wrong."""
    frame = smallest(strategies.mutated(layout(MESSAGE)), lambda frame: refusal(MESSAGE, frame) is reason)
    assert len(frame) <= length
