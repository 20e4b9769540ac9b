"""Faults of a subscriber: which values it takes, tells and cancels."""

from harness.urbit.peers.subscriber import FRAGMENT, Subscriber
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import request_input, response_input
from wire.urbit.values import Cancellation, HeartbeatResponse, Promise, ScryResponse


@fault("URB-100", does="cancels nothing that is longer than 1000 bytes")
class CancelsNothingLong(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if len(response.data) < 1000:
            super().on_response(response, now)
        elif self.wants.pop(response.path, None) is not None:
            self.deliver(response)


@fault("URB-100", does="cancels nothing that is empty")
class CancelsNothingEmpty(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.data or response.path not in self.wants:
            super().on_response(response, now)
        else:
            del self.wants[response.path]
            self.deliver(response)


@fault("URB-100", does="cancels the fragment behind the one that it was told")
class CancelsAnotherFragment(Subscriber):
    def cancel(self, path: bytes, fragment: int) -> None:
        super().cancel(path, fragment + 1)


@fault("URB-101", does="cancels each response once")
class CancelsOnce(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.cancelled: dict[bytes, int] = {}

    def most(self) -> int:
        """Return how often a path is cancelled."""
        return 1

    def cancel(self, path: bytes, fragment: int) -> None:
        self.cancelled[path] = self.cancelled.get(path, 0) + 1
        if self.cancelled[path] <= self.most():
            super().cancel(path, fragment)


@fault("URB-101", does="cancels each response three times at most")
class CancelsThreeTimes(CancelsOnce):
    def most(self) -> int:
        return 3


@fault("URB-101", does="forgets what it was told when its session is dead, and cancels it no more")
class CancelsInOneSession(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if not self.retired or response.path in self.wants:
            super().on_response(response, now)


@fault("URB-102", does="passes over values that nobody wants")
class PassesOverStrayValues(Subscriber):
    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.known: set[bytes] = set()

    def want(self, path: bytes, now: float) -> None:
        super().want(path, now)
        self.known.add(path)

    def on_response(self, response: ScryResponse, now: float) -> None:
        if self.is_of_interest(response):
            super().on_response(response, now)

    def is_of_interest(self, response: ScryResponse) -> bool:
        """Tell whether a response is acted upon."""
        return response.path in self.known


@fault("URB-102", does="passes over values that nobody wants any more")
class PassesOverDroppedValues(PassesOverStrayValues):
    def drop(self, path: bytes, now: float) -> None:
        super().drop(path, now)
        self.known.discard(path)

    def is_of_interest(self, response: ScryResponse) -> bool:
        return response.path in self.known or self.session is None or response.path.count(b"/") > 2


@fault("URB-102", does="passes over fragments that nobody wants")
class PassesOverOtherFragments(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.fragment == FRAGMENT:
            super().on_response(response, now)


@fault("URB-102", does="passes over values that nobody wants while it has no session")
class NeedsASessionToCancel(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if self.session is not None or response.path in self.wants:
            super().on_response(response, now)


@fault("URB-103", does="cancels all that is wanted when it loses interest in one path")
class CancelsAllAtADrop(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        for each in self.wants:
            if each != path:
                self.cancel(each, FRAGMENT)
        super().drop(path, now)


@fault("URB-103", does="drops all paths that begin with one that is dropped")
class DropsWhatBeginsSo(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        for each in [each for each in self.wants if each.startswith(path)]:
            super().drop(each, now)


@fault("URB-103", does="cancels ten fragments of a path that it drops")
class CancelsManyFragments(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        super().drop(path, now)
        for fragment in range(2, 11):
            self.cancel(path, fragment)


@fault("URB-103", does="forgets all that it wants when one path is dropped")
class ForgetsAllAtADrop(Subscriber):
    def drop(self, path: bytes, now: float) -> None:
        super().drop(path, now)
        self.wants.clear()


@fault("URB-111", does="signs cancellations as requests")
class SignsCancellationsAsRequests(Subscriber):
    def cancel(self, path: bytes, fragment: int) -> None:
        self.say(Cancellation(path, fragment, self.sign(request_input(path, fragment))))


@fault("URB-111", does="signs no cancellation")
class SignsNoCancellation(Subscriber):
    def cancel(self, path: bytes, fragment: int) -> None:
        self.say(Cancellation(path, fragment, bytes(64)))


@fault("URB-111", does="signs no cancellation of what it did not want")
class SignsNoStrayCancellation(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.path in self.wants:
            super().on_response(response, now)
        elif self.is_of_publisher(response):
            self.say(Cancellation(response.path, response.fragment, bytes(64)))


@fault("URB-117", does="looks at no value's signature")
class TakesForgedValues(Subscriber):
    def is_of_publisher(self, response: ScryResponse) -> bool:
        return True


@fault("URB-117", does="looks at the signatures of values that it wants")
class CancelsForgedValues(Subscriber):
    def is_of_publisher(self, response: ScryResponse) -> bool:
        return response.path not in self.wants or super().is_of_publisher(response)


@fault("URB-117", does="tells forged values, and does not cancel them")
class TellsForgedValues(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        if response.path in self.wants and not self.is_of_publisher(response):
            self.deliver(response)
        super().on_response(response, now)


@fault("URB-117", does="takes values whose signature covers no data")
class TakesOtherData(Subscriber):
    def is_of_publisher(self, response: ScryResponse) -> bool:
        signed = request_input(response.path, response.fragment)
        return super().is_of_publisher(response) or self.is_signed_by(self.publisher, response.signature, signed)


@fault("URB-117", does="takes values whose signature is of another fragment")
class TakesSignaturesOfOtherFragments(Subscriber):
    def is_of_publisher(self, response: ScryResponse) -> bool:
        inputs = (response_input(response.path, each, response.data) for each in (1, 2))
        return any(self.is_signed_by(self.publisher, response.signature, signed) for signed in inputs)


@fault("URB-117", does="takes values that it has signed itself")
class TakesOwnValues(Subscriber):
    def is_of_publisher(self, response: ScryResponse) -> bool:
        signed = response_input(response.path, response.fragment, response.data)
        return super().is_of_publisher(response) or self.is_signed_by(self.me, response.signature, signed)


@fault("URB-144", does="tells a value as often as it comes")
class TellsTwice(Subscriber):
    def on_response(self, response: ScryResponse, now: float) -> None:
        known = response.path in self.wants
        super().on_response(response, now)
        if not known and self.is_of_publisher(response):
            self.deliver(response)


@fault("URB-144", does="begins a session again when a promise comes again")
class BeginsTwice(Subscriber):
    def on_promise(self, promise: Promise, now: float) -> None:
        want = self.wants.get(promise.path)
        if want is not None and want.session == promise.session and self.session is not None:
            self.begin(promise.session, now)
        else:
            super().on_promise(promise, now)


@fault("URB-144", does="sends a heartbeat for each answer that comes again")
class BeatsForAnswersAgain(Subscriber):
    def on_answer(self, answer: HeartbeatResponse, now: float) -> None:
        session = self.session
        if session is not None and answer.session == session.id and answer.number == session.answered:
            self.beat(session, now)
        super().on_answer(answer, now)


@fault("URB-154", does="tells no value that was promised")
class TellsNoNotification(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        if self.session is None:
            super().deliver(response)


@fault("URB-154", does="tells one value only")
class TellsOneValue(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        if not self.delivered:
            super().deliver(response)


@fault("URB-154", does="tells no value that is empty")
class TellsNothingEmpty(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        if response.data:
            super().deliver(response)


@fault("URB-154", does="tells 512 bytes of a value at most")
class TellsTheBeginning(Subscriber):
    def deliver(self, response: ScryResponse) -> None:
        data = response.data[:512]
        super().deliver(ScryResponse(response.path, response.fragment, response.signature, response.total, data))
