"""Legality: whether a session may send messages as things are, when those that prepared them may have been left out."""

from collections.abc import Iterable

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
from harness.zenoh.peers.session import Session
from wire.zenoh.values import WireExpr


def are_legal(actions: Iterable[Action], session: Session) -> bool:
    """Tell whether a session may send messages one after the other: what they end is there, what they begin is not."""
    entities = {number: (each.key, (each.complete, each.distance)) for number, each in session.entities.items()}
    interests, aliases = set(session.interests), set(session.theirs)
    for action in actions:
        match action:
            case Declares():
                # Once more under the same id is a repetition if all is the same, and else no part of a history.
                told = action.key.suffix or "", action.info or (False, 0)
                key, info = entities.setdefault((action.kind, action.id), told)
                if not _resolves(action.key, aliases) or (not action.key.scope and action.key.suffix != key):
                    return False
                if info != told[1]:
                    return False
            case Undeclares():
                if (action.kind, action.id) not in entities or not _resolves(action.key, aliases):
                    return False
                del entities[action.kind, action.id]
            case SendsInterest(id=number, key=key):
                if number in interests or not _resolves(key, aliases):
                    return False
                # One in mode Current is over only when it has been answered.
                interests.add(number)
            case EndsInterest(id=number):
                if number not in interests:
                    return False
                interests.remove(number)
            case DeclaresAlias(id=number, key=key):
                if number in aliases or not _resolves(key, aliases):
                    return False
                aliases.add(number)
            case ReleasesAlias(id=number):
                if number not in aliases:
                    return False
                aliases.remove(number)
            case Publishes(key=key) | Queries(key=key):
                if not _resolves(key, aliases):
                    return False
    return True


def _resolves(key: WireExpr | None, aliases: set[int]) -> bool:
    return key is None or not key.scope or key.scope in aliases
