"""``goldwire peer``: serve a reference peer, so that others can test against it."""

import asyncio
import os
import signal
import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

import harness
from harness.addresses import parse_address
from harness.control import Request, answer, parse, write
from harness.errors import BadDescription
from harness.faults import Variant, Variants
from harness.nodes import Node
from harness.serving import Server


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
    help="Where to listen: tcp/127.0.0.1:7447, udp/…; repeatable.",
)
@click.option("--connect", metavar="ADDRESS", help="Where to dial, for roles that dial.")
@click.option("--fault", metavar="RULE|NAME", help="Break a rule.")
@click.option("--oddity", metavar="RULE|NAME", help="Keep a rule in a legal but unusual way.")
@click.option("--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True)
@click.option("--time-scale", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
@click.option("--variants", is_flag=True, help="List the faults and oddities, and leave.")
def peer(
    protocol: str,
    role: str | None,
    listen: tuple[str, ...],
    connect: str | None,
    fault: str | None,
    oddity: str | None,
    profile: str,
    time_scale: float,
    variants: bool,
) -> int:
    """Serve the reference peer of PROTOCOL until it is interrupted.

    Prints ``ready`` and where it listens. Control lines (docs/control.md) are taken on standard input by roles that
    know verbs. ``--time-scale 10`` makes the peer's time run ten times as fast.
    """
    if protocol not in protocols():
        raise click.UsageError(f"unknown protocol {protocol!r}; there are {', '.join(protocols())}")
    brings = import_module(f"harness.{protocol}")
    if variants:
        _list(protocol)
        return 0
    make = _maker(protocol, brings, role, fault, oddity)
    node: Node = make(profile=profile)
    if connect is None and not listen:
        dials = getattr(make, "role", "") in brings.DIALS
        raise click.UsageError("say where to dial with --connect" if dials else "say where to listen with --listen")
    for address in (*listen, *([connect] if connect else [])):
        try:
            parse_address(address)
        except BadDescription as error:
            raise click.UsageError(str(error)) from error
    return asyncio.run(_serve(node, brings, listen, connect, time_scale))


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


async def _serve(node: Node, brings: Any, listen: tuple[str, ...], connect: str | None, scale: float) -> int:
    server = Server(node, brings.FRAMING, scale=scale)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    server.on_death = over.set
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await server.listen(listen)
    if connect is not None:
        await server.dial(connect)
    click.echo(f"ready {' '.join(server.addresses) or connect}")
    sys.stdout.flush()
    if node.verbs:
        _take_lines(server, over)
    await over.wait()
    server.stop()
    if server.death is not None:
        click.echo(f"the peer has died: {type(server.death).__name__}: {server.death}", err=True)
    return 1 if server.death is not None else 0


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
            click.echo(write(answer(request, dict.fromkeys(server.node.verbs, handle))))
            sys.stdout.flush()

    def handle(request: Request) -> str:
        return server.command(request.verb, list(request.args))

    loop.add_reader(sys.stdin, take)
