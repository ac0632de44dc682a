"""What the processes of a run know of it: where their evidence goes, and what is wanted of them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "WHYGRAD_PROCESSES"
FOLDER = "processes"


@dataclass(frozen=True, slots=True)
class Settings:
    """One run, for all of its processes. It travels in a variable of the environment."""

    folder: str  # where each process puts what it has seen
    source: bool = True  # the evidence brings the text of the program along
    updates: int = 0  # of a check: how many of each optimizer are enough
    seconds: float = 0.0  # of a check: the end in any case
    every: int = 0  # of summaries: every so many updates, or none at all
    histograms: bool = True
    ranks: str = ""  # those that are watched, by their numbers; all if none is named

    @classmethod
    def here(cls) -> Settings | None:
        """Those of this process, if it belongs to a run."""
        try:
            return cls(**json.loads(os.environ[VARIABLE]))
        except (KeyError, ValueError, TypeError):
            return None

    def spread(self) -> None:
        """From now on every process that this one starts knows them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @property
    def path(self) -> Path:
        """The folder; made by the first who has something to put there."""
        return Path(self.folder)


def withdraw() -> None:
    """This process begins a run of its own."""
    os.environ.pop(VARIABLE, None)
