"""How many faulty scripts get a proven patch, and how many of those become what their healthy twin is.

``python benchmarks/fixes.py FOLDER... --framework torch`` goes through every faulty script that ``FOLDER/labels.json``
lists: ``whygrad fix --first``, each trial in a fork of a process that has the framework loaded.

    found     scripts with a finding in a check
    proven    scripts of which every error and warning has gone, with patches that have proven themselves
    partly    some of the findings have a proven patch
    equal     patched scripts that are their healthy twin (bad/x.py and good/x.py) to the word, or whose final weights are
              those of the twin, bit for bit
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests import forked

from whygrad.cli.main import main as whygrad
from whygrad.fixing.treatment import Treatment
from whygrad.fixing.trying import Trials, Tried
from whygrad.model.fix import Treated
from whygrad.reporters import json_report
from whygrad.running import patched
from whygrad.running.limits import Limits
from whygrad.running.program import Program

LIMITS = Limits(updates=5, seconds=30)
LONG = 90  # seconds for one run to the end


def in_a_fork(child: Callable[[], int], folder: Path, seconds: float) -> int:
    """Run it in a child whose output goes to a file; a child that takes too long is ended."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        output = os.open(folder / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        code = 1
        try:
            code = child()
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        forked.atexit._run_exitfuncs()
        os._exit(code)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -1


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder that only this process removes: a ``TemporaryDirectory`` would go with the first fork that ends."""
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class ForkedTrials:
    """Trials in forks; a script that chooses legacy Keras needs a process of its own."""

    def __init__(self, script: Path, updates: int = LIMITS.updates) -> None:
        self._script = script
        self._limits = Limits(updates, LIMITS.seconds)
        self._own = "TF_USE_LEGACY_KERAS" in script.read_text()

    def __call__(self, files: Mapping[str, bytes]) -> Tried:
        if self._own:
            return Trials(Program(str(self._script)), self._limits, ROOT)(files)
        with scratch_folder() as scratch:
            folder = Path(scratch)
            report = folder / "report.json"
            words = ["check", "--quiet", "--out", str(folder / "run"), "--json", str(report)]
            words += ["--updates", str(self._limits.updates), "--seconds", str(LIMITS.seconds)]
            if files:
                named = {os.path.join(ROOT, file): data for file, data in files.items()}
                words += ["--patched", str(patched.listed(named, folder))]

            def child() -> int:
                sys.argv = ["whygrad", *words, str(self._script)]
                return whygrad()

            in_a_fork(child, folder, LIMITS.seconds + 60)
            try:
                return Tried(json_report.parse(report.read_text()))
            except (OSError, ValueError):
                return Tried(None, output=(folder / "output.txt").read_text(errors="replace")[-500:])


def final_weights(script: Path, files: Mapping[str, bytes], framework: str) -> Counter[str] | None:
    """What the weights of a program are at its end: all of them, whoever holds them."""
    with scratch_folder() as scratch:
        folder = Path(scratch)
        found = folder / "weights.json"
        named = {os.path.join(ROOT, file): data for file, data in files.items()}
        listing = patched.listed(named, folder)

        def child() -> int:
            patched.install(listing)
            kept: list[Any] = []
            _keep(framework, kept)
            program = Program(str(script))
            try:
                program.run(program.prepare())
            finally:
                found.write_text(json.dumps([_digest(value) for value in kept]))
            return 0

        code = in_a_fork(child, folder, LONG)
        return Counter(json.loads(found.read_text())) if code == 0 and found.exists() else None


def _keep(framework: str, kept: list[Any]) -> None:
    """Keep every parameter that is made."""
    if framework == "torch":
        import torch

        made = torch.nn.Parameter.__new__

        def new(cls: Any, *args: Any, **named: Any) -> Any:
            kept.append(made(cls, *args, **named))
            return kept[-1]

        torch.nn.Parameter.__new__ = new
        return
    module = importlib.import_module("tensorflow.python.ops.resource_variable_ops")
    init = module.ResourceVariable.__init__

    def begin(self: Any, *args: Any, **named: Any) -> None:
        init(self, *args, **named)
        kept.append(self)

    module.ResourceVariable.__init__ = begin


def _digest(value: Any) -> str:
    array = value.detach().numpy() if hasattr(value, "detach") else value.numpy()
    return hashlib.sha256(array.tobytes()).hexdigest()


def judge(script: Path, framework: str) -> dict[str, Any]:
    """One script: what was found, what is proven, and whether it is its twin now."""
    treatment = Treatment(
        Program(str(script)), ROOT, ForkedTrials(script), every=False, longer=ForkedTrials(script, 200)
    )
    told = treatment.run()
    twin = Path(str(script).replace("/bad/", "/good/"))
    equal = None
    if told.diff and twin != script and twin.exists() and treatment.patient is not None:
        equal = same_text(treatment.patient.files, script, twin)
    if equal is False:
        ours = final_weights(script, treatment.patient.files, framework)
        theirs = final_weights(twin, {}, framework)
        equal = ours == theirs if ours is not None and theirs is not None else None
    return {**summary(told), "equal": equal}


def same_text(files: Mapping[str, bytes], script: Path, twin: Path) -> bool:
    """Is the patched script its twin, but for comments and spaces? Then its weights need not be compared."""
    ours = next((data for name, data in files.items() if (ROOT / name).resolve() == script), b"")
    return len(files) == 1 and ast.dump(ast.parse(ours)) == ast.dump(ast.parse(twin.read_bytes()))


def summary(told: Treated) -> dict[str, Any]:
    """What the table needs, and what one wants to read."""
    rules = [fixed.finding.rule for fixed in told.fixes]
    healed = told.proven and told.proven == len(told.fixes)
    state = "none found" if not told.fixes else "proven" if healed else "partly" if told.proven else "stuck"
    tried = [{"what": w, "why_not": why} for fixed in told.fixes for w, why in fixed.tried]
    untried = [fixed.untried for fixed in told.fixes if fixed.untried]
    return {
        "state": state,
        "rules": rules,
        "diff": told.diff,
        "runs": told.runs,
        "seconds": round(told.seconds, 1),
        "verdict": told.verdict,
        "tried": tried,
        "untried": untried,
        "trouble": told.trouble,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--framework", choices=["torch", "tensorflow"], required=True)
    parser.add_argument("--results", type=Path, help="where results are kept, and taken up again")
    parser.add_argument("--only", default="", help="scripts whose name has this in it")
    options = parser.parse_args()
    os.chdir(ROOT)
    forked.load(options.framework)
    known = json.loads(options.results.read_text()) if options.results and options.results.exists() else {}
    for folder in options.folders:
        for label in json.loads((folder / "labels.json").read_text()):
            script = (folder / label["file"]).resolve()
            mine = label["framework"] == options.framework and not label["healthy"]
            if mine and options.only in str(script) and str(script) not in known:
                known[str(script)] = result = judge(script, options.framework)
                print(
                    f"{result['state']:10} {result['equal']!s:5} {result['seconds']:6.1f} s  {script.name}",
                    flush=True,
                )
                if options.results:
                    options.results.write_text(json.dumps(known, indent=1))
    table(known)


def table(known: Mapping[str, dict[str, Any]]) -> None:
    """The counts."""
    states = Counter(result["state"] for result in known.values())
    twins = [result["equal"] for result in known.values() if result["equal"] is not None]
    print(f"scripts {len(known)}: {dict(states)}")
    print(f"proven: {states['proven'] / max(len(known), 1):.0%} of all scripts")
    print(f"equal to the healthy twin to the last bit: {sum(twins)} of {len(twins)} that could be compared")


if __name__ == "__main__":
    main()
