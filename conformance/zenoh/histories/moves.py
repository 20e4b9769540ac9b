"""Moves: what happens in one step of a history."""

import msgspec

from conformance.zenoh.histories.words import Utterance

SHOWN = 8
"""Words of a batch that are shown: one of a hundred would fill the screen."""


class Opens(msgspec.Struct, frozen=True):
    """A session is opened."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} = node.session()"


class Leaves(msgspec.Struct, frozen=True):
    """A session ends, with CLOSE or by its link alone."""

    who: str
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.who}.{'drop' if self.cut else 'close'}()"


class Says(msgspec.Struct, frozen=True):
    """A session says some words: in one batch, or each in fragments of so many bytes."""

    who: str
    words: tuple[Utterance, ...]
    fragments: int = 0

    def __str__(self) -> str:
        shown = self.words if len(self.words) <= SHOWN else (*self.words[:2], self.words[-1])
        said = "; ".join(f"{self.who}.{word}" for word in shown)
        if len(self.words) > SHOWN:
            said = f"{len(self.words)} messages like {said}"
        if self.fragments:
            return f"in fragments of {self.fragments} bytes: {said}"
        return f"in one batch: {said}" if len(self.words) > 1 else said


class Together(msgspec.Struct, frozen=True):
    """Several sessions speak before anybody looks what came of it: the node may take them in any order."""

    said: tuple[Says, ...]

    def __str__(self) -> str:
        return "at once: " + "; ".join(str(each) for each in self.said)


class Doubtful(msgspec.Struct, frozen=True):
    """A guest says words that the document leaves some room for, and leaves; afterwards all is as it was.

    Else ``rule`` is broken. Meanwhile no more may show than ``may``, as kinds and keys, and of these as many as
    ``counts`` has it (empty: any number), unless the node ends the session. ``asked`` is the interest that has to be
    answered, if any, by all that there is if it may list that (``all``). With ``listens`` the guest has an interest in
    the tokens on ``guest/**``, which has to go on.
    """

    words: tuple[Utterance, ...]
    rule: str
    may: tuple[tuple[str, str], ...] = ()
    counts: tuple[int, ...] = ()
    asked: int | None = None
    all: bool = False
    listens: bool = False

    def __str__(self) -> str:
        said = "; ".join(f"guest.{word}" for word in self.words)
        return f"guest = node.session(); {said}; guest.close()"


Move = Opens | Leaves | Says | Together | Doubtful
