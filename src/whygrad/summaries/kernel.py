"""The statistics of all tensors of an update in one call: native where it was built, numpy elsewhere.

Tensors are addresses of host memory, buffers, or None; their numbers are of a ``kind``. Both kernels give the
same bits.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

#: The kinds of numbers. Complex ones are twice as many real ones.
KINDS = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3, "complex64": 2, "complex128": 3}
#: What is known of a tensor, in this order.
FIGURES = ("mean", "std", "min", "max", "norm", "zeros", "nonfinite")
#: Sign and exponent of a float32.
BINS = 512
#: Elements of a tensor whose movement is measured; larger ones are sampled.
SAMPLE = 16_384


class NoKernel(RuntimeError):
    """Neither a compiler when whygrad was installed, nor numpy now."""


def load() -> Any:
    """The fastest kernel that there is; ``WHYGRAD_KERNEL=numpy`` asks for the other one."""
    wanted = os.environ.get("WHYGRAD_KERNEL", "")
    for name, module in (
        ("native", "whygrad.summaries._kernel"),
        ("numpy", "whygrad.summaries.numpy_kernel"),
    ):
        if wanted in ("", name):
            try:
                return importlib.import_module(module)
            except ImportError:
                continue
    raise NoKernel("summaries need numpy, or a whygrad that was installed where there is a C compiler")
