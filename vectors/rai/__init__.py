"""Rai's golden vectors, and the samples of its texts."""

from vectors.rai import text_specimens

LANGUAGES = text_specimens.LANGUAGES
"""What makes frames of the layouts that are texts of a language."""
