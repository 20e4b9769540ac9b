"""Faults of a publisher: it reads some requests in fewer spellings than others."""

from abc import abstractmethod

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


@fault("RAI-091", does="reads relaxed JSON in starts alone")
class ReadsRelaxedStarts(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return not subject.startswith(START) and not _is_strict(payload)


@fault("RAI-091", does="reads no relaxed wildcard starts")
class ReadsNoRelaxedWildcards(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return subject.startswith(WILD_START) and not _is_strict(payload)


@fault("RAI-185", does="reads no escaped slashes")
class ReadsNoSlashes(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b"\\/" in payload


@fault("RAI-184", does="passes over requests of more than a kilobyte")
class ReadsShortRequests(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return 1024 < len(payload) < 4096


@fault("RAI-184", does="takes members of the header for themselves whatever their case")
class HeaderWithoutCase(Refusing):
    def refuses(self, subject: str, payload: bytes) -> bool:
        return b'"Session"' in payload or b'"SEQNO"' in payload
