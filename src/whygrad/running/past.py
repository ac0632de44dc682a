"""The runs of the past, and those that are still going on, read from their directories."""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from pathlib import Path

from whygrad import strangers
from whygrad.model import Run
from whygrad.reporters import json_report
from whygrad.reporters.runs import PastRun

_SLACK = timedelta(seconds=2)  # clocks of a process and of a file system differ a little


def past_runs(folder: Path) -> list[PastRun]:
    """The run directories in a folder, the newest first; what is not one is left out."""
    found = [_read(report, folder) for report in sorted(folder.glob("*/report.json"))]
    if (folder / "report.json").is_file():
        found.append(_read(folder / "report.json", folder))
    return sorted((past for past in found if past is not None), key=lambda p: p.started, reverse=True)


def _read(report: Path, folder: Path) -> PastRun | None:
    touched = datetime.fromtimestamp(report.lstat().st_mtime).astimezone()
    try:
        text = strangers.content(report, within=folder)
        if _of_another_tool(text):
            return None
        run = json_report.parse(text)
    except (OSError, ValueError) as error:
        why = strangers.line(f"{type(error).__name__}: {error}")
        return PastRun(report.parent, touched, "damaged", trouble=f"report.json cannot be read: {why}")
    return PastRun(report.parent, _started(run, touched), ended(run), run)


def _of_another_tool(text: bytes) -> bool:
    """Others call their files so, too."""
    try:
        data = strangers.parsed(text)
    except ValueError:
        return False
    return not isinstance(data, dict) or "whygrad" not in data


def _started(run: Run, touched: datetime) -> datetime:
    """Reports of older versions do not say when: then it is when they were written."""
    try:
        return datetime.fromisoformat(run.started).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return touched - timedelta(seconds=run.seconds)
    except (ValueError, OverflowError):  # a number, and no time
        return touched


def ended(run: Run) -> str:
    """How, in a word or two; or that it has not ended."""
    if not run.finished:
        return _without_an_end(run)
    if run.exception is not None:
        return "interrupted" if run.exception.type == "KeyboardInterrupt" else run.exception.type
    if run.exit_code:
        return f"exit code {run.exit_code}"
    return "ended early" if run.stopped_early else "finished"


def _without_an_end(run: Run) -> str:
    """Killed, if its process is gone; of a process on another machine nobody here knows."""
    if run.host and run.host != socket.gethostname():
        return f"not ended on {run.host}"
    if os.name != "posix":  # to ask for a process is to signal it, there
        return "not ended"
    return "still running" if alive(run.pid, run.started) else "killed"


def alive(pid: int, started: str) -> bool:
    """Is there a process of that number, and is it old enough to be this one?"""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return False
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        since_boot = int(fields[18]) / os.sysconf("SC_CLK_TCK")
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        began = datetime.now().astimezone() - timedelta(seconds=uptime - since_boot)
        # A zombie is dead, and its parent has not noticed yet.
        return state != "Z" and began <= datetime.fromisoformat(started) + _SLACK
    except (OSError, ValueError, IndexError, TypeError, OverflowError):
        return True  # a system that does not tell
