"""Processes of the program's own that train the same weights."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from torch import Tensor


def shared_with_children(tensors: Iterable[Tensor]) -> bool:
    """Were processes started, and do weights lie in memory that is shared with them?"""
    return _any_process() and any(map(_in_shared_memory, tensors))


def _any_process() -> bool:
    """Has the program made an object of ``multiprocessing.Process``? They are numbered from 1."""
    counter = getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None)
    number = re.search(r"\d+", repr(counter))
    return number is not None and int(number.group()) > 1


def _in_shared_memory(tensor: Tensor) -> bool:
    if tensor.device.type != "cpu":
        return False
    try:
        return bool(tensor.untyped_storage().is_shared())
    except (RuntimeError, NotImplementedError):  # a lazy or a fake one has no memory
        return False
