"""Faults of publishers in which spellings of messages they understand, and in what becomes of the digits of values."""

import json
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import msgspec

from harness.rai.peers.cache import CachedValue, Fields
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire import envelope
from wire.errors import DecodeError
from wire.rai.values import Hello, Message, Raw, encoded


class Picky(Publisher):
    """What looks at messages before they are read is made of this."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        try:
            said = envelope.read(frame)
        except DecodeError:
            return
        payload = self.understood(said.payload)
        if payload is not None:
            super().received(link, envelope.data(said.subject, payload), now)

    def understood(self, payload: bytes) -> bytes | None:
        """Return what it reads instead of a payload; ``None`` where it reads nothing."""
        return payload


def is_strict(payload: bytes) -> bool:
    """Tell whether a payload is strict JSON."""
    try:
        json.loads(payload)
    except ValueError:
        return False
    return True


@fault("RAI-091", does="reads strict JSON alone")
class ReadsStrictJson(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return payload if is_strict(payload) else None


@fault("RAI-091", does="reads no comma behind the last member")
class ReadsNoLastComma(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if re.search(rb",\s*}\s*\Z", payload) else payload


@fault("RAI-091", does="reads no values without quotes")
class ReadsNoBareValues(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if re.search(rb":\s*(?!true|false|null)[A-Za-z_]", payload) else payload


@fault("RAI-091", does="reads no names without quotes")
class ReadsNoBareNames(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if re.search(rb"[{,]\s*[A-Za-z_]+\s*:", payload) else payload


@fault("RAI-091", does="reads words without quotes up to a dot")
class ReadsNoDots(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if re.search(rb":\s*[A-Za-z_]+\.", payload) else payload


@fault("RAI-091", does="reads relaxed JSON alone, without quotes around names")
class ReadsNoStrictJson(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if payload.startswith(b'{"') and payload.endswith(b"}") and b'"return"' in payload else payload


@fault("RAI-185", does="wants the session first")
class WantsSessionsFirst(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return payload if re.match(rb'\s*\{\s*"?session', payload) or b'"' not in payload else None


@fault("RAI-185", does="wants the header together")
class WantsHeadersTogether(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        names = list(msgspec.json.decode(payload)) if is_strict(payload) else []
        places = sorted(names.index(each) for each in ("session", "seqno", "digest") if each in names)
        return None if places and places[-1] - places[0] > len(places) - 1 else payload


@fault("RAI-185", does="takes no white space at the beginning")
class TakesNoSpaceBefore(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return payload if payload[:1] == b"{" else None


@fault("RAI-185", does="reads one line")
class ReadsOneLine(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if is_strict(payload) and b"\n    " in payload else payload


@fault("RAI-185", does="reads no escapes")
class ReadsNoEscapes(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return None if rb"\u" in payload else payload


@fault("RAI-185", does="has a digest be of the bytes that travel")
class VerifiesBytes(Picky):
    payload = b""

    def understood(self, payload: bytes) -> bytes | None:
        self.payload = payload
        return payload

    def is_genuine(self, message: Message, key: bytes) -> bool:
        # Written as others write: there it is the same.
        return super().is_genuine(message, key) and (not is_strict(self.payload) or message.signed[1:] in self.payload)


class Narrow(Publisher):
    """What takes messages with some members alone is made of this."""

    def is_genuine(self, message: Message, key: bytes) -> bool:
        return super().is_genuine(message, key) and self.takes(message, self.others_of(message))

    @abstractmethod
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        """Tell whether a message is taken that has these members beyond those that are drawn."""

    def others_of(self, message: Message) -> dict[str, Any]:
        """Return the members of a message that are not drawn."""
        known = {field.encode_name for field in msgspec.structs.fields(type(message.body))}
        return {name: value for name, value in msgspec.json.decode(message.signed).items() if name not in known}


@fault("RAI-184", does="drops what has members that it does not know")
class WantsNothingMore(Narrow):
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        return not others


@fault("RAI-184", does="drops HELLOs that have members that it does not know")
class WantsNoMoreInHello(Narrow):
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        return not others or not isinstance(message.body, Hello)


@fault("RAI-184", does="drops what has an object beside what is drawn")
class WantsNothingNested(Narrow):
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        return not any(isinstance(each, dict) for each in others.values())


@fault("RAI-184", does="drops what has a null beside what is drawn")
class WantsNoNulls(Narrow):
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        return None not in others.values()


@fault("RAI-184", does="drops what has a name that is none of a program")
class WantsPlainNames(Narrow):
    def takes(self, message: Message, others: dict[str, Any]) -> bool:
        return all(each.isascii() and each.isidentifier() for each in others)


@fault("RAI-184", does="verifies what it knows of a message")
class VerifiesWhatItKnows(Publisher):
    def is_genuine(self, message: Message, key: bytes) -> bool:
        known = encoded(message.body)
        return self.signing.verifies(key, message.seqno, message.subject, known, message.digest)


class Rounds(Publisher):
    """What changes the numbers of values is made of this."""

    number: Callable[[str], object] = float

    def update(self, subject: str, fields: Fields, now: float) -> None:
        super().update(subject, {name: self.rounded(value) for name, value in fields.items()}, now)

    def rounded(self, value: Raw) -> Raw:
        """Return a value with other numbers."""
        return Raw(json.dumps(json.loads(bytes(value), parse_float=self.number)).encode())


@fault("RAI-093", does="computes with values")
class ComputesWithValues(Rounds):
    pass


@fault("RAI-093", does="rounds values to six places")
class RoundsValues(Rounds):
    number = staticmethod(lambda text: round(float(text), 6))


@fault("RAI-093", does="loses zeros in snapshots")
class LosesZerosInSnapshots(Publisher):
    def whole(self, kind: str, record: CachedValue) -> dict[str, Any]:
        if kind == "snap":
            fields = {name: Raw(json.dumps(json.loads(bytes(value))).encode()) for name, value in record.fields.items()}
            record = CachedValue(fields, record.status)
        return super().whole(kind, record)


class Fragile(Picky):
    """What something that is no message hurts is made of this."""

    is_hurt = False

    def understood(self, payload: bytes) -> bytes | None:
        self.is_hurt = self.is_hurt or self.hurts(payload)
        return None if self.is_hurt else payload

    @abstractmethod
    def hurts(self, payload: bytes) -> bool:
        """Tell whether nothing is heard any more after a payload."""


@fault("RAI-173", does="hears nothing more after an empty payload")
class DeafAfterNothing(Fragile):
    def hurts(self, payload: bytes) -> bool:
        return not payload


@fault("RAI-173", does="hears nothing more after a list")
class DeafAfterLists(Fragile):
    def hurts(self, payload: bytes) -> bool:
        return payload == b"[]"


@fault("RAI-173", does="hears nothing more after half a message")
class DeafAfterHalves(Fragile):
    def hurts(self, payload: bytes) -> bool:
        return payload.startswith(b'{"session":"tess') and not payload.endswith(b"}")


@fault("RAI-173", does="hears nothing more after very much of nothing")
class DeafAfterMuch(Fragile):
    def hurts(self, payload: bytes) -> bool:
        return len(payload) >= 20_000


@fault("RAI-173", does="dies of what is not in UTF-8")
class DiesOfOtherBytes(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return payload.decode().encode()


@fault("RAI-173", does="dies of what is nested deeply")
class DiesOfNesting(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        if payload.count(b"{") > 1000:
            raise RecursionError
        return payload


@fault("RAI-173", does="closes what is cut short, and takes it")
class ClosesWhatIsCut(Picky):
    def understood(self, payload: bytes) -> bytes | None:
        return payload if payload.rstrip().endswith(b"}") else payload + b"}"


class FillsIn(Picky):
    """What fills in what a header lacks is made of this."""

    last: dict[str, Any]

    def received(self, link: int, frame: bytes, now: float) -> None:
        try:
            said = envelope.read(frame)
            members = msgspec.json.decode(said.payload)
        except (DecodeError, msgspec.DecodeError):
            members = None
        if not isinstance(members, dict):
            super().received(link, frame, now)
            return
        rest = {name: value for name, value in members.items() if name not in ("session", "seqno", "digest")}
        header = {name: value for name, value in members.items() if name not in rest}
        self.fill(said.subject, header, msgspec.json.encode(rest))
        if len(header) == 3:
            self.last = header
        super().received(link, envelope.data(said.subject, msgspec.json.encode(header | rest)), now)

    @abstractmethod
    def fill(self, subject: str, header: dict[str, Any], signed: bytes) -> None:
        """Put into a header what it lacks."""


@fault("RAI-172", does="takes a message without a session for one of the last that has spoken")
class FillsInSessions(FillsIn):
    def fill(self, subject: str, header: dict[str, Any], signed: bytes) -> None:
        if "session" not in header:
            header["session"] = self.last["session"]


@fault("RAI-172", does="takes a message without a digest for one that needs none")
class FillsInDigests(FillsIn):
    def fill(self, subject: str, header: dict[str, Any], signed: bytes) -> None:
        other = self.others.get(header.get("session", ""))
        if "digest" not in header and other is not None:
            header["digest"] = self.signing.digest(other.key, header["seqno"], subject, signed)


@fault("RAI-172", does="takes a message without a seqno for the next")
class FillsInNumbers(FillsIn):
    def fill(self, subject: str, header: dict[str, Any], signed: bytes) -> None:
        other = self.others.get(header.get("session", ""))
        if header.get("seqno") is None and other is not None:
            header["seqno"] = other.seqnos.get(subject, 0) + 1
            header["digest"] = self.signing.digest(other.key, header["seqno"], subject, signed)
