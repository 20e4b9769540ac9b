"""Moves that are the same in every protocol: sessions open and end, and several of them send at once.

What a session sends is the protocol's own: a ``Struct`` with ``who`` sends, that prints as calls of the driver's verbs.
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

SHOWN = 8
"""Messages of one session that are shown: a hundred at once would fill the screen."""

SendsT = TypeVar("SendsT")


class SessionOpens(msgspec.Struct, frozen=True):
    """A session is opened."""

    who: str

    def __str__(self) -> str:
        return f"{self.who} = node.session()"


class SessionEnds(msgspec.Struct, frozen=True):
    """A session ends; ``verb`` is the driver's: it says so, or its link is cut or reset."""

    who: str
    verb: str = "close"

    def __str__(self) -> str:
        return f"{self.who}.{self.verb}()"


class Together(msgspec.Struct, Generic[SendsT], frozen=True):
    """Several sessions send before anybody looks what came of it: the node may take them in any order."""

    sends: tuple[SendsT, ...]

    def __str__(self) -> str:
        return "at once: " + "; ".join(str(each) for each in self.sends)


def calls(who: str, sent: Sequence[object], how: str) -> str:
    """Return the calls that send something, with ``how`` where there are several; of very many some, and the number."""
    shown = sent if len(sent) <= SHOWN else (*sent[:2], sent[-1])
    text = "; ".join(f"{who}.{each}" for each in shown)
    if len(sent) > SHOWN:
        return f"{how}: {len(sent)} messages like {text}"
    return f"{how}: {text}" if len(sent) > 1 else text
