"""What stands in the user's line: the function that it called, the decorator that turns gradients off."""

from __future__ import annotations

import os

from whygrad.frameworks.shared.frames import Where
from whygrad.model import Site, source

# Between a line of the user's and an operation of TensorFlow or Keras; they say nothing about it.
_WRAPPERS = frozenset(
    (
        *("error_handler", "op_dispatch_handler", "wrapper", "wrap", "_run_op", "binary_op_wrapper"),
        *("__call__", "fit", "train_on_batch"),  # a whole update, not a function that says what is computed
    )
)
_KERAS_OPS = os.sep.join(("", "keras", "src", "ops", ""))
_PLUMBING = ("Module.", "_call_impl", "Tensor.", "handle_torch_function", "DistributedDataParallel.")


def decorator_line(site: Site) -> Site:
    """Of several decorators, the one that turns gradients off."""
    for line in range(site.line, site.line + 12):
        text = source.line(site.file, line).strip()
        if not text.startswith("@"):
            break
        if "no_grad" in text or "inference_mode" in text or "set_grad_enabled" in text:
            return Site.read(site.file, line, site.function)
    return site


def public(where: Where) -> str:
    """The framework function that the user's line called, if it says more than the operation itself."""
    name = where.call()
    if not name or name.startswith(_PLUMBING) or "<locals>" in name or name in _WRAPPERS:
        return ""
    return "" if where.api is not None and _KERAS_OPS in where.api.co_filename else name
