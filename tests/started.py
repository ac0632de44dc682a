"""Programs that are started without waiting for their framework: each in a fork of a process that has it loaded.

    python tests/started.py FRAMEWORK    answers each line, a program in JSON, with its exit code

A fork costs a tenth of a second where a fresh process costs two (torch) or four (TensorFlow). What is promised of the
start, of signals and of the very end of python is tested with processes that are real.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from whygrad.reporters import places

LOADED = {
    "torch": ("torch", "torch.distributions", "whygrad.frameworks.torch.backend"),
    "tensorflow": ("tensorflow", "keras", "whygrad.frameworks.tensorflow.backend"),
}
#: Read when a framework is imported, which has happened by then.
_BEFORE = ("TF_USE_LEGACY_KERAS", "KERAS_BACKEND", "PYTHONHASHSEED", "PYTHONIOENCODING")


class Starter:
    """Starts programs in forks of one process, which is started when it is first needed."""

    def __init__(self, framework: str, env: Mapping[str, str]) -> None:
        self.framework = framework
        self.env = dict(env)
        self._server: subprocess.Popen[str] | None = None

    def can(self, command: Sequence[str], env: Mapping[str, str]) -> bool:
        """Whether that is a program which a fork can be: a script, or whygrad."""
        same = all(env.get(name) == self.env.get(name) for name in _BEFORE)
        program = command[1:3] == ("-m", "whygrad") or (len(command) > 1 and command[1].endswith(".py"))
        return same and command[0] == sys.executable and program

    def run(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str | None, timeout: float
    ) -> tuple[str, str, int]:
        """What it printed, what it said, and its exit code; negative where a signal ended it."""
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, name) for name in ("in", "out", "err")]
            Path(names[0]).write_text(stdin or "")
            told = {"argv": list(command[1:]), "cwd": str(cwd), "env": dict(env), "streams": names}
            code = self._ask(json.dumps(told), timeout)
            out, err = (Path(name).read_text(encoding="utf-8") for name in names[1:])
        return out, err, code

    def _ask(self, line: str, timeout: float) -> int:
        server = self._server = self._server or self._start()
        assert server.stdin and server.stdout
        timer = threading.Timer(timeout, os.killpg, (server.pid, signal.SIGKILL))
        timer.start()
        try:
            server.stdin.write(f"{line}\n")
            server.stdin.flush()
            answer = server.stdout.readline()
        finally:
            timer.cancel()
        if not answer:
            self._server = None
            server.wait()
            raise TimeoutError(f"it took more than {timeout} seconds, or took its server with it")
        return int(answer)

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, __file__, self.framework],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.env,
            text=True,
            start_new_session=True,  # so that it can be ended together with what it has forked
        )

    def close(self) -> None:
        """Nothing is left running."""
        if self._server is not None:
            self._server.communicate()


def serve(framework: str) -> None:
    """Be what is asked for, in a child each, as long as somebody asks."""
    for module in LOADED[framework]:
        importlib.import_module(module)
    if framework == "torch":
        import torch

        torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
    gc.freeze()  # no child shall look through it, which would copy it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(argv: list[str], cwd: str, env: dict[str, str], streams: list[str]) -> NoReturn:
    """Be that program, to the end of the process."""
    os.dup2(os.open(streams[0], os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(os.open(streams[number], os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = [part for part in env.get("PYTHONPATH", "").split(os.pathsep) if part]
    places.START = cwd
    code: Any = 0
    try:
        code = _whygrad(argv[2:], cwd) if argv[0] == "-m" else _script(argv)
    except SystemExit as exit_:
        code = exit_.code
    except BaseException as error:
        ours = error.__traceback__
        error.__traceback__ = ours and ours.tb_next and ours.tb_next.tb_next  # from the script on
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the end of python would do
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF if isinstance(code, int) else int(code is not None))


def _whygrad(args: list[str], cwd: str) -> int:
    from whygrad.cli.main import main

    sys.path.insert(0, cwd)  # as `python -m` does
    sys.argv = ["whygrad", *args]
    return main()


def _script(argv: list[str]) -> None:
    sys.path.insert(0, os.path.dirname(os.path.realpath(argv[0])))
    sys.argv = argv
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = os.path.abspath(argv[0])  # as python itself names it
    main.__dict__["__builtins__"] = __builtins__
    exec(compile(Path(argv[0]).read_bytes(), main.__file__, "exec"), main.__dict__)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    serve(sys.argv[1])
