"""The messages of Rai's modern half, as strict JSON: one declaration per message that the document draws.

A layout is the payload alone: under which subject it is published stands in the envelope. Where the document is open or
contradicts itself a reading is taken; each stands as a comment at its place. What types and status there are the
document leaves open ("There are many more status codes"), so any text is read as one.

These layouts are for what is written, which is strict; whoever reads what others write reads ``rai/text`` first.
Numbers are those of JSON: that 17.50 keeps its zero is a matter of the text (``wire/rai/relaxed.py``).
"""

from wire.envelope import LARGEST
from wire.json.anything import JsonAnything
from wire.json.primitives import (
    JsonAnyOf,
    JsonArrayOf,
    JsonBoolean,
    JsonInt,
    JsonMapOf,
    JsonObjectOf,
    JsonOptional,
    JsonString,
)
from wire.json.strict import MOST
from wire.primitives import LimitedTo, Message

string = JsonString()
boolean = JsonBoolean()
non_negative = JsonInt(0, MOST)

# Sections "HMAC Authentication" and "Session Notification": microseconds since 1970 (`utc_usecs`), seconds (`secs`).
microseconds = non_negative
seconds = non_negative

# Sections "Inbox Subjects" (`return : 1`) and "Reassert Subscription" (`return : sam.subs`). Reading: either, as the
# end of a subject in the inbox of who asks; an integer stands for its digits.
reply_to = JsonAnyOf(string, JsonInt())

# Section "Dictionaries": `dict_csum : 0x12345678`. Reading: an integer of any size, in decimal, as JSON has no other;
# the text of the document's own spelling is read too.
checksum = JsonAnyOf(string, non_negative)

# Sections "Subscription Notification" and "Update Publish": `<msg data>`. Section "Message Presentation": "the
# recursive field value notation of objects", so any values.
fields = JsonMapOf(JsonAnything())


# Section "HMAC Authentication": what every message has. Reading: a NONCE and a digest are texts of any length, as that
# depends on the profile of digests.
def message(*members: Message) -> LimitedTo:
    """Declare one message: the header that all have, and its own members."""
    header = ("session" / string, "seqno" / non_negative, "digest" / string)
    return LimitedTo(LARGEST, JsonObjectOf(*header, *members))


# Section "Session Notification": _SESSION.HELLO, and _SESSION.HB, which has the same members. Reading: ucast_url is for
# UDP multicast ("this only applies to UDP multicast transports"), so it may be absent.
hello = message(
    "ucast_url" / JsonOptional(string),
    "time" / microseconds,
    "interval" / seconds,
    "cnonce" / string,
)

# Section "Session Notification": _SESSION.BYE
bye = message()

# Section "HMAC Authentication": _INBOX.newuser1.NONCE.auth, and the answer to it, which has the same members
auth = message(
    "auth_time" / microseconds,
    "time" / microseconds,
    "cnonce" / string,
)

# Section "Subscription Notification": _SUB.START.subject. Readings: each member may be absent, as each is said to be
# there if something is wanted; initial and ack are then false, and without return nothing can be answered.
sub_start = message(
    "return" / JsonOptional(reply_to),
    "initial" / JsonOptional(boolean),
    "ack" / JsonOptional(boolean),
    "format" / JsonOptional(string),
    "expires" / JsonOptional(seconds),
)

# Section "Subscription Notification": _SUB.STOP.subject
sub_stop = message(
    "return" / JsonOptional(reply_to),
    "ack" / JsonOptional(boolean),
)

# Section "Wildcard Subscription": _PSUB.START.prefix._ and _PSUB.STOP.prefix._, which has the same members. Readings:
# expires may be absent as in _SUB.START; return and ack, which are not drawn, are read as there.
psub = message(
    "expires" / JsonOptional(seconds),
    "subject" / string,
    "pattern" / string,
    "return" / JsonOptional(reply_to),
    "ack" / JsonOptional(boolean),
)

# Section "Reassert Subscription": _INBOX.sam.NONCE.get_subs. Reading: without a wildcard all are meant, as by `>`.
get_subs = message(
    "return" / reply_to,
    "last_seen" / microseconds,
    "wildcard" / JsonOptional(string),
)

# Section "Reassert Subscription": _INBOX.paul.NONCE.sam.subs. Reading: subs_return has as many items as subs, or none;
# that is for who reads it to see.
subs = message(
    "last_seen" / microseconds,
    "wildcard" / JsonOptional(string),
    "initial" / JsonOptional(boolean),
    "ack" / JsonOptional(boolean),
    "subs" / JsonArrayOf(string),
    "subs_return" / JsonOptional(JsonArrayOf(reply_to)),
)

# Section "Snapshot Request": _SNAP.subject
snap = message(
    "return" / JsonOptional(reply_to),
    "format" / JsonOptional(string),
)

# What is told of a subject: to one session in its inbox, or to all.
# Section "Dictionaries": with "an optional dictionary checksum". Reading: `text` has the new subject of a relocation,
# and what else is said for people, as the older protocol's TEXT.
told = (
    "status" / JsonOptional(string),
    "format" / JsonOptional(string),
    "dictionary" / JsonOptional(string),
    "dict_csum" / JsonOptional(checksum),
    "text" / JsonOptional(string),
    "data" / JsonOptional(fields),
)

# Sections "Subscription Notification" (an ack, an initial value), "Snapshot Request" (a snapshot value), "Not Found
# Notification": _INBOX.sam.NONCE.1, told apart by type and status
reply = message(
    "type" / string,
    "subject" / string,
    *told,
)

# Sections "Update Publish" ("implied when a type field is not present"), "Drop Notification", "Conflated, Stale
# Publish", "Feed Switch Notification", and Verify of "Type and Status Usage": under the subject itself. Reading: a
# relocation may name the new one as `subject` as well.
publish = message(
    "type" / JsonOptional(string),
    "subject" / JsonOptional(string),
    *told,
)

# Section "Dictionaries": _INBOX.paul.NONCE.dict
dict_request = message(
    "dictionary" / string,
    "dict_csum" / JsonOptional(checksum),
    "return" / JsonOptional(reply_to),
)

# Section "Dictionaries": the response, _INBOX.sam.NONCE.1. Reading: without data there is no such dictionary.
dictionary = message(
    "dictionary" / string,
    "dict_csum" / JsonOptional(checksum),
    "data" / JsonOptional(fields),
)

LAYOUTS = {
    "hello": hello,
    "bye": bye,
    "auth": auth,
    "sub-start": sub_start,
    "sub-stop": sub_stop,
    "psub": psub,
    "get-subs": get_subs,
    "subs": subs,
    "snap": snap,
    "reply": reply,
    "publish": publish,
    "dict-request": dict_request,
    "dict": dictionary,
}
"""What the catalogue has of these."""
