"""``python -m wire.emit``: write the generated codecs of every protocol; ``--check``: tell whether they are stale."""

import sys
from collections.abc import Iterator
from pathlib import Path

import wire
from wire.catalogue import grammars, layout, protocols
from wire.emit import columnar, native, python
from wire.layout import Layout

DOCSTRING = '''"""Codecs of {protocol}, generated from its grammars by ``python -m wire.emit``. Do not edit."""
'''
STAMPS = '''
{names} = {stamps}
"""What the extensions have to say they were made from."""
'''


def sources(protocol: str) -> Iterator[tuple[str, str]]:
    """Give the generated files of a protocol: their names in ``wire/PROTOCOL/generated``, and their text."""
    every: list[Layout] = [layout(name) for name in grammars() if name.startswith(f"{protocol}/")]
    layouts = [layout for layout in every if not layout.is_text]  # their codecs are written by hand
    yield "python.py", python.emit(protocol, layouts)
    binary = [layout for layout in layouts if not layout.is_json]
    stamps = {}
    if binary:
        objects = native.emit(protocol, binary)
        stamps["NATIVE"] = native.stamp_of(objects)
        yield "native.c", objects
    if layouts:
        columns = columnar.emit(protocol, layouts)
        stamps["COLUMNAR"] = columnar.stamp_of(columns)
        yield "columnar.c", columns
    said = STAMPS.format(names=", ".join(stamps), stamps=", ".join(f'"{stamp}"' for stamp in stamps.values()))
    yield "__init__.py", DOCSTRING.format(protocol=protocol) + (said if stamps else "")


def main(arguments: list[str]) -> int:
    """Write what has changed, and say so; with ``--check`` only say it, and return 1 if anything has."""
    stale = 0
    for protocol in protocols():
        folder = Path(wire.__path__[0], protocol, "generated")
        for name, text in sources(protocol):
            file = folder / name
            if file.exists() and file.read_text() == text:
                continue
            stale += 1
            sys.stdout.write(f"{'stale' if '--check' in arguments else 'written'}: wire/{protocol}/generated/{name}\n")
            if "--check" not in arguments:
                folder.mkdir(exist_ok=True)
                file.write_text(text)
    return int(stale > 0 and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
