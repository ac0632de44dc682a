"""Injects a fault into functions of ours, one after the other, each in a fork of a process that has all loaded.

    python tests/faults/sweep.py FRAMEWORK RESULTS.json [HOW-MANY | named[HOW-MANY] | PART-OF-A-PLACE] [--late] [--bad]

Each run is compared with the same script under plain python. ``--late`` lets the first calls pass; with ``--bad``
the script ends with an exception of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from injector import Injector, Place, load_everything, places
from named import NAMED

from whygrad.cli.main import main as whygrad_main
from whygrad.running.program import Program

HERE = Path(__file__).parent
LOADED = {
    "torch": (
        "torch",
        "torch.distributions",
        "whygrad.frameworks.torch.backend",
        "whygrad.frameworks.torch.summarizing",
    ),
    "tensorflow": ("tensorflow", "keras", "whygrad.frameworks.tensorflow.backend"),
}
LONGEST = 300.0  # seconds that a run may take: a busy machine is not a failure
#: Nobody is behind these who could step aside: python itself calls them, or they are nothing but the call.
ENTRANCE = frozenset(
    (("cli/main.py", "main"), ("cli/run.py", "main"), ("frameworks/shared/frames.py", "plain_call"))
)


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    code: int
    stdout: str
    stderr: str
    report: dict[str, Any] | None = None
    executed: bool = False


class Again(MetaPathFinder, Loader):
    """Gives back a module that is loaded already, so that the script's import is an import to everybody."""

    def __init__(self, name: str) -> None:
        self.name, self.module = name, sys.modules.pop(name)
        self.spec = self.module.__spec__
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or sys.modules.get(fullname) is self.module:
            return None
        found = ModuleSpec(fullname, self, origin=self.spec.origin if self.spec else None, is_package=True)
        found.submodule_search_locations = list(self.module.__path__)
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        pass


def child_of(folder: Path, work: Callable[[], Any]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``work`` in a fork, which ends as python ends."""
    out, err = folder / "stdout.txt", folder / "stderr.txt"
    child = os.fork()
    if child == 0:
        os.setsid()
        _redirect(1, out)
        _redirect(2, err)
        os.chdir(folder)
        os._exit(_ended(work))
    deadline = time.monotonic() + LONGEST
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(status), out.read_text(errors="replace"), err.read_text(errors="replace")


def _redirect(descriptor: int, file: Path) -> None:
    target = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(target, descriptor)
    os.close(target)


def _ended(work: Callable[[], Any]) -> int:
    code: Any = 1
    try:
        code = work()
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    return code if isinstance(code, int) else int(code is not None)


class Sweep:
    """One script under one framework."""

    def __init__(self, framework: str, folder: Path, bad: bool = False, script: Path | None = None) -> None:
        load_everything()
        for module in LOADED[framework]:
            importlib.import_module(module)
        if framework == "torch":
            import torch

            torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
        self._framework, self._folder = framework, folder
        self.script = script or HERE / f"{framework}_agent.py"
        self._arguments = ("bad",) if bad else ()
        self._injector = Injector()
        gc.freeze()
        self.plain = Outcome(*child_of(folder, self._plainly))
        self.executed = self._executed()

    def _plainly(self) -> None:
        program = Program(str(self.script), self._arguments)
        stage = program.prepare()
        try:
            program.run(stage)
        except SystemExit:
            raise
        except BaseException as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename != str(self.script):
                trace = trace.tb_next
            error.__traceback__ = trace
            raise SystemExit(_shown(error)) from None

    def _watched(self) -> int:
        Again(self._framework)
        out = str(self._folder / "run")
        options = ["run", "--quiet", "--watch", "--every", "3", "--out", out]
        sys.argv = ["whygrad", *options, str(self.script), *self._arguments]
        return whygrad_main()

    def _executed(self) -> list[Place]:
        """The functions of ours that are called in this run."""
        seen: set[Place] = set()
        every: dict[str, set[Place]] = {}
        for place in places():
            every.setdefault(place.file, set()).add(place)
        told = self._folder / "seen.json"

        def work() -> int:
            atexit.register(lambda: told.write_text(json.dumps([asdict(p) for p in seen])))
            self._injector.inject(every, lambda place: bool(seen.add(place)))
            return self._watched()

        self.untouched = Outcome(*child_of(self._folder, work), self._report())
        called = sorted(Place(**p) for p in json.loads(told.read_text()))
        return [p for p in called if (p.file, p.name) not in ENTRANCE]

    def _report(self) -> dict[str, Any] | None:
        file = self._folder / "run" / "report.json"
        with contextlib.suppress(OSError, ValueError):
            return json.loads(file.read_text())
        return None

    def run(self, place: Place, first: int = 1) -> Outcome:
        """The script while this function raises, from its ``first`` call on."""
        (self._folder / "run" / "report.json").unlink(missing_ok=True)
        mark = self._folder / "mark"
        mark.unlink(missing_ok=True)
        calls = [0]

        def hook(_: Place) -> bool:
            calls[0] += 1
            if calls[0] == first:
                os.close(os.open(mark, os.O_CREAT | os.O_WRONLY))
            return calls[0] >= first

        def work() -> int:
            self._injector.inject({place.file: {place}}, hook)
            return self._watched()

        code, out, err = child_of(self._folder, work)
        return Outcome(code, out, err, self._report(), mark.exists())

    def troubles(self, outcome: Outcome) -> list[str]:
        """What the user would have noticed of the fault, beside the note that tells of it."""
        found = []
        if outcome.code != self.plain.code:
            found.append(f"exit code {outcome.code}, not {self.plain.code}")
        if outcome.stdout != self.plain.stdout:
            found.append("another output")
        if _script_only(outcome.stderr) != self.plain.stderr:
            found.append("another stderr")
        if outcome.report is None:
            return [*found, "no report"]
        loud = [f["rule"] for f in outcome.report["findings"] if f["severity"] != "note"]
        if loud:
            found.append(f"findings: {', '.join(loud)}")
        if outcome.executed and "injected" not in json.dumps(outcome.report):
            found.append("not told")
        recorded = sum(u["recorded"] for u in outcome.report["updates"])
        if outcome.report["healthy"] and not recorded:
            found.append("called healthy")
        return found


def _shown(error: BaseException) -> int:
    """As python shows it."""
    sys.stdout.flush()
    traceback.print_exception(type(error), error, error.__traceback__)
    return 1


def _script_only(text: str) -> str:
    """Without the sentences in which we say that we could not say something."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("whygrad: "))


def sample(every: list[Place], many: int) -> list[Place]:
    """So many of them, always the same, drawn over all files."""
    shuffled = random.Random(0).sample(every, len(every))
    rank: dict[str, int] = {}
    order = []
    for place in shuffled:
        rank[place.file] = rank.get(place.file, 0) + 1
        order.append((rank[place.file], len(order), place))
    return [place for _, _, place in sorted(order)[:many]]


def everything(framework: str, results: Path, chosen: str = "", bad: bool = False, first: int = 1) -> None:
    """Inject everywhere, or in what is chosen, and write what came of it."""
    sweep = Sweep(framework, results.parent, bad)
    todo = sweep.executed
    if chosen.startswith("named"):
        names = NAMED[framework][: int(chosen[5:] or len(NAMED[framework]))]
        by_name = {f"{p.file} {p.name}": p for p in todo}
        todo = [by_name[name] for name in names if name in by_name]
    elif chosen.isdigit():
        todo = sample(todo, int(chosen))
    elif chosen:
        todo = [p for p in todo if chosen in str(p)]
    found = {}
    for place in todo:
        outcome = sweep.run(place, first)
        if outcome.executed:
            troubles = sweep.troubles(outcome)
            if (
                place.file == "running/tracebacks.py"
            ):  # nobody else takes our lines out of the program's traceback
                troubles = [trouble for trouble in troubles if trouble != "another stderr"]
            found[str(place)] = troubles
            if found[str(place)]:
                print(
                    place,
                    found[str(place)],
                    outcome.stderr[-300:].replace("\n", " | ") if "-v" in sys.argv else "",
                    flush=True,
                )
    results.write_text(json.dumps(found, indent=1))
    fine = [p for p, troubles in found.items() if not troubles]
    unharmed = [
        p
        for p, t in found.items()
        if not {w.split(",")[0].split(" ")[0] for w in t} & {"exit", "another", "no"}
    ]
    print(f"{framework}: {len(found)} executed, {len(unharmed)} unharmed, {len(fine)} fine")


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    late = 4 if "--late" in sys.argv else 1
    everything(
        words[0], Path(words[1]).resolve(), words[2] if len(words) > 2 else "", "--bad" in sys.argv, late
    )
