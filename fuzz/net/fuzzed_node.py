"""A node under fuzzing as a program has it, move by move: what regressions of findings and state machines speak to.

Moves are played as a campaign plays them, on an implementation of its own, beside sessions that use its service and do
nothing wrong. ``is_well`` tells whether all of that was borne.
"""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from conformance.catalogue.rules import Profile
from conformance.suite import Suite
from fuzz.net.expected_findings import expected_of
from fuzz.net.growth_trial import GrowthTrial
from fuzz.net.moves import EndsSession, FuzzMove, GivesCommand, Level, Listens, Opens, Says, WaitsAWhile
from fuzz.net.node_on_trial import NodeOnTrial
from fuzz.net.playing import TestInPlay
from fuzz.net.symptoms import KINDS, Symptom
from fuzz.net.targets import StagedTarget, load
from fuzz.net.worker import usual_transport
from harness.errors import BadDescription
from harness.iuts.description import Description, resolve
from harness.iuts.peer_process import as_process
from harness.iuts.versions import with_version
from harness.links.transports import known_transport


class UnwellNode(AssertionError):
    """A node bears something badly; the message says what was seen."""

    def __init__(self, symptom: Symptom, behind: str = "") -> None:
        super().__init__(in_sentences(symptom) + behind)
        self.symptom = symptom


def in_sentences(symptom: Symptom) -> str:
    """Return what was seen in a sentence, and the last that the implementation printed."""
    rule = f"{symptom.rule}: " if symptom.rule else ""
    said = f"{KINDS[symptom.kind]}: {rule}{symptom.what}"
    return said + (f"\nit printed last:\n{textwrap.indent(symptom.output, '  ')}" if symptom.output else "")


class FuzzedNode:
    """An implementation that runs, and is told whatever one likes; a context manager that ends it.

    What is told up to ``is_well`` is one test: its sessions end there. Nothing that the implementation does raises an
    exception before. One that was not well is started anew for the next test.
    """

    def __init__(self, node: NodeOnTrial) -> None:
        self.node = node
        self._test: TestInPlay | None = None
        self._seen: Symptom | None = None
        self._is_worn = False
        self._opened = 0
        self.tests = 0
        """Tests that have ended so far."""

    # --- moves ------------------------------------------------------------------------------------------------

    def session(self, how: str = "") -> "FuzzedNodeSession":
        """Open a session; ``how`` is one of the ways that the protocol knows, its usual one by default."""
        ways = self.node.target.ways
        # A target that stages its tests says more in it than a way: each of its regressions has it.
        if how and how not in ways and not isinstance(self.node.target, StagedTarget):
            raise BadDescription(f"no session is opened as {how!r}: there are {', '.join(ways)}")
        self._opened += 1
        session = FuzzedNodeSession(self, f"session_{self._opened}")
        self.do(Opens(session.name, how))
        return session

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.do(WaitsAWhile(seconds))

    def command(self, verb: str, *arguments: str) -> None:
        """Tell the implementation to act, by a control line (docs/iut.md)."""
        self.do(GivesCommand(verb, arguments))

    def do(self, move: FuzzMove) -> None:
        """Make a move of a test."""
        # Of a node that was seen to be unwell already, no more is learnt.
        if self._seen is None and (test := self._begun()) is not None:
            test.do(move)

    def times(self, count: int) -> Iterator[int]:
        """Yield as often as said, each time with a test of its own: what it takes of the machine must not grow.

        More often where it seems to grow (``fuzz.net.growth_trial``).
        """
        trial = GrowthTrial(self.node.takes, count)
        for number in trial.rounds():
            yield number
            self._end()
            if self._seen is not None:
                return
        self._note(trial.symptom)

    # --- what is seen -----------------------------------------------------------------------------------------

    def is_well(self) -> None:
        """Assert that the node is well after all that it was told; ``AssertionError`` says what is wrong with it."""
        # Also one that was told nothing: it is to serve.
        self._begun()
        self._end()
        seen, self._seen = self._seen, None
        if seen is not None:
            raise UnwellNode(seen)

    def stop(self) -> None:
        """End the implementation, as far as it is ours to end."""
        if (test := self._taken()) is not None:
            test.close()
        self.node.stop()

    def _begun(self) -> TestInPlay | None:
        """Return the test in play; None where none can be played, as nobody is served."""
        if self._test is None and self._seen is None:
            if self._is_worn:
                self.node.restart()
                self._is_worn = False
            begun = self.node.begin()
            if isinstance(begun, Symptom):
                self._note(begun)
            else:
                self._test = begun
        return self._test

    def _taken(self) -> TestInPlay | None:
        test, self._test = self._test, None
        self.tests += 1
        return test

    def _end(self) -> None:
        if (test := self._taken()) is None:
            return
        try:
            played = test.settled()
        finally:
            test.close()
        self._note(self.node.look_at(played))

    def _note(self, seen: Symptom | None) -> None:
        self._seen = self._seen or seen
        # Who is at fault is not what he was; who has broken a rule still is.
        self._is_worn = self._is_worn or (seen is not None and seen.kind != "rule")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()


class FuzzedNodeSession:
    """A session with a fuzzed node. Messages and frames are bytes, or their digits in hex."""

    def __init__(self, node: FuzzedNode, name: str) -> None:
        self.name = name
        self._node = node
        self._number = node.tests

    def say(self, *messages: bytes | str, cut: int = 0) -> None:
        """Say messages, all of them at once; in pieces of ``cut`` bytes, where that is more than 0."""
        self._say("message", messages, cut)

    def send_frame(self, *frames: bytes | str, cut: int = 0) -> None:
        """Send frames as they are, whatever the session's state is."""
        self._say("frame", frames, cut)

    def send_raw(self, *data: bytes | str, cut: int = 0) -> None:
        """Send bytes of the stream as they are."""
        self._say("raw", data, cut)

    def listen(self) -> None:
        """Wait until all is answered that was said so far, or the session has ended."""
        self._do(Listens(self.name))

    def close(self) -> None:
        """Say that it ends, and end it."""
        self._do(EndsSession(self.name, "close"))

    def drop(self) -> None:
        """Cut its link."""
        self._do(EndsSession(self.name, "drop"))

    def abort(self) -> None:
        """Reset its link."""
        self._do(EndsSession(self.name, "abort"))

    def _say(self, level: Level, data: Sequence[bytes | str], cut: int) -> None:
        said = tuple(bytes.fromhex(each) if isinstance(each, str) else each for each in data)
        self._do(Says(self.name, said, level, cut))

    def _do(self, move: FuzzMove) -> None:
        # In silence, whatever is told in vain would look as if it had been borne.
        if self._number != self._node.tests:
            raise RuntimeError(f"{self.name} has ended with its test, at is_well(): open another session")
        self._node.do(move)


def described(protocol: str, iut: str, role: str = "") -> Description:
    """Return an implementation that can be fuzzed; ``BadDescription`` when it cannot."""
    description = with_version(resolve(in_role(protocol, iut, role), protocol))
    targets = load(protocol)
    if description.role not in targets:
        known = ", ".join(targets)
        raise BadDescription(f"no {description.role} of {protocol} can be fuzzed over the network; there are {known}")
    return description


def in_role(protocol: str, iut: str, role: str) -> str:
    """Return how an implementation is named in a role, whatever role it was named in; none: as it is."""
    named = resolve(iut, protocol).role
    return iut if role in ("", named) else f"{iut.removesuffix(f':{named}').rstrip(':')}:{role}"


def transport_of(description: Description, transport: str = "") -> str:
    """Return the transport over which an implementation is fuzzed; ``BadDescription`` when it does not offer it."""
    if not transport:
        return usual_transport(description)
    known = known_transport(transport) or transport
    if known not in description.transports:
        there = ", ".join(description.transports)
        raise BadDescription(f"{description.label} does not speak over {transport}: there are {there}")
    return known


def put_on_trial(
    description: Description,
    transport: str,
    profile: Profile,
    *options: str,
    expect: Path | None = None,
    about: str = "",
) -> NodeOnTrial:
    """Start an implementation that is to be fuzzed; ``options`` are for our own peer's process.

    Rules that it is expected to break, by a file that is given or else by that of the gate, are passed over, but for
    the one that the test is ``about``. ``BadExpectations``, where the file is none.
    """
    suite = Suite(description.protocol)
    target = load(description.protocol)[description.role]
    running = as_process(description, transport, suite.harness.tempo, *options)
    expected = expected_of(description, expect).but_for_rule(about)
    node = NodeOnTrial(suite, running, target, profile=profile, transport=transport, expected=expected)
    node.take_time()
    return node
