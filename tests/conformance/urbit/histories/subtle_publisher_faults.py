"""Publishers that are right about every sentence alone, and wrong about some of them together.

Not in ``harness/urbit/variants``: cases look at a sentence each, and histories are there for these.
"""

import msgspec

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.times import LEASE
from wire.urbit.signatures import response_input
from wire.urbit.values import ScryRequest, ScryResponse


class CancelsAllFragments(Publisher):
    """Forgets all fragments of a path when one is cancelled."""

    def on_cancellation(self, packet, cancellation, now):
        super().on_cancellation(packet, cancellation, now)
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None and self.may_cancel(packet, cancellation):
            for datum in [*session.interests]:
                if datum[0] == cancellation.path:
                    self.sessions.release(session.interests[datum])


class KillsTheIdle(Publisher):
    """Kills a session when its last promise is cancelled."""

    def on_cancellation(self, packet, cancellation, now):
        super().on_cancellation(packet, cancellation, now)
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None and not session.interests:
            self.sessions.kill(session)


class RenewsByRequests(Publisher):
    """Takes a request during a session for a sign of life."""

    def on_request(self, packet, request, link, now):
        super().on_request(packet, request, link, now)
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None:
            self.renew(session, now)


class RenewsByOldNumbers(Publisher):
    """Takes a heartbeat that is replayed for a sign of life."""

    def on_heartbeat(self, packet, heartbeat, link, now):
        super().on_heartbeat(packet, heartbeat, link, now)
        session = self.recognised(packet, heartbeat, now)
        if session is not None:
            self.renew(session, now)


class RenewsByOthers(Publisher):
    """Takes a heartbeat of another ship, which it answers with a nack, for a sign of life."""

    def on_heartbeat(self, packet, heartbeat, link, now):
        super().on_heartbeat(packet, heartbeat, link, now)
        session = self.live(self.sessions.of_id.get(heartbeat.session), now)
        if session is not None:
            self.renew(session, now)


class RemembersIds(Publisher):
    """Gives a subscriber that comes back the id that it had."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.before = {}

    def session_for(self, packet, link, now):
        fresh = self._draw
        self._draw = lambda: self.before.pop(packet.sender, None) or fresh()
        session = super().session_for(packet, link, now)
        self._draw = fresh
        self.before[packet.sender] = session.id
        return session


class RemembersPromises(Publisher):
    """Takes what was promised in a dead session over into the next one."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.before = {}

    def on_request(self, packet, request, link, now):
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None:
            self.before[packet.sender] = [*session.interests]
        super().on_request(packet, request, link, now)
        now_his = self.sessions.of_ship.get(packet.sender)
        if now_his is not None and now_his is not session:
            for datum in self.before.get(packet.sender, ()):
                if datum[0] not in self.values:
                    self.sessions.promise(now_his, datum)


class FewPromises(Publisher):
    """Keeps the last four promises of a session only."""

    def on_request(self, packet, request, link, now):
        super().on_request(packet, request, link, now)
        session = self.sessions.of_ship.get(packet.sender)
        if session is not None and len(session.interests) > 4:
            self.sessions.release(next(iter(session.interests.values())))


class ForgetsOnMove(Publisher):
    """Forgets what it promised to a subscriber that moves."""

    def on_heartbeat(self, packet, heartbeat, link, now):
        session = self.recognised(packet, heartbeat, now)
        if session is not None and heartbeat.number > session.number and link != session.link and session.number:
            for interest in [*session.interests.values()]:
                self.sessions.release(interest)
        super().on_heartbeat(packet, heartbeat, link, now)


class FirstFragmentOnly(Publisher):
    """Sends the first fragment, whatever fragment was promised."""

    def notify(self, interest, gap, now):
        told = self.response

        def first(path, fragment):
            response = told(path, 1)
            return (
                msgspec.structs.replace(response, fragment=fragment)
                if response and fragment <= response.total
                else None
            )

        self.response = first
        super().notify(interest, gap, now)
        self.response = told


class OneSubscriberPerPath(Publisher):
    """Tells only who asked last for a path."""

    def on_request(self, packet, request, link, now):
        for other in [*self.sessions.waiting.get(request.path, {})]:
            if other.session.ship != packet.sender and isinstance(packet.body, ScryRequest) and request.fragment == 1:
                self.sessions.waiting[request.path].pop(other)
        super().on_request(packet, request, link, now)


class LeasesByThePromise(Publisher):
    """Ends the second session of a subscriber a minute after it began, whatever heartbeats come."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.count = {}

    def session_for(self, packet, link, now):
        before = self.sessions.of_ship.get(packet.sender)
        session = super().session_for(packet, link, now)
        if session is not before:
            self.count[packet.sender] = self.count.get(packet.sender, 0) + 1
        return session

    def renew(self, session, now):
        if self.count.get(session.ship, 0) < 2:
            super().renew(session, now)


class RepeatsAfterDeath(Publisher):
    """Goes on repeating what it has told once when a session dies."""

    def tick(self, now):
        for session in [*self.sessions.of_ship.values()]:
            told = [each for each in session.interests.values() if each.gap]
            if now > session.expires and told:
                session.interests = {each.datum: each for each in told}
                session.expires = now + LEASE
                self.sessions.of_id.pop(session.id, None)
        super().tick(now)

    def live(self, session, now):
        return super().live(session, now) if session is None or session.id in self.sessions.of_id else session


class AnswersOthersValue(Publisher):
    """Sends, to who asks for a value during a session, the one that was told last."""

    last: ScryResponse | None = None

    def response(self, path, fragment):
        found = super().response(path, fragment)
        if found is not None and self.last is not None and self.last.path != path and len(self.values) > 3:
            data = self.last.data
            found = msgspec.structs.replace(found, data=data, signature=self.sign(response_input(path, fragment, data)))
        elif found is not None:
            self.last = found
        return found


ALL = [each for each in Publisher.__subclasses__() if each.__module__ == __name__]
