"""A router fuzzed with boofuzz, as one writes it with that library; it runs in an environment that has boofuzz.

::

    python boofuzz_session.py 127.0.0.1:7447 --seconds 10 --mode looks --timeout 0.05

Each test case dials, shakes hands (INIT, and OPEN with the cookie that came), and sends one FRAME whose network message
is fuzzed: a DECLARE, then INTERESTs. What is measured goes to standard output as one line of JSON.
"""

import argparse
import contextlib
import itertools
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from boofuzz import (
    Session,
    Target,
    TCPSocketConnection,
    s_block,
    s_byte,
    s_get,
    s_initialize,
    s_size,
    s_static,
    s_string,
)

CLIENT = 2
LONGEST = 100
"""Bytes of a key at most: its length stands in one byte, as long as it is below 128."""

_SEEN = itertools.count(1)


def init_syn() -> bytes:
    """Return an INIT: version 9, a client with an id of 8 bytes. Another id for each test, as they are other nodes."""
    return bytes([0x01, 0x09, 7 << 4 | CLIENT]) + next(_SEEN).to_bytes(8, "little")


def open_syn(init_ack: bytes) -> bytes:
    """Return the OPEN that answers an INIT: lease 10 s, first number 0, the cookie."""
    return bytes([0x42, 10, 0]) + cookie(init_ack)


def cookie(init_ack: bytes) -> bytes:
    """Return the cookie in an INIT, with its length before it, of less than 128 bytes."""
    header, zid = init_ack[0], (init_ack[2] >> 4) + 1
    # With S (bit 6) come a resolution and a size of batches, 3 bytes.
    at = 3 + zid + (3 if header & 0x40 else 0)
    return init_ack[at : at + 1 + init_ack[at]]


def batch(data: bytes) -> bytes:
    """Return a batch behind its length, as TCP carries it."""
    return len(data).to_bytes(2, "little") + data


def on_init(*args: object, **kwargs: object) -> bytes:
    """Return what is sent in the place of the request ``init``."""
    return batch(init_syn())


def on_open(target: Target, fuzz_data_logger: object, session: Session, *args: object, **kwargs: object) -> bytes:
    """Return what is sent in the place of the request ``open``."""
    return batch(open_syn(session.last_recv[2:]))


def key(text: str) -> None:
    """Add a key: no alias, a length, a text."""
    s_byte(0, name="scope", fuzzable=True)
    s_size("suffix", length=1, name="suffix length", fuzzable=True)
    with s_block("suffix"):
        s_string(text, name="text", max_len=LONGEST)


def requests() -> list[str]:
    """Define the requests, and return the names of those that are fuzzed."""
    s_initialize("init")
    s_static(batch(init_syn()))
    s_initialize("open")
    s_static(b"\0\0")
    for name in ("declare", "interest"):
        s_initialize(name)
        s_size("batch", length=2, endian="<", name="batch length", fuzzable=False)
        with s_block("batch"):
            # A reliable FRAME with the number 0, which is the session's first one.
            s_static(b"\x25\x00")
            if name == "declare":
                s_byte(0x1E, name="header")
                s_byte(0x62, name="declaration")
                s_byte(1, name="id")
                key("lab/a")
            else:
                s_byte(0x79, name="header")
                s_byte(1, name="id")
                s_byte(0x32, name="options")
                key("lab/**")
    return ["declare", "interest"]


def answers(host: str, port: int, timeout: float) -> bool:
    """Tell whether the router still opens a session and answers in it: an INTEREST in what exists, and its D_FINAL."""
    connection = TCPSocketConnection(host, port, send_timeout=timeout, recv_timeout=timeout)
    connection.open()
    try:
        connection.send(batch(init_syn()))
        connection.send(batch(open_syn(connection.recv(10_000)[2:])))
        connection.recv(10_000)
        connection.send(batch(b"\x25\x00\x39\x01\x38\x00\x05lab/p"))
        return bool(connection.recv(10_000))
    finally:
        connection.close()


def main() -> None:
    """Fuzz for some seconds, and print the test cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--mode", choices=("blind", "looks", "probes"), default="looks")
    parser.add_argument("--timeout", type=float, default=5.0, help="Of a receive, in seconds.")
    options = parser.parse_args()
    host, port = options.address.rsplit(":", 1)[0], int(options.address.rsplit(":", 1)[1])
    broken = 0

    def probe(*args: object, **kwargs: object) -> None:
        nonlocal broken
        broken += not answers(host, port, 5.0)

    with tempfile.TemporaryDirectory() as folder:
        session = Session(
            target=Target(connection=TCPSocketConnection(host, port, 5.0, options.timeout)),
            sleep_time=0.0,
            web_port=None,
            fuzz_loggers=[],
            reuse_target_connection=False,
            receive_data_after_fuzz=options.mode == "looks",
            post_test_case_callbacks=[probe] if options.mode == "probes" else [],
            # What a router that closes the session does: it is allowed to.
            ignore_connection_reset=True,
            db_filename=str(Path(folder) / "run.db"),
        )
        fuzzed = requests()
        session.connect(s_get("init"), callback=on_init)
        session.connect(s_get("init"), s_get("open"), callback=on_open)
        for name in fuzzed:
            session.connect(s_get("open"), s_get(name))
        # It is ended as one ends it from a keyboard: there is no other way to fuzz for a time.
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, options.seconds)
        began, processor = time.monotonic(), time.process_time()
        with contextlib.suppress(KeyboardInterrupt), contextlib.redirect_stdout(sys.stderr):
            session.fuzz()
        took, used = time.monotonic() - began, time.process_time() - processor
        tests = session.num_cases_actually_fuzzed
        failed = len(session.monitor_results)
    said = {
        "mode": options.mode,
        "tests": tests,
        "seconds": took,
        "processor": used,
        "failed": failed,
        "broken": broken,
    }
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
