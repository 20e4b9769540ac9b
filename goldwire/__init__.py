"""goldwire: proves that an implementation speaks a wire protocol as its document says.

This package is the public face, documented in ``docs/api.md``::

    goldwire.layouts()                                  the names of the layouts
    goldwire.decode("zenoh/network-message", b"…")      a frame as a value, and back: encode
    goldwire.vectors("zenoh/network-message")           the golden vectors
    goldwire.protocols()                                the names of the protocols
    goldwire.rules("zenoh")                             the rules of a protocol's documents
    goldwire.gate("zenoh", "tcp/127.0.0.1:7447")        plays the rules against an implementation
    goldwire.peer("zenoh")                              serves a reference peer
    goldwire.fuzzed_node("zenoh", "peer:")              a node that is told anything, and is to be well after it
    goldwire.fuzz_machine("zenoh", "peer:")             Hypothesis tells it whatever it likes

The packages beside it (``wire``, ``vectors``, ``harness``, ``conformance``, ``fuzz``, ``reports``) are internal: their
names and contents may change with any version. When one of them is hidden by another package or folder of its name,
importing goldwire raises ``ShadowedRoom``, an ``ImportError``.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from goldwire.rooms import WRONG_USAGE, ShadowedRoom, shadow

if TYPE_CHECKING:
    from conformance.catalogue.rules import Rule
    from conformance.contract.expectations import BadExpectations
    from conformance.run.summary import RuleSummary, RunSummary
    from fuzz.net.fuzzed_node import FuzzedNode
    from goldwire.codecs import decode, encode, layouts, vectors
    from goldwire.fuzzing import fuzz_machine, fuzzed_node
    from goldwire.judging import BadRun, gate, protocols, rules
    from goldwire.served_peer import ServedPeer, peer
    from harness.errors import BadDescription, StartFailed
    from vectors.golden.loader import Vector
    from wire.engines import MissingEngine
    from wire.errors import DecodeError, EncodeError, UnknownLayout

    __version__: str

_HOMES = {
    "BadDescription": "harness.errors",
    "BadExpectations": "conformance.contract.expectations",
    "BadRun": "goldwire.judging",
    "DecodeError": "wire.errors",
    "EncodeError": "wire.errors",
    "FuzzedNode": "fuzz.net.fuzzed_node",
    "MissingEngine": "wire.engines",
    "Rule": "conformance.catalogue.rules",
    "RuleSummary": "conformance.run.summary",
    "ServedPeer": "goldwire.served_peer",
    "StartFailed": "harness.errors",
    "RunSummary": "conformance.run.summary",
    "UnknownLayout": "wire.errors",
    "Vector": "vectors.golden.loader",
    "decode": "goldwire.codecs",
    "encode": "goldwire.codecs",
    "fuzz_machine": "goldwire.fuzzing",
    "fuzzed_node": "goldwire.fuzzing",
    "gate": "goldwire.judging",
    "layouts": "goldwire.codecs",
    "peer": "goldwire.served_peer",
    "protocols": "goldwire.judging",
    "rules": "goldwire.judging",
    "vectors": "goldwire.codecs",
}
"""Where each public name is defined: it is imported when it is first used, so that ``import goldwire`` costs little."""

__all__ = [
    "BadDescription",
    "BadExpectations",
    "BadRun",
    "DecodeError",
    "EncodeError",
    "FuzzedNode",
    "MissingEngine",
    "Rule",
    "RuleSummary",
    "RunSummary",
    "ServedPeer",
    "ShadowedRoom",
    "StartFailed",
    "UnknownLayout",
    "Vector",
    "__version__",
    "decode",
    "encode",
    "fuzz_machine",
    "fuzzed_node",
    "gate",
    "layouts",
    "peer",
    "protocols",
    "rules",
    "vectors",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("goldwire")
    elif name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'goldwire' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _is_command() -> bool:
    """Tell whether this import begins the command, and not somebody's program.

    Python documents that ``sys.argv[0]`` is ``-m`` while it looks for the module to run, and pip names the script.
    """
    name = sys.argv[0] if sys.argv else ""
    return name == "-m" or os.path.basename(name) == "goldwire"


# At once, and not when a name is first used: whoever imports goldwire shall learn here what is wrong, not somewhere
# later. A command has nobody who could catch an exception: it ends as after any wrong usage.
if (_shadow := shadow()) is not None:
    if not _is_command():
        raise ShadowedRoom(str(_shadow))
    print(f"Error: {_shadow}", file=sys.stderr)  # noqa: T201 (click is a dependency that is not needed for this)
    sys.exit(WRONG_USAGE)
