"""Subscribers that were accused in vain once, of what a delay had made of what they do."""

import pytest

from conformance.selfcheck.peers import MatrixPeer, compute_row


@pytest.mark.slow(seconds=6)  # all histories of a subscriber
def test_who_gives_up_a_snapshot_after_twenty_seconds_is_accused_of_nothing() -> None:
    """A regression: with jitter so much time went by in a few moves, and it was to tell of an answer that came then."""
    peer = MatrixPeer("latency", "", "subscriber", variants=("gives-up-snapshots",), world="jitter")
    row = compute_row("rai", peer, "document", histories=True)
    assert row.outcomes, "nothing was judged"
    assert (row.accusers, row.errors) == ({}, ())


def test_who_greets_twice_far_away_may_start_a_wildcard_again() -> None:
    """A regression: what was started again was taken for the start of the next wildcard, and RAI-120 for broken."""
    peer = MatrixPeer("latency", "", "subscriber", variants=("greets-twice",), world="1 s")
    row = compute_row("rai", peer, "document", "test_starts_of_wildcards")
    assert "RAI-120" in row.outcomes
    assert (row.accusers, row.errors) == ({}, ())
