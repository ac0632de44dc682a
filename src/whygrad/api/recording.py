"""``with whygrad.watching() as run:`` records what happens inside, and judges it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from whygrad.api import current
from whygrad.api.concluding import conclude
from whygrad.api.findings import Findings
from whygrad.api.summaries import chosen
from whygrad.backends.protocol import Setup
from whygrad.backends.recording.scopes import variables_of
from whygrad.backends.registry import Registry, brief
from whygrad.model import Note, Raised, Run
from whygrad.reporters import json_report, notebook, places, summary, terminal
from whygrad.running.summaries import Summaries
from whygrad.running.summaries import notes as summary_notes
from whygrad.running.tracebacks import peel, user_site
from whygrad.watch.watching import Watching

_SHARED = (
    "this block lies inside of another recording (watching() or whygrad run): there is only one, and this is "
    "what it has seen so far"
)


def watching(
    summarize_grads_and_vars: bool | int | Callable[..., bool] = False,
    out: str | os.PathLike[str] | None = None,
    histograms: bool = True,
) -> Watched:
    """Record a part of a program: ``with whygrad.watching() as run: train()``, and then ``run.findings``.

    Frameworks may be imported before the block or in it. What the block raises passes through as it is,
    with a note of what was found. ``out`` is a directory for ``report.json`` and for summaries.

    ``summarize_grads_and_vars`` writes summaries of gradients and variables for TensorBoard: ``True`` of
    every update, ``5`` of every fifth one, a function of those for which it is true; it is given the number
    of the update, from 1 on, and, if it takes two arguments, the optimizer's name. They go to ``out``, or to
    ``runs/watching-<time>``; ``run.folder`` says where.
    """
    summaries = chosen(summarize_grads_and_vars, Path(out) if out is not None else None, histograms)
    return Watched(sys._getframe(1), out, summaries)


class Watched:
    """A recorded block. Inside of it: what was found so far; after it: all that was found."""

    def __init__(
        self,
        frame: FrameType | None = None,
        out: str | os.PathLike[str] | None = None,
        summaries: Summaries | None = None,
    ) -> None:
        self._frame = frame
        self._place = _place(frame)
        self._out = Path(out) if out is not None else None
        self._summaries = summaries
        self._registry: Registry | None = None
        self._shared = False
        self._started = 0.0
        self._over = False
        self._outer: Watching | None = None  # what a recording around this one summarises
        self._raised: Raised | None = None
        self._result: Run | None = None

    def __enter__(self) -> Watched:
        if self._registry is not None:
            raise RuntimeError("this block has been recorded already: call whygrad.watching() once more")
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
        self._started = time.perf_counter()
        outer = current.registry()
        self._shared = outer is not None
        self._registry = outer if outer is not None else Registry(Setup(self._namespace))
        self._outer = self._registry.watching
        if self._summaries is not None:
            self._registry.summarise(self._summaries.watching)
            self._summaries.start()
        if not self._shared:
            current.entered(self._registry)
            self._registry.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        registry = self._registry
        assert registry is not None
        if error is not None and not isinstance(error, (SystemExit, GeneratorExit)):
            registry.guard("describe the exception", partial(self._failed, registry, error))
        self._over = True
        self._result = self._judged()
        if self._summaries is not None and self._shared:
            registry.summarise(self._outer)
        if not self._shared:
            registry.stop()
            current.left(registry)
        self._frame = None
        self._write(self._result)
        if isinstance(error, Exception):
            registry.guard("add a note to the exception", partial(_add_note, error, self._result))

    @property
    def result(self) -> Run:
        """Everything: updates, findings, notes."""
        return self._result if self._result is not None else self._judged()

    @property
    def findings(self) -> Findings:
        """What was found, the gravest first."""
        run = self.result
        return Findings(run.findings, silence=summary.healthy(run))

    @property
    def folder(self) -> str:
        """Where the summaries are: ``tensorboard --logdir`` wants to know."""
        return self._summaries.so_far().folder if self._summaries is not None else ""

    @property
    def healthy(self) -> bool:
        """No error and no warning."""
        return self.result.healthy

    def report(self, color: bool = False, width: int = 88) -> str:
        """The report, as ``whygrad run`` prints it."""
        return terminal.render(self.result, color, width)

    def __repr__(self) -> str:
        run = self.result
        return f"whygrad: {summary.healthy(run) if run.healthy else summary.headline(run)}"

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return notebook.html(self.result)

    def _namespace(self) -> Mapping[str, Any]:
        """The names in scope at the block, the nearest first; a notebook's ``_`` and ``_3`` come last."""
        frame = self._frame
        if frame is None:
            return {}
        near = variables_of(frame)
        scope = {**near, **{name: value for name, value in frame.f_globals.items() if name not in near}}
        names = sorted(scope, key=lambda name: name.startswith("_"))
        return {type(scope[n]).__name__ if n == "self" else n: scope[n] for n in names}

    def _failed(self, registry: Registry, error: BaseException) -> None:
        if not self._shared:
            registry.failed(error)
        peel(error)
        self._raised = Raised(type(error).__name__, str(error), user_site(error))

    def _judged(self) -> Run:
        if self._registry is None:
            return Run(self._place, notes=(Note("the block has not begun yet: nothing was recorded"),))
        try:
            notes = (Note(_SHARED),) if self._shared else ()
            seconds = time.perf_counter() - self._started
            run = conclude(self._registry, self._place, self._raised, seconds, notes)
            return self._with_summaries(run)
        except Exception as error:
            note = Note(f"whygrad could not finish: {brief(error)}", kind="internal")
            return Run(self._place, exception=self._raised, notes=(note,))

    def _with_summaries(self, run: Run) -> Run:
        """What was summarised; at the end of the block everything is on disk."""
        if self._summaries is None:
            return run
        watched = self._summaries.finish(run) if self._over else self._summaries.so_far()
        return replace(run, watched=watched, notes=(*run.notes, *summary_notes(watched)))

    def _write(self, run: Run) -> None:
        if self._out is None:
            return
        try:
            (self._out / "report.json").write_text(json_report.render(run), encoding="utf-8")
        except Exception as error:
            note = Note(f"report.json could not be written: {brief(error)}", kind="internal")
            self._result = replace(run, notes=(*run.notes, note))


def _place(frame: FrameType | None) -> str:
    """What the report calls the block: ``tests/test_actor.py:12``."""
    if frame is None:
        return "the test"
    file = frame.f_code.co_filename
    if "ipykernel" in file or file.startswith("<ipython"):
        return "this cell"
    return f"{file}:{frame.f_lineno}"


def _add_note(error: Exception, run: Run) -> None:
    """The first finding in one sentence, for whoever reads the traceback."""
    if run.healthy:
        return
    first, *more = run.findings
    where = f" ({places.label(first.site)})" if first.site else ""
    others = f", and {len(more)} more" if more else ""
    error.add_note(f"whygrad: {first.title}{where}{others}")
