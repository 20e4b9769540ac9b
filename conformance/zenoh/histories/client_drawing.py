"""Drawing histories with a client: what it is commanded to do, and what its router says and asks."""

import msgspec

from conformance.histories.drawing import Chooser
from conformance.histories.moves import Together
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    Queries,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.client_model import NODE, ROUTER, ClientModel
from conformance.zenoh.histories.drawing import BELOW, KEYS, MOST_ACTIONS, ZenohMoveGenerator
from conformance.zenoh.histories.moves import ClientCommands, Move, Sends
from conformance.zenoh.histories.unspecified import FROM_A_ROUTER
from wire.zenoh.values import EntityKind, Mode, WireExpr

COMMANDS: dict[str, dict[str, int]] = {
    "client": {"declare": 5, "undeclare": 3},
    "client_aliases": {"declare": 6, "undeclare": 2, "name": 4, "release": 3},
    "client_numbers": {"declare": 5, "undeclare": 5, "name": 3, "release": 2},
    "client_requests": {
        "ask": 6,
        "end": 4,
        "name": 3,
        "release": 2,
        "declare": 8,
        "undeclare": 3,
        "publish": 1,
        "query": 1,
    },
}
"""How often each kind of command is drawn, by theme."""

WORDS: dict[str, dict[str, int]] = {
    "client": {"ask": 6, "end": 4},
    "client_aliases": {"ask": 6, "end": 5, "name": 4, "release": 4},
    "client_numbers": {"ask": 6, "end": 4, "name": 6, "release": 6},
    "client_requests": {"ask": 5, "end": 3, "name": 3, "release": 3, "declare": 6, "again": 1, "undeclare": 4},
}
"""How often each kind of message is drawn for the client's router, by theme."""

RARELY = 4
"""One in so many messages of the router has extensions: a client is sent fewer than a router."""

MEETING_IDS = (1, 2, 3, 4, 5, 6)
"""Ids of the router's interests that the client's own have as well, if it counts: neither is to touch the other."""


class ClientMoveGenerator(ZenohMoveGenerator):
    """Draws what a client is commanded to do, and what its router says."""

    def __init__(self, chooser: Chooser, theme: str) -> None:
        super().__init__(chooser, theme)
        self.model: ClientModel = ClientModel()
        self.strays = chooser.dealt(FROM_A_ROUTER)
        self.rarely = RARELY
        self.unwanted = 1
        self.interest_ids = MEETING_IDS if theme == "client_requests" else self.of.interest_ids
        self.chances = {
            who: [name for name, weight in weights[theme].items() for _ in range(weight)]
            for who, weights in ((NODE, COMMANDS), (ROUTER, WORDS))
        }

    def opening(self) -> list[Move]:
        """Begin with both."""
        self.model.both_join()
        return []

    def move(self) -> Move | None:
        """Draw the next move."""
        self.model.begin()
        self.busy = set()
        dice = self.number(0, 99)
        if dice < 6:
            self.strays.append(self.strays.pop(0))
            return self.strays[-1]
        if dice < 8 and not self.crowded:
            return ClientCommands(NODE, self.crowd(NODE).actions)
        if dice < 20:
            return self.together()
        return self.commands() if dice < 60 else self.sends(ROUTER)

    def closing(self) -> list[Move]:
        """Ask for all that the client has."""
        return self.asking(ROUTER)

    def action(self, who: str) -> Action | None:
        """Draw what the client is commanded to do next, or what its router says."""
        action = self.actions[self.choose(self.chances[who])](who)
        if who == NODE and action is not None:
            action = self.commanded(action)
        if action is None or not self.model.is_listened_for(who, action):
            return None
        self.model.receives(who, action.message())
        return action

    def commands(self) -> ClientCommands | None:
        """Draw what the client is commanded to do: most often one thing."""
        count = self.choose((1, 1, 1, 2, 3))
        chosen = tuple(action for _ in range(count) if (action := self.action(NODE)) is not None)
        return ClientCommands(NODE, chosen) if chosen else None

    def question(self, who: str) -> Action | None:
        """Draw an interest; of those that ask for what there is now more have A than a router is asked with."""
        asks = super().question(who)
        if not isinstance(asks, SendsInterest):
            return asks
        if who == ROUTER and self.theme != "client" and asks.mode is not Mode.CURRENT:
            # Those that run are narrow: where they overlap nothing shows whether each of them does.
            kind = self.choose([kind for kind in EntityKind if kind in (asks.kinds or EntityKind)])
            key = asks.key if self.theme == "client_aliases" else self.key(ROUTER, self.choose(KEYS))
            asks = msgspec.structs.replace(asks, kinds=frozenset({kind}), key=key)
        if asks.mode is Mode.CURRENT and self.number(0, 3) == 0:
            return msgspec.structs.replace(asks, aggregate=True)
        return asks

    def together(self) -> Move | None:
        """Draw what the client is commanded to declare while its router asks, and is not to miss it."""
        asked = self.question(ROUTER)
        if asked is None:
            return None
        self.model.receives(ROUTER, asked.message())
        changes = []
        for _ in range(self.number(1, MOST_ACTIONS)):
            change = self.declaration(NODE) if self.number(0, 2) else self.undeclaration(NODE)
            if change is not None and (action := self.commanded(change)) is not None:
                self.model.receives(NODE, action.message())
                changes.append(action)
        return Together((Sends(ROUTER, (asked,)), ClientCommands(NODE, tuple(changes)))) if changes else None

    def key_to_ask_for(self, who: str) -> WireExpr:
        """Draw the key of an interest: of the router's now and then one that begins with an alias of the client's."""
        named = sorted(self.model.session(NODE).theirs.values())
        if who == ROUTER and named and self.number(0, 2) == 0:
            return WireExpr(self.choose(named) + self.choose(BELOW), sender=False)
        return super().key_to_ask_for(who)

    def release(self, who: str) -> Action | None:
        """Draw the release of an alias: most often of one by which something was spelled that is to stay as it is."""
        session = self.model.session(who)
        keys = [entity.key for entity in session.entities.values()]
        keys += [asked.key for asked in session.interests.values() if asked.key is not None]
        taken = sorted(session.theirs)
        used = [number for number in taken if any(f"{key}/".startswith(f"{session.theirs[number]}/") for key in keys)]
        if not taken:
            return None
        chosen = self.choose(used if used and self.number(0, 3) else taken)
        released = ReleasesAlias(chosen, self.extensions(), self.inner())
        # Not behind a question, as above.
        return None if self.busy else released

    def commanded(self, action: Action) -> Action | None:
        """Return a message as control lines can ask for it: its key in full, one kind, nothing besides."""
        match action:
            case Declares(kind=kind, id=id, key=key):
                return Declares(kind, id, self.spelled_out(key))
            case Undeclares(kind=kind, id=id):
                return Undeclares(kind, id, None)
            case DeclaresAlias(id=id, key=key):
                return DeclaresAlias(id, self.spelled_out(key))
            case ReleasesAlias(id=id):
                return ReleasesAlias(id)
            case SendsInterest(id=id, mode=mode, kinds=kinds, key=key):
                kind = self.choose([kind for kind in EntityKind if kind in (kinds or EntityKind)])
                asks = SendsInterest(id, mode, frozenset({kind}), self.spelled_out(key or WireExpr("**")))
                return None if mode is not Mode.CURRENT and self.model.is_asked_already(asks) else asks
            case EndsInterest(id=id):
                return EndsInterest(id)
            case Publishes(key=key, payload=payload):
                return Publishes(self.spelled_out(key), payload.replace(" ", "-"))
            case Queries(id=id, key=key):
                return Queries(id, self.spelled_out(key))
            case _:
                return None

    def spelled_out(self, key: WireExpr) -> WireExpr:
        """Return a key in full, as control lines have it."""
        return WireExpr(self.model.full_key(NODE, key) or key.suffix or "")
