"""Faults of a subscriber: what it asks for, and how often."""

from harness.urbit.peers.subscriber import Subscriber, Want
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import request_input
from wire.urbit.values import ScryRequest, ScryResponse


@fault("URB-020", does="asks for no path that is longer than 255 bytes")
class AsksForShortPathsOnly(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        if len(want.path) <= 255:
            super().request(want, gap, now)


@fault("URB-020", does="asks for one path only")
class AsksForOnePathOnly(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        if want.path == next(iter(self.wants)):
            super().request(want, gap, now)


@fault("URB-020", does="asks for fragment 0")
class CountsFragmentsFromZero(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        want.session, want.gap, want.due = None, gap, now + gap
        self.say(ScryRequest(want.path, 0, self.sign(request_input(want.path, 0))))
        self.timers.set(want.due, want)


@fault("URB-020", does="asks for at most four segments of a path")
class AsksForFourSegments(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        begin = b"/".join(want.path.split(b"/")[:5])
        self.say(ScryRequest(begin, 1, self.sign(request_input(begin, 1))))


@fault("URB-109", does="asks once")
class AsksOnce(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        super().request(want, gap, now)
        want.due = -1.0


@fault("URB-109", does="asks four times at most")
class AsksFourTimes(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        super().request(want, gap, now)
        if gap >= 8.0:
            want.due = -1.0


@fault("URB-109", does="asks every three seconds, for ever")
class AsksAtOnePace(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        super().request(want, 3.0, now)


@fault("URB-109", does="asks ever faster")
class AsksEverFaster(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        # From a minute on by halves: twice the gap comes back as a quarter of it.
        super().request(want, 40.0 if gap == 1.0 else max(1.0, gap / 4), now)


@fault("URB-109", does="repeats the request for the oldest path only")
class RepeatsTheOldestOnly(Subscriber):
    def request(self, want: Want, gap: float, now: float) -> None:
        super().request(want, gap, now)
        if want.path != next(iter(self.wants)):
            want.due = -1.0


@fault("URB-110", does="goes on asking for what is promised")
class AsksForThePromised(Subscriber):
    def tick(self, now: float) -> None:
        for want in self.wants.values():
            if want.session is not None and want.due <= now:
                id = want.session
                self.request(want, 2 * want.gap, now)
                want.session = id
        super().tick(now)


@fault("URB-113", does="passes over values that were not promised")
class PassesOverUnpromisedValues(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        want = self.wants.get(response.path)
        if want is None or want.session is not None:
            super().on_response(response, now)


@fault("URB-113", does="passes over values while it has no session")
class NeedsASessionForValues(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if self.session is not None:
            super().on_response(response, now)


@fault("URB-113", does="tells no value for which it has asked more than twice")
class TellsQuickAnswersOnly(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        want = self.wants.get(response.path)
        if want is not None and want.session is None and want.gap > 2.0:
            del self.wants[response.path]
        super().on_response(response, now)
