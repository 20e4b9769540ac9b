"""A client of Redis and what it leaves out of all that the server sends, against a model of one server or the other."""

from hypothesis import given
from hypothesis import strategies as st

from harness.links.globs import matcher
from harness.links.redis import RedisClient
from harness.links.resp import RespReader, spell_pushed
from wire.envelope import cancel, data, listen
from wire.subjects import matches

HELLO = b"%1\r\n$5\r\nproto\r\n:3\r\n"


class Server:
    """What Redis does of a few commands; copies of what a client publishes stand before its reply, or behind."""

    def __init__(self, *, behind):
        self.behind = behind
        self.clients = []

    def connect(self):
        client = Connection(self)
        self.clients.append(client)
        return client


class Connection:
    def __init__(self, server):
        self.server = server
        self.client = RedisClient()
        self.reader = RespReader()
        self.names = []
        self.to_server, self.to_client = bytearray(), bytearray()
        self.frames, self.expected, self.wanted = [], [], []
        self.say(self.client.take())
        self.work()
        self.hear(len(self.to_client))

    def say(self, said):
        self.to_server += said

    def work(self):
        """Have the server do what it was told."""
        for command in self.reader.feed(bytes(self.to_server)):
            self.done(command)
        self.to_server.clear()

    def done(self, command):
        match command:
            case [b"HELLO", _]:
                self.to_client += HELLO
            case [b"PUBLISH", channel, payload]:
                for each in self.server.clients:
                    if each is not self:
                        each.expect(channel.decode(), payload)
                        each.to_client += each.copies(channel, payload)
                own = self.copies(channel, payload)
                self.to_client += b":7\r\n" + own if self.server.behind else own + b":7\r\n"
            case [b"PSUBSCRIBE" | b"SUBSCRIBE" as word, name]:
                if (known := (word == b"PSUBSCRIBE", name)) not in self.names:
                    self.names.append(known)
                self.to_client += spell_pushed([word.lower(), name, b"1"])
            case [word, name]:
                self.names.remove((word == b"PUNSUBSCRIBE", name))
                self.to_client += spell_pushed([word.lower(), name, b"1"])

    def copies(self, channel, payload):
        said = b""
        # The order is the server's own.
        for is_glob, name in reversed(self.names):
            if is_glob and matcher(name).fullmatch(channel):
                said += spell_pushed([b"pmessage", name, channel, payload])
            if not is_glob and name == channel:
                said += spell_pushed([b"message", channel, payload])
        return said

    def expect(self, subject, payload):
        if any(matches(each, subject) for each in self.wanted):
            self.expected.append(data(subject, payload))

    def tell(self, frame):
        """Have the client say something; what it listens to changes at once, as the server does it at once."""
        self.say(self.client.encode(frame))
        self.work()

    def listen(self, subject):
        if subject not in self.wanted:
            self.wanted.append(subject)
        self.tell(listen(subject))

    def cancel(self, subject):
        if subject in self.wanted:
            self.wanted.remove(subject)
        self.tell(cancel(subject))

    def hear(self, size):
        self.frames += self.client.feed(bytes(self.to_client[:size]))
        del self.to_client[:size]


subjects = st.sampled_from(["A", "A.B", "A.B.C", "A.x.y.C"])
wildcards = st.sampled_from(["A", "A.B", "A.*", "A.>", ">", "A.*.C", "*"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("listen"), st.integers(0, 2), wildcards),
        st.tuples(st.just("say"), st.integers(0, 2), subjects, st.sampled_from([b"x", b"y"])),
        st.tuples(st.just("hear"), st.integers(0, 2), st.integers(1, 300)),
    ),
    max_size=40,
)


@given(behind=st.booleans(), steps=steps)
def test_each_message_of_others_is_heard_once_in_order_and_ones_own_never(behind, steps):
    server = Server(behind=behind)
    clients = [server.connect() for _ in range(3)]
    for what, number, *rest in steps:
        client = clients[number]
        if what == "listen":
            client.listen(*rest)
        elif what == "say":
            client.tell(data(*rest))
        else:
            client.hear(*rest)
    for client in clients:
        client.hear(len(client.to_client))
        assert client.frames == client.expected


@given(behind=st.booleans(), begins=st.lists(wildcards, max_size=6), ends=st.lists(wildcards, max_size=6))
def test_what_is_cancelled_is_heard_no_more(behind, begins, ends):
    server = Server(behind=behind)
    one, two = server.connect(), server.connect()
    for each in begins:
        one.listen(each)
    for each in ends:
        one.cancel(each)
    for subject in ("A", "A.B", "A.B.C", "B"):
        two.tell(data(subject, b"x"))
        one.tell(data(subject, b"x"))
    one.hear(len(one.to_client))
    assert one.frames == one.expected
    if not one.wanted:
        assert one.names == []
