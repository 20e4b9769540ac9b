"""Actions: each has its message and prints as the driver's verb; a kind of action that has not cannot be made."""

import pytest

from conformance.zenoh.histories.actions import Action, EndsInterest


def test_an_action_without_its_message_or_its_text_cannot_be_made() -> None:
    class Incomplete(Action, frozen=True):
        id: int

    with pytest.raises(TypeError, match=r"abstract.*__str__.*message"):
        Incomplete(1)  # type: ignore[abstract]


def test_an_action_is_its_message_and_its_text() -> None:
    action = EndsInterest(7)
    assert str(action) == "final(7)"
    assert action.message().id == 7
