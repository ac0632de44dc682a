"""Who is recording now: a ``watching`` block, or ``whygrad run`` around the whole program."""

from __future__ import annotations

import os
import sys

from whygrad.frameworks.protocol import Backend
from whygrad.frameworks.registry import Registry
from whygrad.running import session

_blocks: list[tuple[int, Registry]] = []  # with the process: a forked child is not watched


def entered(registry: Registry) -> None:
    """A block has begun to record."""
    _blocks.append((os.getpid(), registry))


def left(registry: Registry) -> None:
    """The block is over."""
    _blocks[:] = [block for block in _blocks if block[1] is not registry]


def registry() -> Registry | None:
    """The recording that is under way in this process, if there is one."""
    here = os.getpid()
    blocks = [found for process, found in _blocks if process == here]
    runs = [run.registry for run in list(session._live) if not run.aside]
    return next((found for found in (*blocks, *runs) if _started(found)), None)


def backend(framework: str) -> Backend | None:
    """The backend that watches this framework now."""
    found = registry()
    return found._backends.get(framework) if found is not None else None


def _started(found: Registry) -> bool:
    return found._finder in sys.meta_path
