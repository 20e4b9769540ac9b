"""Faults of publishers in where they answer, and in what they make of returns and of another way to an inbox."""

from harness.rai.peers.known import KnownSession
from harness.rai.peers.publisher import Publisher
from harness.rai.variants.registry import fault
from wire.rai.values import Dict, Hello, Message, Reply, Return, inbox, user_of
from wire.subjects import is_legal


@fault("RAI-097", does="greets nobody who has stated ucast_url")
class GreetsNobodyElsewhere(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        if not body.ucast_url:
            super().hear_greeting(message, body, now)


@fault("RAI-097", does="speaks with nobody any more whose heartbeat has ucast_url")
class LeavesThoseElsewhere(Publisher):
    def hear_greeting(self, message: Message, body: Hello, now: float) -> None:
        super().hear_greeting(message, body, now)
        other = self.others.get(message.session)
        if other is not None and other.is_trusted and body.ucast_url:
            self.put_away(other)


class Elsewhere(Publisher):
    """What answers elsewhere is made of this."""

    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        subject = self.place(other, returned)
        if is_legal(subject):
            self.say(subject, body)

    def place(self, other: KnownSession, returned: Return) -> str:
        """Return where it answers."""
        return inbox(other.session, returned)


@fault("RAI-098", does="answers under the first segment of a return")
class AnswersFirstSegments(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return inbox(other.session, str(returned).partition(".")[0])


@fault("RAI-098", does="answers at returns that are numbers alone")
class AnswersNumbers(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if str(returned).isdigit():
            super().reply(other, returned, body)


@fault("RAI-098", does="takes a return of 0 for none")
class AnswersNoZero(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if returned:
            super().reply(other, returned, body)


@fault("RAI-098", does="cuts returns after 32 bits")
class CutsNumbers(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return inbox(other.session, returned & 0xFFFFFFFF if isinstance(returned, int) else returned)


@fault("RAI-098", does="cuts returns after sixty letters")
class CutsReturns(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return inbox(other.session, str(returned)[:60])


@fault("RAI-098", does="writes returns small")
class WritesReturnsSmall(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return inbox(other.session, str(returned).lower())


@fault("RAI-098", does="answers in the inbox of a user, without the NONCE")
class AnswersUsers(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return f"_INBOX.{user_of(other.session)}.{returned}"


@fault("RAI-098", does="answers in the inbox of whom it has met last")
class AnswersTheLast(Elsewhere):
    def place(self, other: KnownSession, returned: Return) -> str:
        return inbox(list(self.others)[-1], returned)


@fault("RAI-201", "RAI-028", does="answers at returns that are wildcards")
class AnswersAtWildcards(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        self.say(inbox(other.session, returned), body)


@fault("RAI-201", does="speaks no more with who has asked for an answer at no subject")
class DistrustsWildcards(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if not is_legal(inbox(other.session, returned)):
            self.put_away(other)
        super().reply(other, returned, body)


@fault("RAI-201", does="dies of a return with an empty segment")
class DiesOfReturns(Publisher):
    def reply(self, other: KnownSession, returned: Return, body: Reply | Dict) -> None:
        if ".." in f".{returned}.":
            raise ValueError(f"no subject: {returned!r}")
        super().reply(other, returned, body)


@fault("RAI-028", does="takes a wildcard for a subject, and publishes drops to it")
class DropsWildcards(Publisher):
    def refusal(self, subject: str, other: KnownSession) -> str:
        return "" if is_legal(subject.replace("*", "x").replace(">", "x")) else super().refusal(subject, other)
