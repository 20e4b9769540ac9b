"""Escapes: what a terminal acts upon is spelled, what a person reads is left as it is."""

import msgspec
import pytest

from wire.escaping import all_escaped, escaped

UNSEEN = {
    "\x1b[2J": "\\u001b[2J",
    "a\x07": "a\\u0007",
    "\u202eevil": "\\u202eevil",
    "\x9b1m": "\\u009b1m",
    "\r": "\\u000d",
}


class Said(msgspec.Struct, frozen=True):
    what: str
    more: tuple[str, ...] = ()


@pytest.mark.parametrize("text", UNSEEN)
def test_what_terminals_act_upon_is_spelled(text: str) -> None:
    assert escaped(text) == UNSEEN[text]
    told = all_escaped(Said(text, (text, "plain")))
    assert told.more[1] == "plain"
    assert all(each.isprintable() for each in (told.what, *told.more))


@pytest.mark.parametrize(
    "text", ["", "two\nlines\tand a tab", "Grüße, 世界 😀", '"\\u001b" with backslashes \\', "\\x1b"]
)
def test_what_people_read_is_left(text: str) -> None:
    assert escaped(text) == text
    said = Said(text)
    assert all_escaped(said) is said


def test_spelled_and_unspelled_side_by_side() -> None:
    assert all_escaped(Said('\\u001b \x1b "\u202e" \\')).what == '\\u001b \\u001b "\\u202e" \\'
