"""Legality: whether a session may say words as things are, when those that prepared them may have been left out."""

from collections.abc import Iterable

from conformance.zenoh.histories.words import (
    Asks,
    Declares,
    Ends,
    NamesKey,
    Publishes,
    QueriesFor,
    ReleasesKey,
    Undeclares,
    Utterance,
)
from harness.zenoh.peers.session import Session
from wire.zenoh.values import WireExpr


def are_legal(words: Iterable[Utterance], session: Session) -> bool:
    """Tell whether a session may say words one after the other: what they end is there, what they begin is not."""
    entities = {number: entity.key for number, entity in session.entities.items()}
    interests, aliases = set(session.interests), set(session.theirs)
    for word in words:
        match word:
            case Declares():
                # Once more under the same id is a repetition if the key is the same, and else no word of a history.
                held = entities.setdefault((word.kind, word.id), word.key.suffix or "")
                if not _resolves(word.key, aliases) or (not word.key.scope and word.key.suffix != held):
                    return False
            case Undeclares():
                if (word.kind, word.id) not in entities or not _resolves(word.key, aliases):
                    return False
                del entities[word.kind, word.id]
            case Asks(id=number, key=key):
                if number in interests or not _resolves(key, aliases):
                    return False
                # One in mode Current is over only when it has been answered.
                interests.add(number)
            case Ends(id=number):
                if number not in interests:
                    return False
                interests.remove(number)
            case NamesKey(id=number, key=key):
                if number in aliases or not _resolves(key, aliases):
                    return False
                aliases.add(number)
            case ReleasesKey(id=number):
                if number not in aliases:
                    return False
                aliases.remove(number)
            case Publishes(key=key) | QueriesFor(key=key):
                if not _resolves(key, aliases):
                    return False
    return True


def _resolves(key: WireExpr | None, aliases: set[int]) -> bool:
    return key is None or not key.scope or key.scope in aliases
