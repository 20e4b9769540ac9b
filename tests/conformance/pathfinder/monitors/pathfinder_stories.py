"""Stories: conversations of Pathfinder as they are told in tests, and what the monitors find in them."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance.monitors import Finding
from conformance.pathfinder.monitors import MONITORS
from harness.pathfinder.tester.conversation import Conversation
from harness.pathfinder.tester.events import decode_message
from harness.trace import Direction, Entry, EntryKind

Line = tuple[str, dict[str, Any] | bytes]
"""One message of a story: who says it (``>`` the client, ``<`` the server), and what."""

SERVICE = {"generation": 0, "service-props": {"name": ["x"], "n": [1]}, "ttl": 60, "client-id": 7}
CHANGED = SERVICE | {"generation": 1, "ttl": 30}


def ask(command: str, ta: int, **fields: Any) -> Line:
    return ">", message(command, ta, "request", fields)


def say(command: str, ta: int, type: str, **fields: Any) -> Line:
    return "<", message(command, ta, type, fields)


def message(command: str, ta: int, type: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return {"ta-cmd": command, "ta-id": ta, "msg-type": type, **named}


def publish(ta: int, service: Mapping[str, Any], number: int = 9) -> Line:
    return ask(
        "publish", ta, service_id=number, **{name: service[name] for name in ("generation", "service-props", "ttl")}
    )


def tell(ta: int, what: str, service: Mapping[str, Any] | None = None, number: int = 9) -> Line:
    return say("subscribe", ta, "notify", match_type=what, service_id=number, **(service or {}))


HELLO = ask("hello", 0, client_id=7, protocol_minimum_version=2, protocol_maximum_version=2)
WELCOME = say("hello", 0, "complete", protocol_version=2)

SUBSCRIBE = [ask("subscribe", 1, subscription_id=5), say("subscribe", 1, "accept")]

TOUR: list[Line] = [
    HELLO,
    WELCOME,
    ask("subscribe", 1, subscription_id=5, filter="(name=x)"),
    say("subscribe", 1, "accept"),
    publish(2, SERVICE),
    tell(1, "appeared", SERVICE),
    say("publish", 2, "complete"),
    publish(3, CHANGED),
    say("publish", 3, "complete"),
    tell(1, "modified", CHANGED),
    ask("services", 4, filter="(name=x)"),
    say("services", 4, "accept"),
    say("services", 4, "notify", service_id=9, **CHANGED),
    say("services", 4, "notify", service_id=10, **SERVICE | {"client-id": 8, "orphan-since": 1.5}),
    say("services", 4, "complete"),
    ask("subscriptions", 5),
    say("subscriptions", 5, "accept"),
    say("subscriptions", 5, "notify", subscription_id=5, client_id=7, filter="(name=x)"),
    say("subscriptions", 5, "notify", subscription_id=6, client_id=8),
    say("subscriptions", 5, "complete"),
    ask("clients", 6),
    say("clients", 6, "accept"),
    say("clients", 6, "notify", client_id=7, client_addr="tcp:127.0.0.1:1", time=1),
    say("clients", 6, "notify", client_id=8, client_addr="tcp:127.0.0.1:2", time=1),
    say("clients", 6, "complete"),
    ask("ping", 7),
    say("ping", 7, "complete"),
    ask("unpublish", 8, service_id=9),
    say("unpublish", 8, "complete"),
    tell(1, "disappeared"),
    ask("unsubscribe", 9, subscription_id=5),
    say("unsubscribe", 9, "complete"),
    say("subscribe", 1, "complete"),
    HELLO,
    WELCOME,
    # From here on everything is refused.
    ask("subscribe", 1, subscription_id=5, filter="(name=x"),
    say("subscribe", 1, "fail", fail_reason="invalid-filter-syntax"),
    ask("unsubscribe", 1, subscription_id=5),
    say("unsubscribe", 1, "fail", fail_reason="non-existent-subscription-id"),
    ask("services", 1, filter="(name=x"),
    say("services", 1, "fail", fail_reason="insufficient-resources"),
    publish(1, SERVICE, 10),
    say("publish", 1, "fail", fail_reason="same-generation-but-different"),
    ask("unpublish", 1, service_id=11),
    say("unpublish", 1, "fail", fail_reason="non-existent-service-id"),
    ask("ping", 1),
    say("ping", 1, "fail", fail_reason="insufficient-resources"),
    ask("clients", 1),
    say("clients", 1, "fail"),
]
"""Every command once rightly and, but for hello, once refused."""


def index(line: Line) -> int:
    """Return where the tour has a message for the first time."""
    return TOUR.index(line)


def is_of(line: Line, command: str, type: str) -> bool:
    what = line[1]
    return isinstance(what, dict) and (what["ta-cmd"], what["msg-type"]) == (command, type)


def refusal(command: str) -> int:
    """Return where the tour has a command refused."""
    return next(at for at, line in enumerate(TOUR) if is_of(line, command, "fail"))


APPEARED, MODIFIED, GONE = (
    index(tell(1, "appeared", SERVICE)),
    index(tell(1, "modified", CHANGED)),
    index(tell(1, "disappeared")),
)
LISTED = APPEARED + 7
PONG = index(say("ping", 7, "complete"))
SUBSCRIBED = index(say("subscribe", 1, "accept"))
UNPUBLISHED, ENDED = index(say("unpublish", 8, "complete")), index(say("subscribe", 1, "complete"))
PUBLISHED = index(say("publish", 2, "complete"))
CLIENT = index(say("clients", 6, "accept")) + 1
SUBSCRIPTION = index(say("subscriptions", 5, "accept")) + 1


def hello(least: int, most: int, *, ta: int = 0, client_id: int = 7) -> Line:
    return ask("hello", ta, client_id=client_id, protocol_minimum_version=least, protocol_maximum_version=most)


def notified(props: bytes) -> bytes:
    return (
        b'{"ta-cmd":"services","ta-id":4,"msg-type":"notify","service-id":9,"generation":1,"service-props":'
        + props
        + b',"ttl":30,"client-id":7}'
    )


def conversation(lines: Iterable[Line], *, role: str = "server") -> Conversation:
    """Return a story as a conversation with an implementation in a role."""
    client = Direction.SENT if role == "server" else Direction.RECEIVED
    server = Direction.RECEIVED if role == "server" else Direction.SENT
    told = Conversation("a", client=client)
    for number, (who, what) in enumerate(lines):
        frame = spelled(what)
        direction = client if who == ">" else server
        told.feed(Entry(number / 100, "a", EntryKind.FRAME, direction, frame, index=number), decode_message(frame))
    return told


def spelled(what: dict[str, Any] | bytes) -> bytes:
    return what if isinstance(what, bytes) else json.dumps(what).encode()


def findings(told: Conversation) -> dict[str, list[Finding]]:
    """Return what is cited of each rule that is judged at all: nothing of one that was only kept."""
    found = MONITORS.watch(told)
    return {rule: [] for rule in found.kept} | found.findings


def accused(told: Conversation) -> dict[str, set[int]]:
    """Return the rules that are broken, with the entries that show it."""
    broken = {rule: {each.entry for each in found if not each.ok} for rule, found in findings(told).items()}
    return {rule: entries for rule, entries in broken.items() if entries}


def said_why(told: Conversation) -> list[str]:
    return [f"{rule}: {each.what}" for rule, found in findings(told).items() for each in found if not each.ok]


def readings(told: Conversation) -> set[str]:
    return {
        f"{rule} {each.reading}={each.option}"
        for rule, found in findings(told).items()
        for each in found
        if each.reading
    }


Edit = Callable[[list[Line]], None]


def but(at: int, **changes: Any) -> Edit:
    """Change fields of a message; those that become ``None`` are left out."""

    def edit(lines: list[Line]) -> None:
        who, what = lines[at]
        assert isinstance(what, dict)
        named = {name.replace("_", "-"): value for name, value in changes.items()}
        lines[at] = who, {name: value for name, value in (what | named).items() if value is not None}

    return edit


def instead(at: int, what: bytes) -> Edit:
    def edit(lines: list[Line]) -> None:
        lines[at] = lines[at][0], what

    return edit


def before(at: int, *more: Line) -> Edit:
    def edit(lines: list[Line]) -> None:
        lines[at:at] = more

    return edit


def without(at: int) -> Edit:
    def edit(lines: list[Line]) -> None:
        del lines[at]

    return edit


def both(*edits: Edit) -> Edit:
    def edit(lines: list[Line]) -> None:
        for each in edits:
            each(lines)

    return edit


def edited(edit: Edit) -> list[Line]:
    lines = list(TOUR)
    edit(lines)
    return lines
