"""Histories of clients: the reference is not accused; who forgets what it is asked is."""

import pytest
from played_histories import PlayedHistories, make_all

from conformance.cases import SEEDS, NotPlayed
from conformance.findings import judge_conversations
from conformance.suite import Suite
from conformance.zenoh.histories.abilities import PLAIN, Abilities, Lack
from conformance.zenoh.histories.actions import (
    Declares,
    DeclaresAlias,
    EndsInterest,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.client import CLIENT
from conformance.zenoh.histories.client_drawing import COMMANDS
from conformance.zenoh.histories.moves import ClientCommands, Sends
from conformance.zenoh.histories.unspecified import FROM_A_ROUTER
from harness.zenoh.peers.client import Client
from harness.zenoh.peers.session import Entity, Session
from harness.zenoh.variants.registry import ODDITIES
from wire.zenoh.keys import wire_expr_extension
from wire.zenoh.values import (
    Declare,
    DeclareFinal,
    EntityKind,
    Extensions,
    Interest,
    InterestFinal,
    Mode,
    UndeclareKeyExpr,
    WireExpr,
)

CLIENTS = PlayedHistories("zenoh", "client", CLIENT, PLAIN, dials=True)


def play(peer: type[Client], *seeds: int, theme: str = "client") -> frozenset[str]:
    return CLIENTS.play(CLIENTS.node(peer), theme, *seeds)


@pytest.mark.parametrize("theme", COMMANDS)
def test_the_reference_is_not_accused(theme: str) -> None:
    judged = play(Client, 11, 12, 13, theme=theme)
    assert {"ZI-014", "ZI-070"} <= judged
    assert ("ZI-061" in judged) is (theme == "client_requests")


def test_a_client_that_pushes_tokens_is_not_accused() -> None:
    peer = ODDITIES.all["eager-client"].peer
    assert issubclass(peer, Client)
    play(peer, 11, 12, 13)


class EndsAllInterests(Client):
    """Ends all interests at any Final."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        session.interests.clear()


class KeepsItsEndsToItself(Client):
    """Does not tell the end of what it has declared."""

    def withdraw(self, entity: Entity) -> None:
        """Tell nobody."""


@pytest.mark.parametrize(("peer", "rule"), [(EndsAllInterests, "ZI-072"), (KeepsItsEndsToItself, "ZI-017")])
def test_who_forgets_is_accused_by_the_rules_about_who_is_asked(peer: type[Client], rule: str) -> None:
    assert CLIENTS.accusation(peer, "client", *range(1, 20)).ids == (rule,)


class EndsTheOldest(Client):
    """Ends the oldest of its interests when it is told to end another."""

    running: list[int]

    def ask(self, mode: Mode, kind: EntityKind, key: str) -> int:
        interest = super().ask(mode, kind, key)
        if mode is not Mode.CURRENT:
            self.running = [*vars(self).get("running", []), interest]
        return interest

    def end(self, interest: int) -> None:
        super().end(self.running.pop(0))


class NumbersBelowTheLast(Client):
    """Gives the number behind the last one that was taken back, whoever has it."""

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None:
        super().undeclare(what)
        if isinstance(what, int):
            self.next_alias = what


class ActsOnStrayFinals(Client):
    """Ends all interests at a Final for one that does not run."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if message.id not in session.interests:
            session.interests.clear()
        super().on_interest_final(session, message)


class EndsWhatWithdrawnAliasesNamed(Client):
    """Forgets what it has on a key when it takes back the number of that key, and says nothing of it."""

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None:
        key = self.remote.mine.get(what) if isinstance(what, int) else None
        super().undeclare(what)
        for entity in list(self.local.entities.values()):
            if entity.key == key:
                del self.local.entities[entity.kind, entity.id]


class ForgetsTokens(Client):
    """Forgets the tokens that it has on a key when it takes back the number of that key, and says nothing of it."""

    def undeclare(self, what: tuple[EntityKind, int] | int) -> None:
        key = self.remote.mine.get(what) if isinstance(what, int) else None
        super().undeclare(what)
        for entity in list(self.local.entities.values()):
            if entity.key == key and entity.kind is EntityKind.TOKEN:
                del self.local.entities[entity.kind, entity.id]


@pytest.mark.parametrize("theme", ["client_aliases", "client_numbers"])
def test_what_is_forgotten_in_silence_is_found_by_the_seeds_of_a_run(theme: str) -> None:
    rules = {"ZI-010", "ZI-014", "ZI-017"}
    assert set(CLIENTS.accusation(ForgetsTokens, theme, *range(1, SEEDS + 1)).ids) <= rules


class EndsWhatWasAskedByWithdrawnAliases(Client):
    """Ends the interests whose keys its router spelled by a number that it takes back."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        super().on_interest(session, interest)
        if interest.key is not None and interest.key.sender and interest.key.scope:
            vars(self).setdefault("by", {}).setdefault(interest.key.scope, set()).add(interest.id)

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        super().on_undeclare_keyexpr(session, body)
        for id in vars(self).get("by", {}).pop(body.expr_id, ()):
            session.interests.pop(id, None)


class EndsTheInterestOfThatId(Client):
    """Takes a D_FINAL that answers its own interest for the end of its router's of the same id."""

    def on_declare(self, session: Session, message: Declare) -> None:
        if isinstance(message.body, DeclareFinal) and message.interest_id is not None:
            session.interests.pop(message.interest_id, None)
        super().on_declare(session, message)


class GivesIdsAgainThatItsRouterEnds(Client):
    """Takes a Final of its router's for the end of its own interest of the same id, and gives that id again."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        super().on_interest_final(session, message)
        if message.id < self.next_interest:
            self.free = message.id

    def take_interest(self) -> int:
        id = vars(self).pop("free", None)
        return super().take_interest() if id is None else int(id)


class KeepsNumbersThatAreAskedFor(Client):
    """Does not release a number while an interest asks for what is below its key."""

    def on_undeclare_keyexpr(self, session: Session, body: UndeclareKeyExpr) -> None:
        named = session.theirs.get(body.expr_id, "")
        if not any((asked.key or "").startswith(named) for asked in session.interests.values()):
            super().on_undeclare_keyexpr(session, body)


@pytest.mark.parametrize(
    ("peer", "theme", "rules"),
    [
        (EndsWhatWithdrawnAliasesNamed, "client_aliases", {"ZI-010", "ZI-014", "ZI-017", "ZI-048"}),
        (EndsWhatWasAskedByWithdrawnAliases, "client_aliases", {"ZI-072", "ZI-017"}),
        (EndsTheInterestOfThatId, "client_requests", {"ZI-072", "ZI-017"}),
        (GivesIdsAgainThatItsRouterEnds, "client_requests", {"ZI-030"}),
        (KeepsNumbersThatAreAskedFor, "client_numbers", {"ZI-018", "ZI-045", "ZI-047", "ZI-067"}),
    ],
)
def test_what_one_side_withdraws_ends_nothing_else(peer: type[Client], theme: str, rules: set[str]) -> None:
    assert set(CLIENTS.accusation(peer, theme, *range(1, 20)).ids) <= rules


class NamesReleasedNumbers(Client):
    """Undeclares through the number that a key once had when it was declared, released or not."""

    def wire_expr_of(self, session: Session, entity: Entity, interest_id: int | None) -> WireExpr:
        key = super().wire_expr_of(session, entity, interest_id)
        if key.scope:
            vars(self).setdefault("spelled", {})[session.link, entity] = key
        return key

    def wire_expr(self, session: Session, entity: Entity) -> Extensions:
        spelled = vars(self).get("spelled", {}).get((session.link, entity))
        return super().wire_expr(session, entity) if spelled is None else (wire_expr_extension(spelled),)


def test_what_a_client_undeclares_stands_on_no_number_that_it_has_released() -> None:
    asks = SendsInterest(1, Mode.CURRENT_FUTURE, frozenset({EntityKind.TOKEN}))
    moves = (
        ClientCommands("node", (DeclaresAlias(1, WireExpr("a")), Declares(EntityKind.TOKEN, 1, WireExpr("a")))),
        Sends("router", (asks,)),
        ClientCommands("node", (ReleasesAlias(1),)),
        ClientCommands("node", (Undeclares(EntityKind.TOKEN, 1, None),)),
    )
    for peer, accused in ((Client, set()), (NamesReleasedNumbers, {"ZD-058"})):
        node = CLIENTS.node(peer)
        with CLIENT.scene(node, PLAIN) as scene:
            scene.begin()
            make_all(scene, *moves)
            found = judge_conversations(node.conversations, Suite("zenoh"), "document", "a history")
        assert {judgement.rule for judgement in found if judgement.outcome.accuses} == accused


@pytest.mark.parametrize(
    ("peer", "theme", "rule"),
    [
        (EndsTheOldest, "client_requests", "ZI-061"),
        (NumbersBelowTheLast, "client_aliases", "ZD-036"),
        (ActsOnStrayFinals, "client", "ZI-072"),
    ],
)
def test_who_says_too_much_or_loses_something_is_accused(peer: type[Client], theme: str, rule: str) -> None:
    assert CLIENTS.accusation(peer, theme, *range(1, 20)).ids == (rule,)


def test_a_client_that_may_not_understand_may_end_its_session() -> None:
    with CLIENTS.scene(RefusesStrayFinals) as scene:
        make_all(scene, FROM_A_ROUTER[0])
        assert scene.is_over
        assert not scene.fits(FROM_A_ROUTER[0])


class RefusesStrayFinals(Client):
    """Ends a session that ends what does not run."""

    def on_interest_final(self, session: Session, message: InterestFinal) -> None:
        if message.id not in session.interests:
            self.refuse(session, "nothing to end")


def test_what_a_client_cannot_be_told_is_left_out() -> None:
    ask = SendsInterest(1, Mode.FUTURE, frozenset({EntityKind.TOKEN}), WireExpr("a/*"))
    can = Abilities((Lack("asking FUTURE token", "", ""), Lack("naming keys", "", "")))
    with CLIENTS.scene(Client, can) as scene:
        assert not scene.fits(ClientCommands("node", (ask,)))
        assert not scene.fits(ClientCommands("node", (DeclaresAlias(1, WireExpr("a")),)))
        assert scene.fits(ClientCommands("node", (Declares(EntityKind.TOKEN, 1, WireExpr("a")),)))


def test_a_router_tells_a_client_what_that_asks_for_alone() -> None:
    ask = SendsInterest(1, Mode.CURRENT_FUTURE, frozenset({EntityKind.TOKEN}), WireExpr("a/*"))
    inside, outside = (Sends("router", (Declares(EntityKind.TOKEN, 1, WireExpr(key)),)) for key in ("a/b", "b"))
    with CLIENTS.scene(Client) as scene:
        assert not scene.fits(inside)
        make_all(scene, ClientCommands("node", (ask,)), inside)
        assert not scene.fits(outside)
        make_all(scene, ClientCommands("node", (EndsInterest(1),)))
        assert not scene.fits(Sends("router", (Undeclares(EntityKind.TOKEN, 1, None),)))


class Mute(Client):
    """Answers nobody."""

    def on_interest(self, session: Session, interest: Interest) -> None:
        """Say nothing."""


def test_nothing_is_played_with_a_client_that_answers_nobody() -> None:
    with pytest.raises(NotPlayed, match="not answered up to D_FINAL"):
        play(Mute, 1)
