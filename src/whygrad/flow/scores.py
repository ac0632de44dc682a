"""Log-probabilities: where a policy is scored, and samples that the score is taken of."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import living_values, stops
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import PROBABILITIES, SCORES

_MOST = 64


def is_score(op: Op) -> bool:
    """A log-probability, as torch's distributions or the user's own arithmetic give it."""
    if op.api.endswith("__init__"):
        return False  # a distribution that normalises its logits has not scored anything yet
    return op.api.rpartition(".")[2] == "log_prob" or op.kind in SCORES


def scored(flow: Flow, op: int) -> bool:
    """Does gradient flow from this value through a log-probability, or the logarithm of a probability?"""
    for number in living_values(flow, [op]):
        here = flow[number]
        if is_score(here):
            return True
        if here.kind is Kind.LOG and any(is_probability(flow, i) for i in here.inputs):
            return True
    return False


def is_probability(flow: Flow, op: int, squashed: bool = False) -> bool:
    """A softmax or a sigmoid, perhaps with one of its elements picked, or collected in a loop.

    ``squashed``: not an exponential, which may be anything.
    """
    todo, seen = [(op, 6)], {op}
    while todo and len(seen) < _MOST:
        number, far = todo.pop()
        here = flow[number]
        if here.kind in PROBABILITIES:
            return not squashed or here.kind is not Kind.EXP
        if here.parameter is not None or not far:
            continue
        collected = here.kind in (Kind.COLLECT, Kind.COPY)
        for there in here.inputs if collected else _gone_on_with(flow, here):
            if there not in seen and (flow[there].floating or collected):
                seen.add(there)
                todo.append((there, far if collected else far - 1))
    return False


def _gone_on_with(flow: Flow, op: Op) -> tuple[int, ...]:
    """The input that a value was made of; of ``one_hot * policy``, the policy."""
    alive = tuple(i for i in op.inputs if flow[i].carries)
    return alive if op.kind is Kind.MULTIPLY and len(alive) == 1 else op.inputs[:1]


def sampled_and_scored(flow: Flow, living: set[int]) -> Iterator[Op]:
    """Where a reparameterised sample meets the distribution it came from, and only a reward weighs it.

    ``log_prob(rsample()) * reward``: what the sample and the mean give to the gradient cancels. In a
    loss that also leads the sample through another network (SAC) the same expression is right.
    """
    users = users_within(flow, living)
    for op in few_per_line(flow[number] for number in sorted(living)):
        distance = op.kind in (Kind.SUBTRACT, Kind.LOSS)  # between a sample and the mean
        if not distance or not op.api.endswith("log_prob") or len(op.inputs) != 2:
            continue
        value, mean = (_unscaled(flow, flow[i]) for i in op.inputs)
        if value.id not in living or mean.id not in living:
            continue
        sample = _sample(flow, value)
        if sample is None or mean.id not in living_values(flow, [sample.id]) | _broadcast_of(flow, mean):
            continue
        if not _used_elsewhere(flow, sample, users, op) and weighed_by_data(flow, op, users):
            yield sample


def users_within(flow: Flow, living: set[int]) -> dict[int, list[Op]]:
    """Who uses each of these values, of those that gradient flows back from."""
    found: dict[int, list[Op]] = {}
    for number in living:
        op = flow[number]
        for i in op.inputs:
            if i in living and not stops(flow[i], op):
                found.setdefault(i, []).append(op)
    return found


def _unscaled(flow: Flow, op: Op) -> Op:
    """A value that was divided by the deviation, before that."""
    divided = op.kind is Kind.DIVIDE and op.api.endswith("log_prob")
    return flow[op.inputs[0]] if divided and op.inputs else op


def _sample(flow: Flow, value: Op) -> Op | None:
    """The last operation of ``rsample()``, or of a ``sample()`` that carries gradient, that this value is."""
    for _ in range(8):
        if value.api.rpartition(".")[2] in ("rsample", "sample") and value.carries:
            return value
        if len(value.inputs) != 1:
            return None
        value = flow[value.inputs[0]]
    return None


def _broadcast_of(flow: Flow, mean: Op) -> set[int]:
    return {mean.id} if mean.kind is Kind.EXPAND else set()


def _used_elsewhere(flow: Flow, sample: Op, users: dict[int, list[Op]], scoring: Op) -> bool:
    """Does the sample also go anywhere but into its own log-probability?"""
    todo, seen = [sample.id], {sample.id}
    while todo:
        for user in users.get(todo.pop(), ()):
            if user.api.endswith("log_prob"):
                continue
            if len(user.inputs) > 1 and user.id != scoring.id:
                return True
            if user.id not in seen:
                seen.add(user.id)
                todo.append(user.id)
    return False


def weighed_by_data(flow: Flow, score: Op, users: dict[int, list[Op]]) -> bool:
    """Is the log-probability multiplied with a reward or an advantage that carries no gradient?

    A reward may be a plain number; one that is below 1 may as well be a coefficient.
    """
    todo, seen = [score.id], {score.id}
    while todo:
        here = todo.pop()
        for user in users.get(here, ()):
            if user.kind is Kind.MULTIPLY and not user.api.endswith("log_prob"):
                others = [flow[i] for i in user.inputs if i != here]
                if any(not o.carries for o in others) or any(abs(n) > 1 for n in user.numbers):
                    return True
            if user.id not in seen:
                seen.add(user.id)
                todo.append(user.id)
    return False
