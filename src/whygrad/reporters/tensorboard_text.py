"""What was found, as the pages of TensorBoard's text plugin."""

from __future__ import annotations

from whygrad.model import Run
from whygrad.reporters import markdown


def pages(run: Run) -> dict[str, str]:
    """Markdown by tag. What the second page would say is left out if nothing is known."""
    ended = "" if run.finished else "*The script is still running: this is what was found so far.*"
    found = [ended, markdown.verdict(run), markdown.findings(run)]
    table = markdown.who_trains_whom(run.gradient_map)
    shown = {"whygrad/findings": "\n\n".join(part for part in found if part)}
    return {**shown, "whygrad/who trains whom": table} if table else shown
