"""Durations, as options of commands have them.

In a file of its own: commands of other rooms take durations too, and need not import what checks codecs for that.
"""

import re

import click

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def read_time(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Read a time such as ``60s``, ``5m``, ``1h``, in seconds; a number alone is seconds."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if match is None or not float(match[1]):
        raise click.BadParameter(f"{text!r} is not a time; write 60s, 5m or 1h")
    return float(match[1]) * UNITS[match[2]]
