"""Coverage of a Python program that goldwire fuzzes: ``goldwire.coverage.start()``, or ``python -m goldwire.coverage``.

Counts which code runs, where the fuzzer asks for it by the environment variable ``GOLDWIRE_COVERAGE``, and does nothing
otherwise; docs/network-fuzzing.md says more.
"""

import sys

from harness.iuts.python_coverage import main, start

__all__ = ["start"]

if __name__ == "__main__":
    main(sys.argv[1:])
