"""Drawing: fresh tests out of what a target says, and tests made of others that came to something new."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from fuzz.net.moves import EndsSession, FuzzMove, Listens, NetworkTest, Opens, Says, WaitsAWhile, sessions_of
from fuzz.net.targets import ChainedTarget, CommandedTarget, FuzzTarget, SerialTarget, StagedTarget
from harness.links.framing import Framing
from vectors.mutation import Mutator
from vectors.sampling import Sampler
from wire.catalogue import layout as find

NAMES = "abcdefgh"
"""Sessions of a test: what needs more of them, crowds."""

LONGEST = 60
"""Moves that a test has at most."""

MOST_AT_ONCE = 20
"""Moves that are drawn anew at most, of a test or behind what was kept."""

FURTHER = 0.5
"""What share of the kept tests is gone on with anew, where they came to: others are changed somewhere."""

PAUSES = (0.001, 0.01, 0.05)

USUAL = 0.25
"""What share of the messages is broken somewhere, or is anything that the layout allows."""

TEMPERS = (0.0, 0.04, 0.1, USUAL, 0.5)
"""The shares that tests have, each its own: who says one broken thing is mostly not heard any more."""

TAME = 8.0
"""By how much more often than tests do harm new ones are calmer: known harm would hide what is not known."""

TAMEST = 0.7
"""What share of them is calmer at most: in calm tests hardly any text is broken."""

MUTATED = 0.2
"""What share of the messages that are changed is mutated at least, in the calmest tests: others say something else."""

USUAL_WAY = 0.75
"""What share of the sessions are opened in the usual way."""

SERIAL = 0.03
"""What share of what is said is much that is alike, where there is such."""

CHAINED = 0.2
"""What share of the frames belong together, where there are such."""

COMMANDED = 0.08
"""What share of the moves tells the implementation to act, where it can be told to."""


class TestDrawer:
    """Draws tests for a target, at random from ``random``; ``framing`` is that of its links, None for datagrams."""

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(self, target: FuzzTarget, random: Random, framing: Framing | None) -> None:
        self.target = target
        self.random = random
        layout = find(target.layout)
        self._sampler, self._mutator = Sampler(layout, random), Mutator(layout, random)
        self._framing = framing
        self._commanded = target if isinstance(target, CommandedTarget) else None
        self._serial = target if isinstance(target, SerialTarget) else None
        self._chained = target if isinstance(target, ChainedTarget) else None
        self._staging = target if isinstance(target, StagedTarget) else None
        self._drawn = 0
        self.harmful = 0.0
        """What share of the last tests did harm."""
        self.temper = USUAL
        """What share of the messages is broken in the test that is drawn."""
        self._recent: list[bytes] = [self._sampler.frame() for _ in range(8)]
        """Messages that were said of late, to splice with and to say again."""

    # --- what is said -----------------------------------------------------------------------------------------

    def message(self) -> bytes:
        """Return a message: mostly one that somebody might send, else one that is broken somewhere."""
        random = self.random
        if random.random() >= self.temper:
            data = self.target.message(random)
        else:
            kind = random.random()
            if kind < 0.4:
                data = self.target.text(random)
            elif kind < 0.5:
                data = self._sampler.frame()
            elif kind < 0.92 or not self._recent:
                data, _ = self._mutator.mutate(self.target.message(random), self._recent)
            else:
                data = random.choice(self._recent)
        self._recent[random.randrange(len(self._recent))] = data
        return data

    def says(self, who: str) -> Says:
        """Return a move in which a session says something."""
        random = self.random
        if self._serial is not None and random.random() < SERIAL:
            return Says(who, tuple(self._serial.series(random)))
        kind = random.random()
        if kind < 0.90 or self.temper == 0.0:
            count = random.choice((1, 1, 1, 1, 1, 2, 2, 3, 5))
            cut = random.choice((1, 3, 16, 100)) if random.random() < 0.04 else 0
            return Says(who, tuple(self.message() for _ in range(count)), "message", cut)
        if kind < 0.96 or self._framing is None:
            chained = self._chained if random.random() < CHAINED else None
            return Says(who, (self.target.frame(random),) if chained is None else tuple(chained.chain(random)), "frame")
        return Says(who, (self.raw(),), "raw", random.choice((0, 0, 1, 2, 7)))

    def raw(self) -> bytes:
        """Return bytes of the stream: frames that are joined, cut, or lied about in front."""
        random = self.random
        assert self._framing is not None
        data = b"".join(self._framing.encode(self.target.frame(random)) for _ in range(random.choice((1, 1, 2, 5))))
        match random.randrange(4):
            case 0:
                return data
            case 1:
                return data[: random.randrange(len(data) + 1)]
            case 2:
                at = random.randrange(len(data))
                return data[:at] + random.randbytes(1) + data[at + 1 :]
            case _:
                return random.randbytes(random.choice((1, 2, 3, 8, 64)))

    # --- fresh tests ------------------------------------------------------------------------------------------

    def test(self) -> NetworkTest:
        """Return a fresh test."""
        self._choose_temper()
        return self._staged(tuple(self._go_further([self.opens(NAMES[0])], [NAMES[0]])))

    def _go_further(self, moves: list[FuzzMove], here: list[str]) -> list[FuzzMove]:
        """Return moves with more of them, at random, behind those that there are; ``here`` are the open sessions."""
        random = self.random
        count = random.choice((1, 1, 2, 2, 2, 3, 4))
        for _ in range(random.choice((2, 4, 6, 8, 12, MOST_AT_ONCE))):
            if self._commanded is not None and random.random() < COMMANDED:
                moves.append(self._commanded.command(random))
            kind = random.random()
            if len(here) < count and kind < 0.25:
                who = next(name for name in NAMES if name not in here)
                here.append(who)
                moves.append(self.opens(who))
            elif kind < 0.82 and here:
                moves.append(self.says(random.choice(here)))
            elif kind < 0.93 and here:
                moves.append(Listens(random.choice(here)))
            elif kind < 0.98 and here:
                who = here.pop(random.randrange(len(here)))
                moves.append(EndsSession(who, random.choice(("close", "drop", "abort"))))
            elif kind >= 0.98:
                moves.append(WaitsAWhile(random.choice(PAUSES)))
            if not here:
                here.append(NAMES[0])
                moves.append(self.opens(NAMES[0]))
        return moves

    def _staged(self, test: NetworkTest) -> NetworkTest:
        self._drawn += 1
        return test if self._staging is None else self._staging.staged(test, self._drawn)

    def _choose_temper(self) -> None:
        calm = self.random.random() < min(TAMEST, TAME * self.harmful)
        self.temper = self.random.choice(TEMPERS[: len(TEMPERS) // 2] if calm else TEMPERS)

    def opens(self, who: str) -> Opens:
        """Return the opening of a session: mostly in the usual way."""
        ways = self.target.ways
        return Opens(who, "" if self.random.random() < USUAL_WAY else self.random.choice(ways))

    # --- tests of tests ---------------------------------------------------------------------------------------

    def changed(self, test: NetworkTest, other: NetworkTest) -> NetworkTest:
        """Return a test in which something is different, or which goes on as another one does."""
        moves = list(test)
        self._choose_temper()
        if self.random.random() < FURTHER:
            most = LONGEST - MOST_AT_ONCE
            del moves[self.random.randint(min(len(moves) // 2, most), most) :]
            return self._staged(tuple(self._go_further(moves, _open_in(moves))[:LONGEST]))
        for _ in range(self.random.choice((1, 1, 2, 2, 3, 5))):
            change = self.random.choice(_CHANGES)
            change(self, moves, other)
        return self._staged(tuple(moves[:LONGEST])) if moves else self.test()

    def _change_message(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        places = [place for place, move in enumerate(moves) if isinstance(move, Says) and move.data]
        if not places:
            return
        place = self.random.choice(places)
        move: Any = moves[place]
        data = list(move.data)
        at = self.random.randrange(len(data))
        if move.level == "message" and self.random.random() < max(MUTATED, self.temper):
            data[at], _ = self._mutator.mutate(data[at], self._recent)
        else:
            data[at] = self.message() if move.level == "message" else self.target.frame(self.random)
        moves[place] = msgspec.structs.replace(move, data=tuple(data))

    def _say_more(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        who = self._somebody(moves)
        moves.insert(self.random.randrange(1, len(moves) + 1) if moves else 0, self.says(who))

    def _command(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        if self._commanded is not None:
            command = self._commanded.command(self.random)
            moves.insert(self.random.randrange(1, len(moves) + 1) if moves else 0, command)
        else:
            self._say_more(moves, other)

    def _say_again(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        said = [move for move in moves if isinstance(move, Says)]
        if said:
            move = self.random.choice(said)
            again = msgspec.structs.replace(move, who=self._somebody(moves))
            moves.insert(self.random.randrange(1, len(moves) + 1), again)

    def _leave_out(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        if len(moves) > 2:
            start = self.random.randrange(1, len(moves))
            del moves[start : start + self.random.choice((1, 1, 2, 4))]

    def _exchange(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        if len(moves) > 2:
            one, two = self.random.randrange(1, len(moves)), self.random.randrange(1, len(moves))
            moves[one], moves[two] = moves[two], moves[one]

    def _somebody_else(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        places = [place for place, move in enumerate(moves) if isinstance(move, Says)]
        if places:
            place = self.random.choice(places)
            moves[place] = msgspec.structs.replace(moves[place], who=self._somebody(moves))

    def _go_on(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        if other:
            del moves[self.random.randrange(1, len(moves) + 1) if moves else 0 :]
            moves += other[self.random.randrange(len(other)) :]

    def _repeat(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        said = [place for place, move in enumerate(moves) if isinstance(move, Says)]
        if said:
            place = self.random.choice(said)
            moves[place:place] = [moves[place]] * self.random.choice((1, 2, 5, 10))

    def _come_and_go(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        who = self._somebody(moves)
        place = self.random.randrange(1, len(moves) + 1) if moves else 0
        ends = EndsSession(who, self.random.choice(("close", "drop", "abort")))
        moves[place:place] = [ends, self.opens(who)] if self.random.random() < 0.6 else [ends]

    def _listen(self, moves: list[FuzzMove], other: NetworkTest) -> None:
        moves.insert(self.random.randrange(1, len(moves) + 1) if moves else 0, Listens(self._somebody(moves)))

    def _somebody(self, moves: Sequence[FuzzMove]) -> str:
        """Return a session of a test, or one that is new to it."""
        there = sessions_of(tuple(moves)) or [NAMES[0]]
        return self.random.choice(there)


def _open_in(moves: Sequence[FuzzMove]) -> list[str]:
    """Return the sessions that are open behind some moves, as far as the tester has not ended them."""
    there: dict[str, None] = {}
    for move in moves:
        match move:
            case Opens(who):
                there[who] = None
            case EndsSession(who):
                there.pop(who, None)
    return list(there)


_Change = Callable[[TestDrawer, list[FuzzMove], NetworkTest], None]

_CHANGES: tuple[_Change, ...] = (
    *(TestDrawer._change_message,) * 6,
    *(TestDrawer._say_more,) * 3,
    *(TestDrawer._go_on,) * 2,
    *(TestDrawer._say_again, TestDrawer._leave_out, TestDrawer._exchange, TestDrawer._somebody_else),
    *(TestDrawer._repeat, TestDrawer._come_and_go, TestDrawer._listen),
    TestDrawer._command,
)
"""What is done to a test, in the proportions in which it is."""
