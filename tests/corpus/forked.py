"""Runs every script of the corpus under ``whygrad run``, each in a fork of a process that has torch loaded.

    python tests/corpus/forked.py RESULTS.json

A fork costs a second where a fresh process costs three. The scripts see a process of their own either way.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch  # noqa: F401  (loaded once, for everybody)

import whygrad.backends.torch.backend
import whygrad.diagnosis
import whygrad.reporters.json_report  # noqa: F401
from whygrad.cli.main import main

HERE = Path(__file__).resolve().parent


def run(script: Path, folder: Path) -> tuple[int, dict[str, Any]]:
    """Exit code and report of one script."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os._exit(_as_child(script, folder, report))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(report.read_text()) if report.exists() else {}


def _as_child(script: Path, folder: Path, report: Path) -> int:
    os.chdir(folder)
    output = os.open(folder / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["whygrad", "run", "--quiet", "--json", str(report), "--out", str(folder / "run"), str(script)]
    code: Any = 1
    try:
        code = main()
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    atexit._run_exitfuncs()  # what the end of python would do
    return code if isinstance(code, int) else int(code is not None)


def everything(results: Path) -> None:
    """Run all, in the folder of ``results``, and write what each gave."""
    labels = json.loads((HERE / "labels.json").read_text())
    found = {label["file"]: run(HERE / label["file"], results.parent) for label in labels}
    results.write_text(json.dumps(found))


if __name__ == "__main__":
    everything(Path(sys.argv[1]).resolve())
