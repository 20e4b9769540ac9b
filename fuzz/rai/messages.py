"""Messages of Rai at random, to publishers: about few subjects, so that they have to do with each other."""

from random import Random

from fuzz.net.texts import MANY, NO_TEXT, NUMEROUS, ODD, SIZES
from fuzz.rai.json_texts import NUMBERS, broken_object, object_with, pairs_of, text_of
from fuzz.rai.json_texts import value as odd_value
from fuzz.rai.saying import LONGEST_SUBJECT
from fuzz.rai.subjects import (
    SERVED,
    broken_pattern,
    broken_return,
    broken_subject,
    broken_wildcard,
    subject,
    wildcard,
)
from wire import envelope
from wire.rai.values import BYE, HB, HELLO, SNAP, START, STOP, WILD_START, WILD_STOP
from wire.rai.wildcards import pattern_of_rv, published_prefix

DICTIONARY = "fields"
"""A dictionary that the publisher has."""

INTERVALS = (10, 10, 10, 1, 0, 2, 3600)
EXPIRES = (1, 10, 30, 0, 3600, 1 << 31, 1 << 32, (1 << 63) - 1)
"""Seconds."""

MOST_LISTED = 100
"""Subjects of the longest list: each has two answers, and thousands would keep a healthy publisher busy for seconds."""

INBOX_OF_NODE, INBOX_OF_SESSION = "_INBOX.$node.", "_INBOX.$me."

Spoken = tuple[str, dict[str, object]]
"""A subject and the members of what is published under it, beside the header."""


class RaiSpeech:
    """What a session may say to a publisher, at random."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def message(self) -> Spoken:
        """Return what somebody might say who speaks the protocol well."""
        random = self.random
        match random.choices(range(11), (17, 4, 3, 4, 2, 3, 1, 1.2, 1, 0.7, 0.7))[0]:
            case 0:
                return self.about(subject(random))
            case 1:
                return self.wild(WILD_START)
            case 2:
                return self.wild(WILD_STOP)
            case 3:
                return INBOX_OF_NODE + random.choice(("tess.subs", "subs", "1")), self.listed()
            case 4:
                name = random.choice((DICTIONARY, DICTIONARY, "other"))
                return INBOX_OF_NODE + "dict", {"dictionary": name} | self.some(
                    dict_csum=random.choice((1, "0x12345678", 0)), return_=self.returned()
                )
            case 5:
                return self.greeting()
            case 6:
                return BYE, {}
            case 7:
                return INBOX_OF_NODE + "auth", {"auth_time": "$asked", "time": "$now", "cnonce": "$cnonce"}
            case 8:
                return self.told()
            case 9:
                return INBOX_OF_NODE + "get_subs", {"return": "paul.subs", "last_seen": "$now", "wildcard": ">"}
            case _:
                return INBOX_OF_NODE + str(self.returned()), {
                    "type": "start",
                    "subject": subject(random),
                    "status": "ack",
                }

    def about(self, spelt: str) -> Spoken:
        """Return the start or the stop of a subscription to a subject, or a question for its value."""
        match self.random.choices(range(3), (9, 4, 4))[0]:
            case 0:
                return START + spelt, self.start()
            case 1:
                return STOP + spelt, self.some(return_=self.returned(), ack=True)
            case _:
                return SNAP + spelt, self.some(return_=self.returned(), format="json")

    def some(self, **members: object) -> dict[str, object]:
        """Return some of several members, mostly each of them."""
        return {name.removesuffix("_"): value for name, value in members.items() if self.random.random() < 0.8}

    def returned(self) -> int | str:
        """Return the end of a subject in the own inbox."""
        return self.random.choice((1, 1, 2, 3, "1", "a", "a.b", "tess.subs", 0))

    def start(self) -> dict[str, object]:
        """Return the members of a start."""
        random = self.random
        members = self.some(return_=self.returned(), initial=True, ack=True, format="json")
        return members | {"expires": random.choice(EXPIRES)} if random.random() < 0.3 else members

    def wild(self, prefix: str) -> Spoken:
        """Return the start, or the stop, of a wildcard."""
        random = self.random
        spelt, pattern = wildcard(random)
        members: dict[str, object] = {"subject": spelt, "pattern": pattern}
        if random.random() < 0.3:
            members = {"expires": random.choice(EXPIRES)} | members
        if random.random() < 0.3:
            members |= self.some(return_=self.returned(), ack=True)
        return prefix + published_prefix(spelt), members

    def listed(self) -> dict[str, object]:
        """Return the members of a list of subscriptions."""
        random = self.random
        count = random.choice((0, 1, 2, 2, 3, 3, 5, 8))
        subjects = [subject(random) for _ in range(count)]
        if random.random() < 0.03:
            subjects = (subjects * random.choice(MANY))[:MOST_LISTED]
        returns = [number + 1 for number in range(len(subjects))]
        if random.random() < 0.25:
            del returns[random.randrange(len(returns) + 1) :]
        members = {"last_seen": random.choice(("$seen", 0)), "wildcard": random.choice((">", SERVED + ">", "*"))}
        return members | self.some(initial=True, ack=True) | {"subs": subjects} | self.some(subs_return=returns)

    def greeting(self) -> Spoken:
        """Return a HELLO or HB."""
        random = self.random
        members: dict[str, object] = {"time": "$now", "interval": random.choice(INTERVALS), "cnonce": "$cnonce"}
        if random.random() < 0.3:
            host, port = (
                random.choice(("host", "10.0.0.1", "[::1]", "224.0.0.1")),
                random.choice(("7500", "1", "65535")),
            )
            members = {"ucast_url": f"pgm://{host}:{port}"} | members
        return random.choice((HELLO, HB, HB)), members

    def told(self) -> Spoken:
        """Return an update, as if it came from a publisher."""
        random = self.random
        members: dict[str, object] = {"data": {"n": random.randrange(10)}}
        if random.random() < 0.4:
            kind, status = random.choice((("drop", "nosubscribers"), ("initial", "ok"), ("recap", "feed_switch")))
            members = {"type": kind, "status": status} | members
        return subject(random), members


def said(name: str, members: bytes) -> bytes:
    """Return what publishes members under a subject, as long as may be."""
    return envelope.data(_short(name), members[: envelope.LARGEST // 2])


def _short(name: str) -> str:
    return name.encode()[:LONGEST_SUBJECT].decode(errors="ignore")


def plain(members: dict[str, object]) -> bytes:
    """Return members as an object."""
    return with_numbers(object_with(pairs_of(members)))


def with_numbers(data: bytes) -> bytes:
    """Return members with the words bare that stand for numbers."""
    for word in (b"$now", b"$asked", b"$seen"):
        data = data.replace(b'"%b"' % word, word)
    return data


def message(random: Random) -> bytes:
    """Return a message as a session might say it; once in a while with a member that is odd."""
    name, members = RaiSpeech(random).message()
    if members and random.random() < 0.1:
        return said(name, with_numbers(broken_object(members, random)))
    return said(name, plain(members))


def series(random: Random) -> list[bytes]:
    """Return messages that are alike but for the subject, or the wildcard, that each is about."""
    speech = RaiSpeech(random)
    numbers = range(1, min(random.choice(NUMEROUS), MOST_LISTED) + 1)
    spelt = subject(random)
    match random.randrange(3):
        case 0:
            members = speech.start()
            return [said(f"{START}{spelt}.{each}", plain(members)) for each in numbers]
        case 1:
            return [said(f"{SNAP}{spelt}.{each}", plain({"return": each})) for each in numbers]
        case _:
            prefix, wildcards = random.choice((WILD_START, WILD_STOP)), [f"{spelt}.{each}.>" for each in numbers]
            return [
                said(prefix + published_prefix(each), plain({"subject": each, "pattern": pattern_of_rv(each)}))
                for each in wildcards
            ]


def text(random: Random) -> bytes:
    """Return a message in which a text is broken: its subject, a text within it, or the text that it is."""
    speech = RaiSpeech(random)
    match random.choices(range(7), (4, 6, 3, 4, 3, 2, 3))[0]:
        case 0:
            spelt = readable(broken_subject(random))
            if random.random() < 0.6:
                name, members = speech.about(spelt)
                return said(name, plain(members))
            prefix = random.choice((START, STOP, SNAP, WILD_START, WILD_STOP, "_SUB.", "_", INBOX_OF_NODE))
            return said(prefix + spelt, plain(speech.message()[1]))
        case 1:
            # A wildcard's subject, or its pattern.
            name, members = speech.wild(random.choice((WILD_START, WILD_START, WILD_STOP)))
            kind = random.random()
            if kind < 0.45:
                return said(name, with_text(members, "pattern", broken_pattern(random), random))
            return said(name, with_text(members, "subject", broken_wildcard(random), random))
        case 2:
            name = random.choice((START, STOP, SNAP)) + subject(random)
            return said(name, with_text({"ack": True, "initial": True}, "return", broken_return(random), random))
        case 3:
            return said(INBOX_OF_NODE + "subs", _broken_list(speech, random))
        case 4:
            name, members = speech.message()
            texts = [each for each, value in members.items() if isinstance(value, str)]
            if not texts:
                return said(name, with_numbers(broken_object(members, random)))
            odd = random.choice(ODD).encode() * random.choice((1, 1, 2, random.choice(SIZES)))
            broken = random.choice((odd[:60_000], random.choice(NO_TEXT), b"a" * random.choice(SIZES), b""))
            return said(name, with_text(members, random.choice(texts), broken, random))
        case 5:
            name, members = speech.greeting()
            url = random.choice((b"pgm://", b"udp://", b"", b"pgm://h:"))
            broken = url + random.choice((odd_value(random), broken_subject(random), b"h:" + random.choice(NUMBERS)))
            return said(name, with_text(members, "ucast_url", broken[:60_000], random))
        case _:
            name, members = speech.message()
            return said(name, with_numbers(broken_object(members, random)))


def _broken_list(speech: RaiSpeech, random: Random) -> bytes:
    """Return the members of a list in which one of the subjects, or of the returns, is broken."""
    members = speech.listed()
    pairs = dict(pairs_of(members))
    name, broken = random.choice(((b'"subs"', broken_subject(random)), (b'"subs_return"', broken_return(random))))
    items = [b'"%b%d"' % (SERVED.encode(), each) for each in range(random.choice((0, 1, 3)))]
    items.insert(random.randrange(len(items) + 1), text_of(broken[:60_000], random))
    pairs[name] = b"[%b]" % b",".join(items)
    return with_numbers(object_with(list(pairs.items())))


def with_text(members: dict[str, object], name: str, broken: bytes, random: Random) -> bytes:
    """Return members of which one is a text that is broken."""
    pairs = dict(pairs_of(members))
    pairs[b'"%b"' % name.encode()] = text_of(broken, random)
    return with_numbers(object_with(list(pairs.items())))


def readable(broken: bytes) -> str:
    """Return what is broken as a text, without what is no UTF-8."""
    # An envelope names subjects that are UTF-8.
    return broken.decode(errors="ignore")


def frame(random: Random) -> bytes:
    """Return what no session would publish: a header that is none of its own, any subject, any payload."""
    speech = RaiSpeech(random)
    name, members = speech.message()
    header: dict[str, object] = {
        "session": random.choice(
            ("$me", "$node", "tess.$cnonce", "mallory.x", "", ".", "tess", "tess.", "a.b.c", ">", 1)
        ),
        "seqno": random.choice((1, 2, 0, -1, "1", 1 << 32, (1 << 63) - 1, 1 << 64, 1.5, None)),
        "digest": random.choice(("$cnonce", "$cnonce", "", "x", "=" * 22, "a" * 5000, 1, None)),
    }
    match random.randrange(5):
        case 0:
            name = random.choice(("_SESSION.X", "_SESSION", "_", "_SUB.PAUSE.LAB.a", "_SUB.START.", ">", "LAB.>", "*"))
        case 1:
            name = random.choice((INBOX_OF_SESSION, INBOX_OF_NODE, "_INBOX.", "_INBOX.a.")) + str(speech.returned())
        case 2:
            name = readable(broken_subject(random))
        case _:
            pass
    if random.random() < 0.2:
        return said(name, random.choice((b"", b"{}", b"[]", b"null", b'"x"', b"x", b"\xff\xfe", b"{" * 2000)))
    del_ = random.choice(("", "", "session", "seqno", "digest"))
    header.pop(del_, None)
    data = broken_object(header | members, random) if random.random() < 0.4 else plain(header | members)
    return said(name, with_numbers(data))
