"""What may be registered as a variant of a peer."""

from abc import abstractmethod

import pytest
from machines import Echo

from harness.peers.variants import Variants, together


class Undecided(Echo):
    """What has something to say is made of this."""

    @abstractmethod
    def word(self):
        """Return what it says."""


def test_what_leaves_something_open_is_no_variant():
    with pytest.raises(TypeError, match="Undecided is abstract: word"):
        Variants("nowhere")("T-1", does="says nothing")(Undecided)


def test_what_says_it_is_one():
    variants = Variants("machines")

    @variants("T-1", does="says x")
    class SaysX(Undecided):
        def word(self):
            return "x"

    assert [each.name for each in variants.about("T-1")] == ["says-x"]


def test_those_of_a_role_are_had_together_all_or_of_a_kind():
    variants = Variants("machines")

    @variants("one", does="says x first")
    class SaysX(Echo):
        said = "x"

    @variants("two", does="says y first")
    class SaysY(Echo):
        other = "y"

    everything = together(variants.of_role(Echo.role))
    assert (everything.said, everything.other) == ("x", "y")
    assert together(variants.of_role(Echo.role, "two")) is SaysY
    assert together(variants.of_role(Echo.role, "says-x")) is SaysX
    assert variants.of_role("another") == variants.of_role(Echo.role, "three") == []
