"""A broker in memory: what its clients publish it hands to those who listen, in order, and not to who has said it."""

from collections.abc import Callable

from wire import envelope
from wire.errors import DecodeError
from wire.subjects import matches


class BusClient:
    """A client of a bus: ``deliver`` takes what comes for it."""

    def __init__(self, deliver: Callable[[bytes], None]) -> None:
        self.deliver = deliver
        self.wildcards: dict[str, None] = {}
        """What it listens to, in order; as with NATS, twice is once only where it is the same."""


class Bus:
    """A broker, as far as its clients see it: envelopes go in and come out."""

    def __init__(self) -> None:
        self._clients: list[BusClient] = []

    def attach(self, deliver: Callable[[bytes], None]) -> BusClient:
        """Return a new client, which listens to nothing yet."""
        client = BusClient(deliver)
        self._clients.append(client)
        return client

    def detach(self, client: BusClient) -> None:
        """Forget a client; once is enough."""
        if client in self._clients:
            self._clients.remove(client)

    def take(self, client: BusClient, frame: bytes) -> None:
        """Do what a client says; what is no envelope is passed over, as no broker would understand it."""
        try:
            said = envelope.read(frame)
        except DecodeError:
            return
        match said.operation:
            case envelope.LISTEN:
                client.wildcards[said.subject] = None
            case envelope.CANCEL:
                client.wildcards.pop(said.subject, None)
            case _:
                for other in list(self._clients):
                    if other is not client and any(matches(each, said.subject) for each in other.wildcards):
                        other.deliver(frame)
