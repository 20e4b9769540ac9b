"""A server that can be made to take what the reference refuses, and to say what the reference cannot write."""

import json
from typing import Any

from harness.pathfinder.peers.server import Server
from harness.pathfinder.tester.driver import encode_message
from wire.errors import EncodeError
from wire.pathfinder.values import Message, write

Fields = dict[str, Any]


class Lenient(Server):
    """Mends messages that the document does not have: ``mend`` says which, and what they are taken for."""

    def understand(self, frame: bytes) -> Message | None:
        """Read a request, or what can be mended to be one."""
        request = super().understand(frame)
        if request is not None:
            return request
        fields = salvaged(frame)
        mended = None if fields is None else self.mend(fields)
        if mended is None:
            return None
        try:
            return super().understand(write(mended, deployed=self.deployed))
        except EncodeError:
            return None

    def mend(self, fields: Fields) -> Fields | None:
        """Return what a message that the document does not have is taken for, if for anything."""
        return None

    def encode_message(self, message: Message) -> bytes:
        """Write a message, whether the document has it or not."""
        return encode_message(message, deployed=self.deployed)


def salvaged(frame: bytes) -> Fields | None:
    """Return the fields of any JSON object: the last of a name that is there twice, integers of any size."""
    try:
        fields = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def with_points(fields: Fields) -> Fields:
    """Return the fields of a message with 7.0 for 7; integers that would change by that stay as they are."""
    return {
        # Up to 2**53 a double is the very integer.
        name: float(value) if type(value) is int and abs(value) < 1 << 53 else value
        for name, value in fields.items()
    }
