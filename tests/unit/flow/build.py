"""Writes evidence by hand, in the order in which a script would have run. No framework anywhere near.

run = Build()
actor, critic = run.network("actor"), run.network("critic")
action = run.op("detach", run.call(actor, line=10), line=10, carries=False)
loss = run.op("mean", run.call(critic, action, line=11), line=12)
run.update(run.optimizer("actor_opt", actor), run.backward(loss, line=13))
causes(Situation(run.evidence()))
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from whygrad.frameworks.shared.kinds import is_swapped
from whygrad.frameworks.tensorflow.kinds import KINDS as TENSORFLOW
from whygrad.frameworks.torch.kinds import KINDS as TORCH
from whygrad.model import (
    Alias,
    Backward,
    Block,
    Clear,
    Clip,
    Copy,
    Crash,
    Evidence,
    Flag,
    Flow,
    Kind,
    Op,
    Optimizer,
    Parameter,
    Site,
    Update,
)


def operation(id: int, name: str, inputs: tuple[int, ...] = (), *facts: Any, **more: Any) -> Op:
    """An operation of the kind that this name has in torch, or else in TensorFlow, as a backend would say it."""
    kind = TORCH.of(name, len(inputs))
    kind = TENSORFLOW.of(name, len(inputs)) if kind is Kind.OTHER else kind
    swapped = is_swapped(name)
    known = {"kind": kind, "swapped": swapped and len(inputs) == 1, **more}
    return Op(id, name, inputs[::-1] if swapped else inputs, *facts, **known)


@dataclass(frozen=True)
class Network:
    """A network, or a lone parameter: its parameters and the operations that stand for them."""

    name: str
    keys: frozenset[int]
    ops: tuple[int, ...]


@dataclass
class Build:
    """The computation so far."""

    file: str = "train.py"
    ops: dict[int, Op] = field(default_factory=dict)
    parameters: dict[int, Parameter] = field(default_factory=dict)
    optimizers: dict[int, Optimizer] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)
    loose: list[Backward] = field(default_factory=list)
    stepped: dict[int, int] = field(default_factory=dict)  # optimizer -> the time of its last step
    clips: list[Clip] = field(default_factory=list)
    clears: list[Clear] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    clock: Any = field(default_factory=lambda: count(1))

    def site(self, line: int, function: str = "<module>") -> Site:
        """A line of the script; its text if the script is really there."""
        read = Path(self.file).exists()
        return (
            Site.read(self.file, line, function) if read else Site(self.file, line, function, f"line {line}")
        )

    # -- parameters --------------------------------------------------------------------------------

    def network(
        self, name: str, layers: tuple[str, ...] = ("weight", "bias"), line: int = 1, **facts: Any
    ) -> Network:
        """A network with these parameters; ``facts`` are those of ``Parameter``. No layers: a lone parameter."""
        keys, ops = [], []
        for path in [f"{name}.{layer}" for layer in layers] or [name]:
            key = 1000 + next(self.clock)
            known = Parameter(key, path, name, (2, 2), made=(self.site(line),), used=True)
            self.parameters[key] = replace(known, **facts)
            keys.append(key)
            ops.append(self.op("parameter", line=line, parameter=key, carries=self.parameters[key].trainable))
        return Network(name, frozenset(keys), tuple(ops))

    def now(self, network: Network, **facts: Any) -> None:
        """Something has happened to these parameters."""
        for key in network.keys:
            self.parameters[key] = replace(self.parameters[key], **facts)

    # -- operations --------------------------------------------------------------------------------

    def op(self, name: str, *inputs: int, line: int = 1, **facts: Any) -> int:
        """An operation; it carries gradient if one of its inputs does, unless told otherwise."""
        time = next(self.clock)
        carries = facts.pop("carries", any(self.ops[i].carries for i in inputs))
        facts.setdefault("shape", () if name in ("mean", "sum", "mse_loss", "item", "add", "neg") else (8, 2))
        self.ops[time] = operation(time, name, inputs, carries, self.site(line), time=time, **facts)
        return time

    def data(self, line: int = 1, **facts: Any) -> int:
        """A batch: plain data that came into the framework."""
        return self.op("data", line=line, fresh=True, **facts)

    def call(self, network: Network, *inputs: int, line: int = 1, **facts: Any) -> int:
        """The forward pass of a network, on a batch if on nothing else."""
        return self.op("linear", *(inputs or (self.data(line),)), *network.ops, line=line, **facts)

    def no_grad(self, line: int) -> dict[str, Any]:
        """What an operation in a ``no_grad`` block has: ``run.call(actor, **run.no_grad(4))``."""
        return {"carries": False, "block": Block("torch.no_grad()", self.site(line))}

    # -- updates -----------------------------------------------------------------------------------

    def optimizer(self, name: str, *networks: Network, line: int = 2, **facts: Any) -> Optimizer:
        """An optimizer that holds these networks."""
        held = frozenset().union(*(n.keys for n in networks))
        made = Optimizer(next(self.clock), name, "Adam", self.site(line), held)
        self.optimizers[made.key] = replace(made, **facts)
        return self.optimizers[made.key]

    def backward(self, *roots: int, line: int = 50, function: str = "<module>", **facts: Any) -> Backward:
        """``loss.backward()``, not yet followed by a step."""
        time = next(self.clock)
        facts.setdefault("reached", self._reached(roots))
        return Backward(time, self.site(line, function), roots, Flow(dict(self.ops)), time=time, **facts)

    def failed(self, *roots: int, error: str, **facts: Any) -> None:
        """``loss.backward()`` that raised."""
        self.loose.append(self.backward(*roots, error=error, **facts))

    # -- events ------------------------------------------------------------------------------------

    def clip(self, *networks: Network, line: int = 55, fresh: bool = True, **facts: Any) -> None:
        """A call of ``clip_grad_norm_``."""
        keys = frozenset().union(*(n.keys for n in networks))
        known = {"parameters": keys, "present": keys, "threshold": 0.5, "before": 1.0}
        known["fresh"] = keys if fresh else frozenset()
        self.clips.append(Clip(self.site(line), next(self.clock), **{**known, **facts}))

    def copy(self, source: Network, target: Network, line: int = 70, **facts: Any) -> None:
        """Weights of one network written into another."""
        time = next(self.clock)
        for one, two in zip(sorted(source.keys), sorted(target.keys), strict=True):
            known = {"factor": 1.0, "own": 0.0, "first": time, "last": time}
            self.copies.append(Copy(one, two, self.site(line), **{**known, **facts}))

    def update(
        self, optimizer: Optimizer, *backwards: Backward, line: int = 60, zero: Any = (), **facts: Any
    ) -> None:
        """A step after these backwards."""
        known = self.optimizers[optimizer.key]
        before = [u for u in self.updates if u.optimizer == optimizer.key]
        time = next(self.clock)
        led = tuple(
            replace(
                b,
                applied=b.applied | (b.reached & known.held),
                follower=b.follower or optimizer.key,
                followed=b.followed or time,
            )
            for b in backwards
        )
        absent = known.held - frozenset().union(*(b.reached for b in led))
        since = self.stepped.get(optimizer.key, 0)
        number, zeros = len(before) + 1, frozenset(zero)
        self.updates.append(
            Update(
                optimizer.key, number, self.site(line), absent, zeros, led, since=since, time=time, **facts
            )
        )
        self.optimizers[optimizer.key] = replace(known, steps=known.steps + 1)
        self.stepped[optimizer.key] = next(self.clock)
        for key in known.held - absent:
            self.parameters[key] = replace(self.parameters[key], trained=True)

    def evidence(self, crash: Crash | None = None) -> Evidence:
        """Everything, as a backend hands it over."""
        absent: dict[int, frozenset[int]] = {}
        for update in self.updates:
            absent[update.optimizer] = absent.get(update.optimizer, update.absent) & update.absent
        return Evidence(
            parameters=dict(self.parameters),
            optimizers=dict(self.optimizers),
            updates=tuple(self.updates),
            loose=tuple(self.loose),
            always_absent=absent,
            clips=tuple(self.clips),
            clears=tuple(self.clears),
            copies=tuple(self.copies),
            aliases=tuple(self.aliases),
            flags=tuple(self.flags),
            crash=crash,
            finished=crash is None,
        )

    def _reached(self, roots: tuple[int, ...]) -> frozenset[int]:
        """What autograd would reach: everything behind the roots that carries gradient."""
        todo, seen = [r for r in roots if self.ops[r].carries], set()
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo += [i for i in self.ops[here].inputs if self.ops[i].carries]
        return frozenset(self.ops[i].parameter for i in seen if self.ops[i].parameter is not None)
