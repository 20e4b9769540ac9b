"""The reference Pathfinder server as a process, and messages that nobody should send: each on a fresh connection.

In every test others are served meanwhile: a subscriber, a publisher and a pinger, each answered promptly.
"""

from collections.abc import Callable, Iterator

import pytest
from pathfinder_attack import ANSWER_TIMEOUT, CLOCK, FRAMED, Bystanders, Client, Served, service
from pathfinder_offences import Offence, awaiting_hello, doubled, integers, missing, requests, wrong_types

from harness.errors import LinkClosed
from harness.pathfinder.framings import FRAMINGS
from harness.pathfinder.tester.driver import new_id
from wire.pathfinder.grammar import LARGEST

TRANSPORTS: tuple[str, ...] = ("tcp", "tcp-stream", "ux", "tls")
REQUESTS = requests()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server that must live until the last test is over, and has then nothing to complain of."""
    with Served(*TRANSPORTS) as served:
        yield served
        assert served.end() == (0, "")


@pytest.fixture(autouse=True)
def others(served: Served) -> Iterator[Bystanders]:
    """Those who must not notice."""
    with Bystanders(served.addresses["tcp"]) as others:
        yield others


def fate(served: Served, frame: bytes, transport: str = "tcp") -> str:
    """Send a frame behind a hello, and return what becomes of it: the type of the answer, or ``ended``."""
    with Client(served.addresses[transport]).greet() as client:
        client.link.send_raw(FRAMINGS[transport].encode(frame) if transport in ("tcp", "tls") else frame)
        return client.fate()


# --- messages that are none -------------------------------------------------------------------------------

PING = b'{"ta-cmd":"ping","ta-id":2,"msg-type":"request"}'

NO_OBJECTS = {
    "null": b"null",
    "true": b"true",
    "a number": b"17",
    "a text": b'"ping"',
    "an array": b"[]",
    "an array of a request": b"[" + PING + b"]",
    "an empty object": b"{}",
    "half an object": b'}{"ta-cmd":',
    "a byte order mark": b"\xef\xbb\xbf" + PING,
    "a comma before it": b"," + PING,
    "UTF-16": PING.decode().encode("utf-16"),
    "no text at all": bytes(range(256)) * 100,
    "zeros": bytes(10_000),
    "bad UTF-8": PING.replace(b"ping", b"pin\xff"),
    "an overlong spelling": PING.replace(b"ping", b"pin\xc1\xa7"),
    "half a surrogate pair": PING.replace(b"ping", b"\\ud800"),
    "NUL": PING.replace(b"ping", b"ping\\u0000"),
    "a control character": PING.replace(b"ping", b"ping\n"),
    "single quotes": PING.replace(b'"', b"'"),
    "a comma too many": PING.replace(b"}", b",}"),
    "a comment": PING.replace(b"{", b"{/**/", 1),
    "a text as long as messages are": b'"' + b"x" * (LARGEST - 2) + b'"',
    "the name of a member as long": b'{"' + b"x" * (LARGEST - 6) + b'":1}',
}
NOT_IN_STREAMS = {
    "nothing": b"",
    "white space": b" \r\n\t",
    "something behind it": PING + b"x",
    "another behind it": PING + PING,
    "an object without end": PING[:-1],
}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_is_no_message(served: Served, transport: str) -> None:
    offences = NO_OBJECTS if transport == "tcp-stream" else {**NO_OBJECTS, **NOT_IN_STREAMS}
    fates = {what: fate(served, frame, transport) for what, frame in offences.items()}
    assert fates == dict.fromkeys(fates, "ended")


@pytest.mark.parametrize("command", REQUESTS)
@pytest.mark.parametrize("offences", [wrong_types, missing, doubled, awaiting_hello, integers])
def test_requests_that_the_layout_does_not_have(served: Served, offences: object, command: str) -> None:
    assert callable(offences)
    made: list[Offence] = list(offences(REQUESTS[command]))
    assert made or (offences is integers and not REQUESTS[command].members)
    wrong = {}
    for offence in made:
        became = fate(served, offence.frame)
        if became not in (("accept", "complete", "fail") if offence.is_request else ("ended",)):
            wrong[offence.what] = became
    assert not wrong


@pytest.mark.parametrize("frame", [PING.replace(b"request", b"complete"), PING.replace(b"ping", b"pong")])
def test_messages_that_are_no_requests(served: Served, frame: bytes) -> None:
    assert fate(served, frame) == "ended"


# --- depth ------------------------------------------------------------------------------------------------

PUBLISH = (
    b'{"ta-cmd":"publish","ta-id":2,"msg-type":"request","service-id":2,"generation":0,"ttl":1,"service-props":%s}'
)

DEEP: dict[str, Callable[[], bytes]] = {
    "arrays": lambda: b"[" * 100_000 + b"]" * 100_000,
    "arrays without end": lambda: b"[" * LARGEST,
    "objects": lambda: b'{"":' * 50_000 + b"1" + b"}" * 50_000,
    "objects without end": lambda: b'{"":' * 65_000,
    "both": lambda: b'[{"":' * 50_000,
    "a property": lambda: PUBLISH % (b"[" * 100_000 + b"]" * 100_000),
    "an object for a property": lambda: PUBLISH % (b'{"a":' * 40_000 + b"1" + b"}" * 40_000),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_depth(served: Served, transport: str) -> None:
    before = served.effort()
    for what, make in DEEP.items():
        frame = make()
        if transport == "tcp-stream" and what == "objects without end":
            frame += frame  # a server of streams has to wait until it is too long
        assert fate(served, frame, transport) == "ended", what
    assert served.effort() - before < 2.0, "seconds of processor time"


# --- pieces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["tcp", "tcp-stream", "tls"])
def test_a_conversation_byte_by_byte(served: Served, transport: str) -> None:
    with Client(served.addresses[transport]) as client:
        number = new_id()
        hello = {"client_id": client.client_id, "protocol_minimum_version": 2, "protocol_maximum_version": 2}
        frames = [
            client.request("hello", **hello),
            client.request("subscribe", subscription_id=number, filter=f"(mine={number})"),
            client.request("publish", **service(number, mine=[number])),
            client.request("ping"),
        ]
        for byte in b"".join(map(FRAMINGS[transport].encode, frames)):
            client.link.send_raw(bytes([byte]))
        said = [client.next()["msg-type"] for _ in range(5)]
        assert sorted(said) == ["accept", "complete", "complete", "complete", "notify"]


@pytest.mark.parametrize("transport", ["tcp", "tcp-stream", "tls"])
def test_a_frame_that_ends_at_any_byte(served: Served, transport: str) -> None:
    data = FRAMINGS[transport].encode(PING)
    for length in range(len(data)):
        client = Client(served.addresses[transport])
        client.link.send_raw(data[:length])
        (client.link.abort if length % 2 else client.link.close)()


@pytest.mark.parametrize("transport", ["tcp", "tls"])
@pytest.mark.parametrize(
    ("length", "rest", "answer"),
    [
        (0, b"", "ended"),
        (1, b" ", "ended"),
        (LARGEST, b"x" * LARGEST, "ended"),
        (LARGEST, PING.ljust(LARGEST), "fail"),
        (LARGEST + 1, b"", "ended"),
        (LARGEST + 1, PING.ljust(LARGEST + 1), "ended"),
        (2**31 - 1, b"x", "ended"),
        (2**31, b"x" * 1000, "ended"),
        (2**32 - 1, PING, "ended"),
    ],
)
def test_length_prefixes(served: Served, transport: str, length: int, rest: bytes, answer: str) -> None:
    with Client(served.addresses[transport]).greet() as client:
        client.link.send_raw(length.to_bytes(4, "big") + rest)
        assert client.fate() == answer


def test_a_frame_that_is_announced_and_never_comes(served: Served) -> None:
    before = served.resident()
    clients = [Client(served.addresses["tcp"]).greet() for _ in range(200)]
    for client in clients:
        client.link.send_raw(LARGEST.to_bytes(4, "big"))
    assert served.resident() - before < 200 * LARGEST / 2
    for client in clients:
        client.link.abort()


# --- resets -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_reset_in_the_middle_of_a_transaction(served: Served, transport: str) -> None:
    crowd = [new_id() for _ in range(1_000)]
    with Client(served.addresses["tcp"]).greet() as publisher:
        for number in crowd:
            publisher.begin("publish", **service(number, crowd=["x" * 1000]))
        for _ in crowd:
            assert publisher.next()["msg-type"] == "complete"
        for command in ("services", "subscribe", "publish", "unpublish"):
            leaver = Client(served.addresses[transport]).greet()
            if command in ("services", "subscribe"):
                more = {"subscription_id": new_id()} if command == "subscribe" else {}
                leaver.begin(command, filter="(crowd=*)", **more)
                assert leaver.next()["msg-type"] == "accept"
                assert leaver.next()["msg-type"] == "notify"
            elif command == "publish":
                for _ in crowd:
                    leaver.begin("publish", **service(new_id(), ttl=0))
            else:
                for number in crowd:
                    leaver.begin("unpublish", service_id=number)
            leaver.link.abort()
            deadline = CLOCK.now() + ANSWER_TIMEOUT
            while leaver.client_id in [each.get("client-id") for each in publisher.answers("subscriptions")]:
                assert CLOCK.now() < deadline, "the server has not seen the end"


def test_both_sides_are_heard_to_the_end(served: Served) -> None:
    """Who has said all that it wants to say still gets the answers."""
    with Client(served.addresses["tcp"]).greet() as client:
        frames = [client.request("ping") for _ in range(1_000)]
        client.link.send_raw(b"".join(map(FRAMED.encode, frames)))
        client.link._socket.shutdown(1)
        for _ in frames:
            assert client.next()["msg-type"] == "complete"
        with pytest.raises(LinkClosed):
            client.link.receive(CLOCK.now() + ANSWER_TIMEOUT)


# --- filters ----------------------------------------------------------------------------------------------

MOST_TEXT = 131_072  # characters of a filter that the server takes
LONG = "a" * 250_000
STARS = "*a" * 40_000


def _nested(operator: str, depth: int) -> str:
    return f"({operator}" * depth + "(hostile=b)" + ")" * depth


def _wide(item: str, operator: str = "|") -> str:
    return f"({operator}{item * (MOST_TEXT // len(item) - 1)})"


TAKEN: dict[str, Callable[[], str]] = {
    "not, 20,000 deep": lambda: _nested("!", 20_000),
    "and, 20,000 deep": lambda: _nested("&", 20_000),
    "or, 20,000 deep": lambda: _nested("|", 20_000),
    "all of them, 21,000 deep": lambda: "(&(!(|" * 7_000 + "(hostile=b)" + ")))" * 7_000,
    "a comb, 4,000 deep": lambda: "(&(hostile=a)(!(hostile>1))" * 4_000 + "(hostile=b)" + ")" * 4_000,
    "40,000 stars": lambda: f"(hostile={STARS}*)",
    "40,000 stars, and an end that is not there": lambda: f"(hostile={STARS}*b)",
    "40,000 stars, and something else among them": lambda: f"(hostile={STARS}*b{STARS[:20_000]}*)",
    "a long text that is nearly there": lambda: f"(hostile=*{'a' * 65_000}b{'a' * 65_000}*)",
    "nothing but stars": lambda: "(hostile=" + "*" * 130_000 + ")",
    "many equals": lambda: _wide("(hostile=5)"),
    "a key as long as filters are": lambda: f"({'k' * 131_000}=*)",
    "backslashes": lambda: "(hostile=" + "\\\\" * 65_000 + ")",
}
TOO_LABORIOUS: dict[str, Callable[[], str]] = {
    "many short texts": lambda: _wide("(hostile=*aab*)"),
    "many short texts that are there, denied": lambda: _wide("(!(hostile=*aaa*))"),
    "many texts from the middle": lambda: _wide("(hostile=*aaaaaaaabaaaaaaaa*)"),
    "many integers": lambda: _wide("(hostile>5)"),
    "many equals, denied": lambda: _wide("(!(hostile=1))", "&"),
    "nearly as long as messages are": lambda: _wide("(a=1)", "&") + " " * 100_000,
}
WRONG: dict[str, Callable[[], str]] = {
    "a prefix without end": lambda: "(&" * 65_000,
    "a backslash too many": lambda: "(hostile=" + "\\\\" * 65_000 + "\\)",
}
REASONS = {
    **dict.fromkeys(TAKEN, None),
    **dict.fromkeys(TOO_LABORIOUS, "insufficient-resources"),
    **dict.fromkeys(WRONG, "invalid-filter-syntax"),
}


@pytest.fixture(scope="module")
def bulky(served: Served) -> Iterator[None]:
    """Services that take long to look through."""
    with Client(served.addresses["tcp"]).greet() as client:
        for values in ([LONG], [1] * 120_000, ["a" * 1_000 + "b"] * 200, [LONG[:100_000], LONG[:100_001]]):
            assert client.ask("publish", **service(new_id(), hostile=values))["msg-type"] == "complete"
        yield


@pytest.mark.slow  # each is held against services that take long to look through, six times
@pytest.mark.usefixtures("bulky")
@pytest.mark.parametrize("what", REASONS)
def test_filters(served: Served, what: str) -> None:
    """In a list, in a subscription, and when services change that a subscription may match."""
    text, number, before = {**TAKEN, **TOO_LABORIOUS, **WRONG}[what](), new_id(), served.effort()
    with Client(served.addresses["tcp"]).greet() as client, Client(served.addresses["tcp"]).greet() as publisher:
        listed = client.ask("services", filter=text)
        # By the letter a list has no word for a filter that is none.
        reason = None if what in WRONG else REASONS[what]
        assert (listed["msg-type"] == "fail", listed.get("fail-reason")) == (what not in TAKEN, reason)
        assert client.ask("subscribe", subscription_id=number, filter=text).get("fail-reason") == REASONS[what]
        for generation in range(2):
            fields = service(number, generation, hostile=[LONG, generation])
            assert publisher.ask("publish", **fields)["msg-type"] == "complete"
        assert publisher.ask("unpublish", service_id=number)["msg-type"] == "complete"
    assert served.effort() - before < 2.0, "seconds of processor time"


@pytest.mark.slow  # fills a server to its limits
def test_a_service_that_is_too_laborious_for_the_filters_of_all(served: Served) -> None:
    """Filters that nothing speaks against, and then a service with long values: only that is refused."""
    with Client(served.addresses["tcp"]).greet() as client, Client(served.addresses["tcp"]).greet() as publisher:
        for _ in range(5):
            text = _wide("(later=*aab*)")
            assert client.ask("subscribe", subscription_id=new_id(), filter=text)["msg-type"] == "accept"
        before = served.effort()
        refused = publisher.ask("publish", **service(new_id(), later=[LONG]))
        assert refused.get("fail-reason") == "insufficient-resources"
        assert publisher.ask("publish", **service(new_id(), other=[LONG]))["msg-type"] == "complete"
        assert publisher.ask("publish", **service(new_id(), later=["a" * 1_000]))["msg-type"] == "complete"
        assert served.effort() - before < 1.0, "seconds of processor time"
    with Client(served.addresses["tcp"]).greet() as publisher:
        deadline, number = CLOCK.now() + ANSWER_TIMEOUT, new_id()
        while publisher.ask("publish", **service(number, later=[LONG]))["msg-type"] == "fail":
            assert CLOCK.now() < deadline, "the filters of one that has left still count"


@pytest.mark.slow  # fills a server to its limits
def test_subscriptions_that_are_too_laborious_for_a_service_that_is_there(served: Served) -> None:
    """Each is harmless; together they would stop the server at every change of that service."""
    with Client(served.addresses["tcp"]).greet() as publisher, Client(served.addresses["tcp"]).greet() as client:
        assert publisher.ask("publish", **service(new_id(), there=[LONG]))["msg-type"] == "complete"
        reasons = []
        for _ in range(40):
            text = _wide("(there=*aab*)")[:1_500].rpartition("(")[0] + ")"
            reasons.append(client.ask("subscribe", subscription_id=new_id(), filter=text).get("fail-reason"))
        assert reasons[0] is None
        assert reasons[-1] == "insufficient-resources"
        elsewhere = client.ask("subscribe", subscription_id=new_id(), filter="(elsewhere=*aab*)")
        assert elsewhere["msg-type"] == "accept"
