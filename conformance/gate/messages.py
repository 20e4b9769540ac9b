"""What the process that plays tells the process that collects: values that travel as JSON on pytest's reports.

The two are one process without ``-n``. With it, pytest-xdist carries a worker's reports to the controller and keeps
only attributes that are plain values; so a message is a string there, whatever the number of processes.
"""

import os

import msgspec
import pytest

from conformance.run.records import CasePlayed

ATTRIBUTE = "goldwire_message"
PLAYER = "goldwire_player"
"""The attributes of a report that carry a message, and the number of the process that plays.

The names are ours alone, as reports are shared by all plugins.
"""


class Played(msgspec.Struct, frozen=True, tag=True):
    """A case was played; ``trouble`` says what could not be written."""

    record: CasePlayed
    trouble: str = ""


class ImplementationNotStarted(msgspec.Struct, frozen=True, tag=True):
    """The implementation did not start, so nothing was played."""

    message: str


Message = Played | ImplementationNotStarted

_DECODER = msgspec.json.Decoder(Message)


def attach(report: pytest.TestReport, message: Message) -> None:
    """Put a message on a report."""
    setattr(report, ATTRIBUTE, msgspec.json.encode(message).decode())


def attached(report: pytest.TestReport) -> Message | None:
    """Return the message that is on a report, if any: reports of ordinary tests have none."""
    text = getattr(report, ATTRIBUTE, None)
    return None if text is None else _DECODER.decode(text)


def sign(report: pytest.TestReport) -> None:
    """Put the number of this process on a report."""
    setattr(report, PLAYER, os.getpid())


def player_of(report: pytest.TestReport) -> int | None:
    """Return the number of the process that a report is from: reports of ordinary tests have none."""
    number: int | None = getattr(report, PLAYER, None)
    return number
