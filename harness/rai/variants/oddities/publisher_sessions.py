"""Unusual, legal ways of publishers to have a session, to number and spell what they say, and to trust others."""

import itertools
import json
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import oddity
from wire.rai.values import Auth, Body, Bye, Heartbeat, Hello, Message, of


@oddity("RAI-074", does="begins to number with something great")
class BeginsWithGreatNumbers(Publisher):
    def begin(self, now: float) -> None:
        self._first = self.random.randrange(2**33, 2**48)
        super().begin(now)

    def next_seqno(self) -> int:
        return self._first + super().next_seqno()


@oddity("RAI-074", does="begins to number with 0")
class BeginsWithZero(Publisher):
    def next_seqno(self) -> int:
        return super().next_seqno() - 1


@oddity("RAI-074", does="leaves gaps between its numbers")
class LeavesGapsInNumbers(Publisher):
    def next_seqno(self) -> int:
        self._seqno += self.random.randrange(5000)
        return super().next_seqno()


@oddity("RAI-074", does="numbers by its clock")
class NumbersByTheClock(Publisher):
    def next_seqno(self) -> int:
        return round(self.epoch) + super().next_seqno()


@oddity("RAI-074", "RAI-182", does="has a row of numbers for each subject")
class HasRowsOfNumbers(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.rows: dict[tuple[str, str], int] = {}

    def sign(self, message: Message, key: bytes) -> Message:
        row = (message.session, message.subject)
        self.rows[row] = self.rows.get(row, 0) + 1
        return super().sign(of(message.subject, message.session, self.rows[row], message.body), key)


@oddity("RAI-089", does="has a NONCE of 64 bits in hexadecimal digits")
class HasHexNonces(Publisher):
    def new_nonce(self) -> str:
        return self.random.randbytes(8 if self.link is None or not self.session else 16).hex()


@oddity("RAI-089", does="has a NONCE of 32 bytes, with the time before it")
class HasLongNonces(Publisher):
    def new_nonce(self) -> str:
        return f"{round(self.epoch)}-{super().new_nonce()}{super().new_nonce()}"


@oddity("RAI-100", does="beats up to half an interval early or late")
class BeatsAsItLikes(Publisher):
    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + self.interval * self.random.uniform(0.5, 1.5)


@oddity("RAI-100", does="leaves out a heartbeat, and has another in its place")
class BeatsUnevenly(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._turns = itertools.cycle((0.5, 1.8, 0.7))

    def greet(self, subject: str, now: float) -> None:
        super().greet(subject, now)
        self._beat_at = now + self.interval * next(self._turns)


@oddity("RAI-097", "RAI-101", does="has ucast_url in its HELLO and heartbeats")
class StatesUcastUrl(Publisher):
    def say(self, subject: str, body: Body, key: bytes | None = None) -> None:
        if isinstance(body, Hello):
            body = replace(body, ucast_url="tcp://127.0.0.1:7500")
        super().say(subject, body, key)


@oddity("RAI-224", does="does not answer the heartbeats of sessions that have said no HELLO")
class WaitsForHello(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        if not isinstance(body, Heartbeat) or message.session in self.others or message.session in self.former:
            super().hear_greeting(message, body, now)


@oddity("RAI-080", does="begins the exchange once, and not with each heartbeat")
class ProvesOnce(Publisher):
    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        if other.asked is None or self._is_hello:
            super().prove(other, time, cnonce, now)

    _is_hello = False

    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        self._is_hello = not isinstance(body, Heartbeat)
        super().hear_greeting(message, body, now)


@oddity("RAI-187", "RAI-080", does="answers each HELLO and heartbeat by an auth message, also of who is trusted")
class ProvesAlways(Publisher):
    def greeted(self, other: KnownSession, now: float) -> None:
        super().greeted(other, now)
        if other.is_trusted:
            self.prove(other, *other.greeting, now)


@oddity("RAI-187", does="has a session that says HELLO again prove itself again")
class TrustsAnew(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        other = self.others.get(message.session)
        before = None if other is None else other.seqnos.get(message.subject)
        super().hear_greeting(message, body, now)
        is_new = other is not None and other.seqnos.get(message.subject) != before
        if other is not None and is_new and other.is_trusted and not isinstance(body, Heartbeat):
            other.is_trusted = False
            self.prove(other, *other.greeting, now)


@oddity("RAI-168", does="takes the answer to any of the auth messages that it has sent a session")
class TakesLateAnswers(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.sent: dict[str, dict[int, str]] = {}

    def prove(self, other: KnownSession, time: int, cnonce: str, now: float) -> None:
        super().prove(other, time, cnonce, now)
        if other.asked is not None:
            self.sent.setdefault(other.session, {})[other.asked[0]] = other.asked[1]

    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        other = self.meet(message.session, now)
        cnonce = self.sent.get(message.session, {}).get(body.auth_time)
        if other.asked is not None and cnonce is not None:
            other.asked = body.auth_time, cnonce
        super().hear_auth(message, body, now)


@oddity("RAI-168", does="asks anew when an answer proves nothing")
class AsksOnceMore(Publisher):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        other = self.others.get(message.session)
        if other is not None and other.asked is not None and other.greeting[0]:
            self.prove(other, *other.greeting, now)


@oddity("RAI-168", does="waits for another HELLO or heartbeat when an answer proves nothing")
class GivesUpOnWrongAnswers(Publisher):
    def hear_auth(self, message: Message, body: Auth, now: float) -> None:
        super().hear_auth(message, body, now)
        other = self.others.get(message.session)
        if other is not None:
            other.asked = None


@oddity("RAI-161", "RAI-162", does="takes a HELLO that is up to one interval away")
class IsStrictWithClocks(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return abs(body.time - self.utc(now)) <= self.interval * 1_000_000


@oddity("RAI-161", "RAI-162", does="takes a HELLO that is up to ten intervals away")
class IsLenientWithClocks(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return abs(body.time - self.utc(now)) <= 10 * self.interval * 1_000_000


@oddity("RAI-161", "RAI-162", does="takes a HELLO by the interval that it states")
class GoesByStatedIntervals(Publisher):
    def is_timely(self, body: Hello, now: float) -> bool:
        return abs(body.time - self.utc(now)) <= 2 * body.interval * 1_000_000


@oddity("RAI-175", does="takes no note of a BYE of who is not trusted")
class HearsNoByeOfStrangers(Publisher):
    def forget(self, other: KnownSession, now: float) -> None:
        if other.is_trusted or not other.has_ended:
            super().forget(other, now)
        other.has_ended = other.has_ended and other.session not in self.others


@oddity("RAI-099", does="says a heartbeat right after its HELLO")
class BeatsAtOnce(Publisher):
    def greet(self, subject: str, now: float) -> None:
        is_first = not self._said
        super().greet(subject, now)
        if is_first:
            self._beat_at = now + 0.1


@oddity("RAI-072", "RAI-185", does="writes its messages in lines, with the header last")
class WritesInLines(Publisher):
    def spell(self, message: Message) -> bytes:
        body = msgspec.json.decode(message.signed, type=dict[str, msgspec.Raw])
        header = {"digest": message.digest, "seqno": message.seqno, "session": message.session}
        members = [f'  "{name}" : {bytes(value).decode()}' for name, value in body.items()]
        members += [f'  "{name}" : {json.dumps(value)}' for name, value in header.items()]
        return ("{\n" + ",\n".join(members) + "\n}\n").encode()


@oddity("RAI-072", "RAI-091", does="writes relaxed JSON, as it is drawn")
class WritesAsDrawn(Publisher):
    def spell(self, message: Message) -> bytes:
        body = msgspec.json.decode(message.signed, type=dict[str, msgspec.Raw])
        members = [f"session : {message.session}", f"seqno : {message.seqno}", f'digest : "{message.digest}"']
        members += [f"{name} : {bytes(value).decode()}" for name, value in body.items()]
        return ("{\n  " + ",\n  ".join(members) + ",\n}").encode()


@oddity("RAI-071", "RAI-184", does="has a member of its own in each message")
class HasMore(Publisher):
    def sign(self, message: Message, key: bytes) -> Message:
        if isinstance(message.body, Bye):
            return super().sign(message, key)
        signed = message.signed[:-1] + b',"host":"lab-1"}'
        digest = self.signing.digest(key, message.seqno, message.subject, signed)
        return replace(message, signed=signed, digest=digest)
