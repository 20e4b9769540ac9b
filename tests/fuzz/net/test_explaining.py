"""Explaining: two that show in the same way may be two defects all the same; one explains only what is its own."""

from types import SimpleNamespace
from typing import Any

import pytest

from fuzz.net.explaining import said_in, shows_with_less, with_only, without
from fuzz.net.moves import EndsSession, GivesCommand, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import Reproduced
from fuzz.net.symptoms import RAW, Symptom
from wire.zenoh.values import Interest, InterestFinal, Mode, Options
from wire.zenoh.values_transport import write_network

NODE: Any = SimpleNamespace(
    target=SimpleNamespace(layout="zenoh/network-message"),
    suite=SimpleNamespace(harness=SimpleNamespace(layout="zenoh/batch")),
)
ASKS, ENDS = write_network(Interest(1, Mode.CURRENT, Options.T)), write_network(InterestFinal(1))
TEST: NetworkTest = (
    Opens("a"),
    Says("a", (ASKS, ENDS)),
    GivesCommand("forget"),
    Says("a", (b"\0",), "raw"),
    EndsSession("a", "drop"),
)
SAID = {"INTEREST", "INTEREST_FINAL", "command forget", RAW, "drop"}
HARM = Symptom("harm", "what somebody else was promised is gone")


def test_a_test_is_left_without_some_kinds_or_with_some_alone() -> None:
    assert said_in(NODE, TEST) == SAID
    assert without(NODE, TEST, {"INTEREST", RAW}) == (TEST[0], Says("a", (ENDS,)), TEST[2], TEST[4])
    assert without(NODE, TEST, {"PUSH"}) == TEST
    assert with_only(NODE, TEST, {"INTEREST"}) == (TEST[0], Says("a", (ASKS,)), TEST[4])
    assert with_only(NODE, TEST, {"command forget", RAW}) == (TEST[0], *TEST[2:])
    assert with_only(NODE, TEST, SAID) == TEST


@pytest.mark.parametrize(
    ("said", "shown", "is_enough"),
    [
        ((ASKS,), HARM, True),
        ((ASKS,), None, False),
        ((ASKS,), Symptom("crash", "elsewhere", place="elsewhere"), False),
        # It says nothing that the known one does not: nobody need play it.
        ((ASKS, ENDS), None, True),
    ],
)
def test_a_known_finding_explains_what_its_kinds_of_messages_are_enough_for(
    said: tuple[bytes, ...], shown: Symptom | None, is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = list[NetworkTest]()

    def reproduce(node: Any, test: NetworkTest, *, times: int) -> Reproduced | None:
        assert times == 3
        played.append(test)
        return None if shown is None else Reproduced(shown, None)

    monkeypatch.setattr("fuzz.net.explaining.reproduce", reproduce)
    known: Any = SimpleNamespace(test=(Opens("b"), Says("b", said)))
    assert shows_with_less(NODE, TEST[:2], HARM, known, 3) is is_enough
    assert played == ([(TEST[0], Says("a", (ASKS,)))] if len(said) == 1 else [])
