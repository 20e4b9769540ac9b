"""Faults of a publisher: it reads less than relaxed JSON, or more into it than there is."""

import re
from abc import abstractmethod
from typing import Any

import msgspec

from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire import envelope
from wire.errors import DecodeError
from wire.rai.values import SNAP, START, STOP, WILD_START

ASKING = (START, STOP, SNAP, WILD_START)


class Refusing(Publisher):
    """What does not read all that is asked is made of this."""

    @abstractmethod
    def refuses(self, subject: str, payload: bytes) -> bool:
        """Tell whether something that is asked is not read."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        try:
            said = envelope.read(frame)
        except DecodeError:
            return
        if not said.subject.startswith(ASKING) or not self.refuses(said.subject, said.payload):
            super().received(link, frame, now)


def _is_strict(payload: bytes) -> bool:
    try:
        msgspec.json.decode(payload)
    except msgspec.DecodeError:
        return False
    return True


@fault("RAI-091", does="reads strict JSON alone")
class ReadsStrictJson(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return not _is_strict(payload)


@fault("RAI-091", does="reads no comma behind the last member")
class ReadsNoTrailingComma(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return re.search(rb",\s*\}\s*\Z", payload) is not None


@fault("RAI-091", does="reads no values without quotes")
class ReadsNoBareValues(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return (
            re.search(rb":\s*(?!true\b|false\b|null\b)[A-Za-z_]", re.sub(rb'"(\\.|[^"\\])*"', b'""', payload))
            is not None
        )


@fault("RAI-091", does="reads relaxed JSON in starts alone")
class ReadsRelaxedStarts(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return not subject.startswith(START) and not _is_strict(payload)


@fault("RAI-091", does="reads no relaxed wildcard starts")
class ReadsNoRelaxedWildcards(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return subject.startswith(WILD_START) and not _is_strict(payload)


@fault("RAI-091", does="reads no bare words with dots")
class ReadsNoDots(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return re.search(rb":\s*[a-z]\.[a-z]", payload) is not None


@fault("RAI-185", does="reads JSON without white space alone")
class ReadsNoSpace(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b"\t" in payload


@fault("RAI-185", does="reads no escapes of letters")
class ReadsNoEscapes(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b"\\u00" in payload


@fault("RAI-185", does="reads no escaped slashes")
class ReadsNoSlashes(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b"\\/" in payload


@fault("RAI-185", does="reads messages that begin with their header alone")
class ReadsHeadersFirst(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return not payload.lstrip().lstrip(b"{ \r\n").startswith((b'"session"', b"session", b'"\\u0073\\u0065\\u0073'))


@fault("RAI-185", does="reads messages whose header stands together alone")
class ReadsHeadersTogether(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        places = [payload.find(each) for each in (b'"session"', b'"seqno"', b'"digest"')]
        return all(place >= 0 for place in places) and places != sorted(places)


@fault("RAI-184", does="passes over requests with a member that it does not know")
class ReadsKnownMembers(Refusing):
    known = frozenset(
        ("session", "seqno", "digest", "return", "initial", "ack", "format", "expires", "subject", "pattern")
    )

    def refuses(self, subject: str, payload: bytes) -> bool:
        return _is_strict(payload) and not self.known >= self.names(payload)

    def names(self, payload: bytes) -> set[str]:
        found: Any = msgspec.json.decode(payload)
        return set(found) if isinstance(found, dict) else set()


@fault("RAI-184", does="passes over requests with a list")
class ReadsNoLists(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b":[" in payload


@fault("RAI-184", does="passes over requests of more than a kilobyte")
class ReadsShortRequests(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return 1024 < len(payload) < 4096


@fault("RAI-184", does="takes members of the header for themselves whatever their case")
class HeaderWithoutCase(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b'"Session"' in payload or b'"SEQNO"' in payload


@fault("RAI-184", does="passes over requests with a null")
class ReadsNoNull(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return payload.startswith(b"{") and b":null" in payload


@fault("RAI-173", does="dies of an empty message")
class DiesOfEmptyMessages(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        if not payload:
            raise ValueError(subject)
        return False


@fault("RAI-173", does="dies of JSON that is no object")
class DiesOfOtherValues(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        if _is_strict(payload) and not isinstance(msgspec.json.decode(payload), dict):
            raise TypeError(subject)
        return False


@fault("RAI-173", does="dies of many brackets")
class DiesOfBrackets(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        if payload.count(b"[") + payload.count(b"{") > 1000:
            raise RecursionError(subject)
        return False


@fault("RAI-173", does="reads nothing for a while after what is no text")
class DeafAfterBytes(Refusing):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.has_met_bytes = False

    def refuses(self, subject: str, payload: bytes) -> bool:
        self.has_met_bytes = self.has_met_bytes or b"\xff" in payload
        return self.has_met_bytes
