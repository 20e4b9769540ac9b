"""A worker as a process of its own: its job comes as JSON on standard input, its progress goes out in lines of JSON.

``python -m fuzz.net.worker_process``. Exit status: 0 the time is over, or it was told to end; 3 the implementation did
not come up, with the reason as the last line.
"""

import signal
import sys

import msgspec

from fuzz.net.targets import load
from fuzz.net.worker import FuzzJob, FuzzProgress, NetworkWorker
from harness.errors import StartFailed
from harness.interrupts import end_on_sigterm

NOT_STARTED = 3


class WorkerFailed(msgspec.Struct, frozen=True, tag="failed"):
    """Why a worker could not go on."""

    why: str


class WorkerProgress(msgspec.Struct, frozen=True, tag="progress"):
    """How far it is."""

    progress: FuzzProgress


WorkerLine = WorkerFailed | WorkerProgress


def main() -> int:
    """Be a worker; return the exit status."""
    # Of a terminal Ctrl-C reaches all: the campaign tells its workers to end, each once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_on_sigterm()
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=FuzzJob)
    try:
        target = load(job.protocol)[job.role]
        NetworkWorker(job, target, lambda progress: say(WorkerProgress(progress))).run()
    except StartFailed as error:
        say(WorkerFailed(str(error)))
        return NOT_STARTED
    except KeyboardInterrupt:
        pass
    return 0


def say(line: WorkerLine) -> None:
    """Write a line for the campaign."""
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
