"""What a session was told, and need not or must not be told again: in an answer, by an update, by a repetition."""

import msgspec
import pytest
from played_histories import TWO, PlayedHistories

from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import Together
from conformance.zenoh.histories.abilities import PLAIN
from conformance.zenoh.histories.actions import Declares, EndsInterest, SendsInterest, Undeclares
from conformance.zenoh.histories.comparison import HistoryComparison
from conformance.zenoh.histories.moves import Sends
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.peers.router import LIVE, Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import FAULTS, ODDITIES
from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    EntityKind,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    UndeclareEntity,
    WireExpr,
)

ROUTERS = PlayedHistories("zenoh", "router", ROUTER, PLAIN)
T = EntityKind.TOKEN
DECLARES = Declares(T, 1, WireExpr("a/b"))


def asks(id: int, mode: Mode) -> Sends:
    """Return the question of a for all tokens."""
    return Sends("a", (SendsInterest(id, mode, frozenset({T}), WireExpr("**")),))


class TellsBehindAnswers(Router):
    """Tells who has a Future interest of what is new when it has next answered; not of what the answer has listed."""

    def forwarding_targets(self, entity: Entity) -> list[Session]:
        return [session for session in super().forwarding_targets(entity) if not waits(session)]

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        super().on_message(session, message)
        for entity in self.entities() if waits(session) else ():
            if entity.owner != session.link and self.is_wanted(session, entity) and self.is_news(session, entity):
                self.advertise(session, entity, None)


def waits(session: Session) -> bool:
    """Tell whether a session has a Future interest."""
    return any(asked.mode is Mode.FUTURE for asked in session.interests.values())


MEANWHILE = Together((Sends("b", (DECLARES,)), asks(3, Mode.CURRENT)))
TAKES_BACK = Sends("b", (Undeclares(T, 1, WireExpr("a/b")),))


def test_what_an_answer_lists_while_it_appears_need_not_be_told_by_an_update_as_well() -> None:
    ROUTERS.make(TellsBehindAnswers, *TWO, asks(1, Mode.FUTURE), MEANWHILE, asks(5, Mode.CURRENT), TAKES_BACK)


def test_that_is_what_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HistoryComparison, "listed_at_once", lambda *_: set())
    assert ROUTERS.rule_broken(TellsBehindAnswers, *TWO, asks(1, Mode.FUTURE), MEANWHILE) == "ZD-091"


class StandsInAndTakesTheSecondFirst(Router):
    """Puts the key of an interest with A in the place of what it stands for; of two sessions the second has its way."""

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        for asked in session.interests.values():
            if asked.options & Options.A and self.matches(asked, entity):
                return WireExpr(asked.key)
        return super().wire_expr_of(session, entity, interest_id)

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        held: tuple[Session, NetworkMessage] | None = vars(self).pop("held", None)
        if held is None and (isinstance(message, Declare) or (isinstance(message, Interest) and asks_with_a(message))):
            self.held = (session, message)
            return
        super().on_message(session, message)
        if held is not None:
            super().on_message(*held)


def asks_with_a(message: Interest) -> bool:
    """Tell whether an interest has A set."""
    return bool(message.options & Options.A)


@pytest.mark.parametrize("mode", [Mode.CURRENT, Mode.CURRENT_FUTURE])
def test_what_stands_for_what_appears_meanwhile_may_come_in_the_answer_and_as_an_update(mode: Mode) -> None:
    asks_for_one = Sends("a", (SendsInterest(3, mode, frozenset({T}), WireExpr("a/**"), aggregate=True),))
    declares = Sends("b", (DECLARES,))
    for together in (Together((asks_for_one, declares)), Together((declares, asks_for_one))):
        ROUTERS.make(StandsInAndTakesTheSecondFirst, *TWO, together)


class OneForAll(Router):
    """Tells who asks with A of one token on the key of the interest, as long as any falls under it."""

    def snapshot(self, session: Session, asked: LiveInterest) -> list[Entity]:
        return [] if asked.options & Options.A else super().snapshot(session, asked)

    def is_wanted(self, session: Session, entity: Entity) -> bool:
        return entity.owner == 0 or any(not asked.options & Options.A for asked in session.wants(entity, LIVE))

    def on_message(self, session: Session, message: NetworkMessage) -> None:
        super().on_message(session, message)
        for other in self.sessions.values():
            for asked in other.interests.values():
                if asked.options & Options.A and asked.key is not None:
                    self.keep_one(other, asked, Entity(0, T, 0, asked.key))

    def keep_one(self, session: Session, asked: LiveInterest, one: Entity) -> None:
        """Announce what stands for all that fall under an interest, or withdraw it where none is left."""
        lives = any(self.is_listed(session, asked, each) for each in self.entities())
        if lives and one not in session.advertised:
            self.advertise(session, one, None)
        elif one in session.advertised and not lives:
            self.retract(session, one)
            del session.advertised[one]


def test_what_stands_for_others_and_comes_again_at_once_is_there() -> None:
    asks_for_one = Sends("a", (SendsInterest(3, Mode.CURRENT_FUTURE, frozenset({T}), WireExpr("**"), aggregate=True),))
    takes_back_and_declares = Sends("b", (*TAKES_BACK.actions, DECLARES))
    declares_another = Sends("b", (Declares(T, 2, WireExpr("c")),))
    ROUTERS.make(
        OneForAll,
        *TWO,
        asks_for_one,
        Sends("b", (DECLARES,)),
        takes_back_and_declares,
        declares_another,
        TAKES_BACK,
        Sends("b", (Undeclares(T, 2, WireExpr("c")),)),
    )


class OneForAllForEver(OneForAll):
    """Does not let an interest end."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        pass


def test_what_stands_for_others_under_an_interest_that_has_ended_breaks_the_rule_about_its_end() -> None:
    asks_for_one = SendsInterest(3, Mode.CURRENT_FUTURE, frozenset({T}), WireExpr("a/**"), aggregate=True)
    asks_for_all = SendsInterest(4, Mode.CURRENT_FUTURE, frozenset({T}), WireExpr("a/**"))
    asked = (*TWO, Sends("a", (asks_for_one,)), Sends("a", (EndsInterest(3),)), Sends("a", (asks_for_all,)))
    ROUTERS.make(OneForAll, *asked, Sends("b", (DECLARES,)))
    assert ROUTERS.rule_broken(OneForAllForEver, *asked, Sends("b", (DECLARES,))) == "ZI-018"


class TakesBackWhatIsTheirs(Router):
    """Lists for a session what it declared itself, and takes that back whenever something else ends."""

    def is_listed(self, session: Session, asked: LiveInterest, entity: Entity) -> bool:
        return entity.kind in asked.kinds and self.matches(asked, entity)

    def withdraw(self, entity: Entity) -> None:
        super().withdraw(entity)
        for session in self.sessions.values():
            for own in [each for each in session.advertised if each.owner == session.link]:
                self.retract(session, own)
                del session.advertised[own]


def test_what_was_ones_own_before_a_step_may_be_taken_back_in_it() -> None:
    another = Declares(T, 2, WireExpr("c"))
    known = (*TWO, Sends("a", (DECLARES,)), Sends("b", (another,)), asks(1, Mode.CURRENT_FUTURE))
    ends, declares = Undeclares(T, 2, WireExpr("c")), Declares(T, 3, WireExpr("a/b"))
    ROUTERS.make(TakesBackWhatIsTheirs, *known, Sends("b", (ends, declares)))


class EndsTwice(Router):
    """Tells each end twice, under one id."""

    def retract(self, session: Session, entity: Entity) -> None:
        super().retract(session, entity)
        super().retract(session, entity)


class EndsAnother(Router):
    """Tells each end, and that of an id that nothing has had."""

    def retract(self, session: Session, entity: Entity) -> None:
        super().retract(session, entity)
        session.advertised[entity] += 100
        super().retract(session, entity)


@pytest.mark.parametrize(
    ("peer", "said"),
    [(EndsTwice, "token 1, which had ended before"), (EndsAnother, "token 101, of which it was")],
)
def test_an_end_of_nothing_that_lives_is_said_to_be_what_it_is(peer: type[Router], said: str) -> None:
    with pytest.raises(Mismatch, match=said):
        ROUTERS.make(peer, *TWO, asks(1, Mode.CURRENT_FUTURE), Sends("b", (DECLARES,)), TAKES_BACK)


@pytest.mark.parametrize("before", [(), (asks(3, Mode.CURRENT),)], ids=["never told", "listed for a Current interest"])
def test_a_repetition_may_be_news_to_who_knows_nothing_of_it(before: tuple[Sends, ...]) -> None:
    known = (*TWO, Sends("b", (DECLARES,)), *before, asks(1, Mode.FUTURE))
    for peer in (Router, ODDITIES.all["news-of-repetitions"].peer):
        ROUTERS.make(peer, *known, Sends("b", (DECLARES,)))


@pytest.mark.parametrize(
    "before",
    [(asks(1, Mode.FUTURE), Sends("b", (DECLARES,))), (Sends("b", (DECLARES,)), asks(1, Mode.CURRENT_FUTURE))],
    ids=["by an update", "by an answer that goes on"],
)
def test_and_is_none_to_who_was_told(before: tuple[Sends, ...]) -> None:
    again = FAULTS.all["repeated-as-new"].peer
    ROUTERS.make(ODDITIES.all["news-of-repetitions"].peer, *TWO, *before, Sends("b", (DECLARES,)))
    assert ROUTERS.rule_broken(again, *TWO, *before, Sends("b", (DECLARES,))) in ("ZD-094", "ZD-095")


class NumbersAllOneInAnswers(Router):
    """Lists everything as 1, whatever else that stands for; repeats no key at the end."""

    def declare(self, session: Session, body: Declaration, interest_id: int | None) -> None:
        if isinstance(body, DeclareEntity) and interest_id is not None:
            body = msgspec.structs.replace(body, id=1)
        if isinstance(body, UndeclareEntity):
            body = msgspec.structs.replace(body, extensions=())
        super().declare(session, body, interest_id)


def test_the_ids_of_an_answer_that_is_over_say_nothing_of_what_ends() -> None:
    """What was announced under a number ends under it, though an answer has listed something else as that since."""
    one, two = Declares(T, 1, WireExpr("a/b")), Declares(T, 2, WireExpr("a/c"))
    asked = (asks(1, Mode.FUTURE), Sends("b", (one,)), Sends("b", (two,)), asks(3, Mode.CURRENT))
    ROUTERS.make(NumbersAllOneInAnswers, *TWO, *asked, TAKES_BACK)
