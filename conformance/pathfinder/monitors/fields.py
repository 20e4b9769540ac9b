"""Monitors of "Message" and of the sections of the commands: which fields each message has, and of what type."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from conformance.monitors import Finding, broken, follows, kept
from conformance.pathfinder.monitors.forms import ADDRESSES, MANDATORY, flaws, form_of, judged, match_type, shown
from conformance.pathfinder.monitors.registry import formed, from_client, from_server, monitor, spoken
from harness.pathfinder.conversation import Conversation, Event
from wire.pathfinder.filters import FilterError, parse


class Form(NamedTuple):
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

    def judge(self, event: Event) -> Finding:
        """Judge a message of this form."""
        own = [flaw for flaw in flaws(event) if flaw.field not in MANDATORY and not flaw.inner]
        beyond = [flaw for flaw in own if flaw.fault == "beyond" and self.only]
        wrong = [
            flaw
            for flaw in own
            if flaw.fault in ("missing", "type", "range") and (not self.fields or flaw.field in self.fields)
        ]
        return judged(event, wrong + beyond)


SERVICE = ("generation", "service-props", "ttl", "client-id")

FROM_SERVERS = {
    "PF-126": Form("subscribe", "accept", only=True),
    "PF-127": Form("subscribe", "notify", fields=("match-type", "service-id")),
    "PF-129": Form("subscribe", "notify", ("appeared", "modified"), SERVICE),
    "PF-130": Form("subscribe", "notify", ("disappeared",), ("match-type",), only=True),
    "PF-132": Form("subscribe", "complete", only=True),
    "PF-138": Form("unsubscribe", "complete", only=True),
    "PF-143": Form("subscriptions", "accept", only=True),
    "PF-144": Form("subscriptions", "notify", fields=("subscription-id", "client-id")),
    "PF-145": Form("subscriptions", "complete", only=True),
    "PF-152": Form("services", "accept", only=True),
    "PF-153": Form("services", "notify", fields=("service-id", *SERVICE)),
    "PF-154": Form("services", "complete", only=True),
    "PF-162": Form("publish", "complete", only=True),
    "PF-169": Form("unpublish", "complete", only=True),
    "PF-175": Form("clients", "accept", only=True),
    "PF-178": Form("clients", "complete", only=True),
    "PF-182": Form("ping", "complete", only=True),
}

FROM_CLIENTS = {
    "PF-017": Form("publish", "request", fields=("generation",)),
    "PF-112": Form("hello", "request"),
    "PF-125": Form("subscribe", "request", only=True),
    "PF-136": Form("unsubscribe", "request", only=True),
    "PF-142": Form("subscriptions", "request", only=True),
    "PF-160": Form("publish", "request", only=True),
    "PF-168": Form("unpublish", "request", only=True),
    "PF-174": Form("clients", "request", only=True),
    "PF-181": Form("ping", "request", only=True),
}


def watching(
    form: Form, said: Callable[[Conversation], Iterable[Event]]
) -> Callable[[Conversation], Iterable[Finding]]:
    """Return the monitor of one form, named after it."""

    def watch(conversation: Conversation) -> Iterator[Finding]:
        events = formed(conversation, form.command, form.type)
        if events and said(conversation):
            for event in events:
                if form.is_of(event):
                    yield form.judge(event)

    what = form.fields[0] if len(form.fields) == 1 else "fields"
    watch.__name__ = "_".join((what, "of", form.command, form.type, *form.matches))
    watch.__doc__ = f"A {form.type} of {form.command} has the fields of its table."
    return watch


for _rule, _form in FROM_SERVERS.items():
    monitor(_rule)(watching(_form, from_server))
for _rule, _form in FROM_CLIENTS.items():
    monitor(_rule)(watching(_form, from_client))


@monitor("PF-081")
def nothing_beyond(conversation: Conversation) -> Iterator[Finding]:
    """No message has fields that its form has not."""
    for event in spoken(conversation):
        if form_of(event):
            yield judged(event, [flaw for flaw in flaws(event) if flaw.fault == "beyond"])


@monitor("PF-082")
def fields_of_all_messages(conversation: Conversation) -> Iterator[Finding]:
    """Every message has a command, a transaction identifier and a type."""
    for event in spoken(conversation):
        if event.fields:
            missing = [flaw for flaw in flaws(event) if flaw.fault == "missing" and flaw.field in MANDATORY]
            yield judged(event, missing)


@monitor("PF-103")
def mandatory_fields_are_there(conversation: Conversation) -> Iterator[Finding]:
    """Every message has the fields that its own table calls mandatory."""
    for event in spoken(conversation):
        if form_of(event):
            missing = [flaw for flaw in flaws(event) if flaw.fault == "missing" and flaw.field not in MANDATORY]
            yield judged(event, missing)


@monitor("PF-105")
def fails_have_a_reason_at_most(conversation: Conversation) -> Iterator[Finding]:
    """A fail has no field of its own but the reason, which is a string."""
    for event in from_server(conversation):
        if event.type == "fail" and form_of(event):
            yield Form(event.command, "fail", only=True).judge(event)


@monitor("PF-128")
def match_types_are_known(conversation: Conversation) -> Iterator[Finding]:
    """The match type is appeared, modified, or one of the words for a service that is gone."""
    for event in from_server(conversation):
        said = event.fields.get("match-type")
        if (event.command, event.type) != ("subscribe", "notify") or not isinstance(said, str):
            continue
        if match_type(event) == "disappeared":
            yield follows(event.entry, "R02", "A" if said == "disappeared" else "B")
        elif said in ("appeared", "modified"):
            yield kept(event.entry)
        else:
            yield broken(event.entry, f"the match type {said!r} is none of the document's")


@monitor("PF-176")
def clients_are_described(conversation: Conversation) -> Iterator[Finding]:
    """A client is listed with its identifier, its address under one of its names, and its time."""
    form = Form("clients", "notify", fields=("client-id", ADDRESSES[0], "time"))
    for event in from_server(conversation):
        if form.is_of(event):
            yield form.judge(event)
            if ADDRESSES[0] in event.fields:
                yield follows(event.entry, "R04", "A")
            elif ADDRESSES[1] in event.fields:
                yield follows(event.entry, "R04", "B")


@monitor("PF-228")
def orphans_have_a_time(conversation: Conversation) -> Iterator[Finding]:
    """The time at which an owner was lost is a number that is not negative."""
    for event in from_server(conversation):
        if event.type == "notify" and "orphan-since" in event.fields and event.command in ("subscribe", "services"):
            yield judged(
                event, [flaw for flaw in flaws(event) if flaw.field == "orphan-since" and flaw.fault != "beyond"]
            )


def is_filter(text: str) -> bool:
    """Tell whether a text is a filter in some reading; whether a closing brace may stand is open, so it may here."""
    try:
        parse(text.replace("}", "x"))
    except FilterError:
        return False
    return True


@monitor("PF-149")
def filters_of_services(conversation: Conversation) -> Iterator[Finding]:
    """A services request has a filter or none, and nothing else of its own."""
    form = Form("services", "request", only=True)
    for event in from_client(conversation):
        if form.is_of(event):
            asked = event.fields.get("filter", "(a=b)")
            if isinstance(asked, str) and not is_filter(asked):
                yield broken(event.entry, f"no filter: {shown(asked)}")
            else:
                yield form.judge(event)
