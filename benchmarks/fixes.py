"""How many faulty scripts get a proven patch, and how many of those become what their healthy twin is.

    python benchmarks/fixes.py tests/cases tests/corpus --framework torch --results them.json
    python benchmarks/fixes.py --agents --mutants 40 --framework torch --results more.json
    python benchmarks/fixes.py tests/cases --framework tensorflow --sample 30 --seed 7
    python benchmarks/fixes.py --verify 20 --results them.json

Every faulty script that ``FOLDER/labels.json`` lists (every script of a folder without labels), bugged twins of our
agents, mutants: ``whygrad fix --first``, each trial in a fork of a process that has the framework loaded. What is in
the results is not done again; ``--seconds`` ends it after so much time, and the next call goes on.

    found     scripts with a finding in a check
    proven    scripts of which every error and warning has gone, with patches that have proven themselves
    partly    some of the findings have a proven patch
    equal     patched scripts that are their healthy twin to the word, or whose final weights are those of the twin,
              bit for bit

``--verify`` takes patches that were proven, applies them with git to a copy of the script, and checks that copy in a
process of its own: nothing of the machinery that proved them takes part.
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
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "benchmarks")]

import faulty
from faulty import Faulty
from tests import forked

from whygrad.cli.main import main as whygrad
from whygrad.fixing.proof import loud
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

    def __init__(self, script: Path, args: Sequence[str] = (), updates: int = LIMITS.updates) -> None:
        self._script, self._args = script, args
        self._limits = Limits(updates, LIMITS.seconds)
        self._own = "TF_USE_LEGACY_KERAS" in script.read_text()

    def __call__(self, files: Mapping[str, bytes]) -> Tried:
        if self._own:
            return Trials(Program(str(self._script), args=tuple(self._args)), self._limits, ROOT)(files)
        with scratch_folder() as scratch:
            folder = Path(scratch)
            report = folder / "report.json"
            words = ["check", "--quiet", "--out", str(folder / "run"), "--json", str(report)]
            words += ["--updates", str(self._limits.updates), "--seconds", str(LIMITS.seconds)]
            if files:
                named = {os.path.join(ROOT, file): data for file, data in files.items()}
                words += ["--patched", str(patched.listed(named, folder))]

            def child() -> int:
                sys.argv = ["whygrad", *words, str(self._script), *self._args]
                return whygrad()

            in_a_fork(child, folder, LIMITS.seconds + 60)
            try:
                return Tried(json_report.parse(report.read_text()))
            except (OSError, ValueError):
                return Tried(None, output=(folder / "output.txt").read_text(errors="replace")[-500:])


def final_weights(
    script: Path, args: Sequence[str], files: Mapping[str, bytes], framework: str
) -> Counter[str] | None:
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
            program = Program(str(script), args=tuple(args))
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


def judge(given: Faulty, framework: str, weights: bool = True) -> dict[str, Any]:
    """One script: what was found, what is proven, and whether it is its twin now."""
    script, twin = given.path, given.twin
    trials, longer = ForkedTrials(script, given.args), ForkedTrials(script, given.args, 200)
    program = Program(str(script), args=given.args)
    treatment = Treatment(program, ROOT, trials, every=False, longer=longer)
    told = treatment.run()
    equal = None
    if told.diff and twin is not None and treatment.patient is not None:
        files = treatment.patient.files
        equal = same_text(files, script, twin)
        if not equal and weights:
            ours = final_weights(script, given.args, files, framework)
            theirs = final_weights(twin, given.args, {}, framework)
            equal = ours == theirs if ours is not None and theirs is not None else None
    left = bool(loud(treatment.patient.run)) if treatment.patient is not None else True
    return {**summary(told, left), "path": str(script), "args": given.args, "equal": equal}


def same_text(files: Mapping[str, bytes], script: Path, twin: Path) -> bool:
    """Is the patched script its twin, but for comments and spaces? Then its weights need not be compared."""
    ours = next((data for name, data in files.items() if (ROOT / name).resolve() == script), b"")
    return len(files) == 1 and ast.dump(ast.parse(ours)) == ast.dump(ast.parse(twin.read_bytes()))


def summary(told: Treated, left: bool) -> dict[str, Any]:
    """What the table needs, and what one wants to read."""
    rules = [fixed.finding.rule for fixed in told.fixes]
    healed = told.proven and not left  # what was stuck may have gone with what was cured after it
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
    options = parsed()
    os.chdir(ROOT)
    results: Path | None = options.results
    known = json.loads(results.read_text()) if results and results.exists() else {}
    if options.verify is not None:
        verify(known, options.verify, options.seed)
        return
    forked.load(options.framework)
    until = time.monotonic() + options.seconds
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with contextlib.nullcontext(options.keep) if options.keep else scratch_folder() as folder:
        chosen = faulty.sample(list(scripts(options, Path(folder))), options.sample, options.seed)
        for given in (g for g in chosen if options.only in g.name and g.name not in known):
            if time.monotonic() > until:
                print("out of time: the same call goes on from here")
                break
            known[given.name] = result = judge(given, options.framework, not options.no_weights)
            told = f"{result['state']:10} {result['equal']!s:5} {result['seconds']:6.1f} s  {given.name}"
            print(told, flush=True)
            if results:
                results.write_text(json.dumps(known, indent=1))
    table(known)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--framework", choices=["torch", "tensorflow"], default="torch")
    parser.add_argument("--agents", action="store_true", help="the bugged twins of our agents, too")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="N mutants, too")
    parser.add_argument("--sample", type=int, metavar="N", help="N of all these, by lot")
    parser.add_argument("--seed", type=int, default=0, help="of the lots")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no script after so long")
    parser.add_argument("--keep", type=Path, help="where broken agents and mutants are written, for --verify")
    parser.add_argument("--no-weights", action="store_true", help="compare twins by their text alone")
    parser.add_argument("--results", type=Path, help="where results are kept, and taken up again")
    parser.add_argument("--only", default="", help="scripts whose name has this in it")
    parser.add_argument("--verify", type=int, metavar="N", help="check N proven patches of the results again")
    return parser.parse_args()


def scripts(options: argparse.Namespace, scratch: Path) -> Iterator[Faulty]:
    """All that was asked for."""
    for folder in options.folders:
        yield from faulty.labelled(folder, options.framework)
    if options.agents:
        yield from faulty.broken_agents(options.framework, scratch)
    if options.mutants:
        yield from faulty.mutants(options.framework, scratch, options.mutants, options.seed)


def table(known: Mapping[str, dict[str, Any]]) -> None:
    """The counts, for each corpus."""
    for corpus in dict.fromkeys(name.partition("/")[0] for name in known):
        mine = [result for name, result in known.items() if name.startswith(f"{corpus}/")]
        states = Counter(result["state"] for result in mine)
        found = len(mine) - states["none found"]
        tried = sum(result["state"] == "stuck" and bool(result["tried"]) for result in mine)
        twins = [result["equal"] for result in mine if result["equal"] is not None]
        print(
            f"{corpus}: {len(mine)} scripts, {found} with a finding; proven {states['proven']}"
            f" ({states['proven'] / max(found, 1):.0%} of those), partly {states['partly']}, tried in vain {tried},"
            f" not tried {states['stuck'] - tried}; equal to the twin {sum(twins)} of {len(twins)}"
        )


def verify(known: Mapping[str, dict[str, Any]], count: int, seed: int) -> None:
    """Apply proven patches with git, and check the files as they are then, each in a fresh process."""
    proven = [Faulty(name, Path(r["path"])) for name, r in known.items() if r["state"] == "proven"]
    chosen = [given for given in proven if given.path.exists()]
    good = 0
    for given in (drawn := faulty.sample(chosen, count, seed)):
        result = known[given.name]
        with scratch_folder() as scratch:
            named = next(line[6:] for line in result["diff"].splitlines() if line.startswith("--- a/"))
            place = Path(scratch, named)
            shutil.copytree(given.path.parent, place.parent, ignore=shutil.ignore_patterns("__pycache__"))
            told = subprocess.run(
                ["git", "apply", "-p1"], cwd=scratch, input=result["diff"], text=True, capture_output=True
            )
            command = [sys.executable, "-m", "whygrad", "check", "--updates", "20", "--out", "out", named]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            done = subprocess.run(
                [*command, *result["args"]], cwd=scratch, env=environment, text=True, capture_output=True
            )
        fine = told.returncode == 0 and done.returncode == 0
        good += fine
        print(
            "good" if fine else f"BAD ({done.returncode})\n{told.stderr}{done.stderr[-1500:]}",
            given.name,
            flush=True,
        )
    print(f"{good} of {len(drawn)} patches are good in a process of their own")


if __name__ == "__main__":
    main()
