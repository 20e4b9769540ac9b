"""Unusual clients: how they spell their messages."""

import json

from harness.pathfinder.peers.client import Client
from harness.pathfinder.variants.lenient import with_points
from harness.pathfinder.variants.registry import oddity
from wire.pathfinder.values import Message


@oddity("PF-077", does="spells its messages with white space wherever some may stand")
class SpacedRequests(Client):
    def encode_message(self, message: Message) -> bytes:
        return json.dumps(message, indent="\t", separators=(" ,\r\n", " : ")).encode() + b"\n "


@oddity("PF-077", does="spells the fields of its messages from behind")
class ReversedRequests(Client):
    def encode_message(self, message: Message) -> bytes:
        return json.dumps({name: message[name] for name in reversed(list(message))}).encode()


@oddity("PF-077", does="spells every character of its strings as an escape")
class EscapedRequests(Client):
    def encode_message(self, message: Message) -> bytes:
        text, inside, spelt = json.dumps(message), False, ""
        for each in text:
            inside ^= each == '"'
            # json.dumps keeps to ASCII, so four digits are enough for what stands between quotes.
            spelt += f"\\u{ord(each):04x}" if inside and each != '"' else each
        return spelt.encode()


@oddity("PF-003", "PF-006", "PF-017", does="writes whole numbers with a point, as long as they stay what they are")
class PointedRequests(Client):
    def encode_message(self, message: Message) -> bytes:
        return json.dumps(with_points(dict(message))).encode()
