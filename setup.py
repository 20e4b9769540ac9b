"""The C extensions: optional, since the Python engine does the same where no compiler is at hand."""

from glob import glob

from setuptools import Extension, setup

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
        for source in sorted(glob("wire/*/generated/*.c"))
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
