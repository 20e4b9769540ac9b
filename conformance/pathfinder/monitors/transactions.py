"""Monitors of "Message Types" and "Transactions": who says what, in which order, under which identifier."""

from collections.abc import Iterator

from conformance.monitors import Finding, broken, follows, kept
from conformance.pathfinder.monitors.registry import from_client, from_server, monitor, whether
from conformance.pathfinder.monitors.stories import ANSWERS, ENDS, exchanges, undisturbed
from harness.pathfinder.conversation import Conversation
from harness.pathfinder.transactions import NOTIFY
from wire.pathfinder.frames import COMMANDS, MULTIPLE, SINGLE


@monitor("PF-083")
def each_side_has_its_types(conversation: Conversation) -> Iterator[Finding]:
    """Requests come from the client, all else from the server; words that are no types are other rules' business."""
    for event in from_server(conversation):
        if event.type == "request":
            yield broken(event.entry, f"the server sends a request ({event.command})")
        elif event.type in ANSWERS:
            yield kept(event.entry)
    for event in from_client(conversation):
        if event.type in ANSWERS:
            yield broken(event.entry, f"the client sends {event.type} ({event.command})")
        elif event.type == "request":
            yield kept(event.entry)


@monitor("PF-084")
def answers_belong_to_requests(conversation: Conversation) -> Iterator[Finding]:
    """What a server says carries the identifier and the command of a request of this connection."""
    begun: dict[int | None, set[str]] = {}
    server = from_server(conversation)
    for event in undisturbed(conversation) if server else []:
        if event.direction is conversation.client:
            begun.setdefault(event.ta, {""}).add(event.command)
        elif event.type != "request" and begun:
            if event.ta not in begun:
                yield broken(event.entry, f"{event.command} {event.type} under the ta-id {event.ta}, never begun")
            elif event.command not in begun[event.ta]:
                asked = "/".join(sorted(begun[event.ta] - {""}))
                yield broken(event.entry, f"{event.command} {event.type} under the ta-id of a {asked}")
            else:
                yield kept(event.entry)


@monitor("PF-085")
def servers_begin_nothing(conversation: Conversation) -> Iterator[Finding]:
    """A server says nothing before the first request, and asks for nothing."""
    asked = False
    server = from_server(conversation)
    for event in conversation.events if server else []:
        if event.direction is conversation.client:
            asked = True
        elif not asked:
            yield broken(event.entry, "the server speaks before it was asked")
        elif event.type == "request":
            yield broken(event.entry, f"the server begins a transaction ({event.command})")
        else:
            yield kept(event.entry)


@monitor("PF-091")
def identifiers_are_free_when_used(conversation: Conversation) -> Iterator[Finding]:
    """A client begins no transaction under the identifier of one that has not ended."""
    live: set[int] = set()
    client = from_client(conversation)
    for event in conversation.events if client else []:
        if event.ta is None:
            continue
        if event.direction is not conversation.client:
            if event.type in ENDS:
                live.discard(event.ta)
        elif event.type == "request":
            if event.ta in live:
                yield broken(event.entry, f"the ta-id {event.ta} is that of a transaction which has not ended")
            else:
                yield kept(event.entry)
            live.add(event.ta)


def beginnings(conversation: Conversation, commands: tuple[str, ...]) -> Iterator[Finding]:
    """Judge what a client says first under each identifier: a request, unless the server was first."""
    asked: set[int | None] = set()
    client = from_client(conversation)
    for event in conversation.events if client else []:
        if event.direction is conversation.client and event.type and event.command in commands:
            if event.type == "request":
                yield kept(event.entry)
            elif event.ta not in asked:
                yield broken(event.entry, f"the client begins a {event.command} with {event.type}")
        asked.add(event.ta)


@monitor("PF-093")
def single_responses_are_requested(conversation: Conversation) -> Iterator[Finding]:
    """A client begins a transaction with a single response by a request."""
    yield from beginnings(conversation, SINGLE)


@monitor("PF-097")
def multiple_responses_are_requested(conversation: Conversation) -> Iterator[Finding]:
    """A client begins a transaction with several responses by a request."""
    yield from beginnings(conversation, MULTIPLE)


@monitor("PF-094")
def one_answer_ends(conversation: Conversation) -> Iterator[Finding]:
    """What answers a command with a single response is a complete or a fail."""
    for exchange in exchanges(conversation):
        if exchange.is_single and exchange.said:
            if exchange.ending is not None:
                yield kept(exchange.ending.entry)
            else:
                first = exchange.said[0]
                yield broken(first.entry, f"{exchange.command} is answered by {first.type}")


@monitor("PF-095")
def nothing_beside_the_answer(conversation: Conversation) -> Iterator[Finding]:
    """A transaction with a single response has no accept, no notification, and no second answer."""
    for exchange in exchanges(conversation):
        for event in exchange.said if exchange.is_single else []:
            if event.type in ANSWERS:
                yield whether(event.type in ENDS, event.entry, f"{event.type} in a {exchange.command}")
        for event in exchange.late if exchange.is_single else []:
            yield broken(event.entry, f"{event.type} comes after a {exchange.command} has ended")


@monitor("PF-098")
def accept_or_fail_comes_first(conversation: Conversation) -> Iterator[Finding]:
    """What first answers a command with several responses is an accept or a fail."""
    for exchange in exchanges(conversation):
        if exchange.is_multiple and exchange.said:
            first = exchange.said[0]
            right = first.type in ("accept", "fail")
            yield whether(right, first.entry, f"{exchange.command} is answered by {first.type} first")


@monitor("PF-100")
def complete_follows_something(conversation: Conversation) -> Iterator[Finding]:
    """A complete among several responses has an accept or a notification before it."""
    for exchange in exchanges(conversation):
        ending = exchange.ending
        if exchange.is_multiple and ending is not None and ending.type == "complete":
            alone = exchange.said[0] is ending
            yield whether(not alone, ending.entry, f"{exchange.command} is completed without accept")


@monitor("PF-101")
def one_accept_and_one_end(conversation: Conversation) -> Iterator[Finding]:
    """A transaction with several responses has one accept, and nothing behind its end."""
    for exchange in exchanges(conversation):
        accepts = 0
        for event in exchange.said if exchange.is_multiple else []:
            accepts += event.type == "accept"
            if event.type in ANSWERS:
                twice = event.type == "accept" and accepts > 1
                yield whether(not twice, event.entry, f"{exchange.command} is accepted twice")
        for event in exchange.late if exchange.is_multiple else []:
            yield broken(event.entry, f"{event.type} comes after a {exchange.command} has ended")


@monitor("PF-102")
def notifications_are_called_so(conversation: Conversation) -> Iterator[Finding]:
    """What is neither accept, complete nor fail among several responses is a notification, and is called so."""
    for exchange in exchanges(conversation):
        for event in exchange.said[1:] if exchange.is_multiple else []:
            if event.type == "notify":
                yield follows(event.entry, "R01", "A" if event.fields["msg-type"] == NOTIFY[0] else "B")
            elif event.type not in (*ANSWERS, "request"):
                yield broken(event.entry, f"{event.type!r} is no type of message")


@monitor("PF-107")
def hello_comes_first(conversation: Conversation) -> Iterator[Finding]:
    """The first command of a client on a connection is hello."""
    for event in [each for each in from_client(conversation) if each.command in COMMANDS][:1]:
        yield whether(event.command == "hello", event.entry, f"{event.command} comes first")
