"""Messages of Pathfinder at random: about few identifiers, names and values, so that they have to do with each other.

A message has ``HERE`` for its transaction identifier, which a session replaces by its next one, and for the identifier
of the client in a hello, which it replaces by its own; any other is a lie, and is sent as it stands.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from fuzz.net.texts import LOOKALIKES, MANY, MODEST_SIZES, NO_TEXT, NUMEROUS, ODD, SIZES, UNUSUAL
from fuzz.pathfinder.filters import BORDERS, NAMES, NUMBERS, TEXTS, broken_filter, filter_text
from harness.pathfinder.tester.driver import encode_message
from wire.json.strict import MOST
from wire.pathfinder.grammar import LARGEST
from wire.pathfinder.values import COMMANDS, VERSION, Message

HERE = 0
"""The identifier of a transaction or client that its session knows."""

IDS = (1, 1, 1, 2, 2, 3)
"""Of services and of subscriptions, each."""

CLIENTS = (1, 2)
"""Identifiers of clients that come again; all others are used once."""

EDGES = (0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, MOST - 1, MOST)
"""Identifiers at which a type may end."""

STRANGE = (*LOOKALIKES, *(each for each in ODD if each != "\0"))
"""What may stand in a text, and few think of."""

TTLS = (0, 1, 5, 60, 60)

TYPES = ("accept", "notify", "notification", "complete", "fail", "inform", "request", "REQUEST", "")

NO_NUMBERS = (
    *(b"1.0", b"1.5", b"1e3", b"1E400", b"-0", b"-1", b"01", b"0x1", b"NaN", b"Infinity", b"null", b"true"),
    *(b'"1"', b"[1]", b"{}", b"1" * 30, b"9" * 5000, b"1e-400", b"9223372036854775807.0"),
)
"""What stands where an integer should, as it is encoded."""


class Speech:
    """What a session may say, at random."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def message(self) -> Message:
        """Return a message as somebody might send it who speaks the protocol well."""
        random = self.random
        match random.choices(range(9), (10, 3, 8, 3, 3, 1, 1, 1, 2))[0]:
            case 0:
                return self.publish()
            case 1:
                return self.request("unpublish", {"service-id": self.id()})
            case 2:
                return self.subscribe()
            case 3:
                return self.request("unsubscribe", {"subscription-id": self.id()})
            case 4:
                return self.request("services", self.filtered())
            case 5:
                return self.request("subscriptions")
            case 6:
                return self.request("clients")
            case 7:
                return self.request("ping")
            case _:
                return self.hello()

    def request(self, command: str, fields: Mapping[str, Any] | None = None) -> Message:
        """Return a request; now and then under an identifier that may be that of a transaction which goes on."""
        random = self.random
        ta = HERE if random.random() < 0.97 else random.choice((1, 2, 3, *EDGES))
        return {"ta-cmd": command, "ta-id": ta, "msg-type": "request", **(fields or {})}

    def publish(self, props: Mapping[str, Any] | None = None) -> Message:
        """Return a request to publish a service."""
        random = self.random
        fields = {
            "service-id": self.id(),
            "generation": random.choice((0, 1, 1, 2, 3, 4)) if random.random() < 0.96 else random.choice(EDGES),
            "service-props": self.props() if props is None else props,
            "ttl": random.choice(TTLS) if random.random() < 0.96 else random.choice(EDGES),
        }
        return self.request("publish", fields)

    def with_props(self, props: Mapping[str, Any]) -> Message:
        """Return a message that carries these properties."""
        return self.publish(props)

    def subscribe(self) -> Message:
        """Return a request to subscribe."""
        return self.request("subscribe", {"subscription-id": self.id(), **self.filtered()})

    def hello(self) -> Message:
        """Return another hello: of the same versions or of others, by somebody or by somebody else."""
        random = self.random
        minimum = random.choice((VERSION, VERSION, 0, 1, 3, MOST))
        fields = {
            "client-id": random.choice((HERE, HERE, *CLIENTS, self.id())),
            "protocol-minimum-version": minimum,
            "protocol-maximum-version": random.choice((VERSION, minimum, 1, 3, MOST)),
        }
        return self.request("hello", fields)

    def props(self) -> dict[str, Any]:
        """Return properties: few of them, which filters may match."""
        random = self.random
        return {
            self.among(NAMES): [
                self.among(TEXTS) if random.random() < 0.6 else random.choice(NUMBERS)
                for _ in range(random.choice((1, 1, 1, 2, 3, 0)))
            ]
            for _ in range(random.choice((1, 1, 2, 2, 3, 0)))
        }

    def among(self, usual: Sequence[str]) -> str:
        """Return one of some texts; once in a while one that few think of."""
        random = self.random
        if random.random() >= UNUSUAL:
            return random.choice(usual)
        if random.random() < 0.5:
            return random.choice(("a", "\u00e9", "\U0001f980")) * random.choice(MODEST_SIZES)
        return random.choice(usual) + random.choice(STRANGE)

    def id(self) -> int:
        """Return an identifier of a service or of a subscription."""
        return self.random.choice(IDS) if self.random.random() < 0.96 else self.random.choice(EDGES)

    def filtered(self) -> Message:
        """Return the field of a filter, or none."""
        return {"filter": filter_text(self.random)} if self.random.random() < 0.75 else {}

    # --- texts ------------------------------------------------------------------------------------------------

    def odd_text(self) -> bytes:
        """Return a text that few expect for a name or a value, encoded."""
        random = self.random
        match random.randrange(9):
            case 0:
                return quoted(random.choice((*ODD, *LOOKALIKES, "")))
            case 1:
                return quoted(random.choice(("a", "\u00e9", "\U0001f980", "\u2028")) * random.choice(SIZES))
            case 2:
                halves = (rb"\ud800", rb"\udc00", rb"\ud83e\ud83e", rb"\udd80\ud83e", rb"\ud83e\udd80", rb"\uD83Ex")
                return b'"a' + random.choice(halves) + b'"'
            case 3:
                escapes = (rb"\u0000", rb"\/", rb"\u0061", rb"\x41", rb"\u00", rb"\"", rb"\\", rb"\'", rb"\u0000b")
                return b'"a' + random.choice(escapes) + b'"'
            case 4:
                return b'"a' + random.choice(NO_TEXT) + b'"'
            case 5:
                return b'"a' + bytes((random.choice((0, 1, 9, 10, 13, 31, 127)),)) + b'b"'
            case 6:
                return quoted("".join(random.choices("!&*()<=>\\|{}", k=random.choice((1, 2, 3)))))
            case 7:
                return quoted(filter_text(random))
            case _:
                return str(random.choice(BORDERS)).encode() if random.random() < 0.5 else quoted("1" * 40)

    def odd_props(self) -> bytes:
        """Return properties that few expect, encoded."""
        random = self.random
        name = quoted(random.choice(NAMES))
        match random.randrange(9):
            case 0 | 1:
                return b"{" + self.odd_name() + b":[" + quoted(random.choice(TEXTS)) + b"]}"
            case 2 | 3:
                return b"{" + name + b":[" + self.odd_text() + b"]}"
            case 4:
                values = random.choice((b"1", b'"x"', b"-1", b'""'))
                return b"{" + name + b":[" + b",".join([values] * random.choice((*MANY, 5000))) + b"]}"
            case 5:
                many = range(random.choice((*MANY, 3000)))
                return b"{" + b",".join(b'"%s%d":["x"]' % (random.choice((b"a", b"n")), each) for each in many) + b"}"
            case 6:
                levels = random.choice((2, 8, 64, 512, 1000, 20_000))
                return b"{" + name + b":" + b"[" * levels + b"]" * levels + b"}"
            case 7:
                return b"{" + name + b":[" + str(random.choice(BORDERS)).encode() + b",1]}"
            case _:
                twice = name + b':["x"],' + name + b':["y"]'
                return random.choice((b"{" + twice + b"}", b"{" + name + b':"x"}', b"[]", b"{" + name + b":[null]}"))

    def odd_name(self) -> bytes:
        """Return an odd text where only a text may stand."""
        text = self.odd_text()
        return text if text.startswith(b'"') else b'"' + text + b'"'

    def text(self) -> Message:
        """Return a message in which a text or a number is broken."""
        random = self.random
        match random.choices(range(6), (6, 4, 5, 1, 1, 1))[0]:
            case 0:
                return self.request("subscribe", {"subscription-id": self.id(), "filter": broken_filter(random)})
            case 1:
                return self.request("services", {"filter": broken_filter(random)})
            case 2:
                return {**self.publish(), "service-props": self.odd_props()}
            case 3:
                return self.request("services", {"filter": self.odd_name()})
            case 4:
                said = dict(self.message())
                said[random.choice([name for name in said if name != "ta-cmd"])] = random.choice(NO_NUMBERS)
                return said
            case _:
                said = dict(self.message())
                said[random.choice(tuple(said))] = self.odd_text()
                return said


def quoted(text: str) -> bytes:
    """Return a text as it stands in a message, as UTF-8 or nearly so."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def message(random: Random) -> bytes:
    """Return a request."""
    return encode_message(Speech(random).message())


def text(random: Random) -> bytes:
    """Return a message in which a filter, a property or a number is broken."""
    return encode_message(Speech(random).text())


def series(random: Random) -> list[bytes]:
    """Return requests that are alike but for the identifier of what each is about, if for anything."""
    speech = Speech(random)
    said, name = random.choice(
        (
            (speech.publish(), "service-id"),
            (speech.subscribe(), "subscription-id"),
            (speech.request("services", speech.filtered()), "ta-id"),
        )
    )
    numbers = range(1, random.choice(NUMEROUS) + 1)
    return [encode_message(said if name == "ta-id" else {**said, name: each}) for each in numbers]


def frame(random: Random) -> bytes:
    """Return a frame that no session would send now."""
    return frame_of(Speech(random))


def frame_of(speech: Speech) -> bytes:
    """Return what is nearly a message of a speech, or nothing like one."""
    # What is larger is the stream's matter: it is announced as too long.
    return speech.random.choice(_FRAMES)(speech)[:LARGEST]


def _of_another_type(speech: Speech) -> bytes:
    random, said = speech.random, speech.message()
    # As well about a transaction that may be under way: sessions count from 1.
    ta = random.choice((said["ta-id"], random.randint(1, 6)))
    return encode_message({"ta-cmd": said["ta-cmd"], "ta-id": ta, "msg-type": random.choice(TYPES)})


def _no_command(speech: Speech) -> bytes:
    commands = ("", "Ping", "PING", "ping ", "pin", "quit", *COMMANDS, "ping\0")
    return encode_message({**speech.message(), "ta-cmd": speech.random.choice(commands)})


def _something_more(speech: Speech) -> bytes:
    name = speech.random.choice(("x", "", "ta-id2", "client-id", "filter", "ttl"))
    return encode_message({**speech.message(), name: speech.random.choice((1, "x", None))})


def _something_twice(speech: Speech) -> bytes:
    said = encode_message(speech.message())
    return said[:-1] + b"," + said[1:]


def _something_missing(speech: Speech) -> bytes:
    said = dict(speech.message())
    del said[speech.random.choice(tuple(said))]
    return encode_message(said)


def _several(speech: Speech) -> bytes:
    one, other = encode_message(speech.message()), encode_message(speech.message())
    ways = (one + other, one + b"\n" + other, b"[" + one + b"," + other + b"]", one + b"x", b"\xef\xbb\xbf" + one)
    return speech.random.choice(ways)


def _spaced(speech: Speech) -> bytes:
    said = encode_message(speech.message())
    space = speech.random.choice((b" ", b"\n", b"\t", b"\r\n", b"\0")) * speech.random.choice((1, 100, 40_000))
    return speech.random.choice((space + said, said + space, said.replace(b",", b"," + space, 1)))


def _nothing(speech: Speech) -> bytes:
    return speech.random.choice((b"", b"{}", b"[]", b"null", b"0", b'""', b"{", b"}", b" ", b"\0", b"\xff"))


def _deep(speech: Speech) -> bytes:
    levels = speech.random.choice((10, 100, 1000, 10_000, 100_000))
    return speech.random.choice((b"[" * levels, b'{"a":' * levels, b"[" * levels + b"]" * levels))


def _largest(speech: Speech) -> bytes:
    size = LARGEST + speech.random.choice((-1025, -1024, -1023, -1, 0))
    said = dict(speech.with_props({"a": [""]}))
    said["service-props"] = {"a": ["x" * (size - len(encode_message(said)))]}
    return encode_message(said)


_FRAMES: tuple[Callable[[Speech], bytes], ...] = (
    *(_of_another_type, _no_command, _something_more, _something_twice, _something_missing),
    *(_several, _spaced, _nothing, _deep, _largest),
)
