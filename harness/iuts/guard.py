"""Runs a command that ends with its tester: ``guard.py TESTER_PID COMMAND…``, a script of its own.

The kernel kills the command when the tester dies, however it dies. This is asked for here, in a fresh process
that then becomes the command, since Python code between fork and exec of a tester with threads may never
return.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become the command; exit status 127 when that is not possible, as in a shell."""
    tester, command = int(sys.argv[1]), sys.argv[2:]
    # The standard library has no prctl.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # It died before the line above took effect, so its death will not be told.
    if os.getppid() != tester:
        sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
