"""Undertakings: what a client has begun on each server, over all its connections, and must bring back after a loss."""

from typing import Any, NamedTuple

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.histories.model import contents_of
from conformance.pathfinder.monitors.forms import is_whole
from harness.pathfinder.peers.scenarios import Change, Publish, Query, Scenario, Subscribe, Unpublish, Unsubscribe
from harness.pathfinder.tester.scripted_servers import AcceptedConnection
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.values import MULTIPLE, Message

OF_COMMANDS = dict.fromkeys(MULTIPLE, "PF-097")
"""What is broken when a command is not given, where that is not PF-093."""


class ScenarioEnd(NamedTuple):
    """What a client has done when its scenario is over."""

    services: int = 0
    generation: int = 0
    commands: frozenset[str] = frozenset()
    filter: str | None = None

    @classmethod
    def of(cls, scenario: Scenario) -> "ScenarioEnd":
        """Return that of a scenario."""
        end, commands = cls(), set()
        for step in scenario.steps:
            match step:
                case Publish(services=services):
                    end = end._replace(services=end.services + len(services))
                    commands.add("publish")
                case Change():
                    end = end._replace(generation=end.generation + 1)
                case Subscribe(filter=filter):
                    end = end._replace(filter=filter)
                    commands.add("subscribe")
                case Unpublish() | Unsubscribe():
                    commands.add(type(step).__name__.lower())
                case Query(command=command):
                    commands.add(command)
        return end._replace(commands=frozenset(commands))


class Publication(NamedTuple):
    """What a service is published as."""

    generation: Any
    contents: frozenset[tuple[str, bool, Any]]
    ttl: Any


def publication_of(fields: Message) -> Publication:
    """Return what a publish has."""
    return Publication(fields.get("generation"), contents_of(fields.get("service-props")), fields.get("ttl"))


class ServerAccount:
    """What the client has said to one server."""

    def __init__(self) -> None:
        self.sent: dict[Any, Publication] = {}
        self.done: dict[Any, Publication] = {}
        self.withdrawn: set[Any] = set()
        self.gone: set[Any] = set()
        self.is_subscribed = self.is_unsubscribed = False
        self.commands: set[str] = set()
        """What was asked for and answered."""
        self.refused: set[tuple[str, Any]] = set()
        """What was refused, and not granted since: what becomes of that is the client's business."""
        self.is_lost = False


class Undertakings:
    """What a client has said to all servers of a domain."""

    def __init__(self, scenario: Scenario, servers: int) -> None:
        self.end = ScenarioEnd.of(scenario)
        self.accounts = [ServerAccount() for _ in range(servers)]
        self.client_id: Any = None
        self.subscription: Any = None
        self.known: dict[tuple[Any, Any], tuple[int, Publication]] = {}
        """By service and generation: what it was published as first, and on which server."""
        self.latest: dict[Any, Any] = {}
        """The highest generation of each service, on any server."""
        self._read: dict[int, int] = {}
        self._open: dict[int, list[Transaction]] = {}

    # --- what it says -------------------------------------------------------------------------------------

    def read(self, connection: AcceptedConnection) -> None:
        """Take what has come on a connection, and what was answered there; raises ``Mismatch``."""
        account, key = self.accounts[connection.server], id(connection)
        requests, waiting = connection.requests, self._open.setdefault(key, [])
        for transaction in requests[self._read.get(key, 0) :]:
            self._asked(connection, account, transaction.command, transaction.request.fields)
            waiting.append(transaction)
        self._read[key] = len(requests)
        for transaction in [each for each in waiting if each.answers]:
            waiting.remove(transaction)
            self._answered(account, transaction)

    def _asked(self, connection: AcceptedConnection, account: ServerAccount, command: str, fields: Message) -> None:
        match command:
            case "hello":
                self._same("client_id", fields.get("client-id"), "PF-038", "another client-id is said on a connection")
            case "publish":
                self._published(connection.server, account, fields)
            case "unpublish":
                if fields.get("service-id") not in account.sent:
                    raise Mismatch("PF-168", f"{fields.get('service-id')} is unpublished, and was not published there")
                account.withdrawn.add(fields.get("service-id"))
            case "subscribe":
                id = fields.get("subscription-id")
                self._same("subscription", id, "PF-040", "a subscription has another identifier on a connection")
                if fields.get("filter") != self.end.filter:
                    rule = "PF-220" if account.is_lost else "PF-124"
                    raise Mismatch(rule, f"a subscription has the filter {fields.get('filter')!r}")
                account.is_subscribed = True
            case "unsubscribe":
                made = {each.request.fields.get("subscription-id") for each in connection.asked("subscribe")}
                if fields.get("subscription-id") not in made:
                    raise Mismatch("PF-135", "a subscription is ended on a connection on which it was not made")
                account.is_unsubscribed = True

    def _same(self, name: str, value: Any, rule: str, what: str) -> None:
        if getattr(self, name) is None:
            setattr(self, name, value)
        elif getattr(self, name) != value:
            raise Mismatch(rule, f"{what}: {value}, and not {getattr(self, name)}")

    def _published(self, server: int, account: ServerAccount, fields: Message) -> None:
        service, state = fields.get("service-id"), publication_of(fields)
        if not (is_whole(service) and is_whole(state.generation)):
            return  # how a message is spelled is for monitors to judge
        if service in account.gone:
            raise Mismatch("PF-045", f"{service} is published again, and was unpublished")
        if service not in self.latest and len(self.latest) == self.end.services:
            rule = "PF-011" if account.sent else "PF-009"
            raise Mismatch(rule, f"{service} is published, beside as many services as the scenario has")
        where, first = self.known.setdefault((service, state.generation), (server, state))
        if first != state:
            rule = "PF-019" if where == server else "PF-039"
            raise Mismatch(rule, f"generation {state.generation} of {service} is published with other contents")
        done = account.done.get(service)
        if done is not None and state.generation < done.generation:
            raise Mismatch(
                "PF-046", f"{service} is published in generation {state.generation} behind {done.generation}"
            )
        self._count(service, state.generation)
        account.sent[service] = state

    def _count(self, service: Any, generation: Any) -> None:
        """Make sure that generations begin at 0 and go up one by one."""
        if service not in self.latest:
            if generation:
                raise Mismatch("PF-018", f"{service} begins at generation {generation}")
            self.latest[service] = generation
        elif generation > self.latest[service] + 1:
            raise Mismatch("PF-020", f"{service} has generation {generation} behind {self.latest[service]}")
        self.latest[service] = max(self.latest[service], generation)

    def _answered(self, account: ServerAccount, transaction: Transaction) -> None:
        command, service = transaction.command, transaction.request.fields.get("service-id")
        if transaction.failed:
            # It says hello again, or it would not be there.
            account.refused.update({(command, service)} - {("hello", None)})
            return
        account.refused.discard((command, service))
        account.commands.add(command)
        if command == "publish":
            account.done[service] = publication_of(transaction.request.fields)
        elif command == "unpublish":
            account.gone.add(service)
            account.done.pop(service, None)

    def lose(self, server: int) -> None:
        """Take note that a connection to a server was lost."""
        account = self.accounts[server]
        account.is_lost = True
        if "unsubscribe" in self.end.commands:
            # The subscription has ended with the connection; that it was to be ended may have been on its way.
            account.is_unsubscribed = True
            account.commands.add("unsubscribe")

    # --- what it must have said ---------------------------------------------------------------------------

    def missing(self, connection: AcceptedConnection) -> Mismatch | None:
        """Return what the client has yet to say on a connection on which it was granted whatever it asked for."""
        account = self.accounts[connection.server]
        if not any(each.completed for each in connection.asked("hello")):
            return Mismatch("PF-107", "the client says no hello")
        # What was never answered is a service of the client's as well; unless that was refused, as it may be given up.
        for service in account.done if account.refused else account.sent:
            least = account.done[service].generation if service in account.done else 0
            again = connection.published.get(service, {}).get("generation", -1)
            if service not in account.withdrawn and not (is_whole(again) and again >= least):
                return Mismatch("PF-046", f"{service} is not published again, in generation {least} or later")
        if account.is_subscribed and not account.is_unsubscribed and not connection.subscriptions:
            if account.refused:
                return None
            return Mismatch("PF-220" if account.is_lost else "PF-097", "the client does not subscribe")
        return None if account.refused else self._unfinished(account)

    def _unfinished(self, account: ServerAccount) -> Mismatch | None:
        """Return what is missing of the scenario."""
        if missing := sorted(self.end.commands - account.commands):
            return Mismatch(OF_COMMANDS.get(missing[0], "PF-093"), f"the client does not ask for {missing[0]}")
        if len(account.sent) < self.end.services:
            rule = "PF-046" if account.is_lost else "PF-093"
            return Mismatch(rule, f"only {len(account.sent)} services are published")
        highest = max((each.generation for each in account.sent.values()), default=0)
        if highest < self.end.generation:
            return Mismatch("PF-019", f"a service is published up to generation {highest} of {self.end.generation}")
        return None
