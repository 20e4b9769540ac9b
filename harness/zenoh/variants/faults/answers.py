"""Faults against zenoh-interests, "INTEREST Extensions" to "Relationship to DECLARE/D_FINAL"."""

from collections.abc import Iterable

import msgspec

from harness.zenoh.peers.client import Client
from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.peers.transport import Event
from harness.zenoh.tester.session import BARRIER
from harness.zenoh.variants.registry import fault
from wire.zenoh.grammar_extensions import NODE_ID
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    unknown_mandatory,
)
from wire.zenoh.values_transport import write_network


# A base without a fault of its own: the faults below differ in what they add.
class DecoratesInterests(Client):
    """Adds extensions to every INTEREST of its own."""

    extensions: Extensions = ()

    def send(self, session: Session, message: NetworkMessage) -> None:
        """Send one network message, an INTEREST with the extensions."""
        if isinstance(message, Interest | InterestFinal):
            message = msgspec.structs.replace(message, extensions=self.extensions)
        super().send(session, message)


@fault("ZI-054", does="sends the QoS of an INTEREST as a buffer")
class QosOfInterestAsBuffer(DecoratesInterests):
    # The id of QoS in the encoding of a buffer.
    extensions = (Extension(0x1, b"\x05"),)


@fault("ZI-055", does="sends the Timestamp of an INTEREST as a number")
class TimestampOfInterestAsNumber(DecoratesInterests):
    extensions = (Extension(0x2, 5),)


@fault("ZI-056", does="sends the NodeId of an INTEREST without the mandatory mark")
class NodeIdOfInterestUnmarked(DecoratesInterests):
    extensions = (Extension(0x3, 1),)


@fault("ZI-056", does="takes NodeId in an INTEREST for an extension that it does not know")
class RefusesNodeId(Router):
    def unknown_extension(self, message: NetworkMessage) -> Extension | None:
        if isinstance(message, Interest):
            return next((each for each in message.extensions if each.is_(NODE_ID)), super().unknown_extension(message))
        return super().unknown_extension(message)


@fault("ZI-057", "ZI-058", does="passes over a Final that carries extensions")
class DeafToDecoratedFinals(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if not message.extensions:
            super().on_interest_final(session, message)


@fault("ZI-058", does="refuses an INTEREST with an extension that it does not know, marked or not")
class RefusesUnknownExtensions(Router):
    def unknown_extension(self, message: NetworkMessage) -> Extension | None:
        if isinstance(message, Interest):
            # 1 to 3 are the extensions that the document knows.
            marked = [msgspec.structs.replace(each, mandatory=True) for each in message.extensions if each.id > 3]
            return unknown_mandatory("INTEREST", marked) or super().unknown_extension(message)
        return super().unknown_extension(message)


@fault("ZI-059", does="ends the snapshot of an INTEREST that it has not understood, as if nothing matched")
class HollowAnswer(Router):
    def unknown_extension(self, message: NetworkMessage) -> Extension | None:
        return None if isinstance(message, Interest) else super().unknown_extension(message)

    def on_interest(self, session: Session, interest: Interest) -> None:
        if unknown_mandatory("INTEREST", interest.extensions):
            self.finish(session, interest.id)
        else:
            super().on_interest(session, interest)


@fault("ZI-060", does="sends options behind a Final")
class OptionsBehindFinal(Client):
    def end(self, interest: int) -> None:
        # A byte of options (tokens, with a key), as an INTEREST has behind its id.
        self.remote.transport.send_bytes([write_network(InterestFinal(interest)) + b"\x72"])


@fault("ZI-061", does="ends another interest than the one that it was told to end")
class FinalForAnother(Client):
    def end(self, interest: int) -> None:
        # Far enough to be no other interest of a play.
        super().end(interest + 100)


@fault("ZI-063", does="loses the message behind a Final, whose header it reads as options")
class EatsWhatFollowsFinal(Router):
    def handle(self, session: Session, events: Iterable[Event]) -> None:
        left, after_final = [], False
        for event in events:
            # Of two Finals in a row the second is lost as well, and the message behind that is read again.
            if not after_final:
                left.append(event)
            after_final = isinstance(event, InterestFinal) and not after_final
        super().handle(session, left)


@fault("ZI-064", does="answers a Final for what does not run with D_FINAL")
class AnswersIdleFinals(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if message.id not in session.interests:
            self.finish(session, message.id)
        super().on_interest_final(session, message)


@fault("ZI-065", does="acts on a Final whose extensions are missing")
class ActsOnCutFinal(Router):
    def received(self, link: int, frame: bytes, now: float) -> None:
        # The very bytes of the case: this fault need not know how Finals are cut otherwise.
        whole = frame[:-2] + b"\x19\x05" if frame.endswith(b"\x99\x05") else frame
        super().received(link, whole, now)


@fault("ZI-066", does="takes no notice of A")
class NeverAggregates(Router):
    def aggregate(self, entities: list[Entity]) -> list[Entity]:
        return entities


@fault("ZI-067", does="sends a representative whose key nobody asked for")
class RepresentativeElsewhere(Router):
    def aggregate(self, entities: list[Entity]) -> list[Entity]:
        short = super().aggregate(entities)
        # Below a key that was asked for, and no longer matched by it.
        return [msgspec.structs.replace(each, key=f"{each.key}/of/many") for each in short]


@fault("ZI-068", does="sends a representative where nothing matches")
class RepresentsNothing(Router):
    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        found = super().snapshot(session, asked)
        if asked.options & Options.A and not found and asked.key is not None:
            # As the session's own, with the key that was asked for: what a node would make up.
            # In the order of the kinds: a set has another one in each process.
            return [Entity(session.link, kind, 0, asked.key) for kind in EntityKind if kind in asked.kinds]
        return found


@fault("ZI-068", does="answers with D_FINAL alone when A is set")
class AggregatesToNothing(Router):
    def aggregate(self, entities: list[Entity]) -> list[Entity]:
        return []


@fault("ZI-069", does="cuts the interest id of a snapshot's declarations to 16 bits")
class ShortInterestId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        # 32-bit ids that differ above the 16th bit are what tells.
        super().advertise(session, entity, None if interest_id is None else interest_id & 0xFFFF)


@fault("ZI-069", does="leaves out the interest id when it is 0")
class ZeroIsNoInterestId(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        super().advertise(session, entity, interest_id or None)


@fault("ZI-070", does="forgets D_FINAL when there is nothing to list")
class NoFinalForNothing(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        asked = self.asked(session, interest)
        # Barriers are answered: a node that answers nothing at all would only be inconclusive.
        self.mute = interest.id < BARRIER and (asked is None or not self.snapshot(session, asked))
        super().on_interest(session, interest)

    def finish(self, session: Session, interest_id: int) -> None:
        if not self.mute:
            super().finish(session, interest_id)


@fault("ZI-070", does="sends D_FINAL before the last declaration of a long snapshot")
class FinalBeforeTheLast(Router):
    # Short snapshots are right, so that only a case with many entities sees it.
    long = 100

    def on_interest(self, session: Session, interest: Interest) -> None:
        self.held: list[Entity] = []
        super().on_interest(session, interest)
        for entity in self.held:
            self.advertise(session, entity, interest.id)

    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        found = super().snapshot(session, asked)
        self.held = found[self.long :][-1:]
        return found[: len(found) - len(self.held)]


@fault("ZI-071", does="says D_FINAL again when the interest is ended")
class FinalAtTheEnd(Router):
    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        asked = session.interests.get(message.id)
        super().on_interest_final(session, message)
        if asked is not None and asked.mode is Mode.CURRENT_FUTURE:
            self.finish(session, message.id)


@fault("ZI-072", does="announces updates under the id of the interest")
class UpdatesUnderInterestId(Router):
    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        live = [asked.id for asked in session.interests.values() if asked.mode in LIVE]
        super().declare(session, body, live[0] if interest_id is None and live else interest_id)


@fault("ZI-072", does="loses every seventh update")
class LosesUpdates(Router):
    count = 0

    def announce(self, entity: Entity) -> None:
        self.count += 1
        # Rarely enough that a case with a single update may pass.
        if self.count % 7:
            super().announce(entity)


@fault("ZI-073", does="answers all interests of one batch under the id of the first")
class OneIdForAll(Router):
    def handle(self, session: Session, events: Iterable[Event]) -> None:
        whole = list(events)
        first = next((event.id for event in whole if isinstance(event, Interest)), 0)
        same = [msgspec.structs.replace(e, id=first) if isinstance(e, Interest) else e for e in whole]
        super().handle(session, same)


@fault("ZI-074", does="declares an alias only after its first use")
class AliasAfterUse(Router):
    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        self.late: list[Declare] = []
        super().advertise(session, entity, interest_id)
        for message in self.late:
            self.send(session, message)

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        if isinstance(body, DeclareKeyExpr):
            self.late.append(Declare(body, interest_id))
        else:
            super().declare(session, body, interest_id)


@fault("ZI-075", does="begins to listen for changes only after it has heard that a long snapshot arrived")
class MissesChangesMeanwhile(Router):
    # Short answers are over before anything can change.
    long = 100

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.later: list[tuple[Session, LiveInterest]] = []

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        self.begin(session)
        super().on_message(session, message)
        for asked in list(session.interests.values()) if isinstance(message, Interest) else ():
            if asked.mode in LIVE and len(self.snapshot(session, asked)) > self.long:
                self.later.append((session, session.interests.pop(asked.id)))

    def begin(self, session: Session) -> None:
        """Let the interests of a session take effect that wait for it to speak."""
        for each, asked in self.later:
            if each is session:
                session.interests[asked.id] = asked
        self.later = [(each, asked) for each, asked in self.later if each is not session]


@fault("ZI-075", does="announces what a snapshot lists as an update as well")
class ListsTwice(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        self.live = interest.mode is Mode.CURRENT_FUTURE
        super().on_interest(session, interest)

    def advertise(self, session: Session, entity: Entity, interest_id: int | None) -> None:
        super().advertise(session, entity, interest_id)
        if interest_id is not None and self.live:
            super().advertise(session, entity, None)


@fault("ZI-076", does="answers an interest id that was used before with D_FINAL alone")
class UsedIdsAreEmpty(Router):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.used: set[tuple[int, int]] = set()

    def on_interest(self, session: Session, interest: Interest) -> None:
        if (session.link, interest.id) in self.used:
            self.finish(session, interest.id)
        else:
            super().on_interest(session, interest)
        self.used.add((session.link, interest.id))
