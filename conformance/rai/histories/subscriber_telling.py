"""What a subscriber's application is told, held against what it may have been told."""

import json
from collections import Counter
from collections.abc import Iterator

from conformance.histories.mismatch import Mismatch
from conformance.rai.histories.subscriber_moves import HOW_FORGED
from conformance.rai.histories.subscriber_values import UNRELIABLE, Fields, ToldValue, text_of
from harness.rai.tester.node_under_test import NodeUnderTest

Words = tuple[str, ...]
"""An event that the application is told, cut at its spaces."""

FORGED = "FORGED"
"""The field by which it is known in which way something was forged."""


class Telling:
    """The application's events, as far as they were looked at, and the values that it is to know."""

    def __init__(self, node: NodeUnderTest, judged: Counter[str]) -> None:
        self.node = node
        self.judged = judged
        self.values: dict[str, ToldValue] = {}
        """What is known of each subject that is subscribed."""
        self.unsure: set[str] = set()
        """Subjects of which it may be told or not."""
        self._read = 0
        self._marked = 0
        self._told: list[tuple[str, str, str]] = []
        """Subject, status and fields of the values that were told since it was looked at."""
        self._blamed: dict[str, tuple[str, str]] = {}
        self._came: Counter[Words] = Counter()
        self._due: list[tuple[tuple[Words, ...], str, str]] = []
        """What has to be told, in one way or another, the rule that asks for it, and what that is."""

    def read(self) -> None:
        """Take what the application was told since."""
        events = self.node.instance.events()
        for event in events[self._read :]:
            kind, _, rest = event.partition(" ")
            if kind in ("value", "snapshot"):
                subject, _, told = rest.partition(" ")
                status, _, text = told.partition(" ")
                fields = json.loads(text)
                if "MARK" in fields:
                    self._marked = max(self._marked, fields["MARK"])
                elif kind == "value":
                    self._told.append((subject, status, text_of(fields)))
                else:
                    self._came[kind, subject, _sort_of(status), text_of(fields)] += 1
            elif kind == "status":
                subject, _, status = rest.partition(" ")
                self._came[kind, subject, _sort_of(status)] += 1
            else:
                self._came[(kind, *rest.split(" "))] += 1
        self._read = len(events)

    def has_marked(self, subject: str, number: int) -> bool:
        """Tell whether the application was told a mark."""
        self.read()
        return self._marked >= number

    # --- what has to be told ------------------------------------------------------------------------------

    def _expect(self, rule: str, what: str, *ways: Words) -> None:
        self.read()
        for words in ways:
            self._came[words] = 0
        self._due.append((ways, rule, what))

    def expect_ack(self, subject: str, kind: str) -> None:
        """Have an ack be told by the next comparison."""
        self._expect("RAI-196", f"the ack of a {kind} of {subject} is not told", ("ack", subject, kind))

    def expect_drop(self, subject: str, status: str, new: str) -> None:
        """Have a drop be told."""
        words = ("drop", subject, status, *([new] if new else []))
        self._expect("RAI-195", f"that {subject} is dropped ({status}) is not told", words)

    def expect_status(self, subject: str, status: str) -> None:
        """Have a message without data be told."""
        self._expect("RAI-196", f"status {status} of {subject} is not told", ("status", subject, _sort_of(status)))

    def expect_snapshot(self, subject: str, status: str, fields: Fields, early: Fields) -> None:
        """Have a snapshot be told; perhaps with what updates told before it came (reading R62)."""
        ways = [("snapshot", subject, _sort_of(status), text_of(each)) for each in (fields, fields | early)]
        self._expect("RAI-196", f"a snapshot of {subject} is not told as it was answered", *ways)

    def blame(self, subject: str, rule: str, what: str) -> None:
        """Take note of what must change nothing: should a value be told other than before, it is because of this."""
        self._blamed[subject] = rule, what

    # --- comparing ----------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Hold what was told against what had to be; raises ``Mismatch``."""
        self.read()
        for subject, status, fields in self._told:
            self._compare_value(subject, status, fields)
        self._told.clear()
        if not self.node.until(self._is_complete):
            self._miss()
        for subject, status, fields in self._told:
            self._compare_value(subject, status, fields)
        self._told.clear()
        self._due.clear()
        self._blamed.clear()
        for value in self.values.values():
            value.learn()

    def _is_complete(self) -> bool:
        self.read()
        for subject, status, fields in self._told:
            self._compare_value(subject, status, fields)
        self._told.clear()
        return not any(self._missing()) and all(each.is_told for each in self.values.values())

    def _missing(self) -> Iterator[tuple[str, str]]:
        """Give what has to be told and was not: the rule, and what it is."""
        for ways, rule, what in self._due:
            if not any(self._came[words] for words in ways):
                yield rule, what

    def _miss(self) -> None:
        for rule, what in self._missing():
            raise Mismatch(rule, what, thing=what.partition(" LAB")[0])
        for subject, value in self.values.items():
            if not value.is_told:
                rule, what = value.cause
                before = f"; it was told last as {value.told[0]} {value.told[1]}" if value.told else ""
                expected = ", or ".join(sorted(f"{each.how} {each.fields}" for each in value.states))
                raise Mismatch(
                    rule,
                    f"{what or 'a value'} is not told of {subject}: {expected}{before}",
                    thing="a value in a history",
                )

    def _compare_value(self, subject: str, status: str, fields: str) -> None:
        value = self.values.get(subject)
        if value is None:
            self._compare_unwanted(subject, status, fields)
            return
        if any(each.is_told_as(status, fields) for each in value.passed):
            value.told, value.is_news = (status, fields), True
            self.judged["RAI-155"] += 1
            return
        told = f"{subject} is told as {status} {fields}"
        expected = ", or ".join(sorted(f"{each.how} {each.fields}" for each in value.passed))
        rule, what = self._blame_of(subject, fields) or value.cause
        is_wrong_status = any(each.fields == fields for each in value.passed)
        if not self._blame_of(subject, fields) and rule not in ("RAI-158", "RAI-203"):
            if not is_wrong_status:
                rule = "RAI-059"
            elif status not in UNRELIABLE:
                rule = "RAI-157"
            else:
                rule = "RAI-156"
        raise Mismatch(rule, f"{told}, behind {what or 'a start'}, and has to be {expected}")

    def _compare_unwanted(self, subject: str, status: str, fields: str) -> None:
        blamed = self._blame_of(subject, fields)
        if subject in self.unsure and not blamed:
            return
        rule, what = blamed or ("RAI-198", "it is not subscribed")
        raise Mismatch(rule, f"{subject} is told as {status} {fields}: {what}")

    def _blame_of(self, subject: str, fields: str) -> tuple[str, str] | None:
        """Return the rule by which something must not be told, and what it is, where that is known."""
        told = json.loads(fields)
        if FORGED in told:
            rule, what = HOW_FORGED[told[FORGED]]
            return rule, f"what {what}"
        return self._blamed.get(subject)


def _sort_of(status: str) -> str:
    return "unreliable" if status in UNRELIABLE else status
