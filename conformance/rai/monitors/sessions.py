"""Monitors of sessions: what their names look like, how they begin and end."""

import re

from conformance.monitors import KEPT, Observation, broken
from conformance.rai.monitors.registry import ANY, monitor, said, whether
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import Event
from harness.rai.users import DATABASE, SERVICE, password
from wire.rai.digests import text
from wire.rai.values import BYE, HELLO, Heartbeat, Hello, user_of

_SESSION = re.compile(r"[^.\s*>]+\.[^.\s*>]+")


@monitor("RAI-072", on=ANY)
def messages_have_a_header(event: Event, state: SessionState) -> Observation | None:
    """Every message has a session of the form user.NONCE, a seqno and a digest."""
    message = event.message
    if not _SESSION.fullmatch(message.session):
        return broken(event.entry, f"the session is {message.session!r}", "session")
    return whether(bool(message.digest), event.entry, "the digest is empty", "digest")


@monitor("RAI-099", on=ANY)
def sessions_begin_with_hello(event: Event, state: SessionState) -> Observation | None:
    """Nothing is said in a session before its HELLO, where that was heard at all."""
    session = event.message.session
    if event.subject != HELLO:
        return None
    is_first = session not in state.spoke or session in state.greetings
    return whether(is_first, event.entry, "a HELLO comes after something else of its session")


@monitor("RAI-177", on=ANY)
def sessions_end_with_bye(event: Event, state: SessionState) -> Observation | None:
    """Nothing is said in a session after its BYE."""
    session = event.message.session
    if session in state.ended and state.last.get((session, event.subject)) != event.message:
        return broken(event.entry, f"{event.form.__name__} comes after the BYE of its session")
    return KEPT if event.subject == BYE else None


@monitor("RAI-101", on=said(Heartbeat))
def heartbeats_are_like_hellos(event: Event, state: SessionState) -> Observation | None:
    """A heartbeat has time, interval and cnonce, as a HELLO has."""
    body = event.body
    assert isinstance(body, Hello)
    return whether(bool(body.cnonce) and body.interval > 0, event.entry, "a heartbeat has no cnonce, or no interval")


@monitor("RAI-069", on=ANY)
def secrets_are_kept(event: Event, state: SessionState) -> Observation | None:
    """No message has a password, a key that is made of one, or the service's name in it."""
    message = event.message
    secret = DATABASE.get(user_of(message.session))
    if secret is None:
        return None
    told = message.signed
    for name, hidden in (
        ("the password", password(user_of(message.session))),
        ("HA0", secret.hex()),
        ("HA0", text(secret)),
        ("the service's name", f'"{SERVICE}"'),
    ):
        if hidden.encode() in told:
            return broken(event.entry, f"{name} stands in a message")
    return KEPT
