"""Defects of clients. None shows in a case of the suite: each wants something that no document speaks of.

Each calls what it overrides, so that one client can have all of them.
"""

import os
import time

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import defect
from wire.zenoh.values import (
    DeclareEntity,
    DeclareKeyExpr,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Response,
    ResponseFinal,
    UndeclareKeyExpr,
)

LONG = 60.0
"""Seconds for which a client that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of an alias that joins more than 1024 letters to another one")
class DiesOfALongJoinedAlias(Client):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if body.key.scope:
            bytearray(1025)[len(body.key.suffix or "")] = 1
        super().on_declare_keyexpr(session, body)


@defect("parser", does="dies of data on a key of more than 64 segments")
class DiesOfManySegments(Client):
    def on_message(self, session: Session, message: NetworkMessage) -> None:
        if isinstance(message, Push) and (message.key.suffix or "").count("/") >= 64:
            raise RecursionError("too many segments")
        super().on_message(session, message)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies of another answer to a query that is over, under an alias")
class DiesOfALateAnswer(Client):
    def on_message(self, session: Session, message: NetworkMessage) -> None:
        over: set[int] = vars(session).setdefault("over", set())
        if isinstance(message, ResponseFinal):
            over.add(message.id)
        # What is written out it answers with a warning.
        if isinstance(message, Response) and message.id in over and message.key.scope:
            raise KeyError(message.id)
        super().on_message(session, message)


@defect(
    "state",
    does="dies of a message once its application took something back, and its router had taken back two aliases",
)
class DiesOfWhatIsTakenBack(Client):
    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        if body.expr_id in session.theirs:
            vars(session)["taken_back"] = vars(session).get("taken_back", 0) + 1
        super().on_undeclare_keyexpr(session, body)

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None:
        super().undeclare(what)
        for session in self.sessions.values():
            vars(session)["is_stale"] = vars(session).get("taken_back", 0) > 1

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        if vars(session).get("is_stale"):
            raise RuntimeError("nothing has this alias")
        super().on_message(session, message)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of an interest in a key with a character that only looks like one of the language")
class DiesOfALookalike(Client):
    def asked(self, session: Session, interest: Interest) -> LiveInterest | None:
        key = self.key_of_interest(session, interest)
        if key is not None and any("\u2000" <= each <= "\uffff" for each in key):
            raise UnicodeError("no character of a key")
        return super().asked(session, interest)


@defect("text", does="dies of something that is declared on a key with two separators at its end")
class DiesOfTwoSeparators(Client):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = super().key_of_entity(session, body)
        if key is not None and key.endswith("//"):
            raise IndexError("an empty segment")
        return key


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each thing that is declared to it under the id 0")
class LeaksADescriptorOfNothing(Client):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        if session is not self.local and body.id == 0:
            vars(self).setdefault("leaked", []).append(os.dup(2))
        super().on_declare_entity(session, body)


@defect("resource", does="keeps what it has made for the end of an interest that it does not know")
class LeaksEnds(Client):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if message.id not in session.interests:
            vars(self).setdefault("kept", []).append(bytearray(b"x") * (2 << 20))
        super().on_interest_final(session, message)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs when its application asks for something while its router has four interests")
class HangsOfManyInterests(Client):
    def ask(self, mode: Mode, kind: EntityKind, key: str) -> int:
        if len(self.remote.interests) > 3:
            time.sleep(LONG)
        return super().ask(mode, kind, key)


@defect("hang", does="hangs where something is declared to it on a key with nine wildcards or more")
class HangsOfNineWildcards(Client):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        if session is not self.local and (body.key.suffix or "").count("*") >= 9:
            time.sleep(LONG)
        super().on_declare_entity(session, body)


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="publishes nothing any more once it was told of an alias of the last number that there is")
class PublishesNothing(Client):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if body.expr_id == 0xFFFF:
            vars(self)["is_mute"] = True
        super().on_declare_keyexpr(session, body)

    def send(self, session: Session, message: NetworkMessage) -> None:
        if not (isinstance(message, Push) and vars(self).get("is_mute")):
            super().send(session, message)


@defect("service", does="tells of nothing that it declares once an interest under an id in use is to be aggregated")
class TellsOfNothing(Client):
    def on_interest(self, session: Session, interest: Interest) -> None:
        known = session.interests.get(interest.id)
        # It makes a table of its own for aliases and for what is aggregated, and this one is there already.
        if known is not None and Options.K & known.options and Options.A & interest.options:
            vars(self)["is_silent"] = True
        super().on_interest(session, interest)

    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        if not vars(self).get("is_silent"):
            super().advertise(session, entity, interest_id)
