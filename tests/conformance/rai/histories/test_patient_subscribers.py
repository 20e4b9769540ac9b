"""Who asks waits for an answer, and not for ever: however the time went by."""

import pytest

from conformance.selfcheck.peers import compute_row, matrix_peers


@pytest.mark.slow(seconds=6)  # all histories of a subscriber
def test_who_gives_up_a_snapshot_after_twenty_seconds_is_accused_of_nothing() -> None:
    """A regression: with jitter so much time went by in a few moves, and it was to tell of an answer that came then."""
    name = "gives-up-snapshots, jitter"
    peer = next(each for each in matrix_peers("rai") if each.name == name)
    row = compute_row("rai", peer, "document", histories=True)
    assert (row.accusers, row.errors) == ({}, ())
