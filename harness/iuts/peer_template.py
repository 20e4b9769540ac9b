"""The template of peers: a process that has loaded a protocol, and is ``python -m goldwire peer …`` with each request.

``python -m harness.iuts.peer_template SOCKET PROTOCOL``; see ``forking.py``.
"""

import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

from harness.iuts.description import is_described, resolve
from harness.protocol import load

PR_SET_PDEATHSIG = 1
_LONGEST = 1 << 16
_FDS = 3


def main() -> int:
    """Serve requests until the tester has ended."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    _load(sys.argv[2])
    # What is there now is shared with all that are forked, as long as nobody touches it.
    gc.collect()
    gc.freeze()
    # A tester may be killed with a request on its way, or before it has read the answer.
    with suppress(ConnectionError):
        _serve(requests)
    return 0


def _serve(requests: socket.socket) -> None:
    while True:
        said, fds, _, _ = socket.recv_fds(requests, _LONGEST, _FDS)
        if not said:
            return
        requests.send(str(_fork(json.loads(said), fds, requests)).encode())
        for each in fds:
            os.close(each)


def _load(protocol: str) -> None:
    # What the command line imports when it is called.
    import harness.command
    import harness.peer_command  # noqa: F401

    definition = load(protocol)
    if definition.defects is not None:
        _ = definition.defects.all
    if is_described(protocol):
        resolve("peer:", protocol)


def _fork(request: dict[str, Any], fds: list[int], requests: socket.socket) -> int:
    """Fork, twice, so that the tester becomes the parent; return the number of the process."""
    reads, writes = os.pipe()
    between = os.fork()
    if between == 0:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            os.write(writes, str(pid).encode())
            os._exit(0)
        os.close(reads)
        os.close(writes)
        requests.close()
        _become(request, fds, parent)
    os.close(writes)
    os.waitpid(between, 0)
    number = int(os.read(reads, 32))
    os.close(reads)
    return number


def _become(request: dict[str, Any], fds: list[int], between: int) -> NoReturn:
    """Be what was asked for, and end with it."""
    os.setsid()
    while os.getppid() == between:
        time.sleep(0.0001)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != request["tester"]:
        os._exit(1)
    for place, each in enumerate(fds):
        os.dup2(each, place)
        os.close(each)
    os.environ.update(request["environment"])
    module, *arguments = request["command"]
    sys.argv = [module, *arguments]
    status: Any = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        status = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else status is not None)


if __name__ == "__main__":
    sys.exit(main())
