"""Defects of publishers. None shows in a case of the suite: each wants something that the document does not speak of.

Each calls what it overrides, so that one publisher can have all of them.
"""

import os
import re
import struct
import time

from harness.rai.peers.interests import Terms, Wildcard
from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.peers.serving import is_publishable
from harness.rai.variants.registry import defect
from wire.errors import WireError
from wire.rai.values import (
    Dict,
    DictRequest,
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
    inbox,
    user_of,
)
from wire.rai.wildcards import Matcher

LONG = 60.0
"""Seconds for which a publisher that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of a message that counts, with arrays within each other in it, more than a dozen")
class DiesOfDepth(Publisher):
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        if b"[" * 13 in message.signed:
            raise RecursionError("too many values within each other")
        super().take(message, other, now)


@defect("parser", does="dies of a dictionary's checksum that is no number of 32 bits")
class DiesOfAChecksum(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        if body.dict_csum is not None:
            struct.pack(">I", int(body.dict_csum, 0) if isinstance(body.dict_csum, str) else body.dict_csum)
        super().send_dictionary(body, other)


@defect("parser", does="dies of a port of UDP that is no number")
class DiesOfAPort(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        if body.ucast_url is not None and ":" in body.ucast_url:
            port = body.ucast_url.rpartition(":")[2].partition("/")[0]
            struct.pack(">H", int(port or "0"))
        super().hear_greeting(message, body, now)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies when a subscription is stopped that a list has brought without a return")
class DiesOfAStopOfAList(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        unanswered: set[str] = vars(other).setdefault("unanswered", set())
        unanswered.update(body.subs[len(body.subs_return) :])
        super().reassert(body, other, now)

    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        if subject in vars(other).get("unanswered", ()):
            raise KeyError(subject)  # it keeps them by what they are answered under
        super().stop(subject, body, other)


@defect("state", does="dies when a session with a wildcard says another interval than before")
class DiesOfAnotherInterval(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        known = self.others.get(message.session)
        before = None if known is None else known.interval
        super().hear_greeting(message, body, now)
        if known is not None and known.interval != before and message.session in self.interests.wild:
            raise IndexError("a timer that is set twice")


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a wildcard with a bracket that is not closed")
class DiesOfABracket(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        text = body.subject
        while "[" in text:
            text = text[text.index("]", text.index("[")) :]
        super().start_wild(body, other, now)


@defect("text", does="dies of a return in another alphabet")
class DiesOfAnAlphabet(Publisher):
    def take(self, message: Message, other: KnownSession, now: float) -> None:
        body = message.body
        if isinstance(body, SubStart | SubStop | SnapRequest) and isinstance(body.return_, str):
            body.return_.encode("latin-1")
        super().take(message, other, now)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each question for a dictionary that it does not have")
class LeaksForDictionaries(Publisher):
    def send_dictionary(self, body: DictRequest, other: KnownSession) -> None:
        known = self.dictionary
        if body.dict_csum is not None and known is not None and body.dictionary != known.name:
            vars(self).setdefault("leaked", []).append(os.dup(2))
        super().send_dictionary(body, other)


@defect("resource", does="keeps what it has made ready of an image that was asked for under a bad name")
class LeaksImagesOfBadNames(Publisher):
    def start(self, subject: str, body: SubStart, other: KnownSession, now: float) -> None:
        if body.initial and self.refusal(subject, other) == "bad_name":
            vars(self).setdefault("ready", []).append(bytearray(os.urandom(1 << 19)))
        super().start(subject, body, other, now)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs of a pattern that repeats two ways to match the same: it tries each of them")
class HangsOfTwoWays(Publisher):
    def start_wild(self, body: WildStart, other: KnownSession, now: float) -> None:
        if re.search(r"\(([^()|]+)\|\1\)[*+]", body.pattern):
            time.sleep(LONG)
        super().start_wild(body, other, now)


@defect("hang", does="hangs of a list that has a subject twenty times: it looks for a place for each behind all others")
class HangsOfARepeatingList(Publisher):
    def reassert(self, body: Subs, other: KnownSession, now: float) -> None:
        if any(body.subs.count(each) >= 20 for each in set(body.subs[:64])):
            time.sleep(LONG)
        super().reassert(body, other, now)


@defect("hang", does="hangs of a session that is to be heard of every 0 seconds and has subscribed to something")
class HangsOfNoInterval(Publisher):
    def missed_at(self, other: KnownSession) -> float:
        if other.interval == 0 and self.interests.has_any(other.session):
            time.sleep(LONG)  # it adds intervals until they come to now
        return super().missed_at(other)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="ends a subscription for all sessions of a user when one of them stops what it had not started")
class StopsForTheUser(Publisher):
    def stop(self, subject: str, body: SubStop, other: KnownSession) -> None:
        if subject not in self.interests.of_session.get(other.session, ()):
            for each in list(self.others.values()):
                if user_of(each.session) == user_of(other.session):
                    self.interests.remove(each.session, subject)
        super().stop(subject, body, other)


@defect("harm", does="trusts no session of a user any more once one of them has begun anew after its end")
class DistrustsTheUser(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        former = self.former.get(message.session)
        if former is not None and former.has_ended and message.seqno > 1:
            for each in self.others.values():
                if user_of(each.session) == user_of(message.session):
                    each.is_trusted = False
        super().hear_greeting(message, body, now)


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="has no snapshots any more once four answers were to go where none can be told")
class RunsOutOfSlots(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        taken: list[Return] = vars(self).setdefault("taken_slots", [])
        if not is_publishable(inbox(other.session, returned)):
            taken.append(returned)
        if len(taken) < 4 or not isinstance(body, Reply) or body.kind != "snap":
            super().reply(other, returned, body)


@defect("service", does="tells nobody of anything any more once a subject of more than 255 bytes was subscribed")
class FallsMuteOfALongSubject(Publisher):
    def subscribe(self, subject: str, subscription: Terms, other: KnownSession, now: float) -> None:
        if len(subject.encode()) > 255:
            vars(self)["is_mute"] = True
        super().subscribe(subject, subscription, other, now)

    def publish(self, subject: str, body: Published) -> None:
        if not vars(self).get("is_mute"):
            super().publish(subject, body)


@defect("service", does="forgets all wildcards when one is stopped whose pattern is none")
class ForgetsWildcards(Publisher):
    def end_wild(self, other: KnownSession, wildcard: Wildcard) -> None:
        try:
            Matcher.of_pcre(wildcard[1])
        except WireError:
            self.interests.wild.clear()
        super().end_wild(other, wildcard)
