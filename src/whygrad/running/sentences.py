"""One clear sentence for a run that could not be judged as the user wished."""

from __future__ import annotations

import sys
from dataclasses import replace

from whygrad.model import Note, Run
from whygrad.running.limits import Stopper

SO_FAR = "the script had not ended when this was written: these are the findings up to then"


def added(run: Run, missing: str, stopper: Stopper | None) -> Run:
    """The run with the sentence that the user needs, if one is needed."""
    text = _about(run, missing, stopper)
    return replace(run, notes=(Note(text), *run.notes)) if text else run


def _about(run: Run, missing: str, stopper: Stopper | None) -> str:
    if missing:
        return (
            f"{run.script} needs {missing}, which is not installed for {sys.executable}: install it there, "
            f"or use the python that has it: python -m whygrad run {run.script}"
        )
    if stopper and stopper.reason == "time":
        limits = stopper.limits
        did = (
            f"before every optimizer had made {limits.updates} updates"
            if made_updates(run)
            else "without a step"
        )
        return f"{run.script} was ended after {limits.seconds:g} s, {did}: --seconds gives it more time"
    return ""


def made_updates(run: Run) -> bool:
    """Whether any optimizer made a step."""
    return any(update.count for update in run.updates)


def failed_ourselves(run: Run) -> bool:
    """Whether something went wrong on our side, so that silence does not mean health."""
    return any(note.kind == "internal" for note in run.notes)
