"""A run that could not be watched: the program runs all the same, and the report says that, and why."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from whygrad import __version__
from whygrad.doors import door
from whygrad.running import bare

_VALUED = (
    "--out",
    "--json",
    "--sarif",
    "--updates",
    "--seconds",
    "--every",
    "--select",
    "--ignore",
    "--notify",
    "--patched",
)


def run(argv: Sequence[str], failure: Exception) -> int:
    """Run the program of this command line without us; ``failure`` is what kept us from watching it."""
    options, words = _split(list(argv))
    is_module = words[:1] == ["-m"]
    target, *args = words[is_module:] or [""]
    if not target:
        raise failure
    ending = _Ending(options, target, args, failure)
    atexit.register(ending.report)
    try:
        bare.execute(target, args, is_module)
    except SystemExit as error:
        ending.code = error.code if isinstance(error.code, int) else int(error.code is not None)
        raise
    except BaseException as error:
        ending.code = 1
        with contextlib.suppress(Exception):
            from whygrad.running.hooks import show_without_us
            from whygrad.running.tracebacks import peel

            show_without_us(peel(error))
        raise
    return 0


def document(
    script: str, argv: Sequence[str], code: int, why: str, exception: dict[str, object] | None = None
) -> str:
    """A report that says nothing but how the script ended, and why nothing was judged."""
    return json.dumps(
        {
            "format": 1,
            "whygrad": __version__,
            "finished": True,
            "pid": os.getpid(),
            "script": script,
            "argv": list(argv),
            "frameworks": [name for name in ("torch", "tensorflow", "jax") if name in sys.modules],
            "versions": {"python": sys.version.split()[0]},
            "exit_code": code,
            "exception": exception,
            "healthy": False,
            "blind": why,
            "updates": [],
            "findings": [],
            "notes": [{"kind": "internal", "text": why, "site": None}],
        },
        indent=1,
    )


class _Ending:
    """Writes the report once the program is over."""

    def __init__(self, options: dict[str, str], target: str, args: Sequence[str], failure: Exception) -> None:
        self._options, self._target, self._args = options, target, tuple(args)
        self._failure, self._pid = failure, os.getpid()
        self._base = Path.cwd()
        self.code = 0

    @door
    def report(self) -> None:
        """Python is about to exit."""
        with contextlib.suppress(Exception):  # there is nobody left to tell
            if os.getpid() == self._pid:
                self._write()

    def _write(self) -> None:
        failure = " ".join(f"{type(self._failure).__name__}: {self._failure}".split())
        why = f"whygrad could not watch this run: {failure}"
        if "--quiet" not in self._options:
            print(f"whygrad: {why}", file=sys.stderr)
        text = document(self._target, self._args, self.code, why)
        folder = self._options.get("--out") or os.path.join(
            "runs", f"{Path(self._target).stem}-{time.strftime('%Y%m%d-%H%M%S')}"
        )
        leave_run(self._base / folder, text)
        named = self._options.get("--json")
        if named == "-":
            print(text)
        elif named:
            leave(self._base / named, text)


def leave_run(folder: Path, text: str) -> None:
    """A report into its run directory; evidence of an earlier run there is not this one's."""
    leave(folder / "report.json", text)
    with contextlib.suppress(OSError):
        (folder / "evidence.wg").unlink(missing_ok=True)


def leave(file: Path, text: str) -> None:
    """Write a report, by the plainest means."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")


def _split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Our options, and the rest: from the script, or from ``-m``, on."""
    options: dict[str, str] = {}
    while words and words[0].startswith("-") and words[0] not in ("-m", "-", "--"):
        name, equals, value = words.pop(0).partition("=")
        options[name] = words.pop(0) if name in _VALUED and not equals and words else value
    return options, words[1:] if words[:1] == ["--"] else words
