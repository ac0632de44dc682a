"""Runs commands as a reader would type them, each in a fork of a process that has the framework loaded.

    python tests/docs/running.py FRAMEWORK JOBS.json

A job is a folder and a command; its exit code, stdout and stderr are left in files. Importing a framework is what
takes long, and is paid once.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.util
import json
import os
import runpy
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

LOADED = {
    "torch": ("torch", "torch.distributions", "whygrad.frameworks.torch.backend", "whygrad.diagnosis"),
    "tensorflow": ("tensorflow", "keras", "whygrad.frameworks.tensorflow.backend", "whygrad.diagnosis"),
}
HERE = all(importlib.util.find_spec(name) for name in LOADED)  # asked without importing them: that takes long
ENVIRONMENT = {
    "COLUMNS": "88",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


@dataclass(frozen=True)
class Job:
    """A command and where it is typed."""

    folder: Path
    command: str
    framework: str = "torch"


@dataclass(frozen=True)
class Done:
    """What came of it."""

    code: int
    stdout: str
    stderr: str


def run_all(jobs: Sequence[Job], timeout: float = 900) -> list[Done]:
    """What came of each job, in order."""
    results: dict[int, Done] = {}
    for framework in LOADED:
        mine = [n for n, job in enumerate(jobs) if job.framework == framework]
        if mine:
            done = _run_with(framework, [jobs[n] for n in mine], timeout)
            results.update(zip(mine, done, strict=True))
    return [results[n] for n in range(len(jobs))]


def _run_with(framework: str, jobs: Sequence[Job], timeout: float) -> list[Done]:
    with tempfile.TemporaryDirectory() as scratch:
        told = [{"folder": str(job.folder), "command": job.command} for job in jobs]
        table = Path(scratch) / "jobs.json"
        table.write_text(json.dumps(told))
        command = [sys.executable, __file__, framework, str(table)]
        subprocess.run(command, check=True, env={**os.environ, **ENVIRONMENT}, timeout=timeout)
        texts = [(_text(scratch, n, "out"), _text(scratch, n, "err")) for n in range(len(jobs))]
        codes = json.loads((Path(scratch) / "codes.json").read_text())
    return [Done(code, *text) for code, text in zip(codes, texts, strict=True)]


def _text(scratch: str, n: int, kind: str) -> str:
    return (Path(scratch) / f"{n}.{kind}").read_text(encoding="utf-8", errors="replace")


def _serve(framework: str, table: Path) -> None:
    """Fork a child for every job."""
    for module in LOADED[framework]:
        importlib.import_module(module)
    if framework == "torch":
        import torch

        torch.set_num_threads(1)
        torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
    gc.freeze()
    codes = []
    for n, job in enumerate(json.loads(table.read_text())):
        child = os.fork()
        if child == 0:
            for number, kind in ((1, "out"), (2, "err")):
                os.dup2(os.open(table.with_name(f"{n}.{kind}"), os.O_CREAT | os.O_WRONLY), number)
            os.chdir(job["folder"])
            sys.path[0] = job["folder"]
            _become(shlex.split(job["command"]))
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    table.with_name("codes.json").write_text(json.dumps(codes))


def _become(words: list[str]) -> NoReturn:
    """Be the command, to the end of the process."""
    code: Any = 0
    try:
        code = _run(words)
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    atexit._run_exitfuncs()  # what the end of python would do
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(
        code if isinstance(code, int) else int(code is not None)
    )  # tidying up a whole framework takes long


def _run(words: list[str]) -> Any:
    if words[0] == "whygrad":
        from whygrad.cli.main import main

        sys.argv = words
        return main(words[1:])
    sys.argv = words[2:] if words[1] == "-m" else words[1:]
    if words[1] == "-m":
        return runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True) and 0
    return runpy.run_path(sys.argv[0], run_name="__main__") and 0


if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]))
