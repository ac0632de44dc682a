"""Runs scripts in forks of one process that has the framework loaded: under whygrad, or plainly with a probe.

    python benchmarks/mutants/forks.py FRAMEWORK SCRATCH

Reads a line of JSON for each script (``script``, ``argv``, ``how``, ``seconds``) and answers with one: exit code,
report (of whygrad, or of the probe) and the end of the output. A script that takes too long is ended.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

LOADED = {
    "torch": ("torch", "torch.distributions", "torch.nn.functional", "gymnasium"),
    "tensorflow": ("tensorflow", "keras", "gymnasium"),
}


def run(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What one script gave."""
    for leftover in folder.glob("*.json"):
        leftover.unlink()
    child = os.fork()
    if child == 0:
        os._exit(_as_child(request, folder))
    code = _wait(child, request.get("seconds", 120))
    report = folder / "report.json"
    try:
        found = json.loads(report.read_text())
    except (OSError, ValueError):
        found = {}
    output = (folder / "output.txt").read_text(errors="replace")
    return {"exit_code": code, "report": found, "output": output[-3000:]}


def _wait(child: int, seconds: float) -> int | None:
    """Its exit code; None if it had to be ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _as_child(request: dict[str, Any], folder: Path) -> int:
    os.chdir(folder)
    output = os.open(folder / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    code: Any = 1
    try:
        code = WAYS[request["how"]](request, folder)
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    atexit._run_exitfuncs()  # what the end of python would do
    return code if isinstance(code, int) else int(code is not None)


def _under_whygrad(request: dict[str, Any], folder: Path) -> Any:
    from whygrad.cli.main import main

    options = ["--quiet", "--json", str(folder / "report.json"), "--out", str(folder / "run")]
    sys.argv = ["whygrad", request["how"], *options, request["script"], *request["argv"]]
    return main()


def _probed(request: dict[str, Any], folder: Path) -> Any:
    from mutants import probe

    return probe.run(request["script"], request["argv"], folder / "report.json")


def _strict(request: dict[str, Any], folder: Path) -> Any:
    """With what the framework itself offers to find faults."""
    if "torch" in sys.modules:
        sys.modules["torch"].autograd.set_detect_anomaly(True)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].debugging.enable_check_numerics()
    return _probed(request, folder)


WAYS = {"run": _under_whygrad, "check": _under_whygrad, "probe": _probed, "strict": _strict}


def load(framework: str) -> None:
    """Everything that takes long and is the same for all scripts."""
    names = (
        *LOADED[framework],
        f"whygrad.frameworks.{framework}.backend",
        "whygrad.diagnosis",
        "whygrad.cli.main",
    )
    for name in names:
        importlib.import_module(name)
    if framework == "torch":
        import torch

        torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
    gc.freeze()


def serve(framework: str, folder: Path) -> None:
    """Run what is asked for, as long as somebody asks."""
    load(framework)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), folder)), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]).resolve())
