"""Pathfinder: a directory of services, in messages of JSON."""

from wire.pathfinder.messages import deployed_message, document_message

LAYOUTS = {
    "message": document_message,
    "deployed-message": deployed_message,
}
