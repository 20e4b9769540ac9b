"""A codec of ``pathfinder/message`` and ``pathfinder/deployed-message`` behind goldwire's pipe (vectors/pipe.md).

Written by hand from the document and RFC 8259, in Python without anything else, to be copied and to disagree: it shares
no code with goldwire's engines. A frame is JSON, so its value is what the text says: no bytes, no ``type``.
"""

import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

LARGEST = 262144
MOST = 2**63 - 1
LEVELS = 64

Value = dict[str, Any]


class Refusal(Exception):
    """Bytes that are no message: the class of the reason, and the offset in bytes."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset


class Unfit(Exception):
    """A value that the layout cannot express; the message says why."""


# ------------------------------------------------------------------------------------------ strict JSON, with offsets


class Node:
    """A value and where it stands; a table has nodes, and ``names`` where their names begin."""

    def __init__(self, start: int, end: int, value: Any, names: dict[str, int] | None = None) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.names = names or {}


NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
SHORT = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}
WORDS = {b"t": (b"true", True), b"f": (b"false", False), b"n": (b"null", None)}


class Reader:
    """One text, and how far it is read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def whole(self) -> Node:
        """Read the one value of a text."""
        node = self.value(0)
        self.white()
        if self.at < len(self.data):
            raise Refusal("trailing", self.at)
        return node

    def white(self) -> None:
        """Pass over white space."""
        while self.at < len(self.data) and self.data[self.at] in b" \t\n\r":
            self.at += 1

    def next(self) -> bytes:
        """Return the next byte, which has to be there."""
        if self.at >= len(self.data):
            raise Refusal("truncated", len(self.data))
        return self.data[self.at : self.at + 1]

    def wrong(self) -> NoReturn:
        """Refuse the next byte, or that there is none."""
        self.next()
        raise Refusal("bad-syntax", self.at)

    def value(self, level: int) -> Node:
        """Read a value, with white space before it."""
        self.white()
        start, byte = self.at, self.next()
        if byte in b"{[":
            if level == LEVELS:
                raise Refusal("too-long", start)
            return self.table(level + 1) if byte == b"{" else self.row(level + 1)
        if byte == b'"':
            text = self.text()
            return Node(start, self.at, text)
        if byte in WORDS:
            word, value = WORDS[byte]
            for letter in word:
                if self.next()[0] != letter:
                    self.wrong()
                self.at += 1
            return Node(start, self.at, value)
        return self.number()

    def number(self) -> Node:
        """Read a number: an integer unless it has a fraction or an exponent."""
        start = self.at
        if self.data[start : start + 1] == b"-":
            self.at += 1
        if self.next() not in b"0123456789":
            self.wrong()
        match = NUMBER.match(self.data, start)
        assert match is not None
        self.at = match.end()
        rest = self.data[self.at : self.at + 1]
        if match[0].lstrip(b"-") == b"0" and rest and rest in b"0123456789":
            self.wrong()  # a leading zero
        if (rest == b"." and not match[1] and not match[2]) or (rest and rest in b"eE" and not match[2]):
            self.at += 1  # what is begun is not complete
            if rest != b"." and self.next() in b"+-":
                self.at += 1
            self.wrong()
        if match[1] or match[2]:
            real = float(match[0])
            if math.isinf(real):
                raise Refusal("out-of-range", start)
            return Node(start, self.at, real)
        if len(match[0]) > 20 or not -MOST - 1 <= int(match[0]) <= MOST:
            raise Refusal("out-of-range", start)
        return Node(start, self.at, int(match[0]))

    def text(self) -> str:
        """Read a text between quotation marks."""
        self.at += 1
        pieces = []
        while True:
            run = PLAIN.match(self.data, self.at)
            assert run is not None
            try:
                pieces.append(run[0].decode())
            except UnicodeDecodeError as error:
                if error.reason == "unexpected end of data" and run.end() == len(self.data):
                    raise Refusal("truncated", len(self.data)) from None
                raise Refusal("bad-text", self.at + error.start) from None
            self.at = run.end()
            byte = self.next()
            if byte == b'"':
                self.at += 1
                return "".join(pieces)
            if byte != b"\\":
                self.wrong()
            pieces.append(self.escape())

    def escape(self) -> str:
        """Read what a backslash begins."""
        start = self.at
        self.at += 1
        byte = self.next()
        if byte in SHORT:
            self.at += 1
            return SHORT[byte]
        if byte != b"u":
            self.wrong()
        code = self.digits()
        if code == 0 or 0xDC00 <= code < 0xE000:
            raise Refusal("bad-text", start)
        if 0xD800 <= code < 0xDC00:
            for expected in (b"\\", b"u"):
                if self.next() != expected:
                    raise Refusal("bad-text", start)
                self.at += expected == b"\\"
            low = self.digits()
            if not 0xDC00 <= low < 0xE000:
                raise Refusal("bad-text", start)
            return chr(0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00)
        return chr(code)

    def digits(self) -> int:
        """Read u and four digits."""
        self.at += 1
        for _ in range(4):
            if self.next() not in b"0123456789abcdefABCDEF":
                self.wrong()
            self.at += 1
        return int(self.data[self.at - 4 : self.at], 16)

    def ends(self, bracket: bytes) -> bool:
        """Read a comma, or the bracket that ends a container."""
        self.white()
        byte = self.next()
        if byte not in (b",", bracket):
            self.wrong()
        self.at += 1
        self.white()
        return byte == bracket

    def row(self, level: int) -> Node:
        """Read an array."""
        start = self.at
        self.at += 1
        self.white()
        items: list[Node] = []
        if self.next() == b"]":
            self.at += 1
            return Node(start, self.at, items)
        while True:
            items.append(self.value(level))
            self.white()
            end = self.at + 1
            if self.ends(b"]"):
                self.at = end
                return Node(start, end, items)

    def table(self, level: int) -> Node:
        """Read an object; no name may be there twice, however it is spelled."""
        start = self.at
        self.at += 1
        self.white()
        members: dict[str, Node] = {}
        names: dict[str, int] = {}
        if self.next() == b"}":
            self.at += 1
            return Node(start, self.at, members)
        while True:
            begins = self.at
            if self.next() != b'"':
                self.wrong()
            name = self.text()
            if name in members:
                raise Refusal("duplicate-name", begins)
            self.white()
            if self.next() != b":":
                self.wrong()
            self.at += 1
            members[name], names[name] = self.value(level), begins
            self.white()
            end = self.at + 1
            if self.ends(b"}"):
                self.at = end
                return Node(start, end, members, names)


# ------------------------------------------------------------------------------------------ what messages consist of

Check = Callable[[Node], Any]


def typed(node: Node, *kinds: type) -> Any:
    """Return the value of a node that has one of some types; a truth is no integer."""
    if type(node.value) not in kinds:
        raise Refusal("wrong-type", node.start)
    return node.value


def identifier(node: Node) -> int:
    """Check an integer that is not negative."""
    value: int = typed(node, int)
    if value < 0:
        raise Refusal("out-of-range", node.start)
    return value


def text(node: Node) -> str:
    """Check a text."""
    value: str = typed(node, str)
    return value


def number(node: Node) -> float:
    """Check a number that is not negative."""
    value: float = typed(node, int, float)
    if value < 0:
        raise Refusal("out-of-range", node.start)
    return value


def props(node: Node) -> Value:
    """Check properties: names with lists of texts and integers."""
    members: dict[str, Node] = typed(node, dict)
    return {name: [typed(each, str, int) for each in typed(items, list)] for name, items in members.items()}


SERVICE: dict[str, Check] = {
    "generation": identifier,
    "service-props": props,
    "ttl": identifier,
    "client-id": identifier,
}
ORPHAN: dict[str, Check] = {"orphan-since": number}
OWNED: dict[str, Check] = {"service-id": identifier}
SUBSCRIPTION: dict[str, Check] = {"subscription-id": identifier}
Shape = tuple[dict[str, Check], dict[str, Check]]
"""The fields that have to be there beside the mandatory ones, and those that may."""

HELLO: dict[str, Check] = {
    "client-id": identifier,
    "protocol-minimum-version": identifier,
    "protocol-maximum-version": identifier,
}
SINGLE, MULTIPLE = ("hello", "unsubscribe", "publish", "unpublish", "ping"), ("subscriptions", "services", "clients")


def shapes(address: str) -> dict[tuple[str, ...], Shape]:
    """Return the fields of every message; ``address`` is what the client's is called."""
    every: dict[tuple[str, ...], Shape] = {}
    for command in (*SINGLE, "subscribe", *MULTIPLE):
        every[command, "request"] = every[command, "complete"] = {}, {}
        every[command, "fail"] = {}, {"fail-reason": text}
        if command not in SINGLE:
            every[command, "accept"] = {}, {}
    every["hello", "request"] = HELLO, {}
    every["hello", "complete"] = {"protocol-version": identifier}, {}
    every["subscribe", "request"] = SUBSCRIPTION, {"filter": text}
    every["unsubscribe", "request"] = SUBSCRIPTION, {}
    every["subscriptions", "notify"] = {**SUBSCRIPTION, "client-id": identifier}, {"filter": text}
    every["services", "request"] = {}, {"filter": text}
    every["services", "notify"] = {**OWNED, **SERVICE}, ORPHAN
    described = {name: check for name, check in SERVICE.items() if name != "client-id"}
    every["publish", "request"] = {**OWNED, **described}, {}
    every["unpublish", "request"] = OWNED, {}
    every["clients", "notify"] = {"client-id": identifier, address: text, "time": identifier}, {}
    for match in ("appeared", "modified"):
        every["subscribe", "notify", match] = {**OWNED, **SERVICE}, ORPHAN
    every["subscribe", "notify", "disappeared"] = OWNED, {}
    return every


LAYOUTS = {"pathfinder/message": shapes("client-addr"), "pathfinder/deployed-message": shapes("client-address")}
DECIDING = ("ta-cmd", "msg-type", "match-type")


def decode(layout: str, data: bytes) -> Value:
    """Decode a frame that is one message and nothing else."""
    if len(data) > LARGEST:
        raise Refusal("too-long", LARGEST)
    node = Reader(data).whole()
    members: dict[str, Node] = typed(node, dict)
    every = LAYOUTS[layout]
    key: tuple[str, ...] = ()
    for name in DECIDING:
        if name == "match-type" and key in every:
            break
        if name not in members:
            raise Refusal("missing-field", node.end - 1)
        key = (*key, text(members[name]))
        if not any(each[: len(key)] == key for each in every):
            raise Refusal("unknown-id", members[name].start)
    required, optional = every[key]
    checks: dict[str, Check] = {
        **dict.fromkeys(DECIDING[: len(key)], text),
        "ta-id": identifier,
        **required,
        **optional,
    }
    value: Value = {}
    for name, member in members.items():
        if name not in checks:
            raise Refusal("unknown-field", node.names[name])
        value[name] = checks[name](member)
    if "ta-id" not in value or not required.keys() <= value.keys():
        raise Refusal("missing-field", node.end - 1)
    return value


# ------------------------------------------------------------------------------------------ encoding


def spelled(value: Any) -> str:
    """Spell a value in the fewest characters: white space nowhere, escapes where they have to be."""
    if isinstance(value, str):
        value.encode()
        if "\0" in value:
            raise Unfit("NUL has no place in a text")
    if isinstance(value, list):
        return f"[{','.join(map(spelled, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{spelled(name)}:{spelled(each)}' for name, each in value.items())}}}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def encode(layout: str, value: Any) -> bytes:
    """Encode one message, its fields in the order of the document; an optional one that is null is absent."""
    if not isinstance(value, dict):
        raise Unfit("a message is a table")
    every = LAYOUTS[layout]
    names = tuple(str(value.get(name)) for name in DECIDING)
    key = next((names[:length] for length in (2, 3) if names[:length] in every), None)
    if key is None:
        raise Unfit(f"no message has {', '.join(names)}")
    required, optional = every[key]
    order = ["ta-cmd", "ta-id", "msg-type", *DECIDING[2 : len(key)], *required, *optional]
    there = {name: value[name] for name in order if name in value and (name in required or value[name] is not None)}
    if value.keys() - order:
        raise Unfit(f"fields that the message does not have: {sorted(value.keys() - order)}")
    try:
        data = spelled(there).encode()
        decode(layout, data)  # whatever does not fit is refused there
    except (Refusal, ValueError, TypeError, RecursionError) as error:
        raise Unfit(f"the message cannot be written: {error}") from None
    return data


# ------------------------------------------------------------------------------------------ the pipe


def answer(request: Value) -> Value:
    """Answer one request."""
    do, layout = request.get("do"), request.get("layout")
    if do == "describe":
        return {
            "pipe": "goldwire-pipe-1",
            "name": "goldwire example of JSON in Python",
            "version": "1",
            "language": "Python",
            "layouts": [*LAYOUTS],
        }
    if do not in ("decode", "encode"):
        return {"error": {"detail": f"cannot do {do!r}"}}
    if layout not in LAYOUTS:
        return {"error": {"detail": f"the layout {layout!r} is not spoken here"}}
    if do == "decode":
        return {"results": [decoded(layout, frame) for frame in request["frames"]]}
    return {"results": [encoded(layout, value) for value in request["values"]]}


def decoded(layout: str, frame: str) -> Value:
    """Answer for one frame."""
    try:
        return {"value": decode(layout, bytes.fromhex(frame))}
    except Refusal as refusal:
        return {"error": {"reason": refusal.reason, "offset": refusal.offset}}


def encoded(layout: str, value: Any) -> Value:
    """Answer for one value."""
    try:
        return {"bytes": encode(layout, value).hex()}
    except Unfit as unfit:
        return {"error": {"detail": str(unfit)}}


def main() -> None:
    """Answer line after line, up to the end of the input."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        sys.stdout.write(json.dumps({"id": request["id"]} | answer(request)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
