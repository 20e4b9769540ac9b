"""Targets: what a protocol brings to network fuzzing, for each role that an implementation under test may have.

``fuzz/<protocol>/network.py`` declares ``TARGETS``, by role; ``load`` finds them.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any, Protocol, runtime_checkable

from fuzz.net.moves import EndVerb, GivesCommand, Level, NetworkTest
from harness.errors import BadDescription, HarnessError
from harness.iuts.instance import Instance
from harness.links.framing import Framings
from harness.trace import Trace


class FuzzedSession(Protocol):
    """One session of a test; it raises nothing for what the implementation does."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, by whomever."""
        ...

    def say(self, data: Sequence[bytes], level: Level, cut: int) -> None:
        """Say something, as a move has it."""
        ...

    def catch_up(self, seconds: float = 0.0) -> None:
        """Read what has come, or comes within some seconds."""
        ...

    def ask(self) -> None:
        """Ask something that is answered once all is acted on that was said before; wait for nothing."""
        ...

    def listen(self, until: float) -> bool:
        """Read until that is answered, or the session has ended; ``False`` when neither was by then."""
        ...

    def end(self, verb: EndVerb) -> None:
        """End it."""
        ...

    def answers(self) -> Sequence[str]:
        """Return what kinds of things have come since this was called last, in order, its end included."""
        ...

    def state(self) -> Hashable:
        """Return what is between the two sides, as far as the conversation shows it: small numbers, few of them."""
        ...


class ServiceProbe(Protocol):
    """What the implementation is there for, tried between sessions that do nothing wrong."""

    def begin(self) -> None:
        """Open those that stay; ``HarnessError`` when that fails."""
        ...

    def check(self) -> None:
        """Try the service, with a fresh session among others; ``ServiceBroken`` says what is wrong."""
        ...

    def end(self) -> None:
        """End them."""
        ...


class ServiceBroken(Exception):
    """The service does not work any more. ``kind``: ``hang``, ``service``, or ``harm`` to who did nothing wrong."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what


def expect(holds: bool, kind: str, what: str) -> None:
    """Raise ``ServiceBroken`` when something does not hold."""
    if not holds:
        raise ServiceBroken(kind, what)


@contextmanager
def expecting_answers(otherwise: str) -> Iterator[None]:
    """Take whatever of the tester's does not go through within the context for a hang; ``otherwise`` says of whom."""
    try:
        yield
    except HarnessError as error:
        raise ServiceBroken("hang", otherwise) from error


class FuzzTarget(Protocol):
    """A role of a protocol's implementations, as it is fuzzed."""

    @property
    def layout(self) -> str:
        """The layout of what a session says."""
        ...

    @property
    def ways(self) -> Sequence[str]:
        """The ways in which a session is opened."""
        ...

    def node(self, instance: Instance, trace: Trace) -> Any:
        """Return the node of one test, which makes its sessions."""
        ...

    def session(self, node: Any, how: str) -> FuzzedSession:
        """Open a session; ``HarnessError`` when that fails."""
        ...

    def message(self, random: Random) -> bytes:
        """Return a message as somebody might send it who speaks the protocol well.

        About few things, so that messages have to do with each other.
        """
        ...

    def text(self, random: Random) -> bytes:
        """Return a message in which a text is broken."""
        ...

    def frame(self, random: Random) -> bytes:
        """Return a frame that no session would send now."""
        ...

    def messages_of(self, frame: bytes) -> Sequence[bytes]:
        """Return the messages in a frame that a session could say; none where it is the link's matter, or no frame."""
        ...

    def service(self, instance: Instance, trace: Trace) -> ServiceProbe:
        """Return the service of an instance; what it says goes into the trace."""
        ...


@runtime_checkable
class CommandedTarget(Protocol):
    """A target whose implementations are told to act in the midst of tests, where they take control lines."""

    def command(self, random: Random) -> GivesCommand:
        """Return something that an implementation is told to do."""
        ...


@runtime_checkable
class KeepingTarget(Protocol):
    """A target whose implementations are told to keep something for ever: that they grow by that is as it should be."""

    @property
    def keeps(self) -> Collection[str]:
        """The verbs of the commands that tell them so."""
        ...


def without_what_is_kept(target: FuzzTarget, test: NetworkTest) -> NetworkTest:
    """Return a test without the commands by which an implementation grows as it should."""
    if not isinstance(target, KeepingTarget):
        return test
    return tuple(move for move in test if not (isinstance(move, GivesCommand) and move.verb in target.keeps))


@runtime_checkable
class SerialTarget(Protocol):
    """A target whose sessions may say much that is alike: limits are met by number, and not by what each one says."""

    def series(self, random: Random) -> Sequence[bytes]:
        """Return messages that are alike, but for numbers that count up or names that stand on each other."""
        ...


@runtime_checkable
class ChainedTarget(Protocol):
    """A target whose implementations put together what comes in several frames."""

    def chain(self, random: Random) -> Sequence[bytes]:
        """Return frames that belong together, whatever is wrong with some."""
        ...


@runtime_checkable
class ReframedTarget(Protocol):
    """A target whose implementations speak in frames of their own, and not in those of the protocol."""

    @property
    def framings(self) -> Framings:
        """The framings by transport, for captures."""
        ...


@runtime_checkable
class StagedTarget(Protocol):
    """A target whose implementations have to be started anew for some tests: those of a kind are played in a row."""

    def staged(self, test: NetworkTest, number: int) -> NetworkTest:
        """Return a test as it is to be played as the one of this number, counted from 1."""
        ...


def load(protocol: str) -> Mapping[str, FuzzTarget]:
    """Return the targets of a protocol by role; ``BadDescription`` when it brings none."""
    name = f"fuzz.{protocol}.network"
    if find_spec(f"fuzz.{protocol}") is None or find_spec(name) is None:
        raise BadDescription(f"{protocol} cannot be fuzzed over the network: there is no {name.replace('.', '/')}.py")
    targets: Mapping[str, FuzzTarget] = import_module(name).TARGETS
    return targets
