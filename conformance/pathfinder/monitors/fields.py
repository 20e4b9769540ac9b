"""Monitors of "Message" and of the sections of the commands: which fields each message has, and of what type."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from conformance.monitors import KEPT, Observation, broken, follows
from conformance.pathfinder.monitors.forms import ADDRESSES, MANDATORY, form_of, judged, match_type, shown
from conformance.pathfinder.monitors.registry import FLAWED, SOUND, from_client, from_server, monitor, spoken
from conformance.pathfinder.monitors.state import SessionState
from conformance.wording import worded
from harness.pathfinder.tester.events import Event
from wire.pathfinder.filters import FilterError, parse


class FormRule(NamedTuple):
    """What a rule says about one form of message.

    ``fields`` are those of its own that the rule is about (none: all), ``matches`` the match types; ``only`` when the
    rule says that there are no others.
    """

    command: str
    type: str
    matches: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    only: bool = False

    def is_of(self, event: Event) -> bool:
        """Tell whether a message has this form."""
        return (event.command, event.type) == (self.command, self.type) and (
            not self.matches or match_type(event) in self.matches
        )

    def judge(self, event: Event, state: SessionState) -> Observation:
        """Judge a message of this form."""
        own = [flaw for flaw in state.flaws(event) if flaw.field not in MANDATORY and not flaw.inner]
        beyond = [flaw for flaw in own if flaw.fault == "beyond" and self.only]
        wrong = [
            flaw
            for flaw in own
            if flaw.fault in ("missing", "type", "range") and (not self.fields or flaw.field in self.fields)
        ]
        return judged(event, wrong + beyond)


SERVICE = ("generation", "service-props", "ttl", "client-id")

FROM_SERVERS = {
    "PF-126": FormRule("subscribe", "accept", only=True),
    "PF-127": FormRule("subscribe", "notify", fields=("match-type", "service-id")),
    "PF-129": FormRule("subscribe", "notify", ("appeared", "modified"), SERVICE),
    "PF-130": FormRule("subscribe", "notify", ("disappeared",), ("match-type",), only=True),
    "PF-132": FormRule("subscribe", "complete", only=True),
    "PF-138": FormRule("unsubscribe", "complete", only=True),
    "PF-143": FormRule("subscriptions", "accept", only=True),
    "PF-144": FormRule("subscriptions", "notify", fields=("subscription-id", "client-id")),
    "PF-145": FormRule("subscriptions", "complete", only=True),
    "PF-152": FormRule("services", "accept", only=True),
    "PF-153": FormRule("services", "notify", fields=("service-id", *SERVICE)),
    "PF-154": FormRule("services", "complete", only=True),
    "PF-162": FormRule("publish", "complete", only=True),
    "PF-169": FormRule("unpublish", "complete", only=True),
    "PF-175": FormRule("clients", "accept", only=True),
    "PF-178": FormRule("clients", "complete", only=True),
    "PF-182": FormRule("ping", "complete", only=True),
}

FROM_CLIENTS = {
    "PF-017": FormRule("publish", "request", fields=("generation",)),
    "PF-112": FormRule("hello", "request"),
    "PF-125": FormRule("subscribe", "request", only=True),
    "PF-136": FormRule("unsubscribe", "request", only=True),
    "PF-142": FormRule("subscriptions", "request", only=True),
    "PF-160": FormRule("publish", "request", only=True),
    "PF-168": FormRule("unpublish", "request", only=True),
    "PF-174": FormRule("clients", "request", only=True),
    "PF-181": FormRule("ping", "request", only=True),
}


def watching(form: FormRule) -> Callable[[Event, SessionState], Observation | None]:
    """Return the monitor of one form, named after it."""

    def watch(event: Event, state: SessionState) -> Observation | None:
        return form.judge(event, state) if form.is_of(event) else None

    what = form.fields[0] if len(form.fields) == 1 else "fields"
    watch.__name__ = "_".join((what, "of", form.command, form.type, *form.matches))
    watch.__doc__ = f"A {form.type} of {form.command} has the fields of its table."
    return watch


for _role, _forms in (("server", FROM_SERVERS), ("client", FROM_CLIENTS)):
    for _rule, _form in _forms.items():
        monitor(
            _rule,
            on=spoken(_form.command, _form.type, sound=False, role=_role),
            kept_by=spoken(_form.command, _form.type, _form.matches, sound=True, role=_role),
        )(watching(_form))


@monitor("PF-081", on=FLAWED, kept_by=SOUND)
def nothing_beyond(event: Event, state: SessionState) -> Observation | None:
    """No message has fields that its form has not."""
    if not form_of(event):
        return None
    return judged(event, (flaw for flaw in state.flaws(event) if flaw.fault == "beyond"))


@monitor("PF-082", on=FLAWED, kept_by=SOUND)
def fields_of_all_messages(event: Event, state: SessionState) -> Observation | None:
    """Every message has a command, a transaction identifier and a type."""
    if not event.fields:
        return None
    return judged(event, (flaw for flaw in state.flaws(event) if flaw.fault == "missing" and flaw.field in MANDATORY))


@monitor("PF-103", on=FLAWED, kept_by=SOUND)
def mandatory_fields_are_there(event: Event, state: SessionState) -> Observation | None:
    """Every message has the fields that its own table calls mandatory."""
    if not form_of(event):
        return None
    return judged(
        event, (flaw for flaw in state.flaws(event) if flaw.fault == "missing" and flaw.field not in MANDATORY)
    )


@monitor("PF-105", on=from_server(types="fail", sound=False), kept_by=from_server(types="fail", sound=True))
def fails_have_a_reason_at_most(event: Event, state: SessionState) -> Observation | None:
    """A fail has no field of its own but the reason, which is a string."""
    return FormRule(event.command, "fail", only=True).judge(event, state) if form_of(event) else None


@monitor("PF-128", on=from_server("subscribe", "notify"))
def match_types_are_known(event: Event, state: SessionState) -> Observation | None:
    """The match type is appeared, modified, or one of the words for a service that is gone."""
    said = event.fields.get("match-type")
    if not isinstance(said, str):
        return None
    if match_type(event) == "disappeared":
        return follows(event.entry, "R02", "A" if said == "disappeared" else "B")
    if said in ("appeared", "modified"):
        return KEPT
    return broken(event.entry, f"the match type {worded(said)} is none of the document's")


LISTED_CLIENT = FormRule("clients", "notify", fields=("client-id", ADDRESSES[0], "time"))


@monitor("PF-176", on=from_server("clients", "notify"))
def clients_are_described(event: Event, state: SessionState) -> Iterator[Observation]:
    """A client is listed with its identifier, its address under one of its names, and its time."""
    yield LISTED_CLIENT.judge(event, state)
    if ADDRESSES[0] in event.fields:
        yield follows(event.entry, "R04", "A")
    elif ADDRESSES[1] in event.fields:
        yield follows(event.entry, "R04", "B")


@monitor("PF-228", on=from_server(("subscribe", "services"), "notify"))
def orphans_have_a_time(event: Event, state: SessionState) -> Observation | None:
    """The time at which an owner was lost is a number that is not negative."""
    if "orphan-since" not in event.fields:
        return None
    return judged(
        event, (flaw for flaw in state.flaws(event) if flaw.field == "orphan-since" and flaw.fault != "beyond")
    )


def is_filter(text: str) -> bool:
    """Tell whether a text is a filter in some reading; whether a closing brace may stand is open, so it may here."""
    try:
        parse(text.replace("}", "x"))
    except FilterError:
        return False
    return True


@monitor("PF-149", on=from_client("services", "request"))
def filters_of_services(event: Event, state: SessionState) -> Observation:
    """A services request has a filter or none, and nothing else of its own."""
    asked = event.fields.get("filter", "(a=b)")
    if isinstance(asked, str) and not is_filter(asked):
        return broken(event.entry, f"no filter: {shown(asked)}")
    return FormRule("services", "request", only=True).judge(event, state)
