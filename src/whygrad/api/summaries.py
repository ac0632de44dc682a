"""Summaries that a program asks for itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from whygrad.running.summaries import Summaries
from whygrad.watch.schedule import schedule


def chosen(wanted: Any, out: Path | None, histograms: bool) -> Summaries | None:
    """What ``summarize_grads_and_vars`` stands for; wrong use is one sentence, right away."""
    when = schedule(wanted)
    if when is None:
        return None
    folder = (out or Path("runs") / f"watching-{time.strftime('%Y%m%d-%H%M%S')}").absolute()
    return Summaries(when, lambda: folder, histograms)
