"""What a requirement that does not hold says: in words, with the values that it compared, without acting again."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from conformance.cases import RuleBroken, judging
from conformance.engine.assertions import cited, complaint
from harness.zenoh.tester.snapshots import set_of, subscriber, token
from wire.zenoh.values import Mode


class Heard(msgspec.Struct, frozen=True):
    entry: int
    mode: Mode = Mode.CURRENT
    data: bytes = b"\x01\x02"


def raised(requirement: Any) -> AssertionError:
    with pytest.raises(AssertionError) as caught:
        requirement()
    return caught.value


def test_both_sides_of_a_comparison_are_told() -> None:
    def requirement() -> None:
        seen = set_of(subscriber("a/1"))
        assert seen == set_of(subscriber("a/1"), token("b")), "something is missing"

    said = complaint(raised(requirement), "")
    assert said == "something is missing\nseen: subscriber a/1\nwanted: subscriber a/1, token b"


def test_the_words_of_the_case_stand_where_an_assertion_has_none() -> None:
    def requirement() -> None:
        count = 3
        assert count < 2

    said = complaint(raised(requirement), "At most one comes.")
    assert said == "it does not hold that: At most one comes.\nseen: 3\nwanted: less than 2"


def test_values_are_not_spelled_as_python_does() -> None:
    def requirement() -> None:
        heard = Heard(7)
        assert not [heard.mode, heard.data, None, True], "it came"

    assert complaint(raised(requirement), "") == "it came\nseen: current, 01 02, nothing, yes"


def test_names_are_never_cut_and_the_rest_is_counted() -> None:
    def requirement() -> None:
        names = [f"{'a-long-way-down/' * 20}{number}" for number in range(10)]
        assert not names, "they came"

    said = complaint(raised(requirement), "")
    assert f'"{"a-long-way-down/" * 20}7" and 2 more' in said


def test_nothing_is_called_again_that_could_act() -> None:
    calls = []
    node = SimpleNamespace(publish=lambda: calls.append("published"))

    def requirement() -> None:
        assert node.publish() == "told", "nobody was told"

    assert complaint(raised(requirement), "") == 'nobody was told\nwanted: "told"'
    assert calls == ["published"]


def test_messages_that_it_was_about_are_cited() -> None:
    def requirement() -> None:
        snapshot, other = (Heard(4), Heard(9)), Heard(12)
        assert len(snapshot) > 2, f"too few, and not {other.entry}"

    assert cited(raised(requirement)) == (4, 9)


def test_a_block_that_blames_a_rule_says_the_same() -> None:
    def requirement() -> None:
        count = 3
        with judging("ZI-001"):
            assert count == 2, "too many"

    error = raised(requirement)
    assert isinstance(error, RuleBroken)
    assert complaint(error, "") == "too many\nseen: 3\nwanted: 2"
