"""whygrad from Python: for notebooks, tests and parts of programs."""

from whygrad.api.asking import assert_gradients_flow, explain
from whygrad.api.findings import Findings
from whygrad.api.notebooks import load_ipython_extension
from whygrad.api.recording import Watched, watching
from whygrad.api.summarizing import summarize

__all__ = [
    "Findings",
    "Watched",
    "assert_gradients_flow",
    "explain",
    "load_ipython_extension",
    "summarize",
    "watching",
]
