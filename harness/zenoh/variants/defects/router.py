"""Defects of routers. None shows in a case of the suite: each wants something that no document speaks of.

Each calls what it overrides, so that one router can have all of them.
"""

import os
import time
from collections import Counter
from typing import Any

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.peers.transport import Ended
from harness.zenoh.variants.registry import defect
from wire.zenoh.keys import resolve
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
    Request,
    UndeclareEntity,
    UndeclareKeyExpr,
)
from wire.zenoh.values_transport import Fragment

LONG = 60.0
"""Seconds for which a router that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of an alias that stands on an alias that stands on an alias")
class DiesOfAChainOfAliases(Router):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        depths: dict[int, int] = vars(session).setdefault("depths", {})
        depth = depths.get(body.key.scope, 0) + 1 if body.key.scope else 0
        if depth > 1:
            raise OverflowError(f"{depth} aliases")
        depths[body.expr_id] = depth
        super().on_declare_keyexpr(session, body)


@defect("parser", does="dies of an unknown extension of 256 bytes or more on data")
class DiesOfALargeExtension(Router):
    def on_message(self, session: Session, message: NetworkMessage) -> None:
        for extension in message.extensions if isinstance(message, Push | Request) else ():
            if isinstance(extension.value, bytes):
                bytes([len(extension.value)])
        super().on_message(session, message)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies when an alias is taken back with which something is declared that still is")
class DiesOfATakenBackAlias(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        if body.key.scope and body.key.sender and (body.kind, body.id) not in session.entities:
            used: dict[int, list[tuple[EntityKind, int]]] = vars(session).setdefault("used", {})
            used.setdefault(body.key.scope, []).append((body.kind, body.id))
        super().on_declare_entity(session, body)

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        for each in vars(session).get("used", {}).get(body.expr_id, []):
            # Of tokens it keeps a table of its own, which knows the alias only.
            if each in session.entities and each[0] is EntityKind.TOKEN:
                raise KeyError(each)
        super().on_undeclare_keyexpr(session, body)


@defect("state", does="dies when an interest is ended that never was, after two others were")
class DiesOfASecondFinal(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        ended: list[int] = vars(session).setdefault("ended", [])
        if message.id not in session.interests and len(ended) > 1 and message.id not in ended:
            raise LookupError(message.id)
        if message.id in session.interests:
            ended.append(message.id)
        super().on_interest_final(session, message)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a token whose key has a character beyond the basic plane")
class DiesOfAnEmoji(Router):
    def key_of_entity(self, session: Session, body: DeclareEntity) -> str | None:
        key = super().key_of_entity(session, body)
        if key is not None:
            [key.encode("utf-16-le")[at : at + 2] for at in range(0, 2 * len(key), 2)]
            if any(ord(each) > 0xFFFF for each in key):
                raise UnicodeError("a pair of surrogates")
        return key


@defect("text", does="dies of a key that ends in a separator and is asked for")
class DiesOfATrailingSeparator(Router):
    def asked(self, session: Session, interest: Interest) -> LiveInterest | None:
        key = self.key_of_interest(session, interest)
        if key is not None and key.endswith("/"):
            raise IndexError("an empty segment")
        return super().asked(session, interest)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each query on a number that stands for no key")
class LeaksDescriptors(Router):
    def on_data(self, session: Session, message: Any) -> None:
        if isinstance(message, Request) and resolve(message.key, session.theirs, session.mine) is None:
            vars(self).setdefault("leaked", []).append(os.dup(2))
        super().on_data(session, message)


@defect("resource", does="keeps what a session's fragments were when it ends before their last one")
class LeaksFragments(Router):
    def handle(self, session: Session, events: Any) -> None:
        seen = list(events)
        for event in seen:
            if isinstance(event, Fragment) and event.more:
                vars(session)["parts"] = bytearray(os.urandom(1 << 20))
        super().handle(session, seen)

    def on_end(self, session: Session) -> None:
        if "parts" in vars(session):
            vars(self).setdefault("kept", []).append(vars(session)["parts"])
        super().on_end(session)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs where an interest's key has many wildcards for any number of segments")
class HangsOfManyWildcards(Router):
    def asked(self, session: Session, interest: Interest) -> LiveInterest | None:
        key = self.key_of_interest(session, interest)
        if key is not None and key.count("**") >= 8:
            time.sleep(LONG)
        return super().asked(session, interest)


@defect("hang", does="hangs of an interest in key expressions alone that is to be aggregated")
class HangsOfNothingToAggregate(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        if (
            interest.options & Options.A
            and interest.mode is Mode.FUTURE
            and not interest.kinds
            and interest.key is None
        ):
            time.sleep(LONG)
        super().on_interest(session, interest)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="takes away what another session declared under an id that is undeclared with an extension")
class UndeclaresForOthers(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        if (body.kind, body.id) not in session.entities and body.extensions:
            for other in self.sessions.values():
                if other is not session and (entity := other.entities.pop((body.kind, body.id), None)) is not None:
                    self.withdraw(entity)
        super().on_undeclare_entity(session, body)


@defect("harm", does="ends all sessions when one is closed with a reason that it does not know")
class EndsAllSessions(Router):
    def handle(self, session: Session, events: Any) -> None:
        seen = list(events)
        for event in seen:
            if isinstance(event, Ended) and "255" in event.detail:
                self.hang_ups += [each for each in self.sessions if each != session.link]
        super().handle(session, seen)


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="tells nobody of anything any more once the last ExprId that there is was given")
class TellsNobody(Router):
    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if body.expr_id == 0xFFFF:
            vars(self)["is_mute"] = True
        super().on_declare_keyexpr(session, body)

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return not vars(self).get("is_mute") and super().is_wanted(session, entity)


@defect("service", does="answers no interests any more once half a dozen entities of one session were on one key")
class AnswersNobody(Router):
    def on_declare_entity(self, session: Session, body: DeclareEntity) -> None:
        super().on_declare_entity(session, body)
        if max(Counter(each.key for each in session.entities.values()).values(), default=0) >= 6:
            vars(self)["is_full"] = True

    def finish(self, session: Session, interest_id: int) -> None:
        if not vars(self).get("is_full"):
            super().finish(session, interest_id)
