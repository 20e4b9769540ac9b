"""What a publisher of Rai may say to a subscriber, at random, about the same few subjects as all messages of tests."""

from random import Random

from fuzz.net.moves import GivesCommand
from fuzz.net.texts import NO_TEXT, ODD, SIZES
from fuzz.rai.json_texts import broken_object, object_with, pairs_of
from fuzz.rai.messages import (
    DICTIONARY,
    INBOX_OF_NODE,
    INBOX_OF_SESSION,
    RaiSpeech,
    Spoken,
    plain,
    readable,
    said,
    with_numbers,
    with_text,
)
from fuzz.rai.subjects import SERVED, broken_pattern, broken_return, broken_subject, subject, wildcard
from wire.rai.values import BYE

KINDS = ("update", "initial", "initial", "start", "snap", "verify", "drop", "recap", "stop", "other")
STATES = (
    *("ok", "ok", "ok", "stale", "feed_switch", "feed_down", "not_found", "temp_unavail", "nosubscribers", "expired"),
    *("cache_full", "relocate", "bad_name", "not_entitled", "ack", "verify", "", "other"),
)
FIELDS: tuple[dict[str, object], ...] = (
    {"n": 0},
    {"n": 1},
    {"n": 2, "text": "two"},
    {"price": 17.5},
    {},
    {"n": None},
    {"n": [1, {"a": 2}]},
    {"n": [[1], []]},
    {"n": 1 << 63},
    {"name": "\u00e9\U0001f980"},
    {"": 1},
    {"n": "1"},
    {"a b": True},
    {"x\ny": "\r\n"},
)
DROPS = ("nosubscribers", "expired", "cache_full", "relocate", "relocate", "not_found", "ok", "")
CHECKSUMS = (1, 1, 2, "0x12345678", 0, -1, (1 << 32) - 1, 1 << 32, 1 << 64, "0x1FFFFFFFF", "1", "x", "")
RETURNED = ("$returned", "$returned", "$returned", "$returned", "$before", "1", "2", "3", "get_subs", "auth", "0", "x")
WILDCARDS = (">", ">", SERVED + ">", "*", "LAB.*", "LAB.a", "A.>.B", "")

VERBS = ("subscribe", "subscribe", "subscribe", "listen", "unsubscribe", "psubscribe", "punsubscribe", "snapshot")
"""What a subscriber is told to do."""


class PublishersSpeech(RaiSpeech):
    """What a publisher may say, at random."""

    def message(self) -> Spoken:
        """Return what somebody might say who speaks the protocol well."""
        random = self.random
        match random.choices(range(9), (10, 10, 2, 3, 2, 0.7, 0.7, 0.7, 3))[0]:
            case 0:
                return subject(random), self.told_of()
            case 1:
                return INBOX_OF_NODE + random.choice(RETURNED), {"subject": subject(random)} | self.told_of()
            case 2:
                name = random.choice((DICTIONARY, DICTIONARY, "other"))
                members = self.some(dict_csum=random.choice(CHECKSUMS), data=random.choice(FIELDS))
                return INBOX_OF_NODE + random.choice(RETURNED), {"dictionary": name} | members
            case 3:
                asked = {"return": self.returned(), "last_seen": random.choice(("$now", 0, 1, "$seen"))}
                return INBOX_OF_NODE + "get_subs", asked | self.some(wildcard=random.choice(WILDCARDS))
            case 4:
                return self.greeting()
            case 5:
                return BYE, {}
            case 6:
                return INBOX_OF_NODE + "auth", {"auth_time": "$asked", "time": "$now", "cnonce": "$cnonce"}
            case 7:
                return super().message()
            case _:
                return subject(random), self.dropped()

    def dropped(self) -> dict[str, object]:
        """Return the members of the end of a subject, which may have become another."""
        random = self.random
        where = self.some(text=random.choice((subject(random), subject(random), "why", "")), subject=subject(random))
        return {"type": "drop", "status": random.choice(DROPS)} | where

    def told_of(self) -> dict[str, object]:
        """Return the members of what is told of a subject: mostly an image, or an update."""
        random = self.random
        members: dict[str, object] = {}
        if random.random() < 0.6:
            members["type"] = random.choice(KINDS)
        if random.random() < 0.5:
            members["status"] = random.choice(STATES)
        if random.random() < 0.3:
            members |= self.some(dictionary=DICTIONARY, dict_csum=random.choice(CHECKSUMS), format="json")
        return members | ({"data": random.choice(FIELDS)} if random.random() < 0.85 else {})


def message(random: Random) -> bytes:
    """Return a message as a publisher might say it; once in a while with a member that is odd."""
    name, members = PublishersSpeech(random).message()
    if members and random.random() < 0.1:
        return said(name, with_numbers(broken_object(members, random)))
    return said(name, plain(members))


def text(random: Random) -> bytes:
    """Return a message in which a text is broken: its subject, a text within it, or the text that it is."""
    speech = PublishersSpeech(random)
    match random.randrange(6):
        case 0:
            return said(readable(broken_subject(random)), plain(speech.told_of()))
        case 1:
            members = speech.told_of() | {"subject": "", "text": "", "status": ""}
            name = random.choice((INBOX_OF_NODE + random.choice(RETURNED), subject(random)))
            return said(
                name, with_text(members, random.choice(("subject", "text", "status")), broken_subject(random), random)
            )
        case 2:
            asked: dict[str, object] = {"return": "", "last_seen": 0, "wildcard": ">"}
            broken = broken_return(random) if random.random() < 0.5 else broken_pattern(random)
            return said(
                INBOX_OF_NODE + "get_subs", with_text(asked, random.choice(("return", "wildcard")), broken, random)
            )
        case 3:
            members = {"type": "", "status": "", "dictionary": "", "data": {"n": 1}} | speech.told_of()
            odd = random.choice(ODD).encode() * random.choice((1, 1, 2, random.choice(SIZES)))
            broken = random.choice((odd[:60_000], random.choice(NO_TEXT), b"a" * random.choice(SIZES), b""))
            name = random.choice((subject(random), INBOX_OF_NODE + random.choice(RETURNED)))
            texts = [each for each, value in members.items() if isinstance(value, str)]
            which = "status" if random.random() < 0.3 else random.choice(texts)
            return said(name, with_text(members, which, broken, random))
        case 4:
            # Data that is odd: it is handed on as it was written.
            pairs = dict(pairs_of(speech.told_of()))
            pairs[b'"data"'] = broken_object(random.choice(FIELDS) or {"n": 1}, random)
            name = random.choice((subject(random), INBOX_OF_NODE + "$returned"))
            return said(name, with_numbers(object_with(list(pairs.items()))))
        case _:
            name, members = speech.message()
            return said(name, with_numbers(broken_object(members, random)) if members else plain(members))


def frame(random: Random) -> bytes:
    """Return what no publisher would publish: a header that is none of its own, any subject, any payload."""
    speech = PublishersSpeech(random)
    name, members = speech.message()
    header: dict[str, object] = {
        "session": random.choice(("$me", "$node", "tess.$cnonce", "mallory.x", "", ".", "tess", "a.b.c", ">", 1)),
        "seqno": random.choice((1, 2, 0, -1, "1", 1 << 32, (1 << 63) - 1, 1 << 64, 1.5, None)),
        "digest": random.choice(("$cnonce", "", "x", "=" * 22, "a" * 5000, 1, None)),
    }
    if random.random() < 0.3:
        name = random.choice((INBOX_OF_SESSION, INBOX_OF_NODE, "_INBOX.")) + str(speech.returned())
    if random.random() < 0.2:
        return said(name, random.choice((b"", b"{}", b"[]", b"null", b'"x"', b"x", b"\xff\xfe", b"{" * 2000)))
    header.pop(random.choice(("", "", "session", "seqno", "digest")), None)
    data = broken_object(header | members, random) if random.random() < 0.4 else plain(header | members)
    return said(name, with_numbers(data))


def command(random: Random) -> GivesCommand:
    """Return something that a subscriber's application wants."""
    if random.random() < 0.05:
        return GivesCommand("dictionary", (DICTIONARY,))
    verb = random.choice(VERBS)
    if "psubscribe" in verb or "punsubscribe" in verb:
        spelt, _ = wildcard(random)
        return GivesCommand(verb, (spelt if spelt.isprintable() and " " not in spelt and spelt else "LAB.>",))
    return GivesCommand(verb, (subject(random),))
