"""Runs the program with changed files under ``whygrad check``, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whygrad.model import Run
from whygrad.reporters import json_report
from whygrad.running.limits import GRACE, Limits
from whygrad.running.patched import listed
from whygrad.running.program import Program
from whygrad.storage.directory import EVIDENCE, REPORT

_SPARE = 60.0  # seconds beyond the program's own: to import a framework, to judge, to write


@dataclass(frozen=True, slots=True)
class Tried:
    """One run: what was found, or why there is nothing to say."""

    run: Run | None
    report: str = ""  # as JSON
    evidence: bytes = b""
    output: str = ""  # the last of what the program wrote, for when it could not be judged


@dataclass(frozen=True, slots=True)
class Trials:
    """The program, its limits, and from where it is started."""

    program: Program
    limits: Limits
    base: Path
    wanted: Mapping[str, str] = field(default_factory=dict)  # --select, --ignore

    def __call__(self, files: Mapping[str, bytes]) -> Tried:
        """The program with these files changed."""
        with tempfile.TemporaryDirectory(prefix="whygrad-fix-") as scratch:
            folder = Path(scratch)
            output = self._execute(self._command(folder, files))
            return _read(folder / "run", output)

    def _command(self, folder: Path, files: Mapping[str, bytes]) -> list[str]:
        command = [sys.executable, "-m", "whygrad", "check", "--quiet", "--out", str(folder / "run")]
        command += ["--updates", str(self.limits.updates), "--seconds", str(self.limits.seconds)]
        if files:
            named = {os.path.join(self.base, file): data for file, data in files.items()}
            command += ["--patched", str(listed(named, folder))]
        for option, rules in self.wanted.items():
            command += [f"--{option}", rules]
        target = ["-m", self.program.target] if self.program.is_module else ["--", self.program.target]
        return [*command, *target, *self.program.args]

    def _execute(self, command: list[str]) -> str:
        """Run it; a program that does not end is ended, with all that it has started."""
        environment = {**os.environ, "PYTHONPATH": _with_us()}
        process = subprocess.Popen(
            command,
            cwd=self.base,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=os.name == "posix",
        )
        try:
            output, _ = process.communicate(timeout=self.limits.seconds + GRACE + _SPARE)
        except BaseException as error:
            _end(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            output = b""
        return output.decode("utf-8", "replace")[-4000:]


def _with_us() -> str:
    """This very whygrad, wherever the program's folder is."""
    ours = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([ours, known]) if known else ours


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and its group, and nothing else."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _read(folder: Path, output: str) -> Tried:
    try:
        report = (folder / REPORT).read_text(encoding="utf-8")
        run = json_report.parse(report)
    except (OSError, ValueError, KeyError, TypeError):
        return Tried(None, output=output)
    evidence = folder / EVIDENCE
    return Tried(run, report, evidence.read_bytes() if evidence.is_file() else b"", output)
