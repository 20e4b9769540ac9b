"""The engine ``python`` of languages: what a reader and a writer by hand give, with the refusals that all engines give.

How a language is declared stands in ``wire/kinds/language.py``.
"""

from typing import Any, NoReturn

from wire.constructs import Grammar, encoded
from wire.errors import EncodeError, Reason
from wire.kinds.language import InLanguage, TextFrame, Unread
from wire.kinds.limited import LimitedTo
from wire.runtime import Codec, Refusal


def by_hand(grammar: Grammar, layout: str) -> Codec:
    """Return the engine ``python`` of a language, or of one whose frames are limited."""
    language = grammar.content if isinstance(grammar, LimitedTo) else grammar
    assert isinstance(language, InLanguage)
    most = grammar.size if isinstance(grammar, LimitedTo) else None
    read, write = language.by_hand.read, language.by_hand.write

    def refuse(reason: Reason, offset: int, data: bytes, refuse_overlong: bool) -> NoReturn:
        refusal = Refusal(reason, offset)
        refusal.frame = layout, data, refuse_overlong
        raise refusal

    def decode(data: bytes, refuse_overlong: bool = False) -> Any:
        if most is not None and len(data) > most:
            refuse(Reason.TOO_LONG, most, data, refuse_overlong)
        frame = TextFrame(data)
        offset, whole = len(frame.text), False
        try:
            value = read(frame.text)
        except Unread as unread:
            offset, whole = unread.offset, unread.whole
        else:
            if not frame.spoiled:
                return value
        where, why = frame.fault(offset, whole)
        refuse(why, where, data, refuse_overlong)

    def encode(value: Any) -> bytes:
        data = encoded(write(value), "")
        if most is not None and len(data) > most:
            raise EncodeError(f"(frame): {len(data)} bytes, at most {most} fit")
        return data

    return Codec(decode, encode)
