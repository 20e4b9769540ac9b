"""The half of a client that connects, greets, numbers its transactions, keeps their order, and comes back."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator

from harness.errors import Unsupported
from harness.pathfinder.peers.account import Account, ClientRequest, PendingTransaction
from harness.peers.peer import HANG_UP, Dialler
from wire.errors import DecodeError
from wire.pathfinder.values import MULTIPLE, VERSION, Message, read, write

PATIENCE = 10.0
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
        self.accounts = [Account(server) for server in range(servers)]
        self.links: dict[int, Account] = {}
        self.out: list[tuple[int, bytes | None]] = []

    # --- what it wants ------------------------------------------------------------------------------------

    @abstractmethod
    def on_greeted(self, account: Account, now: float) -> None:
        """Begin what is to be done on a new connection."""

    @abstractmethod
    def on_settled(self, account: Account, now: float) -> bool:
        """Begin what comes next, now that all is answered; ``False`` when nothing does."""

    @abstractmethod
    def on_lost(self, account: Account, now: float) -> None:
        """Act on the loss of a connection."""

    @abstractmethod
    def on_notify(self, account: Account, request: ClientRequest, message: Message) -> None:
        """Act on a notification."""

    @abstractmethod
    def on_complete(self, account: Account, request: ClientRequest, now: float) -> None:
        """Act on the end of what was asked for."""

    @abstractmethod
    def on_fail(self, account: Account, request: ClientRequest, reason: str | None, now: float) -> None:
        """Act on a refusal."""

    # --- decisions; times are in seconds ------------------------------------------------------------------

    def client_id(self, account: Account) -> int:
        """Return the client's identifier: the same on all servers."""
        return self.id

    def hello_range(self) -> tuple[int, int]:
        """Return the least and the greatest version that the client speaks."""
        return VERSION, VERSION

    def pick_ta(self, account: Account) -> int:
        """Return an identifier for a transaction: no live transaction of the connection has it."""
        # Numbers are not used again while they can be counted on, but a transaction may live longer than that.
        while account.next_ta in account.live:
            account.next_ta += 1
        account.next_ta += 1
        return account.next_ta - 1

    def most_transactions(self) -> int:
        """Return how many transactions may be live on one connection."""
        return 100

    def reconnects_after(self, account: Account) -> float | None:
        """Return the pause before the next attempt, after ``account.failures`` in vain; ``None`` for never."""
        # Failures are not bounded, and a power of two soon would not fit a float.
        return min(FIRST_PAUSE * 2.0 ** min(account.failures, 10), LONGEST_PAUSE)

    def patience(self) -> float:
        """Return how long a server may take to answer."""
        return PATIENCE

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
        due = [account for account in self.accounts if account.dial_at is not None and account.dial_at <= now]
        for account in due:
            account.dial_at = None
        return [account.server for account in due]

    def refused(self, server: int, now: float) -> None:
        """Take note that a dial failed."""
        self.try_again(self.accounts[server], now)

    def connected(self, link: int, now: float, *, dialled: bool = False, address: str = "") -> None:
        # Not reached by `reached`: somebody dialled it, and a client listens nowhere.
        """End a connection that the client did not ask for."""
        self.out.append((link, HANG_UP))

    def reached(self, server: int, link: int, now: float) -> None:
        """Begin a connection with a hello; one too many is ended."""
        account = self.accounts[server]
        # A second connection with the same identifier would be refused: a server has one per client.
        if account.link is not None:
            self.out.append((link, HANG_UP))
            return
        self.links[link] = account
        account.link = link
        # Transactions are the connection's own, so their numbers begin anew.
        account.next_ta = 0
        self.greet(account, now)

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one message."""
        account = self.links.get(link)
        if account is None:
            return
        try:
            message = read(frame, deployed=self.deployed)
        except DecodeError:
            self.on_breach(account, now)
            return
        transaction = account.live.get(message["ta-id"])
        if transaction is None or not self.fits(transaction, message):
            self.on_breach(account, now)
            return
        self.on_answer(account, transaction, message, now)
        self.go_on(account, now)

    def disconnected(self, link: int, now: float) -> None:
        """Take note that a link is gone, and come back."""
        account = self.links.get(link)
        if account is not None:
            self.lose(account, now)
            self.try_again(account, now)

    def tick(self, now: float) -> None:
        """Let time pass."""
        for account in self.accounts:
            # Each time is taken out before its action, so that none is left in the past, whatever happens then.
            if account.take_overdue(now):
                self.on_stall(account, now)
            if account.take_hello(now):
                self.greet(account, now)
            account.queue.extend(account.take_due(now))
            self.go_on(account, now)

    def next_tick(self) -> float | None:
        """Return when time matters next."""
        return min((at for account in self.accounts for at in account.times()), default=None)

    def drain(self, now: float) -> Iterator[tuple[int, bytes | None]]:
        """Return what to send, and forget it."""
        out, self.out = self.out, []
        return iter(out)

    def command(self, verb: str, arguments: list[str], now: float) -> str:
        """Refuse: a client is told by its scenario what to do."""
        raise Unsupported(f"{verb}: a Pathfinder client plays the scenario that it was started with")

    # --- coming and going ---------------------------------------------------------------------------------

    def try_again(self, account: Account, now: float) -> None:
        """Dial again after a pause."""
        pause = self.reconnects_after(account)
        account.failures += 1
        account.dial_at = None if pause is None else now + pause

    def greet_again(self, account: Account, now: float) -> None:
        """Say hello again after a pause, on the same connection."""
        pause = self.reconnects_after(account)
        account.failures += 1
        account.hello_at = None if pause is None else now + pause

    def hang_up(self, account: Account, now: float) -> None:
        """End the connection."""
        assert account.link is not None
        self.out.append((account.link, HANG_UP))
        self.lose(account, now)

    def lose(self, account: Account, now: float) -> None:
        """Forget the connection, and all transactions with it. Section "Transactions"."""
        assert account.link is not None
        del self.links[account.link]
        account.link = None
        account.greeted = False
        account.hello_at = None
        # In the order in which they were asked for.
        account.queue = deque(request for request in account.unanswered() if request.command in REPEATED)
        account.later.clear()
        account.live.clear()
        self.on_lost(account, now)

    def on_breach(self, account: Account, now: float) -> None:
        """Act on what no server may say: hang up, and come back after a pause."""
        self.hang_up(account, now)
        self.try_again(account, now)

    def on_stall(self, account: Account, now: float) -> None:
        """Act on a server that owes an answer for too long: hang up, and come back after a pause."""
        self.hang_up(account, now)
        self.try_again(account, now)

    # --- transactions -------------------------------------------------------------------------------------

    def send(self, account: Account, message: Message) -> None:
        """Send one message."""
        assert account.link is not None
        self.out.append((account.link, self.spell(message)))

    def spell(self, message: Message) -> bytes:
        """Write one message."""
        return write(message, deployed=self.deployed)

    def begin(self, account: Account, request: ClientRequest, now: float) -> None:
        """Begin a transaction."""
        ta = self.pick_ta(account)
        account.live[ta] = PendingTransaction(request, now + self.patience())
        self.send(account, {"ta-cmd": request.command, "ta-id": ta, "msg-type": "request", **request.fields})

    def greet(self, account: Account, now: float) -> None:
        """Say hello: the first transaction of a connection."""
        least, most = self.hello_range()
        fields = {
            "client-id": self.client_id(account),
            "protocol-minimum-version": least,
            "protocol-maximum-version": most,
        }
        self.begin(account, ClientRequest("hello", fields), now)

    def go_on(self, account: Account, now: float) -> None:
        """Send what waits, as much as may be under way at once; begin what comes next when all is answered."""
        while account.greeted:
            while account.queue and len(account.live) < self.most_transactions():
                self.begin(account, account.queue.popleft(), now)
            if not account.is_settled or not self.on_settled(account, now):
                return

    def on_answer(self, account: Account, transaction: PendingTransaction, message: Message, now: float) -> None:
        """Act on what a server says in a transaction."""
        request = transaction.request
        match message["msg-type"]:
            case "accept":
                transaction.accepted = True
                # A subscription stays silent until something happens.
                transaction.deadline = None if request.command == "subscribe" else now + self.patience()
            case "notify":
                if transaction.deadline is not None and request.command != "subscribe":
                    transaction.deadline = now + self.patience()
                self.on_notify(account, request, message)
            case "complete":
                del account.live[message["ta-id"]]
                if request.command == "hello":
                    account.greeted = True
                    account.failures = 0
                    self.on_greeted(account, now)
                else:
                    self.on_complete(account, request, now)
            case "fail":
                del account.live[message["ta-id"]]
                if request.command == "hello":
                    self.greet_again(account, now)
                self.on_fail(account, request, message.get("fail-reason"), now)
