"""Messages of Zenoh at random: about few ids and few keys, so that they have to do with each other."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from random import Random

import msgspec

from fuzz.net.texts import LOOKALIKES, NUMEROUS, TextLanguage
from wire.zenoh.grammar_extensions import QUERYABLE_INFO
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import (
    Close,
    Fragment,
    Frame,
    Init,
    KeepAlive,
    Open,
    Sizes,
    TransportMessage,
    WhatAmI,
    write_batch,
    write_network,
)

KEYS = TextLanguage(
    "/",
    ("*", "**", "a$*"),
    ("$", "$*", "#", "?", "//", "$*$*", "***", "*$*", "@", "**/**"),
    foreign=(*LOOKALIKES, "\U0001f980"),
)

IDS = (1, 1, 1, 1, 2, 2, 3, 0, 4)
"""Of whatever has ids."""
BORDERS = {16: (0, 0x7F, 0x80, 0x3FFF, 0x4000, 0x7FFF, 0xFFFF), 32: (0, 0x7F, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF)}
"""Numbers at which a type may end, by the bits that a field has."""
KINDS = tuple(EntityKind)
PLACEHOLDER = "\x7f"
BEYOND = 80_000
"""Bytes of the longest key that aliases are joined to: no batch holds it, nor does a length of 16 bits say it."""


class Speech:
    """What a session may say, at random."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def message(self) -> NetworkMessage:
        """Return a message as somebody might send it who speaks the protocol well."""
        random = self.random
        match random.choices(range(7), (6, 2, 12, 2, 1, 1, 1))[0]:
            case 0:
                return self.interest()
            case 1:
                return InterestFinal(self.id(), self.extensions())
            case 2:
                return Declare(self.declaration(), None, self.extensions())
            case 3:
                return Push(self.key(), random.choice((b"", b"x", b"payload", None)), self.extensions())
            case 4:
                return Request(self.id(), self.key(), random.choice(("", "", "a=b;c")), self.extensions())
            case 5:
                return Response(self.id(), self.key(), b"answer", random.random() < 0.2)
            case _:
                return ResponseFinal(self.id())

    def interest(self) -> Interest:
        """Return an INTEREST."""
        random = self.random
        options = Options(random.choice((1, 2, 4, 8, 2, 8, 14, random.randrange(16))))
        key = self.key() if random.random() < 0.6 else None
        if key is not None:
            options |= Options.R
            options |= Options.N if key.suffix is not None else Options(0)
            options |= Options.M if key.sender else Options(0)
        if random.random() < 0.25:
            options |= Options.A
        mode = random.choice((Mode.CURRENT, Mode.FUTURE, Mode.CURRENT_FUTURE))
        return Interest(self.id(), mode, options, key, self.extensions())

    def declaration(self) -> Declaration:
        """Return what a DECLARE declares."""
        random = self.random
        match random.choices(range(5), (3, 2, 6, 3, 1))[0]:
            case 0:
                return DeclareKeyExpr(self.expr_id(), self.key())
            case 1:
                return UndeclareKeyExpr(self.expr_id())
            case 2:
                kind = random.choice(KINDS)
                info = (Extension(QUERYABLE_INFO.id, random.choice((0, 1, 0x101, 0xFFFF01))),)
                return DeclareEntity(kind, self.id(), self.key(), info if random.random() < 0.2 else self.extensions())
            case 3:
                extension = wire_expr_extension(self.key(), deployed=random.random() < 0.3)
                return UndeclareEntity(random.choice(KINDS), self.id(), (extension,) if random.random() < 0.6 else ())
            case _:
                return DeclareFinal()

    def key(self) -> WireExpr:
        """Return a key: written out, by an alias, or both."""
        random = self.random
        if random.random() < 0.6:
            return WireExpr(KEYS.text(random))
        suffix = random.choice((None, "", "/" + KEYS.text(random), KEYS.text(random)))
        return WireExpr(suffix, self.expr_id(), random.random() < 0.85)

    def expr_id(self) -> int:
        """Return a number of an alias."""
        return self.random.choice((1, 1, 2, 2, 3)) if self.random.random() < 0.95 else self.random.choice(BORDERS[16])

    def id(self) -> int:
        """Return a number of something else."""
        return self.random.choice(IDS) if self.random.random() < 0.96 else self.random.choice(BORDERS[32])

    def extensions(self) -> Extensions:
        """Return extensions: mostly none."""
        random = self.random
        if random.random() < 0.9:
            return ()
        value = random.choice((None, 0, 1, 0xFF, (1 << 64) - 1, b"", b"\0", b"x" * random.choice((1, 15, 64, 300))))
        return tuple(
            Extension(random.randrange(1, 16), value, random.random() < 0.2) for _ in range(random.choice((1, 1, 2, 5)))
        )

    # --- frames -----------------------------------------------------------------------------------------------

    def transport_message(self) -> TransportMessage:
        """Return a message of the transport, whatever the session's state is."""
        random = self.random
        sn = random.choice((0, 1, 2, 3, 100, 0x0FFF_FFFF, 0x1000_0000, 0xFFFF_FFFF))
        cookie = random.choice((None, b"", b"cookie", bytes(64)))
        match random.randrange(6):
            case 0:
                sizes = random.choice((None, Sizes(), Sizes(0, 0, 1), Sizes(3, 3, 65535)))
                return Init(random.choice(tuple(WhatAmI)), random.randbytes(random.choice((1, 8, 16))), sizes, cookie)
            case 1:
                return Open(random.choice((0, 1, 10_000, (1 << 32) - 1)), sn, cookie)
            case 2:
                return Close(random.choice((0, 1, 2, 5, 255)), random.random() < 0.5)
            case 3:
                return KeepAlive()
            case 4:
                return Frame(sn, tuple(self.message() for _ in range(random.randrange(3))), random.random() < 0.7)
            case _:
                data = write_network(self.message())
                return Fragment(
                    sn, data[: random.randrange(len(data) + 1)], random.random() < 0.7, random.random() < 0.7
                )


def message(random: Random) -> bytes:
    """Return a network message."""
    return write_network(Speech(random).message())


def chain(random: Random) -> list[bytes]:
    """Return batches with the fragments of a message, or of none: some may hold nothing, and one may be missing."""
    data = write_network(Speech(random).message()) if random.random() < 0.7 else b""
    cuts = sorted(random.choices(range(len(data) + 1), k=random.choice((1, 1, 2, 3, 8))))
    # From anywhere: what is ahead of all that was sent is taken for new.
    first, reliable = random.choice((0, 1, 2, random.randrange(1 << 20))), random.random() < 0.8
    parts = [data[start:end] for start, end in pairwise((0, *cuts, len(data)))]
    batches = [
        write_batch([Fragment(first + place, part, place < len(cuts), reliable)]) for place, part in enumerate(parts)
    ]
    if random.random() < 0.3:
        del batches[random.randrange(len(batches))]
    return batches


def frame(random: Random) -> bytes:
    """Return a batch that no session would send now."""
    speech = Speech(random)
    return write_batch([speech.transport_message() for _ in range(random.choice((1, 1, 1, 2, 3)))])


def text(random: Random) -> bytes:
    """Return a network message with a key that is broken, written out or joined to an alias."""
    speech, broken = Speech(random), KEYS.broken(random)[:60_000]
    scope = random.choice((0, 0, 0, 1, 2))
    # A text of the layout cannot be broken as bytes can be: so another stands for it, of the same length.
    key = WireExpr(PLACEHOLDER * len(broken), scope, random.random() < 0.9)
    kind = random.choice(KINDS)
    made: NetworkMessage
    match random.choices(range(6), (3, 5, 3, 1, 1, 1))[0]:
        case 0:
            options = Options(random.choice((2, 4, 8, 14))) | Options.R | Options.N
            made = Interest(speech.id(), Mode.CURRENT_FUTURE, options | (Options.M if key.sender else Options(0)), key)
        case 1:
            made = Declare(DeclareEntity(kind, speech.id(), key))
        case 2:
            made = Declare(DeclareKeyExpr(speech.expr_id(), key))
        case 3:
            made = Declare(UndeclareEntity(kind, speech.id(), (wire_expr_extension(key),)))
        case 4:
            made = Push(key, b"x")
        case _:
            made = Request(speech.id(), key)
    data, placeholder = write_network(made), PLACEHOLDER.encode() * len(broken)
    at = data.rfind(placeholder)
    return data[:at] + broken + data[at + len(broken) :]


def series(random: Random) -> list[bytes]:
    """Return messages that are alike but for the number that each gives, or that each stands on."""
    speech = Speech(random)
    count, key, kind = random.choice(NUMEROUS), speech.key(), random.choice(KINDS)
    made: Iterable[NetworkMessage]
    match random.choices(range(4), (3, 1, 1, 1))[0]:
        case 0:
            kinds = (kind,) if random.random() < 0.7 else KINDS
            made = (Declare(DeclareEntity(kinds[each % len(kinds)], each, key)) for each in range(1, count + 1))
        case 1:
            interest = speech.interest()
            made = (msgspec.structs.replace(interest, id=each) for each in range(1, count + 1))
        case 2:
            made = (Declare(DeclareKeyExpr(each, key)) for each in range(1, count + 1))
        case _:
            made = _growing_aliases(count, random)
    return [write_network(each) for each in made]


def _growing_aliases(count: int, random: Random) -> Iterator[NetworkMessage]:
    """Yield aliases that stand on each other, each longer than the one before it, and a use of the last."""
    suffix = random.choice(("/a", "/**", "a" * 200, "/" + "b" * 4000))
    count = min(count, BEYOND // len(suffix))
    yield Declare(DeclareKeyExpr(1, WireExpr("a")))
    for each in range(1, count):
        yield Declare(DeclareKeyExpr(each + 1, WireExpr(suffix, each)))
    yield Declare(DeclareEntity(random.choice(KINDS), 1, WireExpr(None, count)))
