"""Faults against Pathfinder, "Hello Command": who is on a connection, and in which version they speak."""

from harness.pathfinder.peers.answering import CLIENT_ID_EXISTS, NO_HELLO, RequestRefused
from harness.pathfinder.peers.server import Server
from harness.pathfinder.peers.session import Session
from harness.pathfinder.variants.lenient import Lenient
from harness.pathfinder.variants.registry import fault
from wire.pathfinder.values import Message


@fault("PF-027", does="refuses a client while two others are connected from its address")
class TwoFromOnePlace(Server):
    def greet(self, session: Session, request: Message) -> None:
        # In memory nobody has an address: every client is taken for one from the same place.
        # Versions that nobody speaks are refused for that, as ever.
        if len(self.clients) >= 2 and request["protocol-maximum-version"] < 1000:
            raise RequestRefused(CLIENT_ID_EXISTS)
        super().greet(session, request)


@fault("PF-063", does="lets two connections stand with one client-id")
class Twins(Server):
    def is_connected(self, client_id: int) -> bool:
        return False

    def forget_client(self, session: Session) -> None:
        if session.client_id is not None:
            self.clients.pop(session.client_id, None)


@fault("PF-106", does="says client-id-exists to who has not said hello")
class MistakesStrangers(Server):
    def fail(self, session: Session, request: Message, reason: str) -> None:
        super().fail(session, request, CLIENT_ID_EXISTS if reason == NO_HELLO else reason)


@fault("PF-217", does="carries out ping and publish without hello")
class OpenHouse(Server):
    def needs_hello(self, command: str) -> bool:
        return super().needs_hello(command) and command not in ("ping", "publish")

    def on_publish(self, session: Session, request: Message) -> None:
        is_stranger = session.client_id is None
        # The client-id 0 for the time of the request, as the reference needs an owner.
        session.client_id = 0 if is_stranger else session.client_id
        super().on_publish(session, request)
        session.client_id = None if is_stranger else session.client_id


@fault("PF-108", does="takes no notice of a hello that comes late, and leaves the connection open")
class DeafToTheLate(Server):
    def tick(self, now: float) -> None:
        self.late = getattr(self, "late", set()) | {link for link, at in self.awaiting_hello.items() if at <= now}
        for link in self.late:
            self.awaiting_hello.pop(link, None)
        super().tick(now)

    def greet(self, session: Session, request: Message) -> None:
        if session.link not in getattr(self, "late", ()):
            super().greet(session, request)


@fault("PF-109", does="refuses the second hello of a client since its client-id is in use")
class OnceOnly(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        raise RequestRefused(CLIENT_ID_EXISTS)


@fault("PF-109", does="makes orphans of a client's services when it repeats hello")
class AnewEachTime(Server):
    def greet_again(self, session: Session, request: Message) -> None:
        super().greet_again(session, request)
        assert session.client_id is not None
        self.lose_contact(session.client_id)


@fault("PF-110", does="gives a connection another client-id when it asks for one")
class Renaming(Server):
    def is_same_client(self, session: Session, request: Message) -> bool:
        if session.client_id != request["client-id"]:
            self.forget_client(session)
            # 2 is the only version that the reference has agreed on.
            self.welcome(session, request["client-id"], session.version or 2)
        return True


@fault("PF-110", does="agrees on another version amid a connection")
class ChangesItsMind(Lenient):
    def greet_again(self, session: Session, request: Message) -> None:
        self.answer_hello(session, request, min(request["protocol-maximum-version"], 3))


@fault("PF-111", does="refuses every hello behind one that was refused")
class Unforgiving(Server):
    def greet(self, session: Session, request: Message) -> None:
        rejected: set[object] = getattr(self, "rejected", set())
        if rejected & {session.link, request["client-id"]}:
            raise RequestRefused(CLIENT_ID_EXISTS)
        try:
            super().greet(session, request)
        except RequestRefused:
            taken = self.is_connected(request["client-id"])
            self.rejected = rejected | {session.link, *(() if taken else (request["client-id"],))}
            raise


@fault("PF-111", does="takes no further hello on a connection whose first was refused, and leaves it open")
class Sulking(Server):
    def greet(self, session: Session, request: Message) -> None:
        sulking: set[int] = getattr(self, "sulking", set())
        if session.link in sulking:
            return
        try:
            super().greet(session, request)
        except RequestRefused:
            self.sulking = sulking | {session.link}
            raise


@fault("PF-114", does="takes the end of a range for what is beyond it")
class ExclusiveRange(Server):
    def choose_version(self, minimum: int, maximum: int) -> int | None:
        # One that means a single version is forgiven, or nobody would ever be let in.
        return super().choose_version(minimum, maximum if minimum == maximum else maximum - 1)


@fault("PF-114", does="takes the largest version for none")
class AfraidOfLargeNumbers(Server):
    def choose_version(self, minimum: int, maximum: int) -> int | None:
        # Only where the largest range is offered.
        return super().choose_version(minimum, -1 if maximum > 1 << 62 else maximum)


@fault("PF-115", does="completes hello without the version")
class NoVersion(Lenient):
    def answer_hello(self, session: Session, request: Message, version: int) -> None:
        self.complete(session, request)


@fault("PF-115", does="agrees on version 2 where only 3 was offered")
class Presumptuous(Server):
    def choose_version(self, minimum: int, maximum: int) -> int | None:
        # 2000 is the upper end of what the case offers in vain.
        return super().choose_version(minimum, maximum) or (2 if maximum == 2000 else None)


@fault("PF-116", does="agrees on version 1 where 0 to 2 was offered")
class LowestVersion(Server):
    versions = (1, 2)

    def choose_version(self, minimum: int, maximum: int) -> int | None:
        return 1 if minimum <= 1 <= maximum == 2 else super().choose_version(minimum, maximum)


class WrongHelloReasons(Server):
    """Gives wrong reasons for refusing hello."""

    reasons: dict[str, str] = {}

    def fail(self, session: Session, request: Message, reason: str) -> None:
        wrong = self.reasons.get(reason) if request["ta-cmd"] == "hello" else None
        super().fail(session, request, wrong or reason)


@fault("PF-119", does="says bad-version where versions do not overlap")
class OwnCode(WrongHelloReasons):
    reasons = {"unsupported-protocol-version": "bad-version"}


@fault("PF-119", does="says client-id-exists where versions do not overlap")
class BlamesTheName(WrongHelloReasons):
    reasons = {"unsupported-protocol-version": "client-id-exists"}


@fault("PF-119", does="says that the version is not supported where the client-id is in use")
class BlamesTheVersion(WrongHelloReasons):
    reasons = {"client-id-exists": "unsupported-protocol-version"}
