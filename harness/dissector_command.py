"""``goldwire dissector``: write a dissector for Wireshark."""

from importlib.resources import files

import click

from harness.errors import BadDescription
from harness.protocol import WireProtocol, load
from wire import catalogue, completion
from wire.emit import lua
from wire.emit.naming import identifier


@click.command()
@click.argument("protocol", shell_complete=completion.protocols)
def dissector(protocol: str) -> None:
    """Write a dissector for Wireshark: goldwire dissector zenoh > goldwire_zenoh.lua

    It shows every field of every frame, by names that filters take (zenoh.interest.id), and marks what the layouts
    refuse as malformed, with the reason. Wireshark loads it from its folder of Personal Lua
    Plugins (Help, About Wireshark, Folders), or by -X lua_script:FILE.

    Exit status: 0 it was written, 2 wrong usage.

    \b
    Examples:
      goldwire dissector zenoh > goldwire_zenoh.lua
    """
    try:
        text = dissector_of(load(protocol))
    except BadDescription as error:
        raise click.UsageError(str(error)) from None
    click.echo(text.encode(), nl=False)  # a comment has what no ASCII has, whatever the locale says


def dissector_of(protocol: WireProtocol) -> str:
    """Return the dissector of a protocol: its layouts, and how their frames travel.

    What a protocol does with frames beyond its layouts, it says in Lua: ``harness/PROTOCOL/dissector.lua``.
    """
    layouts = [catalogue.layout(name) for name in catalogue.grammars() if name.partition("/")[0] == protocol.name]
    layout, title = identifier(catalogue.layout(protocol.layout)), protocol.name.capitalize()
    tcp = protocol.framings["tcp"].lua if "tcp" in protocol.framings else "nil"
    ports = f"{{ {', '.join(map(str, protocol.ports))} }}" if protocol.ports else "{}"
    linked = ["", f'linked(main, "{title}", layouts.{layout}, {tcp}, {ports})']
    for transport, framing in protocol.framings.items():
        if framing.lua != tcp:
            proto = f'Proto("goldwire_{protocol.name}_{transport.replace("-", "_")}", "{title} over {transport}")'
            linked.append(f'linked({proto}, "{title}", layouts.{layout}, {framing.lua}, {{}})')
    own = files(f"harness.{protocol.name}").joinpath("dissector.lua")
    parts = [files("harness.links").joinpath("framing.lua"), *([own] if own.is_file() else [])]
    before = "\n".join(part.read_text("utf-8") for part in parts).rstrip("\n")
    links = lua.Links(before, ("framing_length",), tuple(linked))
    return lua.emit(protocol.name, layouts, lua.vocabulary_of(protocol.name), links)
