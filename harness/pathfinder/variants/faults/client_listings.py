"""Faults of a client against Pathfinder, the commands that list and "Ping Command"."""

from typing import Any

from harness.pathfinder.variants.faults.client_messages import RewritesRequests
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-142", does="sends a filter with subscriptions")
class FiltersSubscriptions(RewritesRequests):
    asking = "subscriptions"

    def rewrite(self, message: dict[str, Any]) -> Message:
        # Any filter will do: the command has no such field.
        return message | {"filter": "(name=goldwire)"}


@fault("PF-149", does="sends a limit with services")
class LimitsServices(RewritesRequests):
    asking = "services"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"limit": 10}


@fault("PF-149", does="sends a filter with services that is none")
class AsksWithNoSuchFilter(RewritesRequests):
    asking = "services"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"filter": "name=goldwire"}


@fault("PF-174", does="sends its client-id with clients")
class ClientsWithItself(RewritesRequests):
    asking = "clients"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"client-id": self.id}


@fault("PF-181", does="sends a time stamp with ping")
class StampedPing(RewritesRequests):
    asking = "ping"

    def rewrite(self, message: dict[str, Any]) -> Message:
        return message | {"time": 1}
