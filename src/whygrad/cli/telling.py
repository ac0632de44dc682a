"""What is told of a finding at once: a line while the program trains, and a command of the user's."""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
from dataclasses import dataclass, field

from whygrad.cli.output import Output
from whygrad.model import Confidence, Finding, Recording, Run, Severity
from whygrad.reporters import at_once, json_report
from whygrad.running.progress import wanted

_PATIENCE = 30.0  # seconds that a command may take at the end of a run
_Key = tuple[str, str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--at-end`` and ``--notify``."""
    parser.add_argument(
        "--at-end", action="store_true", help="say nothing of a finding while the script trains"
    )
    parser.add_argument(
        "--notify",
        metavar="CMD",
        default="",
        help="run this shell command at the first error, with the finding as JSON on its stdin",
    )


@dataclass(slots=True)
class Telling:
    """Errors, each once: a certain one when a look finds it, a likely one when the next look does so, too."""

    output: Output
    at_once: bool = True
    command: str = ""
    _told: set[_Key] = field(default_factory=set)
    _likely: set[_Key] = field(default_factory=set)
    _called: subprocess.Popen[str] | None = None

    @classmethod
    def of(cls, options: argparse.Namespace, output: Output) -> Telling:
        """As the options say."""
        return cls(output, not options.at_end and not options.quiet, options.notify)

    def begin(self, script: str) -> None:
        """Somebody who sits there shall know that all is as it should be."""
        if self.at_once and wanted(self.output.stderr, quiet=False):
            self.output.say_now(f"whygrad: watching {script}")

    def keep(self, run: Run, recording: Recording) -> None:
        """A look at a program that still runs: into its directory, and to whoever waits for it."""
        try:
            self.output.keep(run, recording)
        finally:
            with contextlib.suppress(Exception):  # it is said at the end all the same
                self._tell(run)

    def end(self, run: Run) -> None:
        """The run is over, and its findings are printed: the command may still be due, or at work."""
        errors = run.at(Severity.ERROR)
        if errors:
            self._notify(run, errors[0])
        if self._called is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._called.wait(_PATIENCE)

    def _tell(self, run: Run) -> None:
        for finding in run.at(Severity.ERROR):
            if self._is_news(finding):
                if self.at_once:
                    # The program may stand in the middle of a line, a progress bar for example.
                    self.output.say_now("\n" + at_once.line(finding))
                self._notify(run, finding)

    def _is_news(self, finding: Finding) -> bool:
        key = (finding.rule, str(finding.site), finding.network)
        if finding.confidence is not Confidence.CERTAIN and key not in self._likely:
            self._likely.add(key)
            return False
        new = key not in self._told
        self._told.add(key)
        return new

    def _notify(self, run: Run, finding: Finding) -> None:
        if not self.command or self._called is not None:
            return
        found = {
            "script": run.script,
            "run": str(self.output.directory.place),
            **json_report.finding(finding),
        }
        nowhere = subprocess.DEVNULL  # stdout is the program's
        try:
            self._called = subprocess.Popen(
                self.command, shell=True, stdin=subprocess.PIPE, stdout=nowhere, text=True
            )
            with contextlib.suppress(OSError):  # it does not read
                assert self._called.stdin is not None
                self._called.stdin.write(json.dumps(found, ensure_ascii=False))
                self._called.stdin.close()
        except OSError as error:
            self.output.say_now(f"whygrad: --notify could not be run: {error}")
