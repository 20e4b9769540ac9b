"""Defects of subscribers. None shows in a case of the suite: each wants something that the document does not speak of.

Each calls what it overrides, so that one subscriber can have all of them.
"""

import os
import time

from harness.urbit.peers.subscriber import FRAGMENT, Subscriber
from harness.urbit.variants.registry import defect
from wire.urbit.values import HeartbeatResponse, Promise, ScryResponse

LONG = 60.0
"""Seconds for which a subscriber that hangs does nothing: longer than anybody waits."""


# --- parsers ----------------------------------------------------------------------------------------------------------


@defect("parser", does="dies of a value of more fragments than it can count")
class DiesOfManyFragments(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if self.is_of_publisher(response):
            response.total.to_bytes(4, "little", signed=True)
        super().on_response(response, now)


# --- states -----------------------------------------------------------------------------------------------------------


@defect("state", does="dies of the value of what was dropped, and is wanted again and promised in another session")
class DiesOfWhatIsWantedAgain(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        want = self.wants.get(path)
        super().drop(path, now)
        if want is not None and want.session is not None:
            vars(self).setdefault("dropped", {})[path] = want.session

    def deliver(self, response: ScryResponse) -> None:
        before: int | None = vars(self).get("dropped", {}).pop(response.path, None)
        if before is not None and self.session is not None and before != self.session.id:
            raise KeyError(before)  # it keeps what is promised by session and path
        super().deliver(response)


@defect("state", does="dies of a promise of a later fragment when its session was nacked before")
class DiesOfALaterFragment(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.fragment > FRAGMENT and promise.session in self.retired and self.is_genuine(promise):
            raise LookupError(promise.session)
        super().on_promise(promise, now)


# --- texts ------------------------------------------------------------------------------------------------------------


@defect("text", does="dies of a value with an escape in it, as terminals know them")
class DiesOfAnEscape(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        # It counts the columns that the value takes.
        if b"\x1b" in response.data:
            raise UnicodeError("an escape has no width")
        super().deliver(response)


@defect("text", does="dies of the value of something that nobody wants whose path it takes for a format")
class DiesOfAnUnwantedFormat(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        # What it writes into its log, as a C program would.
        if response.path not in self.wants and b"%n" in response.path and self.is_of_publisher(response):
            raise BufferError("%n writes to where there is nothing")
        super().on_response(response, now)


# --- resources --------------------------------------------------------------------------------------------------------


@defect("resource", does="keeps a descriptor of each promise of a later fragment")
class LeaksForLaterFragments(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.fragment > FRAGMENT and promise.path in self.wants:
            vars(self).setdefault("opened", []).append(os.dup(2))
        super().on_promise(promise, now)


@defect("resource", does="keeps what it has read of a value that is signed wrongly")
class KeepsWhatIsForged(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if not self.is_of_publisher(response):
            vars(self).setdefault("read", []).append(b"\1" * (2 << 20))
        super().on_response(response, now)


# --- hangs ------------------------------------------------------------------------------------------------------------


@defect("hang", does="hangs of an answer to a heartbeat far ahead whose lower half it takes for a number")
class HangsOfANumberFarAhead(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        session = self.session
        if session is not None and session.id == answer.session and answer.number >> 32 and not answer.number % 2**32:
            time.sleep(LONG)  # counts on until it is there
        super().on_answer(answer, now)


@defect("hang", does="hangs of a promise whose path has more than 60 segments")
class HangsOfManySegments(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        if promise.path.count(b"/") > 60:
            time.sleep(LONG)  # looks for each of them in all others
        super().on_promise(promise, now)


# --- harm to others ---------------------------------------------------------------------------------------------------


@defect("harm", does="takes a value for that of all paths below, and wants these no more")
class TakesAFolder(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.path not in self.wants and self.is_of_publisher(response):
            for path in [each for each in self.wants if each.startswith(response.path + b"/")]:
                del self.wants[path]
        super().on_response(response, now)


# --- service ----------------------------------------------------------------------------------------------------------


@defect("service", does="hands over nothing any more once a value that is wanted had no fragments")
class HandsOverNothing(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        if not response.total:
            vars(self)["is_stuck"] = True
        if not vars(self).get("is_stuck"):
            super().deliver(response)
