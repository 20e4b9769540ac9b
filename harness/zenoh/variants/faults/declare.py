"""Faults against zenoh-declarations, "DECLARE Message (0x1E)" up to "Declaration Sub-Message IDs"."""

import msgspec

from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Session
from harness.zenoh.tester.session import BARRIER
from harness.zenoh.variants.registry import fault
from wire.primitives import vle
from wire.varints import unspell
from wire.zenoh.values import (
    Declaration,
    Declare,
    Extension,
    Extensions,
    Interest,
    NetworkMessage,
    UndeclareEntity,
    unknown_mandatory,
)
from wire.zenoh.values_transport import write_network


class Mending(Router):
    """Reads a batch as something else than what it says."""

    def mend(self, frame: bytes) -> bytes:
        """Return what is read."""
        return frame

    def received(self, link: int, frame: bytes, now: float) -> None:
        """Take one batch, mended."""
        super().received(link, self.mend(frame), now)


class DecoratesDeclarations(Router):
    """Adds extensions to every DECLARE."""

    extensions: Extensions = ()

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        """Send one declaration, with the extensions."""
        self.send(session, Declare(body, interest_id, self.extensions))


@fault("ZD-002", does="puts two declarations into one DECLARE")
class TwoInOne(Router):
    def on_interest(self, session: Session, interest: Interest) -> None:
        asked = self.asked(session, interest)
        # Of barriers nothing is gathered: the driver waits for their D_FINAL.
        self.gather = interest.id < BARRIER and asked is not None and len(self.snapshot(session, asked)) > 1
        self.gathered = b""
        super().on_interest(session, interest)
        if self.gathered:
            session.transport.send_bytes([self.gathered])

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        spelled = write_network(Declare(body, interest_id))
        if interest_id is None or not getattr(self, "gather", False):
            super().declare(session, body, interest_id)
        elif self.gathered:
            # Without the header and the id, which the first declaration has brought already.
            self.gathered += spelled[1 + len(vle(interest_id)) :]
        else:
            self.gathered = spelled


@fault("ZD-005", does="cuts an interest_id to 32 bits")
class InterestIdWrapsAround(Mending):
    def mend(self, frame: bytes) -> bytes:
        # 2**32 before a body, cut to 0: only where the case sends it.
        return frame.replace(b"\x3e\x80\x80\x80\x80\x10", b"\x3e\x00")


@fault("ZD-006", does="sends a D_FINAL under an id that nobody asked with")
class AnswersNobody(Router):
    def finish(self, session: Session, interest_id: int) -> None:
        super().finish(session, interest_id)
        if interest_id < BARRIER:
            # An id that no play asks with.
            super().finish(session, 99_999)


@fault("ZD-009", does="takes a DECLARE without a body for the withdrawal of everything")
class EmptyWithdrawsAll(Router):
    def received(self, link: int, frame: bytes, now: float) -> None:
        session = self.sessions[link]
        # The two endings that a DECLARE without a body has in the case.
        if session.opened and frame.endswith((b"\x1e", b"\x3e\x07")):
            for entity in list(session.entities.values()):
                del session.entities[entity.kind, entity.id]
                self.withdraw(entity)
        else:
            super().received(link, frame, now)


@fault("ZD-011", does="takes a reserved bit of an undeclaration for: all of this kind")
class ReservedMeansAll(Router):
    def on_undeclare_entity(self, session: Session, body: UndeclareEntity) -> None:
        for kind, id in [each for each in session.entities if body.reserved and each[0] is body.kind]:
            super().on_undeclare_entity(session, UndeclareEntity(kind, id))
        super().on_undeclare_entity(session, body)


@fault("ZD-012", does="sends the QoS of a DECLARE as a buffer")
class QosAsBuffer(DecoratesDeclarations):
    extensions = (Extension(0x1, b"\x05"),)


@fault("ZD-013", does="sends the Timestamp of a DECLARE as a number")
class TimestampAsNumber(DecoratesDeclarations):
    extensions = (Extension(0x2, 5),)


@fault("ZD-014", does="sends the NodeId of a DECLARE without the mandatory mark")
class NodeIdUnmarked(DecoratesDeclarations):
    extensions = (Extension(0x3, 0),)


@fault("ZD-015", does="refuses a declaration with an extension that it does not know, marked or not")
class RefusesUnknownInDeclare(Router):
    def unknown_extension(self, message: NetworkMessage) -> Extension | None:
        if isinstance(message, Declare):
            every = (*message.extensions, *message.body.extensions)
            # The one id that the cases use for what nobody knows.
            marked = [msgspec.structs.replace(each, mandatory=True) for each in every if each.id == 0xA]
            return unknown_mandatory("DECLARE", marked) or super().unknown_extension(message)
        return super().unknown_extension(message)


@fault("ZD-026", does="looks at three bits of a declaration's id")
class ThreeBitIds(Mending):
    def mend(self, frame: bytes) -> bytes:
        # The first message of a FRAME without extensions: what looks like one further on may be part of a key.
        if len(frame) < 2 or frame[0] & 0x9F != 0x05:
            return frame
        place = unspell(frame, 1)[1] + 1
        # 68 to 77: N and M with the ids 8 to 23, of which three bits are left.
        if place + 1 < len(frame) and frame[place - 1] == 0x1E and 0x68 <= frame[place] <= 0x77:
            return frame[:place] + bytes([frame[place] & 0xE7]) + frame[place + 1 :]
        return frame
