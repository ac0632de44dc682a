"""What GitHub Actions tells a step about itself, and what a step may tell it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from whygrad.model import Run
from whygrad.reporters import github


def root_of(base: Path) -> str:
    """The directory from which files are named: the workspace of a job, else where whygrad was started."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    return workspace if workspace and base.is_relative_to(workspace) else str(base)


@dataclass(frozen=True, slots=True)
class Actions:
    """The files of this step, noted before the program runs: it may change its environment."""

    page: str = ""

    @classmethod
    def here(cls) -> Actions:
        """As the environment says."""
        return cls(os.environ.get("GITHUB_STEP_SUMMARY", ""))

    def tell(self, run: Run, root: str) -> str:
        """Add to the job's summary; what comes back are commands for the runner, to be printed.

        The runner reads them from stderr as well as from stdout.
        """
        said = github.commands(run, root)
        if not self.page:
            return said
        try:
            with open(self.page, "a", encoding="utf-8") as file:
                file.write(github.summary(run) + "\n")
        except OSError as error:
            said += f"whygrad: the summary of the job could not be written: {error}\n"
        return said
