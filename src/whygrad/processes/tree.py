"""A run with all of its processes, as the one sees it who started it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time

from whygrad.model import Recording, Run
from whygrad.processes.combining import combine
from whygrad.processes.files import plain, reports
from whygrad.processes.settings import Settings
from whygrad.storage.directory import PROCESSES, RunDirectory


class Tree:
    """Where the processes leave what they have seen, from their first one to the run made of all."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        directory.claim = f"{os.getpid()}-{time.time_ns():x}"
        self.folder = directory.place / PROCESSES / directory.claim

    def spread(self, settings: Settings) -> None:
        """From now on processes that are started belong to the run."""
        settings.spread()

    def gather(self, root: Run, recording: Recording | None = None) -> Run | None:
        """The run of all of them, for whoever tells of it; what has trained nothing leaves nothing behind."""
        members = list(reports(self.folder)) if self.folder.is_dir() else []
        run = combine(plain(root), members) if members else root
        if any(p.updates or p.failed for member in members for p in member.processes):
            self._bring()
        else:
            self._remove()
        return run

    def _bring(self) -> None:
        """Into the directory of the run, where it turned out to be another one."""
        there = self._directory.path() / PROCESSES / self.folder.name
        with contextlib.suppress(OSError):
            if there != self.folder:
                there.parent.mkdir(exist_ok=True)
                self.folder.rename(there)
                self._prune()
            for old in there.parent.iterdir():  # of an earlier run in the same directory
                if old != there:
                    shutil.rmtree(old, ignore_errors=True)

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._prune()

    def _prune(self) -> None:
        """Folders that were made for the processes and are empty now; what the user has named stays."""
        folder = self.folder.parent
        with contextlib.suppress(OSError):
            folder.rmdir()
            if not self._directory.asked:
                folder.parent.rmdir()
                folder.parent.parent.rmdir()
