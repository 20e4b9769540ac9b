"""What is native in goldwire: C extensions (abi3, one wheel for all Pythons) where they can be built.

Where they cannot, a pure wheel is made, since the Python engine does the same, more slowly: ``goldwire codec engines``
tells. ``GOLDWIRE_PURE=1`` makes one on purpose.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from glob import glob

from setuptools import Extension, setup


def can_compile() -> bool:
    """Tell whether C for Python compiles here: there is a compiler, and Python's headers are there.

    Asked before anything is built: a wheel that lists extensions is called native, even if each of them fails.
    """
    if os.environ.get("GOLDWIRE_PURE"):
        return False
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, "-fsyntax-only", f"-I{sysconfig.get_path('include')}", "-x", "c", "-"]
    try:
        subprocess.run(command, input=b"#include <Python.h>\n", capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"goldwire: no C for Python compiles here, so this is a pure wheel: {error}", file=sys.stderr)  # noqa: T201
        return False
    return True


setup(
    ext_modules=[
        Extension(
            source.removesuffix(".c").replace("/", "."),
            sources=[source],
            include_dirs=["wire/emit"],
            depends=glob("wire/emit/*.h"),
            extra_compile_args=["-std=c11", "-O2"],
            py_limited_api=True,
            optional=True,
        )
        # What is generated, and what of a protocol was written by hand.
        for source in (sorted([*glob("wire/*/generated/*.c"), *glob("wire/*/*.c")]) if can_compile() else ())
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
