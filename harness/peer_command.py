"""``goldwire peer``: serve a reference peer, so that others can test against it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

import harness
from harness.accepting import open_more_files
from harness.addresses import parse_address
from harness.control import Request, answer, parse, write
from harness.errors import BadDescription
from harness.faults import Variant, Variants
from harness.iut import is_described, resolve
from harness.nodes import Node, is_dialler
from harness.serving import Server

_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


def protocols() -> list[str]:
    """Return the protocols that have reference peers: the folders of this room."""
    return sorted(module.name for module in iter_modules(harness.__path__) if module.ispkg)


@click.command()
@click.argument("protocol")
@click.option("--role", help="The peer's role; the protocol's first by default.")
@click.option(
    "--listen",
    multiple=True,
    metavar="ADDRESS",
    help="Where to listen: tcp/127.0.0.1:7447, tls/…, udp/…, ux/NAME; repeatable, of several kinds at once.",
)
@click.option(
    "--connect",
    multiple=True,
    metavar="ADDRESS",
    help="Where to dial, for roles that dial; repeatable.",
)
@click.option("--scenario", envvar="GOLDWIRE_SCENARIO", default="", help="What a role that dials is to play.")
@click.option("--certificate", type=_PEM, help="For tls/…: a PEM file. Without it one is made fresh.")
@click.option("--key", type=_PEM, help="The certificate's key, unless it stands in the same file.")
@click.option("--fault", metavar="RULE|NAME", help="Break a rule.")
@click.option("--oddity", metavar="RULE|NAME", help="Keep a rule in a legal but unusual way.")
@click.option("--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True)
@click.option("--time-scale", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
@click.option("--variants", is_flag=True, help="List the faults and oddities, and leave.")
def peer(
    protocol: str,
    role: str | None,
    listen: tuple[str, ...],
    connect: tuple[str, ...],
    scenario: str,
    certificate: Path | None,
    key: Path | None,
    fault: str | None,
    oddity: str | None,
    profile: str,
    time_scale: float,
    variants: bool,
) -> int:
    """Serve the reference peer of PROTOCOL until it is interrupted.

    Prints ``ready`` and where it listens, and ``event TEXT`` for what its application is told. Control lines
    (docs/control.md) are taken on standard input by roles that know verbs. ``--time-scale 10`` makes the peer's time
    run ten times as fast.
    """
    if protocol not in protocols():
        raise click.UsageError(f"unknown protocol {protocol!r}; there are {', '.join(protocols())}")
    brings = import_module(f"harness.{protocol}")
    if variants:
        _list(protocol)
        return 0
    make = _maker(protocol, brings, role, fault, oddity)
    if not connect and not listen:
        dials = getattr(make, "role", "") in brings.DIALS
        raise click.UsageError("say where to dial with --connect" if dials else "say where to listen with --listen")
    if listen and hasattr(make, "dials"):
        raise click.UsageError(f"a {make.role} of {protocol} only dials: say where with --connect, without --listen")
    for address in (*listen, *connect):
        _check(address, protocol)
    if key is not None and certificate is None:
        raise click.UsageError("--key without --certificate")
    options = {"scenario": scenario, "servers": len(connect)} if hasattr(make, "dials") else {}
    node: Node = make(profile=profile, **options)
    open_more_files()

    def serve() -> Server:
        return Server(node, brings.FRAMINGS, scale=time_scale, certificate=certificate, key=key)

    return asyncio.run(_serve(serve, listen, connect))


def _check(address: str, protocol: str) -> None:
    """Make sure that an address is one, of a transport that the reference peer speaks."""
    try:
        transport = parse_address(address).transport
    except BadDescription as error:
        raise click.UsageError(str(error)) from error
    # A protocol that somebody adds may have a peer before it is described as an implementation.
    speaks = resolve("peer:", protocol).transports if is_described(protocol) else (transport,)
    if transport not in speaks:
        raise click.UsageError(f"the peer of {protocol} does not speak over {transport}: it knows {', '.join(speaks)}")


def _maker(protocol: str, brings: Any, role: str | None, fault: str | None, oddity: str | None) -> Any:
    if fault and oddity:
        raise click.UsageError("either --fault or --oddity")
    if fault or oddity:
        return _variant(protocol, "fault" if fault else "oddity", fault or oddity or "", role).make
    if role is not None and role not in brings.ROLES:
        raise click.UsageError(f"unknown role {role!r}; there are {', '.join(brings.ROLES)}")
    return brings.ROLES[role or next(iter(brings.ROLES))]


def _kinds(protocol: str) -> dict[str, Variants]:
    return {
        "fault": import_module(f"harness.{protocol}.faults").FAULTS,
        "oddity": import_module(f"harness.{protocol}.oddities").ODDITIES,
    }


def _variant(protocol: str, kind: str, text: str, role: str | None) -> Variant:
    found = [each for each in _kinds(protocol)[kind].about(text) if role in (None, each.role)]
    if not found:
        raise click.UsageError(f"no {kind} is called {text!r} or about that rule; see goldwire peer --variants")
    return found[0]


def _list(protocol: str) -> None:
    for kind, variants in _kinds(protocol).items():
        for each in variants.all.values():
            click.echo(f"{kind:7} {each.name:36} {each.role:7} {', '.join(each.rules):24} {each.sentence}")


async def _serve(made: Callable[[], Server], listen: tuple[str, ...], connect: tuple[str, ...]) -> int:
    server = made()
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    server.on_death = over.set
    server.on_event = lambda text: _say(f"event {text}", over)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await server.listen(listen)
    if not is_dialler(server.node):
        for address in connect:
            await server.dial(address)
    _say(f"ready {' '.join((*server.addresses, *connect))}", over)
    if is_dialler(server.node):
        server.dial_at_will(connect)
    if server.node.verbs:
        _take_lines(server, over)
    await over.wait()
    server.stop()
    if server.death is not None:
        click.echo(f"the peer has died: {type(server.death).__name__}: {server.death}", err=True)
    return 1 if server.death is not None else 0


def _say(line: str, over: asyncio.Event) -> None:
    """Print a line at once; the peer ends when nobody is there to read it."""
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        over.set()


def _take_lines(server: Server, over: asyncio.Event) -> None:
    """Obey control lines on standard input; its end ends the peer."""
    loop = asyncio.get_running_loop()
    pending = bytearray()

    def take() -> None:
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            loop.remove_reader(sys.stdin)
            over.set()
        pending.extend(data)
        while b"\n" in pending:
            line, _, rest = bytes(pending).partition(b"\n")
            pending[:] = rest
            obey(line.decode(errors="replace"))

    def obey(line: str) -> None:
        request = parse(line)
        if request is not None:
            _say(write(answer(request, dict.fromkeys(server.node.verbs, handle))), over)

    def handle(request: Request) -> str:
        return server.command(request.verb, list(request.args))

    # A file, or /dev/null, which is what a job in the background is given, has nothing to say and no end to wait for.
    with suppress(PermissionError):
        loop.add_reader(sys.stdin, take)
