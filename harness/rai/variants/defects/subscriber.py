"""Defects of subscribers. None shows in a case of the suite: each wants something that the document does not speak of.

Each calls what it overrides, so that one subscriber can have all of them.
"""

import os
import struct
import time

from harness.rai.peers.cache import CachedValue
from harness.rai.peers.known import KnownSession
from harness.rai.peers.subscriber import Subscriber, Wanted
from harness.rai.variants.registry import defect
from wire.rai.values import Dict, GetSubs, Message, Published, Reply, Told

LONG = 60.0
"""Seconds for which a subscriber that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of the checksum of a dictionary, in what is told to all, that is no number of 32 bits")
class DiesOfTheirChecksum(Subscriber):
    def note_dictionary(self, body: Told, other: KnownSession) -> None:
        if body.dict_csum is not None and isinstance(body, Published):
            struct.pack(">I", int(body.dict_csum, 0) if isinstance(body.dict_csum, str) else body.dict_csum)
        super().note_dictionary(body, other)


@defect("parser", does="dies of a value that is known, and of which a field is then an array within arrays")
class DiesOfArrays(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        wanted = self.wanted.get(subject)
        if wanted is not None and wanted.record is not None:
            for value in (body.fields or {}).values():
                if bytes(value).replace(b" ", b"").startswith(b"[["):
                    raise TypeError("a list is no key")
        super().take_published(subject, body, other, now)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies of an update of a subject that one session has dropped, and another one shown since")
class DiesOfTwoSources(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if wanted.source:
            vars(wanted)["left_by"] = wanted.source
        super().take_drop(subject, wanted, body, now)

    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        before: str = vars(wanted).get("left_by", "")
        is_known = wanted.record is not None and before not in ("", wanted.source)
        if is_known and body.kind == "update" and body.fields is not None:
            raise ReferenceError(before)  # it has two sources, and has forgotten one
        super().apply(subject, wanted, body, other, now)


@defect("state", does="dies of a second answer under a return that was used for a snapshot")
class DiesOfASecondSnapshot(Subscriber):
    def take_reply(self, message: Message, body: Reply, other: KnownSession, now: float) -> None:
        what, subject = self.asked.get(message.subject.rpartition(".")[2], ("", ""))
        if what == "snapshot" and body.fields is not None:
            shown: set[str] = vars(self).setdefault("shown", set())
            if message.subject in shown and body.state not in ("ok", "stale"):
                raise KeyError(subject)
            shown.add(message.subject)
        super().take_reply(message, body, other, now)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of the name of a field in which a line ends")
class DiesOfALineInAName(Subscriber):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if any("\n" in name for name in body.fields or {}):
            raise SyntaxError("a line that is none")  # it writes what its application is told line by line
        super().apply(subject, wanted, body, other, now)


@defect("text", does="dies of a status that is no word")
class DiesOfAStatus(Subscriber):
    def take_published(self, subject: str, body: Published, other: KnownSession, now: float) -> None:
        if body.status and not body.status.replace("_", "").isalnum():
            raise NameError(body.status)  # it has a name of its own for each
        super().take_published(subject, body, other, now)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each dictionary that it has not asked for")
class LeaksForTheirDictionaries(Subscriber):
    def take_dictionary(self, tail: str, body: Dict) -> None:
        if self.asked.get(tail, ("", ""))[0] != "dict":
            vars(self).setdefault("opened", []).append(os.dup(2))
        super().take_dictionary(tail, body)


@defect("resource", does="keeps what it has made of a list for a wildcard that no subject can match")
class KeepsLists(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        if "" in body.wildcard.split(".") or ">" in body.wildcard[:-1]:
            vars(self).setdefault("lists", []).append(b"\1" * (2 << 20))
        super().reassert(body, other)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs of a subject that has become itself")
class HangsOfACircle(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if body.state == "relocate" and subject in (body.text, body.subject):
            time.sleep(LONG)  # follows it, to where it is in the end
        super().take_drop(subject, wanted, body, now)


@defect("hang", does="hangs of a return of a list that is a wildcard")
class HangsOfAWildcard(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        if isinstance(body.return_, str) and (">" in body.return_ or "*" in body.return_):
            time.sleep(LONG)  # looks for all whom it may concern
        super().reassert(body, other)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="forgets all wildcards when a subject is dropped, as the cache is full, for another")
class ForgetsWildcardsOfDrops(Subscriber):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        if body.state == "cache_full" and body.subject:
            self.wild.clear()
            self.found.clear()


@defect("harm", does="takes a list's question with a last_seen of 1 for the end of all that was subscribed before")
class ForgetsWhatWasBefore(Subscriber):
    def reassert(self, body: GetSubs, other: KnownSession) -> None:
        super().reassert(body, other)
        if body.last_seen == 1:
            self.wanted.clear()


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="hands over no values any more once it has had one with a name that is empty")
class HandsOverNoValues(Subscriber):
    def tell_value(self, subject: str, record: CachedValue, changed: object) -> None:
        if "" in record.fields:
            vars(self)["is_stuck"] = True
        if not vars(self).get("is_stuck"):
            super().tell_value(subject, record, changed)  # type: ignore[arg-type]
