"""State machines of Hypothesis over the moves of network tests: they search, and shrink, in anybody's own pytest.

What is said comes of the target's own generators, whose choices are Hypothesis's. So what a test says shrinks as its
moves do: towards what somebody sends who speaks the protocol well.
"""

import sys
import textwrap
import time
from collections.abc import Callable
from functools import cache, wraps
from random import Random
from typing import Any, ClassVar, NoReturn

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, precondition, rule

from fuzz.net.finding import annotated
from fuzz.net.fuzzed_node import UnwellNode
from fuzz.net.moves import EndsSession, EndVerb, FuzzMove, Level, Listens, NetworkTest, Opens, Says
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.symptoms import Symptom, kinds_of
from fuzz.net.targets import FuzzTarget
from harness.errors import StartFailed
from harness.links.framing import Framing
from vectors.mutation import Mutator
from wire.catalogue import layout as find

SETTINGS = settings(
    # Time is the node's: a run may have to wait, for what does not come or for a fresh start.
    deadline=None,
    suppress_health_check=list(HealthCheck),
    # Lines of the tester explain nothing of somebody's node, and to find them costs many runs.
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    # To make one failure small takes long enough.
    report_multiple_bugs=False,
    stateful_step_count=20,
)
"""How a machine's ``TestCase`` searches where nobody says how."""

CROWD = 4
"""Sessions that are there at once, at most."""

CUTS = (*(0,) * 12, 1, 3, 16, 100)
"""Bytes of the pieces in which something is said, 0 for all at once."""

MESSAGES = 3
"""Messages that are said at once, at most."""

FINE = 1 << 16
"""Into how many numbers the interval from 0 to 1 is divided: shares of what is drawn are no finer than a thousandth."""

SHOWN = 400
"""Bytes that a failing example shows whole; the message of the failure has all of them."""


class DrawnRandom(Random):
    """Random numbers that Hypothesis draws, evenly spread; they shrink to zero, and choices to the first.

    Not ``strategies.randoms``, which prefers extreme numbers and ignores weights: generators mean their shares, and
    take infinity for none of the numbers that they may get.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(0)
        self._draw = draw

    def random(self) -> float:
        """Return a number from 0 to below 1."""
        return self._draw(_below(FINE)) / FINE

    def getrandbits(self, k: int, /) -> int:
        """Return a number of so many bits."""
        return self._draw(_below(1 << k))

    def randbytes(self, n: int) -> bytes:
        """Return some bytes."""
        return self._draw(st.binary(min_size=n, max_size=n))

    # What choices of one in several are made with. Python's own would draw again what is too large.
    def _randbelow(self, n: int) -> int:
        return self._draw(_below(n)) if n > 1 else 0


@cache
def _below(number: int) -> st.SearchStrategy[int]:
    return st.integers(0, number - 1)


class SaidBytes(bytes):
    """Bytes that are said, shown in hex and by the kinds of messages that a layout sees in them."""

    layout: str = ""

    def __repr__(self) -> str:
        digits = self[:SHOWN].hex() + ("…" if len(self) > SHOWN else "")
        kinds = " + ".join(kinds_of(self.layout, self)) if self.layout else ""
        return f"{digits!r} ({kinds})" if kinds else repr(digits)


def said(make: Callable[[Random], bytes], layout: str = "") -> st.SearchStrategy[SaidBytes]:
    """Return the strategy of what a generator makes."""

    @st.composite
    def drawn(draw: st.DrawFn) -> SaidBytes:
        made = SaidBytes(make(DrawnRandom(draw)))
        made.layout = layout
        return made

    return drawn()


def _size(test: NetworkTest) -> tuple[int, int]:
    return len(test), sum(len(data) for move in test if isinstance(move, Says) for data in move.data)


@cache
def _unwell(rough: str) -> type[UnwellNode]:
    """Return the exception of a symptom: Hypothesis takes failures of one class, at one place, for the same."""
    return type(UnwellNode.__name__, (UnwellNode,), {"__doc__": rough})


class _Enough(BaseException):
    """Hypothesis is to end: it goes on for minutes, and catches whatever is an exception."""


class MachineTrial:
    """The node of a class of machines, and what their runs have come to.

    ``launch`` starts the node, ``head`` is the line of code that does, for who copies a failing test. Making a failure
    small ends ``shrinking`` seconds after the first.
    """

    def __init__(self, launch: Callable[[], NodeOnTrial], head: str, shrinking: float) -> None:
        self._launch, self._head, self._shrinking = launch, head, shrinking
        self._node: NodeOnTrial | None = None
        self._forget()

    def _forget(self) -> None:
        self._is_worn = False
        self._seen: dict[NetworkTest, Symptom | None] = {}
        self._failed: list[NetworkTest] = []
        self._until = float("inf")

    def start(self) -> None:
        """Start the node, and forget what has shown; ``StartFailed`` when it does not come up."""
        self._forget()
        self._running()

    def run(self, search: Callable[[], None]) -> None:
        """Let Hypothesis search; ``UnwellNode`` when it finds something."""
        __tracebackhide__ = True
        try:
            search()
        except _Enough:
            pass
        else:
            return
        self._fail(min(self._failed, key=_size))

    def stop(self) -> None:
        """End the node."""
        node, self._node = self._node, None
        if node is not None:
            node.stop()

    def judge(self, test: NetworkTest) -> None:
        """Play the test of a run; ``UnwellNode`` when the node does not bear it."""
        __tracebackhide__ = True
        # Most that Hypothesis tries to make a failure small comes to a test that was played already.
        if test not in self._seen:
            if time.monotonic() > self._until:
                raise _Enough
            self._seen[test] = self._played(test)
        if self._seen[test] is None:
            return
        if not self._failed:
            self._until = time.monotonic() + self._shrinking
        self._failed.append(test)
        self._fail(test)

    def _fail(self, test: NetworkTest) -> NoReturn:
        __tracebackhide__ = True
        seen = self._seen[test]
        assert seen is not None
        # All from this line: by it, and the class, Hypothesis knows that a smaller test shows the same.
        raise _unwell(seen.rough)(seen, f"\nIt was told:\n\n{self._code(test)}")

    def _played(self, test: NetworkTest) -> Symptom | None:
        """Play a test, on a fresh instance as well if those before it may have a part in what shows."""
        __tracebackhide__ = True
        try:
            seen = self._play(test)
            before = self._running().played - 1
            if seen is None or seen.kind == "rule" or before <= 0 or self._is_known(seen):
                return seen
            if (again := self._play(test)) is not None or self._failed:
                return again
        except StartFailed:
            # Nobody has died, then. Otherwise what was seen stands, as small as it is by now.
            if not self._failed:
                raise
            raise _Enough from None
        # Hypothesis will say that it is flaky, which it is: it wants a campaign, which looks into what came before.
        behind = f"\nIt was seen behind {before} tests, and not on a fresh instance: goldwire fuzz net looks into that."
        raise _unwell(seen.rough)(seen, behind)

    def _is_known(self, seen: Symptom) -> bool:
        return seen.says_where and any(known is not None and known.rough == seen.rough for known in self._seen.values())

    def _play(self, test: NetworkTest) -> Symptom | None:
        node = self._running()
        if self._is_worn:
            node.restart()
        _, seen = node.play(test)
        # Who is at fault is not what he was; who has broken a rule still is.
        self._is_worn = seen is not None and seen.kind != "rule"
        return seen

    def _running(self) -> NodeOnTrial:
        if self._node is None:
            self._node = self._launch()
        return self._node

    def _code(self, test: NetworkTest) -> str:
        layout = self._running().target.layout
        lines = [line for move in test for line in annotated(move, layout, whole=True)]
        return textwrap.indent("\n    ".join([self._head, *lines, "node.is_well()"]), "    ")


class FuzzMachine(RuleBasedStateMachine):
    """A machine whose runs are network tests: its rules draw the moves, which are played when the run ends.

    So what is not to be judged, or was judged before, costs no time of the node, and Hypothesis makes small what fails
    as fast as it can. All runs of a class have one node, which is started before the first and ended after the last,
    where the machine's ``TestCase`` is played.
    """

    trial: ClassVar[MachineTrial]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        trial = cls.trial
        case: Any = cls.TestCase
        searched = case.runTest

        @wraps(searched)
        def run(self: Any) -> None:
            __tracebackhide__ = True
            trial.run(lambda: searched(self))

        case.settings, case.runTest = SETTINGS, run
        case.setUpClass = lambda: trial.start()
        case.tearDownClass = lambda: trial.stop()

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[FuzzMove] = []
        self._there = 0
        self._opened = 0
        self._outer = sys.exc_info()[1]

    def do(self, move: FuzzMove) -> None:
        """Add a move to the test."""
        self.moves.append(move)

    def opened(self, how: str = "") -> str:
        """Open a session; return its name, which is that in Hypothesis's example."""
        name = f"session_{self._opened}"
        self._opened += 1
        self._there += 1
        self.do(Opens(name, how))
        return name

    def said(self, session: str, data: list[SaidBytes], level: Level, cut: int = 0) -> None:
        """Say something."""
        self.do(Says(session, tuple(bytes(each) for each in data), level, cut))

    def ended(self, session: str, verb: EndVerb) -> None:
        """End a session."""
        self._there -= 1
        self.do(EndsSession(session, verb))

    @property
    def is_crowded(self) -> bool:
        """Whether there are as many sessions as there may be."""
        return self._there >= CROWD

    def teardown(self) -> None:
        """Play the test, unless the run was cut short: by Hypothesis, or by what a rule of somebody's has raised."""
        __tracebackhide__ = True
        if sys.exc_info()[1] is self._outer:
            self.trial.judge(tuple(self.moves))


def machine(
    name: str, target: FuzzTarget, framing: Framing | None, node: MachineTrial, frames: str
) -> type[FuzzMachine]:
    """Return a machine for a target; ``framing`` is that of its links, None for datagrams, ``frames`` their layout."""
    ways = tuple(target.ways)
    messages, texts = said(target.message, target.layout), said(target.text, target.layout)
    mutated = said(lambda random: Mutator(find(target.layout), random).mutate(target.message(random))[0], target.layout)
    a_frame = said(target.frame, frames)
    cuts = st.sampled_from(CUTS)

    class Machine(FuzzMachine):
        trial = node
        session = Bundle("session")

        @initialize(target=session)
        def open(self) -> str:
            return self.opened()

        @precondition(lambda self: not self.is_crowded)
        @rule(target=session, how=st.sampled_from(("", *ways)))
        def open_another(self, how: str) -> str:
            return self.opened(how)

        @rule(session=session, data=st.lists(messages, min_size=1, max_size=MESSAGES), cut=cuts)
        def say(self, session: str, data: list[SaidBytes], cut: int) -> None:
            self.said(session, data, "message", cut)

        @rule(session=session, data=st.lists(texts, min_size=1, max_size=MESSAGES))
        def say_broken_text(self, session: str, data: list[SaidBytes]) -> None:
            self.said(session, data, "message")

        @rule(session=session, data=st.lists(mutated, min_size=1, max_size=MESSAGES))
        def say_mutated(self, session: str, data: list[SaidBytes]) -> None:
            self.said(session, data, "message")

        @rule(session=session, frame=a_frame)
        def send_frame(self, session: str, frame: SaidBytes) -> None:
            self.said(session, [frame], "frame")

        @rule(session=session)
        def listen(self, session: str) -> None:
            self.do(Listens(session))

        @rule(session=consumes(session), verb=st.sampled_from(("close", "drop", "abort")))
        def end(self, session: str, verb: EndVerb) -> None:
            self.ended(session, verb)

    made: type[FuzzMachine] = Machine
    if framing is not None:
        raw = _raw(target, framing)

        class StreamMachine(Machine):
            @rule(session=Machine.session, data=raw, cut=cuts)
            def send_raw(self, session: str, data: SaidBytes, cut: int) -> None:
                self.said(session, [data], "raw", cut)

        made = StreamMachine
    made.__name__ = made.__qualname__ = name
    return made


def _raw(target: FuzzTarget, framing: Framing) -> st.SearchStrategy[SaidBytes]:
    """Return the strategy of bytes of a stream: frames that are cut or lied about, or no frames at all."""

    @st.composite
    def changed(draw: st.DrawFn) -> SaidBytes:
        data = b"".join(map(framing.encode, draw(st.lists(said(target.frame), min_size=1, max_size=MESSAGES))))
        at = draw(_below(len(data)))
        if draw(st.booleans()):
            return SaidBytes(data[:at])
        return SaidBytes(data[:at] + draw(st.binary(max_size=2)) + data[at + 1 :])

    return st.binary(min_size=1, max_size=64).map(SaidBytes) | changed()
