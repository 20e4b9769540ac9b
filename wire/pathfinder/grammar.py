"""The messages of the Pathfinder protocol, version 2: one declaration per section of the document.

Where the document is open or contradicts itself a reading is taken; each stands as a comment at its place.
"""

from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonEnum,
    JsonInt,
    JsonMapOf,
    JsonNumeric,
    JsonObjectOf,
    JsonOneOf,
    JsonOptional,
    JsonString,
)
from wire.json.strict import MOST
from wire.primitives import LimitedTo, Message

# Section "Field Value Types"
string = JsonString()
non_negative = JsonInt(0, MOST)  # Int>=0
integer = JsonInt()  # section "Integers"

# Section "Field Value Types" names Props a JSON object and says no more; section "Properties": a multimap from names to
# strings and integers. Reading: as in the document's examples, each name has an array of its values.
props = JsonMapOf(JsonArrayOf(JsonAnyOf(string, integer)))


# Section "Mandatory Fields"
def message(command: str, message_type: str, *fields: Message, name: str = "") -> Message:
    """Declare one message: the fields that all have, and its own."""
    return (name or f"{command}-{message_type}") / JsonObjectOf(
        "ta-cmd" / JsonEnum(command),
        "ta-id" / non_negative,
        "msg-type" / JsonEnum(message_type),
        *fields,
    )


# Sections "Single Response Transaction" and "Multiple Response Transaction": messages without fields of their own
def accept(command: str) -> Message:
    """Declare an ``accept``: it has the mandatory fields only."""
    return message(command, "accept")


def complete(command: str) -> Message:
    """Declare a ``complete`` that has the mandatory fields only."""
    return message(command, "complete")


# Section "Common Reason Codes". A code that is not among the document's breaks a SHOULD, so any string is read.
def fail(command: str) -> Message:
    """Declare a ``fail``: the mandatory fields, and perhaps why."""
    return message(command, "fail", "fail-reason" / JsonOptional(string))


# The fields that describe a service, in "Subscribe Notification" and "Services Notification".
# Reading: `orphan-since` is a time since the epoch, so it is not negative; integer or floating point.
service = (
    "generation" / non_negative,
    "service-props" / props,
    "ttl" / non_negative,
    "client-id" / non_negative,
    "orphan-since" / JsonOptional(JsonNumeric(least=0)),
)

# Section "Hello Command"
hello = (
    message(
        "hello",
        "request",
        "client-id" / non_negative,
        "protocol-minimum-version" / non_negative,
        "protocol-maximum-version" / non_negative,
    ),
    message("hello", "complete", "protocol-version" / non_negative),
    fail("hello"),
)

# Section "Subscribe Command"
subscribe = (
    message(
        "subscribe",
        "request",
        "subscription-id" / non_negative,
        "filter" / JsonOptional(string),
    ),
    accept("subscribe"),
    # Section "Subscribe Notification". Readings: the message type is `notify` (the table, the example), not
    # `notification` (the prose); the match type is `disappeared` (sections "Subscriptions" and "Subscribe Command",
    # the same table's next line), not `removed`.
    JsonOneOf(
        message(
            "subscribe",
            "notify",
            "match-type" / JsonEnum("appeared", "modified"),
            "service-id" / non_negative,
            *service,
        ),
        message(
            "subscribe",
            "notify",
            "match-type" / JsonEnum("disappeared"),
            "service-id" / non_negative,
            name="subscribe-notify-disappeared",
        ),
        by=("match-type",),
    ),
    complete("subscribe"),
    fail("subscribe"),
)

# Section "Unsubscribe Command"
unsubscribe = (
    message("unsubscribe", "request", "subscription-id" / non_negative),
    complete("unsubscribe"),
    fail("unsubscribe"),
)

# Section "Subscriptions Command", which the document has twice, alike
subscriptions = (
    message("subscriptions", "request"),
    accept("subscriptions"),
    message(
        "subscriptions",
        "notify",
        "subscription-id" / non_negative,
        "client-id" / non_negative,
        "filter" / JsonOptional(string),
    ),
    complete("subscriptions"),
    fail("subscriptions"),
)

# Section "Services Command"
services = (
    message("services", "request", "filter" / JsonOptional(string)),
    accept("services"),
    message("services", "notify", "service-id" / non_negative, *service),
    complete("services"),
    fail("services"),
)

# Section "Publish Command"
publish = (
    # Section "Publish Request". Reading: the four fields of its table are required, although its sentence says that
    # there are none beside the mandatory ones.
    message(
        "publish",
        "request",
        "service-id" / non_negative,
        "generation" / non_negative,
        "service-props" / props,
        "ttl" / non_negative,
    ),
    complete("publish"),
    fail("publish"),
)

# Section "Unpublish Command"
unpublish = (
    message("unpublish", "request", "service-id" / non_negative),
    complete("unpublish"),
    fail("unpublish"),
)


# Section "Clients Command"
def clients(address: str) -> tuple[Message, ...]:
    """Declare the messages of ``clients``; ``address`` is the name of the field that has the client's."""
    return (
        message("clients", "request"),
        accept("clients"),
        message(
            "clients",
            "notify",
            "client-id" / non_negative,
            address / string,
            "time" / non_negative,
        ),
        complete("clients"),
        fail("clients"),
    )


# Section "Ping Command"
ping = (
    message("ping", "request"),
    complete("ping"),
    fail("ping"),
)

LARGEST = 262144
"""Bytes of the largest message. Section "Message Size Limitations" leaves it open; deployed servers have this one."""


def messages(address: str) -> LimitedTo:
    """Declare a message of any command."""
    return LimitedTo(
        LARGEST,
        JsonOneOf(
            *hello,
            *subscribe,
            *unsubscribe,
            *subscriptions,
            *services,
            *publish,
            *unpublish,
            *clients(address),
            *ping,
            by=("ta-cmd", "msg-type"),
        ),
    )


document_message = messages("client-addr")

# Reading: deployed servers say `client-address` in "Clients Notification".
deployed_message = messages("client-address")
