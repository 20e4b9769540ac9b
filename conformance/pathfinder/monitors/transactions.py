"""Monitors of "Message Types" and "Transactions": who says what, in which order, under which identifier."""

from collections.abc import Iterator

from conformance.monitors import KEPT, Observation, SessionEnd, broken, follows
from conformance.pathfinder.monitors.registry import ended, from_client, from_server, monitor, served, whether
from conformance.pathfinder.monitors.served import ANSWERS, ENDS, ServedRequest
from conformance.pathfinder.monitors.state import SessionState
from conformance.wording import worded
from harness.pathfinder.tester.events import NOTIFY, Event
from wire.pathfinder.values import COMMANDS, MULTIPLE, SINGLE

# Words that are no types are other rules' business.


@monitor("PF-083", on=from_server(types="request"), kept_by=from_server(types=ANSWERS))
def servers_send_no_requests(event: Event, state: SessionState) -> Observation:
    """Requests come from the client, all else from the server."""
    return broken(event.entry, f"the server sends a request ({event.command})")


@monitor("PF-083", on=from_client(types=ANSWERS), kept_by=from_client(types="request"))
def clients_send_no_answers(event: Event, state: SessionState) -> Observation:
    """Answers come from the server."""
    return broken(event.entry, f"the client sends {event.type} ({event.command})")


@monitor("PF-084", on=served(*COMMANDS, "", once=False), kept_by=served(*COMMANDS, "", once=True))
def answers_belong_to_requests(request: ServedRequest, state: SessionState) -> Observation:
    """What a server says carries the identifier and the command of a request of this connection."""
    return len(request.said) + len(request.late)


@monitor("PF-084", on=ended("server"))
def nothing_answers_what_was_not_asked(end: SessionEnd, state: SessionState) -> Iterator[Observation]:
    """Nothing carries an identifier that was never begun, or the command of nothing that was begun under it."""
    for event, asked in state.strays:
        said = f"{event.command} {event.type}"
        if asked:
            yield broken(event.entry, f"{said} under the ta-id of a {'/'.join(asked)}")
        else:
            yield broken(event.entry, f"{said} under the ta-id {event.ta}, never begun")


@monitor("PF-085", on=from_server())
def servers_begin_nothing(event: Event, state: SessionState) -> Observation:
    """A server says nothing before the first request, and asks for nothing."""
    if not state.is_asked:
        return broken(event.entry, "the server speaks before it was asked")
    if event.type != "request":
        return KEPT
    return broken(event.entry, f"the server begins a transaction ({event.command})")


@monitor("PF-091", on=from_client(types="request"))
def identifiers_are_free_when_used(event: Event, state: SessionState) -> Observation | None:
    """A client begins no transaction under the identifier of one that has not ended."""
    if event.ta is None:
        return None
    if event.ta in state.live:
        return broken(event.entry, f"the ta-id {event.ta} is that of a transaction which has not ended")
    return KEPT


def beginning(event: Event, state: SessionState) -> Observation | None:
    """Judge what a client says first under an identifier: a request, unless the server was first."""
    if event.type and event.ta not in state.mentioned:
        return broken(event.entry, f"the client begins a {event.command} with {event.type}")
    return None


NO_REQUEST = (*ANSWERS, "")


@monitor("PF-093", on=from_client(SINGLE, NO_REQUEST), kept_by=from_client(SINGLE, "request"))
def single_responses_are_requested(event: Event, state: SessionState) -> Observation | None:
    """A client begins a transaction with a single response by a request."""
    return beginning(event, state)


@monitor("PF-097", on=from_client(MULTIPLE, NO_REQUEST), kept_by=from_client(MULTIPLE, "request"))
def multiple_responses_are_requested(event: Event, state: SessionState) -> Observation | None:
    """A client begins a transaction with several responses by a request."""
    return beginning(event, state)


@monitor("PF-094", on=served(*SINGLE, ends=("",)), kept_by=served(*SINGLE, ends=ENDS))
def one_answer_ends(request: ServedRequest, state: SessionState) -> Observation | None:
    """What answers a command with a single response is a complete or a fail."""
    if not request.said:
        return None
    first = request.said[0]
    return broken(first.entry, f"{request.command} is answered by {first.type}")


@monitor("PF-095", on=served(*SINGLE, once=False), kept_by=served(*SINGLE, once=True))
def nothing_beside_the_answer(request: ServedRequest, state: SessionState) -> list[Observation]:
    """A transaction with a single response has no accept, no notification, and no second answer."""
    found = [
        KEPT if event.type in ENDS else broken(event.entry, f"{event.type} in a {request.command}")
        for event in request.said
        if event.type in ANSWERS
    ]
    return found + afterwards(request)


def afterwards(request: ServedRequest) -> list[Observation]:
    """Judge what came behind the end of a transaction."""
    return [broken(event.entry, f"{event.type} comes after a {request.command} has ended") for event in request.late]


@monitor("PF-098", on=served(*MULTIPLE))
def accept_or_fail_comes_first(request: ServedRequest, state: SessionState) -> Observation | None:
    """What first answers a command with several responses is an accept or a fail."""
    if not request.said:
        return None
    first = request.said[0]
    if first.type in ("accept", "fail"):
        return KEPT
    return broken(first.entry, f"{request.command} is answered by {first.type} first")


@monitor("PF-100", on=served(*MULTIPLE, ends=("complete",)))
def complete_follows_something(request: ServedRequest, state: SessionState) -> Observation | None:
    """A complete among several responses has an accept or a notification before it."""
    ending = request.ending
    if ending is None or ending.type != "complete":
        return None
    return whether(request.said[0] is not ending, ending.entry, f"{request.command} is completed without accept")


@monitor("PF-101", on=served(*MULTIPLE))
def one_accept_and_one_end(request: ServedRequest, state: SessionState) -> Observation | list[Observation]:
    """A transaction with several responses has one accept, and nothing behind its end."""
    found: list[Observation] = []
    good, is_accepted = 0, False
    for event in request.said:
        if event.type == "accept" and is_accepted:
            found.append(broken(event.entry, f"{request.command} is accepted twice"))
        elif event.type in ANSWERS:
            good += KEPT
            is_accepted = is_accepted or event.type == "accept"
    return [good, *found, *afterwards(request)] if found or request.late else good


@monitor("PF-102", on=served(*MULTIPLE))
def notifications_are_called_so(request: ServedRequest, state: SessionState) -> Iterator[Observation]:
    """What is neither accept, complete nor fail among several responses is a notification, and is called so."""
    for event in request.said[1:]:
        if event.type == "notify":
            yield follows(event.entry, "R01", "A" if event.fields["msg-type"] == NOTIFY[0] else "B")
        elif event.type not in (*ANSWERS, "request"):
            yield broken(event.entry, f"{worded(event.type)} is no type of message")


@monitor("PF-107", on=from_client(COMMANDS))
def hello_comes_first(event: Event, state: SessionState) -> Observation | None:
    """The first command of a client on a connection is hello."""
    if state.has_commanded:
        return None
    return whether(event.command == "hello", event.entry, f"{event.command} comes first")
