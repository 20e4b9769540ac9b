"""Lanes: processes beside this one that play cases side by side, each with an instance of its own.

With a node that is far away a play is nothing but waiting. So as many are played at once as the way there is long; what
each comes to is the same, as no two plays share an instance.
"""

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol
from warnings import catch_warnings, simplefilter

import msgspec

from conformance.cases import Case
from conformance.gate.messages import ImplementationNotStarted, Message

EACH = 0.0125
"""Seconds of a round trip for each lane: half as long, and a second one would save less than its start costs."""

MOST = 32
"""Lanes at most, and so instances of a node: at 400 ms they play in half a minute what takes a quarter of an hour."""

ENDING = 5.0
"""Seconds for a lane to stop its instance and end."""

# What is there already need not be loaded again: a lane begins in milliseconds, and shares the memory.
_FORK = get_context("fork")


class LaneLost(Exception):
    """The process that played a case has ended, and not said what the case came to."""


class Plays(Protocol):
    """What plays cases, in a lane of its own."""

    def play(self, case: Case) -> Message:
        """Play one case."""
        ...

    def close(self) -> None:
        """Stop the implementation."""
        ...


MakePlayer = Callable[[Callable[[str], None]], Plays]
"""Makes what plays, given whom to tell of progress."""


class _Lane(msgspec.Struct):
    """A process that plays, and the place of the case that it has been given, if any; ``proven`` once it has played."""

    process: BaseProcess
    place: int | None = None
    proven: bool = False


def lanes_for(round_trip: float, cases: int) -> int:
    """Return how many of some cases are played side by side with a node that is so many seconds away."""
    return max(1, min(MOST, int(round_trip / EACH), cases))


class Lanes:
    """Plays some cases with a number of lanes, in their order, but those of many examples first.

    Threads of this process stand still in them: no instance may run here when they begin.
    """

    def __init__(self, make: MakePlayer, cases: Sequence[Case], count: int, progress: Callable[[str], None]) -> None:
        self._cases = list(cases)
        self._places = {case.name: place for place, case in enumerate(self._cases)}
        self._progress = progress
        # What takes longest first: the others are played meanwhile, and nobody waits for it at the end.
        order = sorted(range(len(self._cases)), key=lambda place: not self._cases[place].is_searched)
        self._waiting = deque(order)
        self._said: dict[int, Message | LaneLost] = {}
        self._lanes: dict[Connection, _Lane] = {}
        for _ in range(count):
            self._begin(make)
        self._hand_out()

    def play(self, case: Case) -> Message:
        """Return what a case comes to, once it was played; ``LaneLost`` when that cannot be known."""
        place = self._places[case.name]
        while place not in self._said:
            self._listen()
        said = self._said[place]
        if isinstance(said, LaneLost):
            raise said
        return said

    def close(self) -> None:
        """End all lanes, whatever they are about; once is enough."""
        lanes, self._lanes = self._lanes, {}
        for connection, lane in lanes.items():
            self._release(connection)
            if lane.place is not None:
                lane.process.terminate()
        for lane in lanes.values():
            lane.process.join(ENDING)
            if lane.process.is_alive():
                lane.process.kill()

    def _begin(self, make: MakePlayer) -> None:
        ours, its = _FORK.Pipe()
        # It has copies of the ends of those before it, and would keep them from noticing that this process has died.
        foreign = [*self._lanes, ours]
        process = _FORK.Process(target=_play_all, args=(its, foreign, make, self._cases), daemon=True)
        with catch_warnings():
            # That threads do not come along: a progress bar may have one, which no lane needs.
            simplefilter("ignore", DeprecationWarning)
            process.start()
        its.close()
        self._lanes[ours] = _Lane(process)

    def _hand_out(self) -> None:
        """Give a case to each lane that has none; who gets none any more may stop its instance.

        Not yet, while another may still turn out not to start, and give its case back.
        """
        settled = all(lane.proven for lane in self._lanes.values() if lane.place is not None)
        for connection, lane in [*self._lanes.items()]:
            if lane.place is not None:
                continue
            if self._waiting:
                lane.place = self._waiting.popleft()
                with suppress(OSError):  # it has ended, which is noticed in listening
                    connection.send(lane.place)
            elif settled:
                self._release(connection)
                lane.process.join(0)
                self._lanes.pop(connection)

    def _listen(self) -> None:
        """Wait until some lane has something to say."""
        for connection in wait([*self._lanes]):
            assert isinstance(connection, Connection)
            try:
                said = connection.recv()
            except (EOFError, OSError):
                self._lost(connection)
                continue
            if isinstance(said, str):
                self._progress(said)
            else:
                self._ended(connection, said)
        self._hand_out()

    def _ended(self, connection: Connection, said: Message) -> None:
        """Take note of what a case came to."""
        lane = self._lanes[connection]
        place, lane.place = lane.place, None
        assert place is not None
        if isinstance(said, ImplementationNotStarted) and len(self._lanes) > 1:
            # So many at once are more than it can stand, or the machine: those that run do the work.
            self._waiting.appendleft(place)
            self._lanes.pop(connection)
            self._release(connection)
            return
        lane.proven = True
        self._said[place] = said

    def _lost(self, connection: Connection) -> None:
        lane = self._lanes.pop(connection)
        lane.process.join(ENDING)
        if lane.place is not None:
            why = f"the process that played it has ended with status {lane.process.exitcode}"
            self._said[lane.place] = LaneLost(why)
        if not self._lanes:
            self._said.update((place, LaneLost("all processes that play have ended")) for place in self._waiting)

    def _release(self, connection: Connection) -> None:
        with suppress(OSError):
            connection.send(None)
        connection.close()


def _play_all(connection: Connection, foreign: Sequence[Connection], make: MakePlayer, cases: Sequence[Case]) -> None:
    """Play what is asked for until no more is, or nobody asks any more."""
    # Ctrl-C is for the process that collects, which ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    for each in foreign:
        each.close()
    player = make(connection.send)
    try:
        while (place := connection.recv()) is not None:
            connection.send(player.play(cases[place]))
    except (EOFError, OSError):
        pass  # nobody is there any more to be told
    finally:
        player.close()
        # At once: what would be done at the end of a process is for the one that this is a copy of.
        os._exit(0)


def _leave(*_: Any) -> None:
    sys.exit(1)
