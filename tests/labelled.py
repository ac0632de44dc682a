"""Folders of labelled scripts, and what is not as a label says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Container, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests import recordings

from whygrad.storage.directory import EVIDENCE

FORKED = Path(__file__).parent / "forked.py"
QUIET = {
    "OMP_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
}


def labels_in(folder: Path, framework: str) -> list[dict[str, Any]]:
    """The labels of one framework's scripts."""
    labels = json.loads((folder / "labels.json").read_text())
    return [label for label in labels if label["framework"] == framework]


def scripts(folder: Path, framework: str, kept: Container[str] | None = None) -> pytest.MarkDecorator:
    """One test for every script of a framework, under the name of its file; long where it is not ``kept``."""
    missing = pytest.mark.skipif(find_spec(framework) is None, reason=f"needs {framework}")
    rows = []
    for label in labels_in(folder, framework):
        long = [] if kept is None or label["file"] in kept else [pytest.mark.long]
        marks = [getattr(pytest.mark, framework), missing, *long]
        rows.append(pytest.param(label, id=label["file"], marks=marks))
    return pytest.mark.parametrize("label", rows)


def one_of_each_rule(folder: Path, framework: str) -> set[str]:
    """The first faulty script of every rule, and its healthy twin."""
    faulty = [label for label in labels_in(folder, framework) if not label["healthy"]]
    first = {label["rule"]: label["file"] for label in reversed(faulty)}
    return {*first.values(), *(file.replace("/bad/", "/good/") for file in first.values())}


class Forks:
    """Runs scripts in forks of one process for each framework, which is started when it is first needed."""

    def __init__(self, scratch: Path, timeout: float = 300) -> None:
        self.scratch = scratch
        self.timeout = timeout
        self._servers: dict[str, subprocess.Popen[str]] = {}

    def run(self, framework: str, script: Path) -> recordings.Result:
        """What one script gives: from its recording, if that still holds, else from a run that is recorded."""
        if not script.is_relative_to(recordings.ROOT):
            return self.run_now(framework, script)  # a test has written it, to run it once
        known = recordings.find(framework, script)
        if known is not None:
            return known
        run = self.scratch / framework / "run"
        (run / EVIDENCE).unlink(missing_ok=True)  # of the script before
        result = self.run_now(framework, script)
        changed = recordings.keep(framework, script, result, run)
        assert not changed, "\n".join(changed)
        return result

    def run_now(self, framework: str, script: Path) -> recordings.Result:
        """What one script gave."""
        server = self._servers.get(framework) or self._start(framework)
        assert server.stdin and server.stdout
        timer = Timer(self.timeout, os.killpg, (server.pid, signal.SIGKILL))
        timer.start()
        server.stdin.write(f"{script}\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        timer.cancel()
        if not answer:
            self._servers.pop(framework).wait()  # the next script gets a new one
            pytest.fail(f"{script} took more than {self.timeout} seconds, or took {FORKED.name} with it")
        return tuple(json.loads(answer))

    def _start(self, framework: str) -> subprocess.Popen[str]:
        (self.scratch / framework).mkdir(exist_ok=True)
        self._servers[framework] = subprocess.Popen(
            [sys.executable, FORKED, framework, self.scratch / framework],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **QUIET},
            text=True,
            start_new_session=True,  # so that it can be ended together with what it has forked
        )
        return self._servers[framework]

    def close(self) -> None:
        """Nothing is left running."""
        for server in self._servers.values():
            server.communicate()


def troubles(label: dict[str, Any], code: int, report: dict[str, Any], output: str) -> Iterator[str]:
    """What is not as the label says."""
    if not report:
        yield f"no report: {output[-500:]}"
        return
    if code != label["exit_code"]:
        yield f"exit code {code}: {output[-500:]}"
    yield from (note["text"] for note in report["notes"] if note["kind"] == "internal")
    loud = [f for f in report["findings"] if f["severity"] != "note"]
    said = [(f["rule"], f["site"]["line"] if f["site"] else None) for f in loud]
    if label["healthy"]:
        yield from (f"false alarm {rule} at {line}" for rule, line in said)
    elif not any(
        rule in (label["rule"], *label["rule_alt"]) and line in (*label["line"], *label["line_alt"])
        for rule, line in said
    ):
        yield f"expected {label['rule']} at {label['line']}, got {said}"
