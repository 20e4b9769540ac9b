"""Offences of servers: what no server may say to a client."""

from functools import cache
from itertools import count
from typing import Any

from conformance.wording import worded
from harness.pathfinder.tester.driver import encode_message
from harness.pathfinder.tester.scripted_servers import AcceptedConnection, match, service
from wire.json.strict import MOST
from wire.pathfinder.values import Message

# A number that stands in no other event by chance.
ALIEN = 1 << 40
"""The service that a client must not learn of."""

# More levels than recursion takes in any language; twice as many brackets still fit the largest message.
NESTED = 100_000

# Of the wrong type, beyond the range, or of a type that some languages take for the right one.
WRONG: tuple[tuple[str, Any], ...] = (
    ("ta-id", b"1.5"),
    ("msg-type", "update"),
    ("match-type", "changed"),
    ("service-id", str(ALIEN)),
    ("generation", "0"),
    ("generation", -1),
    ("generation", 1.5),
    ("generation", MOST + 1),
    ("generation", None),
    ("ttl", -1),
    ("ttl", True),
    ("client-id", "7"),
    ("service-props", ["name"]),
    ("service-props", {"name": "goldwire"}),
    ("service-props", {"name": [1.5]}),
    ("service-props", {"name": [["goldwire"]]}),
    ("service-props", {"name": [MOST + 1]}),
    ("service-props", {"name": ["gold\0wire"]}),
    ("orphan-since", "now"),
    ("orphan-since", b"NaN"),
)
"""Values that fields of a notification cannot have."""


NESTING = "deep nesting"
"""A frame of a quarter of a megabyte."""

STRAYS = ("a number that was never used", "the largest number", "the number of what is over", "another command")
"""What a notification of no open subscription comes under."""

BEHIND_THE_END = "the number of a subscription that has ended"


def notice(ta: int | None, **changes: Any) -> dict[str, Any]:
    """Return a notification of a subscription, with some fields changed."""
    fields = {"ta-cmd": "subscribe", "ta-id": ta, "msg-type": "notify", **match("appeared", ALIEN)}
    return fields | {name.replace("_", "-"): value for name, value in changes.items()}


@cache
def no_objects(ta: int | None) -> dict[str, bytes]:
    """Return frames for a connection that are no JSON, no object, or more than one, by what they are."""
    right = notice(ta)
    whole = encode_message(right)
    found = {repr(frame): frame for frame in (b"garbage", b"", b"[]", b"null", b"5", b'"x"', b"{}", b"\xff\xfe")}
    return found | {
        "a piece of a message": whole[:-1],
        "a message and a brace": whole + b"}",
        "two messages": whole + whole,
        "an array of a message": b"[" + whole + b"]",
        "a text that is no UTF-8": whole.replace(b"goldwire", b"\xc3\x28"),
        NESTING: whole.replace(b'{"name"', b'{"x":' + b"[" * NESTED + b"]" * NESTED + b',"name"'),
    }


@cache
def no_fields(ta: int | None) -> dict[str, bytes]:
    """Return objects for a connection that are no messages, as a field is missing or wrong, by what they are."""
    right = notice(ta)
    found = {}
    for name in right:
        found[f"no {name}"] = encode_message({each: value for each, value in right.items() if each != name})
    for name, value in WRONG:
        found[f"{name} {worded(value)}"] = encode_message({**right, name: value})
    return found


def no_messages(ta: int | None) -> dict[str, bytes]:
    """Return frames for a connection that are no messages, by what they are."""
    return no_objects(ta) | no_fields(ta)


def strays(connection: AcceptedConnection) -> dict[str, Message]:
    """Return notifications that belong to no subscription of a connection, by what they come under."""
    subscription = connection.subscriptions[0]
    used = {each.ta for each in connection.requests}
    over = {each.ta for each in connection.requests if each.is_over} - {subscription.ta}
    # Behind those that the scenario has used, so that it is nobody's.
    unused = next(ta for ta in count(5) if ta not in used)
    listed = {"ta-cmd": "services", "ta-id": subscription.ta, "msg-type": "notify", **service(ALIEN)}
    said = (notice(unused), notice(MOST), notice(min(over, key=str, default=MOST)), listed)
    return dict(zip(STRAYS, said, strict=True))


REQUESTS: dict[str, Message] = {
    # Under numbers that the client has not come to itself.
    f"a request: {command}": {"ta-cmd": command, "ta-id": MOST - number, "msg-type": "request"}
    for number, command in enumerate(("ping", "services"))
}
"""Requests, as if the server were the client."""


def offences(connection: AcceptedConnection) -> dict[str, bytes | Message]:
    """Return what a server may not say on a connection as it is, by what it is."""
    live = connection.subscriptions
    if not live:
        over = [each.ta for each in connection.asked("subscribe") if each.is_over]
        return {BEHIND_THE_END: notice(over[0])} if over else {}
    return {**no_messages(live[0].ta), **strays(connection), **REQUESTS}


def rule_of_offence(name: str) -> str:
    """Return the rule that a client breaks that acts on an offence."""
    if name in REQUESTS:
        return "PF-083"
    return "PF-222" if name in (*STRAYS, BEHIND_THE_END) else "PF-221"
