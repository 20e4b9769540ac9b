"""The Zenoh monitors: what nobody can know, such as what was on its way, accuses no router."""

import pytest

from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.verdicts import Outcome
from harness.trace import Direction, Entry, EntryKind, Trace
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    EntityKind,
    Extension,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    Options,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)
from wire.zenoh.values_transport import Frame, Init, TransportMessage, WhatAmI, write_batch

SENT, RECEIVED = Direction.SENT, Direction.RECEIVED

INIT = Init(WhatAmI.ROUTER, bytes(16), cookie=b"cookie")
FINAL = Declare(DeclareFinal(), 1)
QUERYABLE = Declare(DeclareEntity(EntityKind.QUERYABLE, 1, WireExpr("a/b")))


def asks(options: Options, key: str) -> Interest:
    return Interest(1, Mode.FUTURE, options | Options.R | Options.N, WireExpr(key))


def accused(*story: tuple[Direction, TransportMessage | NetworkMessage]) -> set[str]:
    """Return the rules that a router is accused of breaking."""
    trace = Trace("zenoh", "tcp")
    for number, (direction, said) in enumerate(story):
        batch = [said] if isinstance(said, Init) else [Frame(number, (said,), True)]
        trace.add(Entry(number / 10, "a", EntryKind.FRAME, direction, write_batch(batch)))
    suite = Suite("zenoh")
    judged = judge_conversations(suite.harness.conversations(trace).values(), suite, "document", "")
    return {each.rule for each in judged if each.outcome not in (Outcome.PASS, Outcome.ODD)}


@pytest.mark.parametrize(("answers", "is_accused"), [(0, False), (1, False), (2, True)])
def test_an_answer_to_a_future_interest_does_not_say_that_its_final_was_heard(answers: int, is_accused: bool) -> None:
    """A regression: eclipse-zenoh 1.9.0, which answers some, was accused of telling of what was not asked for any more.

    The id is used again behind the Final: one answer is that of the first.
    """
    rules = accused(
        (RECEIVED, INIT),
        (SENT, asks(Options.Q, "a/*")),
        (SENT, InterestFinal(1)),
        (SENT, asks(Options.T, "b")),
        *[(RECEIVED, FINAL)] * answers,
        (RECEIVED, QUERYABLE),
    )
    assert ("ZD-093" in rules) is is_accused


@pytest.mark.parametrize(("answers", "is_accused"), [(1, False), (2, True)])
def test_an_answer_under_the_id_of_a_future_interest_may_be_to_that(answers: int, is_accused: bool) -> None:
    """A regression: what is asked behind the Final is due an answer, and a first one was taken for it all the same."""
    rules = accused(
        (RECEIVED, INIT),
        (SENT, asks(Options.Q, "a/*")),
        (SENT, InterestFinal(1)),
        (SENT, Interest(1, Mode.CURRENT_FUTURE, Options.T)),
        *[(RECEIVED, FINAL)] * answers,
        (RECEIVED, QUERYABLE),
    )
    assert ("ZI-022" in rules) is is_accused
    assert ("ZD-093" in rules) is is_accused


@pytest.mark.parametrize("mode", [Mode.CURRENT_FUTURE, Mode.FUTURE])
@pytest.mark.parametrize("is_answered_before", [False, True])
def test_an_answer_to_the_first_use_of_an_id_does_not_say_that_the_second_was_heard(
    mode: Mode, is_answered_before: bool
) -> None:
    """A regression: our own router, which had not read so far yet, was accused of what came after a Final.

    Where the first use was answered before the Final, the answer behind it is that of the second.
    """
    told = DeclareEntity(EntityKind.TOKEN, 1, WireExpr("a"))
    before = [(RECEIVED, FINAL)] * is_answered_before
    rules = accused(
        (RECEIVED, INIT),
        (SENT, Interest(7, mode, Options.T)),
        (SENT, Interest(1, Mode.CURRENT_FUTURE, Options.S)),
        *before,
        (SENT, InterestFinal(7)),
        (SENT, Interest(1, Mode.CURRENT, Options.S)),
        (RECEIVED, FINAL),
        (RECEIVED, Declare(told)),
    )
    rule = "ZI-018" if mode is Mode.CURRENT_FUTURE else "ZI-022"
    assert (rule in rules) is is_answered_before


@pytest.mark.parametrize("is_released", [False, True])
def test_a_number_that_was_given_twice_may_name_either_key(is_released: bool) -> None:
    """A regression: eclipse-zenoh 1.5.1, which keeps the first, was accused of telling what nobody had asked for."""
    rules = accused(
        (RECEIVED, INIT),
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("**/b")))),
        *[(SENT, Declare(UndeclareKeyExpr(1)))] * is_released,
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("c")))),
        (SENT, Interest(1, Mode.FUTURE, Options.Q | Options.R | Options.M, WireExpr(None, 1))),
        (SENT, Interest(2, Mode.CURRENT, Options.T)),
        (RECEIVED, Declare(DeclareFinal(), 2)),
        (RECEIVED, QUERYABLE),
    )
    assert ("ZD-093" in rules) is is_released


@pytest.mark.parametrize(("key", "is_accused"), [("//b/a", False), ("$/a", False), ("c/a", True)])
def test_what_a_key_matches_that_is_no_key_expression_is_not_known(key: str, is_accused: bool) -> None:
    """A regression: eclipse-zenoh 1.10.2, for which an empty chunk is none, was accused of telling too much."""
    token = Declare(DeclareEntity(EntityKind.TOKEN, 1, WireExpr(key)), 1)
    ask = Interest(1, Mode.CURRENT_FUTURE, Options.T | Options.R | Options.N | Options.M, WireExpr("b/a$*"))
    rules = accused((RECEIVED, INIT), (SENT, ask), (RECEIVED, token), (RECEIVED, FINAL))
    assert ("ZI-014" in rules) is is_accused


@pytest.mark.parametrize("is_mandatory", [True, False])
def test_a_final_that_nobody_can_act_on_ends_nothing(is_mandatory: bool) -> None:
    """A regression: eclipse-zenoh 1.5.1, which passes over it, was accused of telling of what was asked for still."""
    rules = accused(
        (RECEIVED, INIT),
        (SENT, asks(Options.Q, "a/*")),
        (SENT, InterestFinal(1, (Extension(9, mandatory=is_mandatory),))),
        (SENT, Interest(2, Mode.CURRENT_FUTURE, Options.T)),
        (RECEIVED, Declare(DeclareFinal(), 2)),
        (RECEIVED, QUERYABLE),
    )
    assert rules.isdisjoint({"ZD-093", "ZI-022"}) is is_mandatory


@pytest.mark.parametrize("is_mandatory", [True, False])
def test_what_an_alias_stands_for_is_not_known_that_nobody_can_take(is_mandatory: bool) -> None:
    rules = accused(
        (RECEIVED, INIT),
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("a")))),
        (SENT, Declare(UndeclareKeyExpr(1), extensions=(Extension(9, mandatory=is_mandatory),))),
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("c")))),
        (SENT, Interest(1, Mode.FUTURE, Options.Q | Options.R | Options.M, WireExpr(None, 1))),
        (SENT, Interest(2, Mode.CURRENT, Options.T)),
        (RECEIVED, Declare(DeclareFinal(), 2)),
        (RECEIVED, QUERYABLE),
    )
    assert ("ZD-093" in rules) is not is_mandatory


@pytest.mark.parametrize("is_given_twice", [True, False])
def test_an_end_that_is_spelled_by_a_number_that_was_given_twice_names_what_may_be_right(is_given_twice: bool) -> None:
    spelled = wire_expr_extension(WireExpr(None, 1, sender=False))
    rules = accused(
        (RECEIVED, INIT),
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("a/b" if is_given_twice else "c")))),
        (SENT, Declare(DeclareKeyExpr(1, WireExpr("c")))),
        (SENT, asks(Options.Q, "a/*")),
        (RECEIVED, QUERYABLE),
        (RECEIVED, Declare(UndeclareEntity(EntityKind.QUERYABLE, 1, (spelled,)))),
    )
    assert ("ZD-058" in rules) is not is_given_twice
