"""What control lines have the reference client do: the verbs of docs/control.md, of which no document speaks."""

from typing import Protocol

from harness.errors import NotYet, Unsupported
from harness.zenoh.peers.session import Session
from harness.zenoh.peers.transport import State
from wire.zenoh.values import EntityKind, Mode, NetworkMessage, Push, Request, WireExpr

VERBS = ("declare", "undeclare", "ask", "end", "put", "get", "close")

# As docs/control.md spells them.
MODES = {"current": Mode.CURRENT, "future": Mode.FUTURE, "currentfuture": Mode.CURRENT_FUTURE}


class Controlled(Protocol):
    """A client, as control lines see it."""

    hang_ups: list[int]
    sessions: dict[int, Session]

    @property
    def remote(self) -> Session:
        """The session with the router."""
        ...

    def declare_keyexpr(self, key: str) -> int: ...

    def declare_entity(self, kind: EntityKind, key: str) -> tuple[EntityKind, int]: ...

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None: ...

    def ask(self, mode: Mode, kind: EntityKind, key: str) -> int: ...

    def end(self, interest: int) -> None: ...

    def take_interest(self) -> int: ...

    def send(self, session: Session, message: NetworkMessage) -> None: ...


class ControlLines:
    """The control lines of one client, with the names that they have given to things."""

    def __init__(self, client: Controlled) -> None:
        self._client = client
        self._declared: dict[str, tuple[EntityKind, int] | int] = {}
        self._asking: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        """Aliases and interests are their session's, and over with it: its link, by their names."""

    def _forget(self) -> None:
        """Forget the names of what has ended with its session."""
        for name in [name for name, link in self._sessions.items() if link not in self._client.sessions]:
            del self._sessions[name]
            self._asking.pop(name, None)
            if isinstance(self._declared.get(name), int):
                del self._declared[name]

    def obey(self, verb: str, arguments: list[str]) -> None:
        """Do what a control line asks; ``Unsupported`` when it is none, ``NotYet`` while a session is being opened.

        The tester cannot see when the end of the handshake has been read here, and a control line may overtake it.
        """
        client = self._client
        if any(session.transport.state in (State.INIT_SENT, State.OPEN_SENT) for session in client.sessions.values()):
            raise NotYet("the session is still being opened")
        self._forget()
        match verb, arguments:
            case "declare", ["keyexpr", name, key]:
                self._declared[name] = client.declare_keyexpr(key)
                self._sessions[name] = client.remote.link
            case "declare", [kind, name, key]:
                self._declared[name] = client.declare_entity(EntityKind(kind), key)
            case "undeclare", [name] if name in self._declared:
                client.undeclare(self._declared.pop(name))
            case "ask", [name, mode, kind, key] if mode in MODES:
                interest = client.ask(MODES[mode], EntityKind(kind), key)
                # A Current interest ends with its snapshot; only the others are there to be ended.
                if MODES[mode] is not Mode.CURRENT:
                    self._asking[name] = interest
                    self._sessions[name] = client.remote.link
            case "end", [name] if name in self._asking:
                client.end(self._asking.pop(name))
            case "put", [key, *text]:
                client.send(client.remote, Push(WireExpr(key), " ".join(text).encode()))
            case "get", [key]:
                client.send(client.remote, Request(client.take_interest(), WireExpr(key)))
            case "close", []:
                session = client.remote
                session.transport.close()
                client.hang_ups.append(session.link)
            case _:
                raise Unsupported(f"{verb} {' '.join(arguments)}".strip())
