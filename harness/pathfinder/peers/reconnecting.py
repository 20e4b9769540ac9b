"""The half of a client that connects, greets, numbers its transactions, keeps their order, and comes back."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator

from harness.errors import Unsupported
from harness.pathfinder.peers.server_state import ClientRequest, PendingTransaction, ServerState
from harness.peers.peer import HANG_UP, Dialler
from wire.errors import DecodeError
from wire.pathfinder.values import MULTIPLE, VERSION, Message, read, write

ANSWER_TIMEOUT = 10.0
"""Seconds within which a server must answer."""

# Short, since plays wait for a client to come back.
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 1.5
"""Seconds between attempts to connect, or to be greeted: the first, and the most."""

REPEATED = frozenset({"unpublish", "services", "subscriptions", "clients", "ping"})
"""The commands that are sent again when the connection was lost before the answer.

What is published and subscribed is sent again anyway, and a subscription ends with its connection.
"""


class ReconnectingClient(Dialler):
    """A machine that calls servers (``harness.peers.peer.Dialler``); what it wants of them its subclass knows."""

    role = "client"

    def __init__(self, *, client_id: int, deployed: bool, servers: int) -> None:
        self.id = client_id
        self.deployed = deployed
        self.server_states = [ServerState(server) for server in range(servers)]
        self.links: dict[int, ServerState] = {}
        self.out: list[tuple[int, bytes | None]] = []

    # --- what it wants ------------------------------------------------------------------------------------

    @abstractmethod
    def on_greeted(self, state: ServerState, now: float) -> None:
        """Begin what is to be done on a new connection."""

    @abstractmethod
    def on_settled(self, state: ServerState, now: float) -> bool:
        """Begin what comes next, now that all is answered; ``False`` when nothing does."""

    @abstractmethod
    def on_lost(self, state: ServerState, now: float) -> None:
        """Act on the loss of a connection."""

    @abstractmethod
    def on_notify(self, state: ServerState, request: ClientRequest, message: Message) -> None:
        """Act on a notification."""

    @abstractmethod
    def on_complete(self, state: ServerState, request: ClientRequest, now: float) -> None:
        """Act on the end of what was asked for."""

    @abstractmethod
    def on_fail(self, state: ServerState, request: ClientRequest, reason: str | None, now: float) -> None:
        """Act on a refusal."""

    # --- decisions; times are in seconds ------------------------------------------------------------------

    def client_id(self, state: ServerState) -> int:
        """Return the client's identifier: the same on all servers."""
        return self.id

    def hello_range(self) -> tuple[int, int]:
        """Return the least and the greatest version that the client speaks."""
        return VERSION, VERSION

    def pick_ta(self, state: ServerState) -> int:
        """Return an identifier for a transaction: no live transaction of the connection has it."""
        # Numbers are not used again while they can be counted on, but a transaction may live longer than that.
        while state.next_ta in state.live:
            state.next_ta += 1
        state.next_ta += 1
        return state.next_ta - 1

    def most_transactions(self) -> int:
        """Return how many transactions may be live on one connection."""
        return 100

    def reconnects_after(self, state: ServerState) -> float | None:
        """Return the pause before the next attempt, after ``state.failures`` in vain; ``None`` for never."""
        # Failures are not bounded, and a power of two soon would not fit a float.
        return min(FIRST_PAUSE * 2.0 ** min(state.failures, 10), LONGEST_PAUSE)

    def patience(self) -> float:
        """Return how long a server may take to answer."""
        return ANSWER_TIMEOUT

    def fits(self, transaction: PendingTransaction, message: Message) -> bool:
        """Tell whether a server may say this in the transaction, as far as it has come. Section "Transactions"."""
        command, kind = transaction.request.command, message["msg-type"]
        if message["ta-cmd"] != command:
            return False
        if command == "hello" and kind == "complete":
            return bool(message["protocol-version"] == VERSION)
        if command in MULTIPLE:
            return kind in (("notify", "complete") if transaction.accepted else ("accept", "fail"))
        return kind in ("complete", "fail")

    # --- links --------------------------------------------------------------------------------------------

    def dials(self, now: float) -> list[int]:
        """Return the servers to connect to now, and forget them."""
        due = [state for state in self.server_states if state.dial_at is not None and state.dial_at <= now]
        for state in due:
            state.dial_at = None
        return [state.server for state in due]

    def refused(self, server: int, now: float) -> None:
        """Take note that a dial failed."""
        self.try_again(self.server_states[server], now)

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        # Not reached by `reached`: somebody dialled it, and a client listens nowhere.
        """End a connection that the client did not ask for."""
        self.out.append((link, HANG_UP))

    def reached(self, server: int, link: int, now: float) -> None:
        """Begin a connection with a hello; one too many is ended."""
        state = self.server_states[server]
        # A second connection with the same identifier would be refused: a server has one per client.
        if state.link is not None:
            self.out.append((link, HANG_UP))
            return
        self.links[link] = state
        state.link = link
        # Transactions are the connection's own, so their numbers begin anew.
        state.next_ta = 0
        self.greet(state, now)

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one message."""
        state = self.links.get(link)
        if state is None:
            return
        try:
            message = read(frame, deployed=self.deployed)
        except DecodeError:
            self.on_breach(state, now)
            return
        transaction = state.live.get(message["ta-id"])
        if transaction is None or not self.fits(transaction, message):
            self.on_breach(state, now)
            return
        self.on_answer(state, transaction, message, now)
        self.go_on(state, now)

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone, and come back."""
        state = self.links.get(link)
        if state is not None:
            self.lose(state, now)
            self.try_again(state, now)

    def tick(self, now: float) -> None:
        """Let time pass."""
        for state in self.server_states:
            # Each time is taken out before its action, so that none is left in the past, whatever happens then.
            if state.take_overdue(now):
                self.on_stall(state, now)
            if state.take_hello(now):
                self.greet(state, now)
            state.queue.extend(state.take_due(now))
            self.go_on(state, now)

    def next_tick(self) -> float | None:
        """Return when to call ``tick`` next."""
        return min((at for state in self.server_states for at in state.times()), default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return the frames to send, once."""
        out, self.out = self.out, []
        return iter(out)

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Refuse: a client follows its scenario alone."""
        raise Unsupported(f"{verb}: a Pathfinder client plays the scenario that it was started with")

    # --- coming and going ---------------------------------------------------------------------------------

    def try_again(self, state: ServerState, now: float) -> None:
        """Dial again after a pause."""
        pause = self.reconnects_after(state)
        state.failures += 1
        state.dial_at = None if pause is None else now + pause

    def greet_again(self, state: ServerState, now: float) -> None:
        """Say hello again after a pause, on the same connection."""
        pause = self.reconnects_after(state)
        state.failures += 1
        state.hello_at = None if pause is None else now + pause

    def hang_up(self, state: ServerState, now: float) -> None:
        """End the connection."""
        assert state.link is not None
        self.out.append((state.link, HANG_UP))
        self.lose(state, now)

    def lose(self, state: ServerState, now: float) -> None:
        """Forget the connection, and all transactions with it. Section "Transactions"."""
        assert state.link is not None
        del self.links[state.link]
        state.link = None
        state.greeted = False
        state.hello_at = None
        # In the order in which they were asked for.
        state.queue = deque(request for request in state.unanswered() if request.command in REPEATED)
        state.later.clear()
        state.live.clear()
        self.on_lost(state, now)

    def on_breach(self, state: ServerState, now: float) -> None:
        """Act on what no server may say: hang up, and come back after a pause."""
        self.hang_up(state, now)
        self.try_again(state, now)

    def on_stall(self, state: ServerState, now: float) -> None:
        """Act on a server that owes an answer for too long: hang up, and come back after a pause."""
        self.hang_up(state, now)
        self.try_again(state, now)

    # --- transactions -------------------------------------------------------------------------------------

    def send(self, state: ServerState, message: Message) -> None:
        """Send one message."""
        assert state.link is not None
        self.out.append((state.link, self.encode_message(message)))

    def encode_message(self, message: Message) -> bytes:
        """Write one message."""
        return write(message, deployed=self.deployed)

    def begin(self, state: ServerState, request: ClientRequest, now: float) -> None:
        """Begin a transaction."""
        ta = self.pick_ta(state)
        state.live[ta] = PendingTransaction(request, now + self.patience())
        self.send(state, {"ta-cmd": request.command, "ta-id": ta, "msg-type": "request", **request.fields})

    def greet(self, state: ServerState, now: float) -> None:
        """Say hello: the first transaction of a connection."""
        least, most = self.hello_range()
        fields = {
            "client-id": self.client_id(state),
            "protocol-minimum-version": least,
            "protocol-maximum-version": most,
        }
        self.begin(state, ClientRequest("hello", fields), now)

    def go_on(self, state: ServerState, now: float) -> None:
        """Send what waits, as much as may be under way at once; begin what comes next when all is answered."""
        while state.greeted:
            while state.queue and len(state.live) < self.most_transactions():
                self.begin(state, state.queue.popleft(), now)
            if not state.is_settled or not self.on_settled(state, now):
                return

    def on_answer(self, state: ServerState, transaction: PendingTransaction, message: Message, now: float) -> None:
        """Act on a server's response in a transaction."""
        request = transaction.request
        match message["msg-type"]:
            case "accept":
                transaction.accepted = True
                # A subscription stays silent until something happens.
                transaction.deadline = None if request.command == "subscribe" else now + self.patience()
            case "notify":
                if transaction.deadline is not None and request.command != "subscribe":
                    transaction.deadline = now + self.patience()
                self.on_notify(state, request, message)
            case "complete":
                del state.live[message["ta-id"]]
                if request.command == "hello":
                    state.greeted = True
                    state.failures = 0
                    self.on_greeted(state, now)
                else:
                    self.on_complete(state, request, now)
            case "fail":
                del state.live[message["ta-id"]]
                if request.command == "hello":
                    self.greet_again(state, now)
                self.on_fail(state, request, message.get("fail-reason"), now)
