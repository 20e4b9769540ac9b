"""Playing: one history, on the node under test and on the model side by side, compared after every move.

Order is assumed only along one session: what must come is waited for by a deadline; what must not come would have come
before the answer to a barrier that was sent later. One session, the witness, asks for everything at the start: what it
is told is the proof that the node has acted, on the end of a session too, which nobody else can be asked about.
"""

from collections import Counter
from collections.abc import Collection, Container
from functools import partial

import msgspec

from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, SessionOpens, Together
from conformance.zenoh.histories.abilities import WIRE_EXPR_SUFFIX, Abilities
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.attribution import Attribution
from conformance.zenoh.histories.comparison import HistoryComparison
from conformance.zenoh.histories.knowledge import SessionKnowledge
from conformance.zenoh.histories.legality import are_legal
from conformance.zenoh.histories.model import Model
from conformance.zenoh.histories.moves import Move, Sends, Unspecified
from harness.errors import NotAnswered
from harness.trace import Direction
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import EntityKind, Mode, Request, ResponseFinal, WireExpr
from wire.zenoh.values_transport import write_network

WITNESS = "witness"
GUESTS_TOKEN = Declares(EntityKind.TOKEN, 1000, WireExpr("guest/9"))
"""What the witness declares for a guest that listens."""

WITNESSED = SendsInterest(1, Mode.CURRENT_FUTURE, frozenset(EntityKind), WireExpr("**"))


class HistoryPlay:
    """One history in the course of being played; ``judged`` counts what was compared, by rule."""

    def __init__(self, node: NodeUnderTest, abilities: Abilities, model: Model | None = None) -> None:
        self.node = node
        self.abilities = abilities
        self.model = model or Model(exact=abilities.exact)
        self.listeners: dict[str, SessionKnowledge] = {}
        self.judged: Counter[str] = Counter()
        self.deployed = node.profile == "deployed"
        self.comparison = HistoryComparison(self.model, self.listeners, abilities, self.judged, deployed=self.deployed)

    def begin(self) -> None:
        """Have the witness come and ask for everything; raises ``Mismatch``."""
        self.do(SessionOpens(WITNESS))
        self.do(Sends(WITNESS, (WITNESSED,)))

    @property
    def senders(self) -> Collection[str]:
        """Who can send."""
        return self.listeners

    def fits(self, move: Move) -> bool:
        """Tell whether a move can be made: moves that others prepared are left out where those were."""
        match move:
            case SessionOpens(who):
                return who not in self.listeners
            case SessionEnds(who):
                return who in self.listeners and self.abilities.allow_end(self.model.session(who).entities.values())
            case Sends(who, actions):
                if who not in self.senders or not all(self.abilities.allow(action) for action in actions):
                    return False
                return are_legal(actions, self.model.session(who))
            case Together(sends):
                return all(self.fits(each) for each in sends)
            case Unspecified(actions):
                # A guest declares things, and leaves.
                entities = [action for action in actions if isinstance(action, Declares)]
                if move.rule in self.abilities.lacking or not self.abilities.allow_end(entities):
                    return False
                # What a guest listens for is a token that the witness declares.
                sent = (*actions, GUESTS_TOKEN) if move.listens else actions
                return all(self.abilities.allow(action) for action in sent)

    def do(self, move: Move) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``."""
        self.model.begin()
        for listener in self.listeners.values():
            listener.begin()
        attribution = Attribution(self.model, move)
        match move:
            case SessionOpens(who):
                self.listeners[who] = SessionKnowledge(self.node.session())
                self.model.joins(who)
            case SessionEnds(who, verb):
                driver = self.listeners.pop(who).driver
                driver.drop() if verb == "drop" else driver.close()
                self.model.leaves(who)
                self.forget()
            case Sends():
                self.send(move)
                self.settle(move.who, attribution)
            case Together(sends):
                for each in sends:
                    self.send(each, is_alone=False)
                self.model.shuffle()
                for each in sends:
                    self.settle(each.who, attribution)
            case Unspecified():
                self.play_guest(move, attribution)
                return
        self.await_stragglers()
        self.comparison.compare(attribution)
        self.answer_queries()

    def send(self, move: Sends, *, is_alone: bool = True) -> None:
        """Let a session send messages, and the model receive them."""
        listener, messages = self.listeners[move.who], []
        for number, action in enumerate(move.actions):
            spell = partial(listener.spell, borrows=is_alone and number == 0)
            # What stands before it in its batch is not sent yet, and may take a number away or give it to another key.
            moved = {each.id for each in move.actions[:number] if isinstance(each, DeclaresAlias | ReleasesAlias)}
            messages.append(self.readable(move.who, action, moved).message(spell, deployed=self.deployed))
            self.model.receives(move.who, action.message())
            if isinstance(action, SendsInterest):
                listener.modes[action.id] = action.mode
        if move.fragments:
            for message in messages:
                listener.driver.send_in_fragments(write_network(message), move.fragments)
        else:
            listener.driver.send(*messages)
        self.forget()

    def readable(self, who: str, action: Action, moved: Container[int] = ()) -> Action:
        """Return an action as the node can read it: with an alias where it misreads the suffix of an undeclaration.

        None of the numbers that are ``moved`` meanwhile.
        """
        if not isinstance(action, Undeclares) or WIRE_EXPR_SUFFIX not in self.abilities.lacking:
            return action
        driver, key = self.listeners[who].driver, self.model.session(who).entities[action.kind, action.id].key
        return msgspec.structs.replace(action, key=WireExpr(None, driver.alias(f"{driver.namespace}{key}", moved)))

    def forget(self) -> None:
        """Let each session forget what has ended while it did not ask: before it is told what it asks now."""
        for who, listener in self.listeners.items():
            listener.forget(self.model.concerns[self.model.names[who]].gone, self.model.things())

    def settle(self, who: str, attribution: Attribution) -> None:
        """Make sure that the node has acted on what a session sent."""
        driver = self.listeners[who].driver
        try:
            driver.barrier()
        except NotAnswered:
            if refusals := [each for each in driver.conversation.refusals if each.direction is Direction.RECEIVED]:
                raise Mismatch("ZD-010", f"{who} was sent what cannot be read: {refusals[0].error}") from None
            if driver.ended:
                raise Mismatch(attribution.refused(), f"the node ended the session of {who} ({driver.ended})") from None
            raise

    def await_stragglers(self) -> None:
        """Give a node that tells late its time: what it tells in the next step would be taken for that one's."""
        for listener in self.listeners.values():
            if not listener.driver.ended:
                listener.driver.await_stragglers()
                return

    def answer_queries(self) -> None:
        """Say that no answers come to the queries of this step, so that no node keeps them."""
        for listener in self.listeners.values():
            for event in listener.news:
                if isinstance(event.message, Request) and not listener.driver.ended:
                    listener.driver.send(ResponseFinal(event.message.id))

    # --- guests -------------------------------------------------------------------------------------------

    def play_guest(self, move: Unspecified, attribution: Attribution) -> None:
        """Let a guest send what may be understood in several ways, or refused; nothing of it stays."""
        guest = SessionKnowledge(self.node.session())
        guest.modes = {action.id: action.mode for action in move.actions if isinstance(action, SendsInterest)}
        guest.driver.send(*(action.message(guest.spell, deployed=self.deployed) for action in move.actions))
        # Whoever refuses ends the session; whoever does not answers. Either shows that the node has acted.
        guest.driver.answers()
        guest.driver.await_stragglers()
        guest.catch_up()
        self.comparison.compare_guest(move, guest)
        if move.listens and not guest.driver.ended:
            self.check_guest_interest(guest, move)
        guest.driver.close()
        self.await_stragglers()
        self.comparison.after_guest(move, attribution)

    def check_guest_interest(self, guest: SessionKnowledge, move: Unspecified) -> None:
        """Have the witness declare what the guest asked for: its interest has to run still."""
        witness = self.listeners[WITNESS].driver
        for action in (GUESTS_TOKEN, Undeclares(EntityKind.TOKEN, GUESTS_TOKEN.id, GUESTS_TOKEN.key)):
            witness.send(action.message(self.listeners[WITNESS].spell, deployed=self.deployed))
            witness.barrier()
            there = isinstance(action, Declares)
            if not guest.wait_until(lambda there=there: (("token", "guest/9") in guest.things()) is there):  # type: ignore[misc]
                raise Mismatch(move.rule, "the guest's own interest does not run any more")
