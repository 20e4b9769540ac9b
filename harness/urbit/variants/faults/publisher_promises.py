"""Faults of publishers against the rules of requests, promises, and the ids of sessions."""

import itertools
from typing import Any

from msgspec.structs import replace

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import PromisedDatum, Session
from harness.urbit.ships import key_of
from harness.urbit.variants.registry import fault
from wire.urbit.signatures import cancellation_input, promise_input, request_input
from wire.urbit.values import Packet, Promise, ScryRequest, ScryResponse, Ship


def rename(publisher: Publisher, session: Session) -> None:
    """Give a live session another id."""
    del publisher.sessions.of_id[session.id]
    session.id = publisher.fresh_id()
    publisher.sessions.of_id[session.id] = session


@fault("URB-030", does="says nothing to requests for what is not there")
class NeverPromises(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        pass


@fault("URB-031", does="promises what is there")
class PromisesWhatIsThere(Publisher):
    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        self.on_request_of_none(packet, request, link, now)


@fault("URB-031", does="gives a value to the first who asks, and promises it to others")
class GivesOnce(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.given: set[bytes] = set()

    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        if request.path in self.given:
            self.on_request_of_none(packet, request, link, now)
            return
        if request.path in self.values:
            self.given.add(request.path)
        super().on_request(packet, request, link, now)


@fault("URB-031", does="promises a value again to whom it has promised it before")
class PromisesAgain(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.before: set[tuple[Ship, bytes]] = set()

    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        if (packet.sender, request.path) in self.before:
            self.on_request_of_none(packet, request, link, now)
            return
        if request.path not in self.values:
            self.before.add((packet.sender, request.path))
        super().on_request(packet, request, link, now)


@fault("URB-031", does="answers all requests with the value that has grown first")
class OneValueForAll(Publisher):
    def on_request_of_value(self, packet: Packet, request: ScryRequest, link: int) -> None:
        response = self.response(next(iter(self.values)), request.fragment)
        if response is not None:
            self.answer(packet, replace(response, path=request.path), link)


@fault("URB-032", does="knows no sessions of comets")
class CometsHaveNoSession(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        if packet.sender.rank == 3:
            # It is there under another id than it says.
            self.sessions.of_id.pop(session.id, None)
            self.sessions.of_id[session.id ^ 1] = session
        return session


@fault("URB-032", does="opens a session with the second promise only")
class OpensLate(Publisher):
    def live(self, session: Session | None, now: float) -> Session | None:
        return super().live(session, now)

    def recognised(self, packet: Packet, heartbeat: Any, now: float) -> Session | None:
        session = super().recognised(packet, heartbeat, now)
        return None if session is not None and len(session.interests) < 2 else session


@fault("URB-033", does="counts sessions")
class CountsSessions(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(draw=itertools.count(1).__next__, **settings)


@fault("URB-033", does="counts sessions from a random number on, in large steps")
class StridesThroughIds(Publisher):
    def __init__(self, **settings: Any) -> None:
        numbers = itertools.count(0x0123456789ABCDEF)
        super().__init__(draw=lambda: next(numbers) * 0x9E3779B97F4A7C15 % 2**64, **settings)


@fault("URB-033", does="draws ids of 32 bits")
class ShortIds(Publisher):
    def fresh_id(self) -> int:
        return super().fresh_id() & 0xFFFFFFFF


@fault("URB-033", does="draws the high half of its ids only")
class HighIds(Publisher):
    def fresh_id(self) -> int:
        return super().fresh_id() & 0xFFFFFFFF << 32


@fault("URB-033", "URB-055", does="makes the id of a session from the number of the ship")
class IdsOfShips(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        is_new = self.live(self.sessions.of_ship.get(packet.sender), now) is None
        session = super().session_for(packet, link, now)
        if is_new:
            del self.sessions.of_id[session.id]
            session.id = (packet.sender.number + 1) * 0x9E3779B97F4A7C15 % 2**64
            self.sessions.of_id[session.id] = session
        return session


@fault("URB-034", does="promises the first fragment, whichever was asked for")
class FirstFragmentOnly(Publisher):
    def promise(self, interest: PromisedDatum) -> Promise:
        path, _ = interest.datum
        return super().promise(PromisedDatum(interest.session, (path, 1)))


@fault("URB-034", does="counts fragments in one byte")
class FragmentsInAByte(Publisher):
    def promise(self, interest: PromisedDatum) -> Promise:
        path, fragment = interest.datum
        return super().promise(PromisedDatum(interest.session, (path, fragment & 0xFF)))


@fault("URB-034", does="promises the first 200 bytes of a path")
class ShortenedPaths(Publisher):
    def promise(self, interest: PromisedDatum) -> Promise:
        path, fragment = interest.datum
        return super().promise(PromisedDatum(interest.session, (path[:200], fragment)))


@fault("URB-034", does="writes paths in small letters")
class SmallLetters(Publisher):
    def promise(self, interest: PromisedDatum) -> Promise:
        path, fragment = interest.datum
        return super().promise(PromisedDatum(interest.session, (path.lower(), fragment)))


@fault("URB-034", does="promises to all what one asks for")
class PromisesToAll(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        super().on_request_of_none(packet, request, link, now)
        for session in self.sessions.of_ship.values():
            if session.ship != packet.sender:
                its = PromisedDatum(session, (request.path, request.fragment))
                self.put(session.link, self.promise(its), session.ship)


@fault("URB-035", does="answers heartbeats at the address of the last request, whoever sent it")
class AnswersTheLastWhoAsked(Publisher):
    asked_at = 0

    def on_request(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        self.asked_at = link
        super().on_request(packet, request, link, now)

    def affirm(self, packet: Packet, heartbeat: Any, link: int) -> None:
        super().affirm(packet, heartbeat, self.asked_at)


@fault("URB-035", does="promises where the last heartbeat came from, whoever sent it")
class PromisesTheLastWhoBeat(Publisher):
    beaten_at: int | None = None

    def on_heartbeat(self, packet: Packet, heartbeat: Any, link: int, now: float) -> None:
        super().on_heartbeat(packet, heartbeat, link, now)
        if self.sessions.of_ship.get(packet.sender) is not None:
            self.beaten_at = link

    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        # The first promise goes where it should: else nobody would have a session.
        is_first = packet.sender not in self.sessions.of_ship
        at = link if is_first or self.beaten_at is None else self.beaten_at
        super().on_request_of_none(packet, request, at, now)


class SigningOtherwise(Publisher):
    """What signs promises as it should not is made of this."""

    def signature(self, interest: PromisedDatum) -> bytes:
        """Return the signature of a promise."""
        path, fragment = interest.datum
        return self.sign(promise_input(interest.session.id, path, fragment))

    def promise(self, interest: PromisedDatum) -> Promise:
        return replace(super().promise(interest), signature=self.signature(interest))


@fault("URB-036", does="signs promises as requests are signed")
class SignsAsRequests(SigningOtherwise):
    def signature(self, interest: PromisedDatum) -> bytes:
        return self.sign(request_input(*interest.datum))


@fault("URB-036", does="leaves the session out of the signatures of promises")
class SignsWithoutSession(SigningOtherwise):
    def signature(self, interest: PromisedDatum) -> bytes:
        return self.sign(cancellation_input(*interest.datum))


@fault("URB-036", does="signs promises with the key of whom they are for")
class SignsAsAnother(SigningOtherwise):
    def signature(self, interest: PromisedDatum) -> bytes:
        path, fragment = interest.datum
        return key_of(interest.session.ship).sign(promise_input(interest.session.id, path, fragment))


@fault("URB-036", does="signs the first promise of a session only")
class SignsTheFirst(SigningOtherwise):
    def signature(self, interest: PromisedDatum) -> bytes:
        is_first = next(iter(interest.session.interests.values())) is interest
        return super().signature(interest) if is_first else bytes(64)


@fault("URB-037", does="gives each promise another id")
class AnotherIdEachTime(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        if session.interests:
            rename(self, session)
        return session


@fault("URB-037", does="gives a session another id when nothing is pending in it")
class AnotherIdWhenIdle(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        if session.number and not session.interests:
            rename(self, session)
        return session


@fault("URB-037", does="gives a session another id after its first heartbeat")
class AnotherIdOnceBeaten(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        if session.number == 1:
            rename(self, session)
        return session


@fault("URB-037", does="begins another session after a notification")
class AnotherIdOnceTold(Publisher):
    def session_for(self, packet: Packet, link: int, now: float) -> Session:
        session = super().session_for(packet, link, now)
        if any(interest.gap for interest in session.interests.values()):
            rename(self, session)
        return session


@fault("URB-038", does="opens another session when a request is repeated")
class AnotherIdForRepeats(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None and (request.path, request.fragment) in session.interests:
            rename(self, session)
        super().on_request_of_none(packet, request, link, now)


@fault("URB-038", does="ends a session silently when a request is repeated in it")
class EndsAtRepeats(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.live(self.sessions.of_ship.get(packet.sender), now)
        if session is not None and (request.path, request.fragment) in session.interests:
            self.sessions.kill(session)
            return
        super().on_request_of_none(packet, request, link, now)


@fault("URB-039", does="has one id for all ships")
class OneIdForAll(Publisher):
    first: int | None = None

    def promise(self, interest: PromisedDatum) -> Promise:
        if self.first is None:
            self.first = interest.session.id
        path, fragment = interest.datum
        return Promise(self.first, path, fragment, self.sign(promise_input(self.first, path, fragment)))


@fault("URB-039", does="has one id for all ships at an address")
class OneIdForAnAddress(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.at: dict[int, int] = {}

    def promise(self, interest: PromisedDatum) -> Promise:
        id = self.at.setdefault(interest.session.link, interest.session.id)
        path, fragment = interest.datum
        return Promise(id, path, fragment, self.sign(promise_input(id, path, fragment)))


@fault("URB-059", does="promises sixteen things to a subscriber at most")
class SixteenAtMost(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is None or len(session.interests) < 16 or (request.path, request.fragment) in session.interests:
            super().on_request_of_none(packet, request, link, now)


@fault("URB-059", does="promises one fragment of a path only")
class OneFragmentOfAPath(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        pending = {} if session is None else dict(session.interests)
        if pending.get((request.path, request.fragment)) or request.path not in {path for path, _ in pending}:
            super().on_request_of_none(packet, request, link, now)


@fault("URB-059", does="promises nothing more in a session once it has had heartbeats")
class PromisesBeforeHeartbeats(Publisher):
    def on_request_of_none(self, packet: Packet, request: ScryRequest, link: int, now: float) -> None:
        session = self.sessions.of_ship.get(packet.sender)
        if session is None or not session.number:
            super().on_request_of_none(packet, request, link, now)


@fault("URB-012", does="answers requests in the name of the ship that asked")
class AnswersAsItself(Publisher):
    def answer(self, packet: Packet, body: Any, link: int) -> None:
        if isinstance(body, ScryResponse):
            its = Packet(body, packet.sender, packet.sender)
            self._out.append((link, self.spell(its)))
        else:
            super().answer(packet, body, link)
