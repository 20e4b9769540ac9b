"""What may be registered as a variant of a peer."""

from abc import abstractmethod

import pytest
from machines import Echo

from harness.peers.variants import Variants


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
