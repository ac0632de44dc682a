"""Does a recording fit together? Judging follows its references, and must neither fail nor go in circles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from whygrad.model import Backward, Evidence, Flow, Recording


class Inconsistent(ValueError):
    """Parts of a recording that do not fit together."""


def check(recording: Recording) -> None:
    """Raise ``Inconsistent`` unless every reference leads somewhere and no value is made from itself."""
    for observation in recording.observed.values():
        _check(observation.evidence)


def _check(evidence: Evidence) -> None:
    _keyed(evidence.parameters)
    _keyed(evidence.optimizers)
    inputs: dict[int, tuple[int, ...]] = {}
    for flow in _flows(evidence):
        _closed(flow, inputs)
    _acyclic(inputs)
    backwards = list(_backwards(evidence))
    if len({b.number for b in backwards}) < len(backwards):
        raise Inconsistent("two of its backwards have the same number")
    for backward in backwards:
        _within(backward.flow, _mentioned(backward))
    if evidence.crash is not None:
        _within(evidence.crash.flow, evidence.crash.inputs)


def _keyed(table: Mapping[int, object]) -> None:
    if any(getattr(value, "key", None) != key for key, value in table.items()):
        raise Inconsistent("its keys are not those of what they stand for")


def _backwards(evidence: Evidence) -> Iterator[Backward]:
    """Each once: several updates may share one."""
    found = (b for update in evidence.updates for b in update.backwards)
    yield from {id(b): b for b in (*found, *evidence.loose)}.values()


def _flows(evidence: Evidence) -> Iterator[Flow]:
    yield from (backward.flow for backward in _backwards(evidence))
    if evidence.crash is not None:
        yield evidence.crash.flow


def _closed(flow: Flow, inputs: dict[int, tuple[int, ...]]) -> None:
    """Everything that a value was made from is in the flow, and is the same wherever the value is met."""
    for number, op in flow.ops.items():
        if inputs.setdefault(number, op.inputs) != op.inputs:
            raise Inconsistent(f"operation {number} was made from different values")
        _within(flow, op.inputs)


def _within(flow: Flow, numbers: Iterable[int]) -> None:
    for number in numbers:
        if number not in flow.ops:
            raise Inconsistent(f"there is no operation {number}")


def _mentioned(backward: Backward) -> Iterator[int]:
    yield from (*backward.roots, *backward.exits, *backward.ends, *backward.unconnected, *backward.unused)
    yield from (changed.op for changed in backward.changed)
    yield from backward.shares


def _acyclic(inputs: Mapping[int, tuple[int, ...]]) -> None:
    """Take away what is made from nothing that is left; what cannot be taken away goes in circles."""
    waiting = {number: len(set(made_from)) for number, made_from in inputs.items()}
    takers: dict[int, list[int]] = {}
    for number, made_from in inputs.items():
        for value in set(made_from):
            takers.setdefault(value, []).append(number)
    ready = [number for number, count in waiting.items() if not count]
    done = 0
    while ready:
        done += 1
        for taker in takers.get(ready.pop(), ()):
            waiting[taker] -= 1
            if not waiting[taker]:
                ready.append(taker)
    if done < len(inputs):
        raise Inconsistent("a value of it is made from itself")
