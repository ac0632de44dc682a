"""Real programs in real processes: with python alone, and with whygrad."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.started import Starter
from tests.streams import as_at_a_terminal, settled

FAKE = Path(__file__).parent / "fake"
WHYGRAD = (sys.executable, "-m", "whygrad")


@dataclass(frozen=True)
class Done:
    """What a process left behind."""

    stdout: str
    stderr: str
    code: int


class Lab:
    """A directory of its own, and the two ways to run what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.timeout = 300  # seconds: a busy machine is not a failure
        self.starter: Starter | None = None
        self.env = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV", "FORCE_", "NO_COL"))
        }
        self.env |= {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
        self.env["TF_CPP_MIN_LOG_LEVEL"] = (
            "3"  # most of its log; what is printed before this is read: streams.py
        )

    def write(self, source: str, name: str = "train.py") -> Path:
        """Put a file there."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        return path

    def do(self, *command: str, stdin: str | None = None) -> Done:
        """Run a command in the directory."""
        if self.starter and self.starter.can(command, self.env):
            out, err, code = self.starter.run(command, self.folder, self.env, stdin, self.timeout)
            return Done(settled(out), settled(err), code)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=self.timeout,
        )
        return Done(settled(done.stdout), settled(done.stderr), done.returncode)

    def python(self, *args: str) -> Done:
        """Python alone."""
        return self.do(sys.executable, *args)

    def whygrad(self, *args: str) -> Done:
        """The command line of ours."""
        return self.do(*WHYGRAD, *args)

    def same(self, *args: str) -> Done:
        """Run it both ways; nothing that a user can see may differ. Gives what python alone left."""
        alone = self.python(*args)
        watched = self.whygrad("run", "--quiet", *args)
        assert watched == alone
        return alone

    def fake(self, *args: str, **settings: str) -> Done:
        """Our command line with a framework of our own making; see fake/."""
        self.env |= {f"FAKE_{name.upper()}": value for name, value in settings.items()}
        self.env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FAKE), os.environ.get("PYTHONPATH")]))
        return self.do(sys.executable, str(FAKE / "drive.py"), *args)

    def interrupted(self, command: tuple[str, ...], ready: str = "ready") -> Done:
        """Run it, wait for it to print ``ready``, and press Ctrl-C."""
        process = subprocess.Popen(
            command, cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.strip() == ready
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=self.timeout)
        finally:
            process.kill()  # one that did not listen is not left behind
            process.wait()
        return Done(settled(first + out), settled(err), process.returncode)


@pytest.fixture(scope="session")
def starters() -> Iterator[dict[str, Starter]]:
    """For each framework what starts programs without waiting for it."""
    made: dict[str, Starter] = {}
    yield made
    for starter in made.values():
        starter.close()


@pytest.fixture
def lab(tmp_path: Path, starters: dict[str, Starter], request: pytest.FixtureRequest) -> Iterator[Lab]:
    """An empty directory to run programs in; where the test is marked ``forked``, with that framework loaded."""
    with as_at_a_terminal():
        lab = Lab(tmp_path)
        if forked := request.node.get_closest_marker("forked"):
            for framework in forked.args:
                lab.starter = starters.setdefault(framework, Starter(framework, lab.env))
        yield lab


@pytest.fixture
def same(lab: Lab) -> Callable[..., Done]:
    """Write a script, run it both ways, expect no difference."""

    def run(source: str, *args: str) -> Done:
        lab.write(source)
        return lab.same("train.py", *args)

    return run
