"""Faults of a subscriber: the members of what it says."""

from typing import Any

import msgspec
from msgspec.structs import replace

from harness.rai.peers.subscriber import Subscriber
from harness.rai.users import SERVICE, password
from harness.rai.variants.registry import fault
from wire.rai.values import Auth, Heartbeat, Message, Subs, SubStart


class SaysOtherwise(Subscriber):
    """A subscriber that has other members in what it says, signed as they are."""

    def sign(self, message: Message, key: bytes) -> Message:
        members = msgspec.json.decode(message.signed)
        signed = msgspec.json.encode(self.other(message, members))
        digest = self.signing.digest(key, message.seqno, message.subject, signed)
        return replace(message, signed=signed, digest=digest)

    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        """Return the members that are said in the place of some."""
        return members


@fault("RAI-069", does="has its password in its greetings")
class SaysItsPassword(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return members | {"auth": password(self.user)} if isinstance(message.body, Heartbeat) else members


@fault("RAI-069", does="has the service in its starts")
class SaysItsService(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return members | {"svc": SERVICE} if isinstance(message.body, SubStart) else members


@fault("RAI-092", does="says its interval with a fraction")
class SaysFractions(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return members | {"interval": 10.5} if isinstance(message.body, Heartbeat) else members


@fault("RAI-092", does="has null in its starts for what it does not ask for")
class SaysNull(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return {"format": None} | members if isinstance(message.body, SubStart) else members


@fault("RAI-101", does="has no cnonce in heartbeats")
class BeatsWithoutCnonce(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.body, Heartbeat):
            del members["cnonce"]
        return members


@fault("RAI-101", does="has no interval in heartbeats")
class BeatsWithoutInterval(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.body, Heartbeat):
            del members["interval"]
        return members


@fault("RAI-105", does="says yes in words")
class SaysYes(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return members | {"initial": "yes"} if isinstance(message.body, SubStart) else members


@fault("RAI-105", does="has a time in words for expires")
class ExpiresInWords(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        return members | {"expires": "30s"} if isinstance(message.body, SubStart) else members


@fault("RAI-167", does="has no cnonce in its auth messages")
class ProvesWithoutCnonceSubscriber(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.body, Auth):
            del members["cnonce"]
        return members


@fault("RAI-131", does="says when it answers, and not the last_seen of the question, in long lists")
class SaysWhenItAnswers(SaysOtherwise):
    def other(self, message: Message, members: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.body, Subs) and len(message.body.subs) > 100:
            return members | {"last_seen": max(self._said)}
        return members
