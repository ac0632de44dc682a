"""A command that starts the program: torchrun, accelerate, a shell script. It runs as it would without us."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from whygrad.doors import door

_PASSED_ON = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1") if hasattr(signal, name)]


@dataclass(frozen=True, slots=True)
class Launcher:
    """The command and its arguments."""

    command: tuple[str, ...]

    @property
    def stem(self) -> str:
        """A short name, good for a directory: that of the script which it starts, if it can be seen."""
        scripts = [word for word in self.command[1:] if word.endswith(".py")]
        return os.path.splitext(os.path.basename(scripts[0] if scripts else self.command[0]))[0]

    @property
    def folder(self) -> str:
        """Where it is started."""
        return os.getcwd()

    def run(self) -> int:
        """Run it to its end; its exit code, which is negative where a signal has ended it."""
        child = subprocess.Popen(self.command)
        with _signals(child):
            while True:
                try:
                    return child.wait()
                except KeyboardInterrupt:  # it was pressed for the child, too, which knows what to do
                    continue


@contextmanager
def _signals(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """What is sent to us is meant for it."""

    @door
    def pass_on(number: int, frame: FrameType | None) -> None:
        try:
            child.send_signal(number)
        except Exception:  # it is gone
            return

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
