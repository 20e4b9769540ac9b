"""Rounds of Hypothesis in a process of its own, so that an engine which ends or hangs it is found as well."""

import mmap
import struct
import time
from collections.abc import Generator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from tempfile import TemporaryDirectory
from traceback import format_exc
from typing import Any

import msgspec

from fuzz.limits import limit_memory
from vectors.checks.check import Check
from vectors.checks.sweep import Found
from wire.engines import present

EXAMPLES = 50
"""What one round asks Hypothesis for: so many values, and as many frames."""

LARGEST = 1 << 17
"""Bytes of the file with the last input: twice the longest frame of any layout; of more the beginning is kept."""

HEADER = struct.Struct("<QI")
"""What the file begins with: the number of the input, and its length."""

MOST_LOST = 3
"""Processes that may be lost; who loses more has been seen enough of."""

SHRINKING_SECONDS = 5.0
"""Seconds that Hypothesis may take between two inputs, beyond what an input may take: it also shrinks and generates."""


class HypothesisFailed(Exception):
    """A process that ended before it compared anything; standard error says why."""


class Round(msgspec.Struct, frozen=True):
    """What came of a round: examples, those that differ, what was found, and how the process was ``lost``, on what."""

    number: int
    examples: int = 0
    differing: int = 0
    found: tuple[Found, ...] = ()
    lost: str = ""
    data: bytes = b""


class _LastInput:
    """A file with the input that is compared now: it is read when the process that compared it is gone."""

    def __init__(self, file: Path) -> None:
        # Its full size from the beginning, as a mapping cannot grow; a later process goes on with the file of the lost
        # one.
        if not file.exists():
            file.write_bytes(bytes(LARGEST))
        with file.open("r+b") as opened:
            # Shared memory outlives the process that wrote it: a pipe would lose what is in it, a file written anew
            # would be slow.
            self.map = mmap.mmap(opened.fileno(), LARGEST)
        self.count = 0

    def write(self, data: bytes) -> None:
        self.count += 1
        data = data[: LARGEST - HEADER.size]
        self.map[: HEADER.size + len(data)] = HEADER.pack(self.count, len(data)) + data

    def read(self) -> tuple[int, bytes]:
        count, size = HEADER.unpack_from(self.map)
        return count, self.map[HEADER.size : HEADER.size + size]


class _RoundCheck(Check):
    """A check that only says what it found; its parent makes it small."""

    def __init__(self, layout: str, seed: int, last_input: _LastInput) -> None:
        super().__init__(layout, list(present(layout)), seed=seed)
        self.last_input = last_input
        self.raw: dict[Any, Found] = {}

    def frame(self, data: bytes, origin: str, number: int = 0, names: tuple[str, ...] = ()) -> None:
        self.last_input.write(data)
        super().frame(data, origin, number, names)

    def keep(self, found: Found) -> None:
        # Not made small here: that takes seconds, in which this process would seem to hang.
        self.raw.setdefault(found.difference.signature, found)


def rounds(layout: str, seed: int, deadline: float, hang: float, megabytes: int) -> Generator[Round, None, None]:
    """Give what comes of rounds up to a deadline (monotonic clock); a frame may take ``hang`` seconds.

    Leaving the iterator ends the process.
    """
    with TemporaryDirectory(prefix="goldwire-fuzz-") as folder:
        file = Path(folder) / "last-input"
        number = 0
        for _ in range(MOST_LOST):
            for each in _rounds_of_process(layout, seed, number, deadline, hang, megabytes, file):
                number = each.number + 1
                yield each
                if each.lost:
                    break
            else:
                return


def _rounds_of_process(
    layout: str, seed: int, number: int, deadline: float, hang: float, megabytes: int, file: Path
) -> Generator[Round, None, None]:
    last_input = _LastInput(file)
    context = get_context("spawn")
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(
        target=_worker_main, args=(layout, seed, number, deadline, megabytes, str(file), sends), daemon=True
    )
    process.start()
    sends.close()
    seen, since = -1, time.monotonic()
    try:
        while True:
            # In short steps, as between two messages it is watched whether the number of the input still moves.
            if receives.poll(0.2):
                try:
                    each = receives.recv()
                except EOFError:
                    process.join()
                    count, data = last_input.read()
                    # Nothing was compared, so no input can be blamed: the installation is broken.
                    if process.exitcode and not count:
                        raise HypothesisFailed(
                            f"the process of Hypothesis ended with status {process.exitcode}"
                        ) from None
                    if process.exitcode:
                        yield Round(number, lost="crash", data=data)
                    return
                if isinstance(each, Exception):
                    raise each
                number = each.number + 1
                yield each
            count = last_input.read()[0]
            if count != seen:
                seen, since = count, time.monotonic()
            # Before the first input there are imports, which take as long as the machine is busy.
            elif count and time.monotonic() - since > hang + SHRINKING_SECONDS:
                yield Round(number, lost="hang", data=last_input.read()[1])
                return
    finally:
        process.kill()
        process.join()
        receives.close()


def _worker_main(
    layout: str, seed: int, number: int, deadline: float, megabytes: int, file: str, sends: Connection
) -> None:
    signal(SIGINT, SIG_IGN)  # the process that started this one says when to end
    limit_memory(megabytes)
    last_input = _LastInput(Path(file))
    try:
        while time.monotonic() < deadline:
            # Each round has a seed of its own: with the same, Hypothesis would generate the same.
            check = _RoundCheck(layout, seed + number, last_input)
            check.hypothesis(EXAMPLES)
            found = tuple(check.raw.values())
            sends.send(Round(number, check.report.examples, check.report.differing, found))
            number += 1
    except BrokenPipeError:
        return
    except Exception as error:
        error.add_note(format_exc())
        sends.send(error)
