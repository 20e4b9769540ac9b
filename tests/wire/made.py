"""Engines that are made of grammars on the spot: Python, C over objects, columns; and what tests compare with them."""

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import FileLock
from run_folder import run_folder

import wire
from wire.emit import columnar, native, python
from wire.errors import DecodeError
from wire.layout import Layout

ROOM = Path(wire.__path__[0])
COMPILER = shutil.which("cc") or shutil.which("gcc")
HEADERS = Path(sysconfig.get_path("include"))
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-tautological-compare"]
"""A grammar may ask what is never true, such as whether bits 7:6 in place are 2; C may say so, and goes on."""


def compiles() -> bool:
    """Tell whether extensions can be made here."""
    return COMPILER is not None and (HEADERS / "Python.h").exists()


def compile_c(name: str, source: str, into: Path, *flags: str) -> Path:
    """Compile generated C as an extension, warnings as errors; ``into`` is a folder of pytest's.

    Equal C is compiled once in a run, whichever worker needs it first: that takes longer than most tests.
    """
    options = ["-shared", "-fPIC", *WARNINGS, *flags, f"-I{ROOM / 'emit'}", f"-I{HEADERS}"]
    digest = hashlib.sha256("\0".join([name, *options, source]).encode()).hexdigest()[:16]
    folder = run_folder(into.parent) / f"compiled-{digest}"
    folder.mkdir(exist_ok=True)
    file, unfinished, built = folder / f"{name}.c", folder / "unfinished.so", folder / f"{name}.so"
    with FileLock(folder / "lock"):
        if not built.exists():
            file.write_text(source)
            subprocess.run([str(COMPILER), *options, str(file), "-o", str(unfinished)], check=True)
            unfinished.rename(built)
    # A file for each: an extension has its tables in static memory, which two that are loaded from one would share.
    return Path(shutil.copy(built, into))


def load(name: str, built: Path) -> ModuleType:
    """Load an extension."""
    spec = spec_from_file_location(name, built, loader=ExtensionFileLoader(name, str(built)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(protocol: str, layouts: list[Layout], into: Path, *, with_columns: bool = True) -> dict[str, Any]:
    """Return the codecs of layouts under ``python`` and ``native``, and the extension that fills ``columns``.

    Where nothing compiles there is only Python; columns, which take as long to compile as the rest, only if asked for.
    """
    name = f"wire.{protocol}.generated.python"
    module = ModuleType(name)
    exec(compile(python.emit(protocol, layouts), name, "exec"), vars(module))
    engines: dict[str, Any] = {"python": module.CODECS}
    if compiles():
        sys.modules[name] = module  # the native engine asks it for what it does not write itself
        try:
            built = compile_c("native", native.emit(protocol, layouts), into, "-O1")
            engines["native"] = load("native", built).CODECS
            if with_columns:
                built = compile_c("columnar", columnar.emit(protocol, layouts), into, "-O1")
                engines["columns"] = load("columnar", built)
        finally:
            del sys.modules[name]
    return engines


def outcome(decode: Any, *arguments: Any, **options: Any) -> Any:
    """Return the value, or the reason and the offset of the refusal."""
    try:
        return decode(*arguments, **options)
    except DecodeError as error:
        return error.reason, error.offset


def exact(pa: Any, array: Any) -> Any:
    """Return an array in which floats are the integers of their bits: a NaN is equal to itself."""
    if pa.types.is_floating(array.type):
        return array.view({32: pa.uint32(), 64: pa.uint64()}[array.type.bit_width])
    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(array.offsets, exact(pa, array.values), mask=array.is_null())
    if pa.types.is_struct(array.type) and array.type.num_fields:
        fields = [exact(pa, array.field(index)) for index in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(fields, [field.name for field in array.type])
    return array


def assert_equal_columns(pa: Any, got: Any, expected: Any, frames: list[bytes]) -> None:
    """Hold two batches against each other, cell by cell."""
    got.validate(full=True)
    assert got.schema == expected.schema
    for column in got.schema.names:
        one, other = exact(pa, got[column]).to_pylist(), exact(pa, expected[column]).to_pylist()
        for index, frame in enumerate(frames):
            assert one[index] == other[index], (column, frame.hex())
