"""A router-cache in a world of its own, with who speaks to it on both sides."""

import json
from typing import Any

from harness.peers.memory import World
from harness.peers.peer import PeerSettings
from harness.rai.peers.node import GONE
from harness.rai.peers.router_cache import RouterCache
from harness.rai.protocol import PROTOCOL
from harness.rai.tester.driver import TestSession
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest
from harness.rai.tester.publisher import TestPublisher
from harness.trace import Trace
from wire.rai.values import (
    Told,
)

SILENCE = GONE * 10 + 1
"""Seconds after which a session that says nothing is over."""


class House:
    """A router-cache in a world of its own, with who speaks to it on both sides."""

    def __init__(self) -> None:
        self.world: World = PROTOCOL.world(self.make, "router-cache")
        self.trace = Trace("rai", "memory", self.world.clock)
        self.node = NodeUnderTest(self.world, self.trace, profile="document", namespace="")
        self.source = self.node.publisher

    def make(self, settings: PeerSettings) -> RouterCache:
        self.router = RouterCache.of(settings)
        return self.router

    def started(self, name: str, **fields: Any) -> str:
        """Have a subject with a value be subscribed, and return it."""
        subject = self.node.given(name, **fields)
        self.node.main.image(subject)
        return subject

    def returned(self, values: dict[str, dict[str, Any]]) -> TestPublisher:
        """Return another publisher, which has values before the router-cache trusts it."""
        session, greeting = self.node.greeted(self.node.source)
        made = TestPublisher(self.node.source, "dora")
        made.values |= values
        made.hello()
        made.prove(session, greeting.time, greeting.cnonce)
        return made

    def pause(self, seconds: float) -> None:
        self.node.broker.pause(seconds)

    def published(self, subject: str, since: int = 0) -> list[tuple[str, str, Any]]:
        """Return what the router-cache has published on a subject: type, status, fields."""
        self.pause(0.1)
        return [told(event) for event in self.node.broker.received(since=since) if event.subject == subject]

    def snapshot(self, subject: str, session: TestSession | None = None) -> tuple[str, str, Any]:
        return told((session or self.node.main).snapshot(subject))

    def questions(self, form: type, since: int = 0) -> list[str]:
        """Return the subjects under which the source was asked something."""
        self.pause(0.1)
        return [event.subject for event in self.node.source.received(form, since=since)]


def told(event: Event | None) -> tuple[str, str, Any]:
    assert event is not None
    body = event.body
    assert isinstance(body, Told)
    return body.kind, body.state, json.loads(bytes(body.data)) if body.has_data else None
