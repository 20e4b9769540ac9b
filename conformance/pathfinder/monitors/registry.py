"""Where the Pathfinder monitors are collected, and how they say which messages they look at."""

from collections.abc import Hashable
from typing import Any

from conformance.monitors import KEPT, Monitors, Observation, Selector, SessionEnd, broken
from conformance.pathfinder.monitors.forms import fields_of
from conformance.pathfinder.monitors.served import ENDS, ServedRequest
from conformance.pathfinder.monitors.state import SessionState
from harness.trace import Direction

MONITORS = Monitors(SessionState)
monitor = MONITORS

Words = str | tuple[str, ...]
"""A word, or several of which each will do; no words are any word."""


def _words(given: Words) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given


def spoken(
    commands: Words = (), types: Words = (), matches: Words = (), *, sound: bool | None = None, role: str = ""
) -> Selector:
    """Select what the implementation said, in whichever role, by what it calls itself.

    ``sound``: whether it is a message of the document, if that matters. Of one that is not, the match type is not
    known, and those of its words that the document has not are empty.
    """
    wanted = _words(commands), _words(types), _words(matches)

    def selects(its: Hashable, direction: Direction, form: Any) -> bool:
        # The form of a message is words; those of requests and of the end have, or are, a class.
        is_message = isinstance(form, tuple) and isinstance(form[0], str)
        if direction is not Direction.RECEIVED or role not in ("", its) or not is_message:
            return False
        *said, is_sound = form
        return sound in (None, is_sound) and all(
            not words or word in words for words, word in zip(wanted, said, strict=True)
        )

    return selects


def from_server(commands: Words = (), types: Words = (), matches: Words = (), *, sound: bool | None = None) -> Selector:
    """Select what the implementation said as a server."""
    return spoken(commands, types, matches, sound=sound, role="server")


def from_client(commands: Words = (), types: Words = (), *, sound: bool | None = None) -> Selector:
    """Select what the implementation said as a client."""
    return spoken(commands, types, sound=sound, role="client")


def served(*commands: str, ends: tuple[str, ...] = ("", *ENDS), once: bool | None = None) -> Selector:
    """Select the requests of some commands, each with all its answers, when an implementation is the server.

    ``ends`` are the types of the message that has ended them, empty for none; ``once``: whether that was all that
    answered, if it matters.
    """
    forms = {(ServedRequest, command, end, each) for command in commands for end in ends for each in (True, False)}

    def selects(role: Hashable, direction: Direction, form: Any) -> bool:
        return form in forms and once in (None, form[-1])

    return selects


def failed(*commands: str) -> Selector:
    """Select the requests of some commands that were ended by a fail."""
    return served(*commands, ends=("fail",))


def ended(role: str) -> Selector:
    """Select the end of a session with an implementation in a role."""

    def selects(its: Hashable, direction: Direction, form: Any) -> bool:
        return form is SessionEnd and its == role

    return selects


def with_fields(*names: str, always: bool) -> Selector:
    """Select sound messages of forms that have one of some fields: always, or where it may also be missing."""

    def selects(role: Hashable, direction: Direction, form: Any) -> bool:
        if not SOUND(role, direction, form):
            return False
        needed, possible = fields_of(form)
        return not needed.isdisjoint(names) if always else needed.isdisjoint(names) and not possible.isdisjoint(names)

    return selects


def either(*selectors: Selector) -> Selector:
    """Select what one of some selects."""

    def selects(role: Hashable, direction: Direction, form: Any) -> bool:
        return any(each(role, direction, form) for each in selectors)

    return selects


SOUND, FLAWED = spoken(sound=True), spoken(sound=False)
"""What the layout accepts, and what it does not: the same selectors for all, as those who share one cost as much as
one."""


def whether(holds: bool, entry: int, otherwise: str) -> Observation:
    """Say whether a rule is kept here, and what came if it is not."""
    return KEPT if holds else broken(entry, otherwise)
