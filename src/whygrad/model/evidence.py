"""Everything a backend saw, as the rules get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.model.events import Alias, Clear, Clip, Copy, Flag, Handover, Switch
from whygrad.model.flow import Block, Flow, Parameter
from whygrad.model.health import Look, Moved, Print, Pulse
from whygrad.model.history import Series
from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer, what it holds, and what became of its steps."""

    key: int
    name: str
    kind: str
    made: Site | None
    held: frozenset[int]
    steps: int = 0
    lr_always_zero: bool = False
    faded: int = 0  # the step from which on its learning rate is nothing beside what it was
    still: Mapping[int, int] = field(default_factory=dict)  # parameter -> the step from which its rate is 0
    maximize: bool = False  # it climbs: what is differentiated is an objective, not a loss
    clears: int = 0  # how often its gradients were cleared after its first step
    remembers: bool = False  # it takes moments, or the like, from one step to the next
    by_hand: bool = False  # a loop or a class of the user's own, or of another library
    searches: bool = False  # its steps call the user's code, which differentiates as often as they want

    @property
    def descends(self) -> bool:
        """It makes what is differentiated smaller. Whoever steps by hand may climb."""
        return not self.maximize and not self.by_hand


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that a failed backward needed and that somebody had overwritten."""

    op: int
    value: str
    writer: str
    site: Site | None


@dataclass(frozen=True, slots=True)
class Backward:
    """One call that differentiates: ``backward`` or ``autograd.grad``.

    ``error`` is the framework's message when the call failed.
    """

    number: int
    site: Site | None
    roots: tuple[int, ...]
    flow: Flow
    reached: frozenset[int] = frozenset()
    wanted: frozenset[int] = frozenset()  # autograd.grad: the inputs that were asked for
    error: str = ""
    applied: frozenset[int] = frozenset()  # reached, and an optimizer stepped before it was cleared
    follower: int = 0  # the first optimizer that stepped after it
    exits: tuple[int, ...] = ()  # values that left the framework before it, and are not seen coming back
    ends: tuple[int, ...] = ()  # values from which the framework has computed nothing
    unconnected: tuple[int, ...] = ()  # values, not parameters, that were asked for and got nothing
    unused: tuple[int, ...] = ()  # other scalars with a gradient that were there and not differentiated
    changed: tuple[Changed, ...] = ()
    time: int = 0
    runs: int = 1  # how often it ran: one that is traced runs with every call of its function
    tape: bool = False  # asked of a tape, for ``wanted`` and nothing else
    followed: int = 0  # the time of that step
    shares: Mapping[int, Mapping[int, float]] = field(default_factory=dict)  # term -> parameter -> norm²
    unmeasured: str = ""  # why there are no shares
    stale: frozenset[int] = frozenset()  # it adds to gradients here that a step has already used
    value: float | None = None  # of the loss
    acts: tuple[int, ...] = ()  # values that left while gradients were off, through layers with modes
    asked: int = -1  # of a tape: how many values it was asked for, whatever they are
    taken: frozenset[int] = frozenset()  # what the program itself has made of these gradients was written


@dataclass(frozen=True, slots=True)
class EmptyList:
    """An optimizer that was to be made, and was given no parameters at all."""

    site: Site | None
    kind: str = ""  # of the optimizer: Adam
    parameters: frozenset[int] = frozenset()  # of the network that was asked; or all that nobody holds
    asked: bool = False  # it is known which network was asked
    used_up: bool = False  # an iterator that had been walked to its end before


@dataclass(frozen=True, slots=True)
class Update:
    """One recorded optimizer step and what led to it."""

    optimizer: int
    number: int
    site: Site | None
    absent: frozenset[int]
    zero: frozenset[int]
    backwards: tuple[Backward, ...]
    since: int = 0  # the time of the optimizer's step before this one
    clipped_away: frozenset[int] = frozenset()  # had a gradient, and clipping has left nothing of it
    clipped_at: Site | None = None
    rejected: frozenset[int] = frozenset()  # given to the optimizer, which does not know them
    crossed: frozenset[tuple[int, int]] = frozenset()  # (parameter, whose gradient it was given instead)
    time: int = 0
    lost: frozenset[int] = frozenset()  # their gradients were cleared between backward and step
    lost_at: Site | None = None
    dropped: frozenset[int] = frozenset()  # what this step made of them is gone, and was never used
    forgot: Site | None = None  # what the optimizer was to remember is thrown away here, each time
    largest: Mapping[int, float] = field(default_factory=dict)  # parameter -> largest element of its gradient
    moved: Mapping[int, Moved] = field(default_factory=dict)  # what the step did, where it was measured
    turned: float | None = None  # cosine between these gradients and those of the update before
    prints: Mapping[int, Print] = field(default_factory=dict)  # of a rank among others
    wrapped: str = ""  # its parameters are in a module that reduces gradients: ``on``, or ``off`` just now


@dataclass(frozen=True, slots=True)
class Crash:
    """The operation in which the script died, if it died in the framework."""

    error: str
    type: str
    site: Site | None
    op: str = ""
    inputs: tuple[int, ...] = ()
    flow: Flow = field(default_factory=Flow)
    block: Block | None = None  # gradients were off when it happened, since here
    unused: frozenset[int] = frozenset()  # the parameters that distributed training waited for in vain
    callers: tuple[Site, ...] = ()  # the lines that called the site, innermost first


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run so far: what rules judge."""

    framework: str = "torch"
    parameters: dict[int, Parameter] = field(default_factory=dict)
    optimizers: dict[int, Optimizer] = field(default_factory=dict)
    updates: tuple[Update, ...] = ()
    loose: tuple[Backward, ...] = ()  # recorded, but no step followed
    always_absent: dict[int, frozenset[int]] = field(default_factory=dict)  # optimizer -> in every step
    assigned: dict[int, Site | None] = field(
        default_factory=dict
    )  # parameter -> where its grad was set by hand
    clips: tuple[Clip, ...] = ()
    clears: tuple[Clear, ...] = ()
    copies: tuple[Copy, ...] = ()
    empty: tuple[EmptyList, ...] = ()
    switches: tuple[Switch, ...] = ()
    handovers: tuple[Handover, ...] = ()
    aliases: tuple[Alias, ...] = ()
    flags: tuple[Flag, ...] = ()
    pulses: Mapping[int, tuple[Pulse, ...]] = field(default_factory=dict)  # of each optimizer
    looks: Mapping[int, tuple[Look, ...]] = field(default_factory=dict)  # at its compiled updates
    crash: Crash | None = None
    finished: bool = True
    running: bool = False  # the script goes on: what is missing may still come
    history: tuple[Series, ...] = ()  # of the updates that were summarized, if summaries were wanted
    complete: bool = True  # nothing was missed: what is not here did not happen
    compiled: bool = False  # a part was compiled or transformed, and its operations were not recorded
    rank: int = -1  # in the group of processes that train together, if there is one
    lost: str = ""  # why sight was lost, in the middle of the run: our own failure
    lost_after: int = 0  # how many updates had been made by then
