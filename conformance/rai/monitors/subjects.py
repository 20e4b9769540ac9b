"""Monitors of subjects: what is published under which."""

from conformance.monitors import KEPT, Observation, broken
from conformance.rai.monitors.registry import ANY, monitor, said, whether
from conformance.rai.monitors.state import SessionState
from harness.rai.tester.events import Event
from wire.errors import WireError
from wire.rai.values import (
    INBOX,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Dict,
    GetSubs,
    Reply,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    WildStop,
    owner_of,
    tail_of,
)
from wire.rai.wildcards import Matcher, published_prefix
from wire.subjects import is_legal, is_wildcard, matches

SAMPLES = ("x", "x.y", "x.y.z", "x1", "")
"""What stands for the wildcard's places where it is seen whether a pattern says the same."""


@monitor("RAI-028", on=ANY)
def nothing_is_published_to_wildcards(event: Event, state: SessionState) -> Observation | None:
    """No subject that is published to has a wildcard in it."""
    return whether(not is_wildcard(event.subject), event.entry, f"a message is published under {event.subject}")


@monitor("RAI-001", on=said(SubStart))
def starts_name_subjects(event: Event, state: SessionState) -> Observation | None:
    """A start is published under the subject that it starts."""
    subject = event.subject.removeprefix(START)
    return whether(is_legal(subject), event.entry, f"a start names {subject!r}")


@monitor("RAI-005", on=said(SubStop))
def stops_name_subjects(event: Event, state: SessionState) -> Observation | None:
    """A stop is published under the subject that it stops."""
    subject = event.subject.removeprefix(STOP)
    return whether(is_legal(subject), event.entry, f"a stop names {subject!r}")


@monitor("RAI-107", on=said(SubStart))
def answers_have_a_place(event: Event, state: SessionState) -> Observation | None:
    """A start that asks for an image or an ack has a return."""
    body = event.body
    assert isinstance(body, SubStart)
    if not body.initial and not body.ack:
        return None
    return whether(body.return_ is not None, event.entry, "a start asks for an answer and has no return", "return")


@monitor("RAI-120", on=said(WildStart))
def patterns_say_what_wildcards_say(event: Event, state: SessionState) -> Observation | None:
    """A wildcard start has the RV wildcard, and a pattern that matches what that matches."""
    body = event.body
    assert isinstance(body, WildStart)
    if not event.subject.endswith("._"):
        return broken(event.entry, f"a wildcard start is published under {event.subject}")
    try:
        matcher = Matcher.of_pcre(body.pattern)
    except WireError:
        return broken(event.entry, f"the pattern {body.pattern!r} is none", "pattern")
    for sample in _samples(body.subject):
        if matches(body.subject, sample) and not matcher.matches(sample):
            found = f"{body.subject} matches {sample}, and its pattern {body.pattern!r} does not"
            return broken(event.entry, found, "pattern")
    return KEPT


@monitor("RAI-121", on=said(WildStart))
def prefixes_are_literal(event: Event, state: SessionState) -> Observation | None:
    """The prefix of a wildcard start is what the wildcard has before its first segment that is none."""
    body = event.body
    assert isinstance(body, WildStart)
    wanted = WILD_START + published_prefix(body.subject)
    return whether(event.subject == wanted, event.entry, f"{body.subject} is published under {event.subject}")


@monitor("RAI-188", on=said(WildStop))
def wildcard_stops_are_like_starts(event: Event, state: SessionState) -> Observation | None:
    """A wildcard stop is published under the prefix of its start and _."""
    body = event.body
    assert isinstance(body, WildStop)
    wanted = WILD_STOP + published_prefix(body.subject)
    return whether(event.subject == wanted, event.entry, f"{body.subject} is published under {event.subject}")


@monitor("RAI-125", on=said(GetSubs))
def questions_go_to_inboxes(event: Event, state: SessionState) -> Observation | None:
    """The question for subscriptions goes to get_subs in an inbox, and says where it is to be answered."""
    body = event.body
    assert isinstance(body, GetSubs)
    is_right = event.subject.startswith(INBOX) and bool(str(body.return_))
    return whether(is_right, event.entry, f"a question for subscriptions stands under {event.subject}")


@monitor("RAI-127", on=said(GetSubs))
def times_are_those_of_who_is_asked(event: Event, state: SessionState) -> Observation | None:
    """The last_seen of a question is a time that the asked session has sent itself, or 0."""
    body = event.body
    assert isinstance(body, GetSubs)
    asked = owner_of(event.subject)
    times = state.greetings.get(asked, {}).keys() | state.proofs.get(asked, {}).keys()
    if not times or not state.is_heard(asked):
        return None
    is_right = body.last_seen == 0 or body.last_seen in times
    return whether(is_right, event.entry, f"last_seen is {body.last_seen}, which nobody has said", "last_seen")


@monitor("RAI-131", on=said(Subs))
def lists_go_where_they_are_wanted(event: Event, state: SessionState) -> Observation | None:
    """The list goes to return in the inbox of who asks, and has as many returns as subjects."""
    body = event.body
    assert isinstance(body, Subs)
    question = state.questions.get((owner_of(event.subject), tail_of(event.subject)))
    if len(body.subs) != len(body.subs_return) and (body.initial or body.ack or body.subs_return):
        found = f"a list has {len(body.subs)} subjects and {len(body.subs_return)} returns"
        return broken(event.entry, found, "subs_return")
    if question is None:
        return None
    if body.wildcard != question.wildcard:
        return broken(event.entry, f"the wildcard is {body.wildcard}, and not {question.wildcard}", "wildcard")
    return whether(body.last_seen == question.last_seen, event.entry, f"last_seen is {body.last_seen}", "last_seen")


@monitor("RAI-098", on=said(Reply, Dict))
def answers_go_where_they_are_wanted(event: Event, state: SessionState) -> Observation | None:
    """What is answered is published under a return that its session has named."""
    owner = owner_of(event.subject)
    if owner not in {session for session, _ in state.asked} or not state.is_heard(owner):
        return None
    found = f"nobody has asked for an answer under {tail_of(event.subject)}"
    return whether(bool(state.answered(event)), event.entry, found)


def _samples(wildcard: str) -> list[str]:
    """Return subjects that a wildcard may stand for."""
    parts = wildcard.split(".")
    return [
        ".".join(found)
        for sample in SAMPLES
        if all(found := [sample.split(".")[0] if part == "*" else sample if part == ">" else part for part in parts])
    ]
