"""Attribution: which rule a difference breaks, by what a session asked, what exists, and what was sent in the step."""

from conformance.histories.mismatch import Mismatch
from conformance.histories.moves import SessionEnds, Together
from conformance.zenoh.histories.actions import (
    Action,
    Declares,
    DeclaresAlias,
    EndsInterest,
    ReleasesAlias,
    SendsInterest,
    Undeclares,
)
from conformance.zenoh.histories.model import Answer, Model, Thing, aggregates, thing
from conformance.zenoh.histories.moves import Move, Sends, Unspecified
from harness.zenoh.peers.router import LIVE
from wire.zenoh.grammar_extensions import NODE_ID
from wire.zenoh.keys import resolve
from wire.zenoh.values import EntityKind, Mode, WireExpr

ENDING = {"subscriber": "ZD-053", "queryable": "ZD-075", "token": "ZD-083"}
"""An undeclaration ends the one entity that it names."""

ENDED = {Mode.CURRENT_FUTURE: "ZI-018", Mode.FUTURE: "ZI-022"}
"""After its Final an interest brings nothing."""

OF_KIND = {"subscriber": "ZI-042", "queryable": "ZI-043", "token": "ZI-044"}
"""An interest in one kind brings no other."""

MAPPING = {EntityKind.SUBSCRIBER: "ZD-045", EntityKind.QUERYABLE: "ZD-066", EntityKind.TOKEN: "ZD-081"}
"""M says whose aliases the scope of a declaration is looked up in."""


class Attribution:
    """The rules that one step may show to be broken."""

    def __init__(self, model: Model, move: Move) -> None:
        self.model = model
        self.move = move
        self.actions = actions_of(move)
        self.before = model.things()
        """What existed before the step."""

    # --- what never came ----------------------------------------------------------------------------------

    def not_listed(self, answer: Answer, what: Thing) -> Mismatch:
        """Say that a snapshot lacks something."""
        interest = answer.interest
        rule = "ZI-010" if interest.mode is Mode.CURRENT else "ZI-014"
        if interest.key is not None and interest.key.scope:
            rule = "ZI-047"
        elif interest.key is not None and not interest.key.sender:
            rule = "ZI-048"
        return Mismatch(rule, f"interest {interest.id} ({interest.mode.name}) does not list {what[0]} {what[1]}")

    def never_declared(self, who: str, what: Thing, *, ended: bool, elsewhere: bool) -> Mismatch:
        """Say that a session was not told of something, or that it ``ended``; ``elsewhere``: others know of it."""
        if ended and what in self.before:
            rule = self.move.rule if isinstance(self.move, Unspecified) else ENDING[what[0]]
            return Mismatch(rule, f"{who} was told that {what[0]} {what[1]} ended, which lives")
        # Whoever has told others of it has read its key.
        misread = None if elsewhere else self.misread(what)
        return Mismatch(misread or "ZD-091", f"{who} was never told of {what[0]} {what[1]}")

    def never_undeclared(self, who: str, what: Thing) -> Mismatch:
        """Say that a session was not told the end of something."""
        rule = ENDING[what[0]]
        if isinstance(self.move, SessionEnds):
            rule = "ZD-078" if what[0] == "token" else "ZD-092"
        return Mismatch(rule, f"{who} was never told that {what[0]} {what[1]} ended")

    # --- what came and must not ---------------------------------------------------------------------------

    def declared(self, who: str, what: Thing) -> Mismatch:
        """Say that a session was told of something that it must not be told of now."""
        session, came = self.model.session(who), f"{who} was told of {what[0]} {what[1]}"
        live = [each for each in session.interests.values() if each.mode in LIVE]
        new = {thing(each) for each in self.model.appeared}
        if what not in self.model.things() | new:
            if (over := self.stood_for_others(who, what)) is not None:
                return Mismatch(over, f"{came}, which stands for others, after it had ended its interest with A")
            return Mismatch(self.misread(what, exactly=False) or self.changed(), f"{came}, which nobody has declared")
        if any(self.model.covers(asked, what) for asked in live):
            if any(isinstance(action, SendsInterest) for action in self.sent_by(who)):
                return Mismatch("ZI-019", f"{came}, which existed before it asked")
            rule = "ZD-095" if what in new else "ZD-094" if self.declares() else self.changed()
            return Mismatch(rule, f"{came} again")
        if (late := self.ended(who, what)) is not None:
            return Mismatch(late, f"{came} after it had ended its interest")
        if any(self.model.covers(asked, what) for asked in self.model.asked_before[who]):
            return Mismatch("ZI-013", f"{came}, though its Current interest is over")
        return Mismatch("ZD-093" if live else "ZI-002", f"{came}, and has not asked for it")

    def listed(self, who: str, answer: Answer, what: Thing, times: int) -> Mismatch:
        """Say that a snapshot lists what it must not."""
        interest = answer.interest
        came = f"interest {interest.id} ({interest.mode.name}) of {who} lists {what[0]} {what[1]}"
        if times > 1 and answer.may[what]:
            return Mismatch("ZD-095", f"{came} {times} times, of which there are {answer.may[what]}")
        kind = EntityKind(what[0])
        if kind not in interest.kinds:
            asked = [each.value for each in EntityKind if each in interest.kinds]
            rule = OF_KIND[asked[0]] if len(asked) == 1 else "ZI-051" if asked else "ZI-041"
            return Mismatch(rule, f"{came}, of which it does not ask")
        if what in self.model.things():
            rule = "ZI-067" if answer.any_of else "ZI-053" if answer.key is None and interest.key else "ZI-045"
            return Mismatch(rule, f"{came}, which does not match its key")
        if answer.any_of or interest.options & 0x80:
            return Mismatch("ZI-067" if answer.any_of else "ZI-068", f"{came}, which nobody has declared")
        return Mismatch(ENDING[what[0]], f"{came}, which is not there")

    def under_no_question(self, who: str, number: int, what: Thing) -> Mismatch:
        """Say that something came under an interest id that waits for nothing."""
        asked = self.model.session(who).interests.get(number)
        came = f"{who} was told of {what[0]} {what[1]} under interest {number}"
        if asked is None:
            return Mismatch("ZD-006", f"{came}, under which it asks nothing")
        if asked.mode is Mode.FUTURE:
            return Mismatch("ZI-020", f"{came}, a Future interest")
        return Mismatch("ZI-016", f"{came}, whose snapshot is over")

    def final_for_nothing(self, who: str, number: int) -> Mismatch:
        """Say that a D_FINAL came for an interest that waits for none."""
        asked = self.model.session(who).interests.get(number)
        if asked is not None and asked.mode is Mode.FUTURE:
            return Mismatch("ZI-021", f"{who} got a D_FINAL for interest {number}, a Future one")
        if asked is None and number not in self.model.used[who]:
            return Mismatch("ZD-006", f"{who} got a D_FINAL under {number}, an id that it never used")
        if any(isinstance(action, EndsInterest) for action in self.actions):
            return Mismatch("ZI-071", f"{who} got a D_FINAL for interest {number}, which it has ended")
        return Mismatch("ZD-087", f"{who} got a D_FINAL for interest {number}, which waits for none")

    def undeclared(self, who: str, what: Thing) -> Mismatch:
        """Say that a session was told the end of what lives."""
        return Mismatch(self.changed(), f"{who} was told that {what[0]} {what[1]} ended, which it did not")

    def data(self, who: str, came: str) -> Mismatch:
        """Say that data came that was not for a session."""
        publishes = any(action for action in self.actions if not isinstance(action, Declares | Undeclares))
        return Mismatch("ZD-042" if publishes else "ZD-043", came)

    def query(self, who: str, came: str) -> Mismatch:
        """Say that a query came that was not for a session."""
        partial = any(each.kind is EntityKind.QUERYABLE for each in self.model.session(who).entities.values())
        return Mismatch("ZD-071" if partial and any(getattr(w, "target", 0) for w in self.actions) else "ZD-064", came)

    # --- which rule ---------------------------------------------------------------------------------------

    def ended(self, who: str, what: Thing) -> str | None:
        """Return the rule about ended interests, if a session had one that covered a thing."""
        for asked in reversed(self.model.asked_before[who]):
            if asked.mode in ENDED and self.model.covers(asked, what):
                return ENDED[asked.mode]
        return None

    def stood_for_others(self, who: str, what: Thing) -> str | None:
        """Return the rule about ended interests, if one of a session had A and the very key of a thing."""
        for asked in reversed(self.model.asked_before[who]):
            if asked.mode in ENDED and aggregates(asked) and asked.key == what[1] and self.model.covers(asked, what):
                return ENDED[asked.mode]
        return None

    def ending(self, kind: EntityKind) -> str:
        """Return the rule about the end of an entity of a kind."""
        return "ZD-052" if kind is EntityKind.SUBSCRIBER else ENDING[kind.value]

    def stray(self, kind: EntityKind) -> str:
        """Return the rule about the end of what was never told of."""
        return self.move.rule if isinstance(self.move, Unspecified) else self.ending(kind)

    def sent_by(self, who: str) -> tuple[Action, ...]:
        """Return what one session sends in the step."""
        sends = self.move.sends if isinstance(self.move, Together) else (self.move,)
        return tuple(action for each in sends if isinstance(each, Sends) and each.who == who for action in each.actions)

    def declares(self) -> bool:
        """Tell whether something is declared in the step."""
        return any(isinstance(action, Declares) for action in self.actions)

    def misread(self, what: Thing, *, exactly: bool = True) -> str | None:
        """Return the rule about reading keys, if the step declares a thing on a key that is not spelled out.

        Not ``exactly`` where what came of it is on another key.
        """
        for action in self.actions:
            if not isinstance(action, Declares) or action.kind.value != what[0] or self.is_spelled_out(action.key):
                continue
            if exactly and self.key_of(action.key) != what[1]:
                continue
            if action.key.sender:
                return "ZD-027"
            return "ZD-050" if action.kind is EntityKind.SUBSCRIBER else MAPPING[action.kind]
        return None

    def is_spelled_out(self, key: WireExpr) -> bool:
        """Tell whether a key is plain text in the sender's own mapping."""
        return key.sender and not key.scope

    def key_of(self, key: WireExpr) -> str | None:
        """Return what a key stands for, by what the one who spoke has declared."""
        if not key.scope:
            return key.suffix
        tables = [self.model.session(who).theirs for who in senders(self.move) if who in self.model.names]
        return next((found for table in tables if (found := resolve(key, table, table)) is not None), None)

    def changed(self) -> str:
        """Return the rule about what a step must leave as it is: by the most significant message of it."""
        if isinstance(self.move, Unspecified):
            return self.move.rule
        for action in self.actions:
            if isinstance(action, Undeclares):
                return self.ending(action.kind)
        if any(isinstance(action, DeclaresAlias | ReleasesAlias) for action in self.actions):
            return "ZD-041"
        return "ZI-022" if any(isinstance(action, EndsInterest) for action in self.actions) else "ZD-092"

    def refused(self) -> str:
        """Return the rule about what a node must not end a session for."""
        for action in self.actions:
            extensions = (*getattr(action, "extensions", ()), *getattr(action, "inner", ()))
            asks = isinstance(action, SendsInterest | EndsInterest)
            if any(each.is_(NODE_ID) for each in extensions):
                return "ZI-056" if asks else "ZD-014"
            if extensions:
                return ("ZI-057" if isinstance(action, EndsInterest) else "ZI-058") if asks else "ZD-015"
        return (
            "ZI-001" if any(isinstance(action, SendsInterest | EndsInterest) for action in self.actions) else "ZD-091"
        )


def actions_of(move: Move) -> tuple[Action, ...]:
    """Return what is sent in a move."""
    match move:
        case Sends() | Unspecified():
            return move.actions
        case Together(sends):
            return tuple(action for each in sends for action in each.actions)
        case _:
            return ()


def senders(move: Move) -> tuple[str, ...]:
    """Return who sends something in a move."""
    match move:
        case Sends():
            return (move.who,)
        case Together(sends):
            return tuple(each.who for each in sends)
        case _:
            return ()
