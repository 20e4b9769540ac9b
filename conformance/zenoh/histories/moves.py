"""Moves: what happens in one step of a history."""

import msgspec

from conformance.histories.moves import SessionEnds, SessionOpens, Together, calls
from conformance.zenoh.histories.actions import Action


class Sends(msgspec.Struct, frozen=True):
    """A session sends some messages: in one batch, or each in fragments of so many bytes."""

    who: str
    actions: tuple[Action, ...]
    fragments: int = 0

    def __str__(self) -> str:
        if self.fragments:
            return f"in fragments of {self.fragments} bytes: {calls(self.who, self.actions, 'one by one')}"
        return calls(self.who, self.actions, "in one batch")


class ClientCommands(Sends, frozen=True):
    """A client is commanded by control lines, one after the other, to declare and to ask."""

    def __str__(self) -> str:
        return calls(self.who, self.actions, "one after the other")


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


Move = SessionOpens | SessionEnds | Sends | Together[Sends] | Unspecified
