"""Pathfinder's golden vectors, and the samples of its filters."""

from vectors.pathfinder import filter_specimens

LANGUAGES = filter_specimens.LANGUAGES
"""What makes frames of the layouts that are texts of a language."""
