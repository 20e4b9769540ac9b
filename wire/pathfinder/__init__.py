"""Pathfinder: a directory of services, in messages of JSON."""

from wire.pathfinder import filter_language
from wire.pathfinder.grammar import deployed_message, document_message

LAYOUTS = {
    "message": document_message,
    "deployed-message": deployed_message,
} | filter_language.LAYOUTS
