"""Faults of a router-cache: what it says of a source that is disturbed, ends a subject, or is gone."""

from msgspec.structs import replace

from harness.rai.peers.cache import FEED_DOWN, OK, STALE, CachedValue
from harness.rai.peers.known import KnownSession
from harness.rai.peers.node import NodePeer
from harness.rai.peers.router_halves import FEED_SWITCH, Back, Front
from harness.rai.peers.subscriber import Wanted
from harness.rai.variants.registry import fault
from harness.rai.variants.routers import router_cache
from wire.rai.values import Published, Told


@fault("RAI-208", does="keeps it to itself that a value is stale")
@router_cache
class KeepsStaleToItself(Back):
    def tell_state(self, subject: str, status: str) -> None:
        if status != STALE:
            super().tell_state(subject, status)


@fault("RAI-208", does="keeps it to itself that a feed is down")
@router_cache
class KeepsFeedDownToItself(Back):
    def tell_state(self, subject: str, status: str) -> None:
        if status != FEED_DOWN:
            super().tell_state(subject, status)


@fault("RAI-208", does="keeps it to itself that there is another source")
@router_cache
class KeepsSwitchesToItself(Back):
    def tell_state(self, subject: str, status: str) -> None:
        if status != FEED_SWITCH:
            super().tell_state(subject, status)


@fault("RAI-208", does="passes on the fields of a disturbed value as of a sound one")
@router_cache
class PassesFieldsAlone(Back):
    def pass_on(self, subject: str, record: CachedValue, body: Told) -> None:
        super().pass_on(subject, CachedValue(record.fields), replace(body, type=None, status=None))


@fault("RAI-208", does="shows a disturbed value as a sound one")
@router_cache
class ShowsAsSound(Back):
    def whole(self, kind: str, record: CachedValue) -> dict[str, object]:
        return super().whole(kind, record) | {"status": None}


@fault("RAI-208", does="takes a value for sound again with the next update")
@router_cache
class SoundWithTheNextUpdate(Front):
    def apply(self, subject: str, wanted: Wanted, body: Told, other: KnownSession, now: float) -> None:
        if wanted.record is not None and body.fields is not None and body.state == OK:
            wanted.record.status = OK
        super().apply(subject, wanted, body, other, now)


@fault("RAI-208", does="tells of the first disturbance of a subject only")
@router_cache
class TellsTheFirstDisturbance(Back):
    told: frozenset[str] = frozenset()

    def tell_state(self, subject: str, status: str) -> None:
        if subject not in self.told:
            self.told |= {subject}
            super().tell_state(subject, status)


@fault("RAI-208", does="tells of disturbances only who has subscribed by name")
@router_cache
class TellsWhoNamesIt(Back):
    def tell_state(self, subject: str, status: str) -> None:
        if self.interests.is_named(subject):
            super().tell_state(subject, status)


@fault("RAI-209", does="keeps it to itself that a subject has ended")
@router_cache
class KeepsEndsToItself(Front):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if body.state != "expired":
            super().take_drop(subject, wanted, body, now)


@fault("RAI-209", does="keeps it to itself that a subject was renamed")
@router_cache
class KeepsRenamingsToItself(Front):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if body.state != "relocate":
            super().take_drop(subject, wanted, body, now)


@fault("RAI-209", does="drops what has ended for want of subscribers")
@router_cache
class DropsForNoReason(Back):
    def tell_drop(self, subject: str, body: Told) -> None:
        super().tell_drop(subject, replace(body, status="nosubscribers"))


@fault("RAI-209", does="drops what was renamed as if it had ended")
@router_cache
class EndsWhatIsRenamed(Back):
    def tell_drop(self, subject: str, body: Told) -> None:
        super().tell_drop(subject, replace(body, status="expired"))


@fault("RAI-209", does="does not say what a subject is called now")
@router_cache
class ForgetsNewNames(Back):
    def tell_drop(self, subject: str, body: Told) -> None:
        super().tell_drop(subject, replace(body, text=None, subject=None))


@fault("RAI-209", does="says the new name only if it stands in text")
@router_cache
class ReadsNewNamesInText(Back):
    def tell_drop(self, subject: str, body: Told) -> None:
        super().tell_drop(subject, replace(body, subject=None))


@fault("RAI-210", does="passes on a drop for want of subscribers")
@router_cache
class PassesOnWants(Front):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        super().take_drop(subject, wanted, body, now)
        self.back.publish(subject, Published(type="drop", status=body.status))


@fault("RAI-210", does="starts nothing again that was dropped for want of subscribers")
@router_cache
class StartsNothingAgain(Front):
    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if body.state != "nosubscribers":
            super().take_drop(subject, wanted, body, now)


@fault("RAI-210", does="starts a dropped subject again once")
@router_cache
class StartsAgainOnce(Front):
    started: frozenset[str] = frozenset()

    def take_drop(self, subject: str, wanted: Wanted, body: Published, now: float) -> None:
        if subject not in self.started:
            self.started |= {subject}
            super().take_drop(subject, wanted, body, now)


@fault("RAI-211", does="keeps it to itself that a publisher has left")
@router_cache
class KeepsLeavingToItself(Front):
    def left(self, other: KnownSession, now: float) -> None:
        """Act on nothing."""


@fault("RAI-211", does="keeps it to itself that a publisher has said BYE")
@router_cache
class TellsOfSilenceAlone(Front):
    def left(self, other: KnownSession, now: float) -> None:
        if not other.has_ended:
            super().left(other, now)


@fault("RAI-211", does="never finds that a publisher is silent")
@router_cache
class WaitsForBye(Front):
    def tick(self, now: float) -> None:
        NodePeer.tick(self, now)
        self._look_at = None


@fault("RAI-211", does="tells that the first of a publisher's values is stale when it leaves")
@router_cache
class TellsOfTheFirst(Front):
    def left(self, other: KnownSession, now: float) -> None:
        for subject, wanted in self.all_wanted()[:1]:
            self.mark(subject, wanted, STALE)


@fault("RAI-211", does="tells that the publisher is gone of what was never updated")
@router_cache
class TellsOfWhatNeverMoved(Front):
    def left(self, other: KnownSession, now: float) -> None:
        for subject, wanted in self.all_wanted():
            if wanted.record is not None and not wanted.record.changed:
                self.mark(subject, wanted, STALE)
