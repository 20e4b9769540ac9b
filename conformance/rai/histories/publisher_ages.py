"""How long ago the sessions of a history were heard, and what has ended by that."""

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.publisher_accounts import Accounts
from conformance.rai.histories.publisher_model import LATE, SHORTEST, KnownGuest
from harness.trace import Direction
from wire.rai.values import Hello


class Ages:
    """What is known of the time of each session, and of each of its subscriptions."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self.node = accounts.node
        self.model = accounts.model
        self.guests = accounts.guests
        self._looked = 0

    def grow(self) -> None:
        """Take note of what the tester's sessions have said, and of how long they have not said anything."""
        broker = self.node.broker
        guests = {each.driver.session: each for each in self.guests.values() if each.is_here}
        for event in broker.conversation.events[self._looked :]:
            guest = guests.get(event.message.session)
            if guest is None or event.direction is not Direction.SENT:
                continue
            if isinstance(event.body, Hello):
                self._lapse(guest, event.time)
                guest.heard = event.time
                for its in self.model.interests_of(guest.who):
                    # What may have ended before has ended unseen, or lives on.
                    its.firm = its.firm and its.sure
            guest.spoke = event.time
        self._looked = broker.place
        for guest in guests.values():
            self._lapse(guest, self.node.trace.now())

    def _lapse(self, guest: KnownGuest, until: float) -> None:
        gap = self.node.elapsed(guest.heard, until) + self.accounts.margin
        if gap > SHORTEST:
            guest.is_sure = False
        for its in self.model.interests_of(guest.who):
            its.sure = its.sure and gap <= its.least

    def bury(self) -> None:
        """End what has ended for certain, by time; of the last subscription to a subject that has to be told."""
        for interests in (self.model.named, self.model.wild):
            for (who, name), its in list(interests.items()):
                guest = self.guests[who]
                since = max(guest.heard, guest.spoke, its.begun)
                if its.sure or self.node.elapsed(since) <= its.longest + LATE + self.accounts.margin:
                    continue
                del interests[who, name]
                if interests is not self.model.named:
                    continue
                if its.firm and name in self.model.values and not self.model.has_takers(name):
                    raise Mismatch("RAI-012", f"{name} is not dropped when the time of {who}, its last, has run out")
                self.accounts.blame[name] = "RAI-106"

    def begin_anew(self, guest: KnownGuest) -> None:
        """Begin the time of a session anew: what it has said so far is accounted for."""
        self._looked = self.node.broker.place
        guest.heard = guest.spoke = self.node.trace.now()
