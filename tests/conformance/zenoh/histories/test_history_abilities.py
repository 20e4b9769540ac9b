"""Habits of real routers that break a rule wherever they show: told once, by name, and left out of histories."""

import pytest
from played_histories import PlayedHistories

from conformance.zenoh.histories.abilities import KEYS_ALONE, PLAIN, Abilities
from conformance.zenoh.histories.actions import DeclaresAlias, ReleasesAlias
from conformance.zenoh.histories.router import ROUTER
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.faults.keyexprs import TablesByTurns
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    DeclareKeyExpr,
    EntityKind,
    Interest,
    Mode,
    Options,
    UndeclareEntity,
    UndeclareKeyExpr,
    WireExpr,
)


class EndsForAllWhoAsk(Router):
    """Announces the end of a token to all who asked for it: to whom never knew it, under an id that is made up."""

    def withdraw(self, entity: Entity) -> None:
        strangers = [each for each in self.forwarding_targets(entity) if entity not in each.advertised]
        super().withdraw(entity)
        for session in strangers:
            if entity.kind is EntityKind.TOKEN and self.is_wanted(session, entity):
                named = wire_expr_extension(WireExpr(entity.key), deployed=self.deployed)
                self.tell_stranger(session, UndeclareEntity(entity.kind, session.next_id[entity.kind], (named,)))
                session.next_id[entity.kind] += 1

    def tell_stranger(self, session: Session, end: UndeclareEntity) -> None:
        self.declare(session, end, None)


class EndsForStrangersLater(EndsForAllWhoAsk):
    """Answers others, and barriers too, before it tells that to whom never knew the token: no document orders them."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.later: list[tuple[Session, UndeclareEntity]] = []

    def tell_stranger(self, session: Session, end: UndeclareEntity) -> None:
        self.later.append((session, end))

    def announce(self, entity: Entity) -> None:
        while self.later:
            super().tell_stranger(*self.later.pop(0))
        super().announce(entity)


class SpellsByReleasedAliases(Router):
    """Goes on spelling a key by an alias that the session has released."""

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        if body.expr_id in session.theirs:
            self.released: dict[tuple[int, str], int] = vars(self).get("released", {})
            self.released[session.link, session.theirs[body.expr_id]] = body.expr_id
        super().on_undeclare_keyexpr(session, body)

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        number = vars(self).get("released", {}).get((session.link, entity.key))
        if number is not None and number in session.theirs:
            return WireExpr(None, number, sender=False)
        return super().wire_expr_of(session, entity, interest_id)


class WithoutAliasesOnAliases(Router):
    """Knows no number that stands for a key on another number, as no document says in whose table that is (R08)."""

    def on_declare_keyexpr(self, session: Session, body: DeclareKeyExpr) -> None:
        if body.key.scope == 0:
            super().on_declare_keyexpr(session, body)


class LeavesOutMuch(WithoutAliasesOnAliases):
    """Beside that, it passes over Current interests in anything but tokens."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        if interest.mode is not Mode.CURRENT or interest.options & Options.T:
            super().on_interest(session, interest)


class PassesOverMore(Router):
    """Passes over Current interests in anything but tokens, and takes A to be about what exists already."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        is_passed_over = interest.mode is Mode.CURRENT and not interest.options & Options.T
        if not is_passed_over and not (interest.mode is Mode.FUTURE and interest.options & Options.A):
            super().on_interest(session, interest)


ROUTERS = PlayedHistories("zenoh", "router", ROUTER, PLAIN)


def abilities(peer: type[Router]) -> Abilities:
    return ROUTER.abilities(ROUTERS.node(peer))


UNTOLD = ("ZD-083", "who asks for tokens to come is told the end of one that it never knew")
RELEASED = ("ZD-038", "a token is listed under a number that has been released, and given to another key")


@pytest.mark.parametrize(("peer", "complaint"), [(EndsForAllWhoAsk, UNTOLD), (SpellsByReleasedAliases, RELEASED)])
def test_it_is_told_once_and_of_the_rest_nobody_is_accused(peer: type[Router], complaint: tuple[str, str]) -> None:
    assert abilities(peer).complaints == [complaint]
    played = ROUTERS.node(peer)
    for theme in ("modes", "aliases", "entities"):
        ROUTERS.play(played, theme, 1, 2, 3)


def test_what_is_told_behind_the_answers_to_others_is_found_all_the_same() -> None:
    assert abilities(EndsForStrangersLater).complaints == [UNTOLD]


def test_what_no_document_says_of_numbers_on_numbers_is_tried_and_accuses_nobody() -> None:
    found = abilities(WithoutAliasesOnAliases)
    assert not found.complaints
    assert not found.allow(DeclaresAlias(2, WireExpr("/b", 1)))
    assert found.allow(DeclaresAlias(2, WireExpr("a/b")))
    assert abilities(Router).allow(DeclaresAlias(2, WireExpr("/b", 1)))
    played = ROUTERS.node(WithoutAliasesOnAliases)
    for theme in ("options", "aliases", "numbers"):
        ROUTERS.play(played, theme, 1, 2, 3)


def test_numbers_on_numbers_that_are_looked_up_by_turns_are_a_lack_with_its_rule() -> None:
    found = abilities(TablesByTurns)
    assert [rule for rule, _ in found.complaints] == ["ZD-034"]
    assert "one is looked up, the other not: a/b/c/e" in found.complaints[0][1]
    assert not found.allow(DeclaresAlias(2, WireExpr("/b", 1)))


def test_what_does_not_come_is_waited_for_together() -> None:
    node = ROUTERS.node(LeavesOutMuch)
    began = node.instance.clock.now()
    found = ROUTER.abilities(node)
    assert found.lacking == {
        "aliases on aliases",
        "CURRENT subscriber",
        "CURRENT queryable",
        f"CURRENT {KEYS_ALONE}",
    }
    assert node.instance.clock.now() - began == pytest.approx(node.patience)


def test_what_is_passed_over_of_other_modes_is_known_and_accused_once() -> None:
    found = abilities(PassesOverMore)
    future = {f"A in Future {kind.value}" for kind in EntityKind}
    current = {"CURRENT subscriber", "CURRENT queryable", "CURRENT interests in key expressions alone"}
    assert found.lacking == future | current
    assert ("ZD-091", "who asks with A for a token to come is never told of it") in found.complaints
    played = ROUTERS.node(PassesOverMore)
    for theme in ("modes", "options"):
        ROUTERS.play(played, theme, 1, 2, 3, 7)


def test_whoever_spells_by_released_aliases_is_not_asked_to_release_any() -> None:
    assert not abilities(SpellsByReleasedAliases).allow(ReleasesAlias(1))
    assert abilities(EndsForAllWhoAsk).allow(ReleasesAlias(1))
