"""What comes of a frame or a value that a codec behind the pipe is asked for: an answer, or a failure to give one.

::

    Answer
    ├── Decoded, Encoded            it did what it was asked
    ├── RefusedFrame, Inexpressible it says that the frame, or the value, is not valid
    ├── Skipped                     it does not implement this
    └── Failure                     it did none of that: ended, hung, wrote something else …

A program that does wrong raises nothing: a check of thousands of frames goes on behind the one that broke it.
"""

import signal
from typing import Any

import msgspec

EXCERPT = 120
"""Characters that are shown of what a program wrote: a line of a terminal."""


class CodecDescription(msgspec.Struct, frozen=True):
    """What a program says of itself."""

    name: str
    version: str
    language: str
    layouts: tuple[str, ...]


class Decoded(msgspec.Struct, frozen=True):
    """The frame is accepted and gives ``value``; bytes in it are bytes."""

    value: Any


class Encoded(msgspec.Struct, frozen=True):
    """The value is written as ``data``."""

    data: bytes


class RefusedFrame(msgspec.Struct, frozen=True):
    """The frame is refused for ``reason``, at ``offset`` if that is given."""

    reason: str
    offset: int | None = None


class Inexpressible(msgspec.Struct, frozen=True):
    """The value cannot be encoded."""

    detail: str


class Skipped(msgspec.Struct, frozen=True):
    """The program does not implement this."""

    why: str


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A frame that got no answer; ``stderr`` has the last lines of the program's standard error."""

    stderr: tuple[str, ...] = ()


class Crashed(Failure, frozen=True):
    """The program ended instead of answering; ``status`` is negative for a signal."""

    status: int

    def __str__(self) -> str:
        return f"the program {ended(self.status)} instead of answering"


class Hung(Failure, frozen=True):
    """No answer came within so many seconds."""

    seconds: float
    detail: str = ""

    def __str__(self) -> str:
        return f"no answer within {self.seconds:g} seconds{self.detail}"


class Garbage(Failure, frozen=True):
    """Something came that is no answer to the request; ``line`` is how it begins."""

    what: str
    line: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.line}" if self.line else self.what


class PartialLine(Failure, frozen=True):
    """The program ended in the middle of a line."""

    status: int
    line: str

    def __str__(self) -> str:
        return f"the program {ended(self.status)} in the middle of a line: {self.line}"


class Declined(Failure, frozen=True):
    """The program does not understand the request."""

    detail: str

    def __str__(self) -> str:
        return f"the program declines the request: {self.detail}"


class UnsupportedLayout(Failure, frozen=True):
    """The program does not speak this layout; it lists ``layouts``."""

    layout: str
    layouts: tuple[str, ...]

    def __str__(self) -> str:
        return f"the program does not speak {self.layout}; it lists {', '.join(self.layouts) or 'no layout'}"


class LostAnswer(Failure, frozen=True):
    """The frame could not be asked: the program was started anew too often, or does not start any more."""

    why: str

    def __str__(self) -> str:
        return f"not asked: {self.why}"


Answer = Decoded | Encoded | RefusedFrame | Inexpressible | Skipped | Failure


class Trouble(msgspec.Struct, frozen=True):
    """A failure that belongs to no single frame: each of them alone is answered."""

    when: str
    failure: Failure

    def __str__(self) -> str:
        return f"{self.when}: {self.failure}"


def ended(status: int) -> str:
    """Say how a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    # Python has no name for some real-time signals.
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def excerpt(data: bytes) -> str:
    """Return how a line of output begins."""
    return shortened(data[: 4 * EXCERPT].decode(errors="replace").rstrip("\n"))


def shortened(line: str) -> str:
    """Return the beginning of a line without characters that would disturb a terminal."""
    # What a program writes is somebody's output: escape sequences in it could rewrite what the terminal shows.
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line[:EXCERPT])
    return shown if len(line) <= EXCERPT else f"{shown}…"
