"""Sizes of files, as a user spells them."""

import re

import click

_SHAPE = re.compile(r"(\d+)\s*(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_POWERS = " kmgt"


def size(context: click.Context, option: click.Parameter, text: str) -> int:
    """Return the bytes that an option says: ``0``, ``5000``, ``300MB`` (millions), ``256MiB`` (powers of 1024)."""
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        words = f"{text!r} is no size: expected a number of bytes, such as 300MB or 256MiB"
        raise click.BadParameter(words, context, option)
    # As the standard has it: MB are millions, MiB powers of 1024.
    number, power, is_binary = match.groups()
    return int(int(number) * (1024 if is_binary else 1000) ** _POWERS.index((power or " ").lower()))
