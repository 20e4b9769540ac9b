"""What tests of captures share: recordings of plays."""

from recorded_plays import plays

__all__ = ["plays"]
