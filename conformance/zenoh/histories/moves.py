"""Moves: what happens in one step of a history."""

import msgspec

from conformance.zenoh.histories.actions import Action

SHOWN = 8
"""Messages of a batch that are shown: one of a hundred would fill the screen."""


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


class Sends(msgspec.Struct, frozen=True):
    """A session sends some messages: in one batch, or each in fragments of so many bytes."""

    who: str
    actions: tuple[Action, ...]
    fragments: int = 0

    def __str__(self) -> str:
        shown = self.actions if len(self.actions) <= SHOWN else (*self.actions[:2], self.actions[-1])
        sends = "; ".join(f"{self.who}.{action}" for action in shown)
        if len(self.actions) > SHOWN:
            sends = f"{len(self.actions)} messages like {sends}"
        if self.fragments:
            return f"in fragments of {self.fragments} bytes: {sends}"
        return f"in one batch: {sends}" if len(self.actions) > 1 else sends


class Together(msgspec.Struct, frozen=True):
    """Several sessions send before anybody looks what came of it: the node may take them in any order."""

    sends: tuple[Sends, ...]

    def __str__(self) -> str:
        return "at once: " + "; ".join(str(each) for each in self.sends)


class Unspecified(msgspec.Struct, frozen=True):
    """A guest sends what the document leaves some room for, and leaves; afterwards all is as it was.

    Else ``rule`` is broken. Meanwhile no more may show than ``may``, as kinds and keys, and of these as many as
    ``counts`` has it (empty: any number), unless the node ends the session. ``asked`` is the interest that has to be
    answered, if any, by all that there is if it may list that (``all``). With ``listens`` the guest has an interest in
    the tokens on ``guest/**``, which has to go on.
    """

    actions: tuple[Action, ...]
    rule: str
    may: tuple[tuple[str, str], ...] = ()
    counts: tuple[int, ...] = ()
    asked: int | None = None
    all: bool = False
    listens: bool = False

    def __str__(self) -> str:
        sends = "; ".join(f"guest.{action}" for action in self.actions)
        return f"guest = node.session(); {sends}; guest.close()"


Move = Opens | Leaves | Sends | Together | Unspecified
