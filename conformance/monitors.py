"""Monitors: pure functions that say of what was heard in a session whether a rule is kept, whoever recorded it.

The same monitors judge a live case when it is over, a run of the fuzzer and a session in a capture of millions.

One walk, many visitors
-----------------------

A protocol has half a hundred monitors, and a capture millions of frames. If each monitor replayed a session for itself,
reading would cost fifty times what it has to. So there is one walk over a session (``Monitors.watch``), and monitors
are its visitors: each is called for the messages that it cares about, and for no others. A monitor reads like the
sentence of its rule::

    @monitor("ZI-021", on=received(DeclareFinal))
    def no_final_in_future_mode(event: Event, state: SessionState) -> Observation | None:
        \"\"\"No D_FINAL answers an interest in Future mode.\"\"\"
        if event.interest_id is None:
            return None
        if state.of(event.interest_id, Mode.FUTURE) is not None:
            return broken(event.entry, "D_FINAL for a Future interest")
        return KEPT

What a message means depends on what came before it: which interests run, which snapshot has ended. That is kept once,
in the protocol's ``SessionState`` (``conformance/<protocol>/monitors/state.py``). Visitors see it as it stood *before*
the message and never change it; after the last visitor the walk has it ``see`` the message. So the order of visitors
does not matter, none can spoil what another sees, and a fact that two rules need is computed once.

Some things show only when a session is over: that an answer never came, or what all the answers to a request were
together. After the last message the state tells of those as well (``ending``), and they are visited like messages: a
``SessionEnd``, a request with its answers. A monitor must not conclude from silence before that.

What visitors observe is gathered by rule. Two may look after one rule, one of them at messages and one at the end: what
they observe is summed up together. That a rule is kept is the answer of nearly every visit, in a capture millions of
times, and nobody ever asks where: it is a number (``KEPT``, or how many times) and is counted. What is broken, or
follows a reading, is cited: a ``Finding`` says where in the trace it is seen.

What the walk asks of a protocol
--------------------------------

* Each event has a ``direction`` and a ``form``: what kind of message it is, as something cheap to hash (a class, a
  tuple of texts that are interned or short). Not an ``Enum``, unless its hash is that of its identity: the one that
  Python gives it is a function in Python, and as slow as a visit.
* ``role`` says what the implementation is in this session, where monitors care (a router, a server); else None. Rules
  about servers then cost nothing where a client is judged.
* Selectors (``on``, ``kept_by``) are asked once for each combination of role, direction and form, and the answer is
  remembered. So forms have to be few: what a peer can make up, the word of an unknown command, is no form. What is
  remembered is bounded all the same (``MOST_PLANS``).
* ``kept_by`` names messages that keep a rule by being of their form: nothing is called for them, the walk takes the
  evidence down. "No field stands there twice" is kept by whatever the layout accepts.

Why forms
---------

Most sessions break no rule. That no visitor of a session can find anything wrong depends often on the forms alone, in
their order, and those are columns of the lake (``decoded``). A native pass over the columns can so clear sessions
before any Python runs: it has to know which forms go to which visitors, and ``Monitors.visitors`` says that.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from harness.trace import Direction

MOST_PLANS = 4096
"""Combinations of role, direction and form that are remembered: many more than any protocol has, so that only a peer
that makes up forms gets there, and its sessions are then a little slower rather than the process larger."""


KEPT = 1
"""What a visit returns that saw the rule kept once; a larger number says that it saw so as many times."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One observation that is cited: where in the trace a rule is broken, and what came instead (``ok`` is false).

    ``nth`` is which of the messages there (from 0), ``field`` the field of it that is wrong, if one is. Or, where the
    document leaves a question open, which option of which reading is followed there.
    """

    ok: bool
    entry: int
    what: str = ""
    reading: str = ""
    option: str = ""
    field: str = ""
    nth: int = 0


Observation = int | Finding
"""What bears on a rule: how many times it was seen kept, or what is to be cited."""


def broken(entry: int, what: str, field: str = "", nth: int = 0) -> Finding:
    """Say that the rule is broken here, and by which field of which message, as far as one can say."""
    return Finding(False, entry, what, field=field, nth=nth)


def follows(entry: int, reading: str, option: str) -> Finding:
    """Say which option of a reading is followed here; the profile decides whether that keeps the rule."""
    return Finding(True, entry, "", reading, option)


class Visited(Protocol):
    """What a walk comes by: a message, or what shows at the end of a session."""

    @property
    def direction(self) -> Direction:
        """Who said it; ``RECEIVED`` is what the implementation said."""
        ...

    @property
    def form(self) -> Hashable:
        """What kind of message it is."""
        ...

    @property
    def entry(self) -> int:
        """Where in the trace it stands."""
        ...


class SessionEnd(msgspec.Struct, frozen=True, gc=False):
    """The end of a session, or of what is known of it: nothing more comes, and ``time`` is that of the last message."""

    time: float
    entry: int = -1
    direction: Direction = Direction.RECEIVED

    @property
    def form(self) -> type["SessionEnd"]:
        """The class stands for the kind."""
        return SessionEnd


class WalkState(Protocol):
    """What a protocol keeps of a session while it is walked over."""

    @property
    def role(self) -> Hashable:
        """What the implementation is in this session, as far as monitors care."""
        ...

    def see(self, event: Any) -> None:
        """Take note of a message, after it was visited; nothing of what shows at the end is told."""
        ...

    def ending(self) -> Iterator[Visited]:
        """Yield what shows only now that the last message was seen."""
        ...


class Dialogue(Protocol):
    """What is walked over: a protocol's ``Conversation``."""

    @property
    def events(self) -> Iterable[Any]:
        """The messages of both sides, in order."""
        ...


Selector = Callable[[Hashable, Direction, Any], bool]
"""Tells by role, direction and form whether a monitor cares."""

Visit = Callable[[Any, Any], Observation | Iterable[Observation] | None]
"""Looks at an event and at the state before it, and says what it observes: nothing, one thing, or several."""

V = TypeVar("V", bound=Visit)
S = TypeVar("S", bound=WalkState)


class Monitor(msgspec.Struct, frozen=True):
    """One monitor: the rule that it judges, when it is called, what keeps the rule by itself, and the function."""

    rule: str
    on: Selector
    visit: Visit
    kept_by: Selector | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.visit.__name__


class SessionFindings(msgspec.Struct, frozen=True):
    """What was observed in one session, by rule, in the order of the rules' declaration.

    ``kept`` counts how often each rule was seen kept; ``findings`` are what is cited, in the order of the events.
    """

    kept: dict[str, int]
    findings: dict[str, list[Finding]]


class _Plan(NamedTuple):
    """What happens at events of one form: which selectors count it as evidence, and the visits with their slots."""

    evidence: tuple[int, ...]
    visits: tuple[tuple[int, Visit], ...]


_Plans = tuple[dict[Any, _Plan], dict[Any, _Plan]]
"""By form, for what was received and for what was sent."""


class Monitors(Generic[S]):
    """The monitors of one protocol, in the order of their declaration.

    ``state`` makes the state of a session from a conversation that is over.
    """

    def __init__(self, state: Callable[[Any], S]) -> None:
        self.all: list[Monitor] = []
        self._state = state
        self._rules: dict[str, int] = {}
        """The rules with their slots: where findings are gathered during a walk."""
        self._kept_by: dict[Selector, list[int]] = {}
        """The selectors of messages that keep rules, with the slots of those: monitors that share one are counted
        together."""
        self._plans: dict[Hashable, _Plans] = {}

    def __call__(self, rule: str, *, on: Selector, kept_by: Selector | None = None) -> Callable[[V], V]:
        """Register a function as a monitor of a rule."""

        def register(visit: V) -> V:
            self.all.append(Monitor(rule, on, visit, kept_by))
            slot = self._rules.setdefault(rule, len(self._rules))
            if kept_by is not None:
                self._kept_by.setdefault(kept_by, []).append(slot)
            self._plans.clear()  # they were made without this one
            return visit

        return register

    def __iter__(self) -> Iterator[Monitor]:
        return iter(self.all)

    def visitors(self, role: Hashable, direction: Direction, form: Any) -> list[Monitor]:
        """Return the monitors that are called for a form."""
        return [each for each in self.all if each.on(role, direction, form)]

    def watch(self, conversation: Dialogue) -> SessionFindings:
        """Walk over a conversation once; return what was observed on each rule on which anything was."""
        state = self._state(conversation)
        kept = [0] * len(self._rules)
        found: dict[int, list[Finding]] = {}
        counts = [0] * len(self._kept_by)
        role, see, received = state.role, state.see, Direction.RECEIVED
        of_received, of_sent = self._plans.get(role) or self._of_role(role)
        # Everything in this loop is done for each frame of a capture: no call that can be spared, no attribute twice.
        for is_over in (False, True):
            for event in state.ending() if is_over else conversation.events:
                plans = of_received if event.direction is received else of_sent
                evidence, visits = plans.get(event.form) or self._plan(plans, role, event)
                for number in evidence:
                    counts[number] += 1
                for slot, visit in visits:
                    said = visit(event, state)
                    # The most frequent answers first; to look at ``__class__`` is faster than isinstance.
                    if said is None:
                        continue
                    if said.__class__ is int:
                        kept[slot] += said
                    else:
                        kept[slot] += _cite(said, found.setdefault(slot, []))  # type: ignore[arg-type]
                if not is_over:  # nothing changes any more: what shows at the end sees the state behind all messages
                    see(event)
        # Counted by selector and not by rule: a message keeps a dozen rules by what is the same for all of them.
        for count, slots in zip(counts, self._kept_by.values(), strict=True):
            if count:
                for slot in slots:
                    kept[slot] += count
        rules = [*self._rules]
        return SessionFindings(
            {rule: count for rule, count in zip(rules, kept, strict=True) if count},
            {rules[slot]: found[slot] for slot in sorted(found) if found[slot]},
        )

    def _of_role(self, role: Hashable) -> _Plans:
        if len(self._plans) >= MOST_PLANS:  # roles are few: whoever gets here loses time only
            self._plans.clear()
        return self._plans.setdefault(role, ({}, {}))

    def _plan(self, plans: dict[Any, _Plan], role: Hashable, event: Visited) -> _Plan:
        direction, form = event.direction, event.form
        visitors = self.visitors(role, direction, form)
        plan = _Plan(
            tuple(number for number, selects in enumerate(self._kept_by) if selects(role, direction, form)),
            tuple((self._rules[each.rule], each.visit) for each in visitors),
        )
        if len(plans) < MOST_PLANS:
            plans[form] = plan
        return plan


def _cite(said: Finding | Iterable[Observation], found: list[Finding]) -> int:
    """Add the findings of a visit to those of its rule; return how many times it saw the rule kept besides."""
    if isinstance(said, Finding):
        found.append(said)
        return 0
    kept = 0
    for each in said:
        if isinstance(each, Finding):
            found.append(each)
        else:
            kept += each
    return kept
