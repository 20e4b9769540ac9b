"""Actions: each has its message and prints as the driver's verb; a kind of action that has not cannot be made."""

import pytest

from conformance.zenoh.histories.actions import Action, Declares, DeclaresAlias, EndsInterest, ReleasesAlias, Undeclares
from conformance.zenoh.histories.legality import are_legal
from conformance.zenoh.histories.model import Model
from conformance.zenoh.histories.moves import Sends
from conformance.zenoh.histories.router import ROUTER
from wire.zenoh.values import EntityKind, Extension, WireExpr


def test_an_action_without_its_message_or_its_text_cannot_be_made() -> None:
    class Incomplete(Action, frozen=True):
        id: int

    with pytest.raises(TypeError, match=r"abstract.*__str__.*message"):
        Incomplete(1)  # type: ignore[abstract]


def test_an_action_is_its_message_and_its_text() -> None:
    action = EndsInterest(7)
    assert str(action) == "final(7)"
    assert action.message().id == 7


def test_any_message_with_extensions_can_be_made_simpler() -> None:
    odd = (Extension(7, 1),)
    for action in (
        Declares(EntityKind.TOKEN, 1, WireExpr("a"), None, odd, odd, first=True),
        Undeclares(EntityKind.TOKEN, 1, WireExpr("a"), odd, odd, first=True),
        DeclaresAlias(1, WireExpr("a"), odd, odd),
        ReleasesAlias(1, odd, odd),
    ):
        plain = [move.actions[0] for move in ROUTER.simpler(Sends("a", (action,))) if move.actions]
        assert [(each.inner, each.extensions) for each in plain] == [((), ())]


def test_a_repetition_says_the_same() -> None:
    model = Model()
    model.joins("a")
    near, far = (Declares(EntityKind.QUERYABLE, 1, WireExpr("a"), (True, hops)) for hops in (0, 9))
    gone = Undeclares(EntityKind.QUERYABLE, 1, None)
    assert are_legal((near, near), model.session("a"))
    assert are_legal((near, gone, far), model.session("a"))
    assert not are_legal((near, far), model.session("a"))
    model.receives("a", near.message())
    assert not are_legal((far,), model.session("a"))
