"""``goldwire test``: plays the cases of a protocol against an implementation, by way of pytest.

Cases are pytest functions, so that their authors and users have its selection, its plugins and its workers. Whoever
runs the gate should not need to know that: pytest's own output is muted, and its settings around here are kept out.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from conformance.cases import cases_folder
from conformance.catalogue.completion import rules
from conformance.catalogue.rules import Profile
from conformance.gate import judging_options
from conformance.gate.printing import print_lines
from conformance.gate.progress import ProgressBar
from conformance.gate.terminal import summary_lines
from conformance.run.recorder import RunRecorder, Unwritable
from conformance.run.records import CasePlayed
from conformance.run.settings import BadSettings, RunSettings, gather
from conformance.run.summary import INTERRUPTED
from conformance.verdicts import Strictness
from harness.command import WRONG_USAGE, WrongUsage
from harness.errors import StartFailed
from harness.iuts.environments import install
from harness.links.transports import SPELLINGS, TRANSPORTS
from harness.protocol import IncompleteProtocol
from harness.user_folders import cache
from vectors.durations import read_time
from wire import completion

NOT_FOR_CASES = ("doctest", "legacypath", "pastebin", "unittest", "unraisableexception")
"""Plugins of pytest that no case needs: the last would look for garbage twice at the end, after all is reported."""

# What pytest's own statuses mean here when there is no summary.
STATUSES: dict[int, int] = {
    pytest.ExitCode.USAGE_ERROR: WRONG_USAGE,
    pytest.ExitCode.INTERRUPTED: INTERRUPTED,
}


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
@click.option("--iut", default="peer:", show_default=True, metavar="NAME|FILE|ADDRESS", help="What to test.")
@judging_options.profile
@judging_options.strictness
@judging_options.report()
@click.option(
    "-k",
    "keyword",
    metavar="PATTERN",
    shell_complete=rules,
    help="Only cases whose name or rule ids match: 'ZI-01* or options'.",
)
@click.option("-n", "workers", metavar="N|auto", help="Play with N workers, each with an instance of its own.")
@click.option(
    "--link",
    type=click.Choice([*TRANSPORTS, *SPELLINGS]),
    help="Default: what the implementation speaks first.",
)
@click.option("--path", metavar="PATH", help="What befalls datagrams on their way: loss=0.1,doubling=0.05,jitter=0.02.")
@judging_options.expectations("Default: expectations/NAME.toml here, or what comes with goldwire.")
@click.option("--accept", is_flag=True, help="Rewrite the expectations so that this run is as expected.")
@click.option("--histories", type=click.IntRange(min=1), metavar="N", help="Play N histories of each kind.")
@click.option("--for", "seconds", metavar="TIME", callback=read_time, help="Play histories for so long: 60s, 10m.")
@click.option("--max-time", metavar="TIME", callback=read_time, help="End after so long, red: 90s, 10m.")
@click.option("-x", "exit_first", is_flag=True, help="End at the first failure that nobody expects.")
@click.option("--alluredir", metavar="DIR", type=click.Path(file_okay=False), help="Write results for Allure there.")
@click.option("-v", "verbose", is_flag=True, help="Show in full what is known, too.")
@click.argument("pytest_args", nargs=-1, metavar="[-- PYTEST_ARGS...]")
def test(
    protocol: str,
    iut: str,
    profile: Profile,
    strictness: Strictness,
    report: Path | None,
    keyword: str | None,
    workers: str | None,
    link: str | None,
    path: str | None,
    expectations: Path | None,
    accept: bool,
    histories: int | None,
    seconds: float | None,
    max_time: float | None,
    exit_first: bool,
    alluredir: str | None,
    verbose: bool,
    pytest_args: tuple[str, ...],
) -> None:
    """Test whether an implementation speaks PROTOCOL as its document says.

    Exit status: 0 as expected; 1 a failure, an unexpected pass, an error or nothing tested; 2 wrong usage;
    3 the implementation could not be started; 130 interrupted (the report of what was played is written).

    \b
    Examples:
      goldwire test zenoh --iut ./mine.toml --report out
      goldwire test zenoh --iut tcp/127.0.0.1:7447 -k 'ZI-01* or options'
    """
    try:
        settings = gather(
            iut,
            protocol,
            profile=profile,
            strictness=strictness,
            link=link,
            path=path,
            expectations=expectations,
            accept=accept,
            report=report,
        )
        folder = cases_folder(protocol)
    except (BadSettings, IncompleteProtocol) as error:
        raise WrongUsage(str(error)) from None
    arguments = [
        *_isolation(folder),
        *("--goldwire-iut", iut, "--goldwire-protocol", protocol),
        *("--goldwire-profile", profile, "--goldwire-link", settings.transport),
        *("--goldwire-strictness", strictness.value),
        *(("--goldwire-path", path) if path else ()),
        *(("--goldwire-report", str(report)) if report else ()),
        *(("-k", keyword) if keyword else ()),
        *(("--goldwire-expectations", str(expectations)) if expectations else ()),
        *(("--goldwire-accept",) if accept else ()),
        *(("--goldwire-histories", str(histories)) if histories is not None else ()),
        *(("--goldwire-for", str(seconds)) if seconds is not None else ()),
        *(("--goldwire-max-time", str(max_time)) if max_time is not None else ()),
        *(("-x",) if exit_first else ()),
        # By stealing: cases take from nothing to many round trips, and the last of them would be waited for.
        *(("-p", "xdist", "-n", _workers(workers), "--dist", "worksteal") if workers is not None else ()),
        *(("-p", "allure_pytest", "--alluredir", alluredir) if alluredir else ()),
        *pytest_args,
    ]
    sys.exit(_play(arguments, settings, keyword, verbose=verbose))


def _play(arguments: list[str], settings: RunSettings, keyword: str | None, *, verbose: bool) -> int:
    """Let pytest play, print the summary, and return the exit status."""
    try:
        # Here, where it is seen that something is installed: pytest catches what is said while it plays.
        install(settings.description)
    except StartFailed as error:
        return _not_started(settings, str(error))
    bar = ProgressBar(sys.stderr)
    try:
        with _environment():
            status = int(pytest.main(arguments, plugins=[bar]))
    finally:
        bar.close()
    summary = bar.summary
    if summary is None:
        # Before its session began: what fails later is in the summary, among the errors of the tester.
        if bar.internal_error:
            click.echo(f"Error: pytest, which plays the cases, failed:\n{bar.internal_error}", err=True)
        return STATUSES.get(status, 1)
    lines = summary_lines(summary, settings.catalogue, bar.records, verbose=verbose, report=settings.report)
    print_lines(lines, sys.stdout)
    # What was left out was selected all the same, and the summary says why.
    selected = any(isinstance(record, CasePlayed) for record in bar.records)
    if not (selected or summary.not_started or summary.interrupted or summary.errors):
        click.echo(_nothing(settings, keyword), err=True)
    return summary.exit


def _not_started(settings: RunSettings, why: str) -> int:
    """Report that what is to be tested could not be had, and return the exit status."""
    run = RunRecorder(settings)
    try:
        run.start()
    except Unwritable as error:
        raise WrongUsage(str(error)) from None
    run.not_started = why
    summary = run.finish()
    print_lines(summary_lines(summary, settings.catalogue, run.records, report=settings.report), sys.stdout)
    return summary.exit


def _nothing(settings: RunSettings, keyword: str | None) -> str:
    where = f"cases of {settings.protocol} for a {settings.description.role} over {settings.transport}"
    if keyword:
        return f"Error: nothing was tested: -k {keyword!r} selects none of the {where}"
    return f"Error: nothing was tested: there are no {where}"


def _workers(text: str) -> str:
    if text != "auto" and not (text.isascii() and text.isdigit()):
        raise WrongUsage(f"-n: {text!r} is neither a number of workers nor 'auto'")
    return text


def _isolation(folder: Path) -> list[str]:
    """Return the arguments that keep the user's own pytest settings and conftest files out."""
    return [
        str(folder),
        # An empty file for the settings, and no conftest from above the cases: both change what is played, or how.
        *("-c", os.devnull, "--rootdir", str(folder), "--confcutdir", str(folder)),
        # Our own plugin by name, as loading by entry points is off; and no .pytest_cache beside the installed cases.
        *("-p", "goldwire", "-p", "no:cacheprovider"),
        # What serves other tests than cases: together a quarter of the time that pytest itself takes to start and end.
        *(word for plugin in NOT_FOR_CASES for word in ("-p", f"no:{plugin}")),
    ]


@contextmanager
def _environment() -> Iterator[None]:
    """Keep other plugins and options from the environment out, for this process and its workers.

    Hypothesis keeps what it has found out about the code under the user's cache, not in whatever folder this is.
    """
    wanted = {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        "PYTEST_PLUGINS": "",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(cache() / "hypothesis"),
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
