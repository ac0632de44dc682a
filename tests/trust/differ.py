"""Runs programs with whygrad and without it, each in a fork of a process that has all loaded, and compares.

    python tests/trust/differ.py FRAMEWORK MANY [FIRST]      programs that are put together by chance
    python tests/trust/differ.py FRAMEWORK FILE...           these scripts

Compared are exit code, stdout, stderr and the files that are left; the programs themselves print the rest.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "faults")]

from programs import PROGRAMS
from sweep import LOADED, Again, Outcome, _shown, child_of

from whygrad.cli.main import main as whygrad_main
from whygrad.running.program import Program

WAYS = {"run": ("run", "--quiet"), "watch": ("run", "--quiet", "--watch", "--every", "1")}
_ADDRESS = re.compile(
    r"0x[0-9a-f]{6,}|\(most recent call last\)|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+|I0000 .*\n"
)


@dataclass(frozen=True)
class Difference:
    """What was not the same."""

    program: str
    way: str
    what: str


class Differ:
    """Everything loaded, once."""

    def __init__(self, framework: str, scratch: Path) -> None:
        for module in LOADED[framework]:
            importlib.import_module(module)
        if framework == "torch":
            import torch
            import torch.utils.checkpoint

            net = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(2, 2))
            torch.optim.Adam(net.parameters()).step()  # imports half of torch
        self._framework, self._scratch = framework, scratch
        gc.freeze()

    def differences(self, script: Path) -> list[Difference]:
        """Between the plain run and each of the others."""
        plain, files = self._run(script, None)
        found = []
        for way, options in WAYS.items():
            watched, left = self._run(script, options)
            for what in ("code", "stdout", "stderr"):
                one, other = (_comparable(getattr(o, what), way) for o in (plain, watched))
                if one != other:
                    found.append(Difference(script.name, way, f"{what}: {_first(one, other)}"))
            if files != left:
                found.append(Difference(script.name, way, f"files: {sorted(files ^ left)}"))
        return found

    def _run(self, script: Path, options: tuple[str, ...] | None) -> tuple[Outcome, set[str]]:
        folder = self._scratch / "here"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        outside = self._scratch / "out"

        def work() -> int | None:
            if options is None:
                return _plainly(script)
            Again(self._framework)
            sys.argv = ["whygrad", *options, "--out", str(outside), str(script)]
            return whygrad_main()

        return Outcome(*child_of(folder, work)), {p.name for p in folder.iterdir()}


def _plainly(script: Path) -> None:
    program = Program(str(script), ())
    stage = program.prepare()
    try:
        program.run(stage)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != str(script):
            trace = trace.tb_next
        error.__traceback__ = trace
        raise SystemExit(_shown(error)) from None


def _comparable(value: int | str, way: str) -> str:
    """Without what docs/trust.md tells of: a variable for children; a thread, a file, a last word of summaries."""
    told = str(value).replace("environment ['WHYGRAD_PROCESSES']", "environment []")
    if way == "watch":
        told = told.replace(", 'whygrad-writer'", "")
        told = re.sub(r"'<bound method Terminated\._on_signal of [^']*>'", "'0'", told)
    told = re.sub(r"descriptors \d+", "", told) if way != "run" else told
    return _ADDRESS.sub("", told)


def _first(one: str, other: str) -> str:
    rows = zip(one.splitlines(), other.splitlines(), strict=False)
    pair = next(((a, b) for a, b in rows if a != b), (one[-200:], other[-200:]))
    return f"{pair[0][:300]!r} became {pair[1][:300]!r}"


def compare(framework: str, scripts: list[str], scratch: Path) -> list[Difference]:
    """Of all of them; a number is a program that is put together by chance."""
    differ, found = Differ(framework, scratch), []
    for name in scripts:
        script = Path(name).resolve()
        if name.isdigit():
            script = scratch / f"program_{name}.py"
            script.write_text(PROGRAMS[framework](int(name)))
        here = differ.differences(script)
        for one in here:
            print(f"{one.program} {one.way} {one.what}", flush=True)
        found += here
    return found


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    words = sys.argv[2:]
    if words[0].isdigit():
        first = int(words[1]) if len(words) > 1 else 0
        words = [str(first + n) for n in range(int(words[0]))]
    scratch = Path(tempfile.mkdtemp())  # one that removes itself at exit would do so in each fork
    differences = compare(sys.argv[1], words, scratch)
    shutil.rmtree(scratch)
    print(f"{sys.argv[1]}: {len(words)} programs, {len(WAYS)} ways, {len(differences)} differences")
    sys.exit(bool(differences))
