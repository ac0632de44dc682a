"""Runs programs and mutants in forked processes, a few at a time, and remembers what the probe saw of originals."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FORKS = Path(__file__).with_name("forks.py")
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
NOTHING: dict[str, Any] = {"exit_code": None, "report": {}, "output": ""}


class Worker:
    """One process with one framework loaded, which forks for every script."""

    def __init__(self, framework: str, folder: Path) -> None:
        self.framework, self.folder = framework, folder
        self.process: subprocess.Popen[str] | None = None

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a script gave; nothing, if it took the worker with it."""
        process = self.process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError):
            self.close()
            return NOTHING

    def _start(self) -> subprocess.Popen[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, FORKS, self.framework, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **QUIET},
            text=True,
        )
        return self.process

    def close(self) -> None:
        """End it."""
        if self.process:
            self.process.communicate()
            self.process = None


class Runner:
    """Gives each request to a free worker."""

    def __init__(self, frameworks: set[str], jobs: int, seconds: float) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="whygrad-mutants-"))
        self.seconds = seconds
        self.free: dict[str, queue.Queue[Worker]] = {name: queue.Queue() for name in frameworks}
        for name, workers in self.free.items():
            for number in range(jobs):
                workers.put(Worker(name, self.scratch / f"{name}{number}"))

    def run(self, framework: str, script: Path, argv: tuple[str, ...], how: str) -> dict[str, Any]:
        """One script, ``how``: under a probe, ``whygrad run`` or ``whygrad check``."""
        worker = self.free[framework].get()
        request = {"script": str(script), "argv": list(argv), "how": how, "seconds": self.seconds}
        try:
            return worker.run(request)
        finally:
            self.free[framework].put(worker)

    def written(self, name: str, text: str) -> Path:
        """A script of this text."""
        path = self.scratch / "scripts" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def close(self) -> None:
        """Nothing is left, neither processes nor files."""
        for workers in self.free.values():
            while not workers.empty():
                workers.get().close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Cache:
    """Answers by what was asked, in a file for each; one that nobody deletes is right for ever."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def get(self, *key: object) -> dict[str, Any] | None:
        """What was put there."""
        path = self._path(key)
        return json.loads(path.read_text()) if path and path.exists() else None

    def put(self, value: dict[str, Any], *key: object) -> dict[str, Any]:
        """Keep it; gives it back."""
        path = self._path(key)
        if path:
            path.write_text(json.dumps(value))
        return value

    def _path(self, key: tuple[object, ...]) -> Path | None:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:24]
        return self.folder / f"{digest}.json" if self.folder else None
