"""Playing: one history with a client, which is told what to declare and to ask, and which we ask and answer."""

from collections.abc import Collection

import msgspec

from conformance.histories.mismatch import Mismatch
from conformance.zenoh.histories.abilities import Abilities
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    Publishes,
    Queries,
    SendsInterest,
    SendsOddInterest,
    Undeclares,
    UndeclaresOwn,
)
from conformance.zenoh.histories.attribution import Attribution
from conformance.zenoh.histories.client_model import NODE, ROUTER, ClientModel
from conformance.zenoh.histories.commanding import CommandedClient
from conformance.zenoh.histories.comparison import shown
from conformance.zenoh.histories.knowledge import SessionKnowledge
from conformance.zenoh.histories.model import Thing
from conformance.zenoh.histories.moves import ClientCommands, Move, Sends, Unspecified
from conformance.zenoh.histories.playing import HistoryPlay
from conformance.zenoh.histories.unspecified import STRAY
from harness.zenoh.tester.node_under_test import NodeUnderTest
from wire.zenoh.values import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    Interest,
    InterestFinal,
    Mode,
    NetworkMessage,
    UndeclareEntity,
    WireExpr,
)
from wire.zenoh.values_transport import WhatAmI

RULES = {
    **dict.fromkeys(("ZD-091", "ZD-092"), "ZI-072"),
    **dict.fromkeys(("ZD-053", "ZD-075", "ZD-083", "ZD-078"), "ZI-017"),
    **dict.fromkeys(("ZD-094", "ZD-095"), "ZI-075"),
    "ZD-093": "ZI-001",
}
"""What a client breaks where a router breaks a rule about routers."""


NAMING, ENDING, PUTTING, GETTING = "naming keys", "ending interests", "putting", "getting"
COMMANDED: dict[type[Action], str] = {
    DeclaresAlias: NAMING,
    EndsInterest: ENDING,
    Publishes: PUTTING,
    Queries: GETTING,
}
"""What a client may lack, by the commands that ask for it."""


class ClientPlay(HistoryPlay):
    """One history in the course of being played with a client."""

    def __init__(self, node: NodeUnderTest, abilities: Abilities) -> None:
        self.model: ClientModel = ClientModel(exact=abilities.exact)
        super().__init__(node, abilities, self.model)
        self.is_over = False
        """Whether the client has ended its session, as it may."""
        self.unanswered: list[tuple[Interest, int]] = []
        """Interests of the client's that wait for their snapshots, with the ids that it gave to them."""

    def begin(self) -> None:
        """Let the client dial, and be its router."""
        driver = self.node.session(whatami=WhatAmI.ROUTER)
        # Else it may not have read the end of the handshake when it is told to ask.
        driver.barrier()
        self.client = CommandedClient(self.node, driver, self.judged)
        self.model.begin()
        self.model.both_join()
        self.listeners[ROUTER] = SessionKnowledge(driver)

    @property
    def senders(self) -> Collection[str]:
        """Who can send."""
        return (NODE, ROUTER)

    def fits(self, move: Move) -> bool:
        """Tell whether a move can be made: the client can do it, and asks for what its router says."""
        if self.is_over:
            return False
        match move:
            case Unspecified(actions=(Undeclares() as stray,)):
                return (stray.kind, self.aimed(stray).id) not in self.model.session(ROUTER).entities
            case ClientCommands(actions=actions):
                if not all(self.is_able(action) for action in actions):
                    return False
            case Sends(who, actions):
                if not all(self.model.is_listened_for(who, action) for action in actions):
                    return False
        return super().fits(move)

    def is_able(self, action: Action) -> bool:
        """Tell whether the client does what a command asks for."""
        if isinstance(action, Declares) and (action.kind, action.id) in self.model.session(NODE).entities:
            return False
        if isinstance(action, SendsInterest):
            (kind,) = action.kinds
            is_new = action.mode is Mode.CURRENT or not self.model.is_asked_already(action)
            return f"asking {action.mode.name} {kind.value}" not in self.abilities.lacking and is_new
        return COMMANDED.get(type(action), "") not in self.abilities.lacking

    def send(self, move: Sends, *, is_alone: bool = True) -> None:
        """Send messages as its router, or have it declare, ask and take that back."""
        if not isinstance(move, ClientCommands):
            super().send(move, is_alone=is_alone)
            return
        for action in move.actions:
            if isinstance(action, EndsInterest):
                # A client may put off its Final until it has been answered.
                self.answer_client()
            message = action.message()
            interest = self.client.obey(action)
            self.model.receives(NODE, message)
            if interest is not None and isinstance(message, Interest) and message.mode is not Mode.FUTURE:
                self.unanswered.append((message, interest.id))
        self.answer_client()
        self.forget()

    def answer_client(self) -> None:
        """Answer the client's interests, all in one batch: what its router has of each, and D_FINAL."""
        answers: list[NetworkMessage] = []
        for asked, id in self.unanswered:
            for entity in self.model.told(asked):
                key = self.listeners[ROUTER].spell(WireExpr(entity.key))
                answers.append(Declare(DeclareEntity(entity.kind, entity.id, key), id))
            answers.append(Declare(DeclareFinal(), id))
        self.unanswered = []
        if answers:
            self.listeners[ROUTER].driver.send(*answers)

    def play_guest(self, move: Unspecified, attribution: Attribution) -> None:
        """Send as its router what a client may refuse, and must not act upon otherwise."""
        router = self.listeners[ROUTER]
        asked = [each.id for each in move.actions if isinstance(each, SendsInterest | SendsOddInterest)]
        router.modes |= dict.fromkeys(asked, Mode.CURRENT)
        sent = [self.aimed(each) if isinstance(each, Undeclares) else each for each in move.actions]
        router.driver.send(*(action.message(router.spell, deployed=self.deployed) for action in sent))
        if not router.driver.answers():
            self.is_over = True
            return
        router.catch_up()
        self.judge_stray(move, router)
        if asked:
            router.driver.send(*map(InterestFinal, asked))
            # A control line may overtake what is on its way: what it brings about is not to be asked for any more.
            self.settle(ROUTER, attribution)
        self.judged[move.rule] += 1

    def aimed(self, action: Undeclares) -> Undeclares:
        """Return an undeclaration of what the client has declared itself with the id of something of that kind."""
        if not isinstance(action, UndeclaresOwn):
            return action
        ids = [id for kind, id, _ in self.listeners[ROUTER].known if kind == action.kind.value]
        return msgspec.structs.replace(action, id=max(ids, default=action.id))

    def judge_stray(self, move: Unspecified, router: SessionKnowledge) -> None:
        """Judge what a client answers to what it need not understand: nothing, or all of it."""
        there = self.model.things()
        finals = {event.interest_id for event in router.news if isinstance(event.body, DeclareFinal)}
        listed: set[Thing] = set()
        for event in router.news:
            if not isinstance(event.body, DeclareEntity | UndeclareEntity):
                continue
            what = router.thing(event)
            if isinstance(event.body, UndeclareEntity) == (what in there):
                is_end = "the end of " if isinstance(event.body, UndeclareEntity) else ""
                raise Mismatch(move.rule, f"its router was told of {is_end}{shown(what)}, which is not so")
            if event.interest_id == STRAY:
                listed.add(what)
        if listed and not move.all:
            raise Mismatch(move.rule, f"its router was told of {shown(min(listed))}, which it cannot be about")
        mine = {what for what in there if not self.model.is_own(ROUTER, what)}
        if move.all and finals and (missing := mine - listed - router.things() - router.listed):
            raise Mismatch(move.rule, f"what is not understood is answered without {shown(min(missing))}")
        if move.asked is not None and move.asked not in finals:
            raise Mismatch(move.rule, f"interest {move.asked} is not answered")
        if strange := finals - {each.id for each in move.actions if isinstance(each, SendsInterest | SendsOddInterest)}:
            raise Mismatch(move.rule, f"a D_FINAL came under {min(strange, key=str)}")

    def settle(self, who: str, attribution: Attribution) -> None:
        """Make sure that the client has acted on what its router sent; a control line is answered when it is done."""
        if who == ROUTER:
            super().settle(who, attribution)

    def do(self, move: Move) -> None:
        """Make a move and compare what came of it: by the rules about whoever is asked, where others are routers'."""
        try:
            super().do(move)
            self.client.catch_up()
        except Mismatch as mismatch:
            raise Mismatch(RULES.get(mismatch.rule, mismatch.rule), mismatch.what) from None
        for rule in [rule for rule in self.judged if rule in RULES]:
            self.judged[RULES[rule]] += self.judged.pop(rule)
