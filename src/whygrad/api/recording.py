"""``with whygrad.watching() as run:`` records what happens inside, and judges it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from whygrad.api import current
from whygrad.api.cells import numbered
from whygrad.api.findings import Findings
from whygrad.api.summaries import chosen
from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.registry import Registry, brief
from whygrad.frameworks.shared.objects import class_name, items
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.model import About, Note, Raised, Recording, Run
from whygrad.reporters import notebook, places, summary, terminal
from whygrad.running import keeping
from whygrad.running.concluding import conclude, described, with_summaries
from whygrad.running.summaries import Summaries
from whygrad.running.tracebacks import peel, user_site
from whygrad.storage.directory import EVIDENCE, REPORT, RunDirectory
from whygrad.summaries.watching import Watching

_CELL = "this cell"
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
    with a note of what was found. ``out`` is a directory for ``report.json``, ``evidence.wg`` and summaries.

    ``summarize_grads_and_vars`` writes summaries of gradients and variables for TensorBoard: ``True`` of
    every update, ``5`` of every fifth one, a function of those for which it is true; it is given the number
    of the update, from 1 on, and, if it takes two arguments, the optimizer's name. They go to ``out``, or to
    ``runs/watching-<time>``; ``run.folder`` says where.
    """
    directory = RunDirectory("watching", Path(out) if out is not None else None)
    summaries = chosen(summarize_grads_and_vars, directory, histograms)
    return Watched(sys._getframe(1), directory, summaries)


class Watched:
    """A recorded block. Inside of it: what was found so far; after it: all that was found."""

    def __init__(
        self,
        frame: FrameType | None = None,
        directory: RunDirectory | None = None,
        summaries: Summaries | None = None,
        scope: Mapping[str, Any] | None = None,
    ) -> None:
        """``scope`` has the names of a notebook's cell, which has no frame yet."""
        self._frame, self._scope = frame, scope
        self._place = _place(frame) if scope is None else _CELL
        self._out = directory if directory is not None and directory.asked else None
        self._summaries = summaries
        self._registry: Registry | None = None
        self._shared = False
        self._started, self._since = 0.0, ""
        self._over = False
        self._outer: Watching | None = None  # what a recording around this one summarizes
        self._raised: Raised | None = None
        self._result: Run | None = None
        self._recording: Recording | None = None

    def __enter__(self) -> Watched:
        if self._registry is not None:
            raise RuntimeError("this block has been recorded already: call whygrad.watching() once more")
        if self._out is not None:
            self._out.path()
            keeping.prepare()
        self._started = time.perf_counter()
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")
        outer = current.registry()
        self._shared = outer is not None
        self._registry = outer if outer is not None else Registry(Setup(self._namespace))
        self._outer = self._registry.watching
        if self._summaries is not None:
            self._registry.summarize(self._summaries.watching)
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
            registry.summarize(self._outer)
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
        return f"whygrad: {summary.healthy(run) if run.clean else summary.headline(run)}"

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return notebook.html(self.result)

    def _namespace(self) -> Mapping[str, Any]:
        """The names in scope at the block, the nearest first; a notebook's ``_`` and ``_3`` come last."""
        frame = self._frame
        near = variables_of(frame) if frame is not None else {}
        far = frame.f_globals if frame is not None else self._scope or {}
        scope = {**near, **{name: value for name, value in items(far) if name not in near}}
        names = sorted(scope, key=lambda name: name.startswith("_"))
        return {class_name(scope[n]) if n == "self" else n: scope[n] for n in names}

    def _failed(self, registry: Registry, error: BaseException) -> None:
        if not self._shared:
            registry.failed(error)
        peel(error)
        self._raised = Raised(type(error).__name__, str(error), user_site(error))

    def _judged(self) -> Run:
        if self._registry is None:
            return Run(self._place, notes=(Note("the block has not begun yet: nothing was recorded"),))
        try:
            places.cells.update(numbered())
            return self._concluded(self._registry)
        except Exception as error:
            why = f"whygrad could not finish: {brief(error)}"
            return Run(self._place, exception=self._raised, notes=(Note(why, kind="internal"),), blind=why)

    def _concluded(self, registry: Registry) -> Run:
        observed = registry.observe()
        about = described(self._about(), registry, observed)
        run = conclude(observed, about)
        if self._summaries is not None:  # at the end of the block everything is on disk
            watched = self._summaries.finish(run) if self._over else self._summaries.so_far()
            about, run = replace(about, watched=watched), with_summaries(run, watched)
        self._recording = Recording(about, observed)
        return run

    def _about(self) -> About:
        return About(
            self._place,
            exit_code=int(self._raised is not None),
            exception=self._raised,
            notes=(Note(_SHARED),) if self._shared else (),
            seconds=time.perf_counter() - self._started,
            started=self._since,
        )

    def _write(self, run: Run) -> None:
        if self._out is None:
            return
        for name, write in (
            (REPORT, partial(keeping.keep_report, self._out, run)),
            (EVIDENCE, partial(keeping.keep_evidence, self._out, self._recording)),
        ):
            try:
                write()
            except Exception as error:
                note = Note(f"{name} could not be written: {brief(error)}", kind="internal")
                run = self._result = replace(run, notes=(*run.notes, note))


def _place(frame: FrameType | None) -> str:
    """What the report calls the block: ``tests/test_actor.py:12``."""
    if frame is None:
        return "the test"
    file = frame.f_code.co_filename
    if "ipykernel" in file or file.startswith("<ipython"):
        return _CELL
    return f"{file}:{frame.f_lineno}"


def _add_note(error: Exception, run: Run) -> None:
    """The first finding in one sentence, for whoever reads the traceback."""
    if run.clean:
        return
    first, *more = run.findings
    where = f" ({places.label(first.site)})" if first.site else ""
    others = f", and {len(more)} more" if more else ""
    error.add_note(f"whygrad: {first.title}{where}{others}")
