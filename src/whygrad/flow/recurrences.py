"""Networks that go through a sequence step by step: does gradient go back from step to step?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from whygrad.flow.paths import Path, Reach, living_values
from whygrad.model import Flow, Kind, Op

_STEPS = 3  # of a sequence: two may be two inputs
_MOST = 12  # steps that are looked at
_LAYERS = 40  # layers behind them that are asked


@dataclass(frozen=True, slots=True)
class Truncated:
    """A recurrent parameter whose every step stands alone, and the way by which the state goes on."""

    parameter: int
    path: Path


def truncated(flow: Flow, living: set[int], since: int) -> Iterator[Truncated]:
    """Recurrences in which each step gets the state of the step before as a constant.

    ``living`` are the values that gradient arrives at. A state that is cut off now and then is truncated on
    purpose; one that is cut at each step teaches the network nothing about what it has to remember.
    """
    done: set[tuple[int, ...]] = set()
    for parameter, steps in _uses(flow, living).items():
        times = tuple(step[0].id for step in steps)
        if len(steps) < _STEPS or times in done:
            continue
        done.add(times)
        path = _always_cut(flow, parameter, steps[:_MOST], since)
        if path is not None and not _meet_again(flow, living, steps):
            yield Truncated(parameter, path)


def _uses(flow: Flow, living: set[int]) -> dict[int, list[list[Op]]]:
    """Parameter -> the operations of the loss that use it, in the order of time, results of one together."""
    found: dict[int, dict[tuple[int, ...], list[Op]]] = {}
    for number in sorted(living, key=lambda n: flow[n].time):
        op = flow[number]
        if op.kind is Kind.READ:
            continue  # TensorFlow reads a variable before each use of it
        for key in (flow.parameter(i) for i in op.inputs):
            if key is not None:
                found.setdefault(key, {}).setdefault(op.inputs, []).append(op)
    return {key: list(steps.values()) for key, steps in found.items()}


def _always_cut(flow: Flow, parameter: int, steps: list[list[Op]], since: int) -> Path | None:
    """The way from one step to the next, if it is cut wherever there is one.

    Where there is none, a new sequence begins: an episode has ended, and the state starts from zeros.
    """
    own = {op.id for step in steps for op in step}
    found: list[Path] = []
    for _, step in pairwise(steps):
        given = [i for i in step[0].inputs if flow.parameter(i) is None]
        if own & living_values(flow, given):
            return None  # gradient goes back in time here
        path = Reach(flow, given, since).path(parameter)
        if path is None:
            continue
        if path.cost != 1 or path.ops[path.cuts[0]].time <= since:
            return None
        found.append(path)
    anew = len(steps) - 1 - len(found)
    return found[-1] if len(found) >= _STEPS - 1 and len(found) > anew else None


def _meet_again(flow: Flow, living: set[int], steps: list[list[Op]]) -> bool:
    """Do two steps come together alive in a later layer? Then a model of the world carries the state on.

    ``z = world(z, actor(z.detach()))``: the actor takes the state for a fact, and learns from what follows.
    """
    first, second = ({op.id for op in step} for step in steps[:2])
    later = sorted((flow[n] for n in living if flow[n].time > steps[1][-1].time), key=lambda op: op.time)
    layers = [op for op in later if any(flow.parameter(i) is not None for i in op.inputs)]
    for layer in layers[:_LAYERS]:
        given = [i for i in layer.inputs if flow.parameter(i) is None and not _is_sequence(flow[i])]
        alive = living_values(flow, given)
        if first & alive and second & alive:
            return True
    return False


def _is_sequence(op: Op) -> bool:
    """All steps put together, for a layer that works on each of them."""
    return op.kind is Kind.JOIN and len(op.inputs) > 2
