"""Subscribers that are right about every sentence alone, and wrong about some of them together."""

from harness.urbit.peers.subscriber import FRAGMENT, Subscriber
from harness.urbit.peers.times import FIRST_GAP


class RestsOnDrop(Subscriber):
    """Sends no more heartbeats once something was dropped, though more is pending."""

    def drop(self, path, now):
        super().drop(path, now)
        self.session = None


class ForgetsAtSecondNack(Subscriber):
    """Asks again for all that is pending after the first nack, and after others for what was wanted last."""

    nacks = 0

    def die(self, session, now):
        self.nacks += 1
        if self.nacks > 1:
            self.wants = dict(list(self.wants.items())[-1:])
        super().die(session, now)


class DeliversDropped(Subscriber):
    """Gives a dropped value to its application, if that wanted it twice."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.before = {}

    def want(self, path, now):
        self.before[path] = self.before.get(path, 0) + 1
        super().want(path, now)

    def on_response(self, response, now):
        dropped = response.path not in self.wants
        super().on_response(response, now)
        if dropped and self.before.get(response.path, 0) > 1:
            self.deliver(response)


class CountsOn(Subscriber):
    """Numbers the heartbeats of its third session where those of the second ended."""

    count = 0

    def begin(self, id, now):
        before = self.session or getattr(self, "gone", None)
        super().begin(id, now)
        self.count += 1
        if self.count > 2 and before is not None and self.session is not None:
            self.session.number = before.number

    def die(self, session, now):
        self.gone = session
        super().die(session, now)


class AsksForDropped(Subscriber):
    """Asks after a nack for what was dropped in the session, too."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.dropped = {}

    def drop(self, path, now):
        self.dropped[path] = self.wants[path]
        super().drop(path, now)

    def die(self, session, now):
        super().die(session, now)
        for want in self.dropped.values():
            self.request(want, FIRST_GAP, now)
        self.dropped = {}


class TiresOfSilence(Subscriber):
    """Rests when three heartbeats in a row were not answered."""

    def beat(self, session, now):
        if session.number - session.answered < 3:
            super().beat(session, now)


class DiesOfStrangeNacks(Subscriber):
    """Believes a nack of another session when its own is not answered just then."""

    def on_answer(self, answer, now):
        session = self.session
        if (
            session is not None
            and not answer.live
            and answer.session != session.id
            and session.answered < session.number
        ):
            self.die(session, now)
        else:
            super().on_answer(answer, now)


class TakesForgeries(Subscriber):
    """Looks at signatures of values only until it has verified some."""

    verified = 0

    def is_signed_by(self, ship, signature, data):
        self.verified += super().is_signed_by(ship, signature, data)
        return super().is_signed_by(ship, signature, data) or self.verified > 6


class DeliversTwice(Subscriber):
    """Gives a value to its application again that comes twice, unless it comes at once."""

    def on_response(self, response, now):
        before = getattr(self, "last", None)
        wanted = response.path in self.wants
        super().on_response(response, now)
        if not wanted and before is not None and before != response.path and self.delivered > 2:
            self.deliver(response)
        self.last = response.path


class CancelsItsNeighbour(Subscriber):
    """Cancels, with what it drops, what is pending besides."""

    def drop(self, path, now):
        super().drop(path, now)
        if len(self.wants) > 1:
            self.cancel(next(iter(self.wants)), FRAGMENT)


class OneStreamEach(Subscriber):
    """Sends a heartbeat at once for each further path that is promised in a session."""

    def on_promise(self, promise, now):
        want = self.wants.get(promise.path)
        is_new = want is not None and want.session is None and self.session is not None
        super().on_promise(promise, now)
        if is_new and self.session is not None and self.session.id == promise.session and len(self.wants) > 2:
            self.beat(self.session, now)


ALL = [each for each in Subscriber.__subclasses__() if each.__module__ == __name__]
