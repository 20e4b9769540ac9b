"""What a shell completes: the names of protocols and layouts, for arguments and options that take them."""

import click

from wire.catalogue import grammars
from wire.catalogue import protocols as all_protocols


def protocols(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Return the protocols whose names begin so."""
    return [name for name in all_protocols() if name.startswith(begun)]


def layouts(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Return the layouts whose names begin so."""
    return [name for name in grammars() if name.startswith(begun)]
