"""Making small: of what shows a symptom so much is left out that nothing less is found to show it."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from conformance.histories.shrinking import shrunk
from fuzz.net.confirming import CERTAIN, ConfirmedSuspicion, is_again, shown_in_full
from fuzz.net.moves import (
    EndsSession,
    FuzzMove,
    NetworkTest,
    Opens,
    Says,
    joined,
    spelled_out,
)
from fuzz.net.node_on_trial import DEATH, NodeOnTrial, Reproduced, reproduce
from fuzz.net.symptoms import about
from harness.timing import ANSWER
from vectors.minimising import NoMoreTries, minimise

FEWER_TIMES = 10
"""How often it is played while it is made small."""

SEQUENCE, MESSAGES = 4.0, 2.0
"""Seconds in which a test is made small: as a sequence, and within what it says."""

SEQUENCE_RESTARTS, MESSAGES_RESTARTS = 40, 20
"""Besides, the time of so many restarts: whoever dies with each try of a slow start is to get as many tries."""

GROWING = 3.0
"""How many times as long it may take for what grows, which is played many times in each try."""

TRIES = 200

QUICK_START = 0.25
"""Seconds in which an implementation starts that is started anew for each try; one that is slower, when it has shown
something: whoever has heard much may not show again what a fresh one does."""

HURRY = 0.4
"""Seconds that an answer is waited for while a test is made small: what is found then is shown again in full."""


def made_small(
    node: NodeOnTrial,
    found: ConfirmedSuspicion,
    *,
    thorough: float = 1.0,
    is_known: Callable[[ConfirmedSuspicion], bool] = lambda small: False,
) -> ConfirmedSuspicion | None:
    """Return what shows the same with less; as it is, where nothing smaller does. ``thorough`` stretches the time.

    ``None`` where what was shown once is not shown again, and is not certain by that. What ``is_known`` by a
    short sequence is returned as it is then, marked so: nobody looks into it any further.
    """
    if found.reproduced.is_unplayed:
        node.patience = ANSWER
        shown = shown_in_full(node, found.test, found.times)
        # What brought it to that nobody knows, and it is not about what was said.
        if shown is None or shown.is_unplayed:
            return None if shown is None else found
        found = msgspec.structs.replace(found, reproduced=shown)
    smaller = _Smaller(node, found)
    thorough *= 1 if found.times == 1 else GROWING
    # Who dies takes his time, and would hang until then.
    node.patience = max(node.hurried(HURRY), DEATH if found.symptom.kind == "crash" else 0.0)
    seconds = SEQUENCE + SEQUENCE_RESTARTS * node.restart_took
    tries = round(TRIES * max(1.0, thorough))
    # Whole tests first, of which most only came before.
    tests = shrunk(found.tests or (found.test,), smaller.fail_together, tries=tries, seconds=seconds * thorough)
    test = _shortest_beginning(joined(tests), smaller.fails, time.monotonic() + seconds * thorough)
    test = shrunk(test, smaller.fails, _simpler, tries=tries, seconds=seconds * thorough)
    early = ConfirmedSuspicion(test, found.times, _told(node, test, found.reproduced), is_known=True)
    if is_known(early):
        return early
    smaller.is_fresh = False  # something else may have been played, to know
    seconds = MESSAGES + MESSAGES_RESTARTS * node.restart_took
    # What makes it smaller may have taken a session's opening, and left what the session would do.
    test = spelled_out(smaller.with_less_said(test, seconds * thorough))
    node.patience = ANSWER
    # What was tried before may have helped: only a fresh instance proves it.
    again = shown_in_full(node, test, found.times)
    is_certain = found.symptom.kind in CERTAIN
    if again is None or (is_certain and not is_again(again, found.reproduced)):
        test = spelled_out(found.test)
        again = found.reproduced if is_certain else shown_in_full(node, test, found.times)
    if again is None:
        return None
    return ConfirmedSuspicion(test, found.times, _told(node, test, again))


def _told(node: NodeOnTrial, test: NetworkTest, shown: Reproduced) -> Reproduced:
    """Return what a small test shows with what it is about."""
    what = about(test, node.target.layout, node.suite.harness.layout)
    return msgspec.structs.replace(shown, symptom=msgspec.structs.replace(shown.symptom, about=what))


class _Smaller:
    """Tries smaller tests, on one instance as long as nothing shows where it takes long to start another."""

    def __init__(self, node: NodeOnTrial, found: ConfirmedSuspicion) -> None:
        self._node, self._found = node, found
        self.is_fresh = False
        """Whether nothing has shown of the instance that runs."""
        self._tried: dict[NetworkTest, bool] = {}

    def fails(self, test: NetworkTest) -> NetworkTest:
        """Return a test if it shows the same; none of it otherwise."""
        if (known := self._tried.get(test)) is not None:
            return test if known else ()
        is_started_anew = not self.is_fresh
        shows = any(isinstance(move, Opens) for move in test) and self._shows_the_same(test)
        # Whoever has heard much may not show what a fresh one does.
        if shows or is_started_anew:
            self._tried[test] = shows
        return test if shows else ()

    def _shows_the_same(self, test: NetworkTest) -> bool:
        times = min(FEWER_TIMES, self._found.times)
        shown = reproduce(self._node, test, times=times, fresh=not self.is_fresh)
        # Whoever has shown something is not what he was, but for a broken rule; growth has its own account from the
        # start on.
        is_as_before = shown is None or shown.symptom.kind == "rule"
        self.is_fresh = self._found.times == 1 and is_as_before and self._node.restart_took > QUICK_START
        return shown is not None and is_again(shown, self._found.reproduced)

    def fail_together(self, tests: tuple[NetworkTest, ...]) -> tuple[NetworkTest, ...]:
        """Return some tests if they show the same, one after the other; none of them otherwise."""
        return tests if self.fails(joined(tests)) else ()

    def with_less_said(self, test: NetworkTest, seconds: float) -> NetworkTest:
        """Return a test whose messages are as small as was found in some seconds."""
        deadline = time.monotonic() + seconds
        for place, move in enumerate(test):
            if not isinstance(move, Says) or move.level == "raw":
                continue
            layout = self._node.target.layout if move.level == "message" else self._node.suite.harness.layout
            for at in range(len(move.data)):
                if time.monotonic() < deadline:
                    test = self._with_less_in(test, place, at, layout, deadline)
        return test

    def _with_less_in(self, test: NetworkTest, place: int, at: int, layout: str, deadline: float) -> NetworkTest:
        """Return a test with less in one message."""
        said = test[place]
        assert isinstance(said, Says)

        def keeps(data: bytes) -> bool:
            if time.monotonic() > deadline:
                raise NoMoreTries
            return bool(self.fails(_with(test, place, at, data)))

        return _with(test, place, at, minimise(layout, said.data[at], keeps, deadline - time.monotonic()))


def _shortest_beginning(test: NetworkTest, fails: Callable[[NetworkTest], NetworkTest], deadline: float) -> NetworkTest:
    """Return as much of a test, from its beginning, as shows what all of it does: by halves, until a deadline.

    Behind the message that does it nothing more is needed.
    """
    # Each place behind a move, and behind each message of a move.
    places = [(at, said) for at, move in enumerate(test) for said in range(1, _said(move) + 1)]
    shown, least, most = test, 0, len(places) - 1
    while least < most and time.monotonic() < deadline:
        at, said = places[middle := (least + most) // 2]
        if beginning := fails((*test[:at], _as_far_as(test[at], said))):
            shown, most = beginning, middle
        else:
            least = middle + 1
    return shown


def _said(move: FuzzMove) -> int:
    return len(move.data) if isinstance(move, Says) and move.data else 1


def _as_far_as(move: FuzzMove, said: int) -> FuzzMove:
    return msgspec.structs.replace(move, data=move.data[:said]) if isinstance(move, Says) else move


def _with(test: NetworkTest, place: int, at: int, data: bytes) -> NetworkTest:
    move = test[place]
    assert isinstance(move, Says)
    said = (*move.data[:at], data, *move.data[at + 1 :])
    return (*test[:place], msgspec.structs.replace(move, data=said), *test[place + 1 :])


def _simpler(move: FuzzMove) -> Sequence[FuzzMove]:
    return list(_simpler_moves(move))


def _simpler_moves(move: FuzzMove) -> Iterator[FuzzMove]:
    match move:
        case Opens(who, how) if how:
            yield Opens(who)
        case Says(data=data, cut=cut):
            if len(data) > 1:
                yield msgspec.structs.replace(move, data=data[: len(data) // 2])
                yield msgspec.structs.replace(move, data=data[len(data) // 2 :])
                for place in range(len(data)):
                    yield msgspec.structs.replace(move, data=data[:place] + data[place + 1 :])
            if cut:
                yield msgspec.structs.replace(move, cut=0)
        case EndsSession(who, verb) if verb != "drop":
            yield EndsSession(who, "drop")
