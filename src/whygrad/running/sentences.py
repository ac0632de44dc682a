"""One clear sentence for a run that could not be judged as the user wished."""

from __future__ import annotations

import sys

from whygrad.model import Note, Run
from whygrad.running.limits import Stopper

SO_FAR = "the script had not ended when this was written: these are the findings up to then"


def needed(script: str, stepped: bool, missing: str, stopper: Stopper | None) -> tuple[Note, ...]:
    """The sentence that the user needs, if one is needed; ``stepped`` says whether any update was made."""
    text = _about(script, stepped, missing, stopper)
    return (Note(text),) if text else ()


def _about(script: str, stepped: bool, missing: str, stopper: Stopper | None) -> str:
    if missing:
        return (
            f"{script} needs {missing}, which is not installed for {sys.executable}: install it there, "
            f"or use the python that has it: python -m whygrad run {script}"
        )
    if stopper and stopper.reason == "time":
        limits = stopper.limits
        did = f"before every optimizer had made {limits.updates} updates" if stepped else "without a step"
        return f"{script} was ended after {limits.seconds:g} s, {did}: --seconds gives it more time"
    return ""


def made_updates(run: Run) -> bool:
    """Whether any optimizer made a step."""
    return any(update.count for update in run.updates)


def failed_ourselves(run: Run) -> bool:
    """Whether something went wrong on our side, so that silence does not mean health."""
    return any(note.kind == "internal" for note in run.notes)
