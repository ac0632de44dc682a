"""Is an installed whygrad whole? Run ``scripts/check_wheel.py [native|numpy]`` with the python that has it.

Looks at the package that is imported, so it must not be run with ``src`` on the path.
"""

from __future__ import annotations

import random
import sys
from array import array
from importlib import metadata, resources

import whygrad
from whygrad.cli.main import main
from whygrad.summaries import kernel, numpy_kernel

DATA = (
    "py.typed",
    "reporters/templates/report.css",
    "reporters/templates/vendor/dagre.min.js",
    "zoo/agents/dqn.breaks.toml",
)
MANY = 1000


def figures(functions) -> bytes:
    """What a kernel says about the same thousand numbers."""
    numbers = random.Random(0)
    values = array("d", [numbers.gauss(0, 1) for _ in range(MANY)])
    rows, bins = array("d", bytes(8 * len(kernel.FIGURES))), array("I", bytes(4 * kernel.BINS))
    functions.measure([values], array("q", [MANY]), array("q", [MANY]), bytes([3]), rows, bins)
    return rows.tobytes() + bins.tobytes()


def check(wanted: str) -> None:
    """Stop at the first thing that is missing."""
    chosen = kernel.load()
    assert chosen.__name__.endswith({"native": "._kernel", "numpy": ".numpy_kernel"}[wanted]), chosen.__name__
    assert figures(chosen) == figures(numpy_kernel), "the kernels differ"
    assert metadata.version("whygrad") == whygrad.__version__
    for name in DATA:
        assert resources.files(whygrad).joinpath(name).is_file(), name
    assert main(["explain", "detached"]) == 0


if __name__ == "__main__":
    check(*(sys.argv[1:] or ["native"]))
    print(f"whygrad {whygrad.__version__} is whole: {whygrad.__file__}")
