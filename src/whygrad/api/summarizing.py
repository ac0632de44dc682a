"""``whygrad.summarize(model, step)``: for training loops that want to decide themselves."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.protocol import Subject
from whygrad.model.frameworks import FRAMEWORKS
from whygrad.storage.directory import RunDirectory
from whygrad.summaries.schedule import Schedule
from whygrad.summaries.sinks.tensorboard import EventFile
from whygrad.summaries.sinks.writers import RawWriter, TorchWriter
from whygrad.summaries.stream import Sink, Stream
from whygrad.summaries.watching import Watching

_MOST = 64


def summarize(
    model_or_optimizer: Any, step: int, writer: Any = None, gradients: Any = None, histograms: bool = True
) -> None:
    """Write a summary of the variables of a model or an optimizer, and of their gradients, now.

    Call it between ``backward`` and ``step``. TensorFlow keeps gradients nowhere: give them as ``gradients``,
    in the order of the variables. ``writer`` is torch's ``SummaryWriter``, a writer of ``tf.summary`` or a
    folder; without one, event files go to ``runs/summaries-<time>``.
    """
    known = _writer(writer, histograms)
    framework = _who_knows(model_or_optimizer)
    known.summarize(framework, model_or_optimizer, int(step), gradients, sys._getframe(1))


class _Writer:
    """A place for summaries, and what has been written there so far."""

    def __init__(self, owner: Any, sink: Sink, histograms: bool) -> None:
        self.owner = owner
        self._watching = Watching(Schedule(every=1), sink, histograms)
        self._streams: dict[tuple[int, ...], Stream] = {}

    def summarize(self, framework: Any, thing: Any, step: int, gradients: Any, frame: FrameType) -> None:
        subject: Subject = framework.subject(thing, gradients, None, named=True)
        stream = self._streams.get(subject.key)
        if stream is None:
            subject = framework.subject(thing, gradients, frame, named=False)
            stream = self._streams[subject.key] = self._watching.stream(subject.name, subject.names)
        stream.write(step, subject.gradients, subject.variables, subject.rate, subject.unknown)


_writers: dict[Any, _Writer] = {}


def _writer(given: Any, histograms: bool) -> _Writer:
    """The writer that is meant; the same one every time."""
    by_path = given is None or isinstance(given, (str, Path))
    key = (str(given) if by_path else id(given), histograms)
    found = _writers.get(key)
    if found is None or (not by_path and found.owner is not given):
        if len(_writers) > _MOST:
            _writers.pop(next(iter(_writers)))
        found = _writers[key] = _Writer(given, _sink(given), histograms)
    return found


def _sink(given: Any) -> Sink:
    if hasattr(given, "add_scalar") and hasattr(given, "add_histogram_raw"):
        return TorchWriter(given)
    if hasattr(given, "as_default") and hasattr(given, "flush"):
        made = importlib.import_module(FRAMEWORKS["tensorflow"].summarizing).TensorFlowWriter(given)
        return RawWriter(made)
    if given is not None and not isinstance(given, (str, Path)):
        kind = type(given).__name__
        raise TypeError(f"writer is a SummaryWriter, a writer of tf.summary or a folder, not a {kind}")
    directory = RunDirectory("summaries", Path(given) if given is not None else None)
    events = EventFile(directory.path)
    atexit.register(_close, events)
    return events


@door
def _close(events: EventFile) -> None:
    """Python is about to exit."""
    with contextlib.suppress(Exception):
        events.close()


def _who_knows(thing: Any) -> Any:
    for framework in FRAMEWORKS.values():
        if framework.summarizing and framework.name in sys.modules:
            found = importlib.import_module(framework.summarizing)
            if found.understands(thing):
                return found
    kind = type(thing).__name__
    raise TypeError(
        f"whygrad can summarize a model, an optimizer or a list of variables, and this is a {kind}"
    )
