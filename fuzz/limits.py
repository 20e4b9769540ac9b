"""What one input may take, before it is a finding: bytes, seconds, and memory."""

import resource

import msgspec


class InputLimits(msgspec.Struct, frozen=True):
    """What one input may take: bytes of it, seconds, and megabytes."""

    # Every branch of every layout is reached by shorter ones; libFuzzer spends its time on whatever length it may have.
    longest: int = 1024
    # An input takes microseconds; this much more is a hang on the busiest machine.
    seconds: float = 5.0
    # Imports and instrumentation take a few hundred; a layout's own limits (65,535 items) keep any frame far below.
    megabytes: int = 2048


def limit_memory(megabytes: int) -> None:
    """Let this process have so much memory: more is a ``MemoryError``, and an engine that breaks."""
    most = megabytes << 20
    # Address space, as Linux enforces no limit on resident memory. The hard limit stays, so that a user's own is kept.
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
