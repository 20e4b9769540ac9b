"""What a run announces to other pytest plugins, in the process that collects the results."""

# The names of the arguments are part of a hook; the types are named in text, as this file is always loaded.
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.run.records import CasePlayed, RunEnded, RunStarted
    from conformance.run.summary import RunSummary
    from conformance.verdicts import Judgement


def pytest_goldwire_started(started: "RunStarted") -> None:
    """The run begins; nothing has been played yet."""


def pytest_goldwire_played(record: "CasePlayed") -> None:
    """A case was played and confirmed."""


def pytest_goldwire_found(judgement: "Judgement") -> None:
    """A rule is not kept, or cannot be judged, and nobody expects that: told once, when it is confirmed."""


def pytest_goldwire_progress(line: str) -> None:
    """Something that takes its time is being done, such as making an environment."""


def pytest_goldwire_ended(summary: "RunSummary", ended: "RunEnded") -> None:
    """The run ended, by itself or not."""
