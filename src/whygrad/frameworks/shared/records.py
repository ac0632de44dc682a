"""What is kept of an optimizer, a backward and an update while the script runs. No tensors."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.shared.budget import BUDGET
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Gate, Node, Param, clock, reference
from whygrad.model import Look, Moved, Print, Pulse

NEVER = sys.maxsize
FADED = 1e-4  # of the largest learning rate: nothing is learnt with the rest


@dataclass(slots=True, eq=False)
class BackwardRecord:
    """One recorded call that differentiates."""

    where: Where | None
    roots: tuple[Node, ...]
    reached: dict[int, Param]
    wanted: dict[int, Param]
    exits: tuple[Node, ...]
    number: int = 0
    error: str = ""
    time: int = field(default_factory=clock)
    cleared: set[int] = field(default_factory=set)
    applied: set[int] = field(default_factory=set)
    follower: int = 0  # the first optimizer that stepped after it
    runs: int = 1
    tape: Any = None  # of frameworks that have tapes: the one that was asked
    ends: tuple[Node, ...] = ()  # values from which the framework has computed nothing
    unconnected: tuple[Node, ...] = ()  # values, not parameters, that were asked for and got nothing
    unused: tuple[Node, ...] = ()  # scalars that carry gradient and that nobody differentiates
    changed: list[tuple[Node, str, str, Where | None]] = field(default_factory=list)
    stale: frozenset[int] = frozenset()
    followed: int = 0
    shares: Any = ()  # of its terms: the node, and squared gradient norms by parameter
    unmeasured: str = ""
    value: float | None = None
    largest: dict[int, float] = field(default_factory=dict)  # of gradients that it gave out
    asked: int = -1  # how many values a tape was asked for
    acts: tuple[Node, ...] = ()  # values that left while gradients were off, through layers with modes
    handed: set[int] = field(default_factory=set)  # a step has used these gradients, put into others by hand
    taken: set[int] = field(default_factory=set)  # something was made of these gradients, and written by hand
    sums: dict[int, float] = field(default_factory=dict)  # of a rank: what its gradients were afterwards


@dataclass(slots=True, eq=False)
class EmptyRecord:
    """An optimizer that was given no parameters."""

    where: Where | None
    kind: str
    params: dict[int, Param]
    asked: bool = False
    used_up: bool = False


@dataclass(slots=True, eq=False)
class HandoverRecord:
    """Gradients that one line puts into other parameters."""

    where: Where | None
    sources: dict[int, Param] = field(default_factory=dict)
    targets: dict[int, Param] = field(default_factory=dict)
    times: deque[int] = field(default_factory=lambda: deque(maxlen=64))
    round: set[int] = field(default_factory=set)  # the targets of the round that is under way

    def add(self, source: Param, target: Param) -> None:
        """One more; a target that comes again begins the next round."""
        if not self.round or target.key in self.round:
            self.round = set()
            self.times.append(clock())
        self.round.add(target.key)
        self.sources[source.key], self.targets[target.key] = source, target


@dataclass(slots=True, eq=False)
class SwitchRecord:
    """One call that puts a network into a mode."""

    where: Where | None
    training: bool
    touched: dict[int, Param]
    time: int = field(default_factory=clock)


@dataclass(slots=True, eq=False)
class ClipRecord:
    """One call that limits gradients."""

    where: Where | None
    time: int
    kind: str
    threshold: float | None = None
    before: float | None = None
    touched: dict[int, Param] = field(default_factory=dict)
    present: set[int] = field(default_factory=set)
    fresh: frozenset[int] = frozenset()
    awaited: bool = False
    ready: bool = False
    scaled: bool = False


@dataclass(slots=True, eq=False)
class ClearRecord:
    """One call that forgets gradients."""

    where: Where | None
    time: int
    by: str
    touched: dict[int, Param] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class CopyRecord:
    """Weights of one parameter written into another, on one line."""

    source: Param
    target: Param
    where: Where | None
    how: str
    factor: float | None
    own: float | None
    first: int = field(default_factory=clock)
    last: int = 0
    times: int = 1

    def again(self, factor: float | None, own: float | None) -> None:
        """The same line has done it once more."""
        self.last, self.times, self.factor, self.own = clock(), self.times + 1, factor, own


@dataclass(slots=True, eq=False)
class UpdateRecord:
    """One recorded step."""

    number: int
    where: Where | None
    absent: frozenset[int]
    zero: frozenset[int]
    backwards: tuple[BackwardRecord, ...]
    since: int = 0
    clipped_away: frozenset[int] = frozenset()
    clipped_at: Where | None = None
    rejected: frozenset[int] = frozenset()
    crossed: frozenset[tuple[int, int]] = frozenset()  # got the gradient of another parameter
    time: int = field(default_factory=clock)
    lost: frozenset[int] = frozenset()
    lost_at: Where | None = None
    dropped: frozenset[int] = frozenset()  # what the step made of them is gone, and was never used
    forgot: Where | None = None  # what the optimizer was to remember is thrown away here, each time
    largest: dict[int, float] = field(default_factory=dict)
    moved: dict[int, Moved] = field(default_factory=dict)
    prints: dict[int, Print] = field(default_factory=dict)
    wrapped: str = ""
    turned: float | None = None


class Pulses:
    """The size of gradients through a whole run: the longer it is, the fewer of them are kept."""

    def __init__(self) -> None:
        self._kept: list[Pulse] = []
        self._every = BUDGET.pulse

    def due(self, number: int) -> bool:
        """Is it time for another one?"""
        return not self._kept or number >= self._kept[-1].number + self._every

    def add(self, pulse: Pulse) -> bool:
        """Keep one; true if it is the first that is not finite."""
        broken = pulse.top != pulse.top
        first = broken and not any(p.top != p.top for p in self._kept)
        if first or self.due(pulse.number):
            self._kept.append(pulse)
        if len(self._kept) > BUDGET.pulses:
            self._every *= 2
            self._kept = self._kept[:1] + self._kept[1:-1:2] + self._kept[-1:]
        return first

    def at_the_end(self, number: int, broken: Iterable[int]) -> None:
        """What is left of the weights says what the last gradients were."""
        found = dict.fromkeys(broken, float("nan"))
        if found:
            self.add(Pulse(number, found))

    def copy(self) -> Pulses:
        """Another one with the same content."""
        copy = Pulses()
        copy._kept, copy._every = list(self._kept), self._every
        return copy

    def all(self) -> tuple[Pulse, ...]:
        """What was kept, in order."""
        return tuple(self._kept)


class OptimizerRecord:
    """One optimizer: where it was made, what it holds, how its steps went."""

    __slots__ = (  # more than thirty attributes: a dictionary is slow, and two of them are read at every step
        "__weakref__",
        "absent_always",
        "absent_last",
        "before",
        "begun",
        "by_hand",
        "changed",
        "clears",
        "closures",
        "counting",
        "direction",
        "doubted",
        "faded",
        "first",
        "held",
        "highest",
        "iterations",
        "key",
        "kind",
        "last",
        "last_step",
        "last_step_number",
        "late",
        "looked_until",
        "looks",
        "lr_always_zero",
        "made",
        "maximize",
        "name",
        "next_window",
        "others",
        "pulses",
        "quiet_until",
        "recorded",
        "ref",
        "remembers",
        "steps",
        "still",
        "summary_from",
        "told",
        "traced",
        "triggers",
        "wanted",
    )

    def __init__(self, optimizer: Any, made: Where | None) -> None:
        self.key = clock()
        self.ref = reference(optimizer, self._gone)
        self.kind = type(optimizer).__name__
        self.made = made
        self.name = ""
        self.held: dict[int, Param] = {}
        self.by_hand = False  # no optimizer of the framework: nobody tells of its steps
        self.steps = 0
        self.others = 0, 0  # optimizers of the same line that were let go, and their steps
        self.recorded = 0
        self.absent_always: frozenset[int] | None = None  # keys of parameters
        self.absent_last: frozenset[int] = frozenset()
        self.lr_always_zero = False  # until its first step is looked at
        self.still: dict[int, int] = {}  # parameter -> the step from which on its learning rate is 0
        self.highest = 0.0  # learning rate so far
        self.faded = 0  # the step from which on it is nothing beside that; 0 if it is not
        self.maximize = False
        self.remembers = False  # until its first step has ended
        self.clears = 0  # calls of zero_grad() after its first step
        self.last_step = 0  # on the clock of nodes
        self.last_step_number = 0  # counted over all optimizers
        self.told = 0  # its steps that are in that count
        self.traced = False  # its steps are in compiled code
        self.before = 0  # the steps that it had taken when it was first seen
        self.iterations: Any = None  # where it counts them itself; this outlives it
        self.looked_until = 0  # before this many steps there is no look at the gradients
        self.summary_from = NEVER  # from this step on somebody wants to be told, to summarize it
        self.quiet_until = 0  # before this many steps they are only counted
        self.counting = False  # this is such a step
        self.begun = False  # and this is one with a look
        self.closures = False  # its steps call the user's code
        self.doubted = False  # its last groups of rewards had no spread: later ones may have
        self.changed = False  # the set of absent gradients is another one than before
        self.first: list[UpdateRecord] = []
        self.last: deque[UpdateRecord] = deque(maxlen=BUDGET.kept[1])
        self.wanted = 0  # go on recording until so many of its updates are recorded
        self.next_window = 0
        self.triggers = 0
        self.pulses = Pulses()
        self.looks: tuple[Look, ...] = ()  # at its compiled updates
        self.late: tuple[Look, ...] = ()  # at the last of them: how far did they go?
        self.direction: tuple[int, Any] | None = None  # of the last gradients

    @door
    def _gone(self, _: Any) -> None:
        self.quiet_until = 0  # another one may get its address

    def copy(self, params: Mapping[int, Param], name: str) -> OptimizerRecord:
        """The same, for a look: with the parameters as the look sees them, and the name it has found."""
        other = copy(self)
        other.name = name
        other.held = {key: params.get(key, param) for key, param in list(self.held.items())}
        other.pulses = self.pulses.copy()
        other.first = list(map(copy, self.first))
        other.last = deque(map(copy, self.last), maxlen=self.last.maxlen)
        return other

    def stands_for(self, other: OptimizerRecord) -> None:
        """That one was made on the same line, is gone, and is only counted from now on."""
        self.others = self.others[0] + 1 + other.others[0], self.others[1] + other.steps + other.others[1]

    def begin_anew(self) -> None:
        """In a forked child: it was made where it was made, and has not stepped."""
        self.others = 0, 0
        self.steps = self.recorded = self.told = self.last_step_number = self.clears = 0
        self.looked_until = self.quiet_until = self.wanted = self.next_window = self.triggers = 0
        self.summary_from = NEVER
        self.absent_always, self.absent_last = None, frozenset()
        self.counting = self.begun = self.changed = False
        self.first, self.last, self.looks = [], deque(maxlen=BUDGET.kept[1]), ()
        self.pulses, self.direction, self.last_step = Pulses(), None, clock()

    def tell_from(self, step: int) -> None:
        """Somebody wants to be told of this step, and of the end of the one before it."""
        self.summary_from = step
        self.quiet_until = min(self.quiet_until, step - 2)

    def keep(self, update: UpdateRecord) -> None:
        """Remember an update: the first few, and the last few."""
        self.recorded += 1
        (self.first if len(self.first) < BUDGET.kept[0] else self.last).append(update)

    def rests(self, keys: Iterable[int]) -> None:
        """In the step that begins, the learning rate of these parameters is 0, and that of no others."""
        self.still = {key: self.still.get(key, self.steps + 1) for key in keys}

    def rate(self, rate: float) -> None:
        """The largest learning rate of the step that begins."""
        self.highest = max(self.highest, rate)
        self.faded = (self.faded or self.steps + 1) if rate < FADED * self.highest else 0

    def absent(self, absent: frozenset[int]) -> None:
        """One more step in which these parameters had no gradient."""
        before = self.absent_always
        self.absent_always = absent if before is None else before & absent

    @property
    def updates(self) -> list[UpdateRecord]:
        """The updates that are remembered, in order."""
        return [*self.first, *self.last]


Failure = tuple[str, str, str, Where | None, tuple[Node, ...]]  # type, message, operation, where, inputs


@dataclass(slots=True)
class Records:
    """All that a backend has kept, as one look sees it: optimizers and parameters are copies."""

    optimizers: list[OptimizerRecord]
    pending: list[BackwardRecord]
    assigned: dict[int, tuple[Param, Where | None]] = field(default_factory=dict)
    failure: Failure | None = None
    gate: Gate | None = None  # gradients are off now, since here
    captured: Where | None = None  # where a function was compiled
    clips: list[ClipRecord] = field(default_factory=list)
    clears: list[ClearRecord] = field(default_factory=list)
    copies: list[CopyRecord] = field(default_factory=list)
    empty: list[EmptyRecord] = field(default_factory=list)
    switches: list[SwitchRecord] = field(default_factory=list)
    handovers: list[HandoverRecord] = field(default_factory=list)
    aliases: list[tuple[tuple[str, ...], tuple[int, ...]]] = field(default_factory=list)
    flags: list[tuple[Where, str, bool, tuple[int, ...]]] = field(default_factory=list)
    params: dict[int, Param] = field(default_factory=dict)  # by key
    handles: dict[int, int] = field(default_factory=dict)  # key -> what the framework knows it by
