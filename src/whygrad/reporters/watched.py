"""One sentence about the summaries of a run, with the command to look at them."""

from __future__ import annotations

import shlex

from whygrad.model import Run


def sentence(run: Run, folder: str) -> str:
    """How to look at them, or why there are none."""
    watched = run.watched
    if watched is None:
        return ""
    if watched.updates and watched.trouble:
        many = "no more than 1 update was" if watched.updates == 1 else f"no more than {watched.updates} were"
        return f"whygrad: {many} summarized ({watched.schedule}), and then: {watched.trouble}"
    if watched.updates:
        many = f"{watched.updates} updates were" if watched.updates > 1 else "1 update was"
        return f"whygrad: {many} summarized ({watched.schedule}): tensorboard --logdir {shlex.quote(folder)}"
    made = sum(update.count for update in run.updates)
    if watched.trouble or not made:
        return "whygrad: no update was summarized"
    why = f"there were {made}, and it is {watched.schedule}; --every 1 takes all"
    return f"whygrad: no update was summarized: {why}"
