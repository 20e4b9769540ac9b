"""Constants that Hypothesis tries: its own, and none of whatever modules happen to be imported.

Now and then it draws a constant that stands in the code around it, if that is not among the installed packages. What is
drawn then depends on how goldwire was installed, and on what was played before; an example that is to be the same on
every machine, and when it is played alone, must not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from hypothesis.internal.conjecture import providers

# There is no setting for it, and before 6.131 there were no such constants.
_HAS_CONSTANTS = hasattr(providers, "_get_local_constants")
if _HAS_CONSTANTS:
    _none = type(providers.GLOBAL_CONSTANTS)()
    # What may be drawn is kept there for each kind of value, with the constants of modules.
    _kept = type(providers.CONSTANTS_CACHE)(providers.CONSTANTS_CACHE.max_size)


@contextmanager
def of_hypothesis_alone() -> Iterator[None]:
    """Let Hypothesis draw no constant meanwhile that is not its own."""
    if not _HAS_CONSTANTS:
        yield
        return
    with mock.patch.multiple(providers, _get_local_constants=lambda: _none, CONSTANTS_CACHE=_kept):
        yield
