"""Monitors of digests and of trust, where the keys of users are known."""

from conformance.monitors import KEPT, Observation, broken
from conformance.rai.monitors.registry import ANY, monitor, said, whether
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.conversation import is_genuine
from harness.rai.tester.events import Event
from harness.rai.users import DATABASE, PROFILE
from wire.rai.values import Auth, Message, Published, Reply, fields_of, nonce_of, owner_of, user_of


@monitor("RAI-071", on=ANY)
def digests_verify(event: Event, state: SessionState) -> Observation | None:
    """The digest of each message but the auth ones is made with the key of its session."""
    if event.form is Auth or not state.is_keyed(event.message.session):
        return None
    return whether(is_genuine(event.message), event.entry, f"the digest of {_name(event)} does not verify", "digest")


@monitor("RAI-167", on=said(Auth, Published, Reply))
def auths_go_to_inboxes(event: Event, state: SessionState) -> Observation | None:
    """An auth is published under auth in the inbox of who was met."""
    if event.form is Auth:
        return KEPT
    # Elsewhere it is none by its subject, so it shows by what it holds.
    signed = event.message.signed
    if b'"auth_time"' not in signed or "auth_time" not in (fields_of(signed) or ()):
        return None
    return broken(event.entry, f"an auth message stands under {event.subject}")


@monitor("RAI-084", on=said(Auth))
def publishers_repeat_the_time(event: Event, state: SessionState) -> Observation | None:
    """The auth_time of the first auth is the time of the HELLO or heartbeat that it answers."""
    return _repeats(event, state, is_first=True)


@monitor("RAI-166", on=said(Auth))
def subscribers_repeat_the_time(event: Event, state: SessionState) -> Observation | None:
    """The auth_time of the second auth is the time of the first."""
    return _repeats(event, state, is_first=False)


@monitor("RAI-083", on=said(Auth))
def publishers_are_keyed(event: Event, state: SessionState) -> Observation | None:
    """The first auth is keyed by time and cnonce of what it answers."""
    return _keyed(event, state, is_first=True)


@monitor("RAI-165", on=said(Auth))
def subscribers_are_keyed(event: Event, state: SessionState) -> Observation | None:
    """The second auth is keyed by time and cnonce of the first."""
    return _keyed(event, state, is_first=False)


def _repeats(event: Event, state: SessionState, *, is_first: bool) -> Observation | None:
    asked = _asked(event, state)
    if asked is None or asked[0] is not is_first:
        return None
    body = event.body
    assert isinstance(body, Auth)
    times = sorted(asked[1])
    return whether(
        body.auth_time in asked[1], event.entry, f"auth_time is {body.auth_time}, and none of {times}", "auth_time"
    )


def _keyed(event: Event, state: SessionState, *, is_first: bool) -> Observation | None:
    message, body = event.message, event.body
    assert isinstance(body, Auth)
    asked = _asked(event, state)
    if asked is None or asked[0] is not is_first or body.auth_time not in asked[1]:
        return None
    if not state.is_keyed(message.session):
        return None
    if _is_keyed_by(message, body.auth_time, asked[1]):
        return KEPT
    return broken(event.entry, "the digest of an auth message does not verify", "digest")


def _is_keyed_by(message: Message, time: int, times: dict[int, str]) -> bool:
    """Tell whether an auth message is signed with what came at one of some times."""
    secret = DATABASE.get(user_of(message.session))
    if secret is None:
        return False
    key = PROFILE.auth_key(secret, nonce_of(message.session), time, times[time])
    return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)


def _asked(event: Event, state: SessionState) -> tuple[bool, dict[int, str]] | None:
    """Return what an auth message may answer: whether that are greetings, and times with the cnonce of each.

    ``None`` where that was not heard: an auth message then says nothing.
    """
    greeted = owner_of(event.subject)
    if not state.is_heard(greeted):
        return None
    proofs = state.proofs.get(greeted, {})
    body = event.body
    assert isinstance(body, Auth)
    greetings = state.greetings.get(greeted, {})
    if body.auth_time in proofs and body.auth_time in greetings:
        # Both were said in one moment: the digest tells which of them is meant.
        is_first = _is_keyed_by(event.message, body.auth_time, greetings)
        return (True, greetings) if is_first else (False, proofs)
    if body.auth_time in proofs:
        return False, proofs
    if body.auth_time in greetings:
        return True, greetings
    # Of neither: whoever was sent a proof has to answer that, and whoever was not a greeting.
    if proofs and event.message.session not in state.proofs:
        return False, proofs
    return (True, greetings) if greetings else None


def _name(event: Event) -> str:
    return event.form.__name__
