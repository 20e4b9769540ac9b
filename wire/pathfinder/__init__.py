"""Pathfinder: a directory of services, in messages of JSON."""

from wire.pathfinder import filter_language, filter_specimens
from wire.pathfinder.messages import deployed_message, document_message

LAYOUTS = {
    "message": document_message,
    "deployed-message": deployed_message,
} | filter_language.LAYOUTS

LANGUAGES = filter_specimens.LANGUAGES
"""What makes frames of the layouts that are texts of a language."""
