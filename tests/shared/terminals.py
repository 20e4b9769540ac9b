"""Commands on a terminal of our own, and what is seen there."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence


def seen_on_terminal(
    command: Sequence[str], environment: Mapping[str, str], *, columns: int, progress: bool = True, typed: bytes = b""
) -> tuple[int, bytes]:
    """Run a command on a terminal of so many columns, without its standard error if there is to be no ``progress``.

    What is ``typed`` stands there before it is asked for. Returns the exit status and all that was written there.
    """
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    error = its if progress else subprocess.DEVNULL
    os.write(mine, typed)
    with subprocess.Popen(command, stdin=its if typed else None, stdout=its, stderr=error, env=environment) as running:
        os.close(its)
        seen = b""
        try:
            while chunk := os.read(mine, 4096):
                seen += chunk
        except OSError:
            pass  # the other side is closed
    os.close(mine)
    return running.returncode, seen
