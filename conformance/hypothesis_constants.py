"""Constants that Hypothesis tries: its own, and none of whatever modules happen to be imported.

Now and then it draws a constant that stands in the code around it, if that is not among the installed packages. What is
drawn then depends on how goldwire was installed, and on what was played before; an example that is to be the same on
every machine, and when it is played alone, must not.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any
from unittest import mock

WHERE = "hypothesis.internal.conjecture.providers"
"""Where Hypothesis has them, since 6.131. There is no setting for it, so this is not its public face."""

_NAMES = ("_get_local_constants", "GLOBAL_CONSTANTS", "CONSTANTS_CACHE")


def _patches() -> dict[str, Any]:
    """Return what takes the place of what; nothing in a release that has no such constants, or has them elsewhere."""
    try:
        providers = import_module(WHERE)
        local, everywhere, cache = (getattr(providers, name) for name in _NAMES)
    except (ImportError, AttributeError):
        return {}
    none = type(everywhere)()
    # What may be drawn is kept in the cache for each kind of value, with the constants of modules.
    return {local.__name__: lambda: none, "CONSTANTS_CACHE": type(cache)(cache.max_size)}


_PATCHES = _patches()


@contextmanager
def of_hypothesis_alone() -> Iterator[None]:
    """Let Hypothesis draw no constant meanwhile that is not its own."""
    with mock.patch.multiple(WHERE, **_PATCHES) if _PATCHES else nullcontext():
        yield
