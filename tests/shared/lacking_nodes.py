"""Nodes that lack something basic: each does all else, as far as that shows."""

from harness.pathfinder.peers import client as pathfinder_client
from harness.pathfinder.peers import server as pathfinder_server
from harness.peers.peer import Peer
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from wire.pathfinder.values import MULTIPLE
from wire.zenoh.values import Declare, DeclareFinal


class DeafRouter(Router):
    """Accepts connections and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteRouter(Router):
    """Shakes hands, and then ignores everything."""

    def on_message(self, session, message):
        pass


class SecretiveRouter(Router):
    """Never announces what is declared."""

    def declare(self, session, body, interest_id):
        if isinstance(body, DeclareFinal):
            super().declare(session, body, interest_id)


class StaleRouter(Router):
    """Lists what is declared, and never announces what comes later."""

    def announce(self, entity):
        pass


class UndeclaringRouter(Router):
    """Answers questions, and ignores every declaration."""

    def on_message(self, session, message):
        if not isinstance(message, Declare):
            super().on_message(session, message)


class DeafClient(Client):
    """Dials, and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteClient(Client):
    """Shakes hands, and then ignores everything."""

    def on_message(self, session, message):
        pass


class SecretiveClient(Client):
    """Never announces what it declares."""

    def declare(self, session, body, interest_id):
        if isinstance(body, DeclareFinal):
            super().declare(session, body, interest_id)


class DeafServer(pathfinder_server.Server):
    """Accepts connections and ignores everything."""

    def received(self, link, frame, now):
        pass


class MuteServer(pathfinder_server.Server):
    """Completes hello, and then ignores everything."""

    def execute(self, session, request):
        if request["ta-cmd"] == "hello":
            super().execute(session, request)


class UnlistingServer(pathfinder_server.Server):
    """Answers requests for one response, and ignores those for several."""

    def execute(self, session, request):
        if request["ta-cmd"] not in MULTIPLE:
            super().execute(session, request)


class SecretiveServer(pathfinder_server.Server):
    """Never tells a subscription of anything."""

    def notify_match(self, subscription, what, service):
        pass


class EmptyServer(pathfinder_server.Server):
    """Lists no services."""

    def on_services(self, session, request):
        self.enumerate(session, request, [])


class MutePathfinderClient(pathfinder_client.Client):
    """Dials, and says nothing."""

    def send(self, state, message):
        pass


class IdlePathfinderClient(pathfinder_client.Client):
    """Says hello, and then nothing."""

    def send(self, state, message):
        if message["ta-cmd"] == "hello":
            super().send(state, message)


class UnpublishingPathfinderClient(pathfinder_client.Client):
    """Subscribes, and never publishes."""

    def send(self, state, message):
        if message["ta-cmd"] != "publish":
            super().send(state, message)


class UnsubscribingPathfinderClient(pathfinder_client.Client):
    """Publishes, and never subscribes."""

    def send(self, state, message):
        if message["ta-cmd"] != "subscribe":
            super().send(state, message)


class DeafPathfinderClient(pathfinder_client.Client):
    """Says hello, and ignores what it is answered."""

    def received(self, link, frame, now):
        pass


NODES: list[tuple[str, type[Peer], list[str], str]] = [
    # No document of Zenoh's speaks of the handshake: nobody is accused who does not shake hands.
    ("zenoh", DeafRouter, [], "ZI-070"),
    ("zenoh", MuteRouter, ["ZI-070"], "ZI-070"),
    ("zenoh", UndeclaringRouter, ["ZI-001"], "ZI-001"),
    ("zenoh", SecretiveRouter, ["ZI-001"], "ZI-001"),
    ("zenoh", StaleRouter, ["ZD-091"], "ZD-091"),
    ("zenoh", DeafClient, [], "ZI-070"),
    ("zenoh", MuteClient, ["ZI-070"], "ZI-070"),
    ("zenoh", SecretiveClient, ["ZI-001"], "ZI-001"),
    ("pathfinder", DeafServer, ["PF-114"], "PF-114"),
    ("pathfinder", MuteServer, ["PF-094"], "PF-094"),
    ("pathfinder", UnlistingServer, ["PF-098"], "PF-098"),
    ("pathfinder", SecretiveServer, ["PF-120"], "PF-120"),
    ("pathfinder", EmptyServer, ["PF-157"], "PF-157"),
    # Nor has a client to say anything at all, to publish or to subscribe.
    ("pathfinder", MutePathfinderClient, [], "PF-107"),
    ("pathfinder", IdlePathfinderClient, [], "PF-097"),
    ("pathfinder", UnpublishingPathfinderClient, [], "PF-093"),
    ("pathfinder", UnsubscribingPathfinderClient, [], "PF-097"),
    ("pathfinder", DeafPathfinderClient, [], "PF-097"),
]
"""Nodes that lack something, the rules that accuse them, and the rule for want of which most cannot be judged."""
