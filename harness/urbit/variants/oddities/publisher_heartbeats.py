"""Unusual, legal ways to answer heartbeats, and to follow a subscriber."""

from typing import Any

from harness.urbit.peers.publisher import Publisher
from harness.urbit.peers.session import Session
from harness.urbit.variants.registry import oddity
from wire.urbit.values import HeartbeatRequest, Packet


@oddity("URB-069", "URB-075", does="answers old heartbeats, each with its own number")
class AnswersOldHeartbeats(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        session = self.recognised(packet, heartbeat, now)
        if session is None or self.is_new(session, heartbeat):
            super().on_heartbeat(packet, heartbeat, link, now)
        elif heartbeat.number:
            self.affirm(packet, heartbeat, link)


@oddity("URB-072", does="answers heartbeats with the number 0 as any other")
class AnswersZero(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        if heartbeat.number or self.recognised(packet, heartbeat, now) is None:
            super().on_heartbeat(packet, heartbeat, link, now)
        else:
            self.affirm(packet, heartbeat, link)


@oddity("URB-062", "URB-072", does="ignores heartbeats with the number 0, whatever their session")
class ZeroIsNothing(Publisher):
    def on_heartbeat(self, packet: Packet, heartbeat: HeartbeatRequest, link: int, now: float) -> None:
        if heartbeat.number:
            super().on_heartbeat(packet, heartbeat, link, now)


@oddity("URB-073", does="follows a subscriber once a second heartbeat has come from where it is")
class FollowsTheSecond(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.seen: dict[Session, int] = {}

    def follow(self, session: Session, packet: Packet, link: int) -> None:
        if link == session.link or self.seen.get(session) == link:
            super().follow(session, packet, link)
        self.seen[session] = link

    def needs(self, link: int) -> bool:
        return super().needs(link) or link in self.seen.values()


@oddity("URB-063", "URB-068", does="ends sessions five seconds after their minute, when it happens to look")
class LooksSeldom(Publisher):
    def live(self, session: Session | None, now: float) -> Session | None:
        is_late = session is not None and not session.is_dead and session.expires < now <= session.expires + 5
        return session if is_late else super().live(session, now)

    def time(self, session: Session) -> None:
        self.timers.set(session.expires + 6, session)


@oddity("URB-080", does="draws the next session's id before it is asked")
class DrawsAhead(Publisher):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.next_id = super().fresh_id()

    def fresh_id(self) -> int:
        id, self.next_id = self.next_id, super().fresh_id()
        return id
