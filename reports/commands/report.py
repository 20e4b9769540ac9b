"""``goldwire report``: the reports of runs, made anew from what they have recorded."""

import shutil
from pathlib import Path

import click

from conformance.gate import judging_options
from conformance.gate.terminal import conclusion
from conformance.run.records import JOURNAL, TRACES
from harness.command import WrongUsage
from reports.exports.rebuilding import NoRun, load_run, rebuild
from wire.files import written_whole


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write there, in a folder for each of several runs, and leave theirs as they are.",
)
@judging_options.expectations("Default: as of goldwire test.")
def report(runs: tuple[Path, ...], out: Path | None, expectations: Path | None) -> int:
    """Rebuild the reports of RUNs (folders that --report wrote) from their run.ndjson.

    Made anew are summary.json, junit.xml, index.html, summary.md and results.sarif; a run that was killed has them
    then, too.

    Exit status: 0 they are written; 1 one of them could not be; 2 wrong usage.

    \b
    Examples:
      goldwire report out
      goldwire report out --expectations accepted.toml
      goldwire report nightly/* --out reports
    """
    trouble = []
    try:
        for run in runs:
            folder = run if run.is_dir() else run.parent
            _, summary = load_run(run, expectations)
            if out is not None:
                folder = _copied(folder, out if len(runs) == 1 else out / folder.name)
            failed = rebuild(folder, summary)
            click.echo(f"{folder / 'index.html'}: {conclusion(summary)}")
            trouble += [f"{folder}: {each}" for each in failed]
    except NoRun as error:
        raise WrongUsage(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or out}: {error.strerror}") from None
    for each in trouble:
        click.echo(f"Error: {each}", err=True)
    return 1 if trouble else 0


def _copied(folder: Path, target: Path) -> Path:
    """Copy what a run recorded, which its reports link to; return where it is."""
    if target.resolve() != folder.resolve():
        target.mkdir(parents=True, exist_ok=True)
        _copy_whole(str(folder / JOURNAL), str(target / JOURNAL))
        if (folder / TRACES).is_dir():
            shutil.copytree(folder / TRACES, target / TRACES, copy_function=_copy_whole, dirs_exist_ok=True)
    return target


def _copy_whole(source: str, target: str) -> None:
    # Not by shutil's own functions: what fails there is said to be the source.
    with written_whole(Path(target)) as draft, Path(source).open("rb") as file, draft.open("wb") as copy:
        shutil.copyfileobj(file, copy)
