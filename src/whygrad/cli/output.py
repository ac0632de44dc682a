"""Where our own words go: stderr after the program's, files, and stdout only when asked."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TextIO

from whygrad.cli import bare
from whygrad.cli.actions import Actions, root_of
from whygrad.cli.stream import color_for, width_of
from whygrad.model import Drawing, Note, Recording, Run
from whygrad.processes import group
from whygrad.processes.launcher import Launcher
from whygrad.reporters import json_report, sarif, terminal, watched
from whygrad.running import keeping
from whygrad.running.program import Program
from whygrad.storage.directory import REPORT, RunDirectory, write_atomically


@dataclass(frozen=True, slots=True)
class Output:
    """What the user asked for, fixed before the program runs: it may change directory and streams."""

    directory: RunDirectory
    source: bool  # the evidence brings the text of the program along
    json: str
    sarif: str
    github: Actions | None
    root: str  # from which other programs are told where files are
    quiet: bool
    stdout: TextIO
    stderr: TextIO
    keeps: bool = True  # the run goes into its directory; one that was read is there already

    @classmethod
    def of(cls, options: argparse.Namespace, program: Program | Launcher) -> Output:
        """As the options say."""
        base, out = Path.cwd(), Path(options.out) if options.out else None
        shared = group.launched()
        return cls(
            directory=(group.directory if shared else RunDirectory)(program.stem, out, base),
            source=not options.no_source,
            json=options.json or "",
            sarif=options.sarif or "",
            github=Actions.here() if options.github else None,
            root=root_of(base),
            quiet=options.quiet or (shared and os.environ["RANK"] != "0"),
            stdout=sys.stdout,
            stderr=sys.stderr,
        )

    def write(self, run: Run, recording: Recording | None = None) -> None:
        """Show the run everywhere. Nothing that goes wrong here is lost, or raised."""
        for stream in (sys.stdout, sys.stderr, self.stdout):
            with contextlib.suppress(Exception):
                stream.flush()
        report = self._report(run)
        if not self.quiet:
            self._say(self._text(run))
        try:
            self._write_files(run, report, recording)
        except Exception as error:
            why = f"the run directory could not be written: {_brief(error)}"
            self._say(f"whygrad: {why}")
            self.leave(self._report(replace(run, notes=(*run.notes, Note(why, kind="internal")))))
        if self.sarif:
            self._hand_over(self.sarif, partial(sarif.render, run, self.root))
        if self.github is not None:
            self._say(self._annotations(self.github, run))

    def _report(self, run: Run) -> str:
        """As JSON: whole, or without its pictures, or at least that it could not be written."""
        try:
            return json_report.render(run)
        except Exception as error:
            why = f"the JSON report failed: {_brief(error)}"
        self._say(f"whygrad: {why}")
        told = replace(run, notes=(*run.notes, Note(why, kind="internal")))
        with contextlib.suppress(Exception):
            return json_report.render(replace(told, gradient_map=(), roles=(), drawing=Drawing(), sources=()))
        return bare.document(run.script, run.argv, run.exit_code, why)

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

    def _write_files(self, run: Run, report: str, recording: Recording | None) -> None:
        if self.keeps and (self.directory.asked or run.frameworks or run.blind):
            report = self._write_run_directory(run, report, recording)
        if run.watched is not None and not self.quiet:
            self._say(watched.sentence(run, self._near(Path(run.watched.folder))))
        if self.json:
            self._hand_over(self.json, lambda: report)

    def _write_run_directory(self, run: Run, report: str, recording: Recording | None) -> str:
        """The evidence, and the report; that one says if there is no evidence. Gives the report."""
        loud = self.directory.asked or not self.quiet
        try:
            self.directory.path()
            why = self._write_evidence(recording)
            if why:
                report = self._report(replace(run, notes=(*run.notes, Note(why, kind="internal"))))
            if why and loud:
                self._say(f"whygrad: {why}")
            written = self.directory.write(REPORT, report)
        except OSError as error:
            if loud:
                self._say(f"whygrad: the run directory could not be written: {error}")
            return report
        if not self.quiet:
            self._say(f"whygrad: the report is in {self._near(written)}")
        return report

    def _write_evidence(self, recording: Recording | None) -> str:
        """Write it; or why it could not be written."""
        try:
            keeping.keep_evidence(self.directory, recording, self.source)
        except Exception as error:
            return f"the evidence could not be written: {_brief(error)}"
        return ""

    def leave(self, report: str) -> None:
        """By the plainest means, after all others have failed."""
        if self.keeps:
            bare.leave_run(self.directory.place, report)
        if self.json and self.json != "-":
            bare.leave(self.directory.base / self.json, report)

    def say_now(self, text: str) -> None:
        """Words while the program runs, from another thread: past the program's stream, in one piece."""
        with contextlib.suppress(OSError, ValueError):  # closed, or no file at all
            os.write(self.stderr.fileno(), f"{text}\n".encode(self.stderr.encoding or "utf-8", "replace"))

    def keep(self, run: Run, recording: Recording) -> None:
        """A report of a program that still runs, in case that it is killed. Another thread calls this."""
        keeping.keep(self.directory, run, recording, self.source)

    def _hand_over(self, to: str, rendered: Callable[[], str]) -> None:
        """Into the file that the user named, or onto stdout for ``-``."""
        try:
            text = rendered()
            if to == "-":
                _print(self.stdout, 1, text)
            else:
                write_atomically(self.directory.base / to, text)
        except Exception as error:
            self._say(f"whygrad: {to} could not be written: {_brief(error)}")

    def _near(self, path: Path) -> str:
        """The path as the user would type it."""
        with contextlib.suppress(ValueError):
            return str(path.relative_to(self.directory.base))
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
