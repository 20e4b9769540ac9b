"""A bug planted in the generated Python engine, for proving that a campaign finds it.

The bug is in a copy of the generated code that only processes with a certain environment load: nothing that is
installed is touched, and the campaign runs as it always does.
"""

import os
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from textwrap import indent

import msgspec

from wire.engines import engine

HOOK = '''
import importlib.machinery, importlib.util, sys

class Planted:
    """Finds the copy with the bug in place of the generated module."""

    def find_spec(self, name, path=None, target=None):
        if name != {module!r}:
            return None
        loader = importlib.machinery.SourceFileLoader(name, {file!r})
        return importlib.util.spec_from_file_location(name, {file!r}, loader=loader)

sys.meta_path.insert(0, Planted())
'''


class PlantedBug(msgspec.Struct, frozen=True):
    """A bug: statements that spoil what the codec of a layout gives; ``what`` says how.

    ``decoded`` are about ``value``, which has just been decoded; ``encoded`` about the bytes ``out`` of ``value``.
    """

    what: str
    layout: str
    decoded: str = "pass"
    encoded: str = "pass"


WRAPPED = """

def spoiled(codec):
    def decode(data, refuse=False):
        value = codec.decode(data, refuse)
{decoded}
        return value

    def encode(value):
        out = codec.encode(value)
{encoded}
        return out

    return Codec(decode, encode)


CODECS[{name!r}] = spoiled(CODECS[{name!r}])
"""


def plant(bug: PlantedBug, folder: Path) -> dict[str, str]:
    """Write a copy with the bug into a folder; return the environment of processes that shall load it."""
    module = engine("python").codec(bug.layout).decode.__module__
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    decoded, encoded = (indent(cleandoc(lines), " " * 8) for lines in (bug.decoded, bug.encoded))
    source += WRAPPED.format(decoded=decoded, encoded=encoded, name=bug.layout.partition("/")[2])
    file = folder / "planted.py"
    file.write_text(source, encoding="utf-8")
    (folder / "sitecustomize.py").write_text(HOOK.format(module=module, file=str(file)), encoding="utf-8")
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": str(folder) + (os.pathsep + path if path else "")}
