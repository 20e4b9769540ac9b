"""``goldwire init``: the files with which a project begins to have its implementation tested."""

import re
import shlex
import sys
from pathlib import Path

import click

from conformance.catalogue.loading import protocols
from conformance.init.first_files import CI_FILES, first_files, is_address, notes
from harness.command import WrongUsage
from harness.errors import BadDescription
from harness.protocol import WireProtocol, load
from wire import completion
from wire.files import write_new_file

NO_CI = "none"


@click.command()
@click.argument("protocol", required=False, shell_complete=completion.protocols)
@click.option("--command", metavar="COMMAND|ADDRESS", help="How the implementation is started, or where it runs.")
@click.option("--role", metavar="ROLE", help="What it is in the protocol: router, client, server …")
@click.option("--name", metavar="NAME", help="What reports call it. Default: as this folder is called.")
@click.option("--control/--no-control", default=None, help="Whether it can be told to act by lines on its input.")
@click.option(
    "--ci", type=click.Choice([*CI_FILES, NO_CI]), help="For which service. Default: whose files are here, or none."
)
def init(
    protocol: str | None, command: str | None, role: str | None, name: str | None, control: bool | None, ci: str | None
) -> int:
    """Begin to test your implementation of PROTOCOL: write its description, its expectations and a file for your CI.

    Asks for what no option says, where there is a terminal. In COMMAND stand {listen} (tcp/127.0.0.1:20001), {port}
    or, for what dials, {connect}: goldwire puts in where. What is there already is never written over.

    Exit status: 0 written; 1 a file cannot be written; 2 wrong usage, and nothing is written.

    \b
    Examples:
      goldwire init zenoh --command './build/router --port {port}' --role router
      goldwire init pathfinder --command tcp/127.0.0.1:4711 --role server --ci github
    """
    asking = sys.stdin.isatty()
    if not asking and (missing := [what for what, said in _needed(protocol, command) if said is None]):
        raise WrongUsage(f"there is no terminal to ask on: say {' and '.join(missing)}")
    definition = load(protocol or click.prompt("Protocol", type=click.Choice(protocols())))
    command = command or click.prompt(
        "How is it started, or where does it run?\n"
        "  for example: ./build/router --port {port}, python3 client.py {connect}, tcp/127.0.0.1:7447\n"
        "Command or address"
    )
    role = _role(definition, command, role, asking=asking)
    has_verbs = bool(definition.roles[role].verbs) and not is_address(command)
    if control is None:
        control = has_verbs and asking and click.confirm("Does it read control lines on its standard input?")
    name = name or _own_name(asking=asking)
    if ci is None:
        ci = _service()
        if asking:
            ci = click.prompt("Continuous integration", type=click.Choice([*CI_FILES, NO_CI]), default=ci)
    try:
        wanted = first_files(definition, role, command, name, None if ci == NO_CI else ci, control=control)
    except BadDescription as error:
        raise WrongUsage(str(error)) from None
    _write(wanted)
    for note in notes(definition, role, command):
        click.echo(f"note: {note}")
    iut = f"{command}:{role}" if is_address(command) else f"./{next(iter(wanted))}"
    line = f"goldwire test {definition.name} --iut {shlex.quote(iut)}"
    click.echo(f"\nnext: {line}\nthen: {line} --accept    # what is wrong and known; the reasons are yours")
    return 0


def _needed(protocol: str | None, command: str | None) -> list[tuple[str, str | None]]:
    return [(f"PROTOCOL ({', '.join(protocols())})", protocol), ("--command", command)]


def _role(definition: WireProtocol, command: str, role: str | None, *, asking: bool) -> str:
    """Return the role, of those that it can have: what has an address does not dial."""
    possible = [each for each in definition.roles if not (is_address(command) and each in definition.dials)]
    if role is None and asking and len(possible) > 1:
        return str(click.prompt("Role", type=click.Choice(possible), default=possible[0]))
    if role is not None and role not in possible:
        raise WrongUsage(f"--role: {role!r} is none of {', '.join(possible)}")
    return role or possible[0]


def _own_name(*, asking: bool) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path.cwd().name).strip("._-") or "mine"
    return str(click.prompt("Name", default=name)) if asking else name


def _service() -> str:
    if Path(".gitlab-ci.yml").exists():
        return "gitlab"
    return "github" if Path(".github").exists() else NO_CI


def _write(wanted: dict[Path, str]) -> None:
    """Write the files that are not there yet, and say so of each; the first has to be new if it is a description."""
    first = next(iter(wanted))
    if first.suffix == ".toml" and first.parent == Path() and first.exists():
        raise WrongUsage(f"{first} is there already: --name says another name")
    for path, text in wanted.items():
        try:
            write_new_file(path, text)
        except FileExistsError:
            click.echo(f"kept  {path}: it was there already")
        else:
            click.echo(f"wrote {path}")
