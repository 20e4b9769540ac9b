"""Pathfinder: a directory of services, in messages of JSON."""

from wire.pathfinder.messages import document_message

JSON_LAYOUTS = {
    "message": document_message,
}
