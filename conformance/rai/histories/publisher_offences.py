"""What is said to a publisher in a history and must come to nothing: replays, forgeries, and who is not trusted."""

from collections.abc import Callable

from conformance.rai.histories.publisher_accounts import Accounts
from conformance.rai.histories.publisher_moves import Forges, Intrudes, Replays
from harness.rai.tester.driver import TestSession
from harness.rai.users import SERVED
from wire.rai.values import BYE, SNAP, STOP, Bye, Heartbeat, Hello, SnapRequest, SubStop, of

USERS = ("tess", "toby", "tara", "tess")
"""In whose names strangers come, by turns."""

AGO = 600
"""Seconds that a heartbeat is old for everybody."""


class Offences:
    """Says it, and notes which rule is broken where something comes of it."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self.broker = accounts.broker
        self._strangers = 0

    def replay(self, move: Replays) -> None:
        """Publish again what a session has said."""
        guest = self.accounts.guests[move.who]
        self.accounts.silent[guest.driver.session] = "RAI-159"
        self.accounts.blame[move.name] = "RAI-159"
        guest.driver.send(guest.said[move.what, move.name])

    def forge(self, move: Forges) -> None:
        """Say in the name of a session what it has not signed."""
        guest = self.accounts.guests[move.who]
        driver, last = guest.driver, guest.last
        assert last is not None
        subject = STOP + SERVED + move.name
        self.accounts.blame[move.name] = "RAI-170"
        if move.how == "another's key":
            other = next(each for each in self.accounts.guests.values() if each.driver.user != driver.user)
            driver.say(subject, SubStop(), key=other.driver.key)
        elif move.how == "a used digest" and last.subject != subject:
            driver.send(of(subject, driver.session, last.seqno, SubStop(), last.digest))
            driver.send(of(BYE, driver.session, last.seqno, Bye(), last.digest))
        else:
            driver.say(subject, SubStop(), digest=last.digest)

    def intrude(self, move: Intrudes, settle: Callable[[], None]) -> None:
        """Have somebody ask whom the publisher has no reason to trust; ``settle`` waits until it has heard all."""
        stranger = TestSession(self.broker, USERS[self._strangers % len(USERS)])
        self._strangers += 1
        stranger.answers_auth = stranger.beats = False
        self.accounts.silent[stranger.session] = "RAI-161" if "long ago" in move.how else "RAI-086"
        if "long ago" in move.how:
            form = Heartbeat if "heartbeat" in move.how else Hello
            time = self.broker.utc() - AGO * 1_000_000
            stranger.beat(time=time) if form is Heartbeat else stranger.hello(time=time)
        elif move.how != "unheard of":
            stranger.hello()
            settle()
            stranger.beat()
            settle()
        for again in range(2):
            stranger.start(SERVED + move.name, return_=again, initial=True, ack=True)
            stranger.say(SNAP + SERVED + move.name, SnapRequest(return_=f"snap.{again}"))
            stranger.stop(SERVED + move.name)
