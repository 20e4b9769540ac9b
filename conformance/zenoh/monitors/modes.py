"""Monitors of zenoh-interests, "Interests", "Interest Modes" and "Message Flows".

They look at the interests of the tester and at what the node under test declares in return. ``replay`` keeps the
account: which interests were sent, how far each has come, and what a declaration can be due to. Where one link does not
tell, they say nothing.
"""

from collections.abc import Iterator

import msgspec

from conformance.monitors import Finding, broken, follows, kept
from conformance.zenoh.monitors.registry import monitor
from harness.trace import Direction
from harness.zenoh.conversation import Conversation, Event
from wire.zenoh.frames import WhatAmI
from wire.zenoh.keys import intersects
from wire.zenoh.messages import (
    Declare,
    DeclareEntity,
    DeclareFinal,
    Interest,
    InterestFinal,
    Mode,
    UndeclareEntity,
)

LIVE = (Mode.FUTURE, Mode.CURRENT_FUTURE)


class Asked(msgspec.Struct):
    """An interest of the tester's, and how far it has come.

    ``complete``: its D_FINAL has come. ``passed``: something that was asked later has been answered, so the node has
    acted on it. ``ended``: the same of its Final. ``sent`` and ``final`` are places in the conversation.
    """

    interest: Interest
    key: str | None
    sent: int
    final: int | None = None
    complete: bool = False
    passed: bool = False
    ended: bool = False

    @property
    def mode(self) -> Mode:
        """The interest's mode."""
        return self.interest.mode

    @property
    def is_clear(self) -> bool:
        """Whether it is known what was asked for: some kinds, and no key or one that can be resolved."""
        return bool(self.interest.kinds) and (self.interest.key is None or self.key is not None)

    @property
    def is_running(self) -> bool:
        """Whether it may still bring declarations, as far as one can know."""
        return not self.ended if self.mode in LIVE else not self.complete

    def covers(self, event: Event) -> bool:
        """Tell whether what an event declares or undeclares may fall under it."""
        assert isinstance(event.body, DeclareEntity | UndeclareEntity)
        key = event.known or event.key
        if not self.is_clear or key is None:
            return True
        return event.body.kind in self.interest.kinds and (self.key is None or intersects(self.key, key))


class Account:
    """All interests of the tester's on one link: those whose ids are taken, and those before them."""

    def __init__(self) -> None:
        self.by_id: dict[int, Asked] = {}
        self.all: list[Asked] = []

    def sent(self, event: Event, place: int) -> None:
        """Take note of what the tester sent."""
        match event.message:
            case Interest() as interest:
                asked = Asked(interest, event.key, place)
                self.by_id[interest.id] = asked
                self.all.append(asked)
            case InterestFinal(id=id) if id in self.by_id and self.by_id[id].final is None:
                self.by_id[id].final = place
            case _:
                pass

    def answered(self, interest_id: int) -> None:
        """Take note of a D_FINAL: the node has acted on all that was sent before the interest."""
        answered = self.by_id.get(interest_id)
        if answered is None:
            return
        answered.complete = True
        for asked in self.all:
            asked.passed = asked.passed or asked.sent < answered.sent
            asked.ended = asked.ended or (asked.final is not None and asked.final < answered.sent)

    def of(self, interest_id: int | None, *modes: Mode) -> Asked | None:
        """Return the interest of an id, if it has one of some modes."""
        asked = None if interest_id is None else self.by_id.get(interest_id)
        return asked if asked is not None and asked.mode in modes else None

    def covering(self, event: Event, *modes: Mode) -> list[Asked]:
        """Return the interests of some modes that an entity may fall under."""
        return [asked for asked in self.all if asked.mode in modes and asked.covers(event)]

    def waits(self, mode: Mode) -> bool:
        """Tell whether an interest of a mode has had no D_FINAL yet."""
        return any(asked.mode is mode and not asked.complete for asked in self.all)

    def is_due(self, event: Event) -> bool:
        """Tell whether an interest that is running may have brought a declaration or undeclaration."""
        return any(asked.is_running and asked.covers(event) for asked in self.all)


def replay(conversation: Conversation) -> Iterator[tuple[Event, Account]]:
    """Return what the node declared, each event with the account as it stood before."""
    account = Account()
    for place, event in enumerate(conversation.events):
        if event.direction is Direction.SENT:
            account.sent(event, place)
        elif isinstance(event.message, Declare):
            yield event, account
            if isinstance(event.body, DeclareFinal) and event.interest_id is not None:
                account.answered(event.interest_id)


def entities(conversation: Conversation) -> Iterator[tuple[Event, Account]]:
    """Return the declarations and undeclarations of entities alone."""
    for event, account in replay(conversation):
        if isinstance(event.body, DeclareEntity | UndeclareEntity):
            yield event, account


def is_lazy(conversation: Conversation) -> bool:
    """Tell whether the node is a router: peers and clients push what they declare, Final or not."""
    return conversation.whatami.get(Direction.RECEIVED) == WhatAmI.ROUTER


@monitor("ZI-002")
def what_nobody_asked_for(conversation: Conversation) -> Iterator[Finding]:
    """A declaration without an interest id falls under some interest that was sent before."""
    for event, account in entities(conversation):
        if isinstance(event.body, DeclareEntity) and event.interest_id is None:
            asked_for = any(asked.covers(event) for asked in account.all)
            yield kept(event.entry) if asked_for else follows(event.entry, "R37", "B")


@monitor("ZI-010")
def what_a_current_interest_lists(conversation: Conversation) -> Iterator[Finding]:
    """What comes under the id of a Current interest matches it."""
    yield from matching(conversation, Mode.CURRENT)


@monitor("ZI-014")
def what_a_current_future_interest_lists(conversation: Conversation) -> Iterator[Finding]:
    """What comes under the id of a CurrentFuture interest matches it."""
    yield from matching(conversation, Mode.CURRENT_FUTURE)


def matching(conversation: Conversation, mode: Mode) -> Iterator[Finding]:
    """Judge what is declared under the ids of interests of a mode."""
    for event, account in entities(conversation):
        asked = account.of(event.interest_id, mode)
        if asked is None or not asked.is_clear or not isinstance(event.body, DeclareEntity):
            continue
        if asked.covers(event):
            yield kept(event.entry)
        else:
            yield broken(event.entry, f"{event.body.kind.value} {event.key} does not match what was asked for")


@monitor("ZI-011")
def final_is_the_last_of_a_current_interest(conversation: Conversation) -> Iterator[Finding]:
    """D_FINAL comes with the id of the Current interest, and nothing of the answer comes after it."""
    for event, account in replay(conversation):
        asked = account.of(event.interest_id, Mode.CURRENT)
        if asked is not None and isinstance(event.body, DeclareFinal) and not asked.complete:
            yield kept(event.entry)
        elif asked is not None and asked.complete and not asked.passed and isinstance(event.body, DeclareEntity):
            yield broken(event.entry, "a declaration follows the D_FINAL of its Current interest")
        elif event.interest_id is None and isinstance(event.body, DeclareFinal) and account.waits(Mode.CURRENT):
            yield broken(event.entry, "D_FINAL without an interest id while a Current interest waits for it")


@monitor("ZI-013")
def nothing_after_a_current_interest(conversation: Conversation) -> Iterator[Finding]:
    """Once a Current interest is complete, no change is reported to it."""
    for event, account in replay(conversation):
        asked = account.of(event.interest_id, Mode.CURRENT)
        match event.body:
            case DeclareFinal() if any(each.mode is Mode.CURRENT and each.complete for each in account.all):
                yield kept(event.entry)
            case DeclareEntity() | UndeclareEntity() if asked is not None and asked.complete and asked.passed:
                yield broken(event.entry, "a change is reported under the id of a Current interest that is complete")
            case UndeclareEntity() if event.interest_id is None and only_listed(event, account):
                yield follows(event.entry, "R32", "B")
            case _:
                pass


def only_listed(event: Event, account: Account) -> bool:
    """Tell whether an undeclaration can be due to nothing but Current interests that are complete."""
    if event.known is None or account.is_due(event) or account.covering(event, *LIVE):
        return False
    return bool(account.covering(event, Mode.CURRENT))


@monitor("ZI-015")
def one_final_for_a_current_future_interest(conversation: Conversation) -> Iterator[Finding]:
    """A CurrentFuture interest gets one D_FINAL."""
    for event, account in replay(conversation):
        asked = account.of(event.interest_id, Mode.CURRENT_FUTURE)
        if asked is not None and isinstance(event.body, DeclareFinal):
            if asked.complete:
                yield broken(event.entry, "a second D_FINAL for a CurrentFuture interest")
            else:
                yield kept(event.entry)


@monitor("ZI-016")
def declarations_after_the_snapshot(conversation: Conversation) -> Iterator[Finding]:
    """What is declared after the snapshot of a CurrentFuture interest has no interest id."""
    yield from updates(conversation, DeclareEntity)


@monitor("ZI-017")
def undeclarations_after_the_snapshot(conversation: Conversation) -> Iterator[Finding]:
    """What is undeclared after the snapshot of a CurrentFuture interest has no interest id."""
    yield from updates(conversation, UndeclareEntity)


def updates(conversation: Conversation, body: type) -> Iterator[Finding]:
    """Judge the interest ids of updates under CurrentFuture.

    A declaration right behind D_FINAL may be a late part of the snapshot, which is another rule's business.
    """
    for event, account in entities(conversation):
        if not isinstance(event.body, body):
            continue
        asked = account.of(event.interest_id, Mode.CURRENT_FUTURE)
        if asked is not None and asked.complete and (asked.passed or body is UndeclareEntity):
            yield broken(event.entry, "an update of a CurrentFuture interest carries an interest id")
        elif event.interest_id is None and any(
            each.complete and each.is_running for each in account.covering(event, Mode.CURRENT_FUTURE)
        ):
            yield kept(event.entry)


@monitor("ZI-018")
def updates_of_a_current_future_interest(conversation: Conversation) -> Iterator[Finding]:
    """Updates come while a CurrentFuture interest runs, and not after its Final."""
    yield from until_final(conversation, Mode.CURRENT_FUTURE)


@monitor("ZI-022")
def updates_of_a_future_interest(conversation: Conversation) -> Iterator[Finding]:
    """Updates come while a Future interest runs, and not after its Final."""
    yield from until_final(conversation, Mode.FUTURE)


def until_final(conversation: Conversation, mode: Mode) -> Iterator[Finding]:
    """Judge updates by whether an interest of a mode still runs, where nothing else can have brought them."""
    pushes = not is_lazy(conversation)
    for event, account in entities(conversation):
        if event.interest_id is not None:
            continue
        pushes = pushes or not any(asked.covers(event) for asked in account.all)
        own = [asked for asked in account.covering(event, mode) if asked.is_clear]
        if any(asked.is_running for asked in own):
            yield kept(event.entry)
        elif own and not account.is_due(event) and not pushes:
            if isinstance(event.body, DeclareEntity):
                yield broken(event.entry, "a declaration comes after the Final")
            elif event.known is not None:
                yield follows(event.entry, "R29", "B")


@monitor("ZI-019")
def nothing_that_exists_for_a_future_interest(conversation: Conversation) -> Iterator[Finding]:
    """A Future interest brings no snapshot: nothing is declared under its id before later questions are answered."""
    for event, account in replay(conversation):
        asked = account.of(event.interest_id, Mode.FUTURE)
        if isinstance(event.body, DeclareEntity) and asked is not None and not asked.passed:
            yield broken(event.entry, "a declaration comes under the id of a Future interest")
        elif isinstance(event.body, DeclareFinal) and asked is None and account.waits(Mode.FUTURE):
            yield kept(event.entry)


@monitor("ZI-020")
def declarations_for_a_future_interest(conversation: Conversation) -> Iterator[Finding]:
    """What a Future interest brings has no interest id."""
    for event, account in entities(conversation):
        if not isinstance(event.body, DeclareEntity):
            continue
        asked = account.of(event.interest_id, Mode.FUTURE)
        if asked is not None and asked.passed:
            yield broken(event.entry, "an update of a Future interest carries an interest id")
        elif event.interest_id is None and any(each.is_running for each in account.covering(event, Mode.FUTURE)):
            yield kept(event.entry)


@monitor("ZI-021")
def no_final_in_future_mode(conversation: Conversation) -> Iterator[Finding]:
    """No D_FINAL answers an interest in Future mode."""
    for event, account in replay(conversation):
        if isinstance(event.body, DeclareFinal) and event.interest_id is not None:
            if account.of(event.interest_id, Mode.FUTURE) is not None:
                yield broken(event.entry, "D_FINAL for a Future interest")
            else:
                yield kept(event.entry)
