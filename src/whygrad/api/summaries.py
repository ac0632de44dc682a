"""Summaries that a program asks for itself."""

from __future__ import annotations

from typing import Any

from whygrad.running.summaries import Summaries
from whygrad.storage.directory import RunDirectory
from whygrad.summaries.schedule import schedule


def chosen(wanted: Any, directory: RunDirectory, histograms: bool) -> Summaries | None:
    """What ``summarize_grads_and_vars`` stands for; wrong use is one sentence, right away."""
    when = schedule(wanted)
    if when is None:
        return None
    return Summaries(when, directory.path, histograms)
