"""What is said to a Redis server: envelopes in its commands, commands at random, and what is no RESP.

https://redis.io/docs/latest/develop/reference/protocol-spec/; of the commands those that have to do with publishing,
subscribing and the connection. What ends or reconfigures the server when a client says so is none of them.
"""

from collections.abc import Iterator, Sequence
from random import Random

from fuzz.net.texts import MANY, SIZES
from fuzz.rai import messages
from fuzz.rai.broker_side import FEW, NUMBERS, broken_stream, some_payload, some_subject
from fuzz.rai.saying import LONGEST_SUBJECT
from harness.links.globs import glob_of
from harness.links.resp import CRLF, ErrorReply, Pushed, RespReader, Value, spell
from harness.links.resp_stream import command_of
from wire import envelope
from wire.envelope import Envelope
from wire.subjects import is_wildcard

WAYS = ("resp-3", "resp-2", "named")

_QUESTION = b"goldwire asks "

_SETTINGS: tuple[tuple[bytes, ...], ...] = (
    *((b"HELLO",), (b"HELLO", b"2"), (b"HELLO", b"3"), (b"HELLO", b"4"), (b"HELLO", b"3", b"SETNAME", b"a b")),
    *((b"HELLO", b"3", b"AUTH", b"tess", b"x"), (b"AUTH", b"x"), (b"AUTH", b"default", b""), (b"RESET",), (b"QUIT",)),
    *((b"CLIENT", b"SETNAME", b"tess"), (b"CLIENT", b"SETNAME", b"a\nb"), (b"CLIENT", b"GETNAME"), (b"CLIENT", b"ID")),
    *(
        (b"CLIENT", b"INFO"),
        (b"CLIENT", b"LIST"),
        (b"CLIENT", b"LIST", b"TYPE", b"pubsub"),
        (b"CLIENT", b"REPLY", b"ON"),
    ),
    *((b"CLIENT", b"REPLY", b"OFF"), (b"CLIENT", b"REPLY", b"SKIP"), (b"CLIENT", b"NO-EVICT", b"on")),
    *(
        (b"CLIENT", b"TRACKING", b"on"),
        (b"CLIENT", b"TRACKING", b"on", b"BCAST", b"PREFIX", b"LAB"),
        (b"CLIENT", b"CACHING"),
    ),
    *(
        (b"CLIENT", b"TRACKING", b"on", b"REDIRECT", b"1"),
        (b"CLIENT", b"TRACKING", b"off"),
        (b"CLIENT", b"TRACKINGINFO"),
    ),
    *(
        (b"MULTI",),
        (b"EXEC",),
        (b"DISCARD",),
        (b"WATCH", b"LAB.a"),
        (b"UNWATCH",),
        (b"SELECT", b"1"),
        (b"SELECT", b"-1"),
    ),
    *(
        (b"PING",),
        (b"PING", b"x"),
        (b"PING", b"x", b"y"),
        (b"ECHO", b"x"),
        (b"COMMAND", b"DOCS", b"SUBSCRIBE"),
        (b"INFO",),
    ),
    *(
        (b"COMMAND", b"GETKEYS", b"PUBLISH", b"a", b"b"),
        (b"COMMAND", b"COUNT"),
        (b"SUBSCRIBE",),
        (b"PUBLISH", b"a"),
        (b"",),
    ),
    *((b"MONITOR",), (b"PUBSUB", b"HELP"), (b"LOLWUT",), (b"\0",), (b"OBJECT", b"HELP"), (b"SLOWLOG", b"GET", b"1")),
)


def spelt_inline(words: Sequence[bytes], random: Random) -> bytes:
    """Return a command as people type it, with quotes that may end or not."""
    quotes = random.choice((b"%b", b"%b", b'"%b"', b"'%b'", b'"%b', b"'%b", b'"\\x41%b"', b'"%b"x'))
    return b" ".join(quotes % each for each in words) + random.choice((CRLF, CRLF, b"\n"))


def words(random: Random) -> list[bytes]:
    """Return a command."""
    match random.choices(range(6), (6, 5, 5, 2, 2, 4))[0]:
        case 0:
            return [_either(b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE", random), *_subjects(random)]
        case 1:
            return [b"PUBLISH", some_subject(random), some_payload(random)]
        case 2:
            return [_either(b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE", random), *_subjects(random, least=0)]
        case 3:
            return [b"SPUBLISH", some_subject(random), some_payload(random)]
        case 4:
            what = random.choice((b"CHANNELS", b"NUMSUB", b"NUMPAT", b"SHARDCHANNELS", b"SHARDNUMSUB", b"x"))
            return [b"PUBSUB", what, *_subjects(random, least=0)]
        case _:
            return list(random.choice(_SETTINGS))


def _either(channel: bytes, glob: bytes, shard: bytes, random: Random) -> bytes:
    return random.choice((channel, channel, glob, glob, shard))


def _subjects(random: Random, least: int = 1) -> list[bytes]:
    count = random.choice((1, 1, 1, 1, 2, 3, random.choice(MANY))) if random.random() < 0.9 else least
    return [_glob(random) if random.random() < 0.3 else some_subject(random) for _ in range(count)]


def _glob(random: Random) -> bytes:
    """Return what the server's own matching reads: many stars, sets that do not end, escapes at the end."""
    pieces = (b"*", b"?", b"[a-z]", b"[^a]", b"[", b"[^", b"[z-a]", b"\\", b"a", b"LAB", b".", b"\0", b"\xff", b"[\\]")
    made = b"".join(random.choices(pieces, k=random.choice((1, 2, 3, 5, 9))))
    if random.random() < 0.15:
        made = random.choice((b"*a", b"*", b"?", b"*?", b"[a-z]*")) * random.choice(MANY) + made
    return made


def command(random: Random) -> bytes:
    """Return one command, mostly one that a client may say, as an array or as people type it."""
    said = words(random)
    if random.random() < 0.15:
        return spelt_inline(said, random)
    if random.random() < 0.9:
        return spell(said)
    return _lied_about(said, random)


def _lied_about(said: Sequence[bytes], random: Random) -> bytes:
    """Return a command whose sizes are not what they say."""
    count = b"%d" % len(said) if random.random() < 0.6 else random.choice(NUMBERS)
    made = [b"*%b\r\n" % count]
    for each in said:
        size = b"%d" % len(each) if random.random() < 0.7 else random.choice((b"%d" % (len(each) + 1), *NUMBERS))
        made.append(random.choice((b"$", b"$", b"$", b"+", b":", b"*", b"")) + size + CRLF + each + CRLF)
    return b"".join(made)


def stream(random: Random) -> bytes:
    """Return what may be no commands."""
    kind = random.random()
    if kind < 0.1:
        return random.choice((b"PING ", b"*", b"$", b"*1\r\n$", b'"', b"\0", b"*3\r\n" * 50)) + b"1" * random.choice(
            SIZES
        )
    if kind < 0.15:
        nested = random.choice((b"*1\r\n", b"%1\r\n", b">1\r\n", b"*-1\r\n", b"*0\r\n", b"\r\n", b"_\r\n", b"#t\r\n"))
        return nested * random.choice(MANY)
    return broken_stream([command(random) for _ in range(random.choice((1, 1, 2, 4)))], random)


class RedisSide:
    """A client's side of one connection, as a session of a test has it."""

    def __init__(self, how: str) -> None:
        self.asked = self.answered = self.complaints = 0
        self.subjects: set[str] = set()
        self._how = how
        self._values = RespReader()

    def opening(self) -> bytes:
        """Return what is said first."""
        match self._how:
            case "resp-2":
                return b""
            case "named":
                return spell((b"HELLO", b"3", b"SETNAME", b"tess"))
            case _:
                return spell((b"HELLO", b"3"))

    def question(self) -> bytes:
        """Return what is answered once all is done that was said before."""
        self.asked += 1
        return spell((b"PING", _QUESTION + b"%d" % self.asked))

    def spelt(self, said: Envelope) -> bytes:
        """Return an envelope as a command."""
        if said.operation == envelope.LISTEN:
            self.subjects.add(said.subject)
        elif said.operation == envelope.CANCEL:
            self.subjects.discard(said.subject)
        elif said.operation == envelope.DATA:
            return spell((b"PUBLISH", said.subject.encode(), said.payload))
        try:
            return spell(command_of(envelope.write(said.operation, said.subject)))
        except ValueError:
            return spell((b"PSUBSCRIBE", glob_of(said.subject) if is_wildcard(said.subject) else said.subject.encode()))

    def heard(self, data: bytes) -> Iterator[str]:
        """Yield what kinds of things have come; a ``question``'s answer is counted, and is none."""
        for value in self._values.feed(data):
            if (answered := _question_of(value)) is not None:
                self.answered = max(self.answered, answered)
            else:
                yield self._kind(value)
        if self._values.fault:
            yield "no RESP"
            self._values = RespReader()

    def _kind(self, value: Value) -> str:
        match value:
            case ErrorReply():
                self.complaints += 1
                # What it repeats of what was said is no kind of its own.
                return "error " + str(value).partition("'")[0][:40]
            case [bytes(word), *_]:
                return ("pushed " if isinstance(value, Pushed) else "") + word[:20].decode(errors="replace")
            case bytes():
                return "text"
            case _:
                return type(value).__name__

    @property
    def state(self) -> tuple[int, ...]:
        """Where the two sides stand, in small numbers."""
        return min(len(self.subjects), FEW), min(self.complaints, 1)


def _question_of(value: Value) -> int | None:
    """Return which question a value answers; None where it answers none."""
    # Who has subscribed over version 2 is answered by an array.
    text = value[1] if isinstance(value, list) and len(value) == 2 and value[0] == b"pong" else value
    if not (isinstance(text, bytes) and text.startswith(_QUESTION)):
        return None
    number = text.removeprefix(_QUESTION)
    return int(number) if number.isdigit() else None


def message(random: Random) -> bytes:
    """Return a message of Rai in its envelope, what listens to such, or a command as it stands in the stream."""
    kind = random.random()
    if kind < 0.35:
        return messages.message(random)
    if kind < 0.5:
        made = envelope.listen if random.random() < 0.7 else envelope.cancel
        return made(some_subject(random)[:LONGEST_SUBJECT].decode(errors="ignore"))
    return command(random)
