"""Runs labelled scripts under ``whygrad run``, each in a fork of a process that has the framework loaded.

    python tests/forked.py FOLDER FRAMEWORK RESULTS.json    all that FOLDER/labels.json lists
    python tests/forked.py FRAMEWORK SCRATCH                those whose paths are typed; answers with a line of JSON each
    python tests/forked.py SCRIPT --alone FOLDER            that one, in this process, in FOLDER

A fork costs a second where a fresh process costs three (torch) or seven (TensorFlow). The scripts see a process
of their own either way. Legacy Keras is chosen before TensorFlow is imported: such a script gets a fresh process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import whygrad.diagnosis
import whygrad.reporters.json_report  # noqa: F401
from whygrad.cli.main import main

LOADED = {
    "torch": ("torch", "torch.distributions", "whygrad.frameworks.torch.backend"),
    "tensorflow": ("tensorflow", "keras", "whygrad.frameworks.tensorflow.backend"),
    "jax": (
        "jax",
        "jax.numpy",
        "optax",
        "flax.linen",
        "flax.training.train_state",
        "whygrad.frameworks.jax.backend",
    ),
}


def run(script: Path, folder: Path) -> tuple[int, dict[str, Any], str]:
    """Exit code, report and output of one script."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os._exit(_as_child(script, folder))
    _, status = os.waitpid(child, 0)
    found = json.loads(report.read_text()) if report.exists() else {}
    return (
        os.waitstatus_to_exitcode(status),
        found,
        (folder / "output.txt").read_text(errors="replace")[-2000:],
    )


def _as_child(script: Path, folder: Path) -> int:
    output = os.open(folder / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what is typed is for the parent
    if "TF_USE_LEGACY_KERAS" in script.read_text():
        os.execv(sys.executable, [sys.executable, __file__, str(script), "--alone", str(folder)])
    return alone(script, folder)


def alone(script: Path, folder: Path) -> int:
    """The exit code of a script that runs here. Whygrad was started elsewhere: from there it names files."""
    os.chdir(folder)
    report, directory = folder / "report.json", folder / "run"
    sys.argv = ["whygrad", "run", "--quiet", "--json", str(report), "--out", str(directory), str(script)]
    code: Any = 1
    try:
        code = main()
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    atexit._run_exitfuncs()  # what the end of python would do
    return code if isinstance(code, int) else int(code is not None)


def load(framework: str) -> None:
    """Everything that takes long and is the same for all scripts."""
    for module in LOADED[framework]:
        importlib.import_module(module)
    if framework == "torch":
        import torch

        torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
    gc.freeze()  # no child shall look through it, which would copy it


def everything(folder: Path, framework: str, results: Path) -> None:
    """Run all scripts of a framework, in the folder of ``results``, and write what each gave."""
    load(framework)
    labels = json.loads((folder / "labels.json").read_text())
    mine = [label["file"] for label in labels if label["framework"] == framework]
    results.write_text(json.dumps({file: run(folder / file, results.parent) for file in mine}))


def serve(framework: str, scratch: Path) -> None:
    """Run the scripts that are asked for, as long as somebody asks."""
    load(framework)
    for line in sys.stdin:
        print(json.dumps(run(Path(line.rstrip("\n")), scratch)), flush=True)


if __name__ == "__main__":
    if sys.argv[2] == "--alone":
        sys.exit(alone(Path(sys.argv[1]).resolve(), Path(sys.argv[3]).resolve()))
    elif len(sys.argv) == 3:
        serve(sys.argv[1], Path(sys.argv[2]).resolve())
    else:
        everything(Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3]).resolve())
