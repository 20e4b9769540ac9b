"""``goldwire peer``: serve a reference peer, so that others can test against it."""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from harness.clock import epoch
from harness.errors import BadDescription
from harness.iuts import python_coverage
from harness.iuts.description import is_described, resolve
from harness.links.acceptor import open_more_files
from harness.links.transports import parse_address
from harness.peers.peer import Dialler, Peer, PeerSettings
from harness.peers.peer_control import PeerControl
from harness.peers.peer_server import PeerServer
from harness.peers.variants import Variant, Variants, together
from harness.protocol import WireProtocol, known, load
from wire import completion

# click looks whether the files exist, so that a misspelt path is wrong usage (2) rather than a failure (1).
_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
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
# From the environment too: that is how an implementation's description hands it to a process (docs/iut.md).
@click.option("--scenario", envvar="GOLDWIRE_SCENARIO", default="", help="What a role that dials is to play.")
@click.option("--certificate", type=_PEM, help="For tls/…: a PEM file. Without it one is made fresh.")
@click.option("--key", type=_PEM, help="The certificate's key, unless it stands in the same file.")
@click.option("--fault", metavar="RULE|NAME", help="Break a rule.")
@click.option("--oddity", metavar="RULE|NAME", help="Keep a rule in a legal but unusual way.")
@click.option("--defect", metavar="NAME|KIND|all", help="Have a defect that fuzzing is to find, or several at once.")
@click.option("--profile", type=click.Choice(["document", "deployed"]), default="document", show_default=True)
@click.option("--time-scale", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
@click.option(
    "--hello-patience",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End connections that say no hello for so long, or do not begin TLS; for peers that do so at all.",
)
@click.option("--variants", is_flag=True, help="List the faults, oddities and defects, and leave.")
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
    defect: str | None,
    profile: str,
    time_scale: float,
    hello_patience: float | None,
    variants: bool,
) -> int:
    """Serve the reference peer of PROTOCOL until it is interrupted.

    Prints ``ready`` and where it listens, and ``event TEXT`` for what its application is told. Control lines
    are taken on standard input by roles that know verbs. ``--time-scale 10`` makes the peer's time
    run ten times as fast.

    \b
    Examples:
      goldwire peer zenoh --listen tcp/127.0.0.1:7447
      goldwire peer zenoh --listen tcp/127.0.0.1:7447 --fault ZI-011
    """
    if protocol not in known():
        raise click.UsageError(f"unknown protocol {protocol!r}; there are {', '.join(known())}")
    definition = load(protocol)
    if variants:
        _list_variants(definition)
        return 0
    peer_class = _peer_class(definition, role, fault, oddity, defect)
    dials_at_will = issubclass(peer_class, Dialler)
    # With commas between too, as a description hands them on (docs/iut.md).
    connect = tuple(each for text in connect for each in text.split(","))
    if not connect and not listen:
        dials = peer_class.role in definition.dials
        raise click.UsageError("say where to dial with --connect" if dials else "say where to listen with --listen")
    if listen and dials_at_will:
        raise click.UsageError(
            f"a {peer_class.role} of {protocol} only dials: say where with --connect, without --listen"
        )
    if hello_patience is not None and not peer_class.bounds_hello:
        raise click.UsageError(f"a {peer_class.role} of {protocol} ends no connection for that: no --hello-patience")
    for address in (*listen, *connect):
        _check(address, protocol)
    if key is not None and certificate is None:
        raise click.UsageError("--key without --certificate")
    # What is the protocol's own: all else runs in the same way whatever is said.
    python_coverage.start(str(Path(__file__).parent / protocol))
    made = peer_class.of(PeerSettings(profile, scenario, len(connect), hello_patience, epoch(time_scale)))
    # Every link is an open file, and a fuzzer or a crowd of clients opens more than the usual limit.
    open_more_files()

    def serve() -> PeerServer:
        return PeerServer(
            made, definition.framings, scale=time_scale, certificate=certificate, key=key, patience=hello_patience
        )

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


def _peer_class(
    definition: WireProtocol, role: str | None, fault: str | None, oddity: str | None, defect: str | None
) -> type[Peer]:
    if sum(each is not None for each in (fault, oddity, defect)) > 1:
        raise click.UsageError("only one of --fault, --oddity and --defect")
    if role is not None and role not in definition.roles:
        raise click.UsageError(f"unknown role {role!r}; there are {', '.join(definition.roles)}")
    chosen = role or next(iter(definition.roles))
    for kind, text in (("fault", fault), ("oddity", oddity)):
        if text is not None:
            return _find_variant(definition, kind, text, role).peer
    if defect is not None:
        return _with_defects(definition, defect, chosen, role)
    return definition.roles[chosen]


def _with_defects(definition: WireProtocol, text: str, chosen: str, role: str | None) -> type[Peer]:
    """Return a peer with all defects of its role, or with those of a name or a kind."""
    if text != "all":
        chosen = _find_variant(definition, "defect", text, role).role
    found = definition.defects.of_role(chosen, "" if text == "all" else text) if definition.defects is not None else []
    if not found:
        raise click.UsageError(f"no defects of a {chosen} are known")
    return together(found)


def _variants(definition: WireProtocol) -> dict[str, Variants]:
    there = {"fault": definition.faults, "oddity": definition.oddities, "defect": definition.defects}
    return {kind: each for kind, each in there.items() if each is not None}


def _find_variant(definition: WireProtocol, kind: str, text: str, role: str | None) -> Variant:
    variants = _variants(definition).get(kind)
    found = [] if variants is None else [each for each in variants.about(text) if role in (None, each.role)]
    if not found:
        raise click.UsageError(f"no {kind} is called {text!r} or about that; see goldwire peer --variants")
    return found[0]


def _list_variants(definition: WireProtocol) -> None:
    for kind, variants in _variants(definition).items():
        for each in variants.all.values():
            click.echo(f"{kind:7} {each.name:36} {each.role:7} {', '.join(each.rules):24} {each.sentence}")


async def _serve(made: Callable[[], PeerServer], listen: tuple[str, ...], connect: tuple[str, ...]) -> int:
    server = made()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    server.on_death = stopped.set
    server.on_event = lambda text: _print_line(f"event {text}", stopped)
    # By signal handlers of the loop: an exception in the middle of a callback would leave links half written.
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await server.listen(listen)
    # Before `ready`, so that whoever waits for that line finds the link there. A Dialler tells events while it dials,
    # and nobody expects those before `ready`.
    if not isinstance(server.peer, Dialler):
        for address in connect:
            await server.dial(address)
    _print_line(f"ready {' '.join((*server.addresses, *connect))}", stopped)
    if isinstance(server.peer, Dialler):
        server.start_dialling(connect)
    if server.peer.verbs:
        _read_control_lines(server, stopped)
    await stopped.wait()
    server.stop()
    if server.death is not None:
        # Where it happened as well: a fuzzer tells two deaths apart by that.
        traceback.print_exception(server.death)
        click.echo(f"the peer has died: {type(server.death).__name__}: {server.death}", err=True)
    return 1 if server.death is not None else 0


def _print_line(line: str, stopped: asyncio.Event) -> None:
    """Print a line at once; the peer ends when nobody is there to read it."""
    try:
        sys.stdout.write(f"{line}\n")
        # At once: whoever started this peer waits for the line at a pipe, which Python would buffer.
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        stopped.set()


def _read_control_lines(server: PeerServer, stopped: asyncio.Event) -> None:
    """Obey control lines on standard input; its end ends the peer."""
    loop = asyncio.get_running_loop()
    pending = bytearray()
    control = PeerControl(server, lambda line: _print_line(line, stopped))

    def take() -> None:
        # Not through sys.stdin: lines that wait in its buffer are not seen by the loop's selector.
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            loop.remove_reader(sys.stdin)
            stopped.set()
        pending.extend(data)
        # A last line without its end is not obeyed: it may be half a command.
        while b"\n" in pending:
            line, _, rest = bytes(pending).partition(b"\n")
            pending[:] = rest
            control.take(line.decode(errors="replace"))

    # A file, or /dev/null, which is what a job in the background is given, has nothing to say and no end to wait for.
    with suppress(PermissionError):
        loop.add_reader(sys.stdin, take)
