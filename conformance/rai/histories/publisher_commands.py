"""The source of a publisher in a history: control lines, what they do to the model, and what is due of each."""

from collections.abc import Callable

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.abilities import Abilities
from conformance.rai.histories.publisher_accounts import WHOLE, Accounts
from conformance.rai.histories.publisher_model import BAD, MISSING, Fields, KnownValue, PublisherModel, same
from conformance.rai.histories.publisher_moves import SourceActs
from conformance.rai.telling import fields
from harness.rai.tester.events import Event
from harness.rai.tester.node_under_test import NodeUnderTest, text_of
from harness.rai.users import SERVED
from wire.rai.values import Published, Told, user_of

RECAP = 10.0
"""Seconds of changes that are told again after a switch (R38)."""

WAITING = ("set", "release")
"""What happens while updates wait: how the rest and they go together is open."""


class Commanding:
    """Makes the source do something."""

    def __init__(self, node: NodeUnderTest, model: PublisherModel, accounts: Accounts, can: Abilities) -> None:
        self.node = node
        self.model = model
        self.accounts = accounts
        self.can = can
        self.unable: set[str] = set()
        """Verbs that the publisher does not know."""

    def fits(self, move: SourceActs) -> bool:
        """Tell whether it can do so as things are, and it is said what comes of it."""
        model, verb, names = self.model, move.verb, move.names
        if verb in self.unable or (model.held is not None and verb not in WAITING):
            return False
        if any(each in model.retired or (each in model.blocked and verb != "unblock") for each in names):
            return False
        has_value = bool(names) and names[0] in model.values
        match verb:
            case "set":
                return not model.warm.get(names[0]) or (model.held is None and not model.is_down)
            case "stale" | "expire" | "evict":
                return has_value
            case "restore":
                return has_value and not model.is_down
            case "rename":
                return has_value and names[1] not in model.values and names[1] not in model.warm and not model.is_down
            case "warm":
                return not has_value and not model.is_down
            case "unblock":
                return names[0] in model.blocked
            case "down":
                return not model.is_down
            case "up":
                return model.is_down
            case "release":
                return model.held is not None
            case "deny":
                return move.more not in model.denied
            case _:
                return True

    def do(self, move: SourceActs) -> None:
        """Say the control line, and note what is due; raises ``Unsupported``."""
        words = [SERVED + name for name in move.names] + ([move.more] if move.more else [])
        given = dict(move.fields)
        self.node.command(move.verb, *words, *([text_of(given)] if move.fields else []))
        name = move.names[0] if move.names else ""
        match move.verb:
            case "set":
                self._set(name, given)
            case "warm":
                self.model.warm[name] = given
            case "stale":
                self._disturb(name, "RAI-014")
            case "restore":
                self.model.values[name] = KnownValue(given, changed=self._open_times(given))
                self._expect_image(name, "RAI-011", "when its source is whole again")
            case "expire":
                self.model.retired.add(name)
                self._end(name, "expired", "RAI-020")
            case "evict":
                self._end(name, "preempted", "RAI-194")
            case "rename":
                self._rename(name, move.names[1])
            case "block":
                self.model.blocked.add(name)
            case "unblock":
                self.model.blocked.discard(name)
            case "deny":
                self._deny(move.more)
            case "dictionary":
                self._name_dictionary(move.more)
            case _:
                self._all(move.verb)

    def _all(self, verb: str) -> None:
        model = self.model
        match verb:
            case "switch":
                for name in model.values:
                    self._expect(
                        name, "RAI-019", "is not told to have another source", lambda body: body.state == "feed_switch"
                    )
            case "hold":
                model.held = {}
            case "release":
                self._release()
            case "down":
                model.is_down = True
                for name in model.values:
                    self._disturb(name, "RAI-018")
            case "up":
                model.is_down = False
                self.accounts.refreshing |= set(model.values)
                for value in model.values.values():
                    value.state = "up"

    # --- what is due ----------------------------------------------------------------------------------------

    def _expect(self, name: str, rule: str, what: str, is_it: Callable[[Told], bool]) -> None:
        """Have something be due on a subject, if somebody has subscribed to it for certain."""
        if not self.model.is_wanted(name):
            return
        subject = SERVED + name
        text = f"{name}, which {self._subscribers(name)} has subscribed, {what}"
        self.accounts.due(
            rule,
            text,
            lambda event: event.subject == subject and isinstance(event.body, Published) and is_it(event.body),
        )

    def _subscribers(self, name: str) -> str:
        by_name = self.model.holders(name, sure=True)
        return by_name[0] if by_name else f"{self.model.watchers(name, sure=True)[0]}, by a wildcard,"

    def _expect_fields(self, name: str, wanted: Fields, rule: str) -> None:
        if not self.model.is_wanted(name):
            return
        if not self.model.holders(name, sure=True):
            rule = "RAI-122" if rule == "RAI-009" else rule
        elif rule == "RAI-009" and name in self.accounts.blame:
            rule = self.accounts.blame.pop(name)
        subject, left = SERVED + name, dict(wanted)

        def is_it(event: Event) -> bool:
            if event.subject == subject and isinstance(event.body, Published) and event.body.kind == "update":
                for each, shown in fields(event).items():
                    if each in left and same(shown, left[each]):
                        del left[each]
            return not left

        what = f"{name}, which {self._subscribers(name)} has subscribed, is not published with {wanted}"
        self.accounts.due(rule, what, is_it)

    def _expect_image(self, name: str, rule: str, when: str) -> None:
        self.accounts.refreshing.add(name)
        # Who sends it to each inbox has nowhere to send it to for a wildcard.
        if not self.model.holders(name, sure=True) or name in self.model.blocked:
            return
        subject = SERVED + name

        def is_it(event: Event) -> bool:
            body = event.body
            if not isinstance(body, Told) or body.kind not in WHOLE or not body.has_data:
                return False
            return event.subject == subject or body.subject == subject

        text = f"{name}, which {self._subscribers(name)} has subscribed, is not shown {when}"
        self.accounts.due(rule, text, is_it)

    # --- single subjects ------------------------------------------------------------------------------------

    def _set(self, name: str, given: Fields) -> None:
        model, now = self.model, self.node.trace.now()
        value = model.values.get(name)
        if value is None:
            value = model.values[name] = KnownValue({}, "bad" if model.is_down else "ok", is_new=model.held is not None)
            if model.warm.pop(name, None) is not None:
                # Whether what was about to come had a value is nobody's business any more.
                value.older = {}
        if model.held is not None:
            model.held.setdefault(name, []).append(given)
            for each in given:
                value.older.setdefault(each, []).append(value.fields.get(each, MISSING))
        value.fields.update(given)
        value.changed.update(dict.fromkeys(given, (now, now)))
        if model.held is None:
            self._expect_fields(name, given, "RAI-009")

    def _release(self) -> None:
        model = self.model
        held, model.held = model.held or {}, None
        self.accounts.releasing = True
        now = self.node.trace.now()
        for name, updates in held.items():
            value = model.values[name]
            value.older, value.is_new = {}, False
            merged = {each: new for update in updates for each, new in update.items()}
            for each in merged:
                value.changed[each] = (value.changed[each][0], now)
            if len(updates) > 1:
                self.accounts.several.add(name)
            self._expect_fields(name, merged, "RAI-023")

    def _disturb(self, name: str, rule: str) -> None:
        self.model.values[name].state = "bad"
        self._expect(name, rule, "is not told to be stale", lambda body: body.state in BAD)

    def _end(self, name: str, status: str, rule: str, new: str = "") -> None:
        """End a subject: whether its subscriptions outlive it is open."""
        self.accounts.dropping[name] = status

        def is_it(body: Told) -> bool:
            if body.kind != "drop" or body.state != status:
                return False
            if new and SERVED + new not in (body.text, body.subject):
                raise Mismatch(rule, f"{name} has become {new}, and is dropped as {body.text or body.subject}")
            return True

        self._expect(name, rule, f"is not dropped with status {status}", is_it)
        del self.model.values[name]
        for (_, each), its in self.model.named.items():
            if each == name:
                its.sure = its.firm = False

    def _rename(self, name: str, new: str) -> None:
        value = self.model.values[name]
        value.changed = self._open_times(value.fields)
        self._end(name, "relocate", "RAI-021", new)
        self.model.values[new] = value

    def _open_times(self, given: Fields) -> dict[str, tuple[float, float]]:
        """Return times that say nothing: whether these fields have changed is open."""
        return dict.fromkeys(given, (float("-inf"), float("inf")))

    # --- all of them ----------------------------------------------------------------------------------------

    def _deny(self, user: str) -> None:
        self.model.denied.add(user)
        for who, guest in self.accounts.guests.items():
            if user_of(guest.driver.session) == user:
                for each, name in self.model.named:
                    if each == who:
                        self.accounts.blame[name] = "RAI-148"
                self.model.forget(who)

    def _name_dictionary(self, name: str) -> None:
        model = self.model
        before, model.dictionary, model.version = model.dictionary, name, model.version + 1
        if before:
            for each in model.values:
                self._expect_image(each, "RAI-151", "when there is another dictionary")

    def judge_recaps(self) -> None:
        """See that what was recapped is what has changed within the period, all of it; raises ``Mismatch``."""
        now, slack = self.node.trace.now(), self.accounts.margin
        for name in self.accounts.has_recap:
            recapped, value = self.accounts.recapped.get(name, {}), self.model.values[name]
            for each, (earliest, latest) in value.changed.items():
                if each in recapped and self.node.elapsed(latest, now) > RECAP + slack:
                    raise Mismatch("RAI-022", f"{each} of {name} is recapped, and has not changed for ten seconds")
                is_due = self.node.elapsed(earliest, now) < RECAP - slack and "recaps" not in self.can.lacks
                if is_due and each not in recapped:
                    raise Mismatch("RAI-022", f"{each} of {name} has just changed, and is not recapped: {recapped}")
