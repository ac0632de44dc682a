"""Who this process is among others: its rank and its name, from what launchers and libraries say."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import replace

from whygrad.model import Duty, Observation, Process


def this_process() -> Process:
    """Read from the environment, and from what is loaded; nothing is imported for it."""
    return Process(
        pid=os.getpid(),
        host=socket.gethostname(),
        parent=os.getppid(),
        rank=_number("RANK", -1),
        world=_number("WORLD_SIZE", 0),
        restart=_number("TORCHELASTIC_RESTART_COUNT", 0),
        name=_name(),
        ended=time.time(),
    )


def told(process: Process, observed: Mapping[str, Observation]) -> Process:
    """With what it did."""
    updates = sum(u.count for o in observed.values() for u in o.updates)
    networks = any(o.evidence.parameters for o in observed.values())
    rank = max((o.evidence.rank for o in observed.values()), default=-1)
    duty = Duty.LEARNER if updates else Duty.WORKER if networks else Duty.OTHER
    return replace(process, updates=updates, duty=duty, rank=max(process.rank, rank))


def _number(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else otherwise


def _name() -> str:
    """``Process-1`` of multiprocessing; what a worker of Ray does."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    current = getattr(multiprocessing, "_current_process", None)
    name = str(getattr(current, "_name", "") or "")
    if name and name != "MainProcess":
        return name
    title = sys.argv[0] if sys.argv else ""
    return "Ray worker" if os.path.basename(title) == "default_worker.py" else ""
