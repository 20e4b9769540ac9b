"""Comparison: what a client was answered, beside what the model says that it must and may be answered."""

import re
from collections import Counter
from collections.abc import Collection
from typing import Any

from conformance.histories.mismatch import Mismatch
from conformance.pathfinder.answers import EXCUSES
from conformance.pathfinder.histories.actions import (
    HelloRequest,
    HistoryRequest,
    PlainRequest,
    PublishRequest,
    ServicesRequest,
    UnpublishRequest,
)
from conformance.pathfinder.histories.attribution import (
    OF_REASON,
    difference_of_states,
    rule_of_failure,
    rule_of_filter,
    rule_of_success,
)
from conformance.pathfinder.histories.legality import MOST_SUBSCRIPTIONS
from conformance.pathfinder.histories.model import DirectoryModel, ServiceState, is_recent, state_in
from conformance.pathfinder.histories.orphan_times import OrphanTimes
from conformance.pathfinder.same_filters import say_the_same
from harness.pathfinder.peers.answering import INVALID_FILTER_SYNTAX, PERMISSION_DENIED
from harness.pathfinder.tester.transactions import Transaction
from wire.pathfinder.values import Message


class AnswerComparison:
    """Compares what clients are answered with the model; ``judged`` counts what was compared, by rule.

    The server's clock goes on by up to ``tick`` seconds at once.
    """

    def __init__(self, model: DirectoryModel, judged: Counter[str], *, deployed: bool, tick: float) -> None:
        self.model = model
        self.judged = judged
        self.deployed = deployed
        self.excused: set[int] = set()
        """The services that somebody was refused in this step, as a server may."""

        self.permitted: set[tuple[int, str]] = set()
        """Who was let do what that is about nobody's services: that was not for want of a right."""

        self.addresses: dict[int, Any] = {}
        """Where each client is connected from, as it was listed first."""

        self.ports: dict[int, int] = {}
        """The ports of ours that the clients connect from, by who they are; 0 where there are no ports."""

        self.ours: set[int] = set()
        """All ports that clients of the play have connected from."""

        self.orphans = OrphanTimes(tick=tick)

    def begin(self) -> None:
        """Begin a step."""
        self.excused.clear()

    def judge(self, who: str, client_id: int, request: HistoryRequest, transaction: Transaction) -> bool:
        """Compare the answer to a request; returns whether it was carried out. Raises ``Mismatch``."""
        fields = transaction.request.fields
        known = self.model.directory.get(fields.get("service-id", -1))
        shown = f"{who}.{request}"
        if not (transaction.is_over or (transaction.accepted and request.command == "subscribe")):
            rule = "PF-099" if transaction.accepted else "PF-098" if transaction.is_multiple else "PF-094"
            raise Mismatch(rule, f"{shown} is not answered to the end: {transaction}")
        if transaction.ending is None and not transaction.accepted:
            raise Mismatch("PF-215", f"the connection of {who} was ended at {shown}: {transaction.closed}")
        is_theirs = known is not None and known.owner != client_id
        if transaction.failed and self.is_excused(client_id, request, transaction, is_theirs=is_theirs):
            self.excused.add(fields.get("service-id", -1))
            return False
        # Only now: what a server may refuse it may have refused, and then the model is not to do it.
        told = self.model.asks(client_id, {**fields})
        self.compare(request, transaction, told, known, shown)
        if isinstance(request, PlainRequest | HelloRequest) and transaction.completed:
            self.permitted.add((client_id, request.command))
        return bool(transaction.accepted or transaction.completed)

    def is_excused(self, client_id: int, request: HistoryRequest, transaction: Transaction, *, is_theirs: bool) -> bool:
        """Tell whether a server may refuse a request whatever it is about."""
        reason = transaction.reason
        if reason == PERMISSION_DENIED and (client_id, request.command) in self.permitted:
            # A right belongs to a client, and does not come and go with its transactions or their identifiers.
            return False
        if request.command == "subscribe" and reason is None:
            # It may bound how many transactions a client has, and need not say that this is why.
            live = [each for each in self.model.subscriptions.values() if each.session.client_id == client_id]
            return len(live) >= MOST_SUBSCRIPTIONS
        # Whether one client may overwrite or take back what is another's is the server's choice (R11).
        is_choice = is_theirs and isinstance(request, PublishRequest | UnpublishRequest)
        return reason in EXCUSES or (is_choice and reason is None)

    def compare(
        self,
        request: HistoryRequest,
        transaction: Transaction,
        told: list[Message],
        known: Any,
        shown: str,
    ) -> None:
        """Compare an answer with the model's."""
        expected = told[-1] if told else {"msg-type": "complete"}
        if expected["msg-type"] != "fail":
            rule = rule_of_failure(request, known)
            if transaction.failed:
                raise Mismatch(rule, f"{shown} is refused ({transaction.reason or 'no reason'}), and should not be")
            self.judged[rule] += 1
            self.look_into(request, transaction, told, shown)
            return
        # By the letter a list has no word for it (R07).
        reason = str(expected.get("fail-reason", INVALID_FILTER_SYNTAX))
        rule = rule_of_success(request, reason)
        if not transaction.failed:
            raise Mismatch(rule, f"{shown} is carried out, and should be refused ({reason})")
        self.judged[rule] += 1
        if transaction.reason not in (None, reason) and not self.hides(request, reason):
            rule = OF_REASON[request.command]
            raise Mismatch(rule, f"{shown} is refused as {transaction.reason!r}, and should be as {reason!r}")

    def hides(self, request: HistoryRequest, reason: str) -> bool:
        """Tell whether a server may give another reason than the one that the reference gives."""
        # R08: whose subscription it is that one cannot end is nobody's business.
        return request.command == "unsubscribe" and reason == "permission-denied"

    def look_into(self, request: HistoryRequest, transaction: Transaction, told: list[Message], shown: str) -> None:
        """Compare what an answer says."""
        listed = [message for message in told if message["msg-type"] == "notify"]
        match request.command:
            case "services":
                assert isinstance(request, ServicesRequest)
                self.compare_services(transaction, listed, shown, filter=request.filter)
            case "subscriptions":
                self.compare_subscriptions(transaction, listed, shown)
            case "clients":
                self.compare_clients(transaction, listed, shown)
            case "hello":
                assert isinstance(request, HelloRequest)
                version = transaction.ending.fields.get("protocol-version") if transaction.ending else None
                if version != told[-1]["protocol-version"]:
                    raise Mismatch("PF-109", f"{shown} is answered with version {version}")

    # --- lists --------------------------------------------------------------------------------------------

    def compare_services(
        self, transaction: Transaction, listed: list[Message], shown: str, *, filter: str | None
    ) -> None:
        """Compare which services are listed, and as what; without a filter others' may be among them."""
        expected = {fields["service-id"]: state_in(fields) for fields in listed}
        found: dict[Any, ServiceState] = {}
        for fields in transaction.notifications:
            number = fields.get("service-id")
            if filter is None and number not in self.model.log:
                continue
            if number in found:
                raise Mismatch("PF-149", f"{shown} has {number} twice")
            found[number] = state_in(fields)
            if "orphan-since" in fields:
                if not is_recent(fields["orphan-since"]):
                    raise Mismatch("PF-228", f"{shown} has {number} as an orphan since {fields['orphan-since']!r}")
                self.orphans.take(fields["service-id"], fields["orphan-since"], shown)
        for number in expected.keys() - found.keys():
            rule = rule_of_filter(filter) if filter else "PF-157"
            raise Mismatch(rule, f"{shown} does not have {number}, which is there{' and matches' if filter else ''}")
        for number in found.keys() - expected.keys():
            raise self.surplus(number, shown, filter)
        for number, state in expected.items():
            self.compare_state(number, state, found[number], shown)
        self.judged.update(["PF-149", "PF-153"])

    def surplus(self, number: Any, shown: str, filter: str | None) -> Mismatch:
        """Return what is wrong with a list that has a service too many."""
        if number not in self.model.log:
            return Mismatch("PF-149", f"{shown} has {number}, which nobody published")
        if self.model.directory.get(number) is None:
            return Mismatch("PF-166", f"{shown} has {number}, which is gone")
        return Mismatch(rule_of_filter(filter), f"{shown} has {number}, which the filter does not match")

    def compare_state(self, number: int, state: ServiceState, found: ServiceState, shown: str) -> None:
        """Compare what is listed of one service."""
        if found == state:
            return
        wrong = [name for name, one, other in zip(state._fields, found, state, strict=True) if one != other]
        rules = {"owner": "PF-023", "is_orphan": "PF-131", "generation": "PF-055"}
        rule = rules.get(wrong[0], "PF-153") if len(wrong) == 1 else "PF-153"
        if number in self.excused:
            rule = "PF-096"
        raise Mismatch(rule, f"{shown} has {number} {difference_of_states(found, state, wrong)}")

    def compare_subscriptions(self, transaction: Transaction, listed: list[Message], shown: str) -> None:
        """Compare which of the play's subscriptions are listed, as whose, and with which filter."""
        expected = {fields["subscription-id"]: fields for fields in listed}
        found = {fields.get("subscription-id"): fields for fields in transaction.notifications}
        for number, fields in expected.items():
            if number not in found:
                raise Mismatch("PF-226", f"{shown} does not have {number}, which is there")
            if found[number].get("client-id") != fields["client-id"]:
                raise Mismatch("PF-144", f"{shown} has {number} as that of {found[number].get('client-id')}")
            if not self.is_same_filter(found[number].get("filter"), fields.get("filter")):
                # Its text names the play, so it stands below: what comes first is to be the same run after run.
                text = f"listed: {found[number].get('filter')}"
                raise Mismatch("PF-148", f"{shown} has {number} with another filter than was given\n  {text}")
        self.judged.update(["PF-226", "PF-144", "PF-148"])

    def is_same_filter(self, one: Any, other: str | None) -> bool:
        """Tell whether two filters are the same, however they are spelled (R40)."""
        if one == other or one is None or other is None:
            return bool(one == other)
        return say_the_same(one, other, deployed=self.deployed)

    def compare_clients(self, transaction: Transaction, listed: list[Message], shown: str) -> None:
        """Compare which of the play's clients are listed."""
        found = {fields.get("client-id"): fields for fields in transaction.notifications}
        for number in [fields["client-id"] for fields in listed]:
            if number not in found:
                raise Mismatch("PF-224", f"{shown} does not have {number}, which is connected")
            self.compare_client(number, found[number], shown)
        self.compare_ports([fields["client-id"] for fields in listed], shown)
        there = [self.addresses[fields["client-id"]] for fields in listed]
        # Of sockets without names two may have the same: so this is about who speaks TCP, as histories do.
        if len({str(each) for each in there}) < len(there):
            raise Mismatch("PF-225", f"{shown} has two clients at one address: {sorted(map(str, there))}")
        self.judged.update(["PF-224", "PF-177", "PF-225"])

    def compare_client(self, number: int, fields: Message, shown: str) -> None:
        """Compare what is listed of one client: it stays as it is, whoever asks."""
        address = fields.get("client-addr", fields.get("client-address"))
        if not address or self.addresses.setdefault(number, address) != address:
            raise Mismatch(
                "PF-225", f"{shown} has {number} at {address!r}, and before at {self.addresses.get(number)!r}"
            )
        if not is_recent(fields.get("time")):
            raise Mismatch("PF-177", f"{shown} has {number} connected since {fields.get('time')!r}")

    def compare_ports(self, numbers: Collection[int], shown: str) -> None:
        """Compare the ports in the addresses of clients with those that they connect from, if any has its own.

        Something may stand between that gives all of them other ports, or one (NAT, a proxy): so nobody is accused of
        a port that is none of ours, but of one that another connection has, or had.
        """
        ports = {number: self.ports.get(number, 0) for number in numbers}
        is_ours = any(has_port(self.addresses[number], port) for number, port in ports.items())
        for number, port in ports.items():
            others = [each for each in self.ours - {port} if has_port(self.addresses[number], each)]
            if is_ours and all(ports.values()) and others and not has_port(self.addresses[number], port):
                raise Mismatch(
                    "PF-225",
                    f"{shown} has {number} at {self.addresses[number]!r}, and it connects from port {port}:"
                    f" port {others[0]} is that of another connection",
                )

    def forget_client(self, number: int) -> None:
        """Forget where a client was connected from: it has left."""
        self.addresses.pop(number, None)

    # --- what is over -------------------------------------------------------------------------------------

    def leftover(
        self, clients: Transaction, subscriptions: Transaction, gone: Collection[int], ended: Collection[int]
    ) -> Mismatch | None:
        """Return what is listed still: clients that have ``gone``, or subscriptions that ``ended`` with them."""
        listed = {fields.get("client-id") for fields in clients.notifications}
        if found := listed.intersection(gone):
            return Mismatch("PF-224", f"{found.pop()} is listed among the clients, and is gone")
        listed = {fields.get("subscription-id") for fields in subscriptions.notifications}
        if found := listed.intersection(ended):
            return Mismatch("PF-086", f"{found.pop()} is listed among the subscriptions, and has ended with its client")
        return None


def has_port(address: Any, port: int) -> bool:
    """Tell whether a port stands in an address, however that is spelled."""
    return re.search(rf"(?<!\d){port}(?!\d)", str(address)) is not None
