"""Where our own words go: stderr after the program's, files, and stdout only when asked."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

from whygrad.cli.actions import Actions, root_of
from whygrad.model import Run
from whygrad.reporters import json_report, sarif, terminal, watched
from whygrad.running.program import Program


def color_for(stream: TextIO) -> bool:
    """Colour on a terminal, unless ``NO_COLOR``; ``FORCE_COLOR`` wants it everywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    with contextlib.suppress(Exception):
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    return False


def width_of(stream: TextIO) -> int:
    """How wide to write: as the terminal is, within reason."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return max(60, min(int(columns), 120))
    with contextlib.suppress(Exception):
        return max(60, min(os.get_terminal_size(stream.fileno()).columns, 120))
    return 100


@dataclass(frozen=True, slots=True)
class Output:
    """What the user asked for, fixed before the program runs: it may change directory and streams."""

    stem: str
    started: str
    base: Path
    out: Path | None
    json: str
    sarif: str
    github: Actions | None
    root: str  # from which other programs are told where files are
    quiet: bool
    stdout: TextIO
    stderr: TextIO
    _folder: list[Path] = field(default_factory=list)  # once it is made
    _making: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, options: argparse.Namespace, program: Program) -> Output:
        """As the options say."""
        base = Path.cwd()
        return cls(
            stem=program.stem,
            started=time.strftime("%Y%m%d-%H%M%S"),
            base=base,
            out=base / options.out if options.out else None,
            json=options.json or "",
            sarif=options.sarif or "",
            github=Actions.here() if options.github else None,
            root=root_of(base),
            quiet=options.quiet,
            stdout=sys.stdout,
            stderr=sys.stderr,
        )

    def write(self, run: Run) -> None:
        """Show the run everywhere. Nothing that goes wrong here is lost, or raised."""
        for stream in (sys.stdout, sys.stderr, self.stdout):
            with contextlib.suppress(Exception):
                stream.flush()
        try:
            report = json_report.render(run)
        except Exception as error:
            self._say(f"whygrad: the JSON report failed: {type(error).__name__}: {error}")
            report = ""
        text = self._text(run)
        if not self.quiet:
            self._say(text)
        if report:
            self._write_files(run, report)
        if self.sarif:
            self._hand_over(self.sarif, partial(sarif.render, run, self.root))
        if self.github is not None:
            self._say(self._annotations(self.github, run))

    def _text(self, run: Run) -> str:
        try:
            return terminal.render(run, color_for(self.stderr), width_of(self.stderr))
        except Exception as error:
            titles = "".join(f"\n  {f.title} ({f.site})" for f in run.findings)
            return f"whygrad: the report failed: {type(error).__name__}: {error}{titles}"

    def _annotations(self, actions: Actions, run: Run) -> str:
        try:
            return actions.tell(run, self.root)
        except Exception as error:
            return f"whygrad: the annotations failed: {_brief(error)}"

    def _write_files(self, run: Run, report: str) -> None:
        if self.out or run.frameworks:
            self._write_run_directory(report)
        if run.watched is not None and not self.quiet:
            self._say(watched.sentence(run, self._near(Path(run.watched.folder))))
        if self.json:
            self._hand_over(self.json, lambda: report)

    def _write_run_directory(self, report: str) -> None:
        try:
            folder = self.folder()
            write_atomically(folder / "report.json", report)
        except OSError as error:
            if self.out or not self.quiet:
                self._say(f"whygrad: the run directory could not be written: {error}")
            return
        if not self.quiet:
            self._say(f"whygrad: the report is in {self._near(folder / 'report.json')}")

    def keep(self, run: Run) -> None:
        """A report of a program that still runs, in case that it is killed. Another thread calls this."""
        write_atomically(self.folder() / "report.json", json_report.render(run))

    def folder(self) -> Path:
        """The run directory, made when it is first needed. Several threads may ask."""
        with self._making:
            if not self._folder:
                folder = self.out or self._new_directory()
                folder.mkdir(parents=True, exist_ok=True)
                self._folder.append(folder)
            return self._folder[0]

    def _new_directory(self) -> Path:
        """A directory that nobody has: runs/<script>-<time>, with a number when two start at once."""
        runs = self.base / "runs"
        runs.mkdir(exist_ok=True)
        for n in range(1, 1000):
            folder = runs / (f"{self.stem}-{self.started}" + (f"-{n}" if n > 1 else ""))
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
        raise FileExistsError(f"{runs / self.stem}-{self.started} and 998 more are already there")

    def _hand_over(self, to: str, rendered: Callable[[], str]) -> None:
        """Into the file that the user named, or onto stdout for ``-``."""
        try:
            text = rendered()
            if to == "-":
                _print(self.stdout, 1, text)
            else:
                write_atomically(self.base / to, text)
        except Exception as error:
            self._say(f"whygrad: {to} could not be written: {_brief(error)}")

    def _near(self, path: Path) -> str:
        """The path as the user would type it."""
        with contextlib.suppress(ValueError):
            return str(path.relative_to(self.base))
        return str(path)

    def _say(self, text: str) -> None:
        _print(self.stderr, 2, text)


def _brief(error: Exception) -> str:
    return str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def _print(stream: TextIO, descriptor: int, text: str) -> None:
    """Print, whatever the program has done to the stream."""
    if not text:
        return
    text = text.rstrip("\n") + "\n"
    try:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except ValueError:  # the program closed it, which leaves the descriptor open
        with contextlib.suppress(OSError):
            os.write(descriptor, text.encode())
    except OSError:
        pass  # nobody reads it any more


def write_atomically(path: Path, text: str) -> None:
    """The whole file or nothing: readers never see half a report."""
    text = text.rstrip("\n") + "\n"
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")  # a device or a pipe: never replace it
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
