"""The native kernel, for whoever has a compiler; without one, numpy does the same more slowly."""

import sys

from setuptools import Extension, setup

# Products and sums are not contracted: the kernel and its fallback give the same bits.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-math-errno"]

setup(
    ext_modules=[
        Extension(
            "whygrad.watch._kernel",
            ["src/whygrad/watch/native/kernel.c"],
            depends=[f"src/whygrad/watch/native/{name}.h" for name in ("scan", "wide", "wire")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
