"""Playing: a test against an instance that runs, and what its answers show."""

import hashlib
import math
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any

import msgspec

from fuzz.net.moves import EndsSession, FuzzMove, GivesCommand, Listens, NetworkTest, Opens, Says, WaitsAWhile
from fuzz.net.targets import FuzzedSession, FuzzTarget
from harness.errors import ControlUnanswered, HarnessError
from harness.iuts.instance import Instance
from harness.trace import Trace

Feature = Hashable
"""Something that a test has come to; whoever comes to a new one is kept."""


def digest(feature: Feature) -> int:
    """Return a feature as a number that is the same in each process and on each machine."""
    return int.from_bytes(hashlib.blake2b(repr(feature).encode(), digest_size=8).digest())


SETTLING = 0.02
"""Seconds in which a session is answered at last, or it is not waited for: silence is the service's matter to judge."""

UNHURRIED = 10 * SETTLING
"""Seconds for the same where a test is played to show again what it once has shown, on a machine that may be busier."""

QUICK = 0.004
"""Seconds that are waited at least, however quick the answers are that came before."""

SLOWER = 6.0
"""How many times the slowest of the last answers the next one may take, before it is not waited for."""

LAST_ANSWERS = 100
"""Answers by which it is known how long the next one takes at most."""

ROUND_TRIPS = 20.0
"""Of the round trips that were measured, as many more: the slowest answers of a far node are no silence."""

SLOW = 0.02
"""Seconds from which on it counts how long an answer took, in powers of two: below, the machine says more than it."""


class PlayedTest(msgspec.Struct, frozen=True):
    """What was seen of a test: the trace, what it came to by numbers and in words, the node with its conversations.

    ``moves`` are those that were made: who has ended says nothing more. Commands are among them to whom none could be
    given any more.
    """

    trace: Trace
    names: dict[int, str]
    node: Any
    moves: NetworkTest = ()

    @property
    def features(self) -> frozenset[int]:
        """What it came to."""
        return frozenset(self.names)


class TestPlayer:
    """Plays tests on one instance, each with sessions of its own.

    It learns how long answers take, and waits for the next ones accordingly.
    """

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(self, target: FuzzTarget, instance: Instance, protocol: str, transport: str) -> None:
        self._target, self._instance = target, instance
        self._protocol, self._transport = protocol, transport
        self._answers = deque[float](maxlen=LAST_ANSWERS)
        self.settling = SETTLING
        """Seconds that an answer may take at most, before they are stretched as all waits are."""

    def play(self, test: NetworkTest) -> PlayedTest:
        """Play a test; raises nothing for what the implementation does."""
        begun = self.begin()
        try:
            for move in test:
                begun.do(move)
            return begun.settled()
        finally:
            begun.close()

    def begin(self) -> "TestInPlay":
        """Begin a test whose moves come one after the other."""
        trace = Trace(self._protocol, self._transport, self._instance.clock)
        return TestInPlay(self._target, self._instance, trace, self._answers, self.settling)


class TestInPlay:
    """A test in the course of being played; whoever began it closes it."""

    __test__ = False  # pytest takes a class whose name begins so for a class of tests

    def __init__(
        self, target: FuzzTarget, instance: Instance, trace: Trace, answers: deque[float], settling: float
    ) -> None:
        self._target, self._instance, self._trace, self._settling = target, instance, trace, settling
        self._node = target.node(instance, trace)
        self._answers = answers
        self._sessions: dict[str, FuzzedSession] = {}
        self._silent: set[str] = set()
        self._last: dict[str, str] = {}
        self._made: list[FuzzMove] = []
        self._is_commanded = True
        """Whether it takes control lines, as far as was seen: who hangs does not, and each would be waited for."""
        self.features: set[Feature] = set()

    def settled(self) -> PlayedTest:
        """Let all sessions be answered that are still there; return what was seen of the test."""
        for session in self._there():
            session.ask()
        began = self._instance.clock.now()
        for who in self._sessions:
            self._listen(who, began)
        self._look("settles", began)
        return PlayedTest(
            self._trace, {digest(each): str(each) for each in self.features}, self._node, tuple(self._made)
        )

    def close(self) -> None:
        """End all of its sessions."""
        self._node.close()

    def do(self, move: FuzzMove) -> None:
        """Make a move, and read what has come."""
        began = self._instance.clock.now()
        if isinstance(move, Says | Listens | EndsSession) and not self._is_there(move.who):
            return
        self._made.append(move)
        match move:
            case Opens(who, how):
                self._open(who, how)
            case Says(who, data, level, cut):
                self._sessions[who].say(data, level, cut)
            case Listens(who):
                self._sessions[who].ask()
                self._listen(who, began)
            case EndsSession(who, verb):
                self._sessions[who].end(verb)
            case WaitsAWhile(seconds):
                for session in list(self._there())[:1]:
                    session.catch_up(seconds)
            case GivesCommand(verb, arguments) if self._is_commanded:
                self._command(verb, arguments)
        self._look(_kind(move), began)

    def _listen(self, who: str, began: float) -> None:
        """Wait for what a session has asked."""
        session = self._sessions[who]
        if session.is_over:
            return
        # From here, not from when it was asked: others may have been waited for meanwhile, in vain.
        since = self._instance.clock.now()
        # Once in a test: behind half a frame, for one, nobody answers, and each time that would be waited for in full.
        answered = session.listen(began if who in self._silent else began + self.patience)
        if answered:
            self._silent.discard(who)
            self._answers.append(self._instance.clock.now() - since)
        else:
            self._silent.add(who)

    @property
    def patience(self) -> float:
        """Seconds in which an answer comes, or is not waited for."""
        timing = self._instance.timing
        usual = self._settling
        if len(self._answers) == LAST_ANSWERS:
            usual = min(usual, max(QUICK, SLOWER * max(self._answers)))
        return usual * timing.scale + ROUND_TRIPS * timing.round_trip

    def _open(self, who: str, how: str) -> None:
        if who in self._sessions:
            self._sessions.pop(who).end("drop")
        self._silent.discard(who)
        try:
            self._sessions[who] = self._target.session(self._node, how)
        except HarnessError:
            self.features.add("no session")

    def _command(self, verb: str, arguments: tuple[str, ...]) -> None:
        try:
            self._node.command(verb, *arguments)
        except HarnessError as error:
            self._is_commanded = not isinstance(error, ControlUnanswered)

    def _is_there(self, who: str) -> bool:
        return who in self._sessions and not self._sessions[who].is_over

    def _there(self) -> Iterator[FuzzedSession]:
        return (session for session in self._sessions.values() if not session.is_over)

    def _look(self, kind: str, began: float) -> None:
        """Note what a move came to, of each session."""
        took = self._instance.clock.now() - began
        if took > SLOW and kind not in ("pauses", "opens"):
            self.features.add((kind, round(math.log2(took))))
        for who, session in self._sessions.items():
            if not session.is_over:
                session.catch_up()
            # Each answer by itself: of what comes together, and to which move, there is so much that most tests would
            # come to something new, and be kept.
            for answer in session.answers():
                self.features |= {(session.state(), answer), (self._last.get(who, ""), answer)}
                self._last[who] = answer


def _kind(move: FuzzMove) -> str:
    match move:
        case Says(level=level):
            return level
        case EndsSession(verb=verb):
            return verb
        case Opens(how=how):
            return f"opens {how}"
        case _:
            return type(move).__name__.lower()
