"""Monitors of members: what may stand in a message, and what has to."""

import re

import msgspec

from conformance.monitors import KEPT, Observation, broken
from conformance.rai.monitors.registry import ANY, REFUSED, monitor, said
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import Event, RefusedMessage
from wire.errors import Reason
from wire.rai.values import AUTH, HB, START, Raw, SubStart, tail_of

COMPOUND = frozenset({"data", "subs", "subs_return"})
"""Members that are no part of the header."""

_TEXT_OR_INTEGER = re.compile(rb'".*"|-?\d+|true|false', re.DOTALL)


@monitor("RAI-092", on=ANY)
def headers_are_plain(event: Event, state: SessionState) -> Observation | None:
    """Members of the header are texts and integers, or yes and no."""
    members = msgspec.json.decode(event.message.signed, type=dict[str, Raw])
    return _odd_member(members, event.entry) or KEPT


def _odd_member(members: dict[str, Raw], entry: int) -> Observation | None:
    """Return what is wrong with the first member that is neither a text nor an integer."""
    for name, value in members.items():
        if name not in COMPOUND and not _TEXT_OR_INTEGER.fullmatch(bytes(value)):
            return broken(entry, f"{name} is {bytes(value)[:40].decode(errors='replace')}", name)
    return None


def _is_misshapen(refused: RefusedMessage) -> bool:
    """Tell whether a payload is an object of JSON all of whose members can be read, and is refused for one of them."""
    return refused.error.reason is Reason.WRONG_TYPE


@monitor("RAI-092", on=REFUSED)
def headers_are_read(refused: RefusedMessage, state: SessionState) -> Observation | None:
    """No member of the header is a fraction, null, an array or an object in the place of a text or an integer."""
    if not _is_misshapen(refused):
        return None
    try:
        members = msgspec.json.decode(refused.payload, type=dict[str, Raw])
    except msgspec.DecodeError:
        return None
    return _odd_member(members, refused.entry)


@monitor("RAI-101", on=REFUSED)
def heartbeats_are_read(refused: RefusedMessage, state: SessionState) -> Observation | None:
    """A heartbeat has time, interval and cnonce."""
    if refused.subject != HB or not _is_misshapen(refused):
        return None
    return broken(refused.entry, f"a heartbeat is none: {refused.error}")


@monitor("RAI-105", on=REFUSED, kept_by=said(SubStart))
def starts_are_read(refused: RefusedMessage, state: SessionState) -> Observation | None:
    """Members of a start hold what they may."""
    if not refused.subject.startswith(START) or not _is_misshapen(refused):
        return None
    return broken(refused.entry, f"a start is none: {refused.error}")


@monitor("RAI-167", on=REFUSED)
def auths_are_read(refused: RefusedMessage, state: SessionState) -> Observation | None:
    """An auth has auth_time, time and cnonce."""
    is_auth = refused.subject.startswith("_INBOX.") and tail_of(refused.subject) == AUTH
    if not is_auth or not _is_misshapen(refused):
        return None
    return broken(refused.entry, f"an auth message is none: {refused.error}")
