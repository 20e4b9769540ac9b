"""Comparison: what each session was told in one step, beside what the model says that it must and may be told."""

from collections import Counter

from conformance.histories.mismatch import Mismatch
from conformance.histories.waiting import still_missing
from conformance.wording import worded
from conformance.zenoh.histories.abilities import UNTOLD_ENDS, Abilities
from conformance.zenoh.histories.actions import SendsInterest, SendsOddInterest
from conformance.zenoh.histories.attribution import Attribution
from conformance.zenoh.histories.knowledge import SessionKnowledge
from conformance.zenoh.histories.model import Answer, Concerns, Model, Thing, thing
from conformance.zenoh.histories.moves import Unspecified
from harness.zenoh.tester.events import Event
from harness.zenoh.tester.snapshots import Incomplete
from wire.zenoh.keys import intersects, read_queryable_info
from wire.zenoh.values import DeclareEntity, DeclareFinal, Mode, Push, Request, UndeclareEntity

FARTHEST = 0xFFFF
"""The largest distance that QueryableInfo can say: there it cannot grow."""


class HistoryComparison:
    """Compares listeners with the model; ``judged`` counts what was compared, by rule."""

    def __init__(
        self,
        model: Model,
        listeners: dict[str, SessionKnowledge],
        abilities: Abilities,
        judged: Counter[str],
        *,
        deployed: bool,
    ) -> None:
        self.model = model
        self.listeners = listeners
        self.abilities = abilities
        self.judged = judged
        self.deployed = deployed
        self.declared: dict[str, Counter[Thing]] = {}
        """What each session may still be told that it need not be, and was not yet: it may be on its way."""
        self.undeclared: dict[str, Counter[Thing]] = {}

    def compare(self, attribution: Attribution) -> None:
        """Wait for what must come, make sure that nothing else comes, and raise the first ``Mismatch``."""
        for who, listener in self.listeners.items():
            self.await_all(who, listener, attribution)
        self.await_queries(attribution)
        self.catch_up()
        for who, listener in self.listeners.items():
            self.await_representatives(who, listener)
        for who, listener in self.listeners.items():
            self.judge(who, listener, attribution)

    def catch_up(self) -> None:
        """Make sure that what was to come to any session has come: all are asked at once, and then waited for."""
        asked = [(listener, listener.driver.send_barrier()) for listener in self.listeners.values()]
        for listener, barrier in asked:
            listener.driver.await_barrier(barrier)
            listener.catch_up()

    # --- what must come -----------------------------------------------------------------------------------

    def await_all(self, who: str, listener: SessionKnowledge, attribution: Attribution) -> None:
        """Wait until a session knows all that it must."""

        # What is due does not change while we wait; a hundred entities are looked through once.
        due = self.model.due(who)
        ended = self.model.concerns[self.model.names[who]].lost
        ended = ended and ended - self.model.things()

        def missing() -> Mismatch | None:
            return self.missing(who, listener, due, ended, attribution)

        driver, timing = listener.driver, listener.driver.timing
        difference = still_missing(missing, listener.wait_until, timing, now=driver.now(), patience=timing.patience)
        if difference is None:
            return
        if driver.ended:
            raise Incomplete(f"the session of {who} ended: {driver.ended}")
        raise difference

    def missing(
        self, who: str, listener: SessionKnowledge, due: set[Thing], ended: set[Thing], attribution: Attribution
    ) -> Mismatch | None:
        """Return the first thing that a session has yet to be told: of what is ``due``, or has ``ended``."""
        concerns, known = self.model.concerns[self.model.names[who]], listener.things()
        for number, answer in concerns.answers.items():
            if (difference := self.unanswered(number, answer, listener, known, attribution)) is not None:
                return difference
        if lacking := self.still_lacking(listener, due - known - listener.aside - self.listed_at_once(listener)):
            what = min(lacking)
            was_ended = any(isinstance(e.body, UndeclareEntity) and listener.thing(e) == what for e in listener.news)
            elsewhere = any(what in other.things() for other in self.listeners.values())
            return attribution.never_declared(who, what, ended=was_ended, elsewhere=elsewhere)
        if kept := ended & known:
            return attribution.never_undeclared(who, min(kept))
        for group in concerns.some:
            if group & self.model.things() and not group & known:
                return Mismatch(
                    "ZD-091", f"{who} asks with A and was never told of {shown(min(group))}, the first to match"
                )
        payloads = {payload(event) for event in listener.news if isinstance(event.message, Push)}
        if lost := concerns.data - payloads:
            return Mismatch("ZD-042", f"{who} has a subscriber and never got the data {worded(min(lost))}")
        asked = {event.message.parameters for event in listener.news if isinstance(event.message, Request)}
        if lost := concerns.queries - asked:
            return Mismatch("ZD-064", f"{who} has a queryable and was never asked {worded(min(lost))}")
        return None

    def listed_at_once(self, listener: SessionKnowledge) -> set[Thing]:
        """Return what appeared in this step and an answer lists: a node does not tell again what it has told.

        Where a session asks while another declares, either may be first; and an update may come behind later answers.
        """
        listed = {
            listener.thing(event)
            for event in listener.news
            if event.interest_id is not None and isinstance(event.body, DeclareEntity)
        }
        return listed & {thing(each) for each in self.model.appeared}

    def unanswered(
        self, number: int, answer: Answer, listener: SessionKnowledge, known: set[Thing], attribution: Attribution
    ) -> Mismatch | None:
        """Return what an answer lacks."""
        named = f"interest {number} ({answer.interest.mode.name})"
        mine = [event for event in listener.news if event.interest_id == number]
        if not any(isinstance(event.body, DeclareFinal) for event in mine):
            return Mismatch("ZI-070", f"{named} was not answered up to D_FINAL")
        lacking = answer.must - {listener.thing(e) for e in mine if isinstance(e.body, DeclareEntity)}
        if lacking := self.still_lacking(listener, lacking):
            return attribution.not_listed(answer, min(lacking))
        kinds = {event.body.kind.value for event in mine if isinstance(event.body, DeclareEntity)}
        for group in answer.any_of:
            if not (group & (known | listener.listed) or min(group)[0] in kinds):
                return Mismatch("ZI-068", f"{named} asks with A and was answered by nothing, though {min(group)} is")
        return None

    def still_lacking(self, listener: SessionKnowledge, lacking: set[Thing]) -> set[Thing]:
        """Return what a session lacks, without what it was told before where a node announces nothing twice.

        Either in snapshots (reading R35), or of several entities on one key (reading R34).
        """
        if self.abilities.again and not self.abilities.merges:
            return lacking
        return {what for what in lacking if not listener.knows_of(what)}

    def await_representatives(self, who: str, listener: SessionKnowledge) -> None:
        """Wait until a session that asks with A knows of something again, where what stood for others has ended."""

        def alone() -> Thing | None:
            return self.model.unrepresented(who, listener.things())

        if not listener.wait_until(lambda: alone() is None) and (what := alone()) is not None:
            raise Mismatch("ZD-091", f"{who} asks with A and knows of no {what[0]} any more, though {what[1]} lives")

    def await_queries(self, attribution: Attribution) -> None:
        """Wait until each query of the step has reached somebody who can answer it."""
        for parameters, able in self.model.asked_queries:
            names = [who for who, link in self.model.names.items() if link in able]
            if not any(self.was_asked(self.listeners[who], parameters) for who in names):
                last = self.listeners[names[-1]]
                if not last.driver.wait_until(lambda at=last, text=parameters: self.was_asked(at, text)):  # type: ignore[misc]
                    raise Mismatch(
                        "ZD-064", f"nobody was asked {worded(parameters)}, which {', '.join(names)} can answer"
                    )

    def was_asked(self, listener: SessionKnowledge, parameters: str) -> bool:
        """Tell whether a session was sent a query."""
        listener.catch_up()
        return any(isinstance(e.message, Request) and e.message.parameters == parameters for e in listener.news)

    # --- what must not ------------------------------------------------------------------------------------

    def judge(
        self, who: str, listener: SessionKnowledge, attribution: Attribution, allowed: frozenset[Thing] = frozenset()
    ) -> None:
        """Raise the first thing that a session was told and must not be; take the rest down."""
        concerns = self.model.concerns[self.model.names[who]]
        self.declared[who] = self.declared.get(who, Counter()) + concerns.declared
        self.undeclared[who] = self.undeclared.get(who, Counter()) + concerns.undeclared
        listener.aside |= self.listed_at_once(listener)
        listed: dict[int, Counter[Thing]] = {}
        finals: Counter[int] = Counter()
        for event in listener.news:
            match event.body:
                case DeclareFinal():
                    self.final(who, event, concerns, finals, attribution)
                case DeclareEntity() if listener.thing(event) not in allowed:
                    self.declaration(who, listener, event, concerns, listed, finals, attribution)
                case UndeclareEntity() if listener.thing(event) not in allowed:
                    self.undeclaration(who, listener, event, concerns, attribution)
                case _:
                    self.data(who, event, concerns, attribution)
        ended = set(concerns.undeclared) - self.model.things()
        listener.forget({what for what in ended if not self.model.stands_for_others(who, what)})
        self.count(concerns)

    def final(self, who: str, event: Event, concerns: Concerns, finals: Counter[int], attribution: Attribution) -> None:
        """Judge a D_FINAL."""
        number = event.interest_id
        if number is None:
            raise Mismatch("ZD-087", f"{who} got a D_FINAL without an interest_id")
        finals[number] += 1
        if number in concerns.answers and finals[number] > 1:
            raise Mismatch("ZI-071", f"{who} got a second D_FINAL for interest {number}")
        if number not in concerns.answers:
            raise attribution.final_for_nothing(who, number)

    def declaration(
        self,
        who: str,
        listener: SessionKnowledge,
        event: Event,
        concerns: Concerns,
        listed: dict[int, Counter[Thing]],
        finals: Counter[int],
        attribution: Attribution,
    ) -> None:
        """Judge a D_SUBSCRIBER, D_QUERYABLE or D_TOKEN."""
        what = listener.thing(event)
        if event.key is None:
            raise Mismatch("ZI-074", f"{who} was told of a {what[0]} on an alias that the node never declared")
        number = event.interest_id
        if number is None:
            if self.declared[who][what]:
                self.declared[who][what] -= 1
            elif not (self.model.is_own(who, what) or self.may_push(what)):
                raise attribution.declared(who, what)
        elif number not in concerns.answers:
            raise attribution.under_no_question(who, number, what)
        else:
            if finals[number]:
                raise Mismatch("ZI-071", f"{who} was told of {shown(what)} after the D_FINAL of interest {number}")
            counted = listed.setdefault(number, Counter())
            counted[what] += 1
            if counted[what] > concerns.answers[number].may[what]:
                raise attribution.listed(who, concerns.answers[number], what, counted[what])
        self.info(who, event, what)

    def undeclaration(
        self, who: str, listener: SessionKnowledge, event: Event, concerns: Concerns, attribution: Attribution
    ) -> None:
        """Judge a U_SUBSCRIBER, U_QUERYABLE or U_TOKEN."""
        body, what = event.body, listener.thing(event)
        assert isinstance(body, UndeclareEntity)
        if event.interest_id is not None:
            raise Mismatch("ZI-017", f"{who} was told under interest {event.interest_id} that {shown(what)} ended")
        if (body.kind.value, body.id) in listener.forgotten:
            del listener.forgotten[body.kind.value, body.id]
        elif self.is_untold_end(listener, event):
            return
        elif event.known is None:
            rule = attribution.stray(body.kind)
            why = "which had ended before" if listener.was_told(body) else "of which it was never told"
            raise Mismatch(rule, f"{who} was told the end of {body.kind.value} {body.id}, {why}")
        elif self.undeclared[who][what]:
            self.undeclared[who][what] -= 1
        elif self.model.may_end_untouched(who, what) or self.may_take_back(what):
            return
        elif what not in concerns.gone:
            raise attribution.undeclared(who, what)
        elif (late := self.too_late(who, what, attribution)) is not None:
            raise Mismatch(late, f"{who} was told that {shown(what)} ended, after it had ended its interest")

    def is_untold_end(self, listener: SessionKnowledge, event: Event) -> bool:
        """Tell whether a node that does so announces the end of a token to who was never told of it.

        Under an id made up for that, which may be one that an answer has used; the key is in the WireExpr extension.
        """
        body, key = event.body, listener.driver.inner(event.key)
        if UNTOLD_ENDS not in self.abilities.lacking or not isinstance(body, UndeclareEntity) or not key:
            return False
        what, ended = (body.kind.value, key), {thing(each) for each in self.model.vanished}
        return event.key != event.known and (what in ended or what not in self.model.things())

    def may_push(self, what: Thing) -> bool:
        """Tell whether a node that tells of what nobody asked for may tell of a thing (reading R37)."""
        new = {thing(each) for each in self.model.appeared}
        return "silence" in self.abilities.lacking and what in self.model.things() | new

    def may_take_back(self, what: Thing) -> bool:
        """Tell whether such a node may tell the end of a thing."""
        return "silence" in self.abilities.lacking and what not in self.model.things()

    def too_late(self, who: str, what: Thing, attribution: Attribution) -> str | None:
        """Return the rule that an undeclaration without a running interest breaks, if it breaks one.

        What a Current interest has listed may be taken back (reading R32); what others have told, as the profile says
        (reading R29).
        """
        if self.deployed or "quiet after Final" in self.abilities.lacking:
            return None
        return attribution.ended(who, what)

    def info(self, who: str, event: Event, what: Thing) -> None:
        """Judge what a queryable is announced with."""
        body = event.body
        assert isinstance(body, DeclareEntity)
        if what[0] != "queryable":
            return
        complete, distance = read_queryable_info(body.info or 0, deployed=self.deployed)
        known = (*self.model.entities(), *self.model.appeared, *self.model.vanished)
        own = [each for each in known if thing(each) == what]
        if own and complete not in {each.complete for each in own}:
            raise Mismatch("ZD-071", f"{who} was told that {shown(what)} is {'' if complete else 'not '}complete")
        if own and "hops" not in self.abilities.lacking and not self.deployed:
            near = min(each.distance for each in own)
            if distance <= near < FARTHEST:
                raise Mismatch("ZD-072", f"{who} was told of {shown(what)} at {distance}, declared at {near}")

    def data(self, who: str, event: Event, concerns: Concerns, attribution: Attribution) -> None:
        """Judge a PUSH or a REQUEST."""
        match event.message:
            case Push():
                if payload(event) not in concerns.data | concerns.data_may:
                    raise attribution.data(
                        who, f"{who} was sent the data {worded(payload(event))}, and has no subscriber for it"
                    )
            case Request(parameters=parameters):
                if parameters not in concerns.queries | concerns.queries_may:
                    raise attribution.query(who, f"{who} was asked {worded(parameters)}, and has no queryable for it")

    def count(self, concerns: Concerns) -> None:
        """Take down which rules the step has put to the test, and found kept."""
        for answer in concerns.answers.values():
            current = answer.interest.mode is Mode.CURRENT
            self.judged.update(
                ["ZI-070", "ZI-071", "ZI-010" if current else "ZI-014", *(["ZI-068"] * bool(answer.any_of))]
            )
        self.judged.update(["ZI-021"] * bool(concerns.futures))
        self.judged.update(["ZD-091", "ZD-095"] * bool(concerns.declared))
        self.judged.update(["ZD-092"] * bool(concerns.lost))
        self.judged.update(["ZD-042"] * bool(concerns.data) + ["ZD-064"] * bool(concerns.queries))

    # --- guests -------------------------------------------------------------------------------------------

    def compare_guest(self, move: Unspecified, guest: SessionKnowledge) -> None:
        """Judge what a guest has brought about, before it leaves."""
        may, ended = set(move.may), bool(guest.driver.ended)
        self.catch_up()
        announced = {guest.thing(event) for event in guest.news if isinstance(event.body, DeclareEntity)}
        finals = {event.interest_id for event in guest.news if isinstance(event.body, DeclareFinal)}
        # What the guest asks for in a way that a node need not understand is answered in full or not at all.
        listed = self.model.things() if move.all else set()
        near = {(kind, key) for kind, key in self.model.things() if move.listens and intersects("guest/**", key)}
        if finals and listed - announced:
            raise Mismatch(move.rule, f"what is not understood is answered without {shown(min(listed - announced))}")
        if strange := announced - may - listed - near:
            raise Mismatch(move.rule, f"the guest was told of {shown(min(strange))}")
        if move.asked is not None and not ended and move.asked not in finals:
            raise Mismatch(move.rule, f"interest {move.asked} is not answered")
        asked = {action.id for action in move.actions if isinstance(action, SendsInterest | SendsOddInterest)}
        if stray := [number for number in finals if number not in asked]:
            raise Mismatch(move.rule, f"the guest got a D_FINAL under {stray[0]}")
        witness = next(iter(self.listeners.values()))
        if move.counts and not ended and not witness.wait_until(lambda: len(witness.things() & may) in move.counts):
            there = sorted(witness.things() & may)
            raise Mismatch(move.rule, f"{', '.join(map(shown, there)) or 'nothing'} came of it")

    def after_guest(self, move: Unspecified, attribution: Attribution) -> None:
        """Make sure that nothing stays of what a guest has sent."""
        may = frozenset({*move.may, ("token", "guest/9")})
        for who, listener in self.listeners.items():
            if not listener.wait_until(lambda at=listener: not at.things() & may):  # type: ignore[misc]
                left = min(listener.things() & may)
                raise Mismatch("ZD-092", f"{who} was not told that the guest's {shown(left)} ended")
        self.catch_up()
        for who, listener in self.listeners.items():
            self.judge(who, listener, attribution, may)
        self.judged[move.rule] += 1


def payload(event: Event) -> str:
    """Return the text of data."""
    assert isinstance(event.message, Push)
    return (event.message.payload or b"").decode(errors="replace")


def shown(what: Thing) -> str:
    """Return a thing as people read it."""
    return f"{what[0]} {what[1]}"
