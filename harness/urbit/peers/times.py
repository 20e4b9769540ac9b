"""The protocol's times, in its own seconds."""

HEARTBEAT = 25.0
"""Seconds between two heartbeat requests of a session (section "Overview of a Solution")."""

LEASE = 60.0
"""Seconds without a heartbeat request after which a publisher kills a session (same section)."""

FIRST_GAP, FACTOR, LONGEST_GAP = 1.0, 2.0, 30.0
"""Backoff, of which the document says only that it is exponential: seconds to the first repetition, how many times as
long each further gap is, and how long it is at most (reading A17)."""


def longer(gap: float) -> float:
    """Return the gap that follows a gap of so many seconds."""
    return min(FACTOR * gap, LONGEST_GAP)
