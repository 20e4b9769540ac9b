"""What the document forbids or leaves open: what guests send, and what may come of it.

A server may refuse it with ``fail``, end the guest's connection, or pass it over. It does not carry it out, where the
document gives that no meaning, and in no case does it harm anybody else.
"""

from typing import Any

import msgspec

from conformance.pathfinder.histories.actions import cut
from wire.json.strict import MOST


class GuestSends(msgspec.Struct, frozen=True):
    """A guest comes, sends something that is no request of the document, or not then, and leaves.

    ``rule`` is broken when it is carried out, unless that ``may`` be; ``greets`` says whether the guest has said hello
    before, ``before`` is what it asks in good order first. With ``is_answered`` it is not to be passed over.
    ``reasons`` are those that a refusal may have, if any are given. A value ``@1`` stands for an identifier, and ``#1``
    for it as a text.
    """

    rule: str
    message: dict[str, Any] | str
    greets: bool = True
    before: tuple[dict[str, Any], ...] = ()
    may: bool = False
    is_answered: bool = False
    reasons: tuple[str, ...] = ()
    reason_rule: str = ""

    def __str__(self) -> str:
        come = "guest = node.session()" if self.greets else "guest = node.connect()"
        first = "".join(f"; guest.send({message})" for message in self.before)
        verb = "send_bytes" if isinstance(self.message, str) else "send"
        return f"{come}{first}; guest.{verb}({cut(repr(self.message))}); guest.close()"


class GuestGreets(msgspec.Struct, frozen=True):
    """A guest comes and says hello with some range of versions; if that is refused, once more with version 2."""

    rule: str
    minimum: int
    maximum: int
    completes: bool

    def __str__(self) -> str:
        again = "" if self.completes else "; guest.hello()"
        return (
            f"guest = node.connect(); guest.hello(minimum={self.minimum}, maximum={self.maximum}){again}; guest.close()"
        )


class GuestsMeet(msgspec.Struct, frozen=True):
    """Two guests have one client-id: the later is refused, or takes the other's place."""

    rule: str = "PF-063"

    def __str__(self) -> str:
        return "guest = node.session(); twin = node.connect(); twin.hello(client_id=guest.client_id)"


class GuestsCrowd(msgspec.Struct, frozen=True):
    """So many guests connect and say nothing, while others are served."""

    count: int
    rule: str = "PF-215"

    def __str__(self) -> str:
        return f"guest = node.session(); others = [node.connect() for _ in range({self.count})]; guest.ping()"


GuestMove = GuestSends | GuestGreets | GuestsMeet | GuestsCrowd


def asks(command: str, type: str = "request", **fields: Any) -> dict[str, Any]:
    """Return a message under a transaction identifier that is free."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return {"ta-cmd": command, "ta-id": 7, "msg-type": type, **named}


def publishes(**changed: Any) -> dict[str, Any]:
    """Return a publish of a service that is not there, with some fields changed; ``None`` leaves one out."""
    fields = {"service_id": "@50", "generation": 0, "service_props": {"play": ["guest"]}, "ttl": 0, **changed}
    return asks("publish", **{name: value for name, value in fields.items() if value is not None})


EARLY = ("no-hello", "insufficient-resources", "permission-denied")
"""The reasons for refusing what comes before hello."""

WATCHES = asks("subscribe", subscription_id="@51", filter="(play=guest)")

LARGE = 100_000
"""Characters of a large property: more than a buffer of 64 KiB has room for, less than the largest frame."""

GUESTS: tuple[GuestMove, ...] = (
    # Before hello.
    *(
        GuestSends("PF-217", message, greets=False, reasons=EARLY, reason_rule=rule)
        for message, rule in (
            (publishes(), "PF-106"),
            (WATCHES, "PF-106"),
            (asks("ping"), "PF-147"),
            (asks("services"), "PF-106"),
            (asks("clients"), "PF-147"),
            (asks("unpublish", service_id="@1"), "PF-106"),
        )
    ),
    # Values that the document does not have.
    *(
        GuestSends(rule, publishes(**changed))
        for rule, changed in (
            ("PF-194", {"ttl": None}),
            ("PF-194", {"generation": None}),
            ("PF-194", {"service_id": "50"}),
            ("PF-194", {"service_props": []}),
            ("PF-003", {"ttl": -1}),
            ("PF-003", {"generation": MOST + 1}),
            ("PF-006", {"service_id": -1}),
            ("PF-013", {"service_props": {"a": [1.5]}}),
            ("PF-013", {"service_props": {"a": "x"}}),
            ("PF-002", {"service_props": {"a": [MOST + 1]}}),
            ("PF-004", {"service_props": {"a": ["x\0y"]}}),
        )
    ),
    GuestSends("PF-194", asks("unpublish", service_id="x")),
    GuestSends("PF-194", asks("unpublish", service_id="#1")),
    GuestSends("PF-194", asks("unpublish", service_id="#2")),
    GuestSends("PF-006", asks("subscribe", subscription_id=-1, filter="(play=guest)")),
    GuestSends("PF-194", asks("unsubscribe")),
    # Commands and types that there are not, or that are the server's.
    GuestSends("PF-192", asks("renew")),
    GuestSends("PF-083", asks("ping", "notify")),
    GuestSends("PF-083", asks("unpublish", "complete", service_id="@1")),
    # What is no message.
    GuestSends("PF-194", '{"ta-cmd": "unpublish", "ta-id": 7'),
    GuestSends("PF-194", "[]"),
    GuestSends("PF-194", '{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request"}, and more'),
    GuestSends("PF-194", '{"ta-cmd": "ping", "ta-id": 7, "msg-type": "request"} {}'),
    GuestSends("PF-079", '{"ta-cmd": "ping", "ta-id": 7, "ta-id": 7, "msg-type": "request"}', may=True),
    GuestSends("PF-081", asks("ping", more=1), may=True),
    # Identifiers that are in use.
    GuestSends("PF-230", asks("ping"), before=(WATCHES,), may=True, is_answered=True),
    GuestSends("PF-110", asks("hello", client_id="@52", protocol_minimum_version=2, protocol_maximum_version=2)),
    # Much at once: it may be refused, but not passed over.
    GuestSends(
        "PF-064", publishes(service_props={"play": ["guest"], "large": ["x" * LARGE]}), may=True, is_answered=True
    ),
    GuestsCrowd(60),
    GuestsMeet(),
    # Versions.
    GuestGreets("PF-114", 0, 2, completes=True),
    GuestGreets("PF-114", 2, MOST, completes=True),
    GuestGreets("PF-115", 3, 3, completes=False),
    GuestGreets("PF-115", 3, 2000, completes=False),
    GuestGreets("PF-115", 0, 1, completes=False),
)
