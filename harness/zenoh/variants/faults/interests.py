"""Faults against zenoh-interests, "INTEREST Wire Format" and "Options Byte"."""

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.faults.modes import BARRIER
from harness.zenoh.variants.registry import fault
from wire.primitives import vle
from wire.zenoh.keys import resolve
from wire.zenoh.values import EntityKind, Interest, InterestFinal, Mode, NetworkMessage, Options
from wire.zenoh.values_transport import write_network

INTEREST, FRAME, ID = 0x19, 0x05, 0x1F
Z, N, R = 0x80, 0x20, 0x10
"""Z of the header; N and R of the options."""

READ_ALIKE = (Mode.CURRENT, Mode.CURRENT_FUTURE)


def number(data: bytes, at: int) -> tuple[int, int]:
    """Read a variable-length number and return it with the place behind it."""
    value, shift = 0, 0
    while at < len(data):
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            break
    return value, at


class LenientReader(Router):
    """A router that mends what an INTEREST at the beginning of a FRAME spells wrongly."""

    def received(self, link: int, frame: bytes, now: float) -> None:
        # Without extensions the messages stand right behind the sequence number; with any, the frame stays as it is.
        if frame[0] & ID == FRAME and not frame[0] & Z:
            _, start = number(frame, 1)
            message = frame[start:]
            if message and message[0] & ID == INTEREST and message[0] & 0x60:
                frame = frame[:start] + self.mend(message)
        super().received(link, frame, now)

    def mend(self, message: bytes) -> bytes:
        """Return the network messages of a FRAME, of which the first is an INTEREST, as they are to be read."""
        return message


@fault("ZI-028", does="cuts interest ids down to 32 bits")
class CutsInterestIds(LenientReader):
    def mend(self, message: bytes) -> bytes:
        interest_id, end = number(message, 1)
        return message[:1] + vle(interest_id & 0xFFFF_FFFF) + message[end:]


@fault("ZI-032", does="takes missing options for an interest in everything")
class OptionalOptions(LenientReader):
    def mend(self, message: bytes) -> bytes:
        _, end = number(message, 1)
        # 0e is all three kinds.
        return message + b"\x0e" if end == len(message) > 1 else message


@fault("ZI-034", does="cuts scopes down to 16 bits")
class CutsScopes(LenientReader):
    def mend(self, message: bytes) -> bytes:
        _, options = number(message, 1)
        if len(message) < options + 2 or not message[options] & R:
            return message
        scope, end = number(message, options + 1)
        return message[: options + 1] + vle(scope & 0xFFFF) + message[end:]


@fault("ZI-036", does="puts a slash between a scope and an empty suffix")
class SlashForEmptySuffix(Router):
    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        key = super().key_of_interest(session, interest)
        return f"{key}/*" if interest.key is not None and interest.key.suffix == "" else key


@fault("ZI-037", does="takes what there is of a suffix that is too short")
class TakesShortSuffixes(LenientReader):
    def mend(self, message: bytes) -> bytes:
        _, options = number(message, 1)
        if len(message) < options + 2 or message[options] & (R | N) != R | N:
            return message
        _, scope = number(message, options + 1)
        length, suffix = number(message, scope)
        there = message[suffix:]
        return message[:scope] + vle(len(there)) + there if length > len(there) else message


@fault("ZI-038", does="does not look for extensions behind an INTEREST")
class BlindToExtensions(LenientReader):
    def mend(self, message: bytes) -> bytes:
        return bytes([message[0] & ~Z]) + message[1:]


@fault("ZI-039", does="forgives extensions that are missing or cut off at the end of a batch")
class ForgivesMissingExtensions(LenientReader):
    def mend(self, message: bytes) -> bytes:
        _, options = number(message, 1)
        # Too short to hold both options and an extension with its value.
        if message[0] & Z and len(message) < options + 5 and not message[options] & R:
            return bytes([message[0] & ~Z]) + message[1 : options + 1]
        return message


class Broadminded(Router):
    """A router that adds a kind to interests of some other kind, where it is told which."""

    # None stands for an interest in key expressions only.
    asked_for: EntityKind | None
    added: EntityKind

    def kinds(self, interest: Interest) -> frozenset[EntityKind]:
        kinds = super().kinds(interest)
        begins = self.asked_for in kinds if self.asked_for else bool(interest.options & Options.K)
        return kinds | {self.added} if begins and interest.id < BARRIER else kinds


@fault("ZI-041", does="lists tokens for an interest in aliases")
class TokensForAliases(Broadminded):
    asked_for, added = None, EntityKind.TOKEN


@fault("ZI-042", does="lists queryables for an interest in subscribers")
class QueryablesForSubscribers(Broadminded):
    asked_for, added = EntityKind.SUBSCRIBER, EntityKind.QUERYABLE


@fault("ZI-043", does="lists tokens for an interest in queryables")
class TokensForQueryables(Broadminded):
    asked_for, added = EntityKind.QUERYABLE, EntityKind.TOKEN


@fault("ZI-044", does="lists subscribers for an interest in tokens")
class SubscribersForTokens(Broadminded):
    asked_for, added = EntityKind.TOKEN, EntityKind.SUBSCRIBER


@fault("ZI-045", does="ignores the key of an interest")
class IgnoresKeys(Router):
    def matches(self, asked: LiveInterest, entity: Entity) -> bool:
        return True


@fault("ZI-047", does="looks up an asker's alias among its own")
class LooksAtItsOwnAliases(Router):
    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        return None if interest.key is None else resolve(interest.key, session.mine, session.mine)


@fault("ZI-048", does="looks up its own alias among the asker's")
class LooksAtTheirAliases(Router):
    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        return None if interest.key is None else resolve(interest.key, session.theirs, session.theirs)


@fault("ZI-049", does="reads a key when N is set without R")
class ReadsKeyWithoutR(LenientReader):
    def mend(self, message: bytes) -> bytes:
        _, options = number(message, 1)
        if options < len(message) and message[options] & (R | N) == N:
            return message[:options] + bytes([message[options] | R]) + message[options + 1 :]
        return message


@fault("ZI-049", does="sets M in an INTEREST without a key")
class SetsMWithoutR(Client):
    def send(self, session: Session, message: NetworkMessage) -> None:
        if isinstance(message, Interest):
            options = (message.options | Options.M) & ~(Options.R | Options.N)
            message = Interest(message.id, message.mode, options)
        super().send(session, message)


@fault("ZI-051", does="serves only the first of several kinds")
class OneKindAtATime(Router):
    def kinds(self, interest: Interest) -> frozenset[EntityKind]:
        kinds = super().kinds(interest)
        return frozenset([next(kind for kind in EntityKind if kind in kinds)]) if kinds else kinds


@fault("ZI-051", does="sends a D_FINAL for each kind that was asked for")
class FinalForEachKind(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        for _ in list(interest.kinds)[1:]:
            if interest.mode in READ_ALIKE:
                self.finish(session, interest.id)


@fault("ZI-052", does="does not answer an interest in no kind")
class SilentAboutNoKind(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        if interest.kinds or interest.options & Options.K:
            super().on_interest(session, interest)


@fault("ZI-053", does="takes an alias that nobody declared for no restriction")
class UnknownAliasIsEverything(Router):
    def key_of_interest(self, session: Session, interest: Interest) -> str | None:
        return super().key_of_interest(session, interest) or "**"


@fault("ZI-026", does="sets Z in an INTEREST without an extension")
class SetsZForNothing(Client):
    def send(self, session: Session, message: NetworkMessage) -> None:
        if isinstance(message, Interest | InterestFinal) and session.opened:
            spelled = write_network(message)
            session.transport.send_bytes([bytes([spelled[0] | Z]) + spelled[1:]])
        else:
            super().send(session, message)


@fault("ZI-030", does="gives all its interests the same id")
class OneInterestId(Client):
    def take_interest(self) -> int:
        return 1
