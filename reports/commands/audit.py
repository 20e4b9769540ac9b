"""``goldwire audit``: verdicts from recordings, by the monitors that watch a live run."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.audit import Audit, RecordingAudit, case
from conformance.catalogue.loading import CatalogueError, protocols
from conformance.catalogue.rules import Profile
from conformance.contract.expectations import BadExpectations, Expectations, find_expectations, load_expectations
from conformance.gate import judging_options as judging
from conformance.gate.printing import print_lines
from conformance.gate.terminal import summary_lines
from conformance.run.recorder import Unwritable
from conformance.run.settings import RunSettings
from conformance.run.summary import RunSummary
from conformance.suite import Suite
from conformance.verdicts import Strictness
from harness.captures.losses import Losses
from harness.captures.recorded_session import SIDES, RecordedSession
from harness.captures.recordings import Recording
from harness.captures.servers import ServerEndpoint, parse_server
from harness.command import WrongUsage
from harness.errors import BadDescription, HarnessError, NotInstalled
from harness.iuts.description import Description, Remote, resolve, roles_of
from harness.links.addresses import Address
from harness.links.transports import SPELLINGS, TRANSPORTS, known_transport
from harness.protocol import load
from reports.commands.options import ALL_CORES, NO_SPARK, master, requiring_arrow, spark_settings
from reports.commands.sizes import size
from reports.progress import reporting
from wire import completion

if TYPE_CHECKING:
    from reports.jobs.spark_audit import JudgedRecording

    Judges = Callable[[Path, str], JudgedRecording]

OVER = "recording"
"""What stands for the transport in the records of an audit: a capture may have sessions over several."""

# A file and no folder: runs have traces of their own, which are named one by one.
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

Judged = Literal["listening", "dialling", "both"]


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
@click.argument("captures", nargs=-1, required=True, metavar="CAPTURE...", type=_FILE)
@click.option(
    "--judge",
    "sides",
    type=click.Choice([*SIDES, "both", "server", "client"]),
    help="Which side of each session; server and client are other words for listening and dialling."
    " Default: who listens; who dials, where nodes meet at a broker.",
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="[HOST:]PORT",
    help="Only sessions with this server, whatever is said in them; repeatable. Default: all that speak PROTOCOL.",
)
@click.option("--link", type=click.Choice([*TRANSPORTS, *SPELLINGS]), help="Default: as the frames show.")
@click.option(
    "--session", "session", type=click.IntRange(min=1), metavar="N", help="Only the session that begins at this packet."
)
@judging.profile
@judging.strictness
@click.option(
    "--iut",
    metavar="NAME|FILE",
    help="Who was recorded, such as eclipse-zenoh==1.10.2:router: for the report, and for what is known of it.",
)
@judging.expectations("Default: that of --iut.")
@judging.report("recordings.json, ")
@click.option("--json", "as_json", is_flag=True, help="Print the summary, and what was lost, as one JSON object.")
@click.option(
    "--spark-from",
    callback=size,
    # Spark takes some seconds to start, in which this process reads a good part of a capture of this size.
    default="256MiB",
    show_default=True,
    metavar="SIZE",
    help="Captures that are together as large as this are judged on Spark, where it is installed.",
)
@master(ALL_CORES)
def audit(
    protocol: str,
    captures: tuple[Path, ...],
    sides: str | None,
    servers: tuple[str, ...],
    link: str | None,
    session: int | None,
    profile: Profile,
    strictness: Strictness,
    iut: str | None,
    expectations: Path | None,
    report: Path | None,
    as_json: bool,
    spark_from: int,
    master: str,
    memory: int | None,
) -> int:
    """Judge what was recorded of PROTOCOL: captures (pcap, pcapng, plain, gzip or zstd) and traces of runs (NDJSON).

    Exit status: 0 as expected; 1 a failure, an error, or nothing that could be judged; 2 wrong usage; 130 interrupted.

    \b
    Examples:
      goldwire audit zenoh capture.pcapng
      goldwire audit pathfinder *.pcap.gz --judge both --report out
    """
    # Both pairs of words are taken, as people say server and client; but who listens is what a capture shows.
    sides = sides or _usual_side(protocol)
    judged: Judged = {"server": "listening", "client": "dialling"}.get(sides, sides)  # type: ignore[assignment]
    settings = _settings(protocol, captures, judged, profile, strictness, iut, expectations, report)
    command_line = _command_line(protocol, judged, servers, link, profile, strictness, iut, expectations)
    run = Audit(settings)
    try:
        wanted = tuple(parse_server(text) for text in servers)
        sources = [_source(path, protocol, wanted, link, _name(path, captures)) for path in captures]
        # Only once every file was opened and every address read: a report's folder is not touched by wrong usage.
        run.start()
    except (BadDescription, NotInstalled, Unwritable) as error:
        raise WrongUsage(str(error)) from None
    try:
        # One session alone is found faster by reading up to it than by starting Spark, which takes seconds.
        is_large = sum(source.size for source in sources) >= spark_from and session is None and master != NO_SPARK
        with (
            _judged_on_spark(sources, wanted, link, judged, profile, master, memory)
            if is_large
            else nullcontext() as judge_on_spark,
            _progress(sources) as progress,
        ):
            for source in sources:
                if judge_on_spark is None or not _record_judged(run, judge_on_spark, source, judged, command_line):
                    _audit_here(run, source, judged, profile, command_line, session, progress)
    except KeyboardInterrupt:
        # What was judged before is reported, as for an interrupted run of cases.
        run.interrupted = True
    _print(run, run.finish(), as_json=as_json, servers=servers, session=session)
    return run.finish().exit


class OnAuditProgress(Protocol):
    """Called with how far an audit has come."""

    def __call__(self, source: Recording, sessions: int) -> None:
        """Show it."""
        ...


def _usual_side(protocol: str) -> str:
    if protocol not in protocols():
        raise WrongUsage(f"unknown protocol {protocol!r}: known are {', '.join(protocols())}")
    return load(protocol).usual_side


def _settings(
    protocol: str,
    captures: tuple[Path, ...],
    judged: Judged,
    profile: Profile,
    strictness: Strictness,
    iut: str | None,
    expectations: Path | None,
    report: Path | None,
) -> RunSettings:
    try:
        suite = Suite(protocol)
        description = resolve(iut, protocol) if iut else _unknown(suite, captures, judged)
        path = (
            find_expectations(description.name, protocol, description.expectations, expectations)
            if iut
            else expectations
        )
        contract = load_expectations(path, roles_of(protocol)) if path is not None else Expectations()
    except BadDescription as error:
        raise WrongUsage(f"--iut: {error}") from None
    except (BadExpectations, CatalogueError) as error:
        raise WrongUsage(str(error)) from None
    return RunSettings(
        iut=" ".join(map(str, captures)),
        protocol=protocol,
        profile=profile,
        transport=OVER,
        strictness=strictness,
        description=description,
        catalogue=suite.catalogue,
        expectations=contract,
        report=report,
        given=expectations,
    )


def _unknown(suite: Suite, captures: tuple[Path, ...], judged: Judged) -> Description:
    """Describe whoever was recorded, in the role that the judged side has."""
    roles = tuple(suite.harness.roles)
    # Nobody said who was recorded: any role that has the judged side's part in dialling has the same rules there. At a
    # broker all dial, and any of them may have been recorded.
    fitting = [role for role in roles if (role in suite.harness.dials) == (judged == "dialling")]
    is_any = judged == "both" or suite.harness.is_brokered
    more = f" and {len(captures) - 1} more" if len(captures) > 1 else ""
    return Description(
        name=captures[0].name + more,
        protocol=suite.protocol,
        role="both" if is_any else fitting[0],
        roles=roles,
        source=Remote(Address(suite.harness.usual_transport, "recorded")),
    )


def _command_line(
    protocol: str,
    judged: Judged,
    servers: tuple[str, ...],
    link: str | None,
    profile: str,
    strictness: Strictness,
    iut: str | None,
    expectations: Path | None,
) -> list[str]:
    """Return the command line that judges the same way, without the capture."""
    words = ["goldwire", "audit", protocol]
    words += ["--judge", judged] if judged != _usual_side(protocol) else []
    for server in servers:
        words += ["--server", server]
    # Only what was given: the shorter the line, the more likely somebody repeats it.
    for name, value in (("link", link), ("iut", iut), ("expectations", expectations)):
        words += [f"--{name}", str(value)] if value else []
    words += [f"--{strictness.value}"] if strictness is not Strictness.AS_EXPECTED else []
    return words + (["--profile", profile] if profile != "document" else [])


def _name(path: Path, captures: tuple[Path, ...]) -> str:
    """Return what to call a file's sessions after: its name, or its path where others have the same name."""
    # By its path only where it has to be: a name stays the same when the recording moves to another machine.
    return path.name if [each.name for each in captures].count(path.name) == 1 else str(path)


def _source(path: Path, protocol: str, servers: tuple[ServerEndpoint, ...], link: str | None, name: str) -> Recording:
    transport: str | None = known_transport(link) if link else None
    try:
        return Recording(path, protocol, servers=servers, transport=transport, name=name)
    except OSError as error:
        raise WrongUsage(f"{path}: cannot be read: {error.strerror or error}") from None


def _audit_here(
    run: Audit,
    source: Recording,
    judged: Judged,
    profile: Profile,
    command_line: list[str],
    only: int | None,
    on_progress: OnAuditProgress,
) -> None:
    suite = Suite(run.settings.protocol)
    losses, sessions, sessions_judged = Losses(), 0, 0
    # How much of the file was read, as how many sessions it has is not known before its end.
    with reporting(lambda: on_progress(source, sessions)):
        for recorded in source:
            if only not in (None, recorded.number):
                continue
            sessions += 1
            losses.take(recorded.losses)
            reproduce = _reproduce(command_line, recorded, source)
            records = [run.judge(recorded.seen_from(side), suite, profile, reproduce) for side in _sides(judged)]
            sessions_judged += any(record.judgements for record in records)
    losses.take(source.losses.all())
    run.add_recording(RecordingAudit(str(source.path), source.packets, sessions, sessions_judged, losses.all()))


def _sides(judged: Judged) -> tuple[str, ...]:
    return SIDES if judged == "both" else (judged,)


@contextmanager
def _judged_on_spark(
    sources: list[Recording],
    servers: tuple[ServerEndpoint, ...],
    link: str | None,
    judged: Judged,
    profile: Profile,
    master: str,
    memory: int | None,
) -> Iterator["Judges | None"]:
    """Judge all files on Spark; gives what returns the judgements on each, None where Spark is not to be had."""
    protocol, transport = sources[0].protocol, known_transport(link) if link else None
    with ExitStack() as stack:
        try:
            # Without Arrow or Spark the audit works, and is slower: nobody has to install them for a capture of a few
            # megabytes.
            with requiring_arrow():
                from reports.jobs.ingest import IngestOptions
                from reports.jobs.spark_audit import judged_on_spark
            ingest_options = IngestOptions(protocol=protocol, servers=servers, transport=transport)
            paths = [source.path for source in sources]
            its = judged_on_spark(paths, ingest_options, _sides(judged), profile, master, memory, spark_settings())
            judge_on_spark = stack.enter_context(its)
        except BadDescription as error:
            raise WrongUsage(f"--master: {error}") from None
        except HarnessError as error:
            large = sum(source.size for source in sources) >> 20
            click.echo(f"{large} MiB are judged in this process, which takes longer than on Spark: {error}", err=True)
            yield None
            return
        yield judge_on_spark


def _record_judged(
    run: Audit, judge_on_spark: "Judges", source: Recording, judged: Judged, command_line: list[str]
) -> bool:
    """Record the judgements of Spark on a file; False when it could not be taken in there."""
    from reports.jobs.spark_audit import NotJudged

    try:
        judged_recording = judge_on_spark(source.path, source.name)
    except NotJudged as error:
        click.echo(f"{source.path} is judged in this process: {error}", err=True)
        return False
    losses, sessions, sessions_judged = Losses(), 0, 0
    for views in judged_recording.sessions(_sides(judged), keep=run.settings.report is not None):
        recorded = views[0].recorded
        sessions += 1
        losses.take(recorded.losses)
        sessions_judged += any(view.judgements for view in views)
        reproduce = _reproduce(command_line, recorded, source)
        for view in views:
            run.add_case(case(view.recorded, view.judgements, reproduce, frames=view.frames), view.whole)
    losses.take(judged_recording.losses.all())
    run.add_recording(
        RecordingAudit(str(source.path), judged_recording.packets, sessions, sessions_judged, losses.all())
    )
    return True


def _reproduce(command_line: list[str], recorded: RecordedSession, source: Recording) -> str:
    return shlex.join([*command_line, "--session", str(recorded.number), str(source.path)])


@contextmanager
def _progress(sources: list[Recording]) -> Iterator[OnAuditProgress]:
    """Show how much of the files was read, on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading", total=sum(source.size for source in sources))

        def on_progress(source: Recording, sessions: int) -> None:
            # By bytes of files, as how many sessions there are is not known before the end.
            before = sum(each.size for each in sources[: sources.index(source)])
            text = f"{source.path.name}: {sessions} sessions"
            progress.update(task, completed=before + source.position, description=text)

        yield on_progress


def _print(run: Audit, summary: RunSummary, *, as_json: bool, servers: tuple[str, ...], session: int | None) -> None:
    if as_json:
        found = {"summary": summary, "recordings": run.recordings}
        sys.stdout.write(msgspec.json.encode(found).decode() + os.linesep)
    else:
        for each in run.recordings:
            # What was lost comes before the verdicts, which are worth as much as the recording they are of.
            for line in each.lines():
                click.echo(line)
        click.echo()
        print_lines(summary_lines(summary, run.settings.catalogue, run.records, report=run.settings.report), sys.stdout)
    # Nothing judged is no success: a wrong port, or a capture of something else, must not pass a pipeline.
    if not any(rule.cases for rule in summary.rules.values()) and not summary.interrupted:
        click.echo(f"Error: nothing was judged: {_nothing(run, servers, session)}", err=True)


def _nothing(run: Audit, servers: tuple[str, ...], session: int | None) -> str:
    sessions, protocol = sum(each.sessions for each in run.recordings), run.settings.protocol
    if not sessions and session is not None:
        return f"no session of {protocol} begins at packet {session}; without --session all are judged, and named so"
    if not sessions and servers:
        return f"nobody speaks with {' or '.join(servers)} in what was recorded; leave out --server to search all of it"
    if not sessions:
        return f"there is no session of {protocol} in what was recorded; name its server with --server"
    return f"no monitor had an occasion, or the other side had left the document, in {sessions} sessions"
