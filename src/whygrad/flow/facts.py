"""What was measured of a parameter: was its gradient alive, since when not, and did its weights move?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from whygrad.flow.situation import Situation
from whygrad.model import Look, Moved, Optimizer, Parameter, Pulse

_PART = re.compile(r"(?:[^.\[]|\[[^\]]*\])+")  # of a dotted name; a key may have dots in it
TAIL = 0.25  # of the updates: a gradient that dies later than this before the end may come back
FEW = 3  # zeros in a row are nothing yet: a clipped ratio, a hinge, a batch without a reward


@dataclass(frozen=True, slots=True)
class Fact:
    """One parameter under one optimizer. Updates that nobody looked at are in none of the numbers."""

    sizes: tuple[tuple[int, float], ...] = ()  # update, and the largest element of the gradient in it
    steps: tuple[Moved, ...] = ()  # what steps did to it while its gradient was alive

    @property
    def looked(self) -> int:
        """In how many updates its gradient was looked at."""
        return len(self.sizes)

    @property
    def alive(self) -> int:
        """In how many of them it was not exactly zero."""
        return sum(size != 0 for _, size in self.sizes)

    @property
    def zeros(self) -> tuple[int, ...]:
        """The updates at the end of the run in all of which it was exactly zero."""
        found: list[int] = []
        for number, size in reversed(self.sizes):
            if size != 0:
                break
            found.append(number)
        return tuple(reversed(found))

    @property
    def lasts(self) -> bool:
        """It learns, and did so to the end."""
        return self.learns and len(self.zeros) < FEW

    def dies(self, steps: int) -> bool:
        """Zero in all updates that were looked at, or in a long row of them until the end."""
        zeros = self.zeros
        if len(zeros) < FEW:
            return False
        return not self.alive or steps - zeros[0] >= max(TAIL * steps, FEW)

    @property
    def since(self) -> int:
        """The first update seen with the zeros that last, if it was alive before; else 0."""
        return self.zeros[0] if self.alive and self.zeros else 0

    @property
    def unmoved(self) -> bool:
        """Its motion was measured, more than once, and there was none."""
        return len(self.steps) > 1 and not any(moved.change for moved in self.steps)

    @property
    def learns(self) -> bool:
        """A gradient that is not zero was seen, and steps that moved it where they were measured."""
        return self.alive > 0 and (not self.steps or any(moved.change for moved in self.steps))


def facts(situation: Situation, optimizer: Optimizer) -> dict[int, Fact]:
    """What was measured of everything that an optimizer holds."""
    sizes, steps = _sizes(situation, optimizer), _steps(situation, optimizer)
    return {
        key: Fact(
            tuple((number, found[key]) for number, found in sorted(sizes.items()) if key in found),
            tuple(steps.get(key, ())),
        )
        for key in optimizer.held
    }


def learning(situation: Situation, optimizer: Optimizer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The networks of an optimizer that were measured to learn, and those of which nothing was."""
    known = facts(situation, optimizer)
    members = [p for p in situation.parameters(optimizer.held) if p.trainable and p.lasting]
    learnt = [p for p in members if known[p.key].learns]
    networks = {p.network for p in learnt}
    rest = [p for p in members if p.network not in networks and not situation.is_copy(p.key)]
    return _named(situation, learnt), _named(situation, rest)


def _sizes(situation: Situation, optimizer: Optimizer) -> dict[int, dict[int, float]]:
    """Update -> parameter -> the largest element of its gradient, from everything that was kept."""
    found: dict[int, dict[int, float]] = {}
    seen: list[Pulse | Look] = [*situation.evidence.pulses.get(optimizer.key, ())]
    for look in (*seen, *situation.looks(optimizer)):
        found.setdefault(look.number, {}).update(look.largest)
    for update in situation.updates(optimizer):
        found.setdefault(update.number, {}).update(dict.fromkeys(update.zero, 0.0))
    return found


def _steps(situation: Situation, optimizer: Optimizer) -> dict[int, list[Moved]]:
    """What steps did to each parameter, where it was measured and there was something to do."""
    found: dict[int, list[Moved]] = {}
    for look in situation.looks(optimizer):
        for key, moved in look.moved.items():
            if look.largest.get(key):
                found.setdefault(key, []).append(moved)
    return found


def _named(situation: Situation, members: Iterable[Parameter]) -> tuple[str, ...]:
    """Networks; by the largest part that holds these, ``ac.pi``, where not all of ``ac`` is meant."""
    groups: dict[str, list[str]] = {}
    for member in members:
        groups.setdefault(member.network or member.name, []).append(member.name)
    everything = situation.evidence.parameters.values()
    size = Counter(p.network for p in everything if p.trainable and p.lasting)
    return tuple(
        network if len(names) >= size[network] else _common(names) or network
        for network, names in groups.items()
    )


def _common(names: list[str]) -> str:
    """The dotted beginning that all names share, without the parameter's own part."""
    split = [_PART.findall(name)[:-1] or [name] for name in names]
    shared: list[str] = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared)
