"""A node of the eclipse-zenoh wheels, driven by control lines (docs/control.md).

A program of its own: it runs in an environment that has zenoh and no goldwire.
"""

import argparse
import contextlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import zenoh  # type: ignore[import-not-found]

# The status with which a Rust program ends that panics.
PANICKED = 101


class CannotDo(Exception):
    """This node cannot do such a thing."""


class ZenohNode:
    """A session and what was declared in it, under the tester's names."""

    def __init__(self, config: dict[str, object]) -> None:
        self.config = config
        self.things: dict[str, Callable[[], object]] = {}
        self.session = self.open()
        self.opening = threading.Thread()

    def open(self) -> Any:
        """Open a session; in client mode this dials."""
        config = zenoh.Config()
        for key, value in self.config.items():
            config.insert_json5(key, json.dumps(value))
        return zenoh.open(config)

    def declare(self, kind: str, name: str, key: str) -> None:
        """Declare an entity, pushed to every session that needs it."""
        if kind == "subscriber":
            made = self.session.declare_subscriber(key, lambda sample: log("sample", name, shown(sample)))
        elif kind == "queryable":
            made = self.session.declare_queryable(key, lambda query: self.reply(name, query))
        elif kind == "token":
            made = self.session.liveliness().declare_token(key)
        else:
            # The library's declare_keyexpr sends nothing; D_KEYEXPR goes out before the first use of a key.
            raise CannotDo(f"kind {kind!r}: the library declares key expressions when it needs them")
        self.keep(name, made.undeclare)

    def undeclare(self, name: str) -> None:
        """Undeclare what ``declare`` or ``ask`` made under the name."""
        if name not in self.things:
            raise ValueError(f"nothing is called {name!r}")
        self.things.pop(name)()

    def ask(self, name: str, mode: str, kind: str, key: str) -> None:
        """Do what makes the library send an INTEREST of this mode in this kind of entity."""
        if kind == "token" and mode == "current":
            self.session.liveliness().get(key, lambda reply: log("token", name, shown(reply.ok)))
            self.keep(name, lambda: None)
        elif kind == "token":
            made = self.session.liveliness().declare_subscriber(
                key, lambda sample: log("token", name, shown(sample)), history=mode == "currentfuture"
            )
            self.keep(name, made.undeclare)
        elif kind == "subscriber" and mode == "currentfuture":
            self.keep(name, self.session.declare_publisher(key).undeclare)
        elif kind == "queryable" and mode == "currentfuture":
            self.keep(name, self.session.declare_querier(key).undeclare)
        else:
            raise CannotDo(f"asking for {kind} in mode {mode}: the library's own interests are currentfuture")

    def put(self, key: str, *words: str) -> None:
        """Publish a text."""
        self.session.put(key, " ".join(words))

    def get(self, key: str) -> None:
        """Query; the replies are logged as they come."""
        self.session.get(key, lambda reply: log("reply", shown(reply.ok) if reply.ok else "error"))

    def close(self) -> None:
        """Close the session."""
        self.session.close()
        self.things.clear()

    def reopen(self) -> None:
        """Close the session and begin to open a new one; whatever is asked next waits until it is open."""
        self.close()
        self.opening = threading.Thread(target=self.open_again, daemon=True)
        self.opening.start()

    def open_again(self) -> None:
        """Open a new session; when that fails the closed one stays, and refuses everything."""
        try:
            self.session = self.open()
        except zenoh.ZError as error:
            log("reopen failed:", *str(error).split())

    def keep(self, name: str, undo: Callable[[], object]) -> None:
        """Remember how to undo what was done under a name."""
        self.things[name] = undo

    def reply(self, name: str, query: Any) -> None:
        """Answer a query with the name of the queryable."""
        log("query", name, str(query.key_expr))
        with query:
            # A key expression with wildcards is no key to answer under.
            if not str(query.key_expr).count("*"):
                query.reply(query.key_expr, name)

    def verbs(self) -> dict[str, Callable[..., None]]:
        """Return what the node can be told to do."""
        return {
            "declare": self.declare,
            "undeclare": self.undeclare,
            "ask": self.ask,
            "end": self.undeclare,
            "put": self.put,
            "get": self.get,
            "close": self.close,
            "reopen": self.reopen,
        }


def shown(sample: Any) -> str:
    """Return a sample as one line."""
    kind = str(sample.kind).rpartition(".")[2].lower()
    return f"{kind} {sample.key_expr} {sample.payload.to_bytes()!r}"


def log(*words: str) -> None:
    """Write a line that is no answer."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def serve(node: ZenohNode, lines: Iterator[str]) -> None:
    """Answer control lines until they end."""
    verbs = node.verbs()
    for line in lines:
        seq, _, rest = line.rstrip("\r\n").partition(" ")
        if seq.isdigit():
            log(seq, answer(node, verbs, rest))


def answer(node: ZenohNode, verbs: dict[str, Callable[..., None]], rest: str) -> str:
    """Do what a line asks, and return what to answer."""
    verb, *args = rest.split(" ")
    if verb == "verbs":
        return " ".join(["ok", *verbs])
    try:
        if verb not in verbs:
            raise CannotDo(f"verb {verb!r}")
        if node.opening.ident is not None:
            node.opening.join()
        verbs[verb](*args)
    except CannotDo as unsupported:
        return f"error unsupported {unsupported}"
    except Exception as error:  # whatever the library raises, the tester is told and the node lives on
        return f"error {type(error).__name__}: {' '.join(str(error).split())}"
    except BaseException:
        # A panic of the library: its locks are poisoned, and an orderly end would wait for them for ever.
        traceback.print_exc()
        os._exit(PANICKED)
    return "ok"


def configuration(mode: str, listen: list[str], connect: list[str]) -> dict[str, object]:
    """Return the settings of a node that discovers no others and dials only the addresses that it is given."""
    return {
        "mode": mode,
        "listen/endpoints": listen,
        "connect/endpoints": connect,
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
        # Nobody is scouted for, so there is nothing to wait for either.
        "scouting/delay": 0,
        "open/return_conditions/connect_scouted": False,
        "open/return_conditions/declares": False,
    }


def main() -> None:
    """Run the node until its standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["router", "peer", "client"], default="router")
    parser.add_argument("--listen", default="", help="addresses with commas between them")
    parser.add_argument("--connect", default="", help="addresses with commas between them")
    options = parser.parse_args()
    zenoh.init_log_from_env_or("error")
    node = ZenohNode(
        configuration(
            options.mode,
            [address for address in options.listen.split(",") if address],
            [address for address in options.connect.split(",") if address],
        )
    )
    log("ready")
    serve(node, iter(sys.stdin.readline, ""))
    # A session that the other side holds up must not hold up the end.
    closing = threading.Thread(target=node.close, daemon=True)
    closing.start()
    # Less than the tester waits between SIGTERM and SIGKILL (harness/iuts/process.py).
    closing.join(2.0)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()


if __name__ == "__main__":
    main()
