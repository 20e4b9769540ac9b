"""Transactions: a request and everything that came under its identifier, as a conversation saw it."""

from typing import Any

import msgspec

from harness.pathfinder.tester.events import DISAPPEARED, Event
from wire.pathfinder.values import MULTIPLE, Message


class Match(msgspec.Struct, frozen=True):
    """One notification of a subscription: ``appeared``, ``modified`` or ``disappeared``, which service, and where."""

    what: str
    service_id: Any
    message: Message
    time: float
    entry: int = -1

    @property
    def is_orphan(self) -> bool:
        """Whether the service has lost its owner."""
        return "orphan-since" in self.message

    def __repr__(self) -> str:
        orphan = ", orphan" if self.is_orphan else ""
        return f"{self.what} {self.service_id}{orphan}"


class Transaction:
    """A request, and its answers in the order of their arrival.

    ``late`` came after it was over; ``closed`` says how the connection ended, once it has.
    """

    def __init__(self, request: Event, closed: str = "") -> None:
        self.request = request
        self.answers: list[Event] = []
        self.late: list[Event] = []
        self.ending: Event | None = None
        """The answer that ended it: ``complete`` or ``fail``."""
        self.closed = closed

    def take(self, answer: Event) -> None:
        """Take what came under its identifier."""
        if self.ending is not None:
            self.late.append(answer)
            return
        self.answers.append(answer)
        if answer.type in ("complete", "fail"):
            self.ending = answer

    @property
    def command(self) -> str:
        """The command that was asked for."""
        return self.request.command

    @property
    def ta(self) -> int | None:
        """The transaction's identifier."""
        return self.request.ta

    @property
    def is_multiple(self) -> bool:
        """Whether the command may have several responses."""
        return self.command in MULTIPLE

    @property
    def accepted(self) -> bool:
        """Whether an ``accept`` came."""
        return any(answer.type == "accept" for answer in self.answers)

    @property
    def completed(self) -> bool:
        """Whether it ended with ``complete``."""
        return self.ending is not None and self.ending.type == "complete"

    @property
    def failed(self) -> bool:
        """Whether it ended with ``fail``."""
        return self.ending is not None and self.ending.type == "fail"

    @property
    def reason(self) -> Any:
        """The reason for which it failed, if the message has one."""
        return self.ending.fields.get("fail-reason") if self.failed and self.ending is not None else None

    @property
    def refused(self) -> bool:
        """Whether it was not done: it failed, or the connection was ended instead of an answer."""
        return self.failed or (self.ending is None and self.is_closed)

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended."""
        return bool(self.closed)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self.ending is not None or self.is_closed

    @property
    def was_cut(self) -> bool:
        """Whether the connection was ended before any answer came."""
        return self.is_closed and not self.answers

    @property
    def entries(self) -> tuple[int, ...]:
        """Where its messages stand in the trace."""
        return tuple(each.entry for each in (self.request, *self.answers, *self.late) if each.entry >= 0)

    @property
    def notifications(self) -> list[Message]:
        """The fields of the notifications that came."""
        return [answer.fields for answer in self.answers if answer.type == "notify"]

    @property
    def matches(self) -> list[Match]:
        """The notifications of a subscription."""
        return [match_of(answer) for answer in self.answers if answer.type == "notify"]

    def about(self, service_id: int) -> list[Match]:
        """Return the notifications about one service."""
        return [match for match in self.matches if match.service_id == service_id]

    def __repr__(self) -> str:
        if self.ending is not None:
            end = f"fail ({self.reason or 'no reason'})" if self.failed else "complete"
        elif self.is_closed:
            end = f"the connection was ended ({self.closed})"
        else:
            end = "accept, and no end" if self.accepted else "silence"
        notes = f", {len(self.notifications)} notifications" if self.is_multiple else ""
        return f"{self.command} {self.ta}: {end}{notes}"


def match_of(event: Event) -> Match:
    """Read a notification of a subscription."""
    fields = event.fields
    what = fields.get("match-type")
    return Match(
        "disappeared" if what in DISAPPEARED else str(what), fields.get("service-id"), fields, event.time, event.entry
    )
