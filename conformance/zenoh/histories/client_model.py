"""The model of a history with a client: what the client has and asks for, and what its router has to tell it."""

from collections.abc import Iterable

from conformance.zenoh.histories.actions import Action, Declares, SendsInterest, Undeclares
from conformance.zenoh.histories.model import Model
from harness.zenoh.peers.router import LIVE
from harness.zenoh.peers.session import Entity, Session
from wire.zenoh.keys import resolve
from wire.zenoh.values import Interest, Push, Request, WireExpr

NODE = "node"
"""Who declares and asks: the client itself, at the command of control lines."""

ROUTER = "router"
"""Who asks and has something to tell: we, at the other end of the only session that it has."""


class ClientModel(Model):
    """A model of two: the client, and its router."""

    def both_join(self) -> None:
        """Open the session."""
        for who in (NODE, ROUTER):
            self.joins(who)

    def both_leave(self) -> None:
        """End the session, and with it all that either side has said: another one begins with nothing (ZD-035)."""
        for who in (NODE, ROUTER):
            self.leaves(who)

    def full_key(self, who: str, key: WireExpr) -> str | None:
        """Return what a key stands for that somebody has spelled."""
        theirs = self.session(who).theirs
        return resolve(key, theirs, theirs)

    def is_listened_for(self, who: str, action: Action) -> bool:
        """Tell whether a router may say something: declarations go to who asks for them, and to nobody else."""
        if who != ROUTER:
            return True
        match action:
            case Declares(kind=kind, id=id, key=key):
                full = self.full_key(ROUTER, key) or key.suffix or ""
                return self.is_wanted(self.session(NODE), Entity(self.names[ROUTER], kind, id, full))
            case Undeclares(kind=kind, id=id):
                known = self.session(ROUTER).entities.get((kind, id))
                return known is not None and self.is_wanted(self.session(NODE), known)
            case _:
                return True

    def is_asked_already(self, action: SendsInterest) -> bool:
        """Tell whether the client asks for the same already: it may keep to one interest then."""
        running = self.session(NODE).interests.values()
        key = action.key.suffix if action.key is not None else None
        return any(asked.mode in LIVE and asked.key == key and asked.kinds & action.kinds for asked in running)

    def told(self, interest: Interest) -> Iterable[Entity]:
        """Return what the router has, as far as an interest of the client's is about it."""
        session = self.session(NODE)
        asked = self.asked(session, interest)
        return () if asked is None else self.snapshot(session, asked)

    def on_data(self, session: Session, message: object) -> None:
        """Note that what the client publishes or asks may come: nobody need have a subscriber at its router's."""
        concerns = self.concerns[self.names[ROUTER]]
        match message:
            case Push(payload=payload):
                concerns.data_may.add((payload or b"").decode())
            case Request():
                concerns.queries_may.add("")  # control lines have no parameters
