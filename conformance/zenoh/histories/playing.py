"""Playing: one history, on the node under test and on the model side by side, compared after every move.

Order is assumed only along one session: what must come is waited for by a deadline; what must not come would have come
before the answer to a barrier that was sent later. One session, the witness, asks for everything at the start: what it
is told is the proof that the node has acted, on the end of a session too, which nobody else can be asked about.
"""

from collections import Counter
from collections.abc import Collection
from functools import partial

import msgspec

from conformance.histories.mismatch import Mismatch
from conformance.zenoh.histories.abilities import WIRE_EXPR_SUFFIX, Abilities
from conformance.zenoh.histories.believing import Believer
from conformance.zenoh.histories.blame import Blame
from conformance.zenoh.histories.comparison import HistoryComparison
from conformance.zenoh.histories.legality import are_legal
from conformance.zenoh.histories.model import Model
from conformance.zenoh.histories.moves import Doubtful, Leaves, Move, Opens, Says, Together
from conformance.zenoh.histories.words import Asks, Declares, Undeclares, Utterance
from harness.trace import Direction
from harness.zenoh.tester.driver import NotAnswered
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import EntityKind, Mode, Request, ResponseFinal, WireExpr
from wire.zenoh.values_transport import write_network

WITNESS = "witness"
GUESTS = 1000
"""The id of what the witness declares for a guest."""

WITNESSED = Asks(1, Mode.CURRENT_FUTURE, frozenset(EntityKind), WireExpr("**"))


class HistoryPlay:
    """One history in the course of being played; ``judged`` counts what was compared, by rule."""

    def __init__(self, node: NodeUnderTest, abilities: Abilities) -> None:
        self.node = node
        self.abilities = abilities
        self.model = Model(exact=abilities.exact)
        self.listeners: dict[str, Believer] = {}
        self.judged: Counter[str] = Counter()
        self.deployed = node.profile == "deployed"
        self.comparison = HistoryComparison(self.model, self.listeners, abilities, self.judged, deployed=self.deployed)

    def begin(self) -> None:
        """Have the witness come and ask for everything; raises ``Mismatch``."""
        self.do(Opens(WITNESS))
        self.do(Says(WITNESS, (WITNESSED,)))

    @property
    def speakers(self) -> Collection[str]:
        """Who can speak."""
        return self.listeners

    def fits(self, move: Move) -> bool:
        """Tell whether a move can be made: moves that others prepared are left out where those were."""
        match move:
            case Opens(who):
                return who not in self.listeners
            case Leaves(who):
                return who in self.listeners
            case Says(who, words):
                if who not in self.speakers or not all(self.abilities.allow(word) for word in words):
                    return False
                return are_legal(words, self.model.session(who))
            case Together(said):
                return all(self.fits(each) for each in said)
            case Doubtful():
                return move.rule not in self.abilities.lacking

    def do(self, move: Move) -> None:
        """Make a move and compare what came of it; raises ``Mismatch``."""
        self.model.begin()
        for listener in self.listeners.values():
            listener.begin()
        blame = Blame(self.model, move)
        match move:
            case Opens(who):
                self.listeners[who] = Believer(self.node.session())
                self.model.joins(who)
            case Leaves(who, cut):
                driver = self.listeners.pop(who).driver
                driver.drop() if cut else driver.close()
                self.model.leaves(who)
                self.forget()
            case Says():
                self.say(move)
                self.settle(move.who, blame)
            case Together(said):
                for each in said:
                    self.say(each, is_alone=False)
                self.model.shuffle()
                for each in said:
                    self.settle(each.who, blame)
            case Doubtful():
                self.doubt(move, blame)
                return
        self.comparison.compare(blame)
        self.answer_queries()

    def say(self, move: Says, *, is_alone: bool = True) -> None:
        """Let a session say words, and the model hear them."""
        listener, messages = self.listeners[move.who], []
        for number, word in enumerate(move.words):
            spell = partial(listener.spell, borrows=is_alone and number == 0)
            messages.append(self.readable(move.who, word).message(spell, deployed=self.deployed))
            self.model.hears(move.who, word.message())
            if isinstance(word, Asks):
                listener.modes[word.id] = word.mode
        if move.fragments:
            for message in messages:
                listener.driver.send_in_fragments(write_network(message), move.fragments)
        else:
            listener.driver.send(*messages)
        self.forget()

    def readable(self, who: str, word: Utterance) -> Utterance:
        """Return a word as the node can read it: with an alias where it misreads the suffix of an undeclaration."""
        if not isinstance(word, Undeclares) or WIRE_EXPR_SUFFIX not in self.abilities.lacking:
            return word
        driver, key = self.listeners[who].driver, self.model.session(who).entities[word.kind, word.id].key
        return msgspec.structs.replace(word, key=WireExpr(None, driver.alias(f"{driver.namespace}{key}")))

    def forget(self) -> None:
        """Let each session forget what has ended while it did not ask: before it hears what it asks now."""
        for who, listener in self.listeners.items():
            listener.forget(self.model.concerns[self.model.names[who]].gone, self.model.things())

    def settle(self, who: str, blame: Blame) -> None:
        """Make sure that the node has acted on what a session said."""
        driver = self.listeners[who].driver
        try:
            driver.barrier()
        except NotAnswered:
            if refusals := [each for each in driver.conversation.refusals if each.direction is Direction.RECEIVED]:
                raise Mismatch("ZD-010", f"{who} was sent what cannot be read: {refusals[0].error}") from None
            if driver.ended:
                raise Mismatch(blame.refused(), f"the node ended the session of {who} ({driver.ended})") from None
            raise

    def answer_queries(self) -> None:
        """Say that no answers come to the queries of this step, so that no node keeps them."""
        for listener in self.listeners.values():
            for event in listener.news:
                if isinstance(event.message, Request) and not listener.driver.ended:
                    listener.driver.send(ResponseFinal(event.message.id))

    # --- guests -------------------------------------------------------------------------------------------

    def doubt(self, move: Doubtful, blame: Blame) -> None:
        """Let a guest say what may be understood in several ways, or refused; nothing of it stays."""
        guest = Believer(self.node.session())
        guest.modes = {word.id: word.mode for word in move.words if isinstance(word, Asks)}
        guest.driver.send(*(word.message(guest.spell, deployed=self.deployed) for word in move.words))
        # Whoever refuses ends the session; whoever does not answers. Either shows that the node has acted.
        guest.driver.answers()
        guest.catch_up()
        self.comparison.compare_guest(move, guest)
        if move.listens and not guest.driver.ended:
            self.speak_to(guest, move)
        guest.driver.close()
        self.comparison.after_guest(move, blame)

    def speak_to(self, guest: Believer, move: Doubtful) -> None:
        """Have the witness declare what the guest asked for: its interest has to run still."""
        witness, key = self.listeners[WITNESS].driver, WireExpr("guest/9")
        for word in (Declares(EntityKind.TOKEN, GUESTS, key), Undeclares(EntityKind.TOKEN, GUESTS, key)):
            witness.send(word.message(self.listeners[WITNESS].spell, deployed=self.deployed))
            witness.barrier()
            there = isinstance(word, Declares)
            if not guest.learns(lambda there=there: (("token", "guest/9") in guest.believes()) is there):  # type: ignore[misc]
                raise Mismatch(move.rule, "the guest's own interest does not run any more")
