"""Faults of a client against Pathfinder, "Data Model" to "Message": how it spells what it sends."""

from typing import Any

from harness.pathfinder.peers.client import Client
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


class RewritesRequests(Client):
    """A client that changes its requests of one command, or of all, before it sends them."""

    asking = ""

    def rewrite(self, message: dict[str, Any]) -> Message:
        """Return what is sent in the place of a message; values that are bytes are spelled already."""
        return message

    def encode_message(self, message: Message) -> bytes:
        if self.asking in ("", message["ta-cmd"]):
            message = self.rewrite(dict(message))
        return encode_message(message, deployed=self.deployed)


@fault("PF-061", does="puts a message and the beginning of another into one frame")
class AsksOnceAndABit(Client):
    def encode_message(self, message: Message) -> bytes:
        # Only where the scenario subscribes: a client that cannot say hello shows nothing else.
        return super().encode_message(message) + (b"{" if message["ta-cmd"] == "subscribe" else b"")


@fault("PF-077", does="spells strings with single quotes")
class AsksInSingleQuotes(Client):
    def encode_message(self, message: Message) -> bytes:
        return super().encode_message(message).replace(b'"subscribe"', b"'subscribe'")


@fault("PF-078", does="sends its generation as a string")
class PublishesGenerationAsText(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"generation": str(message["generation"])}


@fault("PF-079", does="says its message type twice")
class AsksWithTwoTypes(Client):
    def encode_message(self, message: Message) -> bytes:
        return super().encode_message(message)[:-1] + b',"msg-type":"request"}'


@fault("PF-080", does="puts a message into an array")
class AsksInAnArray(Client):
    def encode_message(self, message: Message) -> bytes:
        spelt = super().encode_message(message)
        return b"[" + spelt + b"]" if message["ta-cmd"] == "ping" else spelt


@fault("PF-081", does="adds a sequence number to its messages")
class NumbersItsRequests(RewritesRequests):
    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"sequence": 1}


@fault("PF-013", does="puts a single value where an array of values belongs")
class PublishesBareValues(RewritesRequests):
    asking = "publish"

    def rewrite(self, message: dict[str, Any]) -> Message:
        props = message["service-props"]
        return message | {"service-props": {name: [values] for name, values in props.items()}}
