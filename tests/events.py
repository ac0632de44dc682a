"""What TensorBoard itself reads from a folder of event files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def load(folder: Path) -> EventAccumulator:
    """Everything that is in it, nothing sampled."""
    found = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    found.Reload()
    return found


def steps(folder: Path, tag: str) -> list[int]:
    """The steps of one series of numbers."""
    return [event.step for event in load(folder).Scalars(tag)]


def values(folder: Path, tag: str) -> dict[int, Any]:
    """One series of numbers."""
    return {event.step: event.value for event in load(folder).Scalars(tag)}
