"""The service of a Pathfinder client: it comes back, does there what it had done, and tells its application all."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fuzz.net.targets import ServiceBroken, expect
from fuzz.pathfinder.client_sessions import came, domain_of, is_told, wait_for
from fuzz.pathfinder.playbill import FUZZED, STAYING, PlayedScenario, playbill_of
from harness.errors import HarnessError
from harness.iuts.instance import Instance
from harness.pathfinder.tester.driver import new_id
from harness.pathfinder.tester.scripted_servers import DIAL_TIMEOUT, AcceptedConnection, Domain, match
from harness.trace import Trace

MORE = 2
"""How often more a client is met that has hung up before it did anything."""


class PathfinderClientService:
    """A domain of servers that oblige: one whose session stays, and others to which the client comes for each check."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        self.instance, self.trace = instance, trace
        self.bill = playbill_of(instance)
        self.starts = -1
        self.domain: Domain | None = None

    def begin(self) -> None:
        if self.bill.playing is None:
            self.bill.play(self.instance, "", self.trace.transport)
        self.starts = self.bill.starts
        self.domain = domain_of(self.instance, self.trace)
        self.staying = self.comes(STAYING, self.instance.timing.dialling)
        if not self.does(self.staying):
            raise HarnessError(f"the client does not {self.playing.name}")

    @property
    def playing(self) -> PlayedScenario:
        """What the client plays now."""
        assert self.bill.playing is not None
        return self.bill.playing

    def comes(self, server: int, patience: float | None = None) -> AcceptedConnection:
        """Return the client's next connection to a server."""
        assert self.domain is not None
        within = self.domain.timing.ample(DIAL_TIMEOUT)
        return came(self.domain, server, patience=within if patience is None else patience)

    def does(self, connection: AcceptedConnection) -> bool:
        """Tell whether the client does on a connection what it does on each that is new."""
        playing = self.playing
        if playing.once or not playing.command:
            return True
        until = connection.domain.now() + connection.domain.timing.ample(DIAL_TIMEOUT)
        return wait_for(connection, lambda: len(connection.asked(playing.command)) >= playing.times, until)

    def check(self) -> None:
        if self.starts != self.bill.starts:
            self.meet_again()
        self.look_at_who_stays()
        fresh = [self.back(server) for server in range(FUZZED)]
        try:
            for connection in fresh:
                self.look_at(connection)
            if self.playing.subscribes:
                self.tell(fresh[0], "service", "what a server tells does not reach the application")
                self.tell(self.staying, "harm", "what another server tells does not reach the application any more")
            self.look_at_who_stays()
        finally:
            for connection in fresh:
                connection.drop()
                connection.domain.connections.remove(connection)

    def meet_again(self) -> None:
        """Meet a client that was started anew, by a test that wanted it to play something else."""
        self.end()
        try:
            self.begin()
        except HarnessError as error:
            raise ServiceBroken("hang", "the client dials nobody any more") from error

    def back(self, server: int) -> AcceptedConnection:
        """Return the client's next connection to a server, which was cut off or is yet to be dialled."""
        try:
            connection = self.comes(server)
            for _ in range(MORE):
                if self.does(connection) or not connection.ended:
                    break
                # It had waited for its answer for long, and has given up just now.
                connection.domain.connections.remove(connection)
                connection = self.comes(server)
        except HarnessError as error:
            self.look_at_who_stays()
            raise ServiceBroken("hang", "the client does not come back to a server") from error
        return connection

    def look_at(self, connection: AcceptedConnection) -> None:
        """Raise ``ServiceBroken`` where a client has come back that does not do what it has to there."""
        expect(self.does(connection), "service", f"who comes back does not {self.playing.command} any more")
        if self.playing.once:
            return  # what is published is on its way to what it is in the end, on each server by itself
        published = {key: _state(fields) for key, fields in connection.published.items()}
        expected = {key: _state(fields) for key, fields in self.staying.published.items()}
        expect(published == expected, "service", "services are published otherwise than on another server")

    def tell(self, connection: AcceptedConnection, kind: str, what: str) -> None:
        """Tell the client of a service that appears and is gone; its application is to hear of it."""
        domain, service = connection.domain, new_id()
        expect(bool(connection.subscriptions), kind, what)
        for change, text in (
            ("appeared", domain.told("appeared", service, 0)),
            ("disappeared", f"disappeared {service}"),
        ):
            connection.answer(connection.subscriptions[-1], "notify", match(change, service))
            until = domain.now() + domain.timing.patience
            heard = wait_for(connection, lambda text=text: is_told(domain, text), until)  # type: ignore[misc]
            if not heard:
                self.look_at_who_stays()
            expect(heard, kind, what)

    def look_at_who_stays(self) -> None:
        """Raise ``ServiceBroken`` when the connection to a server that did nothing wrong has ended."""
        while self.staying.take(self.staying.domain.now()) and not self.staying.ended:
            pass
        expect(not self.staying.ended, "harm", "the connection to a server that did nothing wrong was ended")
        gone = self.playing.subscribes and not self.staying.subscriptions
        expect(not gone, "harm", "the subscription at a server that did nothing wrong was ended")

    def end(self) -> None:
        domain, self.domain = self.domain, None
        if domain is not None:
            with suppress(HarnessError):
                domain.close()


def _state(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is published, without the transaction in which it was."""
    return {name: value for name, value in fields.items() if name != "ta-id"}
