"""The job ``ingest``: runs, captures, traces, findings and vectors become rows of a lake, a batch for each.

A batch is named after what a run calls itself, or after a file's content: what is taken in twice is there once.
"""

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import nullcontext
from importlib.metadata import version as installed
from pathlib import Path
from typing import Literal

import msgspec

from conformance.run.journal import TornLine, read
from conformance.run.records import JOURNAL, TRACES, CasePlayed, RunEnded, RunStarted
from conformance.run.rule_findings import reached
from conformance.verdicts import Judgement
from fuzz.findings import BadFinding
from harness.captures.losses import Losses, Missing
from harness.captures.reader import lines_of, magic_of
from harness.captures.recorded_session import read_lines
from harness.captures.recordings import Recording
from harness.captures.servers import ServerEndpoint
from harness.errors import HarnessError
from harness.protocol import load
from reports.lake import findings
from reports.lake.lake import Lake, NoLake, Staging
from reports.lake.rows import SessionWriter
from reports.lake.schemas import RUNS, VERDICTS
from reports.progress import reporting

CHUNK = 1 << 20

SAME = ("--server", "--link", "--iut", "bytes of the journal")
"""Settings of a batch that have to be the same when its path is taken in again."""

Kind = Literal["run", "capture", "trace", "findings", "vectors"]


class CannotIngest(Exception):
    """What is to be taken in is neither a run nor a recording; the message names it and says why."""


INGEST_ERRORS = (CannotIngest, BadFinding, findings.BadVectors, TornLine, NoLake, HarnessError, OSError)
"""What is wrong with a path, or with the lake, and costs only what was to be taken in."""


def complaint(error: Exception, path: Path) -> str:
    """Say what is wrong with a path, in one line that names it."""
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}"
    return str(error)


def changed_message(path: Path) -> str:
    """Say that a file is not what it was when its batch was named."""
    return f"{path} changed while it was read: take it in once it is complete"


class IngestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How recordings are read, and who was recorded as far as the user says."""

    protocol: str
    servers: tuple[ServerEndpoint, ...] = ()
    transport: str | None = None
    iut: str = ""
    name: str = ""
    version: str = ""
    role: str = ""


class Ingested(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one path: ``is_new`` when its rows were added, ``trouble`` when they could not be."""

    path: str
    source: str = ""
    is_new: bool = False
    sessions: int = 0
    frames: int = 0
    verdicts: int = 0
    findings: int = 0
    vectors: int = 0
    losses: tuple[str, ...] = ()
    trouble: str = ""


def ingest(
    lake: Lake, path: Path, options: IngestOptions, on_progress: Callable[[int], None] | None = None
) -> Ingested:
    """Take in one path: a run's folder (``--report``), a capture or a trace; never raises for what is in it.

    ``on_progress`` is told several times a second, from another thread, how many bytes of a recording were read.
    """
    try:
        # Before its content is read for the name: a capture that is still written shows as one that has grown.
        size = path.stat().st_size
        kind = kind_of(path)
        source = batch_of(path, kind, options.protocol)
        # Before anything is read: taking in a folder of a hundred captures again costs their digests, and no more.
        if (there := already_ingested(lake, source, path, options)) is not None:
            return there
        with lake.stage(source, "ingest", settings=settings_of(path, options)) as staging:
            losses = Losses()
            writer = SessionWriter(staging.write, source, options.protocol)
            verdicts = _take(staging, path, kind, options, writer, losses, on_progress)
            # What was read is not what the batch is named after: the whole file would come in again under another name.
            if path.is_file() and path.stat().st_size != size:
                raise CannotIngest(changed_message(path))
            for loss in losses.all():
                writer.lose(loss)
            writer.finish()
            committed = staging.commit()
    # Told, not raised: one bad file of a hundred costs only itself.
    except INGEST_ERRORS as error:
        return Ingested(path=str(path), trouble=complaint(error, path))
    return Ingested(
        path=str(path),
        source=source,
        is_new=committed is not None,
        sessions=writer.sessions,
        frames=writer.frames,
        verdicts=verdicts,
        findings=committed.rows.get("findings", 0) if committed else 0,
        vectors=committed.rows.get("vectors", 0) if committed else 0,
        losses=tuple(map(str, writer.losses.all())),
    )


def already_ingested(lake: Lake, source: str, path: Path, options: IngestOptions) -> Ingested | None:
    """Say of a path whose batch is in the lake that it is there; None if it is not, or is damaged: then it is new.

    It is trouble when it was taken in otherwise, or a run has gone on since.
    """
    if source not in lake:
        return None
    batch = lake.batch(source)
    if batch is None:
        # Its source is here, so it can be made whole; only where it is not, a damaged batch is left as it is.
        lake.discard(source)
        return None
    now = settings_of(path, options)
    trouble = [
        f"{name} {batch.settings[name]!r}, now {now[name]!r}" for name in SAME if _differs(batch.settings, now, name)
    ]
    if not trouble:
        return Ingested(path=str(path), source=source)
    why = f"{path} is in the lake already, taken in otherwise: {'; '.join(trouble)}: take it into another lake"
    return Ingested(path=str(path), source=source, trouble=why)


def _differs(then: Mapping[str, str], now: Mapping[str, str], name: str) -> bool:
    # Whoever does not say who was recorded does not say that it was another.
    if name == "--iut" and not now.get(name):
        return False  # whoever does not say who was recorded does not say that it was another
    return name in then and name in now and then[name] != now[name]


def kind_of(path: Path) -> Kind:
    """Tell what a path holds; CannotIngest when that is nothing to take in."""
    if path.is_dir():
        if (path / JOURNAL).is_file():
            return "run"
        if findings.holds_findings(path):
            return "findings"
        raise CannotIngest(f"{path} holds no run: there is no {JOURNAL} in it; and no findings")
    if findings.holds_vectors(path):
        return "vectors"
    # By its first byte: a trace is lines of JSON, and no format of captures begins so.
    return "trace" if magic_of(path)[:1] == b"{" else "capture"


def batch_of(path: Path, kind: Kind, protocol: str) -> str:
    """Return the name of the batch that holds a path's rows."""
    if kind == "run":
        return f"run-{_run_started(path).run}"
    if kind == "findings":
        return f"{kind}-{findings.digest_of(path)[:16]}-{protocol}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            digest.update(data)
    return f"{kind}-{digest.hexdigest()[:16]}-{protocol}"


def settings_of(path: Path, options: IngestOptions) -> dict[str, str]:
    """Return how a path is taken in, as its batch says."""
    settings = {"path": str(path.resolve()), "protocol": options.protocol}
    if path.is_dir():
        journal = path / JOURNAL
        return settings | ({"bytes of the journal": str(journal.stat().st_size)} if journal.is_file() else {})
    # Spelled in one way, whatever way the user spelled them in: they are compared when the path is taken in again.
    servers = " ".join(f"{each.host.hex()}:{each.port}" for each in options.servers)
    return settings | {"--server": servers, "--link": options.transport or "", "--iut": options.iut}


def _run_started(folder: Path) -> RunStarted:
    records, _ = read(folder / JOURNAL)
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    if started is None:
        raise CannotIngest(f"{folder / JOURNAL} does not say what was run: its first record is missing")
    return started


def _take(
    staging: Staging,
    path: Path,
    kind: Kind,
    options: IngestOptions,
    writer: SessionWriter,
    losses: Losses,
    on_progress: Callable[[int], None] | None,
) -> int:
    if kind == "run":
        return _run(staging, path, options, writer, losses)
    if kind == "findings":
        findings.ingest_findings(staging, path, options.protocol, losses)
        return 0
    if kind == "vectors":
        findings.ingest_vectors(staging, path, options.protocol)
        return 0
    source = Recording(path, options.protocol, servers=options.servers, transport=options.transport)
    # Another thread looks at how far the reader is, so that reading itself never stops to tell.
    with nullcontext() if on_progress is None else reporting(lambda: on_progress(source.position)):
        for recorded in source:
            writer.add(recorded)
    losses.take(source.losses.all())
    writer.finish()
    # A trace has frames and no packets.
    packets = source.packets if kind == "capture" else None
    row = run_row(staging.batch.id, kind, path, options, packets, source.size)
    staging.write(RUNS, RUNS.rows([row | {"sessions": writer.sessions, "frames": writer.frames}]))
    return 0


def run_row(
    source: str, kind: Kind, path: Path, options: IngestOptions, packets: int | None, size: int
) -> dict[str, object]:
    """Return the row of the table runs for a recording, but for what was found in it."""
    return {
        "source": source,
        "kind": kind,
        "file": path.name,
        "protocol": options.protocol,
        "iut": options.iut,
        "name": options.name,
        "version": options.version,
        "role": options.role,
        "goldwire": installed("goldwire"),
        "packets": packets,
        "bytes": size,
    }


def _run(staging: Staging, folder: Path, options: IngestOptions, writer: SessionWriter, losses: Losses) -> int:
    records, torn = read(folder / JOURNAL)
    started = next(record for record in records if isinstance(record, RunStarted))
    # The journal says what it is of, and a wrong word on the command line must not file it elsewhere.
    if started.protocol != options.protocol:
        raise CannotIngest(f"{folder} is a run of {started.protocol}, not of {options.protocol}")
    # A run that was killed has an incomplete last line; what stands before it counts.
    if torn:
        losses.add(Missing.CUT_OFF, what=JOURNAL)
    played = [record for record in records if isinstance(record, CasePlayed)]
    ended = next((record for record in records if isinstance(record, RunEnded)), None)
    judged = reached(judgement for record in played for judgement in record.judgements)
    rows = [row for record in played for row in _verdicts(staging.batch.id, started, record, judged)]
    if rows:
        staging.write(VERDICTS, VERDICTS.rows(rows))
    # In one order, so that the same run makes the same rows wherever it is taken in.
    for path in sorted((folder / TRACES).glob("*.ndjson")):
        lines = lines_of(path, losses)
        for recorded in read_lines(lines, path.name, options.protocol, losses, load(options.protocol).usual_side):
            writer.add(recorded)
    writer.finish()
    found: dict[str, object] = {
        "source": staging.batch.id,
        "kind": "run",
        "file": folder.name,
        "interrupted": ended.interrupted if ended else None,
        "exit": ended.exit if ended else None,
        "cases": len(played),
        "sessions": writer.sessions,
        "frames": writer.frames,
        "bytes": (folder / JOURNAL).stat().st_size,
    }
    of_run: dict[str, object] = {name: getattr(started, name) for name in RUNS.schema.names if hasattr(started, name)}
    staging.write(RUNS, RUNS.rows([of_run | found]))
    return len(rows)


def _verdicts(
    source: str, started: RunStarted, record: CasePlayed, judged: Container[str]
) -> Iterator[dict[str, object]]:
    """Yield a row for each judgement; a case that was not judged has one for each of its rules, or one without.

    That a case ended before it came to a rule says nothing of a rule that other cases of the run have ``judged``.
    """
    # A case that ended in an error said nothing of its rules: each of them has a row that says so.
    unjudged = (Judgement(rule, record.outcome, record.case, what=record.error) for rule in record.rules or ("",))
    for judgement in record.judgements or unjudged:
        if judgement.is_cut_short and judgement.rule in judged:
            continue
        yield {
            "source": source,
            "kind": "run",
            "origin": "live",
            "session": None,
            "case": record.case,
            "rule": judgement.rule,
            "outcome": judgement.outcome.value,
            "by": judgement.by,
            "what": judgement.what,
            "reading": judgement.reading,
            "evidence": judgement.evidence,
            "entry": judgement.entry,
            "nth": judgement.nth,
            "field": judgement.field,
            "trace": record.trace,
            "attempts": record.attempts,
            "flaky": judgement.disagreement.counts if judgement.disagreement else "",
            "name": started.name,
            "version": started.version,
            "role": started.role,
            "profile": started.profile,
            "transport": started.transport,
            "protocol": started.protocol,
        }
