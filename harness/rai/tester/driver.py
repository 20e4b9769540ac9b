"""A session of the tester's: a user at a broker who says what cases have it say, right or forged, and trusts the node.

By itself it answers what trust asks for, and beats once it has said HELLO; both can be switched off.
"""

import base64
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from harness.errors import NotAnswered
from harness.rai.tester.broker import TestBroker
from harness.rai.tester.events import Event
from harness.rai.users import PROFILE, secret_of
from harness.trace import Direction
from wire import envelope
from wire.rai.values import (
    AUTH,
    BYE,
    DICT,
    HB,
    HELLO,
    SNAP,
    START,
    STOP,
    WILD_START,
    WILD_STOP,
    Auth,
    Body,
    Bye,
    Dict,
    DictRequest,
    Heartbeat,
    Hello,
    Message,
    Published,
    Reply,
    Return,
    SnapRequest,
    Subs,
    SubStart,
    SubStop,
    WildStart,
    WildStop,
    inbox,
    nonce_of,
    object_of,
    of,
    tail_of,
    user_of,
    write,
)
from wire.rai.wildcards import pattern_of_rv, published_prefix

INTERVAL = 10
"""Seconds between heartbeats."""


_random_bytes: Callable[[int], bytes] = secrets.token_bytes


def draw_nonces_with(random_bytes: Callable[[int], bytes]) -> None:
    """Have nonces drawn in another way, so that a play is the same each time."""
    global _random_bytes
    _random_bytes = random_bytes


def new_nonce() -> str:
    """Return 16 random bytes as a text: nobody has ever had the same."""
    return base64.urlsafe_b64encode(_random_bytes(16)).rstrip(b"=").decode()


class TestSession:
    """A session of a user at a broker. ``proves`` when it begins the exchange of trust, as a publisher does."""

    __test__ = False

    def __init__(self, broker: TestBroker, user: str, *, proves: bool = False, nonce: str = "") -> None:
        self.broker = broker
        self.user = user
        self.session = f"{user}.{nonce or new_nonce()}"
        self.secret = secret_of(user)
        self.key = PROFILE.session_key(self.secret, nonce_of(self.session))
        self.interval = INTERVAL
        self.seqno = 0
        self.proves = proves
        self.spelling: Callable[[Message], bytes] = write
        """How its messages are spelled."""
        self.also = b""
        """Members that each of its messages has beyond those that are drawn, as they stand in an object of JSON."""
        self.answers_auth = True
        """Whether it answers the node's auth messages, and greetings if it ``proves``."""
        self.beats = True
        """Whether it beats by itself, once it has said HELLO."""
        self.beats_at: float | None = None
        """When it has to beat next, in seconds of the clock."""
        self.said: dict[int, str] = {}
        """Time and cnonce of each HELLO and HB that it has said."""
        self.asked: dict[int, str] = {}
        """Time and cnonce of each auth message that it has said."""
        self.trusted: dict[str, None] = {}
        """Sessions that have proven themselves to it."""
        self._numbers = 0
        broker.join(self)

    # --- saying things ------------------------------------------------------------------------------------

    def message(
        self,
        subject: str,
        body: Body,
        *,
        key: bytes | None = None,
        seqno: int | None = None,
        session: str = "",
        digest: str | None = None,
    ) -> Message:
        """Return a signed message; with another key, seqno, session or digest than is right, where one is given."""
        if seqno is None:
            self.seqno += 1
            seqno = self.seqno
        made = of(subject, session or self.session, seqno, body)
        if self.also:
            comma = b"" if made.signed == b"{}" else b","
            made = msgspec.structs.replace(made, signed=made.signed[:-1] + comma + self.also + b"}")
        signed = PROFILE.digest(self.key if key is None else key, seqno, subject, made.signed)
        return msgspec.structs.replace(made, digest=signed if digest is None else digest)

    def say(self, subject: str, body: Body, **forged: Any) -> Message:
        """Publish a message; ``forged`` as ``message`` takes it."""
        message = self.message(subject, body, **forged)
        self.send(message)
        return message

    def say_members(
        self, subject: str, members: bytes, *, key: bytes | None = None, seqno: int | None = None
    ) -> Message:
        """Publish a signed message whose members, beside the header, are those of any object of strict JSON."""
        if seqno is None:
            self.seqno += 1
            seqno = self.seqno
        digest = PROFILE.digest(self.key if key is None else key, seqno, subject, members)
        message = Message(subject, self.session, seqno, digest, Bye(), members)
        self.send(message)
        return message

    def send(self, message: Message, subject: str = "") -> None:
        """Publish a message as it is; under another subject, if one is given."""
        self.broker.send(envelope.data(subject or message.subject, self.spelling(message)))

    def greeting(self, form: type[Hello] = Hello, **changes: Any) -> Hello:
        """Return the body of a HELLO or HB of now."""
        members: dict[str, Any] = {
            "time": self.broker.utc(),
            "interval": self.interval,
            "cnonce": new_nonce(),
        } | changes
        body = form(**members)
        self.said[body.time] = body.cnonce
        return body

    def hello(self, **changes: Any) -> Message:
        """Say HELLO, and beat from then on."""
        self._plan()
        return self.say(HELLO, self.greeting(**changes))

    def beat(self, **changes: Any) -> Message:
        """Say HB."""
        self._plan()
        return self.say(HB, self.greeting(Heartbeat, **changes))

    def bye(self) -> Message:
        """Say BYE, and beat no more."""
        self.beats_at = None
        return self.say(BYE, Bye())

    def _plan(self) -> None:
        timing = self.broker.timing
        self.beats_at = self.broker.now() + self.interval / timing.tempo if self.beats else None

    def stop_beating(self) -> None:
        """Beat no more, and say nothing about it."""
        self.beats = False
        self.beats_at = None

    # --- trust --------------------------------------------------------------------------------------------

    def auth_key(self, session: str, time: int, cnonce: str) -> bytes:
        """Return what an auth message of a session is signed with that answers these."""
        return PROFILE.auth_key(secret_of(user_of(session)), nonce_of(session), time, cnonce)

    def prove(self, to: str, time: int, cnonce: str, **changes: Any) -> Message:
        """Say to another session who this is, by what came with its message; ``changes`` are other members."""
        now = self.broker.utc()
        # What answers it names its time alone: no two that are said at once may have the same.
        while now in self.asked or now in self.said:
            now += 1
        members: dict[str, Any] = {"auth_time": time, "time": now, "cnonce": new_nonce()} | changes
        body = Auth(**members)
        self.asked[body.time] = body.cnonce
        return self.say(inbox(to, AUTH), body, key=self.auth_key(self.session, time, cnonce))

    def hear(self, event: Event) -> None:
        """Act on what is said at the broker."""
        if event.direction is not Direction.RECEIVED or not self.broker.is_nodes(event):
            return
        message = event.message
        match message.body:
            case Hello() if self.proves and self.answers_auth and message.session not in self.trusted:
                self.prove(message.session, message.body.time, message.body.cnonce)
            case Auth() if message.subject == inbox(self.session, AUTH):
                self._hear_auth(message, message.body)

    def _hear_auth(self, message: Message, body: Auth) -> None:
        for answered, is_ours in ((self.asked, True), (self.said, False)):
            cnonce = answered.get(body.auth_time)
            if cnonce is not None and self._is_proof(message, body.auth_time, cnonce):
                self.trusted[message.session] = None
                if not is_ours and self.answers_auth:
                    self.prove(message.session, body.time, body.cnonce)
                return

    def _is_proof(self, message: Message, time: int, cnonce: str) -> bool:
        key = self.auth_key(message.session, time, cnonce)
        return PROFILE.verifies(key, message.seqno, message.subject, message.signed, message.digest)

    def answers_greeting(self, message: Message) -> bool:
        """Tell whether an auth message answers a HELLO or HB of this session, and no auth message."""
        body = message.body
        cnonce = self.said.get(body.auth_time) if isinstance(body, Auth) else None
        return isinstance(body, Auth) and cnonce is not None and self._is_proof(message, body.auth_time, cnonce)

    def proofs(self, since: int = 0) -> list[Event]:
        """Return the auth messages that the node has sent to this session, right or wrong."""
        return [each for each in self.broker.received(Auth, since=since) if each.subject == inbox(self.session, AUTH)]

    def met(self) -> "TestSession":
        """Say HELLO to a publisher until both trust each other, and return itself; raises ``NotAnswered``."""
        self.hello()
        proof = self.broker.wait_for(
            lambda event: event.form is Auth and event.subject == inbox(self.session, AUTH), thing="an auth message"
        )
        if proof is None or not self.trusted:
            raise NotAnswered(f"{self.broker.node} does not prove who it is to {self.user}")
        return self

    # --- subscribing --------------------------------------------------------------------------------------

    def new_return(self) -> int:
        """Return the end of a subject in its inbox under which nothing was answered yet."""
        self._numbers += 1
        return self._numbers

    def start(self, subject: str, **members: Any) -> Message:
        """Say that a subscription begins."""
        return self.say(START + subject, SubStart(**members))

    def stop(self, subject: str, **members: Any) -> Message:
        """Say that it ends."""
        return self.say(STOP + subject, SubStop(**members))

    def start_wild(self, wildcard: str, pattern: str = "", **members: Any) -> Message:
        """Say that a subscription to a wildcard begins."""
        body = WildStart(subject=wildcard, pattern=pattern or pattern_of_rv(wildcard), **members)
        return self.say(WILD_START + published_prefix(wildcard), body)

    def stop_wild(self, wildcard: str, pattern: str = "", **members: Any) -> Message:
        """Say that it ends."""
        body = WildStop(subject=wildcard, pattern=pattern or pattern_of_rv(wildcard), **members)
        return self.say(WILD_STOP + published_prefix(wildcard), body)

    def subscribe(self, subject: str, **members: Any) -> Event | None:
        """Begin a subscription and return the ack; ``None`` when none comes."""
        returned = self.new_return()
        since = self.broker.place
        self.start(subject, return_=returned, ack=True, **members)
        return self.reply(returned, lambda body: body.state == "ack", since=since, thing="an ack")

    def subscribed(self, subject: str, **members: Any) -> Event:
        """As ``subscribe``; raises ``NotAnswered`` when no ack comes."""
        return self.surely(self.subscribe(subject, **members), f"ack of a start of {subject}")

    def image(self, subject: str, **members: Any) -> Event | None:
        """Begin a subscription with an image and return what answers that; ``None`` when nothing does."""
        returned = self.new_return()
        since = self.broker.place
        self.start(subject, return_=returned, initial=True, **members)
        return self.reply(returned, since=since, thing="an initial")

    def snapshot(self, subject: str, **members: Any) -> Event | None:
        """Ask for a value once, and return the answer; ``None`` when none comes."""
        returned = self.new_return()
        since = self.broker.place
        self.say(SNAP + subject, SnapRequest(**({"return_": returned} | members)))
        return self.reply(members.get("return_", returned), since=since, thing="a snapshot")

    def snapshot_request(self, subject: str, returned: Return) -> Message:
        """Ask for a value once, and wait for nothing."""
        return self.say(SNAP + subject, SnapRequest(return_=returned))

    def dictionary_request(self, name: str, returned: Return, **members: Any) -> Message:
        """Ask the node for a dictionary in its inbox, and wait for nothing."""
        return self.say(
            inbox(self.broker.node_session, DICT), DictRequest(dictionary=name, return_=returned, **members)
        )

    def send_list(self, subjects: list[str], returns: list[Return], tail: Return = "subs", **members: Any) -> Message:
        """Say to the node which subscriptions there are, at the return at which it has asked."""
        members = {"last_seen": 0, "ack": True, "initial": True} | members
        return self.say(inbox(self.broker.node_session, tail), Subs(subs=subjects, subs_return=returns, **members))

    def dictionary(self, name: str, returned: Return | None = None, **members: Any) -> Event | None:
        """Ask the node for a dictionary in its inbox, and return the answer; ``None`` when none comes."""
        returned = self.new_return() if returned is None else returned
        since = self.broker.place
        self.dictionary_request(name, returned, **members)
        subject = inbox(self.session, returned)
        return self.broker.wait_for(
            lambda event: event.subject == subject and event.form is Dict, since=since, thing="a dictionary"
        )

    def replies(self, returned: Return | None = None, *, since: int = 0) -> list[Event]:
        """Return what the node has answered to this session: all of it, or under one return."""
        return [
            event
            for event in self.broker.received(since=since)
            if event.subject.startswith(inbox(self.session, ""))
            and (returned is None or tail_of(event.subject) == str(returned))
        ]

    def reply(
        self,
        returned: Return,
        wanted: Callable[[Reply], bool] = lambda body: True,
        *,
        since: int = 0,
        seconds: float | None = None,
        thing: str = "",
    ) -> Event | None:
        """Read until something is answered under a return, and return it; ``None`` when nothing is."""
        subject = inbox(self.session, returned)
        return self.broker.wait_for(
            lambda event: event.subject == subject and isinstance(event.body, Reply) and wanted(event.body),
            since=since,
            seconds=seconds,
            thing=thing,
        )

    def told(
        self,
        subject: str,
        wanted: Callable[[Published], bool] = lambda body: True,
        *,
        since: int = 0,
        seconds: float | None = None,
        thing: str = "",
    ) -> Event | None:
        """Read until something is published on a subject, and return it; ``None`` when nothing is."""
        return self.broker.wait_for(
            lambda event: event.subject == subject and isinstance(event.body, Published) and wanted(event.body),
            since=since,
            seconds=seconds,
            thing=thing,
        )

    def surely(self, event: Event | None, what: str) -> Event:
        """Return what a play rests on; raises ``NotAnswered`` where it has not come."""
        if event is None:
            raise NotAnswered(f"no {what} came")
        return event

    # --- publishing ---------------------------------------------------------------------------------------

    def answer(self, session: str, returned: Return, **members: Any) -> Message:
        """Answer another session, under its return."""
        return self.say(inbox(session, returned), self.reply_of(**members))

    def reply_of(self, **members: Any) -> Reply:
        """Return what ``answer`` would say."""
        return Reply(**_with_data(members))

    def publish(self, subject: str, **members: Any) -> Message:
        """Publish something on a subject: ``data`` are fields."""
        return self.say(subject, Published(**_with_data(members)))

    def message_of(self, subject: str, **members: Any) -> Message:
        """Return what ``publish`` would say, and say nothing."""
        return self.message(subject, Published(**_with_data(members)))


def _with_data(members: dict[str, Any]) -> dict[str, Any]:
    data = members.get("data")
    return members | {"data": object_of(data)} if isinstance(data, dict) else members
