"""What ``whygrad fix`` did: changes that have proven themselves, and what was tried in vain."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model.finding import Finding
from whygrad.model.patch import Patch


@dataclass(frozen=True, slots=True)
class Fixed:
    """One finding: its proven changes, the smallest first; what was tried; or why nothing was."""

    finding: Finding
    patches: tuple[Patch, ...] = ()
    tried: tuple[tuple[str, str], ...] = ()  # what, and why it is no cure
    untried: str = ""


@dataclass(frozen=True, slots=True)
class Treated:
    """All of it."""

    script: str
    argv: tuple[str, ...] = ()
    fixes: tuple[Fixed, ...] = ()
    diff: str = ""  # the first change of every finding together
    files: tuple[str, ...] = ()
    exit_code: int = 0  # as `check` gives it, of the files as they are left
    verdict: str = ""  # of the run with all of the diff
    before: str = ""  # of the run without it
    runs: int = 0  # of the program
    seconds: float = 0.0
    applied: bool = False
    trouble: str = ""  # why the program could not be judged at all

    @property
    def proven(self) -> int:
        """How many findings have a proven change."""
        return sum(bool(fixed.patches) for fixed in self.fixes)
