"""Our own peer as a process of its own: for who wants to see it die, hang, or take more than it should."""

import sys
from pathlib import Path

import msgspec

from harness.iuts.description import Description, Embedded, Launched, Program


def as_process(description: Description, transport: str, tempo: float, *options: str) -> Description:
    """Return an implementation that runs in a process: an embedded peer as ``goldwire peer``, any other as it is.

    It speaks over ``transport``, and ``tempo`` of its seconds pass in one; ``options`` are for that command:
    ``--fault NAME``.
    """
    if not isinstance(description.source, Embedded):
        return description
    command = (
        *(sys.executable, "-m", "goldwire", "peer", description.protocol, "--role", description.role),
        *(
            "--connect" if description.is_dialling else "--listen",
            "{connect}" if description.is_dialling else "{listen}",
        ),
        *("--time-scale", "{tempo}"),
        *options,
    )
    program = Program(command=command, ready="line", control="control" in description.capabilities)
    source = Launched(Path.cwd(), program, is_peer=True)
    return msgspec.structs.replace(description, source=source, transports=(transport,), tempo=tempo)
