"""Faults of a client against Pathfinder, the commands that list and "Ping Command"."""

from typing import Any

from harness.pathfinder.faults.client_messages import Rewriting
from harness.pathfinder.faults.registry import fault
from wire.pathfinder.frames import Message


@fault("PF-142", does="sends a filter with subscriptions")
class FiltersSubscriptions(Rewriting):
    asking = "subscriptions"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"filter": "(name=goldwire)"}


@fault("PF-149", does="sends a limit with services")
class LimitsServices(Rewriting):
    asking = "services"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"limit": 10}


@fault("PF-149", does="sends a filter with services that is none")
class AsksWithNoSuchFilter(Rewriting):
    asking = "services"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"filter": "name=goldwire"}


@fault("PF-174", does="sends its client-id with clients")
class ClientsWithItself(Rewriting):
    asking = "clients"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"client-id": self.id}


@fault("PF-181", does="sends a time stamp with ping")
class StampedPing(Rewriting):
    asking = "ping"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"time": 1}
