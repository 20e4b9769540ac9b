"""What a session was told, and need not or must not be told again: in an answer, by an update, by a repetition."""

import msgspec
import pytest
from played_histories import TWO, PlayedHistories

from conformance.histories.moves import Together
from conformance.zenoh.histories.abilities import PLAIN
from conformance.zenoh.histories.actions import Declares, SendsInterest, Undeclares
from conformance.zenoh.histories.comparison import HistoryComparison
from conformance.zenoh.histories.moves import Sends
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import FAULTS, ODDITIES
from wire.zenoh.values import Declaration, DeclareEntity, EntityKind, Mode, NetworkMessage, UndeclareEntity, WireExpr

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
