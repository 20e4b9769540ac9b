"""``goldwire audit``: verdicts from recordings, by the monitors that watch a live run."""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from conformance.engine import Suite
from conformance.expectations import BadExpectations, Expectations, find, load
from conformance.records import TRACES, CasePlayed, weightiest
from conformance.rules import CatalogueError, Profile, protocols
from conformance.run import Run, Unwritable
from conformance.settings import Settings
from conformance.summary import Circumstances, Summary
from conformance.terminal import summary_lines
from conformance.verdicts import Outcome
from harness.addresses import SPELLINGS, TRANSPORTS, Transport, known_transport
from harness.errors import BadDescription, NotInstalled
from harness.iut import Address, Description, Remote, resolve
from harness.pcapng import write_pcapng
from harness.trace import write_ndjson
from reports.judging import judge
from reports.recordings import MEANINGS, Loss, Recorded
from reports.servers import Server, parse_server
from reports.sources import Source

WRONG_USAGE, INTERRUPTED = 2, 130
RECORDINGS = "recordings.json"
OVER = "recording"
"""What stands for the transport in the records of an audit: a capture may have sessions over several."""
