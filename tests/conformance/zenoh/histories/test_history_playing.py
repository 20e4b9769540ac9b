"""Histories of routers: the reference is never accused, and whoever breaks what several sentences say together is."""

import msgspec
import pytest
from hypothesis import given, settings
from played_histories import TWO, PlayedHistories, make_all

from conformance.cases import NotPlayed, RuleBroken
from conformance.histories.drawing import histories
from conformance.histories.history import play_history
from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.zenoh.histories.abilities import PLAIN, WIRE_EXPR_SUFFIX, Abilities, Lack
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.drawing import WEIGHTS
from conformance.zenoh.histories.moves import Move, Sends, Unspecified
from conformance.zenoh.histories.router import ROUTER
from conformance.zenoh.histories.unspecified import UNSPECIFIED
from conformance.zenoh.stimuli import UNKNOWN_EXTENSIONS
from harness.zenoh.peers.router import Router
from harness.zenoh.peers.session import Entity, LiveInterest, Session
from harness.zenoh.variants.registry import FAULTS, ODDITIES
from wire.zenoh.values import EntityKind, Interest, InterestFinal, Mode, UndeclareEntity, WireExpr

S, Q, T = EntityKind
ALL = frozenset(EntityKind)
KEY = WireExpr("a/b")
UNKNOWN = UNKNOWN_EXTENSIONS[:1]


ROUTERS = PlayedHistories("zenoh", "router", ROUTER, PLAIN)
play = ROUTERS.make


@pytest.mark.parametrize("theme", WEIGHTS)
def test_the_reference_is_not_accused(theme: str) -> None:
    assert ROUTERS.play(ROUTERS.node(Router), theme, 101)


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(histories(ROUTER.generator, "modes", 12))
def test_the_reference_is_not_accused_whatever_hypothesis_draws(moves: tuple[Move, ...]) -> None:
    play(Router, *moves)


def test_what_is_undeclared_through_a_number_is_not_through_one_that_goes_in_the_same_batch() -> None:
    misreads = Abilities((Lack(WIRE_EXPR_SUFFIX, "", ""),))
    named = (DeclaresAlias(2, KEY), DeclaresAlias(3, WireExpr("c")), Declares(Q, 7, KEY))
    for going in ((ReleasesAlias(2),), (ReleasesAlias(2), DeclaresAlias(2, WireExpr("c")))):
        with ROUTERS.scene(Router, misreads) as scene:
            make_all(scene, SessionOpens("a"), Sends("a", named), Sends("a", (*going, Undeclares(Q, 7, KEY))))
            sent = scene.listeners["a"].driver.conversation.events
            (undeclared,) = [event for event in sent if isinstance(event.body, UndeclareEntity)]
            assert scene.listeners["a"].driver.inner(undeclared.key) == "a/b"


class TellsNoEnds(Router):
    """Keeps the end of what was declared to itself."""

    def withdraw(self, entity: Entity) -> None:
        pass


def test_of_a_rule_that_is_known_to_be_broken_no_more_is_waited_for_than_a_window() -> None:
    node = ROUTERS.node(TellsNoEnds)
    clock, broken = node.instance.clock, node.timing.silences.broken
    moves = (SessionOpens("a"), Sends("a", (Declares(T, 1, KEY),)))
    for known, seconds in ((set(), node.patience), ({"ZI-070"}, node.patience), ({"ZD-083"}, node.timing.window)):
        broken |= known
        with ROUTER.scene(node, PLAIN) as scene:
            scene.begin()
            make_all(scene, *moves)
            began = clock.now()
            with pytest.raises(Mismatch) as difference:
                scene.do(Sends("a", (Undeclares(T, 1, KEY),)))
            assert difference.value.rule == "ZD-083"
            assert clock.now() - began == pytest.approx(seconds)


class WithdrawsForAll(Router):
    """Forgets all entities on a key when one of its declarers leaves."""

    def on_end(self, session: Session) -> None:
        keys = {entity.key for entity in session.entities.values()}
        super().on_end(session)
        for other in self.sessions.values():
            for entity in [entity for entity in other.entities.values() if entity.key in keys]:
                super().on_undeclare_entity(other, UndeclareEntity(entity.kind, entity.id))


def test_a_rule_is_known_to_be_broken_when_a_history_has_shown_it_twice() -> None:
    node = ROUTERS.node(WithdrawsForAll)
    seen = []
    for _ in range(2):
        with pytest.raises(RuleBroken) as found:
            play_history(node, ROUTER, "propagation", 1)
        seen.append((found.value.ids, set(node.timing.silences.broken)))
    (first, known_first), (second, known_second) = seen
    assert first == second
    assert (known_first, known_second) == (set(), set(second))


class EndsTheSameIdEverywhere(Router):
    """Ends the interests of an id on all sessions."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        for each in self.sessions.values():
            super().on_interest_final(each, message)


def test_what_it_takes_is_printed_as_verbs() -> None:
    lines = str(ROUTERS.accusation(WithdrawsForAll, "propagation", *range(1, 30))).splitlines()
    assert len(lines) < 12
    assert any(".declare_" in line for line in lines)
    assert any(".close()" in line or ".drop()" in line for line in lines)


@pytest.mark.parametrize(
    ("action", "plain"),
    [
        (Declares(T, 1, KEY, inner=UNKNOWN, first=True), Declares(T, 1, KEY)),
        (DeclaresAlias(1, KEY, inner=UNKNOWN), DeclaresAlias(1, KEY)),
        (ReleasesAlias(1, inner=UNKNOWN), ReleasesAlias(1)),
    ],
)
def test_whatever_has_extensions_is_made_small_by_leaving_them_out(action: Action, plain: Action) -> None:
    assert ROUTER.simpler(Sends("a", (action,))) == (Sends("a", (plain,)),)


def test_interests_of_one_id_on_two_sessions() -> None:
    ask = SendsInterest(7, Mode.CURRENT_FUTURE, ALL)
    story = (
        SessionOpens("a"),
        SessionOpens("b"),
        Sends("a", (ask,)),
        Sends("b", (ask,)),
        Sends("a", (EndsInterest(7),)),
    )
    change = Sends("a", (Declares(T, 1, KEY),))
    play(Router, *story, change)
    assert ROUTERS.rule_broken(EndsTheSameIdEverywhere, *story, change) == "ZD-091"


def test_a_key_that_two_have_lives_until_the_last_of_them_goes() -> None:
    declares = Declares(S, 1, KEY)
    story = (*TWO, Sends("a", (declares,)), Sends("b", (declares,)))
    play(Router, *story, SessionEnds("a"), SessionEnds("b", "drop"))
    assert ROUTERS.rule_broken(WithdrawsForAll, *story, SessionEnds("a")) == "ZD-092"


def test_an_alias_that_is_given_anew() -> None:
    alias = WireExpr(None, 5)
    actions = (
        DeclaresAlias(5, KEY),
        Declares(S, 1, alias),
        ReleasesAlias(5),
        DeclaresAlias(5, WireExpr("a/c")),
        Declares(S, 2, alias),
    )
    play(
        Router,
        SessionOpens("a"),
        SessionOpens("b"),
        Sends("a", actions, fragments=7),
        Sends("b", (Publishes(WireExpr("a/c"), "x"),)),
    )


class MissesWhatComesMeanwhile(Router):
    """Takes no interest into account before the asker speaks again."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        live = session.interests.pop(interest.id, None)
        self.late = (session, live)

    def on_message(self, session: Session, message: object) -> None:
        late: tuple[Session, LiveInterest | None] | None = vars(self).pop("late", None)
        if late is not None and late[0] is session and late[1] is not None:
            session.interests[late[1].id] = late[1]
        elif late is not None:
            self.late = late
        super().on_message(session, message)  # type: ignore[arg-type]


def test_what_is_declared_while_somebody_asks() -> None:
    asks, declares = SendsInterest(3, Mode.CURRENT_FUTURE, frozenset({T}), WireExpr("**")), Declares(T, 1, KEY)
    together = Together((Sends("a", (asks,)), Sends("b", (declares,))))
    play(Router, *TWO, together)
    assert ROUTERS.rule_broken(MissesWhatComesMeanwhile, *TWO, together) == "ZD-091"


def test_guests_leave_nothing_behind() -> None:
    guest = Unspecified((Declares(T, 1, WireExpr("guest/1")),), "ZD-092", (("token", "guest/1"),), (1,))
    play(Router, SessionOpens("a"), guest, guest)
    with pytest.raises(Mismatch, match="nothing came of it"):
        play(Router, msgspec.structs.replace(guest, actions=()))


def test_what_a_node_lacks_is_left_out() -> None:
    can = Abilities((Lack("CURRENT token", "ZI-010", "lists no tokens"), Lack("aliases", "ZD-027", "knows no aliases")))
    with ROUTERS.scene(Router, can) as scene:
        scene.do(SessionOpens("a"))
        assert not scene.fits(Sends("a", (SendsInterest(1, Mode.CURRENT, frozenset({T})),)))
        assert scene.fits(Sends("a", (SendsInterest(1, Mode.CURRENT_FUTURE, frozenset({T})),)))
        assert not scene.fits(Sends("a", (DeclaresAlias(1, KEY), Declares(T, 1, WireExpr(None, 1)))))


def test_moves_that_nobody_has_prepared_are_left_out() -> None:
    with ROUTERS.scene(Router) as scene:
        scene.do(SessionOpens("a"))
        for action in (EndsInterest(1), Undeclares(T, 1, KEY), ReleasesAlias(1), Declares(T, 1, WireExpr(None, 1))):
            assert not scene.fits(Sends("a", (action,)))
        scene.do(Sends("a", (Declares(T, 1, KEY),)))
        assert scene.fits(Sends("a", (Declares(T, 1, KEY),)))
        assert not scene.fits(Sends("a", (Declares(T, 1, WireExpr("b")),)))


class Deaf(Router):
    """Announces no token."""

    def announce(self, entity: Entity) -> None:
        if entity.kind is not T:
            super().announce(entity)


def abilities(peer: type[Router]) -> Abilities:
    """Try what a router does; whatever it lacks is waited for at most twice, of its coming and of its going."""
    tried = ROUTERS.node(peer)
    found = ROUTER.abilities(tried)
    assert tried.instance.clock.now() <= 2 * tried.patience + 2
    return found


def test_a_node_is_told_once_what_it_does_not_do() -> None:
    found = abilities(Deaf)
    assert found.complaints == [("ZD-091", "who asks for everything is not told of a token")]
    assert not found.blocked
    assert not found.allow(Declares(T, 1, KEY))
    assert not any(scene_fits(Deaf, found, move) for move in UNSPECIFIED if move.listens)
    assert abilities(Router).complaints == []


def scene_fits(peer: type[Router], can: Abilities, move: Move) -> bool:
    with ROUTERS.brings.scene(ROUTERS.node(peer), can) as scene:
        return scene.fits(move)


class Mute(Router):
    """Answers nobody."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Say nothing."""


class KeepsNewsToItself(Router):
    """Announces nothing, and lists what there is."""

    def announce(self, entity: Entity) -> None:
        """Tell nobody."""


class NeverTakesBack(Router):
    """Announces no end."""

    def withdraw(self, entity: Entity) -> None:
        """Tell nobody."""


class AnswersCurrentFutureAlone(Router):
    """Does not answer Current interests."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        if interest.mode is not Mode.CURRENT:
            super().on_interest(session, interest)


NOT_ANSWERED = [("ZI-070", "a CurrentFuture interest is not answered up to D_FINAL")]
NOT_TOLD = [("ZD-091", f"who asks for everything is not told of a {kind.value}") for kind in EntityKind]
NO_END_TOLD = [("ZD-092", f"who asks for everything is not told the end of a {kind.value}") for kind in EntityKind]
NO_BARRIER = [("ZI-070", "a Current interest in tokens, of which there are none, is not answered up to D_FINAL")]


@pytest.mark.parametrize(
    ("peer", "complaints"),
    [
        (Mute, NOT_ANSWERED),
        (FAULTS.all["no-final-for-nothing"].peer, NOT_ANSWERED),
        (FAULTS.all["no-final"].peer, NOT_ANSWERED),
        (KeepsNewsToItself, NOT_TOLD),
        (NeverTakesBack, NO_END_TOLD),
        (AnswersCurrentFutureAlone, NO_BARRIER),
    ],
)
def test_who_does_not_do_the_basic_thing_is_told_so_and_nothing_else(
    peer: type[Router], complaints: list[tuple[str, str]]
) -> None:
    found = abilities(peer)
    assert found.complaints == complaints
    assert found.blocked == "; ".join(what for _, what in complaints)
    with pytest.raises(NotPlayed, match=complaints[0][1]):
        ROUTERS.play(ROUTERS.node(peer), "modes", 1)


class Immortal(Router):
    """Keeps what a session declared when it ends."""

    def on_end(self, session: Session) -> None:
        """Forget nothing."""


def test_who_keeps_what_ended_is_played_without_anybody_leaving() -> None:
    found = abilities(Immortal)
    assert [rule for rule, _ in found.complaints] == ["ZD-092", "ZD-092", "ZD-078"]
    assert not found.blocked
    with ROUTERS.scene(Immortal, found) as scene:
        scene.do(SessionOpens("a"))
        assert scene.fits(SessionEnds("a"))
        scene.do(Sends("a", (Declares(T, 1, KEY),)))
        assert not scene.fits(SessionEnds("a"))


def test_what_goes_wrong_whatever_a_guest_says_is_told_once() -> None:
    peer = FAULTS.all["answers-nobody"].peer
    assert issubclass(peer, Router)
    assert [rule for rule, _ in abilities(peer).complaints] == ["ZD-006"]


@pytest.mark.parametrize("name", ["merging", "high-ids", "echo", "short-snapshots", "strict", "recycled-alias"])
def test_the_innocent_are_not_accused(name: str) -> None:
    peer = ODDITIES.all[name].peer
    assert issubclass(peer, Router)
    innocent = ROUTERS.node(peer)
    for theme in ("propagation", "unspecified"):
        ROUTERS.play(innocent, theme, 7)
