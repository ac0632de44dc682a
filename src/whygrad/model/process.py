"""The processes of a run: who they were, what they did, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.model.site import Site


class Duty(StrEnum):
    """What a process was there for, as far as that was seen."""

    LEARNER = "learner"  # it made updates
    WORKER = "rollout worker"  # networks of the program were there, and it made no update
    OTHER = "no updates"


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended the script."""

    type: str
    message: str
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A network before one update of one rank: what has to be the same in the others."""

    optimizer: str
    nth: int  # of the optimizers of this rank
    update: int
    network: str
    weights: float
    gradient: float
    step: Site | None = None
    loss: Site | None = None
    around: Site | None = None  # a call of the module inside of the one that reduces gradients
    unsynced: Site | None = None  # a block in which they are not reduced
    wrapped: bool = False  # there is a module around it that reduces gradients
    inner: Site | None = None  # where it is called, then
    before: float | None = None  # a weighed sum over its gradients after the last backward
    after: float | None = None  # the same as the step uses them
    mean: float = 0.0  # the largest plain number in front of a term, if all of them are means
    shared: Site | None = None  # where the loss is divided by the number of ranks, by its name
    share: float = 1.0  # the number that it is multiplied by there
    written: Site | None = None  # where gradients are summed over ranks, by what stands there
    divided: Site | None = None  # where they are divided by the number of ranks
    steady: bool = False  # the optimizer makes the same step of gradients that are all twice as large
    unreached: tuple[str, ...] = ()  # parameters of it that the losses have not reached


@dataclass(frozen=True, slots=True)
class Process:
    """One process. ``rank`` and ``world`` are those of a launcher, where there is one."""

    pid: int
    host: str = ""
    parent: int = 0
    rank: int = -1
    world: int = 0
    restart: int = 0  # how often the launcher had started all ranks anew
    name: str = ""  # that the program or its library gave it
    duty: Duty = Duty.OTHER
    updates: int = 0
    finished: bool = False  # it told of its own end; one that was killed did not
    exit_code: int = 0
    exception: Raised | None = None
    traces: tuple[Trace, ...] = ()  # of a rank among others
    ended: float = 0.0  # seconds since the epoch, when it last told of itself

    @property
    def failed(self) -> bool:
        """It ended with an exception of its own."""
        return self.exception is not None

    @property
    def label(self) -> str:
        """What a person calls it."""
        return f"rank {self.rank}" if self.rank >= 0 else self.name or f"process {self.pid}"
