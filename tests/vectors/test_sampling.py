"""What samplers keep in memory."""

import tracemalloc

import pytest

from vectors.kinds import kind_of
from vectors.random_choices import RandomChoices
from vectors.sampling import drawing
from wire.catalogue import grammars, layout


@pytest.mark.parametrize("name", grammars())
def test_what_is_kept_of_a_layout_is_small(name):
    """What is equal in many fields is there once: contents of all lengths, bytes, the named bits of each."""
    tree = layout(name)
    kept = [drawing(tree, RandomChoices())]  # what all layouts share is made here, if nobody has needed it yet
    tracemalloc.start()
    try:
        kept += [drawing(tree, RandomChoices(overlong=True)), kind_of(tree).finder(tree)]
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 1_000_000, "bytes"
