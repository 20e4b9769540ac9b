"""The temporary folder of a run of tests: what is built there once is there for all workers."""

import os
from pathlib import Path


def run_folder(base: Path) -> Path:
    """Return the folder that all workers of a run share; ``base`` is pytest's for this process.

    Who builds something there holds a lock meanwhile: another worker may be about to.
    """
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
