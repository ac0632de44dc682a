"""Findings that show themselves: in a terminal, in a notebook, in the message of a failed test."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from whygrad.model import Finding
from whygrad.reporters import notebook, terminal


class Findings(tuple[Finding, ...]):
    """What was found, the gravest first; false when nothing was. ``silence`` is what that means."""

    silence: str

    def __new__(cls, findings: Iterable[Finding] = (), silence: str = "nothing was found") -> Findings:
        """A tuple of findings."""
        made = super().__new__(cls, tuple(findings))
        made.silence = silence
        return made

    def __str__(self) -> str:
        return "\n".join(map(terminal.render_finding, self)) or f"whygrad: {self.silence}\n"

    def __repr__(self) -> str:
        return str(self).rstrip()

    def _repr_html_(self) -> str:
        silent = f"<div><b>whygrad</b>: {escape(self.silence)}</div>"
        return "".join(map(notebook.html_finding, self)) or silent
