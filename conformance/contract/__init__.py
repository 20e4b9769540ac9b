"""Expectations: what is known to be wrong with an implementation, compared with what a run came to."""
