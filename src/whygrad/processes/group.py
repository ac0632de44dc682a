"""``torchrun -m whygrad run train.py``: every rank watches itself, and rank 0 tells of all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whygrad.model import Recording, Run
from whygrad.processes.combining import combine
from whygrad.processes.files import Files, reports
from whygrad.processes.place import this_process, told
from whygrad.processes.settings import Settings
from whygrad.processes.traces import traces
from whygrad.storage.directory import PROCESSES, RunDirectory

_PATIENCE = 60.0  # seconds that rank 0 waits for the others; they may be writing what they have seen
_AFTER_FAILURE = 2.0  # the others may wait for it themselves
_PAUSE = 0.05


def launched(env: Mapping[str, str] = os.environ) -> bool:
    """Is this one of several ranks that a launcher has started?"""
    world = env.get("WORLD_SIZE", "")
    return env.get("RANK", "").isdigit() and world.isdigit() and int(world) > 1


def directory(stem: str, out: Path | None, base: Path, env: Mapping[str, str] = os.environ) -> RunDirectory:
    """The one that all ranks of this machine call by the same name, without asking each other."""
    if out is not None:
        return RunDirectory(stem, out, base)
    name = env.get("TORCHELASTIC_RUN_ID", "")
    name = name if name not in ("", "none") else env.get("MASTER_PORT", "")
    name = "".join(c if c.isalnum() else "-" for c in name)[:24]
    return RunDirectory(stem, Path("runs") / f"{stem}-{name}-{os.getppid()}", base)


class Group:
    """One rank among others."""

    def __init__(self, directory: RunDirectory) -> None:
        self.folder = directory.path() / PROCESSES / "ranks"
        self._process = this_process()
        self._files: Files | None = None

    def spread(self, settings: Settings) -> None:
        """From now on processes that are started belong to the run; and the others see that this one is."""
        settings.spread()
        self._files = Files(self.folder, self._process, settings.source)
        self._files.write(Run(script="", processes=(self._process,)))

    def gather(self, run: Run, recording: Recording | None = None) -> Run | None:
        """Leave what was seen. Rank 0 waits for the others, and has the run of all of them."""
        self._leave(run, recording, finished=True)
        if self._process.rank != 0:
            return None
        self._wait(_AFTER_FAILURE if run.exception is not None else _PATIENCE)
        ended = Run(run.script, run.argv, exit_code=run.exit_code, exception=run.exception)
        ended = replace(ended, seconds=run.seconds, started=run.started, stopped_early=run.stopped_early)
        return combine(ended, list(reports(self.folder)))

    def keep(self, run: Run, recording: Recording) -> None:
        """What was seen so far, in case that this rank is killed."""
        self._leave(run, recording, finished=False)

    def _leave(self, run: Run, recording: Recording | None, finished: bool) -> None:
        if self._files is None:
            return
        process = told(self._process, recording.observed if recording is not None else {})
        process = replace(process, finished=finished, exit_code=run.exit_code, exception=run.exception)
        process = replace(process, ended=time.time())
        if recording is not None:
            process = replace(process, traces=traces(recording.observed))
        if recording is not None:
            recording = replace(recording, about=replace(recording.about, process=process))
        self._files.write(replace(run, processes=(process,)), recording)

    def _wait(self, most: float) -> None:
        """Until all ranks of this machine have told of their end, or are gone."""
        until = time.monotonic() + most
        while time.monotonic() < until:
            others = [run.processes[0] for run in reports(self.folder)]
            here = [p for p in others if p.host == self._process.host and p.rank > 0]
            if not any(not p.finished and _alive(p.pid) for p in here):
                return
            time.sleep(_PAUSE)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True
