"""The commands ``goldwire fuzz net`` and ``goldwire fuzz merge``: campaigns against implementations that run."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TextColumn, TimeElapsedColumn

from conformance.catalogue.rules import Profile
from conformance.contract.expectations import BadExpectations
from conformance.gate import judging_options as judging
from fuzz.findings import README
from fuzz.net import campaign as campaigns
from fuzz.net.campaign import MOST_WORKERS, FoundFolder, NetworkCampaign, NetworkReport, OnNetworkProgress
from fuzz.net.campaign_subject import OtherCampaign
from fuzz.net.expected_findings import expected_of
from fuzz.net.fuzzed_node import described, in_role, transport_of
from fuzz.net.targets import load
from fuzz.net.worker import FuzzProgress
from harness.command import WrongUsage
from harness.errors import BadDescription
from harness.iuts.description import Remote
from harness.iuts.environments import install
from harness.links.transports import SPELLINGS, TRANSPORTS
from harness.protocol import IncompleteProtocol
from vectors.check_command import interrupted_by_signal
from vectors.durations import read_time
from wire import completion

NOTHING, FOUND, FAILED, INTERRUPTED = 0, 1, 1, 130
OUT = Path("findings")

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
@click.option("--iut", default="peer:", show_default=True, metavar="NAME|FILE|ADDRESS", help="What to fuzz.")
@click.option("--role", metavar="ROLE", help="Its role, where it has several; --iut NAME:ROLE says it too.")
@click.option("--for", "seconds", metavar="TIME", default="60s", show_default=True, callback=read_time, help="60s, 2h.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Of all choices.")
@click.option("--workers", metavar="N", type=click.IntRange(1, MOST_WORKERS), help="Instances at once: three a core.")
@click.option(
    "--out", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), default=OUT, show_default=True,
    help="Where findings go, a folder each; a campaign that began there goes on.",
)  # fmt: skip
@click.option("--link", type=click.Choice([*TRANSPORTS, *SPELLINGS]), help="Default: what it speaks first.")
@judging.profile
@click.option("--expect", metavar="FILE", type=_FILE, help="What is known of it. Default: the gate's expectations.")
@click.option(
    "--seed-trace", "traces", metavar="CAPTURE", multiple=True, type=_FILE,
    help="Begin with what was said in a recording as well; repeatable.",
)  # fmt: skip
@click.option("--no-feedback", is_flag=True, help="Make all tests anew, whatever they come to: to compare.")
@click.option("--coverage", is_flag=True, help="Our own peer only: be led by its code as well.")
@click.option("--defect", metavar="NAME|KIND|all", help="Our own peer only: have planted defects, to see them found.")
@click.pass_context
def net(
    context: click.Context,
    protocol: str,
    iut: str,
    role: str | None,
    seconds: float,
    seed: int,
    workers: int | None,
    out: Path,
    link: str | None,
    profile: Profile,
    expect: Path | None,
    traces: tuple[Path, ...],
    no_feedback: bool,
    coverage: bool,
    defect: str | None,
) -> None:
    """Search for what breaks an implementation of PROTOCOL, over real sockets: several sessions, mutated messages.

    After each test the service is tried between sessions that did nothing wrong. What shows is confirmed on a fresh
    instance, made small, and written as a folder with the command that tries it again.

    Exit status: 0 nothing found that is new in DIR; 1 findings, or nothing could be tested, or a worker ended early;
    2 wrong usage; 3 the implementation could not be started; 130 interrupted, and nothing found so far.

    \b
    Examples:
      goldwire fuzz net zenoh --iut eclipse-zenoh==1.10.2 --for 10m
      goldwire fuzz net zenoh --iut ./mine.toml --for 8h --out findings
    """
    try:
        description = described(protocol, iut, role or "")
        transport = transport_of(description, link or "")
        expected = expected_of(description, expect)
    except (BadDescription, IncompleteProtocol, BadExpectations) as error:
        raise WrongUsage(str(error)) from None
    if isinstance(description.source, Remote):
        if workers not in (None, 1):
            raise WrongUsage(f"{iut} runs already: several workers would harm each other there; leave out --workers")
        workers = 1
    if defect is not None and description.name != "peer":
        raise WrongUsage("--defect is for our own peer: --iut peer:")
    if coverage and description.name != "peer":
        raise WrongUsage("--coverage is for our own peer: another tells by itself what code runs")
    if traces and no_feedback:
        raise WrongUsage("--seed-trace is of no use with --no-feedback, which makes all tests anew: leave out one")
    campaign = NetworkCampaign(
        protocol=protocol,
        iut=in_role(protocol, iut, role or ""),
        role=description.role,
        implementation="" if isinstance(description.source, Remote) else description.name,
        seconds=seconds,
        seed=seed,
        workers=workers or campaigns.usual_workers(),
        out=out,
        transport=transport,
        profile=profile,
        feedback=not no_feedback,
        coverage=coverage,
        options=("--defect", defect) if defect is not None else (),
        expected=expected,
        expect=str(expect or ""),
        traces=traces,
    )
    install(description)
    with interrupted_by_signal(), shown(campaign) as on_progress:
        try:
            report = campaigns.run(campaign, load(protocol)[description.role], on_progress)
        except OtherCampaign as error:
            raise WrongUsage(str(error)) from None
    for line in summary_lines(report):
        click.echo(line)
    context.exit(_status(report))


def _status(report: NetworkReport) -> int:
    if any(each.new for each in report.findings):
        return FOUND
    if report.interrupted:
        return INTERRUPTED
    # Nothing tested is no success, and neither is a worker that has died of what nobody knows, or could not go on.
    return NOTHING if report.total("tests") and not (report.lost or report.failed) else FAILED


@contextmanager
def shown(campaign: NetworkCampaign) -> Iterator[OnNetworkProgress]:
    """Show how far a campaign is, on a terminal; what it finds is told at once, everywhere."""
    told: set[str] = set()

    def tell(report: NetworkReport) -> None:
        for each in report.findings:
            if each.new and each.folder.name not in told:
                told.add(each.folder.name)
                click.echo(f"after {report.seconds:.0f} s: {each.finding.sentence}", err=True)

    if not sys.stderr.isatty():
        yield tell
        return
    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"fuzzing {campaign.iut}", total=None)

        def show(report: NetworkReport) -> None:
            tell(report)
            when, what = report.latest
            doing = next((each.doing for each in report.workers.values() if each.doing), "fuzzing")
            new = sum(each.new for each in report.findings)
            bar.update(
                task,
                description=f"{doing} {campaign.iut}: {report.total('tests'):,} tests, {report.rate:,.0f}/s, "
                f"{report.features:,} states, {new} findings; last new {report.seconds - when:.0f} s ago: {what[:40]}",
            )

        yield show


def summary_lines(report: NetworkReport) -> Iterator[str]:
    """Write what came of a campaign: a few lines for each finding, then what was tried."""
    campaign = report.campaign
    yield from finding_lines(report.findings)
    new, known = sum(each.new for each in report.findings), sum(not each.new for each in report.findings)
    verdict = f"FOUND {new}" if new else "NOTHING NEW FOUND" if known else "NOTHING FOUND"
    version = f" ({report.version})" if report.version else ""
    places = f" at {report.places:,} places of its code" if report.places else ""
    ending = "; interrupted" if report.interrupted else ""
    yield (
        f"{verdict} {campaign.protocol} {campaign.role} {campaign.iut}{version}: {report.total('tests'):,} tests, "
        f"{report.rate:,.0f}/s, {report.features:,} states{places}, {campaign.workers} workers, seed {campaign.seed}, "
        f"{report.seconds:.0f} s{ending}"
    )
    when, what = report.latest
    yield (
        f"   {report.total('moves'):,} moves; last new after {when:.0f} s: {what[:80]}; "
        f"known ones met {report.total('again')} times, expected ones {report.total('expected')}, "
        f"{report.total('unconfirmed')} not confirmed; {report.total('restarts')} restarts; in {campaign.out}"
    )
    for name, status in report.lost.items():
        how = f"was killed by signal {-status}" if status < 0 else f"died with status {status}"
        yield f"   worker {name} {how}: what it had come to by then is kept"
    for name, why in report.failed.items():
        yield f"   worker {name} could not go on: {why}"
    if report.suspects:
        yield f"   {report.suspects} suspects were not looked into: who goes on with --out {campaign.out} does it first"
    if report.before:
        yield f"   before: {tried(report.before)}"


def finding_lines(findings: Sequence[FoundFolder]) -> Iterator[str]:
    """Write a few lines for each finding."""
    for each in findings:
        origin = each.finding.origin
        yield f"{each.finding.sentence}{'' if each.new else ' (known)'}, after {origin.seconds:.1f} s"
        yield f"   read: {each.folder / README}"
        yield f"   try again: {each.finding.replay_command} {shlex.quote(str(each.folder))}"


def tried(workers: Sequence[FuzzProgress]) -> str:
    """Say how much several workers have tried."""
    seeds = ", ".join(map(str, sorted({each.seed for each in workers})))
    tests, seconds = sum(each.tests for each in workers), sum(each.seconds for each in workers)
    return f"{tests:,} tests by {len(workers)} workers in {seconds:,.0f} s together, seeds {seeds}"


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_FOLDER)
@click.option("--out", metavar="DIR", required=True, type=click.Path(file_okay=False, path_type=Path))
def merge(folders: tuple[Path, ...], out: Path) -> None:
    """Put the folders of several network campaigns together in one, each finding once, and say what is in it.

    It can be gone on with: goldwire fuzz net … --out DIR.

    \b
    Examples:
      goldwire fuzz merge night-1 night-2 --out findings
    """
    try:
        found, workers = campaigns.merged(folders, out)
    except OtherCampaign as error:
        raise WrongUsage(str(error)) from None
    for line in finding_lines(found):
        click.echo(line)
    click.echo(f"{len(found)} FINDINGS in {out}: {tried(workers)}")
